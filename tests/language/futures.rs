//! Futures, polled by hand: a kernel's thread can be its own executor.

use std::future::{self, Future};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

agree!(
    ready,
    own_future,
    async_functions,
    joined,
    boxed,
    of_traits,
    captured_and_dropped
);

/// Polls until there is a result; how often that was.
fn run<F: Future>(future: F) -> (F::Output, u32) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for polls in 1.. {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return (output, polls);
        }
    }
    unreachable!()
}

fn ready(x: u32) -> (u32, u32) {
    run(async { future::ready(x).await ^ 1 })
}

/// Ready when it was polled so often.
struct After(u32);

impl Future for After {
    type Output = u32;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        self.0 = self.0.saturating_sub(1);
        context.waker().wake_by_ref();
        if self.0 == 0 {
            Poll::Ready(17)
        } else {
            Poll::Pending
        }
    }
}

fn own_future((x, n): (u32, u8)) -> (u32, u32) {
    run(async move {
        let first = After(u32::from(n % 7)).await;
        first.wrapping_mul(x) ^ After(3).await
    })
}

async fn halved(x: u32) -> u32 {
    After(2).await;
    x / 2
}

async fn steps(mut x: u32, limit: usize) -> Result<[u32; 4], u32> {
    let mut seen = [0; 4];
    for (i, seen) in seen.iter_mut().enumerate() {
        if i == limit {
            Err(x)?;
        }
        x = if x % 2 == 0 { halved(x).await } else { x ^ 1 };
        *seen = x;
    }
    Ok(seen)
}

fn async_functions((x, limit): (u32, usize)) -> (Result<[u32; 4], u32>, u32) {
    run(steps(x, limit % 8))
}

fn joined((x, a, b): (u32, u8, u8)) -> (u32, u32) {
    let mut first = pin!(async { After(u32::from(a % 5)).await ^ x });
    let mut second = pin!(async { After(u32::from(b % 5)).await / (x | 1) });
    let (mut one, mut two) = (None, None);
    run(future::poll_fn(move |context| {
        if one.is_none()
            && let Poll::Ready(x) = first.as_mut().poll(context)
        {
            one = Some(x);
        }
        if two.is_none()
            && let Poll::Ready(x) = second.as_mut().poll(context)
        {
            two = Some(x);
        }
        one.zip(two)
            .map_or(Poll::Pending, |(x, y)| Poll::Ready(x ^ y))
    }))
}

fn boxed((x, n): (u32, u8)) -> (u32, u32) {
    fn countdown(n: u8, x: u32) -> Pin<Box<dyn Future<Output = u32>>> {
        Box::pin(async move {
            match n {
                0 => x,
                _ => countdown(n - 1, x.rotate_left(1)).await ^ After(2).await,
            }
        })
    }
    run(countdown(n % 4, x))
}

trait Source {
    async fn next(&mut self) -> Option<u32>;
}

struct Digits(u32);

impl Source for Digits {
    async fn next(&mut self) -> Option<u32> {
        After(1).await;
        let digit = (self.0 > 0).then_some(self.0 % 10);
        self.0 /= 10;
        digit
    }
}

fn of_traits(x: u32) -> (u32, u32) {
    async fn sum(mut source: impl Source) -> u32 {
        let mut sum = 0;
        while let Some(x) = source.next().await {
            sum += x;
        }
        sum
    }
    run(sum(Digits(x)))
}

fn captured_and_dropped((x, n): (u32, u8)) -> (u32, u32) {
    use std::cell::Cell;
    struct Note<'a>(&'a Cell<u32>, u32);
    impl Drop for Note<'_> {
        fn drop(&mut self) {
            self.0
                .set(self.0.get().wrapping_mul(31).wrapping_add(self.1));
        }
    }
    let notes = Cell::new(0);
    let mut future = Box::pin(async {
        let _first = Note(&notes, x);
        After(3).await;
        let _second = Note(&notes, 2);
        After(3).await
    });
    let mut context = Context::from_waker(Waker::noop());
    let polls = (0..n % 8).take_while(|_| future.as_mut().poll(&mut context).is_pending());
    let pending = polls.count() as u32;
    drop(future);
    (notes.get(), pending)
}
