//! Graphs: captured from what a closure queues, and built node by node.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use oxwarp::prelude::*;
use oxwarp::{Error, GraphBuilder, MemoryKind, Result};

use super::common::{Random, printed};
use super::*;

#[test]
fn a_capture_runs_nothing_and_a_launch_runs_all_of_it_in_order() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut host = Random::new(1).below(LEN, u32::MAX);
    let mut x = gpu.to_device(&host)?;
    let plan = mix.for_each(LEN).plan(&mut x, 5)?;
    let graph = gpu.stream().capture(|_| {
        for by in 0..20 {
            mix.for_each(LEN).launch(&mut x, by)?;
        }
        plan.launch()
    })?;
    assert_eq!(graph.len(), 21);
    assert_eq!(x.to_vec()?, host);
    for _ in 0..30 {
        graph.launch()?;
        for x in &mut host {
            *x = mixed((0..20).fold(*x, mixed), 5);
        }
    }
    assert_eq!(x.to_vec()?, host);
    Ok(())
}

#[test]
fn two_arrays_pass_to_and_fro_in_one_graph() -> Result<()> {
    let gpu = Gpu::new()?;
    let stream = gpu.new_stream()?;
    let mut host = Random::new(2).floats(LEN, -1.0, 1.0);
    let (mut a, mut b) = (gpu.to_device(&host)?, gpu.zeros::<f32>(LEN)?);
    let graph = stream.capture(|stream| {
        smooth.for_each(LEN).on(stream).launch(&a, &mut b)?;
        smooth.for_each(LEN).on(stream).launch(&b, &mut a)
    })?;
    for _ in 0..10 {
        graph.launch()?;
        host = smoothed(&smoothed(&host));
    }
    let device = a.to_vec()?;
    let close = |(x, y): (&f32, &f32)| (x - y).abs() <= 1e-6;
    assert!(device.iter().zip(&host).all(close));
    Ok(())
}

#[test]
fn copies_and_fills_are_captured_with_their_values() -> Result<()> {
    let gpu = Gpu::new()?;
    let (mut x, mut y) = (gpu.zeros::<u32>(LEN)?, gpu.zeros::<[u8; 3]>(50_000)?);
    let graph = gpu.stream().capture(|_| {
        let mut values: Vec<u32> = (0..LEN as u32).collect();
        x.copy_from(&values)?;
        // The graph has the values of before.
        values.fill(0);
        mix.for_each(LEN).launch(&mut x, 1)?;
        y.fill([1, 2, 3])
    })?;
    for _ in 0..3 {
        x.fill(77)?;
        y.fill([9; 3])?;
        graph.launch()?;
        let expected: Vec<_> = (0..LEN as u32).map(|x| mixed(x, 1)).collect();
        assert_eq!(x.to_vec()?, expected);
        assert_eq!(y.to_vec()?, vec![[1, 2, 3]; 50_000]);
    }
    Ok(())
}

#[test]
fn arguments_change_between_launches() -> Result<()> {
    let gpu = Gpu::new()?;
    let (mut x, mut y) = (gpu.full(LEN, 1u32)?, gpu.full(LEN, 2u32)?);
    let mut graph = gpu.stream().capture(|_| {
        mix.for_each(LEN).launch(&mut x, 1)?;
        mix.for_each(LEN).launch(&mut x, 2)
    })?;
    let nodes: Vec<_> = graph.kernels().collect();
    assert_eq!(
        nodes.iter().map(|(_, name)| *name).collect::<Vec<_>>(),
        ["mix", "mix"]
    );
    let mut expected = 1;
    for by in 10..20 {
        graph.set(nodes[0].0, mix().bind(&mut x, by))?;
        graph.launch()?;
        expected = mixed(mixed(expected, by), 2);
    }
    assert_eq!(x.to_vec()?, vec![expected; LEN]);
    graph.set(nodes[0].0, mix().bind(&mut y, 3))?;
    graph.set(nodes[1].0, mix.for_each(256).bind(&mut y, 4))?;
    graph.launch()?;
    assert_eq!(x.to_vec()?, vec![expected; LEN]);
    let (both, one) = (mixed(mixed(2, 3), 4), mixed(2, 3));
    assert_eq!(
        y.to_vec()?,
        [vec![both; 256], vec![one; LEN - 256]].concat()
    );
    Ok(())
}

#[test]
fn arrays_may_end_before_the_graph() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut sum = gpu.zeros::<u32>(LEN)?;
    let x = gpu.full(LEN, 5u32)?;
    let graph = gpu
        .stream()
        .capture(|_| slow_add.for_each(LEN).launch(&x, &mut sum, 0))?;
    drop(x);
    for _ in 0..20 {
        let _other = gpu.full(LEN, 1000u32)?;
        graph.launch()?;
    }
    assert_eq!(sum.to_vec()?, vec![100; LEN]);
    Ok(())
}

#[test]
fn launches_of_graphs_are_in_order_with_other_streams() -> Result<()> {
    let gpu = Gpu::new()?;
    let rounds = rounds(&gpu);
    let (one, two) = (gpu.new_stream()?, gpu.new_stream()?);
    let (mut x, mut y) = (gpu.full(LEN, 1u32)?, gpu.full(LEN, 2u32)?);
    let there = one.capture(|_| slow_add.for_each(LEN).launch(&x, &mut y, rounds))?;
    let back = two.capture(|_| slow_add.for_each(LEN).launch(&y, &mut x, rounds))?;
    let (mut a, mut b) = (1, 2);
    for _ in 0..10 {
        there.launch()?;
        b = slowly_added(a, b, rounds);
        back.launch()?;
        a = slowly_added(b, a, rounds);
        mix.for_each(LEN).launch(&mut x, 1)?;
        a = mixed(a, 1);
    }
    assert_eq!((x.to_vec()?, y.to_vec()?), (vec![a; LEN], vec![b; LEN]));
    Ok(())
}

#[test]
fn streams_inside_a_capture_are_ordered_by_arrays_and_events() -> Result<()> {
    let gpu = Gpu::new()?;
    let rounds = rounds(&gpu);
    let (one, two) = (gpu.new_stream()?, gpu.new_stream()?);
    let (mut x, mut y, z) = (
        gpu.full(LEN, 1u32)?,
        gpu.full(LEN, 2u32)?,
        gpu.full(LEN, 3u32)?,
    );
    let graph = gpu.stream().capture(|_| {
        slow_add.for_each(LEN).on(&one).launch(&z, &mut x, rounds)?;
        slow_add.for_each(LEN).on(&two).launch(&z, &mut y, rounds)?;
        let done = two.record()?;
        one.wait(&done)?;
        slow_add.for_each(LEN).on(&one).launch(&y, &mut x, rounds)
    })?;
    let (mut a, mut b) = (1, 2);
    for _ in 0..5 {
        graph.launch()?;
        a = slowly_added(3, a, rounds);
        b = slowly_added(3, b, rounds);
        a = slowly_added(b, a, rounds);
    }
    assert_eq!((x.to_vec()?, y.to_vec()?), (vec![a; LEN], vec![b; LEN]));
    Ok(())
}

#[test]
fn an_event_of_a_capture_does_not_poison_the_graph() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut x = gpu.full(LEN, 1u32)?;
    let mut event = None;
    let graph = gpu.stream().capture(|stream| {
        mix.for_each(LEN).launch(&mut x, 1)?;
        event = Some(stream.record()?);
        Ok(())
    })?;
    let event = event.unwrap();
    for error in [
        event.synchronize().unwrap_err(),
        event.is_done().map(drop).unwrap_err(),
        gpu.stream().wait(&event).unwrap_err(),
        event
            .elapsed_since(&gpu.stream().record()?)
            .map(drop)
            .unwrap_err(),
    ] {
        assert!(matches!(error, Error::InCapture { .. }), "{error}");
    }
    graph.launch()?;
    graph.launch()?;
    drop(event);
    assert_eq!(x.to_vec()?, vec![mixed(mixed(1, 1), 1); LEN]);
    Ok(())
}

#[test]
fn what_a_capture_refuses_and_that_the_stream_works_after_it() -> Result<()> {
    let gpu = Gpu::new()?;
    let stream = gpu.stream();
    let mut x = gpu.full(8, 1u32)?;
    let before = stream.record()?;
    type Refused<'a> = (&'a str, Box<dyn FnOnce() -> Result<()> + 'a>);
    let refused: [Refused; 8] = [
        ("allocation", Box::new(|| gpu.zeros::<u32>(8).map(drop))),
        ("allocation", Box::new(|| gpu.to_device(&[1u32]).map(drop))),
        ("reading an array", Box::new(|| x.to_vec().map(drop))),
        ("wait for the device", Box::new(|| gpu.synchronize())),
        ("wait for an event", Box::new(|| before.synchronize())),
        ("event from outside", Box::new(|| stream.wait(&before))),
        ("a constant", Box::new(|| gpu.set_constant(&STEP, &1))),
        (
            "another capture",
            Box::new(|| stream.capture(|_| Ok(())).map(drop)),
        ),
    ];
    for (what, work) in refused {
        let error = stream.capture(|_| work()).unwrap_err();
        assert!(matches!(error, Error::InCapture { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
    let error = stream
        .capture(|_| mix.grid(0).block(1).launch(&mut x, 1))
        .unwrap_err();
    assert!(matches!(error, Error::GridDimension { .. }), "{error}");
    let mut elsewhere = Gpu::cpu().full(8, 1u32)?;
    let error = stream
        .capture(|_| mix.for_each(8).launch(&mut elsewhere, 1))
        .unwrap_err();
    assert!(matches!(error, Error::DifferentDevices { .. }), "{error}");
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        stream.capture(|_| {
            mix.for_each(8).launch(&mut x, 1)?;
            panic!("in a capture")
        })
    }));
    assert!(unwound.is_err());
    let graph = stream.capture(|_| Ok(()))?;
    assert!(graph.is_empty());
    graph.launch()?;
    assert_eq!(x.to_vec()?, [1; 8]);
    let mut x = gpu.full(8, 1u32)?;
    mix.for_each(8).launch(&mut x, 1)?;
    assert_eq!(x.to_vec()?, [mixed(1, 1); 8]);
    Ok(())
}

#[test]
fn other_threads_go_on_while_one_captures() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut x = gpu.full(8, 1u32)?;
    let graph = gpu.stream().capture(|_| {
        mix.for_each(8).launch(&mut x, 1)?;
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut y = gpu.full(8, 2u32)?;
                mix.for_each(8).launch(&mut y, 2)?;
                y.to_vec()
            });
            assert_eq!(other.join().unwrap()?, [mixed(2, 2); 8]);
            Ok(())
        })
    })?;
    assert_eq!(x.to_vec()?, [1; 8]);
    graph.launch()?;
    assert_eq!(x.to_vec()?, [mixed(1, 1); 8]);
    Ok(())
}

#[test]
fn a_graph_that_is_built_node_by_node() -> Result<()> {
    let gpu = Gpu::new()?;
    let rounds = rounds(&gpu);
    let (mut x, mut y, mut z) = (
        gpu.zeros::<u32>(LEN)?,
        gpu.zeros::<u32>(LEN)?,
        gpu.zeros::<u32>(LEN)?,
    );
    let calls = Arc::new(AtomicU32::new(0));
    let mut builder = GraphBuilder::new(&gpu);
    let seven = builder.add_fill(&[], &mut x, 7)?;
    let eight = builder.add_fill(&[], &mut y, 8)?;
    let both = builder.add_empty(&[seven, eight])?;
    let added = builder.add_kernel(&[both], slow_add.for_each(LEN).bind(&x, &mut y, rounds))?;
    let counted = calls.clone();
    let called = builder.add_host(&[added], move || {
        counted.fetch_add(1, Ordering::Relaxed);
    })?;
    builder.add_copy(&[called], &y, &mut z)?;
    // It names nothing that it comes after, and comes after the copy.
    builder.add_work(&[], |_| mix.for_each(LEN).launch(&mut y, 1))?;
    let mut graph = builder.instantiate()?;
    for round in 1..4 {
        graph.launch()?;
        let sum = slowly_added(7, 8, rounds);
        assert_eq!(
            (z.to_vec()?, y.to_vec()?),
            (vec![sum; LEN], vec![mixed(sum, 1); LEN])
        );
        assert_eq!(calls.load(Ordering::Relaxed), round);
    }
    graph.set(added, slow_add().bind(&x, &mut y, 0))?;
    graph.launch()?;
    assert_eq!(z.to_vec()?, vec![15; LEN]);
    Ok(())
}

#[test]
fn graphs_inside_graphs() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut x = gpu.full(LEN, 1u32)?;
    let inner = gpu.stream().capture(|_| {
        mix.for_each(LEN).launch(&mut x, 1)?;
        mix.for_each(LEN).launch(&mut x, 2)
    })?;
    let captured = gpu.stream().capture(|_| {
        inner.launch()?;
        mix.for_each(LEN).launch(&mut x, 3)?;
        inner.launch()
    })?;
    let other = gpu.new_stream()?;
    let mut builder = GraphBuilder::new(&other);
    let first = builder.add_graph(&[], &captured)?;
    builder.add_graph(&[first], &inner)?;
    let built = builder.instantiate()?;
    drop((inner, captured));
    built.launch()?;
    let expected = [1, 2, 3, 1, 2, 1, 2].into_iter().fold(1, mixed);
    assert_eq!(x.to_vec()?, vec![expected; LEN]);
    Ok(())
}

#[test]
fn what_a_graph_refuses() -> Result<()> {
    let gpu = Gpu::new()?;
    let (mut x, mut y) = (gpu.full(8, 1u32)?, gpu.full(8, 2u32)?);
    let mut builder = GraphBuilder::new(&gpu);
    let on_x = builder.add_kernel(&[], mix.for_each(8).bind(&mut x, 1))?;
    let on_y = builder.add_kernel(&[], mix.for_each(8).bind(&mut y, 1))?;
    let empty = builder.add_empty(&[on_x])?;
    let error = builder
        .add_kernel(&[], mix.for_each(0).bind(&mut x, 1))
        .unwrap_err();
    assert!(matches!(error, Error::NoItems { kernel: "mix" }), "{error}");
    let error = GraphBuilder::new(&gpu).add_empty(&[on_x]).unwrap_err();
    assert!(matches!(error, Error::OtherGraph), "{error}");
    let error = builder
        .add_copy(&[], &x, &mut gpu.zeros::<u32>(7)?)
        .unwrap_err();
    assert!(matches!(error, Error::LengthMismatch { .. }), "{error}");
    let mut graph = builder.instantiate()?;
    // The two may run at once.
    let error = graph.set(on_y, mix().bind(&mut x, 1)).unwrap_err();
    assert!(matches!(error, Error::GraphOrder { .. }), "{error}");
    let error = graph.set(on_y, add_constant().bind(&mut y)).unwrap_err();
    assert!(matches!(error, Error::OtherKernel { .. }), "{error}");
    let error = graph.set(empty, mix().bind(&mut y, 1)).unwrap_err();
    assert!(matches!(error, Error::NotAKernelNode { .. }), "{error}");
    graph.launch()?;
    assert_eq!(
        (x.to_vec()?, y.to_vec()?),
        (vec![mixed(1, 1); 8], vec![mixed(2, 1); 8])
    );
    Ok(())
}

#[test]
fn a_host_function_cannot_use_the_device_and_its_panic_ends_itself() -> Result<()> {
    let gpu = Gpu::new()?;
    let mut x = gpu.full(8, 1u32)?;
    let plan = mix.for_each(8).plan(&mut x, 1)?;
    let refused = Arc::new(AtomicU32::new(0));
    let mut builder = GraphBuilder::new(&gpu);
    let (inside, count) = (gpu.clone(), refused.clone());
    let first = builder.add_host(&[], move || {
        let errors = [
            inside.synchronize(),
            plan.launch(),
            inside.zeros::<u32>(1).map(drop),
            nothing.grid(1).block(1).on(&inside).launch(),
        ];
        let refused = |result: &Result<()>| matches!(result, Err(Error::InHostFunction { .. }));
        count.fetch_add(
            errors.iter().filter(|error| refused(error)).count() as u32,
            Ordering::Relaxed,
        );
    })?;
    let second = builder.add_host(&[first], || panic!("in a host function"))?;
    builder.add_kernel(&[second], mix.for_each(8).bind(&mut x, 2))?;
    let graph = builder.instantiate()?;
    graph.launch()?;
    assert_eq!(x.to_vec()?, [mixed(1, 2); 8]);
    assert_eq!(refused.load(Ordering::Relaxed), 4);
    Ok(())
}

#[test]
fn a_panic_in_a_graph_is_the_error_of_its_stream() -> Result<()> {
    let gpu = Gpu::new()?;
    let stream = gpu.new_stream()?;
    let (short, long) = (gpu.full(8, 1u32)?, gpu.full(9, 1u32)?);
    let (mut y, mut z) = (gpu.zeros::<u32>(9)?, gpu.full(8, 1u32)?);
    let mut graph = stream.capture(|_| {
        slow_add.for_each(9).launch(&short, &mut y, 0)?;
        mix.for_each(8).launch(&mut z, 1)
    })?;
    graph.launch()?;
    gpu.synchronize()?;
    let error = stream.synchronize().unwrap_err();
    assert!(
        matches!(&error, Error::KernelPanic(panic) if panic.kernel == Some("slow_add")),
        "{error}"
    );
    let (first, _) = graph.kernels().next().unwrap();
    y.fill(0)?;
    graph.set(first, slow_add().bind(&long, &mut y, 0))?;
    graph.launch()?;
    stream.synchronize()?;
    assert_eq!(y.to_vec()?, [1; 9]);
    assert_eq!(z.to_vec()?, [mixed(mixed(1, 1), 1); 8]);
    Ok(())
}

#[test]
fn grid_barriers_and_constants_in_graphs() -> Result<()> {
    let gpu = Gpu::new()?;
    let streams = [gpu.new_stream()?, gpu.new_stream()?];
    let (mut x, mut sums) = (gpu.zeros::<u32>(4)?, gpu.zeros::<u32>(1)?);
    let (mut y, mut others) = (gpu.zeros::<u32>(4)?, gpu.zeros::<u32>(1)?);
    let mut z = gpu.zeros::<u32>(LEN)?;
    let graph = gpu.stream().capture(|_| {
        pass_on
            .grid(4)
            .block(8)
            .on(&streams[0])
            .launch(&mut x, &mut sums, 3)?;
        pass_on
            .grid(4)
            .block(8)
            .on(&streams[1])
            .launch(&mut y, &mut others, 5)?;
        add_constant.for_each(LEN).launch(&mut z)
    })?;
    for value in 1..5u32 {
        gpu.set_constant(&STEP, &value)?;
        graph.launch()?;
    }
    assert_eq!((x.to_vec()?, y.to_vec()?), (vec![12; 4], vec![20; 4]));
    assert_eq!(z.to_vec()?, vec![10; LEN]);
    let error = gpu
        .stream()
        .capture(|_| {
            pass_on
                .grid(1 << 20)
                .block(1024)
                .launch(&mut x, &mut sums, 1)
        })
        .unwrap_err();
    assert!(matches!(error, Error::CooperativeGrid { .. }), "{error}");
    Ok(())
}

#[test]
fn what_kernels_of_a_graph_print_comes_with_the_wait() {
    let [stdout, stderr] = printed(|gpu| {
        let graph = gpu
            .stream()
            .capture(|stream| {
                say.grid(1).block(1).on(stream).launch(1)?;
                say.grid(1).block(1).on(stream).launch(2)
            })
            .unwrap();
        graph.launch().unwrap();
        graph.launch().unwrap();
        gpu.synchronize().unwrap();
    });
    assert_eq!(
        (&*stdout, &*stderr),
        ("number 1\nnumber 2\nnumber 1\nnumber 2\n", "")
    );
}

#[test]
fn what_arrays_do_inside_a_capture() -> Result<()> {
    let gpu = Gpu::new()?;
    let m = gpu.to_device(&ndarray::Array2::from_shape_fn((4, 6), |(i, j)| {
        (10 * i + j) as u32
    }))?;
    let (mut part, mut x) = (gpu.zeros_nd::<u32, _>((4, 2))?, gpu.zeros::<u16>(1000)?);
    let graph = gpu.stream().capture(|_| {
        part.copy_from_device(m.view().slice(ndarray::s![.., 3..5]))?;
        x.fill(0xabcd)
    })?;
    graph.launch()?;
    let expected = ndarray::Array2::from_shape_fn((4, 2), |(i, j)| (10 * i + j + 3) as u32);
    assert_eq!(
        (part.to_host()?, x.to_vec()?),
        (expected, vec![0xabcd; 1000])
    );
    let buffer = gpu.to_pinned(&vec![1u16; 1000])?;
    let error = gpu
        .stream()
        .capture(|_| x.copy_from_async(buffer).map(drop))
        .unwrap_err();
    assert!(error.to_string().contains("owns its buffer"), "{error}");
    Ok(())
}

#[test]
fn the_host_does_not_look_at_what_a_graph_may_write() -> Result<()> {
    let gpu = Gpu::new()?.with_memory(MemoryKind::Mapped);
    let mut x = gpu.full(8, 1u32)?;
    let graph = gpu
        .stream()
        .capture(|_| mix.for_each(8).launch(&mut x, 1))?;
    graph.launch()?;
    assert!(matches!(x.as_host(), Err(Error::InPlan)));
    assert!(matches!(x.as_host_mut(), Err(Error::InPlan)));
    drop(graph);
    assert_eq!(x.as_host()?.to_vec(), [mixed(1, 1); 8]);
    Ok(())
}
