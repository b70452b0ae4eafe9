//! For tests: modules in LLVM's own notation.

use std::ffi::c_char;
use std::path::PathBuf;
use std::process::Command;

use crate::llvm::{self, Bool, Buffer, Context, Module};

/// The LLVM of the rustc that compiles this crate.
fn library() -> PathBuf {
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let sysroot = String::from_utf8(output.expect("rustc runs").stdout).unwrap();
    let libraries = std::fs::read_dir(PathBuf::from(sysroot.trim()).join("lib")).unwrap();
    let found = libraries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.to_string_lossy().contains("libLLVM"));
    found.expect("rustc has a shared LLVM")
}

/// Reads a module.
pub fn parse(text: &str) -> (Context, Module) {
    type ParseIr =
        unsafe extern "C" fn(Context, Buffer, *mut Option<Module>, *mut *mut c_char) -> Bool;
    llvm::load(&library()).expect("LLVM loads");
    let context = llvm::context_create();
    // SAFETY: the library is LLVM, and stays open: `llvm::load` has opened it.
    unsafe {
        let library = libloading::Library::new(library()).unwrap();
        let parse = library.get::<ParseIr>(b"LLVMParseIRInContext").unwrap();
        let buffer = llvm::buffer_from_bytes(text.as_ptr(), text.len(), c"".as_ptr());
        let (mut module, mut message) = (None, std::ptr::null_mut());
        let failed = parse(context, buffer, &mut module, &mut message);
        assert_eq!(failed, 0, "{}", llvm::owned_text(message));
        (context, module.unwrap())
    }
}
