//! Streams and events: what is used on two streams is used in the order of the calls.

use std::sync::Barrier;

use oxwarp::prelude::*;
use oxwarp::{Error, Result, Stream};

mod common;
use common::Random;

/// Takes its time, so that what overtakes it is seen.
#[kernel]
fn slow_step(mut x: DisjointSlice<u32>, rounds: u32) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        for round in 0..rounds {
            *x = x.rotate_left(5) ^ x.wrapping_mul(0x9e37_79b9).wrapping_add(round);
        }
    }
}

#[kernel]
fn add_one(mut x: DisjointSlice<u32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x += 1;
    }
}

#[kernel]
fn add_to(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = y.wrapping_add(x[*i]);
    }
}

#[kernel]
fn nothing() {}

fn step(mut x: u32, rounds: u32) -> u32 {
    for round in 0..rounds {
        x = x.rotate_left(5) ^ x.wrapping_mul(0x9e37_79b9).wrapping_add(round);
    }
    x
}

const LEN: usize = 1 << 12;

fn numbers(random: &mut Random, len: usize) -> Vec<u32> {
    (0..len).map(|_| random.bits() as u32).collect()
}

fn rounds(gpu: &Gpu) -> u32 {
    if gpu.is_simulator() { 8 } else { 2000 }
}

fn streams(gpu: &Gpu, count: usize) -> Vec<Stream> {
    (0..count).map(|_| gpu.new_stream().unwrap()).collect()
}

#[test]
fn writes_and_reads_on_random_streams_keep_their_order() -> Result<()> {
    let gpu = Gpu::new()?;
    let rounds = rounds(&gpu);
    let streams = streams(&gpu, 4);
    let mut random = Random::new(4);
    let pick = |random: &mut Random| &streams[random.bits() as usize % 4];
    let mut host: Vec<_> = (0..6).map(|_| numbers(&mut random, LEN)).collect();
    let mut device = Vec::new();
    for values in &host {
        device.push(pick(&mut random).gpu().to_device(values)?);
    }
    for _ in 0..100 {
        let (from, to) = (random.bits() as usize % 6, random.bits() as usize % 6);
        if from == to {
            slow_step
                .for_each(LEN)
                .on(pick(&mut random))
                .launch(&mut device[to], rounds)?;
            host[to].iter_mut().for_each(|x| *x = step(*x, rounds));
        } else {
            let [x, y] = device.get_disjoint_mut([from, to]).unwrap();
            add_to.for_each(LEN).on(pick(&mut random)).launch(&*x, y)?;
            let [x, y] = host.get_disjoint_mut([from, to]).unwrap();
            y.iter_mut()
                .zip(x)
                .for_each(|(y, x)| *y = y.wrapping_add(*x));
        }
    }
    for (device, host) in device.iter().zip(&host) {
        assert_eq!(&device.to_vec()?, host);
    }
    Ok(())
}

#[test]
fn an_array_may_be_dropped_while_another_stream_uses_it() -> Result<()> {
    let gpu = Gpu::new()?;
    let other = gpu.new_stream()?;
    let rounds = rounds(&gpu);
    let mut sum = gpu.zeros::<u32>(LEN)?;
    for round in 0..20u32 {
        let mut x = gpu.full(LEN, round)?;
        slow_step.for_each(LEN).on(&other).launch(&mut x, rounds)?;
        add_to.for_each(LEN).on(&other).launch(&x, &mut sum)?;
        drop(x);
        // May have the memory of `x`.
        let _other = gpu.full(LEN, u32::MAX)?;
    }
    let expected = (0..20).fold(0, |sum: u32, round| sum.wrapping_add(step(round, rounds)));
    assert_eq!(sum.to_vec()?, vec![expected; LEN]);
    Ok(())
}

#[test]
fn an_event_orders_streams_that_share_no_array() -> Result<()> {
    let gpu = Gpu::new()?;
    let other = gpu.new_stream()?;
    let mut x = gpu.full(LEN, 3u32)?;
    slow_step.for_each(LEN).launch(&mut x, rounds(&gpu))?;
    let stepped = gpu.stream().record()?;
    other.wait(&stepped)?;
    nothing.grid(1).block(1).on(&other).launch()?;
    other.synchronize()?;
    assert!(stepped.is_done()? && gpu.stream().is_done()?);
    Ok(())
}

#[test]
fn time_is_measured_between_events() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut x = gpu.zeros::<u32>(LEN)?;
    let start = gpu.stream().record()?;
    slow_step.for_each(LEN).launch(&mut x, rounds(&gpu))?;
    let end = gpu.stream().record()?;
    let time = end.elapsed_since(&start)?;
    assert!(!time.is_zero() && end.is_done()?);
    assert!(start.elapsed_since(&end)?.is_zero());
    Ok(())
}

#[test]
fn a_panic_comes_out_of_its_own_stream_and_stops_what_follows() -> Result<()> {
    let gpu = Gpu::new()?;
    let [one, two] = [gpu.new_stream()?, gpu.new_stream()?];
    let mut x = gpu.full(8, u32::MAX)?;
    let (short, mut long) = (gpu.zeros::<u32>(8)?, gpu.zeros::<u32>(9)?);
    add_to.for_each(9).on(&one).launch(&short, &mut long)?;
    add_one
        .for_each(8)
        .on(&two)
        .launch(&mut gpu.zeros::<u32>(8)?)?;
    two.synchronize()?;
    // The kernel has ended, and nothing has waited for its stream.
    while !one.is_done()? {}
    let error = slow_step
        .for_each(8)
        .on(&one)
        .launch(&mut x, 1)
        .unwrap_err();
    let Error::KernelPanic(panic) = &error else {
        panic!("{error}")
    };
    assert_eq!(panic.kernel, Some("add_to"));
    assert!(
        panic.message.contains("the len is 8 but the index is 8"),
        "{error}"
    );
    one.synchronize()?;
    slow_step.for_each(8).on(&one).launch(&mut x, 1)?;
    assert_eq!(x.to_vec()?, vec![step(u32::MAX, 1); 8]);
    Ok(())
}

#[test]
fn sixty_four_threads_launch_at_once_and_one_fails() -> Result<()> {
    let gpu = Gpu::new()?;
    let start = Barrier::new(64);
    std::thread::scope(|scope| {
        for number in 0..64u32 {
            let (gpu, start) = (&gpu, &start);
            scope.spawn(move || -> Result<()> {
                let stream = gpu.new_stream()?;
                let mut x = stream.gpu().full(1000, number)?;
                let y = stream
                    .gpu()
                    .full(if number == 17 { 999 } else { 1000 }, 1u32)?;
                start.wait();
                for _ in 0..20 {
                    add_one.for_each(1000).launch(&mut x)?;
                }
                add_to.for_each(1000).launch(&y, &mut x)?;
                match stream.synchronize() {
                    Ok(()) => assert_ne!(number, 17),
                    Err(error) => {
                        assert!(number == 17 && error.to_string().contains("999"), "{error}")
                    }
                }
                let expected = if number == 17 {
                    None
                } else {
                    Some(number + 21)
                };
                assert!(expected.is_none_or(|value| x.to_vec().unwrap() == vec![value; 1000]));
                Ok(())
            });
        }
    });
    Ok(())
}

#[test]
fn priorities_are_checked() -> Result<()> {
    let gpu = Gpu::new()?;
    let allowed = gpu.stream_priorities()?;
    for priority in allowed.clone() {
        assert_eq!(gpu.new_stream_with_priority(priority)?.priority(), priority);
    }
    let error = gpu
        .new_stream_with_priority(allowed.end() + 1)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("priority 1") && error.contains("to 0"),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_constant_is_that_of_the_launch_on_every_stream() -> Result<()> {
    let gpu = Gpu::new()?;
    let streams = streams(&gpu, 3);
    let mut x = gpu.zeros::<u32>(3)?;
    for value in 1..10u32 {
        gpu.set_constant(&STEP, &value)?;
        add_constant
            .for_each(3)
            .on(&streams[value as usize % 3])
            .launch(&mut x)?;
    }
    assert_eq!(x.to_vec()?, [45; 3]);
    // A handle of its own has values of its own.
    let other = Gpu::new()?;
    let mut x = other.zeros::<u32>(3)?;
    add_constant.for_each(3).launch(&mut x)?;
    assert_eq!(x.to_vec()?, [1000; 3]);
    Ok(())
}

constant! {
    static STEP: u32 = 1000;
}

#[kernel]
fn add_constant(mut x: DisjointSlice<u32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x += *STEP;
    }
}
