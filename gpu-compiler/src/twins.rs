//! Code for functions of alloc that a dependency has compiled, for the host only: that of their twins (`gpu_std::twins`).

use crate::error::Error;
use crate::llvm::{self, Module, Value};
use crate::records;

/// `gpu_std::twins::TWINS_MAGIC`.
const TWINS_MAGIC: &[u8; 16] = b"oxwarp twins  01";
/// `gpu_std::twins::FUNCTIONS`.
const FUNCTIONS: usize = 3;

/// Calls the twins of functions that are only declared here.
pub fn replace_what_is_missing(module: Module) -> Result<(), Error> {
    for functions in records::pointers_of_tables(module, TWINS_MAGIC)? {
        for pair in functions.chunks_exact(2 * FUNCTIONS) {
            let (of_one, of_other) = pair.split_at(FUNCTIONS);
            for (&one, &other) in of_one.iter().zip(of_other) {
                replace_called(one, other);
            }
        }
    }
    Ok(())
}

/// Of two functions that differ in what they call only, replaces what the first calls, however deep, by what the second does,
/// where just the second's is defined.
fn replace_called(one: Value, other: Value) {
    let (of_one, of_other) = (called(one), called(other));
    if of_one.len() != of_other.len() {
        return;
    }
    for (one, other) in of_one.into_iter().zip(of_other) {
        let same = one == other || llvm::value_type(one) != llvm::value_type(other);
        if same || llvm::declared_only(other) {
            continue;
        }
        match llvm::declared_only(one) {
            true => llvm::replace_all_uses(one, other),
            false => replace_called(one, other),
        }
    }
}

/// The functions that a function calls, in order.
fn called(function: Value) -> Vec<Value> {
    llvm::instructions(function)
        .into_iter()
        .filter(|&instruction| llvm::is_call_site(instruction))
        .filter_map(|call| llvm::is_function(llvm::called_value(call)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;

    #[test]
    fn what_is_missing_is_replaced_however_deep() {
        let (_, module) = notation::parse(
            r#"
            @twins = internal constant { [16 x i8], ptr, ptr, ptr, ptr, ptr, ptr } { [16 x i8] c"oxwarp twins  01",
                ptr @push, ptr @known, ptr @known, ptr @push_like, ptr @known, ptr @known }
            declare void @grow(ptr)
            declare void @std(ptr)
            define void @grow_like(ptr %v) { call void @std(ptr %v) ret void }
            define void @inner(ptr %v) { call void @std(ptr %v) call void @grow(ptr %v) ret void }
            define void @inner_like(ptr %v) { call void @std(ptr %v) call void @grow_like(ptr %v) ret void }
            define void @push(ptr %v) { call void @inner(ptr %v) ret void }
            define void @push_like(ptr %v) { call void @inner_like(ptr %v) ret void }
            define void @known(ptr %v) { call void @std(ptr %v) ret void }
            define void @kernel(ptr %v) { call void @grow(ptr %v) ret void }
            "#,
        );
        replace_what_is_missing(module).unwrap();
        let calls = |name: &str| -> Vec<String> {
            let function = llvm::function(module, name).unwrap();
            called(function).into_iter().map(llvm::name).collect()
        };
        assert_eq!(calls("kernel"), ["grow_like"]);
        assert_eq!(calls("inner"), ["std", "grow_like"]);
        assert_eq!(calls("push"), ["inner"]);
        assert_eq!(calls("grow_like"), ["std"]);
    }
}
