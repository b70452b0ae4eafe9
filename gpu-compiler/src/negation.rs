//! Works around a fault of the driver's PTX compiler in negating 16-bit numbers.
//!
//! `neg.s16` of the lowest number, widened, is 32768 on an H200 with driver 580, where the PTX ISA says -32768: it is
//! negated after it was widened. The same by complement and addition comes out right.

/// The PTX without `neg.s16`.
pub fn by_complement(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        let negation = line.trim_start().strip_prefix("neg.s16");
        match negation.and_then(|operands| operands.split_once(',')) {
            Some((to, from)) => {
                let (to, from) = (to.trim(), from.trim().trim_end_matches(';'));
                text.push_str(&format!(
                    "\tnot.b16 \t{to}, {from};\n\tadd.s16 \t{to}, {to}, 1;"
                ));
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negation_of_16_bits_is_a_complement() {
        assert_eq!(
            by_complement("\tmov.u32 \t%r1, 5;\n\tneg.s16 \t%rs2, %rs1;\n\tret;\n"),
            "\tmov.u32 \t%r1, 5;\n\tnot.b16 \t%rs2, %rs1;\n\tadd.s16 \t%rs2, %rs2, 1;\n\tret;\n"
        );
    }
}
