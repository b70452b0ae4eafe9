//! The kernels and their parameters, as PTX declares them.
//!
//! In: PTX. Out: for each `.entry` its name and where its parameters lie. It tells numbers from floating-point numbers, and
//! needs no driver; cubins and fatbins say less, and only through the driver.

use super::signature::{Compiled, Kind};

/// The names of the kernels.
pub(crate) fn kernels(ptx: &str) -> Vec<String> {
    let text = without_comments(ptx);
    let names = entries(&text).map(|(name, _)| name.to_owned());
    names.collect()
}

/// The parameters of a kernel; `None` if it is not there, or has a parameter that is no value.
pub(crate) fn parameters(ptx: &str, kernel: &str) -> Option<Vec<Compiled>> {
    let text = without_comments(ptx);
    let (_, list) = entries(&text).find(|(name, _)| *name == kernel)?;
    let mut end = 0;
    list.split(',')
        .map(str::trim)
        .filter(|parameter| !parameter.is_empty())
        .map(|parameter| parameter_at(parameter, &mut end))
        .collect()
}

/// What the directive `.version` or `.target` says.
pub(crate) fn directive<'a>(ptx: &'a str, name: &str) -> Option<&'a str> {
    let line = ptx
        .lines()
        .find_map(|line| line.trim().strip_prefix(name))?;
    let (value, _) = line.split_once("//").unwrap_or((line, ""));
    Some(value.trim())
}

/// Each kernel's name and the text between the parentheses after it.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(".entry").skip(1).map(|rest| {
        let rest = rest.trim_start();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || "_$%".contains(c)))
            .unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let list = rest
            .trim_start()
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'));
        (name, list.map_or("", |(list, _)| list))
    })
}

/// `.param .align 16 .b8 name[16]`, or `.param .u64 .ptr .global .align 4 name`, after the parameters that end at `end`.
fn parameter_at(text: &str, end: &mut usize) -> Option<Compiled> {
    let mut words = text.split_ascii_whitespace().peekable();
    let (mut element, mut align, mut count) = (None, 1, 1);
    while let Some(word) = words.next() {
        match word {
            ".param" => {}
            // What follows describes what it points to.
            ".ptr" => break,
            ".align" => align = words.next()?.parse().ok()?,
            _ if word.starts_with('.') => element = Some(element_of(word)?),
            name => {
                if let Some((_, extent)) = name.split_once('[') {
                    count = extent.trim_end_matches(']').parse().ok()?;
                }
            }
        }
    }
    let (bytes, kind): (usize, Kind) = element?;
    let size = bytes * count;
    let offset = end.checked_next_multiple_of(bytes.max(align))?;
    *end = offset + size;
    let array = text.contains('[');
    Some(Compiled {
        offset,
        size,
        kind: if array { Kind::Other } else { kind },
    })
}

/// Bytes and kind of a type, such as `.u32`.
fn element_of(word: &str) -> Option<(usize, Kind)> {
    let (kind, bits) = word.strip_prefix('.')?.split_at_checked(1)?;
    let kind = match kind {
        "f" => Kind::Float,
        "b" | "u" | "s" => Kind::Integer,
        _ => return None,
    };
    let bits: usize = bits.parse().ok()?;
    Some((bits / 8, kind))
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        kept.push_str(&rest[..at]);
        let comment = &rest[at..];
        rest = if comment.starts_with("//") {
            comment.find('\n').map_or("", |end| &comment[end..])
        } else {
            comment.find("*/").map_or("", |end| &comment[end + 2..])
        };
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "
//
.version 9.0 // of CUDA 13.0
.target sm_90
// .entry not_this(
.visible .entry k(
	.param .u32 k_param_0, /* two
	lines */
	.param .f64 k_param_1,
	.param .u8 k_param_2,
	.param .align 4 .b8 k_param_3[12],
	.param .align 16 .b8 k_param_4[16],
	.param .u64 .ptr .global .align 1 k_param_5,
	.param .f32 k_param_6
)
.maxntid 128
{ ret; }
.weak .entry _ZN1q1tIfEEvT_PS1_(.param .u16 a,.param .b64 b)
{ ret; }
.entry none() { ret; }
.entry bare { ret; }
.entry image(.param .texref t) { ret; }
";

    #[test]
    fn kernels_are_listed() {
        let names = ["k", "_ZN1q1tIfEEvT_PS1_", "none", "bare", "image"];
        assert_eq!(kernels(PTX), names);
        assert_eq!(kernels(""), [""; 0]);
    }

    #[test]
    fn parameters_lie_where_the_compiler_puts_them() {
        let of = |kernel| {
            let parameters = parameters(PTX, kernel)?;
            let fields = parameters
                .iter()
                .map(|parameter| (parameter.offset, parameter.size, parameter.kind));
            Some(fields.collect::<Vec<_>>())
        };
        let k = [
            (0, 4, Kind::Integer),
            (8, 8, Kind::Float),
            (16, 1, Kind::Integer),
            (20, 12, Kind::Other),
            (32, 16, Kind::Other),
            (48, 8, Kind::Integer),
            (56, 4, Kind::Float),
        ];
        assert_eq!(of("k").unwrap(), k);
        let t = [(0, 2, Kind::Integer), (8, 8, Kind::Integer)];
        assert_eq!(of("_ZN1q1tIfEEvT_PS1_").unwrap(), t);
        assert_eq!(of("none"), Some(vec![]));
        assert_eq!(of("bare"), Some(vec![]));
        assert_eq!(of("image"), None);
        assert_eq!(of("not_this"), None);
    }

    #[test]
    fn directives_are_read() {
        assert_eq!(directive(PTX, ".version"), Some("9.0"));
        assert_eq!(directive(PTX, ".target"), Some("sm_90"));
        assert_eq!(directive("", ".target"), None);
    }
}
