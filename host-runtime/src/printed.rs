//! What kernels printed, from the records in a print buffer to whole lines on standard output and standard error.
//!
//! In: the bytes of a [`PrintBuffer`](gpu_std::print::PrintBuffer)'s records, in which the messages of all threads are
//! mixed. Out: pieces of text in the order in which their lines became whole. A line belongs to one thread, also where
//! the thread printed it in several parts.

use std::collections::HashMap;

use gpu_std::Dim3;
use gpu_std::print::{FIRST, LAST, PrintRecord, TO_STDERR, WRITTEN};

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// Text of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    pub stream: Stream,
    pub text: String,
}

impl Printed {
    /// Prints it. Through the macros, so that the output of a test is captured.
    pub fn print(&self) {
        match self.stream {
            Stream::Stdout => print!("{}", self.text),
            Stream::Stderr => eprint!("{}", self.text),
        }
    }
}

/// Reads the records, in 64-bit words, up to the first that is not whole. Returns the text, and how many words were read.
pub(crate) fn read(words: &[u64]) -> (Vec<Printed>, usize) {
    let mut assembly = Assembly::default();
    let mut rest = words;
    while let Some((record, text, next)) = first_record(rest) {
        assembly.add(&record, text);
        rest = next;
    }
    (assembly.finish(), words.len() - rest.len())
}

/// The fields of a [`PrintRecord`].
#[derive(Clone, Copy)]
struct Record {
    state: u32,
    block: Dim3,
    thread: Dim3,
}

const HEAD_WORDS: usize = size_of::<PrintRecord>() / 8;

/// The record that the words begin with, its text, and the words after it.
fn first_record(words: &[u64]) -> Option<(Record, &[u8], &[u64])> {
    let (head, rest) = words.split_at_checked(HEAD_WORDS)?;
    let half = |index: usize| (head[index / 2] >> (index % 2 * 32)) as u32;
    let dim = |index| Dim3 {
        x: half(index),
        y: half(index + 1),
        z: half(index + 2),
    };
    let (record, len) = (
        Record {
            state: half(0),
            block: dim(2),
            thread: dim(5),
        },
        half(1) as usize,
    );
    let (text, next) = rest.split_at_checked(len.div_ceil(8))?;
    let text = bytemuck::cast_slice(text);
    (record.state & WRITTEN != 0).then(|| (record, &text[..len], next))
}

/// One stream of one thread.
type Source = (Dim3, Dim3, Stream);

/// The text of a thread that is not a whole line yet.
#[derive(Default)]
struct Line {
    text: Vec<u8>,
    /// How much of it is of messages that have ended.
    ended: usize,
}

#[derive(Default)]
struct Assembly {
    lines: HashMap<Source, Line>,
    /// The keys of `lines` in their order.
    sources: Vec<Source>,
    printed: Vec<Printed>,
}

impl Assembly {
    fn add(&mut self, record: &Record, text: &[u8]) {
        let stream = match record.state & TO_STDERR {
            0 => Stream::Stdout,
            _ => Stream::Stderr,
        };
        let source = (record.block, record.thread, stream);
        let line = self.lines.entry(source).or_insert_with(|| {
            self.sources.push(source);
            Line::default()
        });
        if record.state & FIRST != 0 {
            // A message before it that has no end was lost, or its thread panicked in the middle.
            line.text.truncate(line.ended);
        }
        line.text.extend_from_slice(text);
        if record.state & LAST != 0 {
            line.ended = line.text.len();
            if let Some(last) = line.text.iter().rposition(|&byte| byte == b'\n') {
                let whole: Vec<u8> = line.text.drain(..=last).collect();
                line.ended = line.text.len();
                self.print(stream, &whole);
            }
        }
    }

    fn print(&mut self, stream: Stream, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        match self.printed.last_mut() {
            Some(last) if last.stream == stream => last.text.push_str(&text),
            _ => self.printed.push(Printed {
                stream,
                text: text.into_owned(),
            }),
        }
    }

    /// Lines that were not ended come last.
    fn finish(mut self) -> Vec<Printed> {
        for source in std::mem::take(&mut self.sources) {
            if let Some(Line { text, ended }) =
                self.lines.remove(&source).filter(|line| line.ended > 0)
            {
                self.print(source.2, &text[..ended]);
            }
        }
        self.printed
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use gpu_std::print::{PrintBuffer, print_into};

    use super::*;

    /// The words of a record.
    fn record(x: u32, state: u32, text: &str) -> Vec<u64> {
        let mut words = vec![
            u64::from(state) | (text.len() as u64) << 32,
            1 | 2 << 32,
            3 | u64::from(x) << 32,
            5 | 6 << 32,
        ];
        for chunk in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            words.push(u64::from_ne_bytes(word));
        }
        words
    }

    const WHOLE: u32 = WRITTEN | FIRST | LAST;

    fn stdout(records: &[Vec<u64>]) -> String {
        let (printed, read) = read(&records.concat());
        assert_eq!(read, records.concat().len());
        assert!(printed.len() <= 1 && printed.iter().all(|p| p.stream == Stream::Stdout));
        printed.into_iter().map(|printed| printed.text).collect()
    }

    #[test]
    fn the_fields_are_where_the_device_writes_them() {
        let words = record(4, WHOLE, "seven b");
        let (record, text, rest) = first_record(&words).unwrap();
        let dim = |x, y, z| Dim3 { x, y, z };
        assert_eq!((record.block, record.thread), (dim(1, 2, 3), dim(4, 5, 6)));
        assert_eq!(
            (record.state, text, rest.len()),
            (WHOLE, &b"seven b"[..], 0)
        );
    }

    #[test]
    fn lines_are_whole_also_in_parts() {
        let records = [
            record(0, WHOLE, "a "),
            record(1, WHOLE, "b "),
            record(0, WHOLE, "1\nnext"),
            record(1, WHOLE, "2\n"),
            record(2, WHOLE, "c"),
        ];
        assert_eq!(stdout(&records), "a 1\nb 2\nnextc");
    }

    #[test]
    fn pieces_of_a_message_come_together_and_may_cut_a_character() {
        let mut first = record(0, WRITTEN | FIRST, "xß");
        first[0] -= 1 << 32;
        first[4] &= 0xffff;
        let mut last = record(0, WRITTEN | LAST, "_\n");
        last[4] = u64::from_le_bytes([0x9f, b'\n', 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            stdout(&[first, record(1, WHOLE, "between\n"), last]),
            "between\nxß\n"
        );
    }

    #[test]
    fn a_message_without_its_end_is_left_out() {
        let records = [
            record(0, WHOLE, "begin "),
            record(0, WRITTEN | FIRST, "cut"),
            record(0, WHOLE, "good\n"),
            record(0, WRITTEN | FIRST, "cut"),
        ];
        assert_eq!(stdout(&records), "begin good\n");
    }

    #[test]
    fn reading_stops_at_what_is_not_written() {
        let words = [
            record(0, WHOLE, "a\n"),
            record(0, 0, "b\n"),
            record(0, WHOLE, "c\n"),
        ]
        .concat();
        let (printed, read) = read(&words);
        assert_eq!((printed.len(), &*printed[0].text, read), (1, "a\n", 5));
        let mut cut = record(0, WHOLE, "a text that is longer");
        cut.pop();
        assert_eq!(super::read(&cut), (Vec::new(), 0));
        assert_eq!(super::read(&[]), (Vec::new(), 0));
    }

    #[test]
    fn the_streams_keep_their_order() {
        let words = [
            record(0, WHOLE, "1\n"),
            record(1, WHOLE, "2\n"),
            record(0, WHOLE | TO_STDERR, "3\n"),
            record(0, WHOLE, "4\n"),
        ];
        let (printed, _) = read(&words.concat());
        let expected = [
            (Stream::Stdout, "1\n2\n"),
            (Stream::Stderr, "3\n"),
            (Stream::Stdout, "4\n"),
        ];
        let expected = expected.map(|(stream, text)| Printed {
            stream,
            text: text.to_owned(),
        });
        assert_eq!(printed, expected);
    }

    /// The text of threads that print into a buffer of so many words, and how many messages were lost.
    fn printed_by(entry: unsafe fn(*const u8), words: usize) -> (String, String, u64) {
        let mut memory = vec![0u64; words];
        let buffer = PrintBuffer {
            claimed: 0.into(),
            lost: 0.into(),
            records: memory.as_mut_ptr().cast(),
            capacity: words as u64 * 8,
        };
        let launch = gpu_sim::Launch {
            grid: Dim3 { x: 4, y: 2, z: 1 },
            block: Dim3 { x: 8, y: 1, z: 4 },
            cluster: Dim3 { x: 1, y: 1, z: 1 },
            entry,
            params: (&raw const buffer).cast(),
            shared_limit: 0,
            dynamic_shared: 0,
            in_order: false,
            checks: gpu_sim::Checks::default(),
            constants: std::ptr::null(),
        };
        // SAFETY: the threads write the records that they claim.
        unsafe { gpu_sim::run(&launch) }.unwrap();
        let (printed, _) = read(&memory);
        let of = |stream| {
            let texts = printed.iter().filter(|printed| printed.stream == stream);
            texts.map(|printed| &*printed.text).collect::<String>()
        };
        let lost = buffer.lost.load(Ordering::Relaxed);
        (of(Stream::Stdout), of(Stream::Stderr), lost)
    }

    fn number() -> usize {
        let (block, thread) = (gpu_std::thread::block_idx(), gpu_std::thread::thread_idx());
        let place = [block.y, block.x, thread.z, thread.x].map(|x| x as usize);
        ((place[0] * 4 + place[1]) * 4 + place[2]) * 8 + place[3]
    }

    fn line(thread: usize, round: usize) -> String {
        format!(
            "{thread} {round} {:0>1$}é{2}",
            7,
            thread * 7 % 700,
            "ß".repeat(thread)
        )
    }

    /// Prints lines of all lengths in two parts, and one line in parts to the other stream.
    unsafe fn print_lines(buffer: *const u8) {
        // SAFETY: `printed_by` passes a buffer.
        let buffer = unsafe { &*buffer.cast::<PrintBuffer>() };
        let thread = number();
        for round in 0..3 {
            let text = line(thread, round);
            let (first, second) = text.split_once('é').unwrap();
            print_into(buffer, 0, &format_args!("{first}"));
            print_into(buffer, TO_STDERR, &format_args!("{thread} "));
            print_into(buffer, 0, &format_args!("é{second}\n"));
        }
        print_into(buffer, TO_STDERR, &format_args!("\n"));
    }

    fn sorted(text: &str) -> Vec<&str> {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn what_many_threads_write_is_read_whole() {
        let (stdout, stderr, lost) = printed_by(print_lines, 1 << 20);
        let lines: Vec<String> = (0..256)
            .flat_map(|thread| (0..3).map(move |round| line(thread, round)))
            .collect();
        assert_eq!(sorted(&stdout), sorted(&lines.join("\n")));
        let numbers: Vec<String> = (0..256).map(|i| format!("{i} {i} {i} ")).collect();
        assert_eq!(sorted(&stderr), sorted(&numbers.join("\n")));
        assert_eq!(lost, 0);
    }

    /// Each prints a message of 300 bytes, which takes two records: 288 and 32 + 48 bytes.
    unsafe fn print_long(buffer: *const u8) {
        // SAFETY: `printed_by` passes a buffer.
        let buffer = unsafe { &*buffer.cast::<PrintBuffer>() };
        print_into(buffer, 0, &format_args!("{:>299}\n", number()));
    }

    #[test]
    fn what_does_not_fit_is_counted_and_nothing_of_it_is_there() {
        for words in [0, 3, 10, 45, 46, 1000, 256 * 46 - 1, 256 * 46] {
            let (stdout, _, lost) = printed_by(print_long, words);
            let lines = stdout.lines().count() as u64;
            assert_eq!(lines + lost, 256, "{words}");
            assert!(stdout.lines().all(|line| line.len() == 299));
            assert_eq!(lost == 0, words == 256 * 46, "{words}");
        }
    }
}
