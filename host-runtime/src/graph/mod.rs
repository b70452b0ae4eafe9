//! Graphs: work that is recorded once and queued again and again with one call of the driver.
//!
//! In: what a closure queues ([`Stream::capture`]), or nodes with what each comes after ([`GraphBuilder`]). Out: a
//! [`Graph`], whose kernels can be given other arguments between its launches.
//!
//! - `draft`: the nodes and their order. - `capture`: what a thread queues, as nodes. - `builder`: nodes one by one.
//!
//! A graph belongs to a stream, whose kernels it launches: a panic in one is the error of that stream. It keeps the
//! memory that its nodes use; a launch is a use of all of it, in order with those of other streams.

mod builder;
pub(crate) mod capture;
pub(crate) mod draft;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bound::{BoundLaunch, Use, bytes_of, merged};
use crate::bytes::{Rows, copy_on_host, fill_on_host};
use crate::cuda::CudaGraph;
use crate::error::{Error, Result};
use crate::launch::Prepared;
use crate::ordering::{Turn, ticket};
use crate::profile::{Operation, WorkKind};
use crate::simulator::SimulatorStream;
use crate::stream::{Backend, Stream};
use draft::{Draft, KernelWork, Node, Work};

pub use builder::GraphBuilder;

/// Work that is queued with one call. CUDA C: `cudaGraphExec_t`; CuPy: `cuda.Graph`; Numba has none.
///
/// ```
/// use host_runtime::Gpu;
///
/// let gpu = Gpu::cpu();
/// let mut x = gpu.zeros::<u32>(4)?;
/// let graph = gpu.stream().capture(|_| x.copy_from(&[1, 2, 3, 4]))?;
/// assert_eq!(x.to_vec()?, [0; 4]);
/// graph.launch()?;
/// assert_eq!(x.to_vec()?, [1, 2, 3, 4]);
/// # Ok::<(), host_runtime::Error>(())
/// ```
pub struct Graph {
    id: u64,
    /// `None` on the simulator, and where there are no nodes. Dropped before the stream, and so before its modules.
    cuda: Option<CudaGraph>,
    stream: Stream,
    nodes: Vec<Node>,
    /// What a launch uses.
    uses: Vec<Use>,
}

/// A node of a graph, for changes of it and for what comes after it. CUDA C: `cudaGraphNode_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GraphNode {
    graph: u64,
    index: usize,
}

/// A number for a graph to be.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Stream {
    /// Records what the closure queues, and makes a graph of it for this stream. Nothing of it runs before
    /// [`Graph::launch`]. CUDA C: `cudaStreamBeginCapture`; CuPy: `begin_capture`.
    ///
    /// Recorded is what this thread queues on any stream of the device: launches, plans, fills and copies of arrays from
    /// the host (with the values of the moment) and between arrays, graphs, and events as far as they order these. What one
    /// stream runs in order is in order; what different streams run may run at once, as outside.
    ///
    /// # Errors
    ///
    /// What the closure returns. To allocate, to read an array back, to wait, or to set a constant is an error inside.
    /// After an error nothing is recorded, and the stream is as before.
    ///
    /// ```
    /// use host_runtime::{Error, Gpu};
    ///
    /// let gpu = Gpu::cpu();
    /// let error = gpu.stream().capture(|stream| stream.synchronize()).unwrap_err();
    /// assert!(matches!(error, Error::InCapture { .. }));
    /// ```
    pub fn capture(&self, work: impl FnOnce(&Stream) -> Result<()>) -> Result<Graph> {
        let draft = capture::record(self, work)?;
        Graph::of(draft, next_id())
    }
}

impl Graph {
    fn of(draft: Draft, id: u64) -> Result<Self> {
        let stream = draft.stream().clone();
        let nodes = draft.into_nodes();
        let cuda = match stream.backend() {
            Backend::Cuda(stream) if !nodes.is_empty() => Some(CudaGraph::new(stream, &nodes)?),
            _ => None,
        };
        let uses = merged(nodes.iter().flat_map(|node| &node.uses));
        Ok(Self {
            id,
            stream,
            nodes,
            uses,
            cuda,
        })
    }

    /// Queues all of it on its stream and returns; a panic in a kernel is the error of the next wait for the stream.
    /// Kernels see the constants of this moment. Inside a capture its nodes become nodes of the other graph.
    /// CUDA C: `cudaGraphLaunch`.
    ///
    /// # Errors
    ///
    /// If a kernel of the stream is known to have panicked since the last wait, or the device fails.
    pub fn launch(&self) -> Result<()> {
        if !capture::is_ordinary() {
            return capture::record_graph(self);
        }
        let _turn = Turn::replay();
        let gpu = self.stream.gpu();
        for used in &self.uses {
            used.memory.begin_on(&gpu, used.access)?;
        }
        let backend = self.stream.backend();
        let operation = || Operation {
            name: "graph",
            kind: WorkKind::Graph,
            bytes: bytes_of(&self.uses),
            shape: None,
        };
        (backend.profiling()).measure(backend, operation, || self.queue(backend))?;
        let ticket = ticket(self.stream.queue());
        for used in &self.uses {
            used.memory.end_on(&gpu, used.access, &ticket);
        }
        Ok(())
    }

    fn queue(&self, backend: &Backend) -> Result<()> {
        match (backend, &self.cuda) {
            (Backend::Cuda(stream), Some(graph)) => stream.launch_graph(graph),
            (Backend::Cuda(_), None) => Ok(()),
            (Backend::Simulator(stream), _) => {
                stream.take_fault()?;
                let works = self.nodes.iter().map(|node| &node.work);
                works.for_each(|work| simulate(stream, work));
                Ok(())
            }
        }
    }

    /// Gives a kernel's node other arguments, for the launches from now on: `graph.set(node, add().bind(&x, &y, &mut z))?`.
    /// They are of the same kernel, with the same type parameters and closures; the shape changes if the launch names one.
    /// CUDA C: `cudaGraphExecKernelNodeSetParams`.
    ///
    /// # Errors
    ///
    /// If the node is not a kernel's or of another graph, it is another kernel, a shape is over a limit, or the node would
    /// use an array that another node uses without an order between the two. The graph then stays as it was.
    pub fn set(&mut self, node: GraphNode, launch: BoundLaunch<'_>) -> Result<()> {
        let index = self.index_of(node)?;
        let Work::Kernel(before) = &self.nodes[index].work else {
            return Err(Error::NotAKernelNode {
                node: self.nodes[index].label(),
            });
        };
        let parts = launch.into_parts()?;
        parts.check_kernel(before.record)?;
        let gpu = self.stream.gpu();
        if !gpu.backend().same_device(parts.gpu.backend()) {
            return Err(Error::DifferentDevices {
                first: gpu.label(),
                second: parts.gpu.label(),
            });
        }
        draft::check_order(&self.nodes, index, &parts.uses)?;
        let extents = parts.extents_or(Some(before.prepared.extents()))?;
        let cluster_before = before.prepared.extents().cluster;
        let prepared = match extents {
            Some(extents) if extents.cluster != cluster_before => {
                return Err(Error::ClusterInGraph {
                    kernel: before.record.name,
                    before: cluster_before,
                    given: extents.cluster,
                });
            }
            Some(extents) if extents == before.prepared.extents() => before.prepared.clone(),
            Some(extents) => Arc::new(gpu.backend().prepare(before.record, &extents)?),
            None => {
                return Err(Error::NoItems {
                    kernel: before.record.name,
                });
            }
        };
        let work = KernelWork {
            record: before.record,
            prepared,
            params: parts.params,
        };
        if let (Some(graph), Prepared::Cuda(prepared)) = (&self.cuda, &*work.prepared) {
            graph.set(index, prepared, &work.params)?;
        }
        self.nodes[index].work = Work::Kernel(work);
        self.nodes[index].uses = parts.uses;
        self.uses = merged(self.nodes.iter().flat_map(|node| &node.uses));
        Ok(())
    }

    fn index_of(&self, node: GraphNode) -> Result<usize> {
        match node.graph == self.id {
            true => Ok(node.index),
            false => Err(Error::OtherGraph),
        }
    }

    /// The nodes that launch kernels, with the kernels' names, in the order in which they were recorded.
    pub fn kernels(&self) -> impl Iterator<Item = (GraphNode, &'static str)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(index, node)| match &node.work {
            Work::Kernel(kernel) => {
                let graph = self.id;
                Some((GraphNode { graph, index }, kernel.record.name))
            }
            _ => None,
        })
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The stream that it is queued on.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// Does a node's work on the host.
fn simulate(stream: &SimulatorStream, work: &Work) {
    match work {
        Work::Kernel(kernel) => {
            if let Prepared::Simulator(prepared) = &*kernel.prepared {
                // SAFETY: the parameters are those of the kernel, and the memory of the views in them is kept and used in
                // order.
                unsafe { stream.run(prepared, kernel.params.as_ptr()) };
            }
        }
        // SAFETY: both sides are of memory that the node uses, and do not overlap.
        Work::Copy(rows) => unsafe { copy_on_host(rows) },
        // SAFETY: the range is of memory that the node uses.
        Work::Fill { to, pattern, count } => unsafe { fill_on_host(*to, *pattern, *count) },
        // SAFETY: the range is of memory that the node uses, and the node's bytes are the host's.
        Work::Upload { to, bytes } => unsafe {
            let from = bytes.as_ptr().expose_provenance() as u64;
            copy_on_host(&Rows::one(*to, from, bytes.len()));
        },
        Work::Host(function) => capture::run_host_function(&*function.0),
        Work::Nothing => {}
    }
}

impl Drop for Graph {
    /// Waits where the device may still read values, or call functions, that end with the graph.
    fn drop(&mut self) {
        let Some(cuda) = &self.cuda else { return };
        let on_the_host = |node: &Node| matches!(node.work, Work::Upload { .. } | Work::Host(_));
        if self.nodes.iter().any(on_the_host) && cuda.wait().is_err() {
            // The context is lost, and perhaps still at work.
            std::mem::forget(std::mem::take(&mut self.nodes));
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({} nodes on {:?})", self.len(), self.stream)
    }
}
