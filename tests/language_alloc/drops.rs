//! When values are dropped: each writes its number to a log.

use std::cell::RefCell;
use std::mem::{self, ManuallyDrop};
use std::rc::Rc;

use crate::check::digest;

agree!(
    locals_in_reverse,
    fields_in_order,
    temporaries_at_the_end,
    early_returns,
    breaks_out_of_loops,
    replaced_and_taken,
    forgotten,
    elements_of_collections,
    objects,
    moved_in_one_branch,
    partly_moved,
    guards,
);

type Log = RefCell<Vec<u32>>;

/// Writes its number when it is dropped.
struct Noisy<'a>(u32, &'a Log);

impl Drop for Noisy<'_> {
    fn drop(&mut self) {
        self.1.borrow_mut().push(self.0);
    }
}

/// What `body` lets drop, in its order.
fn log_of(body: impl FnOnce(&Log)) -> u64 {
    let log = Log::default();
    body(&log);
    digest(log.into_inner())
}

fn locals_in_reverse((x, y): (u32, u32)) -> u64 {
    log_of(|log| {
        let _first = Noisy(x, log);
        let _ = Noisy(y, log);
        let second = Noisy(x ^ 1, log);
        let _first = Noisy(x ^ 2, log);
        drop(second);
        let _last = Noisy(x ^ 3, log);
    })
}

fn fields_in_order(x: u32) -> u64 {
    struct Outer<'a> {
        b: Noisy<'a>,
        a: (Noisy<'a>, [Noisy<'a>; 2]),
        log: &'a Log,
    }
    impl Drop for Outer<'_> {
        fn drop(&mut self) {
            self.log.borrow_mut().push(self.b.0 ^ self.a.0.0);
        }
    }
    log_of(|log| {
        let noisy = |n| Noisy(x ^ n, log);
        let a = (noisy(1), [noisy(2), noisy(3)]);
        let b = noisy(4);
        let _outer = Outer { b, a, log };
    })
}

fn temporaries_at_the_end(x: u32) -> u64 {
    log_of(|log| {
        let noisy = |n| Noisy(x ^ n, log);
        let sum = noisy(1).0 ^ noisy(2).0;
        log.borrow_mut().push(sum);
        if noisy(3).0 % 2 == 0 {
            log.borrow_mut().push(10);
        } else {
            log.borrow_mut().push(11);
        }
        match noisy(4).0 % 3 {
            0 => log.borrow_mut().push(12),
            _ => log.borrow_mut().push(13),
        }
        let kept = &noisy(5);
        log.borrow_mut().push(kept.0 ^ 100);
    })
}

fn early_returns(x: [u32; 3]) -> u64 {
    fn run(x: [u32; 3], log: &Log) -> Option<u32> {
        let _a = Noisy(1, log);
        let first = x[0].checked_sub(100)?;
        let _b = Noisy(first, log);
        if x[1] % 2 == 0 {
            return None;
        }
        let _c = Noisy(x[2], log);
        x[1].checked_add(x[2])
    }
    log_of(|log| {
        let result = run(x, log);
        log.borrow_mut().extend(result);
    })
}

fn breaks_out_of_loops(x: [u32; 6]) -> u64 {
    log_of(|log| {
        let outer = 'outer: {
            for (i, &x) in x.iter().enumerate() {
                let noisy = Noisy(x, log);
                if x % 5 == 1 {
                    continue;
                }
                let _inner = Noisy(i as u32, log);
                if x % 7 == 0 {
                    break 'outer Some(noisy);
                }
            }
            None
        };
        let last = outer.map_or(1, |noisy| noisy.0 ^ 2);
        log.borrow_mut().push(last);
    })
}

fn replaced_and_taken((x, y): (u32, bool)) -> u64 {
    log_of(|log| {
        let mut a = Noisy(x, log);
        let mut option = Some(Noisy(x ^ 1, log));
        a = Noisy(a.0 ^ 2, log);
        let old = mem::replace(&mut a, Noisy(x ^ 3, log));
        if y {
            option.take();
        }
        log.borrow_mut().push(old.0 ^ 4);
        option = option.or_else(|| Some(Noisy(9, log)));
        log.borrow_mut()
            .push(option.as_ref().map_or(0, |noisy| noisy.0));
    })
}

fn forgotten((x, y): (u32, bool)) -> u64 {
    log_of(|log| {
        let mut kept = ManuallyDrop::new(Noisy(x, log));
        mem::forget(Noisy(x ^ 1, log));
        kept.0 ^= 7;
        if y {
            // SAFETY: it is dropped here only, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut kept) };
        }
        log.borrow_mut().push(2);
    })
}

fn elements_of_collections((x, n): ([u32; 5], u8)) -> u64 {
    log_of(|log| {
        let mut all: Vec<Noisy> = x.iter().map(|&x| Noisy(x, log)).collect();
        all.truncate(4);
        drop(all.remove(usize::from(n) % 4));
        all.retain(|noisy| noisy.0 % 3 != 0);
        let mut rest = all.into_iter();
        let first = rest.next();
        log.borrow_mut()
            .push(first.as_ref().map_or(0, |noisy| !noisy.0));
        drop(rest);
        log.borrow_mut().push(5);
    })
}

fn objects((x, n): (u32, u8)) -> u64 {
    trait Act {
        fn act(&self) -> u32;
    }
    impl Act for Noisy<'_> {
        fn act(&self) -> u32 {
            self.0
        }
    }
    impl Act for u32 {
        fn act(&self) -> u32 {
            *self
        }
    }
    log_of(|log| {
        let shared: Rc<dyn Act + '_> = Rc::new(Noisy(x, log));
        let all: [Box<dyn Act + '_>; 3] = [
            Box::new(Noisy(x ^ 1, log)),
            Box::new(x),
            Box::new(Noisy(x ^ 2, log)),
        ];
        let also = Rc::clone(&shared);
        drop(shared);
        let sum = all[usize::from(n) % 3].act();
        log.borrow_mut().push(sum ^ also.act().rotate_left(1));
    })
}

fn moved_in_one_branch((x, choice): (u32, u8)) -> u64 {
    fn consume(noisy: Noisy) -> u32 {
        noisy.0
    }
    log_of(|log| {
        let noisy = Noisy(x, log);
        let other = Noisy(x ^ 5, log);
        let sum = match choice % 3 {
            0 => consume(noisy),
            1 => consume(other) ^ 1,
            _ => 2,
        };
        log.borrow_mut().push(sum);
    })
}

fn partly_moved((x, take): (u32, bool)) -> u64 {
    log_of(|log| {
        let pair = (Noisy(x, log), Noisy(x ^ 1, log));
        let boxed = Box::new((Noisy(x ^ 2, log), Noisy(x ^ 3, log)));
        if take {
            let first = pair.0;
            let second = boxed.1;
            log.borrow_mut().push(first.0 ^ second.0.rotate_left(2));
        }
        log.borrow_mut().push(1);
    })
}

fn guards(x: [u32; 4]) -> (u64, u32) {
    struct Level<'a>(&'a RefCell<u32>);
    impl<'a> Level<'a> {
        fn enter(level: &'a RefCell<u32>) -> Self {
            *level.borrow_mut() += 1;
            Level(level)
        }
    }
    impl Drop for Level<'_> {
        fn drop(&mut self) {
            *self.0.borrow_mut() -= 1;
        }
    }
    fn walk(x: &[u32], level: &RefCell<u32>, seen: &mut Vec<u32>) {
        let _level = Level::enter(level);
        seen.push(*level.borrow());
        if let Some((first, rest)) = x.split_first() {
            if first % 4 == 0 {
                return;
            }
            walk(rest, level, seen);
            if first % 2 == 1 {
                walk(&rest[rest.len() / 2..], level, seen);
            }
        }
    }
    let (level, mut seen) = (RefCell::new(0), Vec::new());
    walk(&x, &level, &mut seen);
    (digest(seen), level.into_inner())
}
