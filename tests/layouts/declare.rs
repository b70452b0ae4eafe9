//! What declares a type of `types.rs`: with random values, taken to pieces field by field, and with its test.

macro_rules! structure {
    ($test:ident: #[repr($($repr:tt)*)] $name:ident { $($field:ident: $ty:ty),* }) => {
        #[repr($($repr)*)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $(pub $field: $ty),*
        }

        impl Value for $name {
            fn random(random: &mut Random) -> Self {
                $name { $($field: Value::random(random)),* }
            }
            fn leaves(&self, leaves: &mut Leaves) {
                // Copied out: a field of a packed structure has no reference.
                $({ self.$field }.leaves(leaves);)*
            }
        }

        test_of!($test: $name);
    };
}

macro_rules! enumeration {
    ($test:ident: #[repr($($repr:tt)*)] $name:ident { $($variant:ident { $($field:ident: $ty:ty),* }),* }) => {
        #[repr($($repr)*)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum $name {
            $($variant { $($field: $ty),* }),*
        }

        impl Value for $name {
            fn random(random: &mut Random) -> Self {
                let variants: &[fn(&mut Random) -> Self] =
                    &[$(|_random| $name::$variant { $($field: Value::random(_random)),* }),*];
                variants[random.bits() as usize % variants.len()](random)
            }
            fn leaves(&self, leaves: &mut Leaves) {
                match self {
                    $($name::$variant { $($field),* } => {
                        stringify!($variant).bytes().for_each(|byte| leaves.put(byte.into()));
                        $($field.leaves(leaves);)*
                    })*
                }
            }
        }

        test_of!($test: $name);
    };
}

macro_rules! test_of {
    ($test:ident: $name:ident) => {
        // SAFETY: all its fields are plain data.
        unsafe impl oxwarp::DeviceCopy for $name {}

        #[test]
        fn $test() {
            crate::crosses::<$name>();
        }
    };
}
