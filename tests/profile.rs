//! What a profile tells of a run, and who is told of long copies.

use std::sync::{Arc, Mutex};

use oxwarp::prelude::*;
use oxwarp::{Error, ProgressUpdate, Result, WorkKind};

#[kernel]
fn double(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = x[*i] * 2.0;
    }
}

const LEN: usize = 100_000;

#[test]
fn a_profile_has_every_launch_and_copy_in_order() -> Result<()> {
    let gpu = Gpu::new()?;
    let other = gpu.new_stream()?;
    let profile = gpu.profile(|| {
        let x = gpu.to_device(&vec![1.5f32; LEN])?;
        let mut y = gpu.zeros::<f32>(LEN)?;
        double.for_each(LEN).launch(&x, &mut y)?;
        double
            .grid((LEN.div_ceil(128), 1))
            .block(128)
            .on(&other)
            .launch(&x, &mut y)?;
        assert_eq!(y.to_vec()?, vec![3.0; LEN]);
        Ok(())
    })?;
    let bytes = 4 * LEN as u64;
    let of = |place: usize| {
        let record = &profile.records()[place];
        (record.name, record.kind, record.stream, record.bytes)
    };
    assert_eq!(profile.records().len(), 5);
    assert_eq!(of(0), ("copy to device", WorkKind::ToDevice, 0, bytes));
    assert_eq!(of(1), ("zeros", WorkKind::Fill, 0, bytes));
    assert_eq!(of(2), ("double", WorkKind::Launch, 0, 2 * bytes));
    assert_eq!(of(3), ("double", WorkKind::Launch, 1, 2 * bytes));
    assert_eq!(of(4), ("copy to host", WorkKind::ToHost, 0, bytes));
    let [grid, block] = profile.records()[3].shape.unwrap();
    assert_eq!((grid.x, block.x), (LEN.div_ceil(128) as u32, 128));
    for record in profile.records() {
        assert!(!record.time.is_zero() && record.start + record.time <= profile.elapsed());
    }
    let starts: Vec<_> = profile
        .records()
        .iter()
        .map(|record| record.start)
        .collect();
    assert!(starts.is_sorted(), "{starts:?}");
    Ok(())
}

#[test]
fn the_table_and_the_trace_have_the_same_work() -> Result<()> {
    let gpu = Gpu::new()?;
    let profile = gpu.profile(|| {
        let (x, mut y) = (gpu.full(LEN, 1f32)?, gpu.zeros::<f32>(LEN)?);
        (0..3).try_for_each(|_| double.for_each(LEN).launch(&x, &mut y))
    })?;
    let table = profile.to_string();
    let line = table.lines().find(|line| line.contains("double")).unwrap();
    let words: Vec<_> = line.split_whitespace().collect();
    // Time, its unit, share, calls, mean, unit, bytes, rate, name, shape.
    assert_eq!(
        (words[3], words[6]),
        ("3", (3 * 8 * LEN).to_string().as_str()),
        "{table}"
    );
    assert!(
        line.ends_with("double (391, 1, 1) x (256, 1, 1)"),
        "{table}"
    );
    let trace: serde_json::Value = serde_json::from_str(&profile.to_chrome_trace()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert_eq!(events[0]["args"]["name"], profile.device());
    assert_eq!(events.len(), profile.records().len() + 1);
    let launches: Vec<_> = events
        .iter()
        .filter(|event| event["cat"] == "kernel")
        .collect();
    assert_eq!(launches.len(), 3);
    for launch in launches {
        assert_eq!(
            (&launch["name"], &launch["ph"]),
            (&"double".into(), &"X".into())
        );
        assert!(launch["dur"].as_f64().unwrap() > 0.0);
        assert_eq!(launch["args"]["grid"], "(391, 1, 1)");
    }
    Ok(())
}

#[test]
fn a_profile_ends_with_an_error_and_can_be_taken_again() -> Result<()> {
    let gpu = Gpu::new()?;
    let inner = gpu.profile(|| gpu.profile(|| Ok(())).map(drop));
    assert!(matches!(inner, Err(Error::ProfileInProfile { .. })));
    let (x, mut y) = (gpu.zeros::<f32>(10)?, gpu.zeros::<f32>(11)?);
    let panicked = gpu.profile(|| double.for_each(11).launch(&x, &mut y));
    assert!(matches!(panicked, Err(Error::KernelPanic(_))));
    assert_eq!(gpu.profile(|| Ok(()))?.records().len(), 0);
    // Outside of a profile nothing is kept.
    double.for_each(10).launch(&x, &mut gpu.zeros::<f32>(10)?)?;
    assert_eq!(gpu.profile(|| gpu.synchronize())?.records().len(), 0);
    Ok(())
}

#[test]
fn a_listener_hears_of_long_copies_and_compilations() -> Result<()> {
    let gpu = Gpu::new()?;
    let updates = Arc::new(Mutex::new(Vec::new()));
    gpu.on_progress({
        let updates = updates.clone();
        move |update| updates.lock().unwrap().push(update)
    });
    let heard = || std::mem::take(&mut *updates.lock().unwrap());
    let values: Vec<u32> = (0..40 << 20).collect();
    let x = gpu.to_device(&values)?;
    let step = |done: usize| ProgressUpdate::Transfer {
        done: done << 20,
        total: 160 << 20,
    };
    let steps = [0, 64, 128, 160].map(step);
    assert_eq!(heard(), steps);
    assert_eq!(x.to_vec()?, values);
    assert_eq!(heard(), steps);
    assert_eq!(
        steps[1].to_string(),
        "copied 67108864 of 167772160 bytes (40 %)"
    );
    let (x, mut y) = (gpu.zeros::<f32>(10)?, gpu.zeros::<f32>(10)?);
    double.for_each(10).launch(&x, &mut y)?;
    let compiled = |done| ProgressUpdate::Compilation {
        crate_name: "profile",
        kernel: "double",
        done,
    };
    let expected = [compiled(false), compiled(true)];
    assert_eq!(
        heard(),
        if gpu.is_simulator() {
            &[][..]
        } else {
            &expected
        }
    );
    Ok(())
}
