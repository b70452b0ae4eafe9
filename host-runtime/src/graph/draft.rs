//! The nodes of a graph before it is made: what each does, what it uses, and what it comes after.
//!
//! In: work, from a builder or a capture, with the nodes that it is to come after. Out: the nodes in an order in which they
//! may run, each with all that it must come after: a use of an array comes after those before it that it conflicts with,
//! whether the user says so or not. So no graph has a race.

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::sync::Arc;

use gpu_std::kernel::KernelRecord;

use crate::bound::{Params, Use};
use crate::bytes::{Pattern, Rows};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::launch::Prepared;
use crate::limits::Extents;
use crate::ordering::Access;
use crate::stream::Stream;

/// A node.
#[derive(Clone)]
pub(crate) struct Node {
    pub work: Work,
    pub uses: Vec<Use>,
    /// Nodes before it in the list, each once.
    pub after: Vec<usize>,
}

/// What a node does. Addresses are those of memory that the node uses.
#[derive(Clone)]
pub(crate) enum Work {
    Kernel(KernelWork),
    /// A copy inside the device, between memory that does not overlap.
    Copy(Rows),
    /// So many times the pattern.
    Fill {
        to: u64,
        pattern: Pattern,
        count: usize,
    },
    /// A copy of bytes that the node keeps.
    Upload {
        to: u64,
        bytes: Arc<[MaybeUninit<u8>]>,
    },
    Host(Arc<HostFunction>),
    /// Only comes after others, and before others.
    Nothing,
}

/// A launch.
#[derive(Clone)]
pub(crate) struct KernelWork {
    pub record: &'static KernelRecord,
    pub prepared: Arc<Prepared>,
    pub params: Params,
}

/// What a graph calls on the host.
pub(crate) struct HostFunction(pub Box<dyn Fn() + Send + Sync>);

/// The nodes of a graph to be.
pub(crate) struct Draft {
    stream: Stream,
    nodes: Vec<Node>,
    /// By allocation.
    hazards: HashMap<u64, Hazard>,
    /// The last kernel that waits for its grid: they have one barrier, and run one after the other.
    waits_for_grid: Option<usize>,
}

/// The nodes that a later use of an allocation may have to come after.
#[derive(Default)]
struct Hazard {
    write: Option<usize>,
    /// Those after the write.
    reads: Vec<usize>,
}

impl Draft {
    /// No nodes, for launches on a stream.
    pub fn new(stream: &Stream) -> Self {
        Self {
            stream: stream.clone(),
            nodes: Vec::new(),
            hazards: HashMap::new(),
            waits_for_grid: None,
        }
    }

    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    /// Refuses what is of another device than the graph.
    pub fn check_device(&self, gpu: &Gpu) -> Result<()> {
        if self.stream.backend().same_device(gpu.backend()) {
            return Ok(());
        }
        Err(Error::DifferentDevices {
            first: self.stream.backend().label(),
            second: gpu.label(),
        })
    }

    /// A launch as work, after the checks of one.
    pub fn kernel(
        &self,
        record: &'static KernelRecord,
        extents: Extents,
        params: Params,
    ) -> Result<Work> {
        let prepared = self.stream.backend().prepare(record, &extents)?;
        Ok(Work::Kernel(KernelWork {
            record,
            prepared: Arc::new(prepared),
            params,
        }))
    }

    /// Adds a node that comes after some, and after what its uses conflict with.
    pub fn push(&mut self, work: Work, uses: Vec<Use>, mut after: Vec<usize>) -> usize {
        let node = self.nodes.len();
        for used in uses.iter().filter(|used| used.memory.bytes() > 0) {
            let hazard = self.hazards.entry(used.memory.address()).or_default();
            after.extend(hazard.write.filter(|&write| write != node));
            match used.access {
                Access::Read => hazard.reads.push(node),
                Access::Write => {
                    after.extend(hazard.reads.drain(..).filter(|&read| read != node));
                    hazard.write = Some(node);
                }
            }
        }
        if matches!(&work, Work::Kernel(kernel) if kernel.prepared.waits_for_grid()) {
            after.extend(self.waits_for_grid.replace(node));
        }
        after.sort_unstable();
        after.dedup();
        self.nodes.push(Node { work, uses, after });
        node
    }

    /// Adds the nodes of a graph, the first of which come after `after`. The last: a node that comes after all of them.
    pub fn inline(&mut self, nodes: &[Node], after: Vec<usize>) -> Result<usize> {
        let first = self.nodes.len();
        for node in nodes {
            let work = match &node.work {
                Work::Kernel(kernel) => self.kernel(
                    kernel.record,
                    kernel.prepared.extents(),
                    kernel.params.clone(),
                )?,
                other => other.clone(),
            };
            let after = match node.after.is_empty() {
                true => after.clone(),
                false => node.after.iter().map(|before| first + before).collect(),
            };
            self.push(work, node.uses.clone(), after);
        }
        let mut all: Vec<_> = (first..self.nodes.len()).collect();
        all.extend(after);
        Ok(self.push(Work::Nothing, Vec::new(), all))
    }
}

/// Checks that node `index` may use other memory: it comes after or before each node that it then conflicts with.
pub(super) fn check_order(nodes: &[Node], index: usize, uses: &[Use]) -> Result<()> {
    for (other, node) in nodes.iter().enumerate() {
        if other == index || !conflict(&node.uses, uses) {
            continue;
        }
        if !comes_after(nodes, index.max(other), index.min(other)) {
            return Err(Error::GraphOrder {
                first: nodes[index].label(),
                second: node.label(),
            });
        }
    }
    Ok(())
}

fn conflict(some: &[Use], others: &[Use]) -> bool {
    let conflicts = |one: &Use, other: &Use| {
        one.memory.is(&other.memory) && (one.access, other.access) != (Access::Read, Access::Read)
    };
    some.iter()
        .any(|one| others.iter().any(|other| conflicts(one, other)))
}

/// Whether there is a path from an earlier node to a later one.
fn comes_after(nodes: &[Node], later: usize, earlier: usize) -> bool {
    let mut seen = vec![false; later - earlier + 1];
    let mut open = vec![later];
    while let Some(node) = open.pop() {
        for &before in nodes[node]
            .after
            .iter()
            .filter(|&&before| before >= earlier)
        {
            if before == earlier {
                return true;
            }
            if !std::mem::replace(&mut seen[before - earlier], true) {
                open.push(before);
            }
        }
    }
    false
}

impl Node {
    /// What messages call it.
    pub fn label(&self) -> String {
        match &self.work {
            Work::Kernel(kernel) => format!("the launch of `{}`", kernel.record.name),
            Work::Copy(_) => "a copy".to_owned(),
            Work::Fill { .. } => "a fill".to_owned(),
            Work::Upload { .. } => "a copy from the host".to_owned(),
            Work::Host(_) => "a host function".to_owned(),
            Work::Nothing => "an empty node".to_owned(),
        }
    }
}
