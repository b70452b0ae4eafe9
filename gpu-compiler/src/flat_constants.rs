//! Works around a fault of LLVM 22 in pointers that may be to a constant or to the stack or to shared memory.
//!
//! `infer-address-spaces` finds out which memory a pointer is to. It leaves the constants among the operands to the end,
//! and of an element of a constant (`&TEXT[8]`) it finds out nothing. A phi or `select` of such a pointer and of one to the
//! stack then counts as one to the stack, and the constant's address is read as an address of the stack; or the operand is
//! lost, and LLVM crashes (llvm/llvm-project#172143 mends a part of it). Of an instruction's result the pass takes the
//! address space that its type has, the generic one. So for the time of the pass these constants are results of `freeze`.

use std::collections::{BTreeMap, BTreeSet};

use crate::llvm::{self, Builder, Context, Module, Value, kind, opcode};

/// The address space of a pointer that may be to any memory.
const GENERIC: u32 = 0;

/// The results that stand in place of constants.
pub struct Hidden(Vec<Value>);

/// Hides the constants that `infer-address-spaces` may take for addresses of another memory.
pub fn hide(context: Context, module: Module) -> Hidden {
    hide_those(context, module, |_| true)
}

/// Hides for good, in a module for the back end, those that are numbers and that make LLVM crash. (Of addresses of globals
/// the back end makes casts from global memory before it infers address spaces.)
pub fn hide_numbers(context: Context, module: Module) {
    hide_those(context, module, |constant| !is_in_global(constant));
}

fn hide_those(context: Context, module: Module, wanted: fn(Value) -> bool) -> Hidden {
    let builder = llvm::create_builder(context);
    let mut hidden = Vec::new();
    for function in llvm::functions(module).filter(|&function| !llvm::declared_only(function)) {
        let mut of_function = BTreeMap::new();
        let instructions = llvm::instructions(function);
        for &user in &instructions {
            for (index, constant) in mistakable(user) {
                if wanted(constant) {
                    let result = *of_function
                        .entry(constant)
                        .or_insert_with(|| result(builder, instructions[0], constant));
                    llvm::set_operand(user, index, result);
                }
            }
        }
        hidden.extend(of_function.into_values());
    }
    Hidden(hidden)
}

impl Hidden {
    /// Puts the constants back. The results are all there: the pass erases only what it puts into another address space,
    /// and nothing that is made of these.
    pub fn show(self) {
        for result in self.0 {
            llvm::replace_instruction(result, llvm::operand(result, 0));
        }
    }
}

fn result(builder: Builder, first: Value, constant: Value) -> Value {
    llvm::position_before(builder, first);
    llvm::freeze(builder, constant)
}

/// The constants among the operands that an address is made of, with their places. A null beside a pointer that is no
/// constant is what LLVM thinks: an address of any memory.
fn mistakable(user: Value) -> Vec<(u32, Value)> {
    let mut constants = address_operands(user);
    constants.retain(|&(_, operand)| is_flat_constant(operand));
    if !constants.is_empty() && !is_made_of_constants(user, &mut BTreeSet::new()) {
        constants.retain(|&(_, constant)| is_in_global(constant));
    }
    constants
}

/// The operands of a phi, `select` or element address in the generic address space that say which memory it is in.
fn address_operands(user: Value) -> Vec<(u32, Value)> {
    let places = if llvm::is_instruction(user).is_none() || !is_generic_pointer(user) {
        0..0
    } else if llvm::is_phi(user).is_some() {
        0..llvm::operand_count(user) as u32
    } else if llvm::is_select(user).is_some() {
        1..3
    } else if llvm::is_gep(user).is_some() {
        0..1
    } else {
        0..0
    };
    places
        .map(|index| (index, llvm::operand(user, index)))
        .collect()
}

/// Whether nothing but flat constants goes into an address. A cycle of phis adds nothing.
fn is_made_of_constants(address: Value, seen: &mut BTreeSet<Value>) -> bool {
    if is_flat_constant(address) || !seen.insert(address) {
        return true;
    }
    let operands = address_operands(address);
    !operands.is_empty()
        && operands
            .into_iter()
            .all(|(_, operand)| is_made_of_constants(operand, seen))
}

fn is_generic_pointer(value: Value) -> bool {
    let of = llvm::type_of(value);
    llvm::type_kind(of) == kind::POINTER && llvm::pointer_address_space(of) == GENERIC
}

/// Whether nothing in a constant says which memory it is in.
fn is_flat_constant(value: Value) -> bool {
    llvm::is_constant(value).is_some()
        && is_generic_pointer(value)
        && !has_opcode(base(value), opcode::ADDR_SPACE_CAST)
}

fn is_in_global(constant: Value) -> bool {
    let base = base(constant);
    llvm::is_global_variable(base).is_some() || llvm::is_function(base).is_some()
}

/// What a constant is an element of.
fn base(mut constant: Value) -> Value {
    while has_opcode(constant, opcode::GEP) {
        constant = llvm::operand(constant, 0);
    }
    constant
}

fn has_opcode(constant: Value, opcode: i32) -> bool {
    llvm::is_constant_expression(constant)
        .is_some_and(|expression| llvm::const_opcode(expression) == opcode)
}

#[cfg(test)]
mod tests {
    use crate::notation::parse;
    use crate::step::Steps;
    use crate::target::Target;
    use crate::{emit, optimise, retarget};

    /// The PTX of a kernel that loads from `%p`, which it takes from one of two blocks.
    fn ptx(one: (&str, &str), two: (&str, &str)) -> String {
        let join = format!("phi ptr [ {}, %one ], [ {}, %two ]", one.1, two.1);
        ptx_of(&format!(
            "br i1 %c, label %one, label %two
            one:
                {}
                br label %join
            two:
                {}
                br label %join
            join:
                %p = {join}",
            one.0, two.0
        ))
    }

    fn ptx_of(pointer: &str) -> String {
        let (context, module) = parse(&format!(
            "target triple = \"nvptx64-nvidia-cuda\"
            @text = private constant [16 x i8] c\"0123456789abcdef\", align 8
            @other = private constant [16 x i8] c\"fedcba9876543210\", align 8
            @shared = internal addrspace(3) global [16 x i8] undef, align 8
            declare void @fill(ptr)
            define ptx_kernel void @f(i1 %c, i1 %d, i64 %i, ptr addrspace(1) %out) {{
                %stack = alloca [16 x i8], align 8
                %short = alloca [8 x i8], align 8
                call void @fill(ptr %stack)
                call void @fill(ptr %short)
                call void @fill(ptr addrspacecast (ptr addrspace(3) @shared to ptr))
                {pointer}
                %v = load volatile i32, ptr %p
                store i32 %v, ptr addrspace(1) %out
                ret void
            }}"
        ));
        let machine = retarget::machine(Target(75), 64).unwrap();
        retarget::learn_data_layout(machine);
        retarget::set_target(module);
        let steps = Steps::default();
        optimise::optimise(context, module, machine, &steps).unwrap();
        optimise::verify(module).unwrap();
        emit::emit(module, machine, &steps).unwrap()
    }

    const STACK: (&str, &str) = ("%s = getelementptr inbounds i8, ptr %stack, i64 8", "%s");
    const PAST_END: (&str, &str) = (
        "%past = getelementptr inbounds i8, ptr %short, i64 8",
        "%past",
    );
    const TEXT: (&str, &str) = ("", "getelementptr inbounds (i8, ptr @text, i64 8)");
    const TEXT_AT: (&str, &str) = ("%t = getelementptr inbounds i8, ptr @text, i64 %i", "%t");
    const NUMBER: (&str, &str) = ("%n = getelementptr i8, ptr null, i64 %i", "%n");
    const SHARED: (&str, &str) = (
        "",
        "getelementptr (i8, ptr addrspacecast (ptr addrspace(3) @shared to ptr), i64 8)",
    );

    /// Whether all pointers are generic, so that the load is right for all of them.
    fn is_generic(ptx: &str) -> bool {
        ptx.contains("\tld.volatile.b32")
            && ![
                ".local.b32",
                ".shared.b32",
                "cvta.to.local",
                "cvta.to.shared",
            ]
            .iter()
            .any(|wrong| ptx.contains(wrong))
    }

    #[test]
    fn a_constant_or_the_stack_is_read_by_a_generic_address() {
        for constant in [TEXT, TEXT_AT, NUMBER] {
            for other in [STACK, PAST_END, SHARED] {
                let (there, back) = (ptx(constant, other), ptx(other, constant));
                assert!(is_generic(&there), "{constant:?} {other:?}: {there}");
                assert!(is_generic(&back), "{other:?} {constant:?}: {back}");
            }
        }
    }

    #[test]
    fn so_is_one_of_a_select() {
        for (constant, other) in [(TEXT, STACK), (TEXT, SHARED), (TEXT_AT, STACK)] {
            let selected = ptx_of(&format!(
                "{}\n{}\n%p = select i1 %c, ptr {}, ptr {}",
                constant.0, other.0, constant.1, other.1
            ));
            assert!(is_generic(&selected), "{constant:?} {other:?}: {selected}");
        }
        let of_constants = ptx_of(
            "%one = select i1 %c, ptr @text, ptr @other
            %p = select i1 %d, ptr %one, ptr %stack",
        );
        assert!(is_generic(&of_constants), "{of_constants}");
    }

    #[test]
    fn pointers_to_one_memory_are_known_to_be_and_constants_stay_what_they_are() {
        let stack = ptx(STACK, ("", "%short"));
        assert!(stack.contains("ld.local.b32"), "{stack}");
        let null = ptx(("", "null"), SHARED);
        assert!(null.contains("ld.volatile.shared.b32"), "{null}");
        let at = ptx_of(&format!(
            "{}\n%p = getelementptr i8, ptr %t, i64 0",
            TEXT_AT.0
        ));
        assert!(at.contains("ld.global.nc.b32"), "{at}");
    }

    #[test]
    fn so_is_one_that_a_loop_counts_on() {
        let text = "getelementptr (i8, ptr @text, i64 4)";
        for start in [text, "inttoptr (i64 8 to ptr)", "null"] {
            let counted = ptx_of(&format!(
                "br i1 %c, label %first, label %other
                first:
                    br label %loop
                loop:
                    %q = phi ptr [ {start}, %first ], [ %next, %loop ]
                    %next = getelementptr i8, ptr %q, i64 4
                    %x = load volatile i32, ptr %q
                    %done = icmp eq i32 %x, 7
                    br i1 %done, label %join, label %loop
                other:
                    br label %join
                join:
                    %p = phi ptr [ %q, %loop ], [ %stack, %other ]"
            ));
            assert!(is_generic(&counted), "{start}: {counted}");
        }
    }
}
