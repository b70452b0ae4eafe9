//! The methods that shape a launch, for kernels whose types other macros make.

/// Methods of a kernel's type whose field `$field` has them too.
#[doc(hidden)]
#[macro_export]
macro_rules! launch_shape {
    ($field:ident) => {
        /// Sets the blocks of the grid: a number, `(x, y)` or `(x, y, z)`.
        #[must_use = "a kernel runs when it is launched"]
        pub fn grid(&self, grid: impl $crate::ToDim) -> Self {
            Self {
                $field: self.$field.grid(grid),
            }
        }

        /// Sets the threads of a block: a number, `(x, y)` or `(x, y, z)`.
        #[must_use = "a kernel runs when it is launched"]
        pub fn block(&self, block: impl $crate::ToDim) -> Self {
            Self {
                $field: self.$field.block(block),
            }
        }

        /// Asks for one thread for each item, in blocks of 256, and perhaps some more in the last blocks. No items: nothing is
        /// launched.
        #[must_use = "a kernel runs when it is launched"]
        pub fn for_each(&self, items: impl $crate::Items) -> Self {
            Self {
                $field: self.$field.for_each(items),
            }
        }

        /// Gives each block so many bytes of dynamic shared memory.
        #[must_use = "a kernel runs when it is launched"]
        pub fn shared_bytes(&self, bytes: impl $crate::Count) -> Self {
            Self {
                $field: self.$field.shared_bytes(bytes),
            }
        }

        /// Launches the grid in clusters of so many blocks, at most 8: a number, `(x, y)` or `(x, y, z)`, of which each dimension
        /// of the grid is a multiple.
        #[must_use = "a kernel runs when it is launched"]
        pub fn cluster(&self, cluster: impl $crate::ToDim) -> Self {
            Self {
                $field: self.$field.cluster(cluster),
            }
        }

        /// Chooses the stream: a `Stream`, or the one of a `Gpu`. Without it the launch goes to the stream that its first array
        /// belongs to.
        #[must_use = "a kernel runs when it is launched"]
        pub fn on(&self, stream: impl ::core::convert::AsRef<$crate::Stream>) -> Self {
            Self {
                $field: self.$field.on(stream),
            }
        }

        /// The most blocks of so many threads that run at once, for a kernel that waits for its whole grid: with the bytes of
        /// [`shared_bytes`](Self::shared_bytes).
        ///
        /// # Errors
        ///
        /// If the block is over a limit of the device or the kernel.
        pub fn max_cooperative_blocks(&self, block: impl $crate::ToDim) -> $crate::Result<u64> {
            self.$field.max_cooperative_blocks(block)
        }
    };
}
