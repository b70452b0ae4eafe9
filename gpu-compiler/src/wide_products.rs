//! Products of an extended 32-bit number and a constant as one instruction.
//!
//! The stride `n * 4` of an address is `cvt.u64.u32` in one block and `shl.b64` in another, which the back end does not see
//! together. As `mul.wide.u32` the driver's compiler adds it to an address in one instruction, `IMAD.WIDE`; a stride in a
//! 64-bit register takes two.
//!
//! In: PTX as the back end writes it. A register that one instruction writes has that value wherever it is read, since the
//! back end's code is in SSA form but for what merges. Out: the same with the products of such registers.

use std::collections::BTreeMap;

use crate::registers::{functions, operands, three_operands, writes};

/// The PTX with wide products.
pub fn combine(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    for function in functions(ptx) {
        let extended = extended(function);
        for line in function.split_inclusive('\n') {
            match product(line, &extended) {
                Some(product) => text.push_str(&product),
                None => text.push_str(line),
            }
        }
    }
    text
}

/// Where the 32 bits of an extended number are.
#[derive(Clone, Copy)]
enum Narrow<'a> {
    /// In a register of their own.
    Register(&'a str),
    /// In the lower half: a parameter of 32 bits that was read into a register of 64.
    LowerHalf,
}

/// The registers that are an extension for good.
fn extended(function: &str) -> BTreeMap<&str, Narrow<'_>> {
    let writes = writes(function);
    let once = |register: &str| writes.get(register) == Some(&1);
    let extensions = function.lines().filter_map(|line| {
        if let Some(operands) = operands(line, "cvt.u64.u32") {
            let (wide, narrow) = operands.split_once(", ")?;
            return (once(wide) && once(narrow)).then_some((wide, Narrow::Register(narrow)));
        }
        let (wide, _) = operands(line, "ld.param.b32")?.split_once(", ")?;
        (wide.starts_with("%rd") && once(wide)).then_some((wide, Narrow::LowerHalf))
    });
    extensions.collect()
}

/// The line as a wide product, if it is one of an extended register.
fn product(line: &str, extended: &BTreeMap<&str, Narrow>) -> Option<String> {
    let (to, wide, factor) = if let Some([to, wide, bits]) = three_operands(line, "shl.b64") {
        (to, wide, 1u32.checked_shl(bits.parse().ok()?)?)
    } else {
        let [to, wide, factor] = three_operands(line, "mul.lo.s64")?;
        (to, wide, factor.parse().ok()?)
    };
    Some(match extended.get(wide)? {
        Narrow::Register(narrow) => format!("\tmul.wide.u32 \t{to}, {narrow}, {factor};\n"),
        Narrow::LowerHalf => format!(
            "\t{{ .reg .b32 \t%half; cvt.u32.u64 \t%half, {wide}; mul.wide.u32 \t{to}, %half, {factor}; }}\n"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last line of a function of these lines.
    fn last(lines: &[&str]) -> String {
        let body: Vec<String> = lines.iter().map(|line| format!("\t{line}\n")).collect();
        let text = combine(&format!(".func f()\n{{\n{}}}\n", body.concat()));
        let last = text.lines().rev().nth(1).unwrap_or_default();
        last.trim().to_owned()
    }

    const EXTENSION: &str = "cvt.u64.u32 \t%rd1, %r1;";
    const SHIFT: &str = "shl.b64 \t%rd2, %rd1, 2;";

    #[test]
    fn a_product_of_an_extension_is_wide() {
        let read = "ld.param.b32 \t%r1, [p];";
        assert_eq!(
            last(&[read, EXTENSION, SHIFT]),
            "mul.wide.u32 \t%rd2, %r1, 4;"
        );
        let product = "mul.lo.s64 \t%rd2, %rd1, 12;";
        assert_eq!(
            last(&[read, EXTENSION, product]),
            "mul.wide.u32 \t%rd2, %r1, 12;"
        );
        let vector = "ld.global.v2.b32 \t{%r2, %r1}, [%rd5];";
        assert_eq!(
            last(&[vector, EXTENSION, SHIFT]),
            "mul.wide.u32 \t%rd2, %r1, 4;"
        );
    }

    #[test]
    fn a_parameter_of_32_bits_is_extended_where_it_is_read() {
        let product =
            "{ .reg .b32 \t%half; cvt.u32.u64 \t%half, %rd1; mul.wide.u32 \t%rd2, %half, 4; }";
        assert_eq!(last(&["ld.param.b32 \t%rd1, [p];", SHIFT]), product);
        assert_eq!(last(&["ld.param.b64 \t%rd1, [p];", SHIFT]), SHIFT);
    }

    #[test]
    fn what_is_written_twice_may_have_changed() {
        for again in [
            "mov.b32 \t%r1, 0;",
            "mov.b64 \t%rd1, 0;",
            "ld.global.v2.b32 \t{%r2, %r1}, [%rd5];",
        ] {
            assert_eq!(
                last(&["mov.b32 \t%r1, %r9;", EXTENSION, again, SHIFT]),
                SHIFT
            );
        }
        let assembly = [
            "// begin inline asm",
            "{ add.u32 %r2, %r3, 1; mov.u32 %r1, %r2; }",
            "// end inline asm",
        ];
        let lines = [&["mov.b32 \t%r1, %r9;", EXTENSION][..], &assembly, &[SHIFT]].concat();
        assert_eq!(last(&lines), SHIFT);
    }

    #[test]
    fn a_factor_of_more_than_32_bits_stays() {
        let read = "ld.param.b32 \t%r1, [p];";
        for product in [
            "shl.b64 \t%rd2, %rd1, 32;",
            "mul.lo.s64 \t%rd2, %rd1, 4294967296;",
            "mul.lo.s64 \t%rd2, %rd1, -4;",
            "shl.b64 \t%rd2, %rd1, %r3;",
            "mul.lo.s64 \t%rd2, %rd1, %rd3;",
        ] {
            assert_eq!(last(&[read, EXTENSION, product]), product);
        }
    }

    #[test]
    fn another_function_has_other_registers() {
        let one = format!(".func f()\n{{\n\tld.param.b32 \t%r1, [p];\n\t{EXTENSION}\n}}\n");
        let other = format!(".func g()\n{{\n\t{SHIFT}\n}}\n");
        let text = format!("{one}{other}");
        assert_eq!(combine(&text), text);
    }
}
