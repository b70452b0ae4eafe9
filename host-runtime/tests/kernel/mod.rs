//! Kernels as the macro would write them, by hand: the record, the parameter struct and the builder.

/// Writes a kernel: `kernel! { fn add(a: &'static [f32], x: value f32) { ... } }` makes the function item `add` and the
/// builder `add`, as `#[kernel]` does for a kernel without type parameters.
macro_rules! kernel {
    ($vis:vis fn $name:ident($($view:ident: $type:ty),* $(; $($value:ident: $plain:ty),*)?) $body:block) => {
        #[allow(non_camel_case_types)]
        #[derive(Clone, Debug)]
        $vis struct $name {
            config: host_runtime::LaunchConfig,
        }

        $vis fn $name() -> $name {
            $name {
                config: host_runtime::LaunchConfig::default(),
            }
        }

        const _: () = {
            use host_runtime::__private::*;
            use host_runtime::{Gpu, ToDim};

            #[repr(C)]
            struct Parameters {
                $($view: <$type as KernelParam>::Raw,)*
                $($($value: $plain,)*)?
            }

            unsafe fn entry(params: *const u8) {
                #[allow(unused_variables)]
                // SAFETY: the launch passes a parameter struct whose views are alive.
                let parameters = unsafe { &*params.cast::<Parameters>() };
                #[allow(unused_mut)]
                // SAFETY: as above.
                let run = |$(mut $view: $type,)* $($($value: $plain,)*)?| $body;
                run(
                    // SAFETY: as above.
                    $(unsafe {
                        <$type as KernelParam>::from_raw(parameters.$view)
                    },)*
                    $($(parameters.$value,)*)?
                )
            }

            // SAFETY: `entry` reads `Parameters`, and the id is that of the type.
            unsafe impl KernelInstance for $name {
                const RECORD: &'static KernelRecord = &KernelRecord {
                    magic: KERNEL_MAGIC,
                    id: core::any::TypeId::of::<$name>(),
                    entry,
                    runtime: RUNTIME,
                    name: stringify!($name),
                    module: module_path!(),
                    file: file!(),
                    line: line!(),
                    flags: 0,
                    params_size: size_of::<Parameters>(),
                    params_align: align_of::<Parameters>(),
                    views: &[],
                    max_threads: 0,
                    min_blocks: 0,
                    max_registers: 0,
                    block: [0; 3],
                    cluster: [0; 3],
                };
            }

            impl KernelBuilder for $name {
                fn from_config(config: LaunchConfig) -> Self {
                    Self { config }
                }
            }

            #[allow(dead_code)]
            impl $name {
                pub fn grid(self, grid: impl ToDim) -> Self {
                    Self { config: self.config.grid(grid) }
                }
                pub fn block(self, block: impl ToDim) -> Self {
                    Self { config: self.config.block(block) }
                }
                pub fn on(self, gpu: &Gpu) -> Self {
                    Self { config: self.config.on(gpu) }
                }
                pub fn launch(
                    self,
                    $($view: impl KernelArg<$type>,)*
                    $($($value: $plain,)*)?
                ) -> host_runtime::Result<()> {
                    #[allow(unused_mut)]
                    let mut arguments = Arguments::new();
                    let parameters = Parameters {
                        $($view: $view.raw(&mut arguments),)*
                        $($($value,)*)?
                    };
                    // SAFETY: the parameters are those of this kernel, made with `arguments`.
                    unsafe { launch::<$name>(&self.config, arguments, (&raw const parameters).cast()) }
                }
            }
        };
    };
}

pub(crate) use kernel;
