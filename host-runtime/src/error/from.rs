//! What `?` makes of the errors of the parts below this crate: the driver, `cust`, and the compilers that run with the
//! program.

use cuda_loader::DriverError;
use cust::error::CudaError;

use super::Error;
use crate::cuda_source::CudaSourceError;
use crate::rust_source::RustSourceError;

impl From<DriverError> for Error {
    #[cold]
    fn from(error: DriverError) -> Self {
        Self::Driver {
            call: error.call,
            name: error.name(),
            code: error.code,
            description: error.description(),
        }
    }
}

impl From<CudaSourceError> for Error {
    #[cold]
    fn from(error: CudaSourceError) -> Self {
        Self::CudaSource(Box::new(error))
    }
}

impl From<RustSourceError> for Error {
    #[cold]
    fn from(error: RustSourceError) -> Self {
        Self::RustSource(Box::new(error))
    }
}

impl From<CudaError> for Error {
    /// `cust` gives no call and fewer codes than the driver; the forwarder that it went through remembers both.
    #[cold]
    fn from(error: CudaError) -> Self {
        cuda_loader::last_error()
            .unwrap_or(DriverError {
                call: "call",
                code: error as u32,
            })
            .into()
    }
}
