//! A graph from nodes that are added one by one, each with the nodes that it comes after.

use std::fmt;
use std::sync::Arc;

use ndarray::Dimension;

use super::draft::{Draft, HostFunction, Work};
use super::{Graph, GraphNode, capture, next_id};
use crate::DeviceCopy;
use crate::array::DeviceArray;
use crate::bound::{BoundLaunch, Use};
use crate::bytes::Rows;
use crate::error::{Error, Result};
use crate::ordering::Access;
use crate::stream::Stream;

/// A graph to be. CUDA C: `cudaGraph_t` and `cudaGraphAddKernelNode` and its like.
///
/// Each node names those that it comes after; nodes without an order between them may run at once. A node that uses an array
/// comes after the nodes that were added before and conflict with that use, also where it does not name them.
///
/// ```
/// use host_runtime::{Gpu, GraphBuilder};
///
/// let gpu = Gpu::cpu();
/// let (mut x, mut y) = (gpu.zeros::<u32>(4)?, gpu.zeros::<u32>(4)?);
/// let mut builder = GraphBuilder::new(&gpu);
/// let filled = builder.add_fill(&[], &mut x, 7)?;
/// let copied = builder.add_copy(&[filled], &x, &mut y)?;
/// builder.add_host(&[copied], || println!("copied"))?;
/// let graph = builder.instantiate()?;
/// graph.launch()?;
/// assert_eq!(y.to_vec()?, [7; 4]);
/// # Ok::<(), host_runtime::Error>(())
/// ```
pub struct GraphBuilder {
    id: u64,
    draft: Draft,
}

impl GraphBuilder {
    /// A graph without nodes, for launches on a stream, or on the one of a [`Gpu`](crate::Gpu).
    pub fn new(stream: impl AsRef<Stream>) -> Self {
        Self {
            id: next_id(),
            draft: Draft::new(stream.as_ref()),
        }
    }

    /// Adds a launch: `builder.add_kernel(&[], add.for_each(n).bind(&a, &b, &mut c))?`.
    /// CUDA C: `cudaGraphAddKernelNode`.
    ///
    /// # Errors
    ///
    /// Those of a launch, and if it is of another device or names no item.
    pub fn add_kernel(
        &mut self,
        after: &[GraphNode],
        launch: BoundLaunch<'_>,
    ) -> Result<GraphNode> {
        let parts = launch.into_parts()?;
        self.draft.check_device(&parts.gpu)?;
        let backend = self.draft.stream().backend();
        let extents = crate::launch::extents(parts.record, &parts.config, backend)?;
        let Some(extents) = extents else {
            return Err(Error::NoItems {
                kernel: parts.record.name,
            });
        };
        let work = self.draft.kernel(parts.record, extents, parts.params)?;
        self.push(after, work, parts.uses)
    }

    /// Adds a copy of all elements from one array to another. CUDA C: `cudaGraphAddMemcpyNode`.
    ///
    /// # Errors
    ///
    /// If the lengths differ, or an array is of another device.
    pub fn add_copy<T: DeviceCopy, D: Dimension, E: Dimension>(
        &mut self,
        after: &[GraphNode],
        source: &DeviceArray<T, D>,
        to: &mut DeviceArray<T, E>,
    ) -> Result<GraphNode> {
        if source.len() != to.len() {
            return Err(Error::LengthMismatch {
                source_len: source.len(),
                array_len: to.len(),
            });
        }
        self.draft.check_device(source.gpu())?;
        self.draft.check_device(to.gpu())?;
        let (from, bytes) = (source.memory().address(), to.memory().bytes());
        let work = match bytes {
            0 => Work::Nothing,
            _ => Work::Copy(Rows::one(to.memory().address(), from, bytes)),
        };
        let uses = vec![used(source, Access::Read), used(to, Access::Write)];
        self.push(after, work, uses)
    }

    /// Adds a fill of all elements with a value. CUDA C: `cudaGraphAddMemsetNode`, but for elements of any size.
    ///
    /// # Errors
    ///
    /// If the array is of another device.
    pub fn add_fill<T: DeviceCopy, D: Dimension>(
        &mut self,
        after: &[GraphNode],
        array: &mut DeviceArray<T, D>,
        value: T,
    ) -> Result<GraphNode> {
        self.add_work(after, |_| array.fill(value))
    }

    /// Adds all that a closure queues, as [`Stream::capture`] records it. The node that it gives comes after all of it.
    /// CUDA C: `cudaStreamBeginCaptureToGraph`.
    ///
    /// # Errors
    ///
    /// As for [`Stream::capture`].
    pub fn add_work(
        &mut self,
        after: &[GraphNode],
        work: impl FnOnce(&Stream) -> Result<()>,
    ) -> Result<GraphNode> {
        let after = self.indices(after)?;
        let draft = capture::record(self.draft.stream(), work)?;
        let index = self.draft.inline(&draft.into_nodes(), after)?;
        Ok(self.node(index))
    }

    /// Adds a function that the host calls, on a thread of the driver. Nodes after it wait for its end. It must not use
    /// a device: calls of this crate return an error in it. A panic ends the function alone, after its message is printed.
    /// CUDA C: `cudaGraphAddHostNode`.
    ///
    /// # Errors
    ///
    /// If a node is of another graph.
    pub fn add_host(
        &mut self,
        after: &[GraphNode],
        function: impl Fn() + Send + Sync + 'static,
    ) -> Result<GraphNode> {
        let function = HostFunction(Box::new(function));
        self.push(after, Work::Host(Arc::new(function)), Vec::new())
    }

    /// Adds a node that does nothing: what comes after it comes after all that it names. CUDA C: `cudaGraphAddEmptyNode`.
    ///
    /// # Errors
    ///
    /// If a node is of another graph.
    pub fn add_empty(&mut self, after: &[GraphNode]) -> Result<GraphNode> {
        self.push(after, Work::Nothing, Vec::new())
    }

    /// Adds all nodes of a graph as it is at this moment. The node that it gives comes after all of them.
    /// CUDA C: `cudaGraphAddChildGraphNode`.
    ///
    /// # Errors
    ///
    /// If the graph is of another device.
    pub fn add_graph(&mut self, after: &[GraphNode], graph: &Graph) -> Result<GraphNode> {
        let after = self.indices(after)?;
        self.draft.check_device(&graph.stream().gpu())?;
        let index = self.draft.inline(graph.nodes(), after)?;
        Ok(self.node(index))
    }

    /// Makes the graph. CUDA C: `cudaGraphInstantiate`.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn instantiate(self) -> Result<Graph> {
        Graph::of(self.draft, self.id)
    }

    fn push(&mut self, after: &[GraphNode], work: Work, uses: Vec<Use>) -> Result<GraphNode> {
        let after = self.indices(after)?;
        let index = self.draft.push(work, uses, after);
        Ok(self.node(index))
    }

    fn indices(&self, nodes: &[GraphNode]) -> Result<Vec<usize>> {
        let own = |node: &GraphNode| match node.graph == self.id {
            true => Ok(node.index),
            false => Err(Error::OtherGraph),
        };
        nodes.iter().map(own).collect()
    }

    fn node(&self, index: usize) -> GraphNode {
        GraphNode {
            graph: self.id,
            index,
        }
    }
}

fn used<T: DeviceCopy, D: Dimension>(array: &DeviceArray<T, D>, access: Access) -> Use {
    Use {
        memory: array.memory().keep(),
        access,
    }
}

impl fmt::Debug for GraphBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.draft.len();
        write!(
            f,
            "GraphBuilder({nodes} nodes for {:?})",
            self.draft.stream()
        )
    }
}
