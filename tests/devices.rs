//! Several devices: all CUDA devices of the machine, or simulators where there is none.

use ndarray::{Array, Array2, Array3, Dimension};
use oxwarp::half::{Bf16, F16};
use oxwarp::prelude::*;
use oxwarp::{CollectiveElement, Devices, Error, Reduction, Result};

mod common;
use common::Random;

#[kernel]
fn scale(factor: f32, mut x: DisjointSlice<f32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x *= factor;
    }
}

#[kernel]
fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = a[*i] + b[*i];
    }
}

fn devices() -> Result<Devices> {
    let devices = Devices::all()?;
    Ok(match devices[0].is_simulator() {
        true => Devices::simulated(3),
        false => devices,
    })
}

fn round_trip<D>(devices: &Devices, values: &Array<f32, D>) -> Result<()>
where
    D: Dimension + ndarray::RemoveAxis + Send + Sync,
{
    let mut parts = devices.scatter(values)?;
    let rows: Vec<_> = parts.iter().map(|part| part.shape()[0]).collect();
    assert_eq!(rows.iter().sum::<usize>(), values.shape()[0]);
    assert!(rows.iter().max().unwrap() - rows.iter().min().unwrap() <= 1);
    for (part, gpu) in parts.iter_mut().zip(devices) {
        assert_eq!(format!("{:?}", part.gpu()), format!("{gpu:?}"));
        scale.for_each(part.len()).launch(2.0, part)?;
    }
    assert_eq!(devices.gather(&parts)?, values * 2.0);
    Ok(())
}

#[test]
fn parts_go_to_the_devices_and_come_back() -> Result<()> {
    let devices = devices()?;
    let mut random = Random::new(1);
    for rows in [0, 1, 2, 3, 7, 1000] {
        let values = random.floats(rows * 15, -1.0, 1.0);
        round_trip(&devices, &Array::from(values[..rows].to_vec()))?;
        round_trip(
            &devices,
            &Array2::from_shape_vec((rows, 15), values.clone()).unwrap(),
        )?;
        let cubes = Array3::from_shape_vec((rows, 3, 5), values).unwrap();
        round_trip(&devices, &cubes)?;
        // In another order of the axes.
        round_trip(&devices, &cubes.permuted_axes([2, 0, 1]))?;
    }
    Ok(())
}

#[test]
fn every_device_says_what_it_has() -> Result<()> {
    for gpu in &devices()? {
        let properties = gpu.properties()?;
        assert_eq!(
            (properties.name.as_str(), properties.warp_size),
            (gpu.name(), 32)
        );
        assert_eq!(properties.compute_capability, gpu.compute_capability());
        assert!(properties.multiprocessors >= 1 && properties.threads_per_block >= 1024);
        assert!(properties.shared_bytes_per_block >= 48 << 10);
        assert!((1..=properties.memory_bytes).contains(&properties.free_bytes));
        assert_eq!(properties.pci.is_none(), gpu.is_simulator());
        assert_eq!(gpu.cuda_context().is_none(), gpu.is_simulator());
        assert!(properties.to_string().contains("multiprocessors"));
    }
    Ok(())
}

#[test]
fn each_device_has_a_host_thread() -> Result<()> {
    let devices = devices()?;
    let sums = devices.each(|number, gpu| {
        let mut c = gpu.zeros::<f32>(1000)?;
        let (a, b) = (gpu.full(1000, number as f32)?, gpu.full(1000, 0.5)?);
        add.for_each(1000).launch(&a, &b, &mut c)?;
        Ok(c.to_vec()?.iter().sum::<f32>())
    })?;
    let expected: Vec<_> = (0..devices.len())
        .map(|number| 1000.0 * (number as f32 + 0.5))
        .collect();
    assert_eq!(sums, expected);
    let error = devices.each(|number, gpu| {
        let (mut c, a) = (
            gpu.zeros(10)?,
            gpu.full(if number == 0 { 9 } else { 10 }, 1.0)?,
        );
        add.for_each(10).launch(&a, &a, &mut c)?;
        gpu.synchronize()
    });
    assert!(matches!(error, Err(Error::KernelPanic(_))));
    devices.synchronize()
}

/// The same values, for each device, on the host and on it.
type OnBoth<T> = (Vec<Vec<T>>, Vec<DeviceArray<T>>);

/// Arrays of random elements, one a device.
fn arrays<T: CollectiveElement>(
    devices: &Devices,
    len: usize,
    element: &mut dyn FnMut() -> T,
) -> Result<OnBoth<T>> {
    let host: Vec<Vec<T>> = devices
        .iter()
        .map(|_| (0..len).map(|_| element()).collect())
        .collect();
    let device = devices
        .iter()
        .zip(&host)
        .map(|(gpu, host)| gpu.to_device(host))
        .collect::<Result<_>>()?;
    Ok((host, device))
}

fn exchanges<T>(
    devices: &Devices,
    mut element: impl FnMut() -> T,
    fold: impl Fn(Reduction, T, T) -> T,
) -> Result<()>
where
    T: CollectiveElement + PartialEq + std::fmt::Debug,
{
    use Reduction::{Max, Min, Product, Sum};
    for reduction in [Sum, Product, Min, Max] {
        let (host, mut device) = arrays(devices, 1003, &mut element)?;
        devices.all_reduce(reduction, &mut device)?;
        let expected: Vec<T> = (0..1003)
            .map(|i| {
                host.iter()
                    .map(|values| values[i])
                    .reduce(|a, b| fold(reduction, a, b))
                    .unwrap()
            })
            .collect();
        for array in &device {
            assert_eq!(array.to_vec()?, expected, "{reduction:?}");
        }
    }
    let last = devices.len() - 1;
    let (host, mut device) = arrays(devices, 77, &mut element)?;
    devices.broadcast(last, &mut device)?;
    for array in &device {
        assert_eq!(array.to_vec()?, host[last]);
    }
    let (host, device) = arrays(devices, 33, &mut element)?;
    let (_, mut all) = arrays(devices, 33 * devices.len(), &mut element)?;
    devices.all_gather(&device, &mut all)?;
    for array in &all {
        assert_eq!(array.to_vec()?, host.concat());
    }
    Ok(())
}

macro_rules! integers {
    ($devices:expr, $random:expr, $($type:ty)*) => {$(
        exchanges(&$devices, || $random.bits() as $type, |reduction, a, b| match reduction {
            Reduction::Sum => a.wrapping_add(b),
            Reduction::Product => a.wrapping_mul(b),
            Reduction::Min => a.min(b),
            Reduction::Max => a.max(b),
        })?;
    )*};
}

/// Of numbers whose sums and products are exact in 16 bits, in whatever order.
macro_rules! floats {
    ($devices:expr, $random:expr, $($type:ty: $of:expr;)*) => {$(
        exchanges::<$type>(&$devices, || $of(($random.bits() % 5) as f32 - 2.0), |reduction, a, b| match reduction {
            Reduction::Sum => a + b,
            Reduction::Product => a * b,
            Reduction::Min => if b < a { b } else { a },
            Reduction::Max => if b > a { b } else { a },
        })?;
    )*};
}

#[test]
fn devices_exchange_every_type_of_element() -> Result<()> {
    let devices = devices()?;
    let mut random = Random::new(2);
    integers!(devices, random, i8 u8 i32 u32 i64 u64);
    floats!(devices, random, F16: F16::from_f32; Bf16: Bf16::from_f32; f32: f32::from; f64: f64::from;);
    Ok(())
}

#[test]
fn an_exchange_comes_after_launches_and_before_those_that_follow() -> Result<()> {
    let devices = devices()?;
    let count = devices.len() as f32;
    let (_, mut x) = arrays(&devices, 1 << 16, &mut || 1.0f32)?;
    for _ in 0..10 {
        for part in &mut x {
            scale.for_each(part.len()).launch(2.0 / count, part)?;
        }
        devices.all_reduce(Reduction::Sum, &mut x)?;
        for part in &mut x {
            scale.for_each(part.len()).launch(0.5, part)?;
        }
    }
    for part in &x {
        let far = part
            .to_vec()?
            .into_iter()
            .find(|value| (value - 1.0).abs() > 1e-4);
        assert_eq!(far, None);
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() -> Result<()> {
    let devices = devices()?;
    let text = |result: Result<()>| result.unwrap_err().to_string();
    let (_, mut x) = arrays(&devices, 8, &mut || 1u32)?;
    let error = text(devices.broadcast(devices.len(), &mut x));
    assert!(
        error.contains(&format!("no device {}", devices.len())),
        "{error}"
    );
    let mut longer = devices.replicate(&vec![0u32; 8 * devices.len() + 1])?;
    let error = text(devices.all_gather(&x, &mut longer));
    assert!(
        error.contains(&format!("array of {}", 8 * devices.len() + 1)),
        "{error}"
    );
    x.pop();
    let error = text(devices.all_reduce(Reduction::Sum, &mut x));
    assert!(
        error.contains(&format!(
            "{} array(s) for {} device(s)",
            x.len(),
            devices.len()
        )),
        "{error}"
    );
    let none = Devices::of(Vec::new());
    assert!(text(none.scatter(&[1, 2]).map(drop)).contains("nothing to split"));
    let simulators = Devices::simulated(2);
    let mut swapped = vec![simulators[1].zeros::<i32>(2)?, simulators[0].zeros(2)?];
    assert!(matches!(
        simulators.all_reduce(Reduction::Sum, &mut swapped),
        Err(Error::DifferentDevices { .. })
    ));
    let mut uneven = vec![simulators[0].zeros::<i32>(2)?, simulators[1].zeros(3)?];
    let error = text(simulators.all_reduce(Reduction::Sum, &mut uneven));
    assert!(
        error.contains("2 elements into a device array of 3"),
        "{error}"
    );
    Ok(())
}

/// Two devices, if there are two that can reach each other.
fn peers() -> Result<Option<Devices>> {
    let devices = devices()?;
    if devices.len() < 2 || !devices[0].can_access_peer(&devices[1])? {
        eprintln!("skipped: there are no two devices that reach each other's memory");
        return Ok(None);
    }
    Ok(Some(devices))
}

#[test]
fn a_launch_takes_arrays_of_a_peer_once_it_has_access() -> Result<()> {
    // Access is for the whole process.
    if !common::in_own_process() {
        let [stdout, stderr] = common::run_again(&[]);
        assert!(
            stdout.contains("test result: ok. 1 passed"),
            "{stdout}{stderr}"
        );
        return Ok(());
    }
    let Some(devices) = peers()? else {
        return Ok(());
    };
    let (here, there) = (&devices[0], &devices[1]);
    let (a, b) = (here.full(5000, 1.5f32)?, there.full(5000, 2.0f32)?);
    let mut c = here.zeros::<f32>(5000)?;
    let error = add
        .for_each(5000)
        .launch(&a, &b, &mut c)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("different devices") && error.contains("enable_peer_access"),
        "{error}"
    );
    if !here.is_simulator() {
        assert!(
            error.contains("cuda:0") && error.contains("cuda:1"),
            "{error}"
        );
    }
    here.enable_peer_access(there)?;
    add.for_each(5000).launch(&a, &b, &mut c)?;
    assert_eq!(c.to_vec()?, vec![3.5; 5000]);
    // The way back is another.
    let mut c = there.zeros::<f32>(5000)?;
    assert!(add.for_each(5000).launch(&b, &a, &mut c).is_err());
    // What the peer does to its array comes first, whichever stream it is on.
    for round in 0..20 {
        let mut b = there.full(5000, round as f32)?;
        scale.for_each(5000).launch(3.0, &mut b)?;
        let mut c = here.zeros::<f32>(5000)?;
        add.for_each(5000).on(here).launch(&b, &a, &mut c)?;
        drop(b);
        assert_eq!(c.to_vec()?, vec![3.0 * round as f32 + 1.5; 5000]);
    }
    Ok(())
}

#[test]
fn without_nccl_the_error_says_where_it_was_looked_for() -> Result<()> {
    if !common::in_own_process() {
        let [stdout, stderr] = common::run_again(&[]);
        assert!(
            stdout.contains("test result: ok. 1 passed"),
            "{stdout}{stderr}"
        );
        return Ok(());
    }
    let devices = Devices::all()?;
    if devices[0].is_simulator() {
        return Ok(());
    }
    // SAFETY: no other thread of this process reads the environment: its only test waits here.
    unsafe { std::env::set_var("OXWARP_NCCL", "nowhere/libnccl.so") };
    let mut x = devices.replicate(&[1.0f32])?;
    let error = devices
        .all_reduce(Reduction::Sum, &mut x)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no NCCL") && error.contains("nowhere/libnccl.so"),
        "{error}"
    );
    assert_eq!(x[0].to_vec()?, [1.0]);
    Ok(())
}
