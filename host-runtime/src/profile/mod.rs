//! A profile of a run: each launch and copy of a device, with its time.
//!
//! In: a closure that queues work. Out: a [`Profile`], as values, as a table (`{profile}`) and as a trace for Chrome or
//! Perfetto. Times are the device's own, between an event before and one after each piece of work; so a profiled program
//! runs a few microseconds slower for each.

mod record;
mod table;
mod trace;

use std::time::{Duration, Instant};

use crate::error::Result;
use crate::gpu::Gpu;
use crate::moment::Moment;

pub(crate) use record::{Operation, Profiling};

/// What a device did while it was profiled, from [`Gpu::profile`]. Its `Display` is a table of what took how long.
#[derive(Clone, Debug)]
pub struct Profile {
    device: String,
    records: Vec<Record>,
    elapsed: Duration,
}

/// One launch or copy.
#[derive(Clone, Debug)]
pub struct Record {
    /// The kernel's name, or what the copy was.
    pub name: &'static str,
    /// What kind of work.
    pub kind: WorkKind,
    /// The number of its stream, in the order of their first work, from 0.
    pub stream: usize,
    /// When the device began with it, from the begin of the profile.
    pub start: Duration,
    /// How long it took on the device.
    pub time: Duration,
    /// How long the host's call took.
    pub host_time: Duration,
    /// Bytes that were copied or filled; for a launch, bytes of the arrays among its arguments, each counted once.
    pub bytes: u64,
    /// Blocks of the grid and threads of a block, of a launch.
    pub shape: Option<[gpu_std::Dim3; 2]>,
}

/// Kinds of work on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkKind {
    /// A launch of a kernel.
    Launch,
    /// A launch of a [`Graph`](crate::Graph).
    Graph,
    /// A copy from host to device.
    ToDevice,
    /// A copy from device to host.
    ToHost,
    /// A copy on a device.
    OnDevice,
    /// A fill.
    Fill,
}

impl Record {
    /// Bytes a second, in 10⁹: [`bytes`](Self::bytes) over [`time`](Self::time).
    pub fn gigabytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.time.as_secs_f64().max(1e-9) / 1e9
    }
}

impl Profile {
    /// Every piece of work, in the order of the calls.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The time of the closure and of the wait after it.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The device's name.
    pub fn device(&self) -> &str {
        &self.device
    }
}

impl Gpu {
    /// Calls `work`, waits for what it queued on the streams of this handle, and tells what the device did.
    /// CuPy: `cupyx.profiler.profile`; Nsight Systems shows the same and more.
    ///
    /// # Errors
    ///
    /// The error of `work`; if a profile of this handle is being taken already; if a kernel panicked, or the device failed.
    ///
    /// ```
    /// let gpu = host_runtime::Gpu::cpu();
    /// let profile = gpu.profile(|| {
    ///     let x = gpu.to_device(&vec![1.0f32; 1 << 20])?;
    ///     x.to_vec().map(drop)
    /// })?;
    /// assert_eq!(profile.records().len(), 2);
    /// assert_eq!(profile.records()[0].bytes, 4 << 20);
    /// println!("{profile}");
    /// std::fs::write(std::env::temp_dir().join("trace.json"), profile.to_chrome_trace()).unwrap();
    /// # Ok::<(), host_runtime::Error>(())
    /// ```
    pub fn profile(&self, work: impl FnOnce() -> Result<()>) -> Result<Profile> {
        self.synchronize()?;
        let profiling = self.backend().profiling();
        let taking = profiling.start(&self.label())?;
        let (begin, origin) = (Instant::now(), Moment::record(self.backend())?);
        let worked = work();
        let taken = taking.end();
        worked?;
        self.synchronize()?;
        let mut streams = Vec::new();
        let records = taken
            .into_iter()
            .map(|measured| measured.record(&origin, &mut streams))
            .collect::<Result<Vec<_>>>()?;
        Ok(Profile {
            device: self.label(),
            records: records.into_iter().flatten().collect(),
            elapsed: begin.elapsed(),
        })
    }
}
