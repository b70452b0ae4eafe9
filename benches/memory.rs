//! Copies and allocations: oxwarp against the driver's own calls on the same stream, memory and device.
//!
//! A copy counts until it is done. Best of several. Allocations are those of the pool, of mixed sizes; what the pool
//! holds is the same before and after a million of them, or the program ends with an error.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use cust::sys;
use ndarray::{Array2, ShapeBuilder, s};
use oxwarp::prelude::*;
use oxwarp::{PinnedArray, Result};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const SIZES: [usize; 6] = [4 * KIB, 64 * KIB, MIB, 8 * MIB, 64 * MIB, 512 * MIB];

fn main() -> Result<()> {
    let gpu = match Gpu::cuda(0) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("memory: no CUDA device, nothing measured: {error}");
            return Ok(());
        }
    };
    println!("copies on {}, GB/s, best of several", gpu.name());
    println!(
        "{:<28} {:>12} {:>9} {:>9} {:>7}",
        "copy", "bytes", "oxwarp", "driver", "share"
    );
    for bytes in SIZES {
        pinned(&gpu, bytes)?;
    }
    for bytes in SIZES {
        pageable(&gpu, bytes)?;
    }
    other_layouts(&gpu)?;
    allocations(&gpu)
}

/// The driver's copies on the stream of a handle.
struct Driver {
    stream: sys::CUstream,
}

impl Driver {
    fn of(gpu: &Gpu) -> Self {
        let stream = gpu.cuda_stream().expect("a CUDA device");
        Self {
            stream: stream.cast(),
        }
    }

    fn to_device(&self, array: &DeviceArray<u8>, source: *const c_void) {
        // SAFETY: both have the array's bytes, and the wait comes before either ends.
        let result = unsafe {
            sys::cuMemcpyHtoDAsync_v2(array.device_ptr(), source, array.len(), self.stream)
        };
        self.wait(result);
    }

    fn to_host(&self, array: &DeviceArray<u8>, target: *mut c_void) {
        // SAFETY: as above.
        let result = unsafe {
            sys::cuMemcpyDtoHAsync_v2(target, array.device_ptr(), array.len(), self.stream)
        };
        self.wait(result);
    }

    /// The time of allocations from the pool, and of their frees.
    fn allocations(&self, sizes: impl Iterator<Item = usize>) -> [Duration; 2] {
        let sizes: Vec<_> = sizes.collect();
        let mut addresses = vec![0; sizes.len()];
        let start = Instant::now();
        for (address, &bytes) in addresses.iter_mut().zip(&sizes) {
            // SAFETY: the pointer is valid for a write of an address.
            let result = unsafe { sys::cuMemAllocAsync(address, bytes, self.stream) };
            assert_eq!(result, sys::cudaError_enum::CUDA_SUCCESS);
        }
        let allocated = start.elapsed();
        let start = Instant::now();
        for &address in &addresses {
            // SAFETY: the address is from the call above, and nothing uses it.
            let result = unsafe { sys::cuMemFreeAsync(address, self.stream) };
            assert_eq!(result, sys::cudaError_enum::CUDA_SUCCESS);
        }
        let freed = start.elapsed();
        self.wait(sys::cudaError_enum::CUDA_SUCCESS);
        [allocated, freed]
    }

    fn wait(&self, result: sys::cudaError_enum) {
        assert_eq!(result, sys::cudaError_enum::CUDA_SUCCESS);
        // SAFETY: the stream is alive.
        let result = unsafe { sys::cuStreamSynchronize(self.stream) };
        assert_eq!(result, sys::cudaError_enum::CUDA_SUCCESS);
    }
}

fn pinned(gpu: &Gpu, bytes: usize) -> Result<()> {
    let mut buffer: PinnedArray<u8> = gpu.pinned(bytes)?;
    let mut array = gpu.zeros::<u8>(bytes)?;
    let driver = Driver::of(gpu);
    let theirs = best(bytes, || {
        driver.to_device(&array, buffer.as_ptr().cast());
        Ok(())
    })?;
    let ours = best(bytes, || array.copy_from(&buffer))?;
    report("pinned to device", bytes, ours, theirs);
    let mut kept = Some(buffer);
    let ours = best(bytes, || {
        if let Some(buffer) = kept.take() {
            kept = Some(array.copy_from_async(buffer)?.wait()?);
        }
        Ok(())
    })?;
    report("pinned to device, async", bytes, ours, theirs);
    buffer = kept.expect("every copy gives it back");
    let theirs = best(bytes, || {
        driver.to_host(&array, buffer.as_mut_ptr().cast());
        Ok(())
    })?;
    let ours = best(bytes, || array.copy_to(&mut buffer))?;
    report("pinned to host", bytes, ours, theirs);
    Ok(())
}

fn pageable(gpu: &Gpu, bytes: usize) -> Result<()> {
    let mut buffer = vec![1u8; bytes];
    let mut array = gpu.zeros::<u8>(bytes)?;
    let driver = Driver::of(gpu);
    let theirs = best(bytes, || {
        driver.to_device(&array, buffer.as_ptr().cast());
        Ok(())
    })?;
    let ours = best(bytes, || {
        array.copy_from(&buffer)?;
        gpu.synchronize()
    })?;
    report("pageable to device", bytes, ours, theirs);
    let theirs = best(bytes, || {
        driver.to_host(&array, buffer.as_mut_ptr().cast());
        Ok(())
    })?;
    let ours = best(bytes, || array.copy_to(&mut buffer))?;
    report("pageable to host", bytes, ours, theirs);
    Ok(())
}

/// Arrays that are gathered on their way; the driver's time is that of the same bytes in standard layout.
fn other_layouts(gpu: &Gpu) -> Result<()> {
    const ROWS: usize = 4096;
    let bytes = 4 * ROWS * ROWS;
    let wide = Array2::from_elem((ROWS, ROWS + 16), 1.5f32);
    let fortran = Array2::from_elem((ROWS, ROWS).f(), 1.5f32);
    let mut array = gpu.zeros_nd::<f32, _>((ROWS, ROWS))?;
    let plain = vec![1.5f32; ROWS * ROWS];
    let theirs = {
        let flat = gpu.zeros::<u8>(bytes)?;
        let driver = Driver::of(gpu);
        best(bytes, || {
            driver.to_device(&flat, plain.as_ptr().cast());
            Ok(())
        })?
    };
    let rows = wide.slice(s![.., ..ROWS]);
    let ours = best(bytes, || {
        array.copy_from(&rows)?;
        gpu.synchronize()
    })?;
    report("rows of a wider matrix", bytes, ours, theirs);
    let ours = best(bytes, || {
        array.copy_from(&fortran)?;
        gpu.synchronize()
    })?;
    report("Fortran order", bytes, ours, theirs);
    let ours = best(bytes, || {
        array.copy_from(&fortran.t())?;
        gpu.synchronize()
    })?;
    report("its transpose, as it lies", bytes, ours, theirs);
    Ok(())
}

fn allocations(gpu: &Gpu) -> Result<()> {
    const COUNT: usize = 10_000;
    let size = |number: usize| 16 + (number.wrapping_mul(0x9e37_79b9) >> 7) % (256 * KIB);
    // SAFETY: nothing reads the arrays.
    let allocate = |number| unsafe { gpu.uninit::<u8, _>(size(number)) };
    (0..COUNT).try_for_each(|number| allocate(number).map(drop))?;
    gpu.synchronize()?;

    let start = Instant::now();
    (0..COUNT).try_for_each(|number| allocate(number).map(drop))?;
    let one_by_one = start.elapsed();
    gpu.synchronize()?;
    let theirs = Driver::of(gpu).allocations((0..COUNT).map(size));
    let mut arrays = Vec::with_capacity(COUNT);
    for _ in 0..2 {
        // The first time the pool grows.
        let start = Instant::now();
        for number in 0..COUNT {
            arrays.push(allocate(number)?);
        }
        let allocated = start.elapsed();
        let start = Instant::now();
        arrays.clear();
        let freed = start.elapsed();
        gpu.synchronize()?;
        println!(
            "{COUNT} allocations at once: {:.3} us each, and {:.3} us for each free",
            micros(allocated, COUNT),
            micros(freed, COUNT)
        );
    }
    println!(
        "the driver's own calls: {:.3} us and {:.3} us",
        micros(theirs[0], COUNT),
        micros(theirs[1], COUNT)
    );
    println!(
        "{COUNT} allocations, each freed at once: {:.3} us for both",
        micros(one_by_one, COUNT)
    );

    let before = gpu.pool_usage()?;
    let start = Instant::now();
    (0..1_000_000).try_for_each(|number| allocate(number).map(drop))?;
    let time = start.elapsed();
    gpu.synchronize()?;
    let after = gpu.pool_usage()?;
    println!(
        "1000000 allocations: {:.3} us each with the free; {} bytes used before, {} after",
        micros(time, 1_000_000),
        before.used,
        after.used
    );
    assert_eq!(before.used, after.used, "memory was lost");
    Ok(())
}

fn micros(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e6 / count as f64
}

/// The best rate of a copy, in GB/s.
fn best(bytes: usize, mut copy: impl FnMut() -> Result<()>) -> Result<f64> {
    copy()?;
    let mut best = Duration::MAX;
    let runs = (256 * MIB / bytes).clamp(5, 200);
    for _ in 0..runs {
        let start = Instant::now();
        copy()?;
        best = best.min(start.elapsed());
    }
    Ok(bytes as f64 / best.as_secs_f64() / 1e9)
}

fn report(copy: &str, bytes: usize, ours: f64, theirs: f64) {
    let share = 100.0 * ours / theirs;
    println!("{copy:<28} {bytes:>12} {ours:>9.2} {theirs:>9.2} {share:>6.1} %");
}
