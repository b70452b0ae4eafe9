//! Modules: visibility, imports, names, methods and constants from elsewhere in the crate.

agree!(
    paths_and_renames,
    names_that_hide_others,
    private_fields,
    traits_in_scope,
    globs_and_reexports,
    constant_functions,
    functions_in_functions,
);

mod arithmetic {
    pub const SCALE: u32 = 3;

    pub fn scale(x: u32) -> u32 {
        inner::shift(x).wrapping_mul(SCALE)
    }

    pub(super) fn hidden(x: u32) -> u32 {
        self::inner::deeper::mix(x)
    }

    mod inner {
        pub(in crate::modules) fn shift(x: u32) -> u32 {
            x ^ super::SCALE
        }

        pub mod deeper {
            pub fn mix(x: u32) -> u32 {
                super::super::scale(x).rotate_right(super::super::SCALE)
            }
        }
    }

    pub use inner::deeper;
}

fn paths_and_renames(x: u32) -> [u32; 3] {
    use self::arithmetic::deeper::mix as stir;
    use arithmetic as a;
    [a::scale(x), stir(x), crate::modules::arithmetic::hidden(x)]
}

fn names_that_hide_others(x: u32) -> u32 {
    fn scale(x: u32) -> u32 {
        x + 1
    }
    let y = scale(x / 2);
    let x = {
        use arithmetic::scale;
        let scale = scale(x);
        scale ^ y
    };
    #[allow(non_snake_case)]
    let u32 = x;
    u32 ^ u32::MAX
}

mod account {
    #[derive(Clone, Copy, Default)]
    pub struct Account {
        balance: i64,
        pub(crate) refused: u32,
    }

    impl Account {
        pub const LIMIT: i64 = -500;

        pub fn with(balance: i64) -> Self {
            Account {
                balance,
                ..Self::default()
            }
        }

        pub fn book(&mut self, amount: i64) -> &mut Self {
            match self.balance.checked_add(amount) {
                Some(balance) if balance >= Self::LIMIT => self.balance = balance,
                _ => self.refused += 1,
            }
            self
        }

        pub fn balance(&self) -> i64 {
            self.balance
        }
    }
}

fn private_fields((start, x): (u16, [i64; 4])) -> (i64, u32) {
    let mut account = account::Account::with(start.into());
    for x in x {
        account.book(x).book(x % 1000);
    }
    (account.balance(), account.refused)
}

mod extension {
    pub trait Twice {
        fn twice(self) -> Self;
    }
    impl Twice for u32 {
        fn twice(self) -> u32 {
            self << 1
        }
    }
    pub mod other {
        pub trait Twice {
            fn twice(self) -> u64;
        }
        impl Twice for u32 {
            fn twice(self) -> u64 {
                u64::from(self) << 33
            }
        }
    }
}

fn traits_in_scope(x: u32) -> (u32, u64) {
    let here = {
        use extension::Twice as _;
        x.twice()
    };
    (here, <u32 as extension::other::Twice>::twice(x))
}

mod prelude {
    pub use super::arithmetic::*;
    pub use super::extension::Twice;
    pub type Pair<T> = (T, T);
}

fn globs_and_reexports(x: u32) -> prelude::Pair<u32> {
    use prelude::*;
    (scale(x).twice(), deeper::mix(x) ^ SCALE)
}

const fn fibonacci<const N: usize>() -> [u64; N] {
    let mut numbers = [1; N];
    let mut i = 2;
    while i < N {
        numbers[i] = numbers[i - 1] + numbers[i - 2];
        i += 1;
    }
    numbers
}

fn constant_functions(i: u8) -> (u64, u32, u8) {
    const NUMBERS: [u64; 40] = fibonacci();
    const CHECKSUM: u32 = {
        let mut crc = !0u32;
        let bytes = b"oxwarp";
        let mut at = 0;
        while at < bytes.len() {
            crc ^= bytes[at] as u32;
            let mut bit = 0;
            while bit < 8 {
                crc = crc >> 1 ^ 0xedb8_8320 & (crc & 1).wrapping_neg();
                bit += 1;
            }
            at += 1;
        }
        !crc
    };
    let i = usize::from(i);
    (
        NUMBERS[i % 40],
        CHECKSUM >> (i % 8),
        const { b"abc"[1] } ^ i as u8,
    )
}

fn functions_in_functions(x: u32) -> [u32; 2] {
    const STEP: u32 = 7;
    fn once(x: u32) -> u32 {
        const STEP: u32 = 11;
        fn inner(x: u32) -> u32 {
            x.wrapping_mul(STEP)
        }
        inner(x) ^ self::STEP
    }
    static STEPS: [u32; 2] = [STEP, STEP + 1];
    [once(x), x.wrapping_add(STEPS[x as usize % 2])]
}

const STEP: u32 = 99;
