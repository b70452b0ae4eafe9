//! The `gpu.*` symbols that `gpu_std::intrinsics` declares.
//!
//! None of them may unwind: the declarations are `extern "C"`, which keeps landing pads out of device code. A thread
//! that has to end inside one is suspended and never resumed.

use std::alloc::Layout;
use std::any::TypeId;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use gpu_std::print::PrintBuffer;
use gpu_std::runtime::PanicSlot;

use crate::context::{self, Context};
use crate::{Fault, heap};

/// The running thread's context.
#[inline]
pub(crate) fn kernel<'a>(caller: &str) -> &'a Context<'a> {
    match context::current() {
        Some(context) => context,
        None => outside_of_kernel(caller),
    }
}

/// Aborts the process after the message, because the caller cannot unwind.
#[cold]
#[inline(never)]
fn outside_of_kernel(caller: &str) -> ! {
    panic!("`gpu_std::{caller}` was called outside of a kernel: only a launched kernel may call it")
}

macro_rules! special_registers {
    ($($symbol:literal => $name:ident = $caller:literal, $context:ident, $value:expr;)*) => {$(
        #[unsafe(export_name = $symbol)]
        extern "C" fn $name() -> u32 {
            let $context = kernel($caller);
            $value
        }
    )*};
}

special_registers! {
    "gpu.llvm.nvvm.read.ptx.sreg.tid.x" => tid_x = "thread::thread_idx", context, context.thread.get().x;
    "gpu.llvm.nvvm.read.ptx.sreg.tid.y" => tid_y = "thread::thread_idx", context, context.thread.get().y;
    "gpu.llvm.nvvm.read.ptx.sreg.tid.z" => tid_z = "thread::thread_idx", context, context.thread.get().z;
    "gpu.llvm.nvvm.read.ptx.sreg.ntid.x" => ntid_x = "thread::block_dim", context, context.block_dim.x;
    "gpu.llvm.nvvm.read.ptx.sreg.ntid.y" => ntid_y = "thread::block_dim", context, context.block_dim.y;
    "gpu.llvm.nvvm.read.ptx.sreg.ntid.z" => ntid_z = "thread::block_dim", context, context.block_dim.z;
    "gpu.llvm.nvvm.read.ptx.sreg.ctaid.x" => ctaid_x = "thread::block_idx", context, context.block.get().x;
    "gpu.llvm.nvvm.read.ptx.sreg.ctaid.y" => ctaid_y = "thread::block_idx", context, context.block.get().y;
    "gpu.llvm.nvvm.read.ptx.sreg.ctaid.z" => ctaid_z = "thread::block_idx", context, context.block.get().z;
    "gpu.llvm.nvvm.read.ptx.sreg.nctaid.x" => nctaid_x = "thread::grid_dim", context, context.grid_dim.x;
    "gpu.llvm.nvvm.read.ptx.sreg.nctaid.y" => nctaid_y = "thread::grid_dim", context, context.grid_dim.y;
    "gpu.llvm.nvvm.read.ptx.sreg.nctaid.z" => nctaid_z = "thread::grid_dim", context, context.grid_dim.z;
    "gpu.llvm.nvvm.read.ptx.sreg.clusterid.x" => clusterid_x = "cluster::cluster_index", context, context.clusters.index(context.block.get()).x;
    "gpu.llvm.nvvm.read.ptx.sreg.clusterid.y" => clusterid_y = "cluster::cluster_index", context, context.clusters.index(context.block.get()).y;
    "gpu.llvm.nvvm.read.ptx.sreg.clusterid.z" => clusterid_z = "cluster::cluster_index", context, context.clusters.index(context.block.get()).z;
    "gpu.llvm.nvvm.read.ptx.sreg.nclusterid.x" => nclusterid_x = "cluster::dim_clusters", context, context.clusters.dim_clusters.x;
    "gpu.llvm.nvvm.read.ptx.sreg.nclusterid.y" => nclusterid_y = "cluster::dim_clusters", context, context.clusters.dim_clusters.y;
    "gpu.llvm.nvvm.read.ptx.sreg.nclusterid.z" => nclusterid_z = "cluster::dim_clusters", context, context.clusters.dim_clusters.z;
    "gpu.llvm.nvvm.read.ptx.sreg.cluster.ctaid.x" => cluster_ctaid_x = "cluster::block_index", context, context.clusters.block_index(context.block.get()).x;
    "gpu.llvm.nvvm.read.ptx.sreg.cluster.ctaid.y" => cluster_ctaid_y = "cluster::block_index", context, context.clusters.block_index(context.block.get()).y;
    "gpu.llvm.nvvm.read.ptx.sreg.cluster.ctaid.z" => cluster_ctaid_z = "cluster::block_index", context, context.clusters.block_index(context.block.get()).z;
    "gpu.llvm.nvvm.read.ptx.sreg.cluster.nctaid.x" => cluster_nctaid_x = "cluster::dim_blocks", context, context.clusters.dim_blocks.x;
    "gpu.llvm.nvvm.read.ptx.sreg.cluster.nctaid.y" => cluster_nctaid_y = "cluster::dim_blocks", context, context.clusters.dim_blocks.y;
    "gpu.llvm.nvvm.read.ptx.sreg.cluster.nctaid.z" => cluster_nctaid_z = "cluster::dim_blocks", context, context.clusters.dim_blocks.z;
    "gpu.llvm.nvvm.read.ptx.sreg.cluster.ctarank" => cluster_ctarank = "cluster::block_rank", context, context.clusters.block_rank(context.block.get()) as u32;
    "gpu.llvm.nvvm.read.ptx.sreg.cluster.nctarank" => cluster_nctarank = "cluster::num_blocks", context, context.clusters.num_blocks() as u32;
}

#[unsafe(export_name = "gpu.llvm.nvvm.exit")]
extern "C" fn exit() -> ! {
    kernel("intrinsics::exit").exit()
}

#[unsafe(export_name = "gpu.launch.dimensions")]
extern "C" fn launch_dimensions(dimensions: u32) {
    let context = kernel("thread::index_1d` or `gpu_std::thread::index_2d");
    if context.dimensions > dimensions {
        too_many_dimensions(context, dimensions);
    }
}

#[cold]
fn too_many_dimensions(context: &Context<'_>, dimensions: u32) -> ! {
    context.fail(Fault::Dimensions {
        kernel: dimensions,
        grid: context.grid_dim,
        block: context.block_dim,
    })
}

/// # Safety
///
/// `size` and `align` are those of a type, and `key` points to a [`TypeId`].
#[unsafe(export_name = "gpu.shared.static")]
unsafe extern "C" fn shared_static(size: usize, align: usize, key: *const ()) -> *mut u8 {
    let context = kernel("shared_array!");
    // SAFETY: the caller's promise.
    let (key, layout) = unsafe {
        (
            *key.cast::<TypeId>(),
            Layout::from_size_align_unchecked(size, align),
        )
    };
    let array = context.shared.borrow_mut().array(key, layout);
    array.unwrap_or_else(|fault| context.fail(fault))
}

/// Shared memory has no addresses of its own here.
#[unsafe(export_name = "gpu.shared.offset")]
extern "C" fn shared_offset(address: *const u8) -> u32 {
    address.addr() as u32
}

#[unsafe(export_name = "gpu.shared.dynamic")]
extern "C" fn shared_dynamic() -> *mut u8 {
    kernel("shared::dynamic").shared.borrow_mut().dynamic()
}

#[unsafe(export_name = "gpu.llvm.nvvm.read.ptx.sreg.dynamic_smem_size")]
extern "C" fn dynamic_smem_size() -> u32 {
    kernel("shared::dynamic").shared.borrow().dynamic_bytes()
}

/// # Safety
///
/// `key` points to a [`TypeId`].
#[unsafe(export_name = "gpu.constant.static")]
unsafe extern "C" fn constant_static(
    _size: usize,
    _align: usize,
    key: *const (),
    initial: *const u8,
) -> *const u8 {
    let constants = context::current().and_then(|context| context.job.constants());
    // SAFETY: the caller's promise.
    let key = unsafe { *key.cast::<TypeId>() };
    constants
        .and_then(|constants| constants.get(key))
        .map_or(initial, |value| value.as_ptr().cast_const())
}

macro_rules! float_add {
    ($symbol:literal, $name:ident, $float:ident, $bits:ident) => {
        /// # Safety
        ///
        /// `address` is that of a live, aligned float that is only accessed atomically.
        #[unsafe(export_name = $symbol)]
        unsafe extern "C" fn $name(address: *mut $float, value: $float) -> $float {
            // SAFETY: the caller's promise; the bits of a float have its size and alignment.
            let bits = unsafe { $bits::from_ptr(address.cast()) };
            let mut old = bits.load(Ordering::Relaxed);
            loop {
                let sum = ($float::from_bits(old) + value).to_bits();
                match bits.compare_exchange_weak(old, sum, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(old) => return $float::from_bits(old),
                    Err(seen) => old = seen,
                }
            }
        }
    };
}

float_add!("gpu.atomic.fadd.f32", atomic_fadd_f32, f32, AtomicU32);
float_add!("gpu.atomic.fadd.f64", atomic_fadd_f64, f64, AtomicU64);

/// Only the device's own runtime asks for it, and no host code calls that.
#[unsafe(export_name = "gpu.panic.slot")]
extern "C" fn panic_slot() -> *mut PanicSlot {
    ptr::null_mut()
}

/// Likewise: on the simulator std prints.
#[unsafe(export_name = "gpu.print.buffer")]
extern "C" fn print_buffer() -> *mut PrintBuffer {
    ptr::null_mut()
}

#[unsafe(export_name = "gpu.malloc")]
extern "C" fn malloc(size: usize) -> *mut u8 {
    heap::malloc(size)
}

/// # Safety
///
/// `pointer` is null, or from `gpu.malloc` and not freed before.
#[unsafe(export_name = "gpu.free")]
unsafe extern "C" fn free(pointer: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { heap::free(pointer) }
}
