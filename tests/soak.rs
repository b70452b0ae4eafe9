//! Mixed work from eight host threads on one device, round after round: copies, launches on several streams, arrays that
//! all threads read, panics, allocations that fail. All results are right, and in the end no more memory is in use than
//! after the first rounds.
//!
//! Without a variable it is two hundred rounds. `OXWARP_SOAK_SECONDS=3600` lets it work for an hour.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use oxwarp::prelude::*;
use oxwarp::{Error, Result, Stream};

mod common;
use common::Random;

#[kernel]
fn mix(a: &[u32], mut b: DisjointSlice<u32>, factor: u32) {
    let i = thread::index_1d();
    if let Some(b) = b.get_mut(i) {
        *b = b.wrapping_mul(factor) ^ a[*i];
    }
}

/// Each block's part.
#[kernel]
fn reversed(mut x: DisjointSlice<u32>) {
    let temp = shared_array![u32; 256];
    let t = thread::index_in_block();
    if let Some(x) = x.get_mut(thread::index_1d()) {
        temp.set(t, *x);
    }
    sync_threads();
    if let Some(x) = x.get_mut(thread::index_1d()) {
        *x = temp.get(255 - t);
    }
}

const THREADS: usize = 8;
const ROUNDS: usize = 25;

/// One thread's device side.
struct Worker<'a> {
    random: Random,
    streams: [Stream; 2],
    shared: &'a DeviceArray<u32>,
    shared_values: &'a [u32],
}

impl Worker<'_> {
    fn stream(&mut self) -> Stream {
        self.streams[self.random.bits() as usize % 2].clone()
    }

    fn round(&mut self) -> Result<()> {
        match self.random.bits() % 8 {
            0 => self.panic(),
            1 => self.too_much_memory(),
            2 => self.drop_while_in_use(),
            _ => self.right_results(),
        }
    }

    /// A chain of launches on both streams, against the host.
    fn right_results(&mut self) -> Result<()> {
        let len = self.random.bits() as usize % self.shared_values.len() / 256 * 256;
        let mut host: Vec<u32> = (0..len).map(|_| self.random.bits() as u32).collect();
        let mut x = self.stream().gpu().to_device(&host)?;
        for _ in 0..self.random.bits() % 6 {
            let factor = self.random.bits() as u32 | 1;
            mix.for_each(len)
                .on(self.stream())
                .launch(self.shared, &mut x, factor)?;
            for (x, a) in host.iter_mut().zip(self.shared_values) {
                *x = x.wrapping_mul(factor) ^ a;
            }
            if len > 0 && self.random.bits().is_multiple_of(2) {
                reversed
                    .grid(len / 256)
                    .block(256)
                    .on(self.stream())
                    .launch(&mut x)?;
                host.chunks_mut(256).for_each(<[u32]>::reverse);
            }
        }
        assert!(x.to_vec()? == host, "{len} elements");
        Ok(())
    }

    /// A kernel that panics: its stream says so once, and works on.
    fn panic(&mut self) -> Result<()> {
        let stream = self.stream();
        let len = self.shared_values.len();
        let mut longer = stream.gpu().zeros::<u32>(len + 1)?;
        mix.for_each(len + 1)
            .on(&stream)
            .launch(self.shared, &mut longer, 3)?;
        let error = stream.synchronize().unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("the len is {len} but the index is {len}")),
            "{error}"
        );
        stream.synchronize()
    }

    /// More than any device has.
    fn too_much_memory(&mut self) -> Result<()> {
        let error = self.stream().gpu().zeros::<u8>(1 << 46).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        Ok(())
    }

    /// Arrays that end before the launches that use them.
    fn drop_while_in_use(&mut self) -> Result<()> {
        for _ in 0..4 {
            let (gpu, other) = (self.stream().gpu(), self.stream());
            let mut x = gpu.full(4096, self.random.bits() as u32)?;
            mix.for_each(4096)
                .on(&other)
                .launch(self.shared, &mut x, 5)?;
        }
        Ok(())
    }
}

fn deadline() -> Option<Instant> {
    let seconds = std::env::var("OXWARP_SOAK_SECONDS").ok()?;
    let seconds = seconds.parse().expect("OXWARP_SOAK_SECONDS is a number");
    Some(Instant::now() + Duration::from_secs(seconds))
}

/// Bytes of this process's memory, where the system tells.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<usize>().ok()? << 10)
}

#[test]
fn mixed_work_from_eight_threads() -> Result<()> {
    let gpu = Gpu::new()?;
    let deadline = deadline();
    let shared_values: Vec<u32> = (0..8_192u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let shared = gpu.to_device(&shared_values)?;
    let warm = Barrier::new(THREADS + 1);
    let [rounds, before] = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let (gpu, shared, shared_values, warm) = (&gpu, &shared, &shared_values, &warm);
                scope.spawn(move || {
                    let mut worker = Worker {
                        random: Random::new(number as u64 + 1),
                        streams: [gpu.new_stream().unwrap(), gpu.new_stream().unwrap()],
                        shared,
                        shared_values,
                    };
                    let round = |worker: &mut Worker<'_>, number: usize| {
                        worker
                            .round()
                            .unwrap_or_else(|error| panic!("round {number}: {error}"));
                    };
                    (0..ROUNDS).for_each(|number| round(&mut worker, number));
                    warm.wait();
                    warm.wait();
                    let mut rounds = ROUNDS;
                    while deadline.is_some_and(|deadline| Instant::now() < deadline) {
                        round(&mut worker, rounds);
                        rounds += 1;
                    }
                    rounds
                })
            })
            .collect();
        warm.wait();
        let before = resident().unwrap_or_default();
        warm.wait();
        [
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum(),
            before,
        ]
    });
    assert_eq!(shared.to_vec()?, shared_values);
    let after = resident().unwrap_or_default();
    println!(
        "{rounds} rounds; {} MiB resident after the first, {} MiB at the end",
        before >> 20,
        after >> 20
    );
    // What an allocator keeps for later differs by some; a leak of a kilobyte a round would be seen within an hour.
    assert!(after < before + (64 << 20), "{before} bytes became {after}");
    Ok(())
}
