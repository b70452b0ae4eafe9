//! What is told of work that ends: callbacks and futures; and of work that does not end.

use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park};
use std::time::Duration;

use oxwarp::prelude::*;
use oxwarp::{Error, Result};

use super::common::{in_own_process, run_again};
use super::*;

/// Wakes a thread that waits for a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The smallest executor.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => park(),
        }
    }
}

#[test]
fn a_callback_comes_when_the_work_is_done_and_may_use_the_device() -> Result<()> {
    let gpu = Gpu::new()?;
    let rounds = rounds(&gpu);
    let x = gpu.full(LEN, 1u32)?;
    let mut y = gpu.full(LEN, 2u32)?;
    slow_add.for_each(LEN).launch(&x, &mut y, rounds)?;
    let (send, receive) = channel();
    let (stream, inside) = (gpu.stream().clone(), gpu.clone());
    gpu.stream().on_done(move || {
        let read = y.to_vec().unwrap();
        let mut z = inside.to_device(&read).unwrap();
        mix.for_each(LEN).launch(&mut z, 1).unwrap();
        stream.synchronize().unwrap();
        send.send(z.to_vec().unwrap()).unwrap();
    })?;
    let expected = mixed(slowly_added(1, 2, rounds), 1);
    assert_eq!(receive.recv().unwrap(), vec![expected; LEN]);
    Ok(())
}

#[test]
fn callbacks_come_in_order_and_a_panic_ends_only_its_own() -> Result<()> {
    let gpu = Gpu::new()?;
    let (send, receive) = channel();
    for number in 0..20 {
        let send = send.clone();
        nothing.grid(1).block(1).on(&gpu).launch()?;
        gpu.stream().on_done(move || {
            send.send(number).unwrap();
            assert_ne!(number, 7, "in a callback");
        })?;
    }
    drop(send);
    let mut numbers: Vec<_> = receive.iter().collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    let error = gpu
        .stream()
        .capture(|stream| stream.on_done(|| {}))
        .unwrap_err();
    assert!(matches!(error, Error::InCapture { .. }), "{error}");
    Ok(())
}

#[test]
fn streams_and_events_are_awaited() -> Result<()> {
    let gpu = Gpu::new()?;
    let rounds = rounds(&gpu);
    let streams = [gpu.new_stream()?, gpu.new_stream()?];
    let x = gpu.full(LEN, 1u32)?;
    let mut ys = [gpu.full(LEN, 2u32)?, gpu.full(LEN, 3u32)?];
    let sums = block_on(async {
        let mut events = Vec::new();
        for (stream, y) in streams.iter().zip(&mut ys) {
            slow_add.for_each(LEN).on(stream).launch(&x, y, rounds)?;
            events.push(stream.record()?);
        }
        for event in &events {
            event.await?;
            assert!(event.is_done()?);
        }
        streams[0].done().await?;
        Ok::<_, Error>([ys[0].to_vec()?, ys[1].to_vec()?])
    })?;
    let expected = |y| vec![slowly_added(1, y, rounds); LEN];
    assert_eq!(sums, [expected(2), expected(3)]);
    Ok(())
}

#[test]
fn many_futures_wait_at_once_and_some_are_dropped() -> Result<()> {
    let gpu = Gpu::new()?;
    std::thread::scope(|scope| {
        for number in 0..16u32 {
            let gpu = &gpu;
            scope.spawn(move || -> Result<()> {
                let stream = gpu.new_stream()?;
                let mut x = stream.gpu().full(LEN, number)?;
                for by in 0..20 {
                    mix.for_each(LEN).launch(&mut x, by)?;
                    let mut done = stream.done();
                    if by % 3 == 0 {
                        let mut context = Context::from_waker(Waker::noop());
                        let _ = pin!(&mut done).poll(&mut context);
                        continue;
                    }
                    block_on(done)?;
                    assert!(stream.is_done()?);
                }
                assert_eq!(x.to_vec()?, vec![(0..20).fold(number, mixed); LEN]);
                Ok(())
            });
        }
    });
    Ok(())
}

#[test]
fn an_awaited_stream_gives_the_panic_of_its_kernel() -> Result<()> {
    let gpu = Gpu::new()?;
    let (short, mut y) = (gpu.full(8, 1u32)?, gpu.zeros::<u32>(9)?);
    slow_add.for_each(9).launch(&short, &mut y, 0)?;
    let event = gpu.stream().record()?;
    block_on(event.into_future())?;
    let error = block_on(gpu.stream().done()).unwrap_err();
    assert!(matches!(error, Error::KernelPanic(_)), "{error}");
    block_on(gpu.stream().done())
}

#[test]
fn waits_with_a_limit_end_with_the_work() -> Result<()> {
    let gpu = Gpu::new()?;
    gpu.set_timeout(Some(Duration::from_secs(100)));
    let rounds = rounds(&gpu);
    let x = gpu.full(LEN, 1u32)?;
    let mut y = gpu.full(LEN, 2u32)?;
    slow_add.for_each(LEN).launch(&x, &mut y, rounds)?;
    gpu.stream().synchronize_within(Duration::from_secs(100))?;
    assert!(gpu.stream().is_done()?);
    slow_add.for_each(LEN).launch(&x, &mut y, 0)?;
    let expected = slowly_added(1, slowly_added(1, 2, rounds), 0);
    assert_eq!(y.to_vec()?, vec![expected; LEN]);
    let event = gpu.stream().record()?;
    event.synchronize()?;
    let (short, mut y) = (gpu.full(8, 1u32)?, gpu.zeros::<u32>(9)?);
    slow_add.for_each(9).launch(&short, &mut y, 0)?;
    let error = gpu
        .stream()
        .synchronize_within(Duration::from_secs(100))
        .unwrap_err();
    assert!(matches!(error, Error::KernelPanic(_)), "{error}");
    Ok(())
}

/// Never ends where the number is odd.
#[kernel]
fn hang(mut x: DisjointSlice<u32>) {
    if let Some(x) = x.get_mut(thread::index_1d()) {
        while !x.is_multiple_of(2) {
            *x = x.wrapping_mul(*x);
        }
    }
}

/// On the simulator the program itself would hang.
#[test]
fn a_kernel_that_hangs_is_an_error_and_the_process_ends() {
    if in_own_process() {
        hang_and_exit().unwrap();
        println!("the end");
        std::process::exit(0);
    }
    if Gpu::new().unwrap().is_simulator() {
        return;
    }
    let [stdout, stderr] = run_again(&["--nocapture"]);
    assert!(stdout.contains("the end"), "{stdout}\n{stderr}");
}

fn hang_and_exit() -> Result<()> {
    let gpu = Gpu::new()?;
    gpu.set_timeout(Some(Duration::from_millis(300)));
    let other = gpu.new_stream()?;
    let mut x = gpu.full(8, 3u32)?;
    let y = other.gpu().full(8, 3u32)?;
    other.synchronize()?;
    gpu.synchronize()?;
    hang.grid(1).block(8).launch(&mut x)?;
    let error = x.to_vec().unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(error, Error::TimedOut { kernel: Some("hang"), waited, .. } if waited >= Duration::from_millis(300)),
        "{text}"
    );
    assert!(
        text.contains("300") && text.contains("cannot be used"),
        "{text}"
    );
    // Nothing waits any more, whatever is asked of the device.
    for error in [
        gpu.synchronize().unwrap_err(),
        y.to_vec().map(drop).unwrap_err(),
        other.synchronize().unwrap_err(),
        gpu.zeros::<u32>(8).map(drop).unwrap_err(),
        gpu.stream().record().map(drop).unwrap_err(),
        Gpu::cuda(0).map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    }
    drop((x, y, other, gpu));
    Ok(())
}
