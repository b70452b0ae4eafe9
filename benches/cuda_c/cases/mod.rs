//! The cases of the benchmark: each a kernel in safe Rust and the same kernel in CUDA C, in a `.cu` file beside it.
//!
//! Rust and C have the same kernel names, the same grid and block, the same algorithm, the same width of index and the same
//! accuracy of functions, so that what is compared is the code that the two compilers make. A `.rs` file has the
//! kernels, the data they are launched on, and a reference on the CPU. `cuda_c.rs` measures them on a GPU;
//! `tests/cuda_c_cases.rs` runs the Rust side at small sizes, on the simulator too, and compiles the C side.

mod batched;
mod bitonic;
mod black_scholes;
mod blocked;
pub mod case;
mod chacha20;
mod convolution;
mod histogram;
mod layer_norm;
mod mandelbrot;
mod matmul;
mod matrix_units;
mod memory;
mod monte_carlo;
mod nbody;
mod random;
mod reduction;
mod scan;
mod softmax;
mod spmv;
mod stencil;
mod structs;
mod transpose;

pub use case::{Case, Checks, Entry, Outcome, Size, Source, Twin, Work};

/// All cases, in the order of the table.
pub const ALL: &[Entry] = &[
    memory::COPY,
    memory::TRIAD,
    memory::SAXPY,
    memory::SAXPY4,
    structs::AOS,
    structs::SOA,
    transpose::NAIVE,
    transpose::TILED,
    reduction::BLOCK_REDUCE,
    reduction::SUM,
    reduction::DOT,
    reduction::DOT_TREE,
    scan::SCAN,
    histogram::SHARED,
    histogram::GLOBAL,
    stencil::STENCIL_2D,
    stencil::STENCIL_3D,
    convolution::CONVOLUTION,
    matmul::NAIVE,
    matmul::TILED,
    blocked::BLOCKED,
    batched::BATCHED,
    nbody::NBODY,
    mandelbrot::MANDELBROT,
    black_scholes::BLACK_SCHOLES,
    monte_carlo::MONTE_CARLO,
    spmv::SPMV,
    bitonic::BITONIC,
    softmax::SOFTMAX,
    layer_norm::LAYER_NORM,
    chacha20::CHACHA20,
    matrix_units::MATMUL_BF16,
];
