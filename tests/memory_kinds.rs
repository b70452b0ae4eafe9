//! Memory of every kind, and copies between every layout, on the simulator and on a GPU.

use std::sync::atomic::{AtomicU32, Ordering};

use ndarray::{Array, ArrayD, ArrayViewD, Axis, IxDyn, ShapeBuilder, Slice, array, s};
use oxwarp::prelude::*;
use oxwarp::{
    Error, In, InOut, Location, MemoryAdvice, MemoryKind, Out, PinnedArray, Result, Zeroable,
};

mod common;
use common::{Random, in_own_process, run_again};

/// Takes its time, so that what does not wait for it is seen.
#[kernel]
fn slow_step(mut x: DisjointSlice<u32>, rounds: u32) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        for round in 0..rounds {
            *x = x.rotate_left(5) ^ x.wrapping_mul(0x9e37_79b9).wrapping_add(round);
        }
    }
}

fn step(mut x: u32, rounds: u32) -> u32 {
    for round in 0..rounds {
        x = x.rotate_left(5) ^ x.wrapping_mul(0x9e37_79b9).wrapping_add(round);
    }
    x
}

#[kernel]
fn add(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(c) = c.get_mut(i) {
        *c = a[*i] + b[*i];
    }
}

#[kernel]
fn scale_rows(a: ArrayView2<f32>, by: &[f32], mut out: DisjointSlice<f32, ThreadIndex2d>) {
    let at = thread::index_2d();
    if let Some(out) = out.get_mut(at) {
        *out += a[(at.row(), at.col())] * by[at.row()];
    }
}

#[kernel]
fn count(x: &[u32], bins: &[AtomicU32]) {
    let i = *thread::index_1d();
    if i < x.len() {
        bins[x[i] as usize % bins.len()].fetch_add(1, Ordering::Relaxed);
    }
}

#[kernel]
fn past_the_end(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i + 1];
    }
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
struct Particle {
    kind: u8,
    position: [f32; 3],
    charge: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
enum Shape {
    Point,
    Circle { radius: f32 },
    Box(f32, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
struct Pair<T, const N: usize> {
    first: T,
    rest: [T; N],
}

#[derive(Clone, Copy, DeviceCopy)]
union Bits {
    number: f32,
    bits: u32,
}

#[kernel]
fn areas(shapes: &[Shape], particles: &[Particle], mut out: DisjointSlice<(f32, Option<i64>)>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let area = match shapes[*i] {
        Shape::Point => 0.0,
        Shape::Circle { radius } => 3.0 * radius * radius,
        Shape::Box(width, height) => width * height as f32,
    };
    let particle = particles[*i];
    *out = (
        area + particle.position[2],
        particle.charge.filter(|_| particle.kind == 1),
    );
}

#[kernel]
fn swapped(pairs: &[Pair<u16, 3>], bits: &[Bits], mut out: DisjointSlice<Pair<u16, 3>>) {
    let i = thread::index_1d();
    let Some(out) = out.get_mut(i) else { return };
    let Pair { first, rest } = pairs[*i];
    // SAFETY: all bits are a number.
    let bits = unsafe { bits[*i].bits };
    *out = Pair {
        first: rest[0],
        rest: [rest[1], rest[2], first ^ (bits >> 16) as u16],
    };
}

const KINDS: [MemoryKind; 4] = [
    MemoryKind::Pool,
    MemoryKind::Plain,
    MemoryKind::Mapped,
    MemoryKind::Managed,
];

fn rounds(gpu: &Gpu) -> u32 {
    if gpu.is_simulator() { 8 } else { 20_000 }
}

fn numbers(random: &mut Random, len: usize) -> Vec<u32> {
    (0..len).map(|_| random.bits() as u32).collect()
}

/// An array of random shape and layout: permuted axes, steps, reversed axes, axes of length 0 and 1.
fn random_layout(random: &mut Random, dimensions: usize) -> (ArrayD<u32>, Vec<usize>, Vec<Slice>) {
    let mut below = |end: u64| (random.bits() >> 33) % end;
    let longest = [200, 24, 9, 6, 5, 4][dimensions - 1];
    let shape: Vec<_> = (0..dimensions).map(|_| below(longest) as usize).collect();
    let is_fortran = below(3) == 0;
    let slices: Vec<_> = shape
        .iter()
        .map(|&extent| {
            let start = below(extent as u64 / 2 + 1) as isize;
            let end = (extent as isize - below(extent as u64 / 3 + 1) as isize).max(start);
            let steps = [1, 1, 1, 2, 3, -1, -2];
            Slice::new(start, Some(end), steps[below(7) as usize])
        })
        .collect();
    let mut axes: Vec<_> = (0..dimensions).collect();
    for place in 1..dimensions {
        axes.swap(place, below(place as u64 + 1) as usize);
    }
    let mut next = 0u32;
    let shape = IxDyn(&shape);
    let array = ArrayD::from_shape_simple_fn(shape.set_f(is_fortran), || {
        next += 1;
        next
    });
    (array, axes, slices)
}

fn part<'a>(array: &'a ArrayD<u32>, axes: &[usize], slices: &[Slice]) -> ArrayViewD<'a, u32> {
    let mut part = array.view();
    for (axis, &slice) in slices.iter().enumerate() {
        part.slice_axis_inplace(Axis(axis), slice);
    }
    part.permuted_axes(axes)
}

#[test]
fn every_layout_of_one_to_six_dimensions_goes_there_and_back() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(4);
    for turn in 0..240 {
        let dimensions = turn % 6 + 1;
        let (array, axes, slices) = random_layout(&mut random, dimensions);
        let wanted = part(&array, &axes, &slices);
        // The host's layout.
        let there = gpu.to_device(&wanted)?;
        assert_eq!(there.to_host()?, wanted, "{slices:?} {axes:?}");
        let mut back = ArrayD::zeros(wanted.raw_dim());
        there.copy_to(&mut back)?;
        assert_eq!(back, wanted);
        let mut back = ArrayD::zeros(wanted.raw_dim().set_f(true));
        there.copy_to(&mut back)?;
        assert_eq!(back, wanted);
        // The device's.
        let mut whole = gpu.to_device(&array)?;
        let info = slices.iter().map(|&slice| slice.into()).collect::<Vec<_>>();
        let view = whole.view().slice(&info[..]).permuted_axes(&axes[..]);
        assert_eq!(view.to_host()?, wanted, "{view:?}");
        assert_eq!(view.copy()?.to_host()?, wanted, "{view:?}");
        // And written.
        let new = wanted.mapv(|x| x + 1_000_000);
        let mut expected = array.clone();
        {
            let mut part = expected.view_mut();
            for (axis, &slice) in slices.iter().enumerate() {
                part.slice_axis_inplace(Axis(axis), slice);
            }
            part.permuted_axes(&axes[..]).assign(&new);
        }
        let mut view = whole.view_mut().slice(&info[..]).permuted_axes(&axes[..]);
        view.copy_from(&new)?;
        assert_eq!(whole.to_host()?, expected);
        let mut view = whole.view_mut().slice(&info[..]).permuted_axes(&axes[..]);
        view.fill(7)?;
        let sevens = whole.to_vec()?.iter().filter(|&&x| x == 7).count();
        let others = expected.iter().filter(|&&x| x == 7).count();
        assert!((wanted.len()..=wanted.len() + others).contains(&sevens));
    }
    Ok(())
}

#[test]
fn large_arrays_of_other_layouts_pass_through_the_staging_memory() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(5);
    let (rows, cols) = (1537, 1031);
    let c = Array::from_shape_vec((rows, cols), numbers(&mut random, rows * cols)).unwrap();
    let mut f = Array::zeros((rows, cols).f());
    f.assign(&c);
    assert_eq!(gpu.to_device(&f)?.to_host()?, c);
    assert_eq!(gpu.to_device(&f.t())?.view().t().to_host()?, c);
    let part = c.slice(s![3.., ..;-1]);
    assert_eq!(gpu.to_device(&part)?.to_host()?, part);
    let part = c.slice(s![..;2, 5..900]);
    assert_eq!(gpu.to_device(&part)?.to_host()?, part);
    let there = gpu.to_device(&c)?;
    assert_eq!(there.view().slice(s![..;2, 5..900]).to_host()?, part);
    assert_eq!(
        there.view().slice(s![..;2, 5..900]).copy()?.to_host()?,
        part
    );
    assert_eq!(there.view().t().copy()?.to_host()?, c.t());
    Ok(())
}

#[test]
fn types_of_ones_own_are_elements() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(6);
    let len = 1000;
    let mut float = || random.between(-2.0, 2.0) as f32;
    let shapes: Vec<_> = (0..len)
        .map(|i| match i % 3 {
            0 => Shape::Point,
            1 => Shape::Circle { radius: float() },
            _ => Shape::Box(float(), f64::from(float())),
        })
        .collect();
    let particles: Vec<_> = (0..len)
        .map(|i| Particle {
            kind: (i % 2) as u8,
            position: [float(), float(), float()],
            charge: (i % 5 > 0).then_some(i as i64 - 500),
        })
        .collect();
    let (there, other) = (gpu.to_device(&shapes)?, gpu.to_device(&particles)?);
    assert_eq!(
        (there.to_vec()?, other.to_vec()?),
        (shapes.clone(), particles.clone())
    );
    let mut out = gpu.full(len, (0f32, None))?;
    areas.for_each(len).launch(&there, &other, &mut out)?;
    for (i, (area, charge)) in out.to_vec()?.into_iter().enumerate() {
        let expected = match shapes[i] {
            Shape::Point => 0.0,
            Shape::Circle { radius } => 3.0 * radius * radius,
            Shape::Box(width, height) => width * height as f32,
        } + particles[i].position[2];
        assert!(
            (area - expected).abs() <= 1e-5 * expected.abs().max(1.0),
            "{i}"
        );
        assert_eq!(charge, particles[i].charge.filter(|_| i % 2 == 1));
    }
    let pairs: Vec<_> = (0..len as u16)
        .map(|i| Pair {
            first: i,
            rest: [i + 1, i + 2, i + 3],
        })
        .collect();
    let bits: Vec<_> = (0..len).map(|i| Bits { number: i as f32 }).collect();
    let mut out = gpu.to_device(&pairs)?.copy()?;
    let (pairs, bits) = (gpu.to_device(&pairs)?, gpu.to_device(&bits)?);
    swapped.for_each(len).launch(&pairs, &bits, &mut out)?;
    for (i, pair) in (0..len as u16).zip(out.to_vec()?) {
        let high = (f32::from(i).to_bits() >> 16) as u16;
        assert_eq!(
            pair,
            Pair {
                first: i + 1,
                rest: [i + 2, i + 3, i ^ high]
            }
        );
    }
    Ok(())
}

#[test]
fn host_data_is_an_argument_and_comes_back() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(7);
    let (a, b) = (random.floats(400, -1.0, 1.0), random.floats(400, -1.0, 1.0));
    let mut c = vec![9.0f32; 400];
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    add.grid(1)
        .block(400)
        .on(&gpu)
        .launch(In(&a), In(&b), Out(&mut c))?;
    assert_eq!(c, expected);
    // Beside device arrays, which say where, in any place; and what is not written is zero.
    let there = gpu.to_device(&b)?;
    let mut c = [9.0f32; 500];
    let launched = add
        .grid(1)
        .block(100)
        .launch(In(&a[..]), &there, Out(&mut c[50..450]));
    launched?;
    assert_eq!((c[49], c[450]), (9.0, 9.0));
    assert_eq!(c[50..150], expected[..100]);
    assert_eq!(c[150..450], [0.0; 300]);
    // Arrays of several dimensions and any layout, and pinned ones.
    let m = Array::from_shape_vec((20, 20), a.clone()).unwrap();
    let by = gpu.to_pinned(&b[..20])?;
    let mut out = Array::from_elem((20, 20).f(), 0.5f32);
    scale_rows
        .for_each((20, 20))
        .on(&gpu)
        .launch(In(&m.t()), In(&by), InOut(&mut out))?;
    for ((row, col), &x) in out.indexed_iter() {
        assert!((x - (0.5 + m[(col, row)] * b[row])).abs() < 1e-6);
    }
    let (x, mut bins) = (numbers(&mut random, 3000), [0u32; 7]);
    count
        .for_each(x.len())
        .on(&gpu)
        .launch(In(&x), InOut(&mut bins))?;
    for (bin, &found) in bins.iter().enumerate() {
        assert_eq!(
            found as usize,
            x.iter().filter(|&&x| x as usize % 7 == bin).count()
        );
    }
    // Without an array to say where, the process's device.
    let mut c = vec![0f32; 400];
    add.for_each(400).launch(In(&a), In(&b), Out(&mut c))?;
    assert_eq!(c, expected);
    Ok(())
}

#[test]
fn a_failing_launch_leaves_host_data_as_it_was() -> Result<()> {
    let gpu = Gpu::new()?;
    let x: Vec<u32> = (0..64).collect();
    let mut y = vec![5u32; 64];
    let error = past_the_end
        .for_each(64)
        .on(&gpu)
        .launch(In(&x), InOut(&mut y))
        .unwrap_err();
    assert!(matches!(error, Error::KernelPanic(_)), "{error}");
    assert_eq!(y, [5; 64]);
    let one = Gpu::cpu();
    let there = one.to_device(&x)?;
    let error = past_the_end
        .for_each(64)
        .on(Gpu::cpu())
        .launch(&there, Out(&mut y))
        .unwrap_err();
    assert!(matches!(error, Error::DifferentDevices { .. }), "{error}");
    past_the_end
        .for_each(63)
        .on(&gpu)
        .launch(In(&x), Out(&mut y[..63]))?;
    assert_eq!(y[..3], [1, 2, 3]);
    Ok(())
}

#[test]
fn what_runs_again_takes_no_host_data() -> Result<()> {
    let gpu = Gpu::new()?;
    let (a, mut c) = (vec![1f32; 4], vec![2f32; 4]);
    let bound = add.for_each(4).on(&gpu).bind(In(&a), In(&a), Out(&mut c));
    let error = bound.plan().unwrap_err();
    assert!(matches!(error, Error::HostDataInPlan), "{error}");
    assert_eq!(c, [2.0; 4]);
    Ok(())
}

#[test]
fn a_source_may_change_as_soon_as_the_copy_returns() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(8);
    let part = (512 << 10) / 4;
    let lens = [
        1,
        3,
        1000,
        part - 1,
        part,
        part + 1,
        4 * part,
        4 * part + 1,
        11 * part,
    ];
    let mut slow = gpu.to_device(&numbers(&mut random, 1 << 12))?;
    for pinned in [false, true] {
        let mut arrays = Vec::new();
        for len in lens {
            slow_step
                .for_each(slow.len())
                .launch(&mut slow, rounds(&gpu))?;
            let wanted = numbers(&mut random, len);
            let there = if pinned {
                let mut source = gpu.to_pinned(&wanted)?;
                let there = gpu.to_device(&source)?;
                source.fill(0);
                there
            } else {
                let mut source = wanted.clone();
                let there = gpu.to_device(&source)?;
                source.fill(0);
                there
            };
            arrays.push((there, wanted));
        }
        for (there, wanted) in arrays {
            assert!(there.to_vec()? == wanted, "{} elements", wanted.len());
        }
    }
    Ok(())
}

#[test]
fn a_copy_owns_its_buffer_until_it_is_done() -> Result<()> {
    let gpu = Gpu::new()?;
    let copies = gpu.new_stream()?;
    let mut random = Random::new(9);
    let len = 1 << 20;
    let wanted = numbers(&mut random, len);
    let mut slow = copies.gpu().to_device(&numbers(&mut random, 1 << 12))?;
    let mut x = copies.gpu().zeros::<u32>(len)?;
    let mut busy = |rounds| slow_step.for_each(1 << 12).launch(&mut slow, rounds);
    // Up and down, behind a kernel; the launch on the other stream waits by itself.
    busy(rounds(&gpu))?;
    let up = x.copy_from_async(gpu.to_pinned(&wanted)?)?;
    slow_step.for_each(len).on(&gpu).launch(&mut x, 3)?;
    let down = x.copy_to_async(gpu.pinned(len)?)?;
    assert_eq!(up.wait()?[..], wanted);
    let stepped: Vec<u32> = wanted.iter().map(|&x| step(x, 3)).collect();
    assert!(down.wait()?[..] == stepped);
    // Dropped at once: the copy is done all the same.
    busy(rounds(&gpu))?;
    drop(x.copy_from_async(gpu.to_pinned(&wanted)?)?);
    assert!(x.to_vec()? == wanted);
    // The array goes first.
    busy(rounds(&gpu))?;
    let down = x.copy_to_async(gpu.pinned(len)?)?;
    drop(x);
    assert!(down.wait()?[..] == wanted);
    // Forgotten: the buffer stays.
    let mut x = copies.gpu().zeros::<u32>(len)?;
    busy(rounds(&gpu))?;
    std::mem::forget(x.copy_from_async(gpu.to_pinned(&wanted)?)?);
    assert!(x.to_vec()? == wanted);
    // Dropped where a wait is an error: the copy is waited for all the same.
    busy(rounds(&gpu))?;
    let mut copy = Some(x.copy_from_async(gpu.to_pinned(&wanted)?)?);
    let captured = copies.capture(|_| match copy.take() {
        Some(copy) => copy.wait().map(drop),
        None => Ok(()),
    });
    assert!(captured.is_err());
    assert!(x.to_vec()? == wanted);
    let nothing = copies
        .gpu()
        .zeros::<u32>(0)?
        .copy_to_async(gpu.pinned(0)?)?;
    assert!(nothing.wait()?.is_empty());
    Ok(())
}

#[test]
fn copies_of_a_wrong_length_are_refused() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut x = gpu.full(3, 1u32)?;
    let text = |error: Error| error.to_string();
    let error = text(x.copy_from_async(gpu.pinned(4)?).unwrap_err());
    assert!(
        error.contains("4 elements into a device array of 3"),
        "{error}"
    );
    let error = text(x.copy_to(&mut [0; 2]).unwrap_err());
    assert!(error.contains("3 elements into 2"), "{error}");
    let error = text(x.view_mut().copy_from(&[1]).unwrap_err());
    assert!(
        error.contains("1 elements into a device array of 3"),
        "{error}"
    );
    let error = text(x.copy_from_device(&gpu.full(5, 0)?).unwrap_err());
    assert!(error.contains("shape [5] into shape [3]"), "{error}");
    let m = gpu.zeros_nd::<u32, _>((2, 3))?;
    let error = text(m.view().t().into_shape(6).unwrap_err());
    assert!(
        error.contains("strides [1, 3]") && error.contains("[6]"),
        "{error}"
    );
    assert_eq!(x.to_vec()?, [1; 3]);
    Ok(())
}

#[test]
fn every_kind_of_memory_is_an_argument_and_is_copied() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut random = Random::new(10);
    for kind in KINDS {
        let gpu = gpu.with_memory(kind);
        assert_eq!(gpu.memory_kind(), kind);
        for len in [1, 15, 400, 100_001] {
            let (a, b) = (random.floats(len, -1.0, 1.0), random.floats(len, -1.0, 1.0));
            let (x, y) = (gpu.to_device(&a)?, gpu.to_device(&b)?);
            let mut z = gpu.zeros::<f32>(len)?;
            assert_eq!([x.device_ptr() % 256, z.device_ptr() % 256], [0, 0]);
            add.for_each(len).launch(&x, &y, &mut z)?;
            let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
            assert_eq!(z.to_vec()?, expected, "{kind:?}");
            z.copy_from(&a)?;
            assert_eq!(z.copy_on(&gpu.with_memory(MemoryKind::Pool))?.to_vec()?, a);
            z.fill(0.1)?;
            assert_eq!(z.to_vec()?, vec![0.1; len], "{kind:?}");
            let pair = gpu.full(len, (1u8, 0xdead_beef_u32))?;
            assert_eq!(pair.to_vec()?, vec![(1, 0xdead_beef); len], "{kind:?}");
            assert_eq!(gpu.zeros_like(&z)?.to_vec()?, vec![0.0; len]);
        }
        let m = array![[1u16, 2, 3], [4, 5, 6]];
        let there = gpu.to_device(&m)?;
        assert_eq!(there.view().slice(s![.., 1]).copy()?.to_vec()?, [2, 5]);
        assert_eq!(
            there.view().slice(s![.., ..2]).to_host()?,
            m.slice(s![.., ..2])
        );
        assert!(gpu.zeros::<f32>(0)?.to_vec()?.is_empty());
    }
    Ok(())
}

#[test]
fn the_host_reaches_mapped_and_managed_memory_after_the_device() -> Result<()> {
    let gpu = Gpu::new()?;
    let other = gpu.new_stream()?;
    let start = numbers(&mut Random::new(11), 1 << 12);
    let rounds = rounds(&gpu);
    for kind in [MemoryKind::Mapped, MemoryKind::Managed] {
        let mut x = gpu.with_memory(kind).to_device(&start)?;
        // A write on another stream is waited for.
        slow_step
            .for_each(x.len())
            .on(&other)
            .launch(&mut x, rounds)?;
        let expected: Vec<u32> = start.iter().map(|&x| step(x, rounds)).collect();
        assert_eq!(x.as_host()?.as_slice(), Some(&expected[..]), "{kind:?}");
        // What the host writes, the next launch reads; and it waits for reads before it writes.
        let mut y = gpu.zeros::<u32>(7)?;
        count.for_each(x.len()).on(&other).launch(&x, &mut y)?;
        x.as_host_mut()?.fill(3);
        assert_eq!(y.to_vec()?.iter().sum::<u32>() as usize, x.len());
        slow_step.for_each(x.len()).launch(&mut x, 1)?;
        assert_eq!(x.as_host()?[17], step(3, 1));
        let m = gpu.with_memory(kind).zeros_nd::<u8, _>((3, 4))?;
        assert_eq!(m.as_host()?.dim(), (3, 4));
    }
    // A panic comes out of the wait.
    let mut x = gpu.with_memory(MemoryKind::Mapped).to_device(&start)?;
    past_the_end
        .for_each(start.len())
        .launch(&gpu.to_device(&start)?, &mut x)?;
    assert!(matches!(x.as_host().unwrap_err(), Error::KernelPanic(_)));
    x.as_host_mut()?[0] = 1;
    assert_eq!(x.as_host()?[0], 1);
    Ok(())
}

#[test]
fn only_some_kinds_are_the_hosts() -> Result<()> {
    let gpu = Gpu::new()?;
    for kind in KINDS {
        let mut x = gpu.with_memory(kind).zeros::<f32>(10)?;
        let is_on_host = matches!(kind, MemoryKind::Mapped | MemoryKind::Managed);
        assert_eq!(
            (x.as_host().is_ok(), x.as_host_mut().is_ok()),
            (is_on_host, is_on_host)
        );
        let managed = kind == MemoryKind::Managed;
        for to in [Location::Host, Location::Device] {
            assert_eq!(x.prefetch(to).is_ok(), managed);
            let advice = [
                MemoryAdvice::ReadMostly(true),
                MemoryAdvice::ReadMostly(false),
                MemoryAdvice::PreferredLocation(Some(to)),
                MemoryAdvice::PreferredLocation(None),
                MemoryAdvice::AccessedBy(to, true),
                MemoryAdvice::AccessedBy(to, false),
            ];
            for advice in advice {
                assert_eq!(x.advise(advice).is_ok(), managed, "{kind:?} {advice:?}");
            }
        }
        if let Err(error) = x.as_host() {
            let text = error.to_string();
            assert!(
                text.contains(&format!("{kind:?}")) && text.contains("Managed"),
                "{text}"
            );
        }
    }
    Ok(())
}

#[test]
fn too_much_memory_of_any_kind_is_an_error_with_the_numbers() -> Result<()> {
    let gpu = Gpu::new()?;
    let check = |result: Result<()>| match result.unwrap_err() {
        Error::OutOfMemory {
            wanted,
            free,
            total,
            ..
        } => {
            assert!(
                wanted >= 1 << 50 && free <= total && total < wanted,
                "{wanted} {free} {total}"
            );
        }
        other => panic!("{other}"),
    };
    for kind in KINDS {
        let of_kind = gpu.with_memory(kind);
        let kept = of_kind.full(100, 5u32)?;
        check(of_kind.zeros::<u64>(1 << 47).map(drop));
        assert_eq!(kept.to_vec()?, [5; 100], "{kind:?}");
        assert_eq!(of_kind.full(1000, 6u32)?.to_vec()?, [6; 1000], "{kind:?}");
    }
    check(gpu.pinned::<u64>(1 << 47).map(drop));
    assert_eq!(gpu.to_pinned(&[1, 2])?[..], [1, 2]);
    let error = gpu.pinned::<u64>(usize::MAX / 2).map(drop).unwrap_err();
    assert!(matches!(error, Error::ArrayTooLarge { .. }), "{error}");
    Ok(())
}

#[test]
fn copies_go_between_streams_and_devices() -> Result<()> {
    let gpu = Gpu::new()?;
    let other = gpu.new_stream()?;
    let simulator = Gpu::cpu();
    let mut random = Random::new(12);
    let m = Array::from_shape_vec((60, 70), numbers(&mut random, 4200)).unwrap();
    let mut x = gpu.to_device(&m)?;
    slow_step.for_each(4200).launch(&mut x, rounds(&gpu))?;
    let stepped = m.mapv(|x| step(x, rounds(&gpu)));
    let mut targets = vec![gpu.clone(), other.gpu(), simulator.clone()];
    // Where there is a second GPU.
    targets.extend(Gpu::cuda(1).ok().filter(|_| !gpu.is_simulator()));
    for target in &targets {
        let there = x.copy_on(target)?;
        assert_eq!(there.to_host()?, stepped);
        // And back, behind what the other device does.
        let mut there = there.copy()?;
        slow_step.for_each(4200).launch(&mut there, 2)?;
        let mut back = gpu.zeros_like(&there)?;
        back.copy_from_device(&there)?;
        drop(there);
        assert_eq!(back.to_host()?, stepped.mapv(|x| step(x, 2)));
        let part = x.view().slice(s![3..;2, ..50]).t();
        let mut there = target.zeros_nd::<u32, _>((50, 70))?;
        let mut place = there.view_mut().slice(s![.., ..29]);
        place.copy_from_device(part)?;
        let there = there.to_host()?;
        assert_eq!(
            there.slice(s![.., ..29]),
            stepped.slice(s![3..;2, ..50]).t()
        );
        assert!(there.slice(s![.., 29..]).iter().all(|&x| x == 0));
    }
    let back = simulator.to_device(&m)?;
    x.copy_from_device(&back)?;
    assert_eq!(x.to_host()?, m);
    Ok(())
}

#[test]
fn parts_of_an_array_are_arguments_of_one_launch() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut m = gpu.to_device(&Array::from_shape_fn((6, 100), |(i, j)| {
        (i * 100 + j) as f32
    }))?;
    let (mut above, below) = m.view_mut().split_at(Axis(0), 2);
    {
        let (first, second) = below.split_at(Axis(0), 2);
        let out = above.reborrow().into_shape(200)?;
        let (first, second) = (
            first.as_view().into_shape(200)?,
            second.as_view().into_shape(200)?,
        );
        add.for_each(200).launch(first, second, out)?;
    }
    above.index_axis(Axis(0), 1).fill(-1.0)?;
    let back = m.to_host()?;
    assert_eq!(back[(0, 7)], 207.0 + 407.0);
    assert_eq!((back[(1, 7)], back[(2, 7)]), (-1.0, 207.0));
    for (number, row) in m.view_mut().axis_iter(Axis(0)).enumerate() {
        let (a, b) = (gpu.full(100, number as f32)?, gpu.full(100, 0.5f32)?);
        add.for_each(100).launch(&a, &b, row)?;
    }
    for (number, mut chunk) in m.view_mut().axis_chunks(Axis(1), 30).enumerate() {
        assert_eq!(chunk.dim(), (6, [30, 30, 30, 10][number]));
        chunk.reborrow().slice(s![0, ..]).fill(number as f32)?;
    }
    let back = m.to_host()?;
    assert_eq!(
        (back[(0, 29)], back[(0, 30)], back[(0, 99)]),
        (0.0, 1.0, 3.0)
    );
    assert_eq!((back[(1, 0)], back[(5, 99)]), (1.5, 5.5));
    let rows: Vec<_> = m
        .view()
        .axis_iter(Axis(0))
        .map(|row| row.to_host().unwrap()[50])
        .collect();
    assert_eq!(rows, [1.0, 1.5, 2.5, 3.5, 4.5, 5.5]);
    assert_eq!(m.view().insert_axis(Axis(1)).dim(), (6, 1, 100));
    Ok(())
}

#[test]
fn what_the_pool_holds_is_told_and_given_back() -> Result<()> {
    if !in_own_process() {
        // The pool is that of the process, which other tests use.
        let [stdout, stderr] = run_again(&[]);
        assert!(stdout.contains("1 passed"), "{stdout}{stderr}");
        return Ok(());
    }
    let gpu = Gpu::new()?;
    gpu.synchronize()?;
    let before = gpu.pool_usage()?;
    let mut random = Random::new(13);
    let mut arrays = Vec::new();
    let mut wanted = 0;
    for _ in 0..2000 {
        let bytes = 4096 + (random.bits() >> 40) as usize % (64 << 10);
        wanted += bytes as u64;
        arrays.push(gpu.zeros::<u8>(bytes)?);
    }
    let full = gpu.pool_usage()?;
    let used = full.used - before.used;
    assert!(
        used >= wanted && used <= wanted + wanted / 8,
        "{used} for {wanted}"
    );
    assert!(full.reserved >= full.used && full.used_peak >= full.used);
    // Other kinds do not come from it.
    let plain = gpu.with_memory(MemoryKind::Plain).zeros::<u8>(1 << 20)?;
    assert_eq!(gpu.pool_usage()?.used, full.used);
    drop(plain);
    arrays.truncate(1000);
    gpu.synchronize()?;
    assert!(gpu.pool_usage()?.used < full.used);
    drop(arrays);
    gpu.trim_pool(0)?;
    let after = gpu.pool_usage()?;
    assert_eq!((after.used, after.used_peak), (before.used, full.used_peak));
    assert!(after.reserved <= full.reserved);
    gpu.reset_pool_peaks()?;
    assert_eq!(gpu.pool_usage()?.used_peak, after.used);
    Ok(())
}

#[test]
fn pinned_arrays_are_slices() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut x = gpu.pinned::<u32>(10)?;
    assert_eq!(x[..], [0; 10]);
    x[3..6].copy_from_slice(&[1, 2, 3]);
    assert_eq!(gpu.to_device(&x)?.to_vec()?, x.to_vec());
    let there = gpu.full(10, 8u32)?;
    there.copy_to(&mut x)?;
    assert_eq!(x[..], [8; 10]);
    let f = array![[1.5f64, 2.5], [3.5, 4.5]].reversed_axes();
    assert_eq!(gpu.to_pinned(&f)?[..], [1.5, 3.5, 2.5, 4.5]);
    let empty: PinnedArray<()> = gpu.pinned(4)?;
    assert_eq!(empty.len(), 4);
    assert_eq!(u32::zeroed(), gpu.pinned::<u32>(1)?[0]);
    // They go to other threads, and outlive their handle.
    let sent = std::thread::spawn(move || x.iter().sum::<u32>());
    assert_eq!(sent.join().unwrap(), 80);
    let last = Gpu::new()?.to_pinned(&[1u8, 2])?;
    assert_eq!(last[..], [1, 2]);
    for kind in KINDS {
        let last = Gpu::new()?.with_memory(kind).to_device(&[3u8, 4])?;
        assert_eq!(last.to_vec()?, [3, 4]);
    }
    Ok(())
}
