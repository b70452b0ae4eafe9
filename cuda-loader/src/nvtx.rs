//! NVTX: names for parts of a program, which NVIDIA's profilers show beside the device's work.
//!
//! A profiler names its library in the variable `NVTX_INJECTION64_PATH`. On the first use here that library is opened and
//! asked for its functions, by the protocol of NVTX 3's headers (`nvtxInit.h`, `nvtxTypes.h`): it is given tables of places,
//! and puts its functions there. Without a profiler nothing is called.

use std::env;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

/// What a profiler's library calls its entry.
type Entry = unsafe extern "C" fn(extern "C" fn(u32) -> *const c_void) -> c_int;

/// Where a profiler puts a function.
type Place = AtomicPtr<c_void>;

/// Callback modules (`NvtxCallbackModule`): core, CUDA, OpenCL, the CUDA runtime, core of domains, synchronisation.
const MODULES: usize = 6;
/// The number of functions of each (`NVTX_CBID_..._SIZE`).
const SIZES: [c_uint; MODULES] = [16, 7, 17, 7, 16, 6];
/// Places of a module; no less than any of the sizes.
const PLACES: usize = 32;

/// `NVTX_CBID_CORE_MarkA`, in the first module.
const MARK: usize = 2;
/// `NVTX_CBID_CORE_RangePushA`.
const RANGE_PUSH: usize = 9;
/// `NVTX_CBID_CORE_RangePop`.
const RANGE_POP: usize = 11;

/// Functions that no one has set are null.
static FUNCTIONS: [[Place; PLACES]; MODULES] =
    [const { [const { AtomicPtr::new(null_mut()) }; PLACES] }; MODULES];

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    size: usize,
    function_table: extern "C" fn(c_uint, *mut *const *const Place, *mut c_uint) -> c_int,
}

/// `NvtxExportTableVersionInfo`.
#[repr(C)]
struct VersionInfo {
    size: usize,
    version: u32,
    reserved: u32,
    set_injection_version: extern "C" fn(u32),
}

/// The export table `NVTX_ETID_CALLBACKS`.
const CALLBACKS: u32 = 1;
/// The export table `NVTX_ETID_VERSIONINFO`.
const VERSION_INFO: u32 = 3;

static CALLBACK_TABLE: Callbacks = Callbacks {
    size: size_of::<Callbacks>(),
    function_table,
};

static VERSION_TABLE: VersionInfo = VersionInfo {
    size: size_of::<VersionInfo>(),
    version: 3,
    reserved: 0,
    set_injection_version,
};

extern "C" fn export_table(id: u32) -> *const c_void {
    match id {
        CALLBACKS => (&raw const CALLBACK_TABLE).cast(),
        VERSION_INFO => (&raw const VERSION_TABLE).cast(),
        _ => null(),
    }
}

extern "C" fn set_injection_version(_version: u32) {}

/// Gives a profiler the places of a module's functions.
extern "C" fn function_table(
    module: c_uint,
    table: *mut *const *const Place,
    size: *mut c_uint,
) -> c_int {
    let Some(number) = (module as usize).checked_sub(1).filter(|&n| n < MODULES) else {
        return 0;
    };
    // SAFETY: the profiler gives null or a place for a value of the type that `nvtxTypes.h` says.
    unsafe {
        if !table.is_null() {
            table.write(places()[number].0.as_ptr());
        }
        if !size.is_null() {
            size.write(SIZES[number]);
        }
    }
    1
}

/// The addresses of a module's places.
struct Addresses([*const Place; PLACES]);

// SAFETY: the addresses are of a static.
unsafe impl Send for Addresses {}

// SAFETY: as for `Send`.
unsafe impl Sync for Addresses {}

fn places() -> &'static [Addresses; MODULES] {
    static ADDRESSES: OnceLock<[Addresses; MODULES]> = OnceLock::new();
    ADDRESSES.get_or_init(|| {
        FUNCTIONS
            .each_ref()
            .map(|module| Addresses(module.each_ref().map(std::ptr::from_ref)))
    })
}

/// A function of the first module, if a profiler has set it.
fn function(number: usize) -> Option<*mut c_void> {
    static OPENED: OnceLock<()> = OnceLock::new();
    OPENED.get_or_init(open);
    let function = FUNCTIONS[0][number].load(Ordering::Acquire);
    (!function.is_null()).then_some(function)
}

/// Lets the profiler of this process set its functions, if there is one.
fn open() {
    let Some(library) = env::var_os("NVTX_INJECTION64_PATH").filter(|path| !path.is_empty()) else {
        return;
    };
    // SAFETY: the library is the profiler's, which the user started; it stays open. The entry has the type of NVTX 3.
    unsafe {
        let Ok(library) = Library::new(library) else {
            return;
        };
        let library = std::mem::ManuallyDrop::new(library);
        if let Ok(entry) = library.get::<Entry>(b"InitializeInjectionNvtx2\0") {
            entry(export_table);
        }
    }
}

/// Begins a range on this thread, inside of those that are begun. `nvtxRangePushA`.
pub fn range_push(name: &CStr) {
    if let Some(function) = function(RANGE_PUSH) {
        // SAFETY: the profiler's function has the type of `nvtxRangePushA`.
        unsafe {
            let push: unsafe extern "C" fn(*const c_char) -> c_int = transmute(function);
            push(name.as_ptr());
        }
    }
}

/// Ends the range that this thread began last. `nvtxRangePop`.
pub fn range_pop() {
    if let Some(function) = function(RANGE_POP) {
        // SAFETY: the profiler's function has the type of `nvtxRangePop`.
        unsafe {
            let pop: unsafe extern "C" fn() -> c_int = transmute(function);
            pop();
        }
    }
}

/// Names this moment. `nvtxMarkA`.
pub fn mark(name: &CStr) {
    if let Some(function) = function(MARK) {
        // SAFETY: the profiler's function has the type of `nvtxMarkA`.
        unsafe {
            let mark: unsafe extern "C" fn(*const c_char) = transmute(function);
            mark(name.as_ptr());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

    unsafe extern "C" fn push(name: *const c_char) -> c_int {
        // SAFETY: the name is terminated.
        let name = unsafe { CStr::from_ptr(name) };
        SEEN.lock().unwrap().push(name.to_str().unwrap().to_owned());
        0
    }

    unsafe extern "C" fn pop() -> c_int {
        SEEN.lock().unwrap().push("pop".to_owned());
        0
    }

    /// What a profiler's library does in its entry.
    unsafe extern "C" fn profiler(table: extern "C" fn(u32) -> *const c_void) -> c_int {
        // SAFETY: the table has the type of `NvtxExportTableCallbacks`, and the module as many places as it says.
        unsafe {
            let callbacks = &*table(CALLBACKS).cast::<Callbacks>();
            assert_eq!((*table(VERSION_INFO).cast::<VersionInfo>()).version, 3);
            let (mut places, mut size) = (null(), 0);
            assert_eq!((callbacks.function_table)(7, &mut places, &mut size), 0);
            assert_eq!((callbacks.function_table)(1, &mut places, &mut size), 1);
            assert_eq!(size, 16);
            let set = |number: usize, function: *mut c_void| {
                (**places.add(number)).store(function, Ordering::Release)
            };
            set(RANGE_PUSH, push as *mut c_void);
            set(RANGE_POP, pop as *mut c_void);
        }
        1
    }

    #[test]
    fn a_profiler_sees_the_ranges() {
        range_push(c"before the profiler is there");
        range_pop();
        // SAFETY: the table is that of this module.
        assert_eq!(unsafe { profiler(export_table) }, 1);
        range_push(c"outer");
        range_push(c"inner");
        mark(c"no one listens to marks");
        range_pop();
        range_pop();
        assert_eq!(*SEEN.lock().unwrap(), ["outer", "inner", "pop", "pop"]);
    }
}
