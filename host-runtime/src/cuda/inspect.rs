//! What the driver says of a loaded kernel, and what its compiler makes of PTX.
//!
//! The attributes are of the function that launches run. They do not tell spills, so the kernel's PTX is loaded once more,
//! alone, and the driver asked for its compiler's log, which is that of `ptxas -v`.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use std::time::{SystemTime, UNIX_EPOCH};

use gpu_std::kernel::KernelRecord;
use ptx_report::{Assembled, ToolError, parse_log};

use super::CudaStream;
use super::foreign::ForeignKernel;
use super::module::{LoadedKernel, log_text};
use crate::error::Result;
use crate::inspect::KernelAttributes;

/// `CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES`.
const SHARED_SIZE_BYTES: c_uint = 1;
/// `CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES`.
const CONST_SIZE_BYTES: c_uint = 2;
/// `CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES`.
const LOCAL_SIZE_BYTES: c_uint = 3;
/// `CU_FUNC_ATTRIBUTE_NUM_REGS`.
const NUM_REGS: c_uint = 4;

/// `CU_JIT_INFO_LOG_BUFFER`, `CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES`.
const INFO_LOG: [c_uint; 2] = [3, 4];
/// `CU_JIT_ERROR_LOG_BUFFER`, `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
const ERROR_LOG: [c_uint; 2] = [5, 6];
/// `CU_JIT_LOG_VERBOSE`.
const LOG_VERBOSE: c_uint = 12;
/// Bytes of each log that are kept.
const LOG_CAPACITY: usize = 64 << 10;

impl CudaStream {
    /// The attributes of a kernel's function, which is loaded if need be.
    pub fn attributes(&self, record: &'static KernelRecord) -> Result<KernelAttributes> {
        self.make_current()?;
        self.attributes_of(&self.kernel(record)?)
    }

    /// The same of a kernel that is not of this program.
    pub fn foreign_attributes(&self, kernel: &ForeignKernel) -> Result<KernelAttributes> {
        self.make_current()?;
        self.attributes_of(kernel.loaded())
    }

    pub(super) fn attributes_of(&self, kernel: &LoadedKernel) -> Result<KernelAttributes> {
        let attribute = |attribute| self.attribute(kernel.function, attribute);
        Ok(KernelAttributes {
            registers: attribute(NUM_REGS)?,
            shared_bytes: attribute(SHARED_SIZE_BYTES)?,
            local_bytes: attribute(LOCAL_SIZE_BYTES)?,
            constant_bytes: attribute(CONST_SIZE_BYTES)?,
            max_threads: self.max_threads(kernel.function)?,
        })
    }

    /// What the driver's compiler makes of the kernel `symbol` of a PTX text.
    pub fn assemble(&self, ptx: &str, symbol: &str) -> std::result::Result<Assembled, ToolError> {
        let (mut info, mut errors) = (vec![0u8; LOG_CAPACITY], vec![0u8; LOG_CAPACITY]);
        let compiled = self.compile(ptx, &mut info, &mut errors);
        let failed = |log: String| ToolError::Failed {
            tool: "the driver's compiler".to_owned(),
            log: log.trim_end().to_owned(),
        };
        compiled.map_err(|error| failed(format!("{error}\n{}", log_text(&errors))))?;
        let log = log_text(&info);
        let assembled = parse_log(&log).remove(symbol);
        assembled.ok_or_else(|| failed(format!("nothing about `{symbol}` in its log\n{log}")))
    }

    /// Loads and unloads a module; the driver's words are in the logs.
    fn compile(&self, ptx: &str, info: &mut [u8], errors: &mut [u8]) -> Result<()> {
        self.make_current()?;
        // The driver keeps what it compiled, by its text, on the disk, and has no log where it finds it there.
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_nanos();
        let mut ptx = format!("{ptx}\n// {} {now}\n\0", std::process::id()).into_bytes();
        let mut options = [
            INFO_LOG[0],
            INFO_LOG[1],
            ERROR_LOG[0],
            ERROR_LOG[1],
            LOG_VERBOSE,
        ];
        // The driver takes the values as pointers, a number cast to one.
        let number = std::ptr::without_provenance_mut::<c_void>;
        let mut values = [
            info.as_mut_ptr().cast(),
            number(info.len()),
            errors.as_mut_ptr().cast(),
            number(errors.len()),
            number(1),
        ];
        let mut module: *mut c_void = null_mut();
        // SAFETY: the PTX is terminated; options and values belong together, and the logs have as many bytes as they say.
        // The module is not used after it is unloaded.
        unsafe {
            self.driver.cuModuleLoadDataEx(
                (&raw mut module).cast(),
                ptx.as_mut_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr().cast(),
                values.as_mut_ptr().cast(),
            )?;
            self.driver.cuModuleUnload(module)?;
        }
        Ok(())
    }
}
