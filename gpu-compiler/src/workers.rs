//! Several kernels at a time, each in an LLVM context of its own.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// LLVM's passes go deep into large functions.
const STACK_BYTES: usize = 64 << 20;

/// Applies `work` to each item, on as many threads as the machine has; the results are in the items' order.
pub fn map<Item: Sync, Done: Send>(
    items: &[Item],
    work: impl Fn(&Item) -> Done + Sync,
) -> Vec<Done> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((index, item)) = take(items, &next) {
            done.push((index, work(item)));
        }
        done
    };
    let count = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(items.len());
    let mut done: Vec<(usize, Done)> = thread::scope(|scope| {
        let spawn = |_| {
            thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, worker)
        };
        let threads: Vec<_> = (1..count).filter_map(|index| spawn(index).ok()).collect();
        let own = worker();
        let others = threads.into_iter().flat_map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        own.into_iter().chain(others).collect()
    });
    done.sort_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, done)| done).collect()
}

fn take<'a, Item>(items: &'a [Item], next: &AtomicUsize) -> Option<(usize, &'a Item)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, items.get(index)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_results_are_in_order() {
        let items: Vec<u64> = (0..1000).collect();
        assert_eq!(
            map(&items, |item| item * item),
            items.iter().map(|item| item * item).collect::<Vec<_>>()
        );
        assert_eq!(map(&[], |item: &u64| *item), []);
    }
}
