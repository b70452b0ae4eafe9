//! The places of panics, which this project's compiler lists at the end of each kernel by their numbers.
//!
//! In: comments such as `// panic 7<TAB>21<TAB>9<TAB>src/main.rs<TAB>no more seats`: number, line, column, file and message,
//! as Rust's `escape_default` leaves them. There is no message for an index out of bounds. Out: [`PanicSite`]s.

use crate::checks::Place;
use crate::statement::Instruction;

/// How such a comment begins.
const COMMENT: &str = "// panic ";
/// How the functions begin that are called with a number.
const FUNCTIONS: &str = "oxwarp_panic";

/// Where a kernel can panic, and with what message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanicSite {
    /// The kernel's symbol.
    pub kernel: String,
    /// The place in the source.
    pub place: Place,
    /// The message; `None` for an index out of bounds, whose message has index and length.
    pub message: Option<String>,
}

/// The sites that the text of a kernel lists, and their numbers.
pub(crate) fn sites<'a>(
    kernel: &'a str,
    text: &'a str,
) -> impl Iterator<Item = (u32, PanicSite)> + 'a {
    let lines = text.trim_end().trim_end_matches('}').lines().rev();
    lines.map_while(move |line| site(kernel, line.trim().strip_prefix(COMMENT)?))
}

fn site(kernel: &str, comment: &str) -> Option<(u32, PanicSite)> {
    let mut fields = comment.split('\t');
    let mut number = || fields.next()?.parse::<u32>().ok();
    let (number, line, column) = (number()?, number()?, number()?);
    let file = unescape(fields.next()?)?;
    let message = match fields.next() {
        Some(message) => Some(unescape(message)?),
        None => None,
    };
    let site = PanicSite {
        kernel: kernel.to_owned(),
        place: Place { file, line, column },
        message,
    };
    Some((number, site))
}

/// What `escape_default` made of a text, as it was.
fn unescape(text: &str) -> Option<String> {
    let mut characters = text.chars();
    let mut whole = String::new();
    while let Some(character) = characters.next() {
        whole.push(match character {
            '\\' => match characters.next()? {
                't' => '\t',
                'r' => '\r',
                'n' => '\n',
                'u' => {
                    let digits: String = characters.by_ref().take_while(|&c| c != '}').collect();
                    char::from_u32(u32::from_str_radix(digits.strip_prefix('{')?, 16).ok()?)?
                }
                itself => itself,
            },
            other => other,
        });
    }
    Some(whole)
}

/// The number of the site that an instruction leaves its kernel from.
pub(crate) fn number(instruction: &Instruction) -> Option<u32> {
    instruction
        .callee()
        .filter(|callee| callee.starts_with(FUNCTIONS))?;
    let arguments = instruction.operands.strip_suffix(')')?;
    arguments.rsplit(['(', ' ']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::module::Module;

    #[test]
    fn the_sites_of_a_kernel_are_read() {
        let message = "tab\t, \"é\" {\n} \\ // it's";
        let ptx = format!(
            ".visible .entry k_0()\n{{\n\tcall.uni oxwarp_panic, (3);\n\texit;\n// panic 3\t7\t16\ta b.rs\t{}\n// panic \
             12\t8\t1\tc.rs\n}}\n",
            message.escape_default()
        );
        let module = Module::parse(&ptx);
        let site = |number| module.panic_site(number);
        let found = site(3).unwrap();
        assert_eq!((&*found.kernel, &*found.place.file), ("k_0", "a b.rs"));
        assert_eq!((found.place.line, found.place.column), (7, 16));
        assert_eq!(found.message.as_deref(), Some(message));
        let index = site(12).unwrap();
        assert_eq!((&*index.place.file, index.message), ("c.rs", None));
        assert_eq!(site(4), None);
    }
}
