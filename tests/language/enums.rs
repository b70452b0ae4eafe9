//! Enums: discriminants, niches, data, state machines.

use std::borrow::Cow;
use std::mem;
use std::num::{NonZeroI16, NonZeroU8, NonZeroU32};

agree!(
    explicit_discriminants,
    from_a_number,
    niches_of_nonzero,
    niches_of_references_and_boxes,
    nested_niches,
    niche_in_a_payload,
    state_machine,
    discriminants_compare,
    replaced_in_place,
    wide_discriminants,
    owned_or_borrowed,
    many_variants,
    never_type,
);

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(i8)]
enum Level {
    Low = -100,
    Middle,
    High = 7,
}

const LEVELS: [Level; 3] = [Level::Low, Level::Middle, Level::High];

fn explicit_discriminants(x: u32) -> (i8, i64, u32) {
    let level = LEVELS[x as usize % 3];
    (level as i8, level as i64 * 3, level as u32)
}

impl TryFrom<i8> for Level {
    type Error = i8;

    fn try_from(x: i8) -> Result<Self, i8> {
        match x {
            -100 => Ok(Level::Low),
            -99 => Ok(Level::Middle),
            7 => Ok(Level::High),
            other => Err(other),
        }
    }
}

fn from_a_number(x: [i8; 2]) -> Result<i8, i8> {
    let x = [x[0], if x[1] > 0 { 7 } else { -100 + (x[1] & 1) }][usize::from(x[0] > 0)];
    Level::try_from(x).map(|level| (level as i8).wrapping_mul(2))
}

fn niches_of_nonzero((a, b, c): (u8, u32, i16)) -> (u32, u32, i32, bool) {
    let (a, b, c) = (NonZeroU8::new(a), NonZeroU32::new(b), NonZeroI16::new(c));
    (
        a.map_or(1000, |a| a.get().into()),
        b.map_or(0, |b| b.leading_zeros()),
        c.map_or(99_999, |c| c.get().into()),
        mem::size_of_val(&a) == 1 && mem::size_of_val(&b) == 4 && a.is_some(),
    )
}

fn niches_of_references_and_boxes((x, some): (u32, [bool; 2])) -> (u32, u32, bool) {
    let reference: Option<&u32> = some[0].then_some(&x);
    let boxed: Option<Box<u32>> = some[1].then(|| Box::new(x ^ 5));
    (
        reference.copied().unwrap_or(7),
        boxed.as_deref().copied().unwrap_or(8),
        mem::size_of_val(&boxed) == mem::size_of::<usize>() && reference.is_none(),
    )
}

fn nested_niches(x: u8) -> (u8, usize) {
    let value: Option<Option<Option<bool>>> = match x % 5 {
        0 => None,
        1 => Some(None),
        2 => Some(Some(None)),
        n => Some(Some(Some(n == 3))),
    };
    let back = match value {
        None => 10,
        Some(None) => 20,
        Some(Some(None)) => 30,
        Some(Some(Some(true))) => 40,
        Some(Some(Some(false))) => 50,
    };
    (back, mem::size_of_val(&value))
}

#[derive(Clone, Copy)]
enum Token {
    Letter(char),
    Number(NonZeroU32),
    End,
    Flag(bool),
}

fn niche_in_a_payload((kind, letter, number): (u8, char, u32)) -> u64 {
    let token = match kind % 4 {
        0 => Token::Letter(letter),
        1 => NonZeroU32::new(number).map_or(Token::End, Token::Number),
        2 => Token::Flag(number > 5),
        _ => Token::End,
    };
    let tokens = [token, Token::End, token];
    tokens.iter().fold(1, |sum: u64, token| {
        sum.wrapping_mul(31)
            ^ match token {
                Token::Letter(letter) => u64::from(*letter),
                Token::Number(number) => u64::from(number.get()) << 8,
                Token::Flag(flag) => 3 + u64::from(*flag),
                Token::End => 1,
            }
    })
}

#[derive(Clone, Copy)]
enum State {
    Idle,
    Counting { from: u32, steps: u8 },
    Done(u32),
}

impl State {
    fn next(self, input: u32) -> State {
        match self {
            State::Idle if input.is_multiple_of(2) => State::Counting {
                from: input,
                steps: 0,
            },
            State::Idle => State::Idle,
            State::Counting { from, steps: 5 } => State::Done(from),
            State::Counting { from, steps } => State::Counting {
                from: from.wrapping_add(input),
                steps: steps + 1,
            },
            done @ State::Done(_) => done,
        }
    }
}

fn state_machine(x: [u32; 10]) -> (u8, u32) {
    let last = x
        .iter()
        .fold(State::Idle, |state, &input| state.next(input));
    match last {
        State::Idle => (0, 0),
        State::Counting { from, steps } => (1 + steps, from),
        State::Done(x) => (100, x),
    }
}

fn discriminants_compare((a, b): (u32, u32)) -> (bool, bool) {
    let state = |x: u32| match x % 3 {
        0 => State::Idle,
        1 => State::Counting { from: x, steps: 1 },
        _ => State::Done(x),
    };
    let same = mem::discriminant(&state(a)) == mem::discriminant(&state(b));
    (same, matches!(state(a), State::Done(x) if x > 100))
}

enum List {
    Empty,
    Node(u32, Box<List>),
}

fn replaced_in_place(x: [u32; 6]) -> (u32, u32) {
    let mut list = List::Empty;
    for x in x {
        let rest = mem::replace(&mut list, List::Empty);
        list = List::Node(x, Box::new(rest));
    }
    let (mut sum, mut length) = (0u32, 0);
    let mut at = &mut list;
    while let List::Node(value, rest) = at {
        *value |= 1;
        sum = sum.wrapping_mul(3).wrapping_add(*value);
        length += 1;
        at = rest;
    }
    (sum, length)
}

#[derive(Clone, Copy, PartialEq)]
#[repr(u64)]
enum Wide {
    A = 1 << 40,
    B(u8) = u64::MAX,
    C { x: u16 } = 5,
}

fn wide_discriminants((kind, x): (u8, u16)) -> u64 {
    let value = match kind % 3 {
        0 => Wide::A,
        1 => Wide::B(x as u8),
        _ => Wide::C { x },
    };
    // SAFETY: a `repr(u64)` enum starts with its discriminant.
    let tag = unsafe { *(&raw const value).cast::<u64>() };
    tag ^ match value {
        Wide::A => 0,
        Wide::B(x) => u64::from(x) << 8,
        Wide::C { x } => u64::from(x) << 20,
    }
}

fn owned_or_borrowed(x: [u32; 5]) -> (bool, u32) {
    fn without_zeros(x: &[u32]) -> Cow<'_, [u32]> {
        if x.contains(&0) {
            Cow::Owned(x.iter().copied().filter(|&x| x != 0).collect())
        } else {
            Cow::Borrowed(x)
        }
    }
    let mut kept = without_zeros(&x);
    let owned = matches!(kept, Cow::Owned(_));
    if let Some(first) = kept.to_mut().first_mut() {
        *first ^= 1;
    }
    (owned, kept.iter().fold(0, |sum, x| sum ^ x.rotate_left(3)))
}

macro_rules! wide_enum {
    ($($name:ident $number:literal)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum Opcode { $($name = $number),* }
        const OPCODES: &[Opcode] = &[$(Opcode::$name),*];
    };
}

wide_enum!(Add 0 Sub 1 Mul 2 And 3 Or 4 Xor 5 Shl 6 Shr 7 Rotate 8 Not 9 Swap 10 Dup 11 Push 12 Pop 13 Nop 14 Halt 300);

/// A machine with a stack and a jump table.
fn many_variants((program, first): ([u8; 12], u32)) -> u32 {
    let (mut a, mut b) = (first, 3u32);
    for &code in &program {
        let opcode = OPCODES[code as usize % OPCODES.len()];
        match opcode {
            Opcode::Add => a = a.wrapping_add(b),
            Opcode::Sub => a = a.wrapping_sub(b),
            Opcode::Mul => a = a.wrapping_mul(b | 1),
            Opcode::And => a &= b | 0xff,
            Opcode::Or => a |= b & 0xff,
            Opcode::Xor => a ^= b,
            Opcode::Shl => a = a.wrapping_shl(b),
            Opcode::Shr => a = a.wrapping_shr(b),
            Opcode::Rotate => a = a.rotate_left(b % 32),
            Opcode::Not => a = !a,
            Opcode::Swap => mem::swap(&mut a, &mut b),
            Opcode::Dup => b = a,
            Opcode::Push => b = b.wrapping_add(u32::from(code)),
            Opcode::Pop => b >>= 1,
            Opcode::Nop => {}
            Opcode::Halt => return a ^ Opcode::Halt as u32,
        }
        if opcode >= Opcode::Push {
            a = a.wrapping_add(1);
        }
    }
    a ^ b
}

#[derive(Debug)]
enum Never {}

fn never_type(x: u32) -> u32 {
    fn always(x: u32) -> Result<u32, Never> {
        Ok(x ^ 9)
    }
    let Ok(x) = always(x);
    match always(x) {
        Ok(x) => x.wrapping_mul(5),
        Err(never) => match never {},
    }
}
