//! The device code in this program, and which of it has a kernel instance.
//!
//! In: what each crate's macro expansion submitted. Out: for a `TypeId`, the code and the kernel's entry in it. Built
//! once, on the first launch. Kernels that are compiled when the program runs are added.

use std::any::TypeId;
use std::collections::HashMap;
use std::ffi::CStr;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{LazyLock, PoisonError, RwLock};

use gpu_std::kernel::KernelRecord;

use crate::error::Error;
use crate::rust_source::RunTimeEntry;

/// The device code of one crate.
#[derive(Debug)]
pub struct DeviceCode {
    /// The crate.
    pub crate_name: &'static str,
    /// The same code for several targets.
    pub images: &'static [Image],
    /// The kernels in each image.
    pub kernels: &'static [CompiledKernel],
    /// Why there are no images, if there are none.
    pub skipped: Option<&'static str>,
}

inventory::collect!(DeviceCode);

/// PTX for one target.
#[derive(Debug)]
pub struct Image {
    /// The target: 75 for `sm_75`.
    pub target: u32,
    /// The text.
    pub ptx: &'static CStr,
}

/// One kernel instance in device code.
#[derive(Debug)]
pub struct CompiledKernel {
    /// The bits of the instance's `TypeId`.
    pub id: u128,
    /// The kernel's name in the PTX.
    pub symbol: &'static CStr,
    /// The most dimensions of a launch: 1, 2, or 3 for all.
    pub dimensions: u32,
    /// Whether it waits for its whole grid, so that all blocks must run at once.
    pub cooperative: bool,
    /// Bytes of static shared memory.
    pub shared_bytes: u32,
    /// The stack that a thread needs in bytes; 0 where CUDA's default does.
    pub stack_bytes: u32,
    /// Whether it can print.
    pub prints: bool,
    /// Whether it can allocate from the heap.
    pub allocates: bool,
}

/// A kernel instance and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub code: &'static DeviceCode,
    pub kernel: &'static CompiledKernel,
}

/// A map keyed by the bits of a `TypeId`, which are a hash already.
pub(crate) type IdMap<V> = HashMap<u128, V, BuildHasherDefault<IdHasher>>;

/// Takes the low half of a 128-bit hash.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, id: u128) {
        self.0 = id as u64;
    }
}

/// The bits of a kernel's `TypeId`.
pub(crate) fn id_of(record: &KernelRecord) -> u128 {
    bits_of(record.id)
}

/// The bits of a `TypeId`.
pub(crate) fn bits_of(id: TypeId) -> u128 {
    // SAFETY: a `TypeId` is 16 bytes of plain data; the compiler checks the size.
    unsafe { std::mem::transmute(id) }
}

/// The instance's device code, or `None` where the program has none.
pub(crate) fn find(record: &KernelRecord) -> Option<Found> {
    static KERNELS: LazyLock<IdMap<Found>> = LazyLock::new(|| {
        crate::explain::write_what_is_asked_for(inventory::iter::<DeviceCode>);
        index(inventory::iter::<DeviceCode>)
    });
    let found = KERNELS.get(&id_of(record)).copied();
    found.or_else(|| {
        let entry = compiled_since(record)?;
        (entry.find)((entry.record)())
    })
}

/// Kernels that were compiled since the program started.
static COMPILED_SINCE: RwLock<IdMap<&'static RunTimeEntry>> =
    RwLock::new(HashMap::with_hasher(BuildHasherDefault::new()));

/// Makes a kernel that was compiled since the program started one of its kernels.
pub(crate) fn register(entry: &'static RunTimeEntry) {
    let mut entries = COMPILED_SINCE
        .write()
        .unwrap_or_else(PoisonError::into_inner);
    entries.insert(id_of((entry.record)()), entry);
}

/// The entry of such a kernel.
pub(crate) fn compiled_since(record: &KernelRecord) -> Option<&'static RunTimeEntry> {
    let entries = COMPILED_SINCE
        .read()
        .unwrap_or_else(PoisonError::into_inner);
    entries.get(&id_of(record)).copied()
}

/// All such kernels.
pub(crate) fn all_compiled_since() -> Vec<&'static RunTimeEntry> {
    let entries = COMPILED_SINCE
        .read()
        .unwrap_or_else(PoisonError::into_inner);
    entries.values().copied().collect()
}

fn index(codes: impl IntoIterator<Item = &'static DeviceCode>) -> IdMap<Found> {
    let mut kernels = IdMap::default();
    for code in codes {
        for kernel in code.kernels {
            kernels.entry(kernel.id).or_insert(Found { code, kernel });
        }
    }
    kernels
}

/// The image with the highest target that a device of this compute capability (75 for 7.5) runs.
pub(crate) fn best_image(
    images: &'static [Image],
    compute_capability: u32,
) -> Option<&'static Image> {
    images
        .iter()
        .filter(|image| image.target <= compute_capability)
        .max_by_key(|image| image.target)
}

/// Why the instance has no device code.
#[cold]
pub(crate) fn missing(record: &'static KernelRecord) -> Error {
    explain(record, inventory::iter::<DeviceCode>)
}

fn explain(
    record: &'static KernelRecord,
    codes: impl IntoIterator<Item = &'static DeviceCode>,
) -> Error {
    let codes: Vec<_> = codes.into_iter().collect();
    let own_crate = record.module.split("::").next().unwrap_or_default();
    let mut skipped: Vec<_> = codes
        .iter()
        .filter_map(|code| code.skipped.map(|reason| (code.crate_name, reason)))
        .collect();
    skipped.sort_by_key(|(crate_name, _)| crate_name.replace('-', "_") != own_crate);
    match skipped.first() {
        Some(&(crate_name, reason)) => Error::DeviceCodeSkipped {
            kernel: record.name,
            crate_name,
            reason,
        },
        None => Error::NotCompiled {
            kernel: record.name,
            module: record.module,
            crates: codes.iter().map(|code| code.crate_name).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use gpu_std::kernel::KERNEL_MAGIC;
    use gpu_std::runtime::RUNTIME;

    use super::*;

    unsafe fn nothing(_params: *const u8) {}

    const ADD: &KernelRecord = &KernelRecord {
        magic: KERNEL_MAGIC,
        id: TypeId::of::<u8>(),
        entry: nothing,
        runtime: RUNTIME,
        name: "add",
        module: "my_kernels::basic",
        file: "src/basic.rs",
        line: 3,
        flags: 0,
        params_size: 0,
        params_align: 1,
        views: &[],
        max_threads: 0,
        min_blocks: 0,
        max_registers: 0,
        block: [0; 3],
        cluster: [0; 3],
    };

    const fn code(crate_name: &'static str, skipped: Option<&'static str>) -> DeviceCode {
        DeviceCode {
            crate_name,
            images: &[],
            kernels: &[],
            skipped,
        }
    }

    const fn image(target: u32) -> Image {
        Image {
            target,
            ptx: c"//\n.version 7.8\n.target sm_75\n",
        }
    }

    static IMAGES: [Image; 3] = [image(75), image(90), image(80)];

    #[test]
    fn the_highest_target_that_runs_is_chosen() {
        let target = |capability| best_image(&IMAGES, capability).map(|image| image.target);
        assert_eq!(target(70), None);
        assert_eq!(target(75), Some(75));
        assert_eq!(target(89), Some(80));
        assert_eq!(target(90), Some(90));
        assert_eq!(target(120), Some(90));
    }

    #[test]
    fn ids_are_found_again() {
        let kernel = CompiledKernel {
            id: id_of(ADD),
            symbol: c"add_1",
            dimensions: 1,
            cooperative: false,
            shared_bytes: 0,
            stack_bytes: 0,
            prints: false,
            allocates: false,
        };
        let kernels: &'static [CompiledKernel] = Vec::leak(vec![kernel]);
        let code = Box::leak(Box::new(DeviceCode {
            kernels,
            ..code("x", None)
        }));
        let found = index([&*code]);
        assert_eq!(found.get(&id_of(ADD)).unwrap().kernel.symbol, c"add_1");
        assert!(!found.contains_key(&(id_of(ADD) ^ 1)));
    }

    #[test]
    fn the_error_says_what_to_add_or_why_it_was_skipped() {
        static OTHER: DeviceCode = code("other", None);
        static CHECKED: DeviceCode = code("elsewhere", Some("reason A"));
        static OWN: DeviceCode = code("my-kernels", Some("rustc only checked it"));

        let text = explain(ADD, []).to_string();
        assert!(
            text.contains("kernel `add` of `my_kernels::basic`"),
            "{text}"
        );
        assert!(text.contains("oxwarp::device_code!();"), "{text}");
        assert!(explain(ADD, [&OTHER]).to_string().contains("are: other"));

        let text = explain(ADD, [&OTHER, &CHECKED, &OWN]).to_string();
        assert!(
            text.contains("`my-kernels`") && text.contains("rustc only checked it"),
            "{text}"
        );
    }
}
