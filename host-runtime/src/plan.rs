//! A launch that is checked and packed once, and replayed at the cost of the driver's own call.
//!
//! In: a kernel with its shape and arguments. Out: a plan, which holds the kernel's function, its packed parameters and
//! the memory behind them. A replay does what is left: it orders the uses of the memory between streams and queues the
//! launch.

use std::fmt;

use gpu_std::kernel::KernelRecord;

use crate::bound::{BoundLaunch, Params, Parts, Use, bytes_of, merged};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::graph::capture;
use crate::launch::Prepared;
use crate::limits::Extents;
use crate::ordering::{Turn, ticket};
use crate::profile::{Operation, WorkKind};

/// A launch that can be repeated: `add.grid(4096).block(256).plan(&a, &b, &mut c)?`. PyCUDA: `prepare` and `prepared_call`.
///
/// A plan owns its part in the arrays' memory, so that it borrows none of them: they can be read between two replays, be
/// arguments of other plans, and be dropped. Each replay reads and writes them like a launch at that moment, in order with
/// all other uses.
///
/// ```
/// use host_runtime::Gpu;
/// # use host_runtime::{Kernel, Plan};
/// # fn show(plan: &mut Plan) -> host_runtime::Result<()> {
/// for _ in 0..1000 {
///     plan.launch()?; // what `launch` would do, without its checks
/// }
/// # Ok(()) }
/// ```
pub struct Plan {
    record: &'static KernelRecord,
    gpu: Gpu,
    /// `None` where there are no items.
    prepared: Option<Prepared>,
    params: Params,
    uses: Box<[Use]>,
}

impl Plan {
    /// Queues the launch and returns; a panic in the kernel is the error of the next wait.
    ///
    /// # Errors
    ///
    /// If a kernel of the stream is known to have panicked since the last wait, or the device fails.
    pub fn launch(&self) -> Result<()> {
        if !capture::is_ordinary() {
            return self.record();
        }
        let Some(prepared) = &self.prepared else {
            return Ok(());
        };
        let _turn = Turn::replay();
        for used in &self.uses {
            used.memory.begin_on(&self.gpu, used.access)?;
        }
        let backend = self.gpu.backend();
        let operation = || self.operation(prepared);
        backend.profiling().measure(backend, operation, || {
            // SAFETY: the parameters are those of the kernel, and the memory of the views in them is kept; nothing else
            // uses what the kernel writes, because the uses are in order.
            unsafe { backend.launch_prepared(prepared, self.params.as_ptr()) }
        })?;
        let ticket = ticket(self.gpu.stream().queue());
        for used in &self.uses {
            used.memory.end_on(&self.gpu, used.access, &ticket);
        }
        Ok(())
    }

    fn operation(&self, prepared: &Prepared) -> Operation {
        let extents = prepared.extents();
        Operation {
            name: self.record.name,
            kind: WorkKind::Launch,
            bytes: bytes_of(&self.uses),
            shape: Some([extents.grid, extents.block]),
        }
    }

    #[cold]
    fn record(&self) -> Result<()> {
        let extents = self.prepared.as_ref().map(Prepared::extents);
        capture::record_launch(&self.gpu, self.record, extents, &self.params, &self.uses)
    }

    /// Gives the plan other arguments, for the replays from now on: `plan.set(add().bind(&x, &y, &mut z))?`. They are of
    /// the same kernel, with the same type parameters and closures. The shape and the stream change if the launch names
    /// them.
    ///
    /// # Errors
    ///
    /// If it is another kernel, the arguments are of different devices, or the shape is over a limit. The plan then stays
    /// as it was.
    pub fn set(&mut self, launch: BoundLaunch<'_>) -> Result<()> {
        let mut parts = launch.into_parts()?;
        parts.check_kernel(self.record)?;
        if parts.config.gpu.is_none() && parts.gpu.backend().same_device(self.gpu.backend()) {
            parts.gpu = self.gpu.clone();
        }
        let before = self.prepared.as_ref().map(Prepared::extents);
        let extents = parts.extents_or(before)?;
        if extents == before && parts.gpu.stream().is(self.gpu.stream()) {
            self.params = parts.params;
            self.uses = merged(&parts.uses).into();
        } else {
            *self = Self::of(parts, extents)?;
        }
        Ok(())
    }

    fn of(parts: Parts, extents: Option<Extents>) -> Result<Self> {
        let Parts {
            record,
            gpu,
            uses,
            params,
            ..
        } = parts;
        let prepared = match extents {
            Some(extents) => Some(gpu.backend().prepare(record, &extents)?),
            None => None,
        };
        Ok(Self {
            record,
            gpu,
            prepared,
            params,
            uses: merged(&uses).into(),
        })
    }

    /// The stream that it is queued on.
    pub fn stream(&self) -> &crate::Stream {
        self.gpu.stream()
    }
}

impl BoundLaunch<'_> {
    /// Checks the launch and makes it one that can be repeated.
    ///
    /// The kernel is compiled and loaded by the driver, as else on its first launch on a stream. That may wait for kernels
    /// that run: one that waits for another, or for the host, is best launched when both have been loaded.
    ///
    /// # Errors
    ///
    /// Those of a launch: if the shape is over a limit of the device, the arguments are of different devices, or the
    /// device code cannot be loaded.
    pub fn plan(self) -> Result<Plan> {
        let parts = self.into_parts()?;
        let extents = crate::launch::extents(parts.record, &parts.config, parts.gpu.backend())?;
        Plan::of(parts, extents)
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan(of `{}` on {:?})", self.record.name, self.gpu)
    }
}
