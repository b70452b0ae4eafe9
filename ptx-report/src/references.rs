//! What the statements of a module refer to.
//!
//! In: a module. Out: the statements that a function needs, itself among them. Any word of a statement that is another's
//! name counts, so that there may be more than are needed, and none is missing. Comments are not read.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::iter;

use crate::module::{Item, Module};

/// The names of a module, and what each statement refers to once that was asked for.
pub(crate) struct References<'m, 'a> {
    items: &'m [Item<'a>],
    /// Where a name is declared and defined.
    named: HashMap<&'a str, Vec<usize>>,
    refers: Vec<OnceCell<Vec<usize>>>,
}

impl<'m, 'a> References<'m, 'a> {
    /// Of a module.
    pub fn of(module: &'m Module<'a>) -> Self {
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, item) in module.items.iter().enumerate() {
            if !item.name.is_empty() {
                named.entry(item.name).or_default().push(index);
            }
        }
        Self {
            items: &module.items,
            named,
            refers: vec![OnceCell::new(); module.items.len()],
        }
    }

    /// The statements of this name, and those that they refer to, directly or not.
    pub fn reached(&self, name: &str) -> BTreeSet<usize> {
        let mut open: Vec<usize> = self
            .named
            .get(name)
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let mut reached = BTreeSet::new();
        while let Some(index) = open.pop() {
            if reached.insert(index) {
                open.extend(self.refers[index].get_or_init(|| self.read(index)));
            }
        }
        reached
    }

    fn read(&self, index: usize) -> Vec<usize> {
        let lines = self.items[index].text.lines();
        let code = lines.map(|line| line.split("//").next().unwrap_or_default());
        let named = code.flat_map(names).filter_map(|name| self.named.get(name));
        let found: BTreeSet<usize> = named.flatten().copied().collect();
        found.into_iter().collect()
    }
}

/// The words of a line that may be names: not registers, numbers, directives, and what an instruction has after a dot.
/// Programs read all of their PTX so, also those that are not optimised: it goes by bytes.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let bytes = line.as_bytes();
    let mut at = 0;
    iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            while at < bytes.len() && IN_NAME[bytes[at] as usize] {
                at += 1;
            }
            let word = start..at;
            at += 1;
            let follows = start > 0 && matches!(bytes[start - 1], b'.' | b'%');
            if !word.is_empty() && !follows && !bytes[start].is_ascii_digit() {
                return Some(&line[word]);
            }
        }
        None
    })
}

/// Whether a byte can be part of a name.
const IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'$');
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_may_be_names() {
        let line = "\t@%p1 call.uni (retval0), $f_1, (param0, %rd2, 0x1F, _ZN-x.y+8);é";
        let expected = ["call", "retval0", "$f_1", "param0", "_ZN", "x"];
        assert_eq!(names(line).collect::<Vec<_>>(), expected);
        assert_eq!(names("last").collect::<Vec<_>>(), ["last"]);
        assert_eq!(names("").count(), 0);
    }
}
