//! Device code that the driver loads: PTX, a cubin or a fatbin, from NVRTC, a file or memory.
//!
//! In: bytes. Out: a [`CudaImage`] of a known kind. The driver takes only an address and trusts the sizes in the headers, so
//! these are checked here: a truncated file must not make it read beyond the end.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path;

use super::error::CudaSourceError;
use super::headers::{FATBIN, elf_is_whole, elf_target, fatbin_is_whole};
use super::ptx;
use crate::error::Result;

/// Device code with a name for messages: what [`CudaSource`](super::CudaSource) compiles to, or what nvcc has made.
/// [`Gpu::load_cuda`](crate::Gpu::load_cuda) makes it a module. CUDA C: the image of `cuModuleLoadData`.
///
/// ```
/// use host_runtime::CudaImage;
///
/// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n";
/// let image = CudaImage::from_bytes("nothing.ptx", ptx)?;
/// assert_eq!(image.kernels().unwrap(), ["nothing"]);
/// # Ok::<(), host_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct CudaImage {
    name: String,
    code: Code,
    /// The PTX that machine code was made of, if it is known.
    made_of: Option<String>,
    log: String,
    symbols: HashMap<String, String>,
}

#[derive(Clone)]
enum Code {
    /// Text and a zero byte, as the driver wants it.
    Ptx(String),
    /// Machine code for one architecture, such as `sm_90` if its header says.
    Cubin(Vec<u8>, Option<u32>),
    /// Machine code and PTX for several.
    Fatbin(Vec<u8>),
}

impl CudaImage {
    /// Device code in memory: PTX, a cubin or a fatbin, such as `include_bytes!` gives. `name` is what messages call it.
    /// CuPy: `RawModule(path=...)`; PyCUDA: `module_from_buffer`.
    ///
    /// # Errors
    ///
    /// If it is none of these, or not whole.
    pub fn from_bytes(name: impl Into<String>, code: impl Into<Vec<u8>>) -> Result<Self> {
        let (name, code) = (name.into(), code.into());
        match Code::of(code) {
            Ok(code) => Ok(Self::of(name, code)),
            Err(reason) => Err(CudaSourceError::NotAnImage {
                module: name,
                reason,
            }
            .into()),
        }
    }

    /// A file of PTX, a cubin or a fatbin: what `nvcc -ptx`, `-cubin` and `-fatbin` write. PyCUDA: `module_from_file`;
    /// CUDA C: `cuModuleLoad`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is none of these, or not whole.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        match fs::read(path) {
            Ok(bytes) => Self::from_bytes(path.display().to_string(), bytes),
            Err(error) => Err(CudaSourceError::Unreadable {
                path: path.to_owned(),
                error,
            }
            .into()),
        }
    }

    /// What the compiler made of a source.
    pub(super) fn of_compiled(name: String, compiled: cuda_loader::Compiled) -> Self {
        if compiled.cubin.is_empty() {
            let code = Code::Ptx(compiled.ptx + "\0");
            return Self {
                log: compiled.log,
                ..Self::of(name, code)
            };
        }
        let target = elf_target(&compiled.cubin);
        Self {
            log: compiled.log,
            made_of: Some(compiled.ptx),
            ..Self::of(name, Code::Cubin(compiled.cubin, target))
        }
    }

    fn of(name: String, code: Code) -> Self {
        Self {
            name,
            code,
            made_of: None,
            log: String::new(),
            symbols: HashMap::new(),
        }
    }

    /// The same with the symbols of name expressions.
    pub(super) fn with_symbols(self, symbols: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            symbols: symbols.into_iter().collect(),
            ..self
        }
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The code, to be written to a file and loaded another time: text for PTX, and machine code for the rest.
    pub fn bytes(&self) -> &[u8] {
        match &self.code {
            Code::Ptx(text) => text.trim_end_matches('\0').as_bytes(),
            Code::Cubin(bytes, _) | Code::Fatbin(bytes) => bytes,
        }
    }

    /// The PTX: of PTX, and of machine code that was compiled in this process.
    pub fn ptx(&self) -> Option<&str> {
        match &self.code {
            Code::Ptx(text) => Some(text.trim_end_matches('\0')),
            _ => self.made_of.as_deref(),
        }
    }

    /// What the compiler said: its warnings, and what options such as `--ptxas-options=-v` ask for. Empty for code that was
    /// not compiled in this process.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The names of the kernels as they are in the code, where [`ptx`](Self::ptx) is known.
    pub fn kernels(&self) -> Option<Vec<String>> {
        self.ptx().map(ptx::kernels)
    }

    /// The symbol of a name: of a name expression that the source was compiled with, or else the name itself. CUDA C:
    /// `nvrtcGetLoweredName`.
    pub fn symbol<'a>(&'a self, name: &'a str) -> &'a str {
        self.symbols.get(name).map_or(name, String::as_str)
    }

    /// What `cuModuleLoadData` takes: a whole cubin or fatbin, or a terminated text.
    pub(crate) fn for_driver(&self) -> &[u8] {
        match &self.code {
            Code::Ptx(text) => text.as_bytes(),
            Code::Cubin(bytes, _) | Code::Fatbin(bytes) => bytes,
        }
    }

    /// What it is made for, for messages.
    pub(crate) fn target(&self) -> String {
        match &self.code {
            Code::Ptx(text) => ptx::directive(text, ".target").unwrap_or("").to_owned(),
            Code::Cubin(_, Some(target)) => format!("sm_{target}"),
            Code::Cubin(..) => "another architecture".to_owned(),
            Code::Fatbin(_) => "other architectures".to_owned(),
        }
    }
}

impl fmt::Debug for CudaImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.code {
            Code::Ptx(_) => "PTX",
            Code::Cubin(..) => "cubin",
            Code::Fatbin(_) => "fatbin",
        };
        write!(
            f,
            "CudaImage({}: {kind}, {} bytes)",
            self.name,
            self.bytes().len()
        )
    }
}

impl Code {
    fn of(bytes: Vec<u8>) -> std::result::Result<Self, String> {
        if bytes.starts_with(b"\x7fELF") {
            elf_is_whole(&bytes)?;
            let target = elf_target(&bytes);
            return Ok(Self::Cubin(bytes, target));
        }
        if bytes.starts_with(&FATBIN.to_le_bytes()) {
            fatbin_is_whole(&bytes)?;
            return Ok(Self::Fatbin(bytes));
        }
        let start = bytes.get(..8).unwrap_or(&bytes).to_vec();
        let text = String::from_utf8(bytes).ok();
        let text = text.map(|text| text.trim_end_matches('\0').to_owned());
        match text {
            Some(text) if ptx::directive(&text, ".version").is_some() && !text.contains('\0') => {
                Ok(Self::Ptx(text + "\0"))
            }
            _ if start.is_empty() => Err("it is empty".to_owned()),
            _ => Err(format!(
                "it begins with `{}`, and has no line `.version`",
                start.escape_ascii()
            )),
        }
    }
}
