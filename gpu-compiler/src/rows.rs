//! Elements of matrices, in fewer additions, where there are no loops.
//!
//! `x[(row, col)]` is an address that is added to twice: `row * len` elements, and `col` more. Each addition is two
//! instructions of a GPU, and one more for the bytes of an element; a product with a sum is as many as a product. So the
//! column is added to the product.
//!
//! `x[(row + 1, col)]` is another product and the same sums; LLVM makes the product of the first one, and the sums again.
//! It is the address of the first element and the bytes of a row.
//!
//! In a function with loops the strength reduction finds more in the addresses as they are.

use crate::llvm::{self, Builder, Module, Type, Value, opcode};
use crate::loop_checks::cfg::Cfg;

/// The width of an index in an address; a narrower one is widened after it has wrapped.
const INDEX_BITS: u32 = 64;

/// Simplifies the addresses of elements in an optimised module.
pub fn simplify(module: Module) {
    let builder = llvm::create_builder(llvm::module_context(module));
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        let cfg = Cfg::of(function);
        if cfg.cycles().is_empty() {
            simplify_in(&cfg, builder);
        }
    }
}

fn simplify_in(cfg: &Cfg, builder: Builder) {
    let mut known: Vec<(Element, Value)> = Vec::new();
    for address in cfg.blocks().flat_map(llvm::block_instructions) {
        let elements = Element::at(address);
        let is_reached = |from: Value| {
            cfg.dominates(
                llvm::instruction_block(from),
                llvm::instruction_block(address),
            )
        };
        let other = elements.iter().find_map(|element| {
            let mut others = known.iter();
            let near = others.find(|(near, from)| near.is_in_column(element) && is_reached(*from));
            near.map(|near| (near, element))
        });
        if let Some(((near, from), element)) = other {
            near.allow_outside(*from);
            element.step(
                builder,
                address,
                *from,
                element.row.1.wrapping_sub(near.row.1),
            );
        } else if let Some(element) = elements.first() {
            let address = element.join(builder, address);
            known.extend(elements.iter().map(|&element| (element, address)));
        }
    }
}

/// `array[row * len + col]`, where the row is a number and a constant.
#[derive(Clone, Copy)]
struct Element {
    of: Type,
    array: Value,
    product: Value,
    row: (Value, i64),
    len: Value,
    col: Value,
}

impl Element {
    /// What an address may be of: either factor may be the length.
    fn at(address: Value) -> Vec<Element> {
        let of_row = indexed(address).and_then(|(of, row, col)| {
            let (of_row, array, product) = indexed(row)?;
            let is_product = llvm::is_instruction(product)
                .is_some_and(|product| llvm::opcode(product) == opcode::MUL);
            (of_row == of && is_product).then_some((of, array, product, col))
        });
        let Some((of, array, product, col)) = of_row else {
            return Vec::new();
        };
        let factors = [0, 1].map(|place| llvm::operand(product, place));
        let ways = [factors, [factors[1], factors[0]]];
        let element = |[row, len]: [Value; 2]| Element {
            of,
            array,
            product,
            row: sum(row),
            len,
            col,
        };
        ways.map(element).into()
    }

    /// Whether another element is in the same column of the same array.
    fn is_in_column(&self, other: &Element) -> bool {
        let column = |of: &Element| (of.of, of.array, of.row.0, of.len, of.col);
        column(self) == column(other)
    }

    /// Adds the column to the product, unless others need the row's address.
    fn join(&self, builder: Builder, address: Value) -> Value {
        let row = llvm::operand(address, 0);
        if llvm::users(row).len() > 1 {
            return address;
        }
        llvm::position_before(builder, address);
        let place = llvm::add(builder, self.product, self.col);
        let joined = llvm::element_pointer(builder, self.of, self.array, place);
        llvm::replace_instruction(address, joined);
        // Where the back end finds it, it makes two additions again.
        llvm::erase(row);
        joined
    }

    /// Forgets that the element is in the array, which it need not be where only another one is read.
    fn allow_outside(&self, address: Value) {
        for address in [address, llvm::operand(address, 0)] {
            if llvm::is_gep(address).is_some() {
                llvm::set_gep_flags(address, 0);
            }
        }
        let row = llvm::operands(self.product).filter(|&row| sum(row) == self.row);
        let numbers = row.chain([self.product]);
        for number in numbers.filter(|&number| {
            let code = llvm::is_instruction(number).map(llvm::opcode);
            [Some(opcode::ADD), Some(opcode::MUL)].contains(&code)
        }) {
            llvm::set_no_unsigned_wrap(number, 0);
            llvm::set_no_signed_wrap(number, 0);
        }
    }

    /// Makes the address of this element one of an element so many rows before.
    fn step(&self, builder: Builder, address: Value, from: Value, rows: i64) {
        llvm::position_before(builder, address);
        let rows = llvm::const_int(llvm::type_of(self.len), rows.cast_unsigned(), 1);
        let distance = llvm::binary(builder, opcode::MUL, self.len, rows);
        let stepped = llvm::element_pointer(builder, self.of, from, distance);
        llvm::replace_instruction(address, stepped);
    }
}

/// The type of elements, the pointer and the index of an address that has one.
fn indexed(address: Value) -> Option<(Type, Value, Value)> {
    let address = llvm::is_gep(address)?;
    if llvm::operand_count(address) != 2 {
        return None;
    }
    let [pointer, index] = [0, 1].map(|place| llvm::operand(address, place));
    let is_wide = llvm::integer_width(llvm::type_of(index)) == INDEX_BITS;
    is_wide.then(|| (llvm::gep_element(address), pointer, index))
}

/// A value as another one and a constant.
fn sum(value: Value) -> (Value, i64) {
    let sum = llvm::is_instruction(value).filter(|&sum| llvm::opcode(sum) == opcode::ADD);
    let terms = sum.and_then(|sum| {
        let more = llvm::signed_constant(llvm::operand(sum, 1))?;
        Some((llvm::operand(sum, 0), more))
    });
    terms.unwrap_or((value, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::parse;
    use crate::optimise;

    /// How many products of two numbers and how many addresses a function with `body` computes.
    fn operations(body: &str) -> [usize; 2] {
        let (_, module) = parse(&format!(
            "define void @f(ptr %x, i64 %row, i64 %col, i64 %len, i1 %c) {{
            entry:
                %first = mul i64 %len, %row
                %start = getelementptr inbounds nuw [4 x float], ptr %x, i64 %first
                %here = getelementptr inbounds nuw [4 x float], ptr %start, i64 %col
                store float 1.0, ptr %here
                {body}
            }}"
        ));
        simplify(module);
        optimise::verify(module).unwrap();
        optimise::run_passes(module, "function(dce)", None).unwrap();
        let function = llvm::function(module, "f").unwrap();
        let all = llvm::instructions(function).into_iter();
        let by_constant =
            |&i: &Value| llvm::operands(i).any(|i| llvm::signed_constant(i).is_some());
        let (constant, rest): (Vec<Value>, Vec<Value>) = all.partition(by_constant);
        assert!(constant.iter().all(|&i| llvm::is_gep(i).is_none()));
        [opcode::MUL, opcode::GEP]
            .map(|wanted| rest.iter().filter(|&&i| llvm::opcode(i) == wanted).count())
    }

    /// The element in the same column whose row is made by `row`.
    fn other(row: &str) -> String {
        format!(
            "%other = {row}
            %far = mul i64 %other, %len
            %begin = getelementptr inbounds nuw [4 x float], ptr %x, i64 %far
            %there = getelementptr inbounds nuw [4 x float], ptr %begin, i64 %col
            store float 2.0, ptr %there"
        )
    }

    #[test]
    fn an_element_is_the_array_and_one_index() {
        assert_eq!(operations("ret void"), [1, 1]);
    }

    #[test]
    fn an_element_of_another_row_is_so_many_rows_from_the_first() {
        for row in ["add i64 %row, 1", "add i64 %row, -1"] {
            let there = other(row);
            assert_eq!(operations(&format!("{there} ret void")), [1, 2], "{row}");
            let branch = format!(
                "br i1 %c, label %then, label %end then: {there} br label %end end: ret void"
            );
            assert_eq!(operations(&branch), [1, 2], "{row}");
        }
    }

    /// Whether LLVM may still think that the first row is in the array, in a function with `body`.
    fn first_row_is_inside(body: &str) -> bool {
        let (_, module) = parse(&format!(
            "define void @f(ptr %x, i64 %row, i64 %col, i64 %len) {{
                %first = mul nuw i64 %len, %row
                %start = getelementptr inbounds nuw [4 x float], ptr %x, i64 %first
                %here = getelementptr inbounds nuw [4 x float], ptr %start, i64 %col
                store float 1.0, ptr %here
                {body}
                ret void
            }}"
        ));
        simplify(module);
        let function = llvm::function(module, "f").unwrap();
        let mut all = llvm::instructions(function).into_iter();
        let first = all.find(|&i| llvm::opcode(i) == opcode::MUL).unwrap();
        llvm::no_unsigned_wrap(first) != 0
    }

    #[test]
    fn an_element_may_be_inside_where_the_one_that_it_is_found_from_is_not() {
        assert!(first_row_is_inside(""));
        assert!(!first_row_is_inside(&other("add i64 %row, 1")));
    }

    #[test]
    fn an_element_of_a_row_that_is_not_known_has_its_own_product() {
        let there = other("add i64 %row, %col");
        assert_eq!(operations(&format!("{there} ret void")), [2, 2]);
    }

    #[test]
    fn a_row_of_which_more_is_needed_has_its_address() {
        assert_eq!(operations("store float 2.0, ptr %start ret void"), [1, 2]);
    }

    #[test]
    fn loops_are_left_to_the_strength_reduction() {
        assert_eq!(
            operations("br label %loop loop: br i1 %c, label %loop, label %end end: ret void"),
            [1, 2]
        );
    }
}
