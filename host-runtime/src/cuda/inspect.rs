//! What the driver says of a loaded kernel, and what its compiler makes of PTX.
//!
//! The attributes are of the function that launches run. They do not tell spills, so the kernel's PTX is compiled once
//! more by the driver's linker, which gives a log as `ptxas -v` does, and the machine code.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use gpu_std::kernel::KernelRecord;
use ptx_report::{Assembled, ToolError, parse_log};

use super::CudaStream;
use super::module::log_text;
use crate::error::Result;

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
/// `CU_JIT_INPUT_PTX`.
const INPUT_PTX: c_uint = 1;
/// Bytes of each log that are kept.
const LOG_CAPACITY: usize = 64 << 10;

/// Attributes of a kernel's function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionAttributes {
    pub registers: u32,
    pub shared_bytes: u32,
    pub local_bytes: u32,
    pub constant_bytes: u32,
    pub max_threads: u32,
}

impl CudaStream {
    /// The attributes of a kernel's function, which is loaded if need be.
    pub fn attributes(&self, record: &'static KernelRecord) -> Result<FunctionAttributes> {
        self.make_current()?;
        let function = self.kernel(record)?.function;
        let attribute = |attribute| self.attribute(function, attribute);
        Ok(FunctionAttributes {
            registers: attribute(NUM_REGS)?,
            shared_bytes: attribute(SHARED_SIZE_BYTES)?,
            local_bytes: attribute(LOCAL_SIZE_BYTES)?,
            constant_bytes: attribute(CONST_SIZE_BYTES)?,
            max_threads: self.max_threads(function)?,
        })
    }

    /// What the driver's compiler makes of the kernel `symbol` of a PTX text.
    pub fn assemble(&self, ptx: &str, symbol: &str) -> std::result::Result<Assembled, ToolError> {
        let (mut info, mut errors) = (vec![0u8; LOG_CAPACITY], vec![0u8; LOG_CAPACITY]);
        let linked = self.link(ptx, &mut info, &mut errors);
        let failed = |log| ToolError::Failed {
            tool: "the driver's compiler".to_owned(),
            log,
        };
        let cubin = linked.map_err(|error| {
            failed(
                format!("{error}\n{}", log_text(&errors))
                    .trim_end()
                    .to_owned(),
            )
        })?;
        let log = log_text(&info);
        let mut assembled = parse_log(&log)
            .remove(symbol)
            .ok_or_else(|| failed(format!("nothing about `{symbol}` in its log\n{log}")))?;
        assembled.cubin = cubin;
        Ok(assembled)
    }

    /// The machine code of a PTX text; the driver's words are in the logs.
    fn link(&self, ptx: &str, info: &mut [u8], errors: &mut [u8]) -> Result<Arc<[u8]>> {
        self.make_current()?;
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
        let mut state: *mut c_void = null_mut();
        // SAFETY: options and values belong together, and both they and the logs live until the state is destroyed below.
        unsafe {
            self.driver.cuLinkCreate_v2(
                options.len() as c_uint,
                options.as_mut_ptr().cast(),
                values.as_mut_ptr().cast(),
                (&raw mut state).cast(),
            )
        }?;
        let cubin = self.complete(state, ptx);
        // SAFETY: the state was created above and is not used later.
        unsafe { self.driver.cuLinkDestroy(state) }?;
        cubin
    }

    fn complete(&self, state: *mut c_void, ptx: &str) -> Result<Arc<[u8]>> {
        let mut ptx = ptx.as_bytes().to_vec();
        ptx.push(0);
        let (mut cubin, mut bytes): (*mut c_void, usize) = (null_mut(), 0);
        // SAFETY: the state is alive, the PTX terminated and of the given size; the pointers are valid for writes of a
        // pointer and a size. The cubin belongs to the state and is copied while that lives.
        unsafe {
            self.driver.cuLinkAddData_v2(
                state,
                INPUT_PTX,
                ptx.as_mut_ptr().cast(),
                ptx.len(),
                null_mut(),
                0,
                null_mut(),
                null_mut(),
            )?;
            self.driver
                .cuLinkComplete(state, (&raw mut cubin).cast(), (&raw mut bytes).cast())?;
            Ok(std::slice::from_raw_parts(cubin.cast::<u8>(), bytes).into())
        }
    }
}
