//! Whether a thread may be interrupted where it is: the functions on its stack, by their names.
//!
//! In: the stack of the running thread, and the symbols of the program's file (of the library's, where kernels and this copy of
//! the crate are in one that was loaded later). Nothing is allocated, and the C library is asked
//! for no more than to map the file, so it does not matter what the thread was doing.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::slice;
use std::sync::{Mutex, OnceLock, PoisonError};

use libc::{Elf64_Ehdr, Elf64_Shdr, Elf64_Sym, dl_phdr_info};

use super::detour;

/// What is known of so many functions.
const KNOWN: usize = 64;
/// More frames than that are not looked at.
const DEEPEST: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Kernels, and what they may call on a GPU too.
    Kernel,
    /// Whoever calls the kernel's entry.
    Base,
    Other,
}

/// The code of the file that this crate is linked into.
pub(super) struct Program {
    /// What its addresses in the file are relative to.
    bias: usize,
    code: Range<usize>,
    file: &'static CStr,
}

/// The program's code.
pub(super) fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut program = Program {
            bias: 0,
            code: 0..0,
            file: c"",
        };
        // SAFETY: the function is called before this one returns, with a pointer to a `Program`.
        unsafe { libc::dl_iterate_phdr(Some(object), (&raw mut program).cast()) };
        program
    })
}

impl Program {
    #[inline]
    pub(super) fn has_code(&self, address: usize) -> bool {
        self.code.contains(&address)
    }
}

/// Keeps the object that has this function.
unsafe extern "C" fn object(info: *mut dl_phdr_info, _size: usize, program: *mut c_void) -> c_int {
    // SAFETY: the system gives the object and its headers, and `program` is that of the caller.
    let (info, program) = unsafe { (&*info, &mut *program.cast::<Program>()) };
    // SAFETY: as above.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let bias = info.dlpi_addr as usize;
    let codes = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0)
        .map(|header| {
            let first = bias + header.p_vaddr as usize;
            first..first + header.p_memsz as usize
        });
    for code in codes {
        if code.contains(&(object as *const () as usize)) {
            // SAFETY: the name lives as long as the object, and that as long as its code.
            let file = unsafe { CStr::from_ptr(info.dlpi_name) };
            *program = Program { bias, code, file };
            return 1;
        }
    }
    0
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        trace: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(frame: *mut c_void, is_before: *mut c_int) -> usize;
}

const NEXT: c_int = 0;
const STOP: c_int = 4;

#[derive(Default)]
struct Walk {
    frames: usize,
    is_behind_detour: bool,
    came_to_base: bool,
}

/// Whether all functions between the [detour](detour::trampoline), which is on the stack, and the kernel's entry are the
/// kernel's.
pub(super) fn are_all_of_the_kernel() -> bool {
    let mut walk = Walk::default();
    // SAFETY: the function is called before this one returns, with a pointer to a `Walk`.
    unsafe { _Unwind_Backtrace(frame, (&raw mut walk).cast()) };
    walk.came_to_base
}

unsafe extern "C" fn frame(frame: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: the caller's.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    let mut is_before = 0;
    // SAFETY: the frame is the unwinder's.
    let address = unsafe { _Unwind_GetIPInfo(frame, &mut is_before) };
    // A return address may be behind its function.
    let address = address.wrapping_sub(usize::from(is_before == 0));
    walk.frames += 1;
    if walk.frames > DEEPEST {
        return STOP;
    }
    let (start, kind) = function_at(address);
    if !walk.is_behind_detour {
        walk.is_behind_detour = start == detour::trampoline as *const () as usize;
        return NEXT;
    }
    walk.came_to_base = kind == Kind::Base;
    if kind == Kind::Kernel { NEXT } else { STOP }
}

#[derive(Clone, Copy)]
struct Function {
    start: usize,
    end: usize,
    kind: Kind,
}

/// Functions that were asked for, the last of them from `next` on backwards.
struct Known {
    functions: [Function; KNOWN],
    next: usize,
}

static ASKED: Mutex<Known> = Mutex::new(Known {
    functions: [Function {
        start: 0,
        end: 0,
        kind: Kind::Other,
    }; KNOWN],
    next: 0,
});

/// Where the function begins that has this instruction, and what it is.
fn function_at(address: usize) -> (usize, Kind) {
    let mut known = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    let has_it = |function: &&Function| (function.start..function.end).contains(&address);
    let function = match known.functions.iter().find(has_it) {
        Some(function) => *function,
        None => {
            let Some(function) = look_up(address) else {
                return (0, Kind::Other);
            };
            let next = known.next;
            known.functions[next] = function;
            known.next = (next + 1) % KNOWN;
            function
        }
    };
    (function.start, function.kind)
}

/// The symbols of the program's file.
struct Symbols {
    table: &'static [Elf64_Sym],
    names: &'static [u8],
}

fn look_up(address: usize) -> Option<Function> {
    static SYMBOLS: OnceLock<Option<Symbols>> = OnceLock::new();
    if !program().has_code(address) {
        return None;
    }
    // SAFETY: the system keeps the file of a running program as it is.
    let symbols = SYMBOLS.get_or_init(|| unsafe { map_symbols() }).as_ref()?;
    let mut found = None::<Function>;
    for symbol in symbols.table {
        let start = program().bias + symbol.st_value as usize;
        let end = start + symbol.st_size as usize;
        if symbol.st_info & 15 != STT_FUNC || !(start..end).contains(&address) {
            continue;
        }
        let name = symbols.names.get(symbol.st_name as usize..)?;
        let kind = kind(CStr::from_bytes_until_nul(name).ok()?.to_bytes());
        // The linker may have found functions with different names to be the same.
        if found.is_some_and(|other| other.kind != kind) {
            return None;
        }
        found = Some(Function { start, end, kind });
    }
    found
}

const STT_FUNC: u8 = 2;
const SHT_SYMTAB: u32 = 2;

/// # Safety
///
/// The program's file does not change.
unsafe fn map_symbols() -> Option<Symbols> {
    // SAFETY: a file that is the linker's, whose tables are where it says; it stays mapped.
    unsafe {
        let file = match program().file {
            // The program itself has no name.
            name if name.is_empty() => c"/proc/self/exe",
            name => name,
        };
        let file = libc::open(file.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let len = libc::lseek(file, 0, libc::SEEK_END).max(0) as usize;
        let (read, private) = (libc::PROT_READ, libc::MAP_PRIVATE);
        let start = libc::mmap(ptr::null_mut(), len, read, private, file, 0);
        libc::close(file);
        if start == libc::MAP_FAILED || len < size_of::<Elf64_Ehdr>() {
            return None;
        }
        let header = &*start.cast::<Elf64_Ehdr>();
        let sections = start.byte_add(header.e_shoff as usize);
        let sections = slice::from_raw_parts(sections.cast::<Elf64_Shdr>(), header.e_shnum.into());
        let table = sections
            .iter()
            .find(|section| section.sh_type == SHT_SYMTAB)?;
        let names = sections.get(table.sh_link as usize)?;
        let bytes = |section: &Elf64_Shdr| start.byte_add(section.sh_offset as usize);
        let symbols = table.sh_size as usize / size_of::<Elf64_Sym>();
        Some(Symbols {
            table: slice::from_raw_parts(bytes(table).cast(), symbols),
            names: slice::from_raw_parts(bytes(names).cast(), names.sh_size as usize),
        })
    }
}

/// What a function is, by its symbol.
fn kind(symbol: &[u8]) -> Kind {
    const NOT_THE_KERNEL: [&[u8]; 9] = [
        b"3std",
        b"$std..",
        b"gpu_sim",
        b"__rust",
        b"__rg_",
        b"__rdl_",
        b"GlobalAlloc",
        b"corosensei",
        b"rayon",
    ];
    let has = |part: &[u8]| symbol.windows(part.len()).any(|window| window == part);
    if has(b"gpu_sim4lane11run_threads") {
        return Kind::Base;
    }
    let is_rust = symbol.starts_with(b"_R") || symbol.starts_with(b"_ZN");
    match is_rust && !NOT_THE_KERNEL.into_iter().any(has) {
        true => Kind::Kernel,
        false => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_functions() {
        for kernel in [
            "_ZN4core4sync6atomic9AtomicU324load17h0123456789abcdefE",
            "_ZN7gpu_std6thread8index_1d17h0123456789abcdefE",
            "_ZN50_$LT$gpu_std..view..View$u20$as$u20$core..ops..Index$GT$5index17h0123456789abcdefE",
            "_RNvCs5J5WXZ0kWRp_6dot_ex3dot",
        ] {
            assert_eq!(kind(kernel.as_bytes()), Kind::Kernel, "{kernel}");
        }
        for other in [
            "_ZN3std2io5stdio6_print17h0123456789abcdefE",
            "_ZN57_$LT$std..io..stdio..Stdout$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE",
            "_RNvNtNtCs5J5WXZ0kWRp_3std2io5stdio6_print",
            "_RNvXCs5J5WXZ0kWRp_2myNtB2_1ANtNtNtCs1_4core5alloc6global11GlobalAlloc5alloc",
            "_RNvCs5J5WXZ0kWRp_7___rustc12___rust_alloc",
            "_RNvNtCs5J5WXZ0kWRp_7gpu_sim7symbols6malloc",
            "malloc",
            "gpu.note.shared.read",
        ] {
            assert_eq!(kind(other.as_bytes()), Kind::Other, "{other}");
        }
        let base = "_RINvNtCs5J5WXZ0kWRp_7gpu_sim4lane11run_threadsKb0_EB4_";
        assert_eq!(kind(base.as_bytes()), Kind::Base);
    }

    #[test]
    fn the_program_has_code_and_symbols() {
        let address = kinds_of_functions as *const () as usize;
        assert!(program().has_code(address));
        assert!(!program().has_code(libc::malloc as *const () as usize));
        let (start, kind) = function_at(address + 1);
        assert_eq!((start, kind), (address, Kind::Other));
    }
}
