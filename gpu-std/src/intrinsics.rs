//! The symbols that the simulator defines and the device compiler lowers.
//!
//! `gpu.llvm.*` is an LLVM intrinsic once its prefix is stripped. The others have a rule of their own in
//! `gpu-compiler`, which is stated at each of them.

use core::mem::MaybeUninit;
use core::panic::Location;

use crate::grid::GridBarrier;
use crate::print::PrintBuffer;
use crate::runtime::PanicSlot;

unsafe extern "C" {
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.tid.x"]
    pub safe fn tid_x() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.tid.y"]
    pub safe fn tid_y() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.tid.z"]
    pub safe fn tid_z() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.ntid.x"]
    pub safe fn ntid_x() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.ntid.y"]
    pub safe fn ntid_y() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.ntid.z"]
    pub safe fn ntid_z() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.ctaid.x"]
    pub safe fn ctaid_x() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.ctaid.y"]
    pub safe fn ctaid_y() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.ctaid.z"]
    pub safe fn ctaid_z() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.nctaid.x"]
    pub safe fn nctaid_x() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.nctaid.y"]
    pub safe fn nctaid_y() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.nctaid.z"]
    pub safe fn nctaid_z() -> u32;

    /// `bar.sync id`. Waits for every thread of the block that has not exited.
    #[link_name = "gpu.llvm.nvvm.barrier.cta.sync.aligned.all"]
    pub safe fn barrier_cta_sync_aligned_all(id: u32);

    /// Says where in the kernel's source the next operation of several threads stands, for the simulator's errors.
    /// The compiler removes the call.
    #[link_name = "gpu.place"]
    #[allow(improper_ctypes, reason = "passed as a pointer to Rust code")]
    pub safe fn place(place: &'static Location<'static>);

    // What a thread is about to access, and where in the source: see `gpu_std::note`. The compiler removes the calls.
    #[link_name = "gpu.note.shared.read"]
    #[allow(improper_ctypes, reason = "passed as a pointer to Rust code")]
    pub safe fn note_shared_read(
        address: *const u8,
        bytes: usize,
        place: &'static Location<'static>,
    );
    /// `value` points to what is written.
    #[link_name = "gpu.note.shared.write"]
    #[allow(improper_ctypes, reason = "passed as a pointer to Rust code")]
    pub safe fn note_shared_write(
        address: *const u8,
        bytes: usize,
        value: *const u8,
        place: &'static Location<'static>,
    );
    #[link_name = "gpu.note.global.read"]
    #[allow(improper_ctypes, reason = "passed as a pointer to Rust code")]
    pub safe fn note_global_read(
        address: *const u8,
        bytes: usize,
        place: &'static Location<'static>,
    );
    #[link_name = "gpu.note.global.write"]
    #[allow(improper_ctypes, reason = "passed as a pointer to Rust code")]
    pub safe fn note_global_write(
        address: *const u8,
        bytes: usize,
        place: &'static Location<'static>,
    );
    /// `operation` is a `gpu_std::note::Atomic`.
    #[link_name = "gpu.note.atomic"]
    #[allow(improper_ctypes, reason = "passed as a pointer to Rust code")]
    pub safe fn note_atomic(
        address: *const u8,
        bytes: usize,
        operation: u32,
        place: &'static Location<'static>,
    );

    /// `bar.red.popc id, p`
    #[link_name = "gpu.llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    pub safe fn barrier_cta_red_popc(id: u32, predicate: bool) -> u32;
    /// `bar.red.and id, p`
    #[link_name = "gpu.llvm.nvvm.barrier.cta.red.and.aligned.all"]
    pub safe fn barrier_cta_red_and(id: u32, predicate: bool) -> bool;
    /// `bar.red.or id, p`
    #[link_name = "gpu.llvm.nvvm.barrier.cta.red.or.aligned.all"]
    pub safe fn barrier_cta_red_or(id: u32, predicate: bool) -> bool;
    // `cp.async.ca` of 4 and 8 bytes, `cp.async.cg` of 16, from global to shared memory; with zeros after the first
    // `present` bytes. `to` points into shared and `from` into global memory, both aligned to the size.
    #[link_name = "gpu.cp.async.4"]
    pub fn cp_async_4(to: *mut u8, from: *const u8);
    #[link_name = "gpu.cp.async.8"]
    pub fn cp_async_8(to: *mut u8, from: *const u8);
    #[link_name = "gpu.cp.async.16"]
    pub fn cp_async_16(to: *mut u8, from: *const u8);
    #[link_name = "gpu.cp.async.4.zero"]
    pub fn cp_async_4_zero(to: *mut u8, from: *const u8, present: u32);
    #[link_name = "gpu.cp.async.8.zero"]
    pub fn cp_async_8_zero(to: *mut u8, from: *const u8, present: u32);
    #[link_name = "gpu.cp.async.16.zero"]
    pub fn cp_async_16_zero(to: *mut u8, from: *const u8, present: u32);
    #[link_name = "gpu.llvm.nvvm.cp.async.commit.group"]
    pub safe fn cp_async_commit_group();
    /// `groups` is a constant.
    #[link_name = "gpu.llvm.nvvm.cp.async.wait.group"]
    pub fn cp_async_wait_group(groups: u32);
    #[link_name = "gpu.llvm.nvvm.cp.async.wait.all"]
    pub safe fn cp_async_wait_all();

    // Where the block's cluster is, and where the block is in it: from sm_90 on.
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.clusterid.x"]
    pub safe fn clusterid_x() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.clusterid.y"]
    pub safe fn clusterid_y() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.clusterid.z"]
    pub safe fn clusterid_z() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.nclusterid.x"]
    pub safe fn nclusterid_x() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.nclusterid.y"]
    pub safe fn nclusterid_y() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.nclusterid.z"]
    pub safe fn nclusterid_z() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.cluster.ctaid.x"]
    pub safe fn cluster_ctaid_x() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.cluster.ctaid.y"]
    pub safe fn cluster_ctaid_y() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.cluster.ctaid.z"]
    pub safe fn cluster_ctaid_z() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.cluster.nctaid.x"]
    pub safe fn cluster_nctaid_x() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.cluster.nctaid.y"]
    pub safe fn cluster_nctaid_y() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.cluster.nctaid.z"]
    pub safe fn cluster_nctaid_z() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.cluster.ctarank"]
    pub safe fn cluster_ctarank() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.cluster.nctarank"]
    pub safe fn cluster_nctarank() -> u32;
    // The two halves of the barrier of the cluster's threads that have not exited: from sm_90 on.
    #[link_name = "gpu.llvm.nvvm.barrier.cluster.arrive.aligned"]
    pub safe fn barrier_cluster_arrive_aligned();
    #[link_name = "gpu.llvm.nvvm.barrier.cluster.wait.aligned"]
    pub safe fn barrier_cluster_wait_aligned();

    /// Waits for every thread of the grid: the simulator's own barrier.
    #[link_name = "gpu.grid.sync"]
    pub safe fn grid_sync();
    /// The barrier of the launch, in device memory. The compiler records a kernel that asks for it as cooperative.
    #[link_name = "gpu.grid.barrier"]
    pub safe fn grid_barrier() -> *mut GridBarrier;
    /// Says in the barrier that this thread ends, if the module has kernels with one: else the compiler removes the call.
    #[link_name = "gpu.grid.leave"]
    pub safe fn grid_leave();

    /// `barrier.sync id, threads`: `id` is below 16, `threads` a multiple of 32 up to those of the block.
    #[link_name = "gpu.llvm.nvvm.barrier.cta.sync.count"]
    pub fn barrier_cta_sync_count(id: u32, threads: u32);
    /// `barrier.arrive id, threads`: as `barrier.sync`.
    #[link_name = "gpu.llvm.nvvm.barrier.cta.arrive.count"]
    pub fn barrier_cta_arrive_count(id: u32, threads: u32);

    #[link_name = "gpu.llvm.nvvm.membar.cta"]
    pub safe fn membar_cta();
    #[link_name = "gpu.llvm.nvvm.membar.gl"]
    pub safe fn membar_gl();
    #[link_name = "gpu.llvm.nvvm.membar.sys"]
    pub safe fn membar_sys();

    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.laneid"]
    pub safe fn laneid() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.lanemask.lt"]
    pub safe fn lanemask_lt() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.lanemask.le"]
    pub safe fn lanemask_le() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.lanemask.eq"]
    pub safe fn lanemask_eq() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.lanemask.ge"]
    pub safe fn lanemask_ge() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.lanemask.gt"]
    pub safe fn lanemask_gt() -> u32;
    #[link_name = "gpu.llvm.nvvm.activemask"]
    pub safe fn activemask() -> u32;

    // The operations of a warp's lanes: `mask` has the calling lane.
    #[link_name = "gpu.llvm.nvvm.bar.warp.sync"]
    pub fn bar_warp_sync(mask: u32);
    #[link_name = "gpu.llvm.nvvm.shfl.sync.idx.i32"]
    pub fn shfl_sync_idx(
        mask: u32,
        value: MaybeUninit<u32>,
        lane: u32,
        clamp: u32,
    ) -> MaybeUninit<u32>;
    #[link_name = "gpu.llvm.nvvm.shfl.sync.up.i32"]
    pub fn shfl_sync_up(
        mask: u32,
        value: MaybeUninit<u32>,
        delta: u32,
        clamp: u32,
    ) -> MaybeUninit<u32>;
    #[link_name = "gpu.llvm.nvvm.shfl.sync.down.i32"]
    pub fn shfl_sync_down(
        mask: u32,
        value: MaybeUninit<u32>,
        delta: u32,
        clamp: u32,
    ) -> MaybeUninit<u32>;
    #[link_name = "gpu.llvm.nvvm.shfl.sync.bfly.i32"]
    pub fn shfl_sync_bfly(
        mask: u32,
        value: MaybeUninit<u32>,
        lanes: u32,
        clamp: u32,
    ) -> MaybeUninit<u32>;
    #[link_name = "gpu.llvm.nvvm.vote.all.sync"]
    pub fn vote_all_sync(mask: u32, predicate: bool) -> bool;
    #[link_name = "gpu.llvm.nvvm.vote.any.sync"]
    pub fn vote_any_sync(mask: u32, predicate: bool) -> bool;
    #[link_name = "gpu.llvm.nvvm.vote.uni.sync"]
    pub fn vote_uni_sync(mask: u32, predicate: bool) -> bool;
    #[link_name = "gpu.llvm.nvvm.vote.ballot.sync"]
    pub fn vote_ballot_sync(mask: u32, predicate: bool) -> u32;
    #[link_name = "gpu.llvm.nvvm.match.any.sync.i32"]
    pub fn match_any_sync_i32(mask: u32, value: u32) -> u32;
    #[link_name = "gpu.llvm.nvvm.match.any.sync.i64"]
    pub fn match_any_sync_i64(mask: u32, value: u64) -> u32;
    #[link_name = "gpu.llvm.nvvm.redux.sync.add"]
    pub fn redux_add(value: u32, mask: u32) -> u32;
    #[link_name = "gpu.llvm.nvvm.redux.sync.min"]
    pub fn redux_min(value: u32, mask: u32) -> u32;
    #[link_name = "gpu.llvm.nvvm.redux.sync.max"]
    pub fn redux_max(value: u32, mask: u32) -> u32;
    #[link_name = "gpu.llvm.nvvm.redux.sync.umin"]
    pub fn redux_umin(value: u32, mask: u32) -> u32;
    #[link_name = "gpu.llvm.nvvm.redux.sync.umax"]
    pub fn redux_umax(value: u32, mask: u32) -> u32;
    #[link_name = "gpu.llvm.nvvm.redux.sync.and"]
    pub fn redux_and(value: u32, mask: u32) -> u32;
    #[link_name = "gpu.llvm.nvvm.redux.sync.or"]
    pub fn redux_or(value: u32, mask: u32) -> u32;
    #[link_name = "gpu.llvm.nvvm.redux.sync.xor"]
    pub fn redux_xor(value: u32, mask: u32) -> u32;
    /// `match.all.sync.b32`, without its predicate: LLVM's intrinsic returns a structure, of which the compiler takes
    /// the mask.
    #[link_name = "gpu.match.all.i32"]
    pub fn match_all_sync_i32(mask: u32, value: u32) -> u32;
    /// `match.all.sync.b64`.
    #[link_name = "gpu.match.all.i64"]
    pub fn match_all_sync_i64(mask: u32, value: u64) -> u32;

    // `mma.sync`: `gpu.<name>` is LLVM's `llvm.nvvm.<name>` with its operands in memory. The lane's elements of C are
    // replaced by those of the result. All lanes of the warp come together.
    #[link_name = "gpu.mma.m16n8k16.row.col.f32.f32"]
    pub fn mma_f16(c: *mut u8, a: *const u8, b: *const u8);
    #[link_name = "gpu.mma.m16n8k16.row.col.bf16"]
    pub fn mma_bf16(c: *mut u8, a: *const u8, b: *const u8);
    #[link_name = "gpu.mma.m16n8k8.row.col.tf32"]
    pub fn mma_tf32(c: *mut u8, a: *const u8, b: *const u8);
    #[link_name = "gpu.mma.m8n8k4.row.col.f64"]
    pub fn mma_f64(c: *mut u8, a: *const u8, b: *const u8);
    #[link_name = "gpu.mma.m16n8k32.row.col.s8"]
    pub fn mma_s8(c: *mut u8, a: *const u8, b: *const u8);
    #[link_name = "gpu.mma.m16n8k32.row.col.u8"]
    pub fn mma_u8(c: *mut u8, a: *const u8, b: *const u8);

    // `ldmatrix`: 8 x 8 matrices of 16-bit elements, or of as many bytes, from shared memory. The lanes of the warp come
    // together, each with the address of a row, aligned to 16 bytes.
    #[link_name = "gpu.ldmatrix.x4"]
    pub fn ldmatrix_x4(to: *mut u32, row: *const u8);
    #[link_name = "gpu.ldmatrix.x4.trans"]
    pub fn ldmatrix_x4_trans(to: *mut u32, row: *const u8);
    #[link_name = "gpu.ldmatrix.x2"]
    pub fn ldmatrix_x2(to: *mut u32, row: *const u8);
    #[link_name = "gpu.ldmatrix.x2.trans"]
    pub fn ldmatrix_x2_trans(to: *mut u32, row: *const u8);

    /// Ends this thread. The others of its block go on.
    #[link_name = "gpu.llvm.nvvm.exit"]
    pub safe fn exit() -> !;

    /// Says that the kernel is right only in launches of at most `dimensions` dimensions (1 or 2): the compiler
    /// records it with the kernel and the runtime refuses other launches. The call itself is removed.
    #[link_name = "gpu.launch.dimensions"]
    pub safe fn launch_dimensions(dimensions: u32);

    /// A block's own memory of `size` bytes, one for each `key`, which points to a [`TypeId`](core::any::TypeId). The
    /// compiler makes it an `addrspace(3)` global; all three arguments must be constants.
    #[link_name = "gpu.shared.static"]
    pub fn shared_static(size: usize, align: usize, key: *const ()) -> *mut u8;

    /// Constant memory of `size` bytes, one for each `key`, which points to a [`TypeId`](core::any::TypeId). The compiler
    /// makes it an `addrspace(4)` global that the host finds by the key; the first three arguments must be constants. The
    /// simulator gives what the host has set, or else `initial`.
    #[link_name = "gpu.constant.static"]
    pub fn constant_static(
        size: usize,
        align: usize,
        key: *const (),
        initial: *const u8,
    ) -> *const u8;

    /// The address in shared memory of what a generic pointer into it points to: `cvta.to.shared`.
    #[link_name = "gpu.shared.offset"]
    pub fn shared_offset(address: *const u8) -> u32;
    /// The start of the block's dynamic shared memory, aligned to 128 bytes.
    #[link_name = "gpu.shared.dynamic"]
    pub safe fn shared_dynamic() -> *mut u8;
    /// The bytes of dynamic shared memory that the launch asked for.
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.dynamic_smem_size"]
    pub safe fn dynamic_smem_size() -> u32;

    /// `atom.add.f32`, relaxed.
    #[link_name = "gpu.atomic.fadd.f32"]
    pub fn atomic_fadd_f32(address: *mut f32, value: f32) -> f32;
    /// `atom.add.f64`, relaxed.
    #[link_name = "gpu.atomic.fadd.f64"]
    pub fn atomic_fadd_f64(address: *mut f64, value: f64) -> f64;

    /// Where a panic of this context is claimed and recorded: the value of the module's variable `oxwarp_panic_slot`,
    /// which the host sets when it loads the module.
    #[link_name = "gpu.panic.slot"]
    pub safe fn panic_slot() -> *mut PanicSlot;
    /// Where kernels of this context print to: the value of the module's variable `oxwarp_print_buffer`, likewise.
    #[link_name = "gpu.print.buffer"]
    pub safe fn print_buffer() -> *mut PrintBuffer;

    /// CUDA's device-side `malloc`: 16-byte aligned, null when the device heap is full.
    #[link_name = "gpu.malloc"]
    pub safe fn malloc(size: usize) -> *mut u8;
    /// CUDA's device-side `free`.
    #[link_name = "gpu.free"]
    pub fn free(pointer: *mut u8);

    /// Whether this is device code: a constant there. The simulator says no.
    #[link_name = "gpu.on_device"]
    pub safe fn on_device() -> bool;

    /// The compute capability that the code is compiled for, a constant on a device. The simulator says 90.
    #[link_name = "gpu.target.sm"]
    pub safe fn sm() -> u32;
    /// An error of the compiler where code for a target below `sm` reaches it; `item` has `length` bytes, and all are
    /// constants. The call is removed.
    #[link_name = "gpu.require.sm"]
    pub safe fn require_sm(sm: u32, item: *const u8, length: usize);
    /// The PTX is at least of this version (`10 * major + minor`), a constant. The call is removed.
    #[link_name = "gpu.require.ptx"]
    pub safe fn require_ptx(version: u32);

    /// A hint for the loop around the call: 0 to unroll it completely, else by how much; a constant. The call is
    /// removed.
    #[link_name = "gpu.unroll"]
    pub safe fn unroll(count: u32);

    /// Says that the function around the call stands for `symbol` of `file` in device code: constant C strings.
    #[link_name = "gpu.linked"]
    pub safe fn linked(symbol: *const u8, file: *const u8);

    /// Inline PTX: see [`ptx!`](crate::ptx!). `template` is a constant C string; `pure` and `outputs` are constants;
    /// then come a letter (a constant `u32`) and an address for each operand, outputs first.
    #[link_name = "gpu.ptx"]
    pub fn ptx(template: *const u8, pure: u32, outputs: u32, ...);

    /// An atomic read-modify-write: operation, ordering and scope are constants, numbered as in `gpu_std::atomic`.
    #[link_name = "gpu.atomic.rmw.u32"]
    pub fn atomic_rmw_u32(
        operation: u32,
        ordering: u32,
        scope: u32,
        address: *mut u32,
        value: u32,
    ) -> u32;
    #[link_name = "gpu.atomic.rmw.u64"]
    pub fn atomic_rmw_u64(
        operation: u32,
        ordering: u32,
        scope: u32,
        address: *mut u64,
        value: u64,
    ) -> u64;
    #[link_name = "gpu.atomic.rmw.f32"]
    pub fn atomic_rmw_f32(
        operation: u32,
        ordering: u32,
        scope: u32,
        address: *mut f32,
        value: f32,
    ) -> f32;
    #[link_name = "gpu.atomic.rmw.f64"]
    pub fn atomic_rmw_f64(
        operation: u32,
        ordering: u32,
        scope: u32,
        address: *mut f64,
        value: f64,
    ) -> f64;
    /// As of 32 bits.
    #[link_name = "gpu.atomic.rmw.u16"]
    pub fn atomic_rmw_u16(
        operation: u32,
        ordering: u32,
        scope: u32,
        address: *mut u16,
        value: u16,
    ) -> u16;
    /// As of 32 bits.
    #[link_name = "gpu.atomic.cas.u16"]
    pub fn atomic_cas_u16(
        success: u32,
        failure: u32,
        scope: u32,
        address: *mut u16,
        expected: u16,
        new: u16,
    ) -> u16;
    /// As of 32 bits.
    #[link_name = "gpu.atomic.load.u16"]
    pub fn atomic_load_u16(ordering: u32, scope: u32, address: *const u16) -> u16;
    /// As of 32 bits.
    #[link_name = "gpu.atomic.store.u16"]
    pub fn atomic_store_u16(ordering: u32, scope: u32, address: *mut u16, value: u16);
    /// An atomic compare-and-swap of the simulator alone: no device code calls it.
    #[link_name = "gpu.host.cas.u128"]
    pub fn host_cas_u128(
        address: *mut [u64; 2],
        expected: *const [u64; 2],
        new: *const [u64; 2],
        old: *mut [u64; 2],
    );

    /// An atomic compare-and-swap, which returns the old value: orderings and scope are constants.
    #[link_name = "gpu.atomic.cas.u32"]
    pub fn atomic_cas_u32(
        success: u32,
        failure: u32,
        scope: u32,
        address: *mut u32,
        expected: u32,
        new: u32,
    ) -> u32;
    /// An atomic load: ordering and scope are constants.
    #[link_name = "gpu.atomic.load.u32"]
    pub fn atomic_load_u32(ordering: u32, scope: u32, address: *const u32) -> u32;
    /// An atomic store: ordering and scope are constants.
    #[link_name = "gpu.atomic.store.u32"]
    pub fn atomic_store_u32(ordering: u32, scope: u32, address: *mut u32, value: u32);
    /// An atomic compare-and-swap, which returns the old value: orderings and scope are constants.
    #[link_name = "gpu.atomic.cas.u64"]
    pub fn atomic_cas_u64(
        success: u32,
        failure: u32,
        scope: u32,
        address: *mut u64,
        expected: u64,
        new: u64,
    ) -> u64;
    /// An atomic load: ordering and scope are constants.
    #[link_name = "gpu.atomic.load.u64"]
    pub fn atomic_load_u64(ordering: u32, scope: u32, address: *const u64) -> u64;
    /// An atomic store: ordering and scope are constants.
    #[link_name = "gpu.atomic.store.u64"]
    pub fn atomic_store_u64(ordering: u32, scope: u32, address: *mut u64, value: u64);
    /// A fence: ordering and scope are constants.
    #[link_name = "gpu.atomic.fence"]
    pub safe fn atomic_fence(ordering: u32, scope: u32);

    // Functions of C's libm.
    #[link_name = "gpu.math.sinf"]
    pub safe fn sinf(x: f32) -> f32;
    #[link_name = "gpu.math.sin"]
    pub safe fn sin(x: f64) -> f64;
    #[link_name = "gpu.math.cosf"]
    pub safe fn cosf(x: f32) -> f32;
    #[link_name = "gpu.math.cos"]
    pub safe fn cos(x: f64) -> f64;
    #[link_name = "gpu.math.expf"]
    pub safe fn expf(x: f32) -> f32;
    #[link_name = "gpu.math.exp"]
    pub safe fn exp(x: f64) -> f64;
    #[link_name = "gpu.math.exp2f"]
    pub safe fn exp2f(x: f32) -> f32;
    #[link_name = "gpu.math.exp2"]
    pub safe fn exp2(x: f64) -> f64;
    #[link_name = "gpu.math.logf"]
    pub safe fn logf(x: f32) -> f32;
    #[link_name = "gpu.math.log"]
    pub safe fn log(x: f64) -> f64;
    #[link_name = "gpu.math.log2f"]
    pub safe fn log2f(x: f32) -> f32;
    #[link_name = "gpu.math.log2"]
    pub safe fn log2(x: f64) -> f64;
    #[link_name = "gpu.math.tanhf"]
    pub safe fn tanhf(x: f32) -> f32;
    #[link_name = "gpu.math.tanh"]
    pub safe fn tanh(x: f64) -> f64;
    #[link_name = "gpu.math.cbrtf"]
    pub safe fn cbrtf(x: f32) -> f32;
    #[link_name = "gpu.math.cbrt"]
    pub safe fn cbrt(x: f64) -> f64;
    #[link_name = "gpu.math.erff"]
    pub safe fn erff(x: f32) -> f32;
    #[link_name = "gpu.math.erf"]
    pub safe fn erf(x: f64) -> f64;
    #[link_name = "gpu.math.erfcf"]
    pub safe fn erfcf(x: f32) -> f32;
    #[link_name = "gpu.math.erfc"]
    pub safe fn erfc(x: f64) -> f64;
    #[link_name = "gpu.math.tgammaf"]
    pub safe fn tgammaf(x: f32) -> f32;
    #[link_name = "gpu.math.tgamma"]
    pub safe fn tgamma(x: f64) -> f64;
    #[link_name = "gpu.math.lgammaf"]
    pub safe fn lgammaf(x: f32) -> f32;
    #[link_name = "gpu.math.lgamma"]
    pub safe fn lgamma(x: f64) -> f64;
    #[link_name = "gpu.math.exp10f"]
    pub safe fn exp10f(x: f32) -> f32;
    #[link_name = "gpu.math.exp10"]
    pub safe fn exp10(x: f64) -> f64;
    #[link_name = "gpu.math.asinhf"]
    pub safe fn asinhf(x: f32) -> f32;
    #[link_name = "gpu.math.asinh"]
    pub safe fn asinh(x: f64) -> f64;
    #[link_name = "gpu.math.acoshf"]
    pub safe fn acoshf(x: f32) -> f32;
    #[link_name = "gpu.math.acosh"]
    pub safe fn acosh(x: f64) -> f64;
    #[link_name = "gpu.math.atanhf"]
    pub safe fn atanhf(x: f32) -> f32;
    #[link_name = "gpu.math.atanh"]
    pub safe fn atanh(x: f64) -> f64;
    #[link_name = "gpu.math.j0f"]
    pub safe fn j0f(x: f32) -> f32;
    #[link_name = "gpu.math.j0"]
    pub safe fn j0(x: f64) -> f64;
    #[link_name = "gpu.math.j1f"]
    pub safe fn j1f(x: f32) -> f32;
    #[link_name = "gpu.math.j1"]
    pub safe fn j1(x: f64) -> f64;
    #[link_name = "gpu.math.y0f"]
    pub safe fn y0f(x: f32) -> f32;
    #[link_name = "gpu.math.y0"]
    pub safe fn y0(x: f64) -> f64;
    #[link_name = "gpu.math.y1f"]
    pub safe fn y1f(x: f32) -> f32;
    #[link_name = "gpu.math.y1"]
    pub safe fn y1(x: f64) -> f64;
    #[link_name = "gpu.math.jnf"]
    pub safe fn jnf(order: i32, x: f32) -> f32;
    #[link_name = "gpu.math.jn"]
    pub safe fn jn(order: i32, x: f64) -> f64;
    #[link_name = "gpu.math.ynf"]
    pub safe fn ynf(order: i32, x: f32) -> f32;
    #[link_name = "gpu.math.yn"]
    pub safe fn yn(order: i32, x: f64) -> f64;
    #[link_name = "gpu.math.nextafterf"]
    pub safe fn nextafterf(x: f32, y: f32) -> f32;
    #[link_name = "gpu.math.nextafter"]
    pub safe fn nextafter(x: f64, y: f64) -> f64;
    #[link_name = "gpu.math.remainderf"]
    pub safe fn remainderf(x: f32, y: f32) -> f32;
    #[link_name = "gpu.math.remainder"]
    pub safe fn remainder(x: f64, y: f64) -> f64;
    #[link_name = "gpu.math.fdimf"]
    pub safe fn fdimf(x: f32, y: f32) -> f32;
    #[link_name = "gpu.math.fdim"]
    pub safe fn fdim(x: f64, y: f64) -> f64;
    #[link_name = "gpu.math.ldexpf"]
    pub safe fn ldexpf(x: f32, exponent: i32) -> f32;
    #[link_name = "gpu.math.ilogbf"]
    pub safe fn ilogbf(x: f32) -> i32;
    #[link_name = "gpu.math.ldexp"]
    pub safe fn ldexp(x: f64, exponent: i32) -> f64;
    #[link_name = "gpu.math.ilogb"]
    pub safe fn ilogb(x: f64) -> i32;

    #[link_name = "gpu.llvm.nvvm.mulhi.ui"]
    pub safe fn mulhi_u32(a: u32, b: u32) -> u32;
    #[link_name = "gpu.llvm.sqrt.f32"]
    pub safe fn sqrt_f32(x: f32) -> f32;
    #[link_name = "gpu.llvm.floor.f32"]
    pub safe fn floor_f32(x: f32) -> f32;
    #[link_name = "gpu.llvm.trunc.f32"]
    pub safe fn trunc_f32(x: f32) -> f32;
    #[link_name = "gpu.llvm.roundeven.f32"]
    pub safe fn rint_f32(x: f32) -> f32;
    #[link_name = "gpu.llvm.fma.f32"]
    pub safe fn fma_f32(x: f32, y: f32, z: f32) -> f32;
    #[link_name = "gpu.llvm.sqrt.f64"]
    pub safe fn sqrt_f64(x: f64) -> f64;
    #[link_name = "gpu.llvm.floor.f64"]
    pub safe fn floor_f64(x: f64) -> f64;
    #[link_name = "gpu.llvm.trunc.f64"]
    pub safe fn trunc_f64(x: f64) -> f64;
    #[link_name = "gpu.llvm.roundeven.f64"]
    pub safe fn rint_f64(x: f64) -> f64;
    #[link_name = "gpu.llvm.fma.f64"]
    pub safe fn fma_f64(x: f64, y: f64, z: f64) -> f64;

    /// `isspacep.global`
    #[link_name = "gpu.llvm.nvvm.isspacep.global"]
    pub safe fn is_space_global(address: *const ()) -> bool;

    /// `isspacep.shared`
    #[link_name = "gpu.llvm.nvvm.isspacep.shared"]
    pub safe fn is_space_shared(address: *const ()) -> bool;

    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.clock"]
    pub safe fn clock() -> u32;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.clock64"]
    pub safe fn clock64() -> u64;
    #[link_name = "gpu.llvm.nvvm.read.ptx.sreg.globaltimer"]
    pub safe fn globaltimer() -> u64;
    #[link_name = "gpu.llvm.nvvm.nanosleep"]
    pub safe fn nanosleep(nanoseconds: u32);

    // 16-bit floats as their bits: `gpu.half.<operation>.<type>`.
    #[link_name = "gpu.half.add.f16"]
    pub safe fn f16_add(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.add.f16x2"]
    pub safe fn f16x2_add(a: u32, b: u32) -> u32;
    #[link_name = "gpu.half.sub.f16"]
    pub safe fn f16_sub(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.sub.f16x2"]
    pub safe fn f16x2_sub(a: u32, b: u32) -> u32;
    #[link_name = "gpu.half.mul.f16"]
    pub safe fn f16_mul(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.mul.f16x2"]
    pub safe fn f16x2_mul(a: u32, b: u32) -> u32;
    #[link_name = "gpu.half.div.f16"]
    pub safe fn f16_div(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.fma.f16"]
    pub safe fn f16_fma(a: u16, b: u16, c: u16) -> u16;
    #[link_name = "gpu.half.fma.f16x2"]
    pub safe fn f16x2_fma(a: u32, b: u32, c: u32) -> u32;
    #[link_name = "gpu.half.minnum.f16"]
    pub safe fn f16_min(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.minnum.f16x2"]
    pub safe fn f16x2_min(a: u32, b: u32) -> u32;
    #[link_name = "gpu.half.maxnum.f16"]
    pub safe fn f16_max(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.maxnum.f16x2"]
    pub safe fn f16x2_max(a: u32, b: u32) -> u32;
    #[link_name = "gpu.half.floor.f16"]
    pub safe fn f16_floor(x: u16) -> u16;
    #[link_name = "gpu.half.ceil.f16"]
    pub safe fn f16_ceil(x: u16) -> u16;
    #[link_name = "gpu.half.trunc.f16"]
    pub safe fn f16_trunc(x: u16) -> u16;
    #[link_name = "gpu.half.roundeven.f16"]
    pub safe fn f16_round(x: u16) -> u16;
    #[link_name = "gpu.half.minnum.bf16"]
    pub safe fn bf16_min(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.minnum.bf16x2"]
    pub safe fn bf16x2_min(a: u32, b: u32) -> u32;
    #[link_name = "gpu.half.maxnum.bf16"]
    pub safe fn bf16_max(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.maxnum.bf16x2"]
    pub safe fn bf16x2_max(a: u32, b: u32) -> u32;
    #[link_name = "gpu.half.floor.bf16"]
    pub safe fn bf16_floor(x: u16) -> u16;
    #[link_name = "gpu.half.ceil.bf16"]
    pub safe fn bf16_ceil(x: u16) -> u16;
    #[link_name = "gpu.half.trunc.bf16"]
    pub safe fn bf16_trunc(x: u16) -> u16;
    #[link_name = "gpu.half.roundeven.bf16"]
    pub safe fn bf16_round(x: u16) -> u16;
    #[link_name = "gpu.half.to_f32.f16"]
    pub safe fn f16_to_f32(x: u16) -> f32;
    #[link_name = "gpu.half.from_f32.f16"]
    pub safe fn f16_from_f32(x: f32) -> u16;
    #[link_name = "gpu.half.from_f64.f16"]
    pub safe fn f16_from_f64(x: f64) -> u16;
    #[link_name = "gpu.half.add.bf16"]
    pub safe fn bf16_add(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.add.bf16x2"]
    pub safe fn bf16x2_add(a: u32, b: u32) -> u32;
    #[link_name = "gpu.half.sub.bf16"]
    pub safe fn bf16_sub(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.sub.bf16x2"]
    pub safe fn bf16x2_sub(a: u32, b: u32) -> u32;
    #[link_name = "gpu.half.mul.bf16"]
    pub safe fn bf16_mul(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.mul.bf16x2"]
    pub safe fn bf16x2_mul(a: u32, b: u32) -> u32;
    #[link_name = "gpu.half.div.bf16"]
    pub safe fn bf16_div(a: u16, b: u16) -> u16;
    #[link_name = "gpu.half.fma.bf16"]
    pub safe fn bf16_fma(a: u16, b: u16, c: u16) -> u16;
    #[link_name = "gpu.half.fma.bf16x2"]
    pub safe fn bf16x2_fma(a: u32, b: u32, c: u32) -> u32;
    #[link_name = "gpu.half.to_f32.bf16"]
    pub safe fn bf16_to_f32(x: u16) -> f32;
    #[link_name = "gpu.half.from_f32.bf16"]
    pub safe fn bf16_from_f32(x: f32) -> u16;
    #[link_name = "gpu.half.from_f64.bf16"]
    pub safe fn bf16_from_f64(x: f64) -> u16;
}
