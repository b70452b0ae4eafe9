//! What a panic says, and where in the source it is.
//!
//! In: a block from which every way records a panic. Out: place and message, read from what the function that panics is
//! called with: a number that the module lists ([`sites`]); or a constant `core::panic::Location`, and
//! a constant text. Where that function is inlined, they are read from what is stored into the record of the panic.

use std::collections::BTreeSet;

use crate::checks::Place;
use crate::flow::{Block, Flow};
use crate::module::Module;
use crate::sites::{self, PanicSite};
use crate::statement::Instruction;

/// Where `gpu_std::runtime::PanicRecord` has the line, with the column after it.
const LINE: u32 = 8;
/// Where it has the address of the file's name; its length follows.
const FILE: u32 = 40;
/// Where it has the address of the message; its length follows.
const MESSAGE: u32 = 56;

/// A panic: its place, if that is known, and what it says.
pub type Panic = (Option<Place>, String);

/// The panics that a block leads to.
pub fn panics(flow: &Flow, target: usize, module: &Module) -> BTreeSet<Panic> {
    let (mut seen, mut open) = (BTreeSet::from([target]), vec![target]);
    let mut panics = BTreeSet::new();
    while let Some(index) = open.pop() {
        let block = &flow.blocks[index];
        let mut callees = block.instructions.iter().filter_map(Instruction::callee);
        if let Some(callee) = callees.find(|callee| module.never_returns(callee)) {
            panics.extend(called(block, callee, module));
            continue;
        }
        panics.extend(recorded(block, module));
        open.extend(flow.next[index].iter().filter(|&&next| seen.insert(next)));
    }
    panics
}

/// The panics of a block that calls a function which does not return: one for each place among its operands.
fn called(block: &Block, callee: &str, module: &Module) -> Vec<Panic> {
    if let Some(number) = block.instructions.iter().find_map(sites::number) {
        return module
            .panic_site(number)
            .map(numbered)
            .into_iter()
            .collect();
    }
    let moves = block.instructions.iter();
    let moves = moves.filter(|instruction| matches!(instruction.kind(), "mov" | "selp"));
    let operands = moves.flat_map(|instruction| instruction.operands.split(',').skip(1));
    let places = operands.filter_map(|operand| module.place(operand.trim()));
    let places: Vec<Option<Place>> = places.map(Some).collect();
    let message = if callee.contains("panic_bounds_check") {
        "index out of bounds".to_owned()
    } else {
        text_of_call(block, module).unwrap_or_else(|| crate::code::readable(callee))
    };
    let places = if places.is_empty() {
        vec![None]
    } else {
        places
    };
    places
        .into_iter()
        .map(|place| (place, message.clone()))
        .collect()
}

fn numbered(site: PanicSite) -> Panic {
    let message = site
        .message
        .unwrap_or_else(|| "index out of bounds".to_owned());
    (Some(site.place), message)
}

/// The constant text that a call has, with its length as the second parameter.
fn text_of_call(block: &Block, module: &Module) -> Option<String> {
    let mut stores = block.instructions.iter();
    let len = stores.find_map(|store| {
        let value = store.operands.strip_prefix("[param1],")?;
        store
            .operation
            .starts_with("st.param")
            .then(|| value.trim().parse().ok())?
    })?;
    constants(block).find_map(|constant| module.text(constant, len))
}

/// The panic that a block writes into the record itself.
fn recorded(block: &Block, module: &Module) -> Option<Panic> {
    let pair = stored(block, LINE)?.trim_matches(['{', '}']);
    let (line, column) = pair.split_once(',')?;
    let (line, column) = (line.trim().parse().ok()?, column.trim().parse().ok()?);
    let text = |at| {
        let len = stored(block, at + 8)?.parse().ok()?;
        constant_in(block, stored(block, at)?).and_then(|constant| module.text(constant, len))
    };
    let place = text(FILE).map(|file| Place { file, line, column });
    Some((
        place,
        text(MESSAGE).unwrap_or_else(|| "index out of bounds".to_owned()),
    ))
}

/// What a block stores with this offset.
fn stored<'a>(block: &Block<'a>, offset: u32) -> Option<&'a str> {
    let end = format!("+{offset}]");
    block.instructions.iter().find_map(|store| {
        let (place, value) = store.operands.split_once(',')?;
        (store.kind() == "st" && place.ends_with(&end)).then(|| value.trim())
    })
}

/// The constant whose address a register has.
fn constant_in<'a>(block: &Block<'a>, register: &str) -> Option<&'a str> {
    let mut register = register;
    for instruction in block.instructions.iter().rev() {
        let Some((to, from)) = instruction.operands.split_once(',') else {
            continue;
        };
        match instruction.kind() {
            "cvta" if to == register => register = from.trim(),
            "mov" if to == register => return Some(from.trim()),
            _ => {}
        }
    }
    None
}

fn constants<'a>(block: &Block<'a>) -> impl Iterator<Item = &'a str> {
    let moves = block
        .instructions
        .iter()
        .filter(|instruction| instruction.kind() == "mov");
    moves.filter_map(|instruction| Some(instruction.operands.split_once(',')?.1.trim()))
}
