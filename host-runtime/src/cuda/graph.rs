//! Graphs of the driver, made of the nodes that the runtime has recorded.
//!
//! In: nodes, each with what it comes after. Out: a graph that one call queues. The structs are those of `cuda.h`; of the
//! kernel's and the fill's it has two forms, and the first is here, which every driver with graphs has.

use std::ffi::{c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cuda_loader::Driver;
use gpu_std::Dim3;

use super::cluster::CLUSTER_DIMENSION;
use super::cooperative::GridBarrier;
use super::timeout::Awaited;
use super::{CudaDevice, CudaPrepared, CudaStream, Handle};
use crate::bound::Params;
use crate::bytes::Pattern;
use crate::cluster;
use crate::error::Result;
use crate::graph::capture::run_host_function;
use crate::graph::draft::{HostFunction, Node, Work};
use crate::launch::Prepared;

/// `CUDA_KERNEL_NODE_PARAMS_v1`.
#[repr(C)]
struct KernelNode {
    function: *mut c_void,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
}

/// `CUDA_MEMSET_NODE_PARAMS_v1`.
#[repr(C)]
struct FillNode {
    to: u64,
    pitch: usize,
    value: c_uint,
    element_size: c_uint,
    width: usize,
    height: usize,
}

/// One side of `CUDA_MEMCPY3D_v2`.
#[repr(C)]
struct CopySide {
    x_in_bytes: usize,
    y: usize,
    z: usize,
    level: usize,
    memory_type: c_uint,
    host: *const c_void,
    device: u64,
    array: *mut c_void,
    reserved: *mut c_void,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D_v2`.
#[repr(C)]
struct CopyNode {
    from: CopySide,
    to: CopySide,
    width_in_bytes: usize,
    height: usize,
    depth: usize,
}

/// `CUDA_HOST_NODE_PARAMS_v1`.
#[repr(C)]
struct HostNode {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

/// `CUlaunchAttributeValue`, which is also `CUkernelNodeAttrValue`: a union of 64 bytes that ints may begin.
#[repr(C, align(8))]
pub(super) struct AttributeValue([c_uint; 16]);

impl AttributeValue {
    /// The numbers that the value begins with.
    pub fn new<const N: usize>(first: [c_uint; N]) -> Self {
        let mut value = [0; 16];
        value[..N].copy_from_slice(&first);
        Self(value)
    }
}

const _: () = {
    assert!(size_of::<KernelNode>() == 56);
    assert!(size_of::<FillNode>() == 40);
    assert!(size_of::<CopyNode>() == 200);
    assert!(size_of::<HostNode>() == 16);
    assert!(size_of::<AttributeValue>() == 64);
};

/// `CU_MEMORYTYPE_HOST`.
const HOST: c_uint = 1;
/// `CU_MEMORYTYPE_DEVICE`.
const DEVICE: c_uint = 2;
/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
const COOPERATIVE: c_uint = 2;

/// A graph that can be launched on the stream that it was made for.
pub(crate) struct CudaGraph {
    driver: &'static Driver,
    device: Arc<CudaDevice>,
    stream: Handle,
    graph: Handle,
    exec: Handle,
    /// The driver's own nodes.
    nodes: Vec<Handle>,
    prints: bool,
    /// The function of its last kernel.
    last_function: Handle,
}

impl CudaGraph {
    /// Makes a graph of nodes whose kernels were prepared on this stream.
    pub fn new(stream: &CudaStream, nodes: &[Node]) -> Result<Self> {
        stream.make_current()?;
        let mut made = Self {
            driver: stream.driver,
            device: stream.device.clone(),
            stream: Handle(stream.handle()),
            graph: Handle(null_mut()),
            exec: Handle(null_mut()),
            nodes: Vec::with_capacity(nodes.len()),
            last_function: Handle(null_mut()),
            prints: (nodes.iter().filter_map(|node| prepared_of(&node.work)))
                .any(|prepared| prepared.kernel.prints),
        };
        let (graph, exec) = (&raw mut made.graph.0, &raw mut made.exec.0);
        // SAFETY: the pointer is valid for a write of a handle.
        unsafe { made.driver.cuGraphCreate(graph.cast(), 0) }?;
        for node in nodes {
            if let Some(prepared) = prepared_of(&node.work) {
                made.last_function = prepared.kernel.function;
            }
            let after: Vec<_> = node
                .after
                .iter()
                .map(|&before| made.nodes[before])
                .collect();
            let handle = made.add(&node.work, &after)?;
            made.nodes.push(handle);
        }
        // SAFETY: the pointer is valid for a write of a handle, and the graph is whole.
        unsafe {
            made.driver
                .cuGraphInstantiateWithFlags(exec.cast(), made.graph.0, 0)
        }?;
        Ok(made)
    }

    fn add(&self, work: &Work, after: &[Handle]) -> Result<Handle> {
        match work {
            Work::Kernel(kernel) => match &*kernel.prepared {
                Prepared::Cuda(prepared) => self.add_kernel(prepared, &kernel.params, after),
                Prepared::Simulator(_) => unreachable!("the kernels were prepared on this stream"),
            },
            Work::Copy(rows) => self.add_copy(
                device(rows.source, rows.source_pitch),
                device(rows.address, rows.pitch),
                [rows.width, rows.height],
                after,
            ),
            Work::Upload { to, bytes } => {
                let from = host(bytes.as_ptr().cast());
                self.add_copy(from, device(*to, 0), [bytes.len(), 1], after)
            }
            Work::Fill { to, pattern, count } => self.add_fill(*to, *pattern, *count, after),
            Work::Host(function) => {
                let params = HostNode {
                    function: call,
                    data: Arc::as_ptr(function).cast_mut().cast(),
                };
                self.add_with(after, |node, before, count| {
                    let params = (&raw const params).cast_mut().cast();
                    // SAFETY: the struct is the driver's; the function lives as long as the graph and its launches.
                    unsafe {
                        self.driver
                            .cuGraphAddHostNode(node, self.graph.0, before, count, params)
                    }
                })
            }
            Work::Nothing => self.add_with(after, |node, before, count| {
                // SAFETY: as `add_with` says.
                unsafe {
                    self.driver
                        .cuGraphAddEmptyNode(node, self.graph.0, before, count)
                }
            }),
        }
    }

    fn add_kernel(
        &self,
        prepared: &CudaPrepared,
        params: &Params,
        after: &[Handle],
    ) -> Result<Handle> {
        let mut place = params.as_ptr().cast_mut().cast::<c_void>();
        let node = kernel_node(prepared, &mut place);
        let add = |after: &[Handle]| {
            self.add_with(after, |handle, before, count| {
                let params = (&raw const node).cast_mut().cast();
                // SAFETY: the struct is the driver's, which copies the parameters; the function is of a loaded module.
                unsafe {
                    self.driver
                        .cuGraphAddKernelNode(handle, self.graph.0, before, count, params)
                }
            })
        };
        let Dim3 { x, y, z } = prepared.extents.cluster;
        let Some(GridBarrier { address, bytes }) = prepared.kernel.grid_barrier else {
            let node = add(after)?;
            if prepared.extents.cluster != cluster::NONE {
                self.set_attribute(node, CLUSTER_DIMENSION, AttributeValue::new([x, y, z]))?;
            }
            return Ok(node);
        };
        let zeros = self.add_fill(address, Pattern::Byte(0), bytes, after)?;
        let node = add(&[zeros])?;
        self.set_attribute(node, COOPERATIVE, AttributeValue::new([1]))?;
        Ok(node)
    }

    fn set_attribute(
        &self,
        node: Handle,
        attribute: c_uint,
        mut value: AttributeValue,
    ) -> Result<()> {
        let value = (&raw mut value).cast();
        // SAFETY: the node is a kernel's of this graph, and the value is the attribute's.
        unsafe {
            self.driver
                .cuGraphKernelNodeSetAttribute(node.0, attribute, value)
        }?;
        Ok(())
    }

    fn add_fill(
        &self,
        to: u64,
        pattern: Pattern,
        count: usize,
        after: &[Handle],
    ) -> Result<Handle> {
        let value = match pattern {
            Pattern::Byte(byte) => byte.into(),
            Pattern::Short(short) => short.into(),
            Pattern::Word(word) => word,
        };
        let params = FillNode {
            to,
            pitch: 0,
            value,
            element_size: pattern.bytes() as c_uint,
            width: count,
            height: 1,
        };
        self.add_with(after, |node, before, count| {
            let params = (&raw const params).cast_mut().cast();
            // SAFETY: the struct is the driver's, and the memory is kept by the node.
            unsafe {
                self.driver.cuGraphAddMemsetNode(
                    node,
                    self.graph.0,
                    before,
                    count,
                    params,
                    self.context(),
                )
            }
        })
    }

    fn add_copy(
        &self,
        from: CopySide,
        to: CopySide,
        [width_in_bytes, height]: [usize; 2],
        after: &[Handle],
    ) -> Result<Handle> {
        let params = CopyNode {
            from,
            to,
            width_in_bytes,
            height,
            depth: 1,
        };
        self.add_with(after, |node, before, count| {
            let params = (&raw const params).cast_mut().cast();
            // SAFETY: the struct is the driver's, and the memory is kept by the node.
            unsafe {
                self.driver.cuGraphAddMemcpyNode(
                    node,
                    self.graph.0,
                    before,
                    count,
                    params,
                    self.context(),
                )
            }
        })
    }

    /// Adds a node: `add` gets where its handle goes, and the handles of those before it, with their number.
    fn add_with(
        &self,
        after: &[Handle],
        add: impl FnOnce(
            *mut c_void,
            *mut c_void,
            usize,
        ) -> std::result::Result<(), cuda_loader::DriverError>,
    ) -> Result<Handle> {
        let mut node: *mut c_void = null_mut();
        let before: Vec<_> = after.iter().map(|handle| handle.0).collect();
        add(
            (&raw mut node).cast(),
            before.as_ptr().cast_mut().cast(),
            before.len(),
        )?;
        Ok(Handle(node))
    }

    fn context(&self) -> *mut c_void {
        self.device.context.context.as_raw().cast()
    }

    /// Gives a kernel's node other parameters and another shape, for the launches from now on.
    pub fn set(&self, index: usize, prepared: &CudaPrepared, params: &Params) -> Result<()> {
        self.device.make_current()?;
        let mut place = params.as_ptr().cast_mut().cast::<c_void>();
        let node = kernel_node(prepared, &mut place);
        let params = (&raw const node).cast_mut().cast();
        // SAFETY: the node is of this graph and the same kernel's, whose parameters the driver copies.
        unsafe {
            self.driver
                .cuGraphExecKernelNodeSetParams(self.exec.0, self.nodes[index].0, params)
        }?;
        Ok(())
    }

    /// Waits for the launches.
    pub fn wait(&self) -> Result<()> {
        self.device.make_current()?;
        let awaited = Awaited::stream(self.stream.0);
        self.device.wait_for(awaited, || None)
    }
}

impl CudaStream {
    /// Queues a graph that was made for this stream.
    pub fn launch_graph(&self, graph: &CudaGraph) -> Result<()> {
        self.make_current()?;
        self.refuse_after_panic()?;
        self.update_constants()?;
        let _queueing = graph.prints.then(|| self.printing.queueing());
        let last = graph.last_function.0;
        self.last_launched.store(last, Ordering::Relaxed);
        // SAFETY: the graph and the stream are alive; one thread at a time launches a graph.
        unsafe { self.driver.cuGraphLaunch(graph.exec.0, self.handle()) }?;
        Ok(())
    }
}

impl Drop for CudaGraph {
    fn drop(&mut self) {
        if self.device.make_current().is_err() {
            return;
        }
        for (handle, destroy) in [
            (
                self.exec,
                Driver::cuGraphExecDestroy as unsafe fn(&Driver, _) -> _,
            ),
            (self.graph, Driver::cuGraphDestroy),
        ] {
            if !handle.0.is_null() {
                // SAFETY: the handle is not used later. What is queued of it ends first. A failure means that the context
                // is lost, and the graph with it.
                let _ = unsafe { destroy(self.driver, handle.0) };
            }
        }
    }
}

/// The driver calls a host function.
unsafe extern "C" fn call(data: *mut c_void) {
    // SAFETY: the data of such a node is its function, which lives as long as the graph and its launches.
    let function = unsafe { &*data.cast::<HostFunction>() };
    run_host_function(&*function.0);
}

/// The struct of a kernel whose parameter struct is behind `place`.
fn kernel_node(prepared: &CudaPrepared, place: &mut *mut c_void) -> KernelNode {
    let extents = &prepared.extents;
    let three = |of: Dim3| [of.x, of.y, of.z];
    KernelNode {
        function: prepared.kernel.function.0,
        grid: three(extents.grid),
        block: three(extents.block),
        shared_bytes: prepared.shared_bytes,
        params: &raw mut *place,
        extra: null_mut(),
    }
}

fn device(address: u64, pitch: usize) -> CopySide {
    CopySide {
        x_in_bytes: 0,
        y: 0,
        z: 0,
        level: 0,
        memory_type: DEVICE,
        host: null(),
        device: address,
        array: null_mut(),
        reserved: null_mut(),
        pitch,
        height: 0,
    }
}

fn host(bytes: *const c_void) -> CopySide {
    CopySide {
        memory_type: HOST,
        host: bytes,
        ..device(0, 0)
    }
}

/// The launch of a kernel's node.
fn prepared_of(work: &Work) -> Option<&CudaPrepared> {
    match work {
        Work::Kernel(kernel) => match &*kernel.prepared {
            Prepared::Cuda(prepared) => Some(prepared),
            Prepared::Simulator(_) => None,
        },
        _ => None,
    }
}
