//! Plans: what `launch` would do, with the checks done before.

use oxwarp::prelude::*;
use oxwarp::{Error, Result};

use super::common::Random;
use super::*;

#[test]
fn a_plan_does_what_the_launch_would() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut host = Random::new(1).below(LEN, u32::MAX);
    let mut x = gpu.to_device(&host)?;
    let plan = mix.for_each(LEN).plan(&mut x, 17)?;
    for _ in 0..50 {
        plan.launch()?;
        // Between two replays the array is the caller's.
        mix.for_each(LEN).launch(&mut x, 3)?;
        host.iter_mut().for_each(|x| *x = mixed(mixed(*x, 17), 3));
    }
    assert_eq!(x.to_vec()?, host);
    Ok(())
}

#[test]
fn two_plans_pass_two_arrays_to_and_fro() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut host = Random::new(2).floats(LEN, -1.0, 1.0);
    let (mut a, mut b) = (gpu.to_device(&host)?, gpu.zeros::<f32>(LEN)?);
    let there = smooth.for_each(LEN).plan(&a, &mut b)?;
    let back = smooth.for_each(LEN).plan(&b, &mut a)?;
    for _ in 0..10 {
        there.launch()?;
        back.launch()?;
        host = smoothed(&smoothed(&host));
    }
    let device = a.to_vec()?;
    let close = |(x, y): (&f32, &f32)| (x - y).abs() <= 1e-6;
    assert!(device.iter().zip(&host).all(close));
    Ok(())
}

#[test]
fn arguments_shape_and_stream_may_change() -> Result<()> {
    let gpu = Gpu::new()?;
    let other = gpu.new_stream()?;
    let (mut x, mut y) = (gpu.full(LEN, 1u32)?, gpu.full(2 * LEN, 2u32)?);
    let mut plan = mix.for_each(LEN).plan(&mut x, 1)?;
    plan.launch()?;
    plan.set(mix().bind(&mut y, 2))?;
    plan.launch()?;
    // The shape stayed that of `x`.
    let expected = [vec![mixed(2, 2); LEN], vec![2; LEN]].concat();
    assert_eq!(y.to_vec()?, expected);
    plan.set(mix.for_each(2 * LEN).on(&other).bind(&mut y, 3))?;
    assert_eq!(format!("{:?}", plan.stream()), format!("{other:?}"));
    plan.launch()?;
    let expected: Vec<_> = expected.into_iter().map(|y| mixed(y, 3)).collect();
    assert_eq!(y.to_vec()?, expected);
    assert_eq!(x.to_vec()?, vec![mixed(1, 1); LEN]);
    Ok(())
}

#[test]
fn closures_generics_and_launches_without_arguments_or_items() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut x = gpu.full(LEN, 1.5f64)?;
    let factor = 3.0;
    let plan = map.for_each(LEN).plan(move |x: f64| x * factor, &mut x)?;
    plan.launch()?;
    plan.launch()?;
    assert_eq!(x.to_vec()?, vec![13.5; LEN]);
    let plan = nothing.grid(3).block(32).on(&gpu).plan()?;
    plan.launch()?;
    let mut none = gpu.zeros::<u32>(0)?;
    let mut plan = mix.for_each(0).plan(&mut none, 1)?;
    plan.launch()?;
    let mut some = gpu.full(5, 1u32)?;
    plan.set(mix.for_each(5).bind(&mut some, 1))?;
    plan.launch()?;
    assert_eq!(some.to_vec()?, [mixed(1, 1); 5]);
    Ok(())
}

#[test]
fn an_array_may_end_before_its_plan() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut sum = gpu.zeros::<u32>(LEN)?;
    let x = gpu.full(LEN, 5u32)?;
    let plan = slow_add.for_each(LEN).plan(&x, &mut sum, 0)?;
    drop(x);
    for _ in 0..20 {
        // Would have the memory of `x`, were it free.
        let _other = gpu.full(LEN, 1000u32)?;
        plan.launch()?;
    }
    assert_eq!(sum.to_vec()?, vec![100; LEN]);
    drop(sum);
    plan.launch()?;
    gpu.synchronize()
}

#[test]
fn replays_on_several_streams_are_in_order() -> Result<()> {
    let gpu = Gpu::new()?;
    let rounds = rounds(&gpu);
    let streams = [gpu.new_stream()?, gpu.new_stream()?, gpu.new_stream()?];
    let mut random = Random::new(3);
    let mut host = [random.below(LEN, 1 << 20), random.below(LEN, 1 << 20)];
    let mut device = [gpu.to_device(&host[0])?, gpu.to_device(&host[1])?];
    let [x, y] = &mut device;
    let mut plans = Vec::new();
    for stream in &streams {
        plans.push(
            slow_add
                .for_each(LEN)
                .on(stream)
                .plan(&*x, &mut *y, rounds)?,
        );
        plans.push(
            slow_add
                .for_each(LEN)
                .on(stream)
                .plan(&*y, &mut *x, rounds)?,
        );
    }
    for _ in 0..60 {
        let which = random.bits() as usize % plans.len();
        plans[which].launch()?;
        let [x, y] = &mut host;
        let (from, to) = if which.is_multiple_of(2) {
            (x, y)
        } else {
            (y, x)
        };
        for (from, to) in from.iter().zip(to) {
            *to = slowly_added(*from, *to, rounds);
        }
    }
    assert_eq!([device[0].to_vec()?, device[1].to_vec()?], host);
    Ok(())
}

#[test]
fn threads_replay_plans_of_one_array_while_others_read_it() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut x = gpu.full(LEN, [0u32; 4])?;
    let streams: Vec<_> = (0..4).map(|_| gpu.new_stream()).collect::<Result<_>>()?;
    let mut plans = Vec::new();
    for stream in &streams {
        let count = |[a, b, c, d]: [u32; 4]| [a + 1, b + 1, c + 1, d + 1];
        plans.push(map.for_each(LEN).on(stream).plan(count, &mut x)?);
    }
    std::thread::scope(|scope| {
        for plan in &plans {
            scope.spawn(|| {
                for _ in 0..25 {
                    plan.launch().unwrap();
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let read = x.to_vec().unwrap();
                    // A copy while a kernel writes would be torn.
                    assert!(read.iter().all(|&element| element == [read[0][0]; 4]));
                }
            });
        }
    });
    assert_eq!(x.to_vec()?, vec![[100; 4]; LEN]);
    Ok(())
}

#[test]
fn a_panic_of_a_replay_is_the_error_of_the_next_wait() -> Result<()> {
    let gpu = Gpu::new()?;
    let (short, long) = (gpu.full(8, 1u32)?, gpu.full(9, 1u32)?);
    let mut y = gpu.zeros::<u32>(9)?;
    let mut plan = slow_add.for_each(9).plan(&short, &mut y, 0)?;
    plan.launch()?;
    let error = gpu.synchronize().unwrap_err();
    assert!(
        matches!(&error, Error::KernelPanic(panic) if panic.kernel == Some("slow_add")),
        "{error}"
    );
    y.fill(0)?;
    plan.set(slow_add().bind(&long, &mut y, 0))?;
    plan.launch()?;
    assert_eq!(y.to_vec()?, [1; 9]);
    Ok(())
}

#[test]
fn grid_barriers_and_constants_in_plans() -> Result<()> {
    let gpu = Gpu::new()?;
    let (mut x, mut sums) = (gpu.zeros::<u32>(4)?, gpu.zeros::<u32>(1)?);
    let plan = pass_on.grid(4).block(8).plan(&mut x, &mut sums, 3)?;
    plan.launch()?;
    plan.launch()?;
    assert_eq!(x.to_vec()?, [6; 4]);
    let mut y = gpu.zeros::<u32>(LEN)?;
    let plan = add_constant.for_each(LEN).plan(&mut y)?;
    for value in 1..5u32 {
        gpu.set_constant(&STEP, &value)?;
        plan.launch()?;
    }
    assert_eq!(y.to_vec()?, vec![10; LEN]);
    let error = pass_on
        .grid(1 << 20)
        .block(1024)
        .plan(&mut x, &mut sums, 1)
        .unwrap_err();
    assert!(matches!(error, Error::CooperativeGrid { .. }), "{error}");
    Ok(())
}

#[test]
fn what_a_plan_refuses() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut x = gpu.full(8, 1u32)?;
    let error = mix.grid(0).block(32).plan(&mut x, 1).unwrap_err();
    assert!(matches!(error, Error::GridDimension { .. }), "{error}");
    let error = mix().plan(&mut x, 1).unwrap_err();
    assert!(matches!(error, Error::ShapeMissing { .. }), "{error}");
    let mut plan = mix.for_each(8).plan(&mut x, 1)?;
    let error = plan
        .set(add_constant().bind(&mut x))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`mix`") && error.contains("`add_constant`"),
        "{error}"
    );
    let error = plan
        .set(mix.grid(1).block(2000).bind(&mut x, 2))
        .unwrap_err();
    assert!(matches!(error, Error::BlockDimension { .. }), "{error}");
    let mut elsewhere = Gpu::cpu().full(8, 1u32)?;
    let error = mix
        .for_each(8)
        .on(&gpu)
        .plan(&mut elsewhere, 1)
        .unwrap_err();
    assert!(matches!(error, Error::DifferentDevices { .. }), "{error}");
    plan.launch()?;
    assert_eq!(x.to_vec()?, [mixed(1, 1); 8]);
    Ok(())
}
