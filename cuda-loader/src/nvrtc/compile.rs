//! Compiling one source.
//!
//! In: a [`Source`]. Out: [`Compiled`], or the log as an error. An `nvrtcProgram` lives only for the call.

use std::ffi::{CString, NulError, c_char, c_int};
use std::ptr::null_mut;

use super::{Nvrtc, NvrtcError};
use crate::{Pointer, find};

/// `NVRTC_ERROR_COMPILATION`.
const COMPILATION: u32 = 6;

/// CUDA C++ to compile.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// The source.
    pub text: &'a str,
    /// NVRTC's options, such as `--gpu-architecture=sm_90`.
    pub options: &'a [&'a str],
    /// Headers that are in no folder: the name in `#include`, and the text.
    pub headers: &'a [(&'a str, &'a str)],
    /// Names as C++ writes them, such as `scale<float>` or `&table<int>`, which make NVRTC instantiate the template.
    pub expressions: &'a [&'a str],
}

/// What NVRTC made of a source.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The machine code for a real architecture (`--gpu-architecture=sm_90`); empty for a virtual one (`compute_90`).
    pub cubin: Vec<u8>,
    /// The PTX.
    pub ptx: String,
    /// What the compiler said: warnings, and what options such as `--ptxas-options=-v` ask for.
    pub log: String,
    /// The symbol of each of the source's expressions, in their order.
    pub symbols: Vec<String>,
}

impl Nvrtc {
    /// Compiles CUDA C++.
    ///
    /// The toolkit's own headers (`cuda_fp16.h`) are found where they lie beside NVRTC's library or in a toolkit, after the
    /// folders that the options name.
    ///
    /// ```no_run
    /// use cuda_loader::Source;
    ///
    /// let compiled = cuda_loader::nvrtc()?.compile(&Source {
    ///     name: "one.cu",
    ///     text: "template <class T> __global__ void one(T *x) { *x = 1; }",
    ///     options: &["--gpu-architecture=sm_90"],
    ///     expressions: &["one<int>"],
    ///     ..Source::default()
    /// })?;
    /// assert!(!compiled.cubin.is_empty());
    /// assert_eq!(compiled.symbols, ["_Z3oneIiEvPT_"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the source has errors, or NVRTC does not take the options.
    pub fn compile(&self, source: &Source<'_>) -> Result<Compiled, NvrtcError> {
        let program = Program::create(self, source)?;
        let expressions = texts(source.expressions.iter().copied())?;
        for expression in &expressions {
            // SAFETY: the program lives and is not compiled yet, and the text is terminated.
            unsafe { self.add_expression(program.handle, expression.as_ptr()) }?;
        }
        let headers = find::headers(&self.place);
        let headers = headers
            .iter()
            .filter_map(|folder| folder.to_str())
            .map(|folder| format!("--include-path={folder}"));
        let headers: Vec<_> = headers.collect();
        let options = source.options.iter().copied();
        let options = texts(options.chain(headers.iter().map(String::as_str)))?;
        let pointers = pointers(&options);
        // SAFETY: the program lives, and there are so many terminated options.
        let compiled = unsafe {
            self.compile_program(program.handle, pointers.len() as c_int, pointers.as_ptr())
        };
        if let Err(error) = compiled {
            return Err(program.with_log(error, source.name));
        }
        Ok(Compiled {
            cubin: program.bytes(Self::cubin_size, Self::cubin)?,
            ptx: terminated(program.bytes(Self::ptx_size, Self::ptx)?),
            log: program.log()?,
            symbols: expressions
                .iter()
                .map(|expression| program.symbol(expression))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// An `nvrtcProgram`.
struct Program<'a> {
    nvrtc: &'a Nvrtc,
    handle: Pointer,
}

impl<'a> Program<'a> {
    fn create(nvrtc: &'a Nvrtc, source: &Source<'_>) -> Result<Self, NvrtcError> {
        let (name, text) = (CString::new(source.name)?, CString::new(source.text)?);
        let names = texts(source.headers.iter().map(|(name, _)| *name))?;
        let headers = texts(source.headers.iter().map(|(_, text)| *text))?;
        let mut handle = null_mut();
        // SAFETY: all texts are terminated, there are as many headers as names, and the handle may be written.
        unsafe {
            nvrtc.create_program(
                &mut handle,
                text.as_ptr(),
                name.as_ptr(),
                headers.len() as c_int,
                pointers(&headers).as_ptr(),
                pointers(&names).as_ptr(),
            )
        }?;
        Ok(Program { nvrtc, handle })
    }

    /// The error of the compilation, with what the compiler said.
    fn with_log(&self, error: NvrtcError, name: &str) -> NvrtcError {
        let said = self.log().unwrap_or_default();
        match error {
            NvrtcError::Call {
                code: COMPILATION, ..
            } => NvrtcError::Compilation {
                name: name.to_owned(),
                log: said,
            },
            NvrtcError::Call {
                call, code, text, ..
            } => NvrtcError::Call {
                call,
                code,
                text,
                log: said,
            },
            other => other,
        }
    }

    fn log(&self) -> Result<String, NvrtcError> {
        Ok(terminated(self.bytes(Nvrtc::log_size, Nvrtc::log)?))
    }

    /// The symbol of an expression that was added before the program was compiled.
    fn symbol(&self, expression: &CString) -> Result<String, NvrtcError> {
        let mut symbol = std::ptr::null();
        // SAFETY: the program lives, the text is terminated, and the pointer may be written.
        unsafe {
            self.nvrtc
                .lowered_name(self.handle, expression.as_ptr(), &mut symbol)
        }?;
        // SAFETY: the text is terminated, and lives as long as the program.
        let symbol = unsafe { std::ffi::CStr::from_ptr(symbol) };
        Ok(symbol.to_string_lossy().into_owned())
    }

    /// What one of the pairs of functions, of size and of bytes, gives.
    fn bytes(
        &self,
        size: unsafe fn(&Nvrtc, Pointer, *mut usize) -> Result<(), NvrtcError>,
        get: unsafe fn(&Nvrtc, Pointer, *mut c_char) -> Result<(), NvrtcError>,
    ) -> Result<Vec<u8>, NvrtcError> {
        let mut bytes = 0;
        // SAFETY: the program lives, and the size may be written.
        unsafe { size(self.nvrtc, self.handle, &mut bytes) }?;
        let mut text = vec![0u8; bytes];
        if bytes > 0 {
            // SAFETY: the program lives, and there is room for as many bytes as it said.
            unsafe { get(self.nvrtc, self.handle, text.as_mut_ptr().cast()) }?;
        }
        Ok(text)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the program lives and is not used again. A failure leaks it.
        let _ = unsafe { self.nvrtc.destroy_program(&mut self.handle) };
    }
}

fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<CString>, NulError> {
    texts.map(CString::new).collect()
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

/// A text that C terminated.
fn terminated(mut bytes: Vec<u8>) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    bytes.truncate(end.unwrap_or(bytes.len()));
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::nvrtc;
    use super::*;

    const SM_90: &[&str] = &["--gpu-architecture=sm_90"];

    fn kernel(body: &str) -> String {
        format!("extern \"C\" __global__ void f(int *x) {{\n{body}\n}}")
    }

    /// NVRTC, or `None` where there is none, which is said.
    fn compiler() -> Option<&'static Nvrtc> {
        nvrtc()
            .inspect_err(|error| eprintln!("skipped: {error}"))
            .ok()
    }

    #[test]
    fn a_source_compiles_or_its_log_is_the_error() {
        let Some(nvrtc) = compiler() else { return };
        assert!(nvrtc.version().unwrap() >= (12, 0));
        assert!(nvrtc.architectures().unwrap().contains(&90));
        let compile = |name, text: &str, options| {
            nvrtc.compile(&Source {
                name,
                text,
                options,
                ..Source::default()
            })
        };
        let compiled = compile("f.cu", &kernel("*x = 1;"), SM_90).unwrap();
        assert!(compiled.cubin.starts_with(b"\x7fELF"));
        assert!(compiled.ptx.contains(".entry f("));

        let error = compile("f.cu", &kernel("*x = y;"), SM_90).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("f.cu(2): error: identifier \"y\""), "{text}");
        let error = compile("f.cu", "", &["--no-such-option"]).unwrap_err();
        assert!(matches!(&error, NvrtcError::Call { .. }), "{error}");
        assert!(error.to_string().contains("--no-such-option"), "{error}");
        let error = compile("a\0b", "", &[]).unwrap_err();
        assert!(error.to_string().contains("zero byte"), "{error}");
    }

    #[test]
    fn templates_and_headers() {
        let Some(nvrtc) = compiler() else { return };
        let source = Source {
            name: "scale.cu",
            text: "#include \"factor.h\"\n#include <cuda_fp16.h>\n\
                   template <class T> __constant__ T table[3];\n\
                   template <class T, int N> __global__ void scale(T *x) { *x *= T(N * FACTOR) * table<T>[0]; }",
            options: SM_90,
            headers: &[("factor.h", "#define FACTOR 3\n")],
            expressions: &["scale<float, 2>", "scale<__half,  4>", "&table<float>"],
        };
        let compiled = nvrtc.compile(&source).unwrap();
        assert_eq!(compiled.symbols.len(), 3);
        for symbol in &compiled.symbols[..2] {
            let entry = format!(".entry {symbol}(");
            assert!(compiled.ptx.contains(&entry), "{}", compiled.ptx);
        }
        let table = format!(" {}[12]", compiled.symbols[2]);
        assert!(compiled.ptx.contains(&table), "{}", compiled.ptx);

        let wrong = Source {
            expressions: &["scale<float>"],
            ..source
        };
        let error = nvrtc.compile(&wrong).unwrap_err().to_string();
        assert!(error.contains("scale<float>"), "{error}");
    }
}
