//! Lets LLVM copy a loop that holds barriers, on one condition and no other.
//!
//! LLVM refuses to copy a loop with a convergent call, since it cannot know that all threads will choose the same copy.
//! For a condition that is the same in all threads of a block they do, so both copies meet at their barriers as the loop
//! did. While LLVM unswitches on such conditions, the convergent calls call a stand-in that is not convergent, and
//! every other condition in the loop is behind a call that LLVM cannot see through, so that it is no reason to copy.

use std::collections::{BTreeMap, BTreeSet};

use crate::llvm::{self, Block, Builder, Context, FUNCTION_INDEX, Module, Type, Value, opcode};

use super::cfg::{Cfg, Loop};

/// What is hidden, to be put back.
pub struct Hidden {
    context: Context,
    module: Module,
    builder: Builder,
    /// The stand-in of each callee.
    callees: BTreeMap<Value, Value>,
    /// The functions that conditions go through.
    opaque: BTreeMap<Type, Value>,
    /// The blocks that are done.
    blocks: BTreeSet<Block>,
}

impl Hidden {
    /// Nothing is hidden yet.
    pub fn new(context: Context, module: Module) -> Self {
        Hidden {
            context,
            module,
            builder: llvm::create_builder(context),
            callees: BTreeMap::new(),
            opaque: BTreeMap::new(),
            blocks: BTreeSet::new(),
        }
    }

    /// Whether each convergent call of a loop has a callee that a stand-in can take the place of.
    pub fn can_hide(a_loop: &Loop) -> bool {
        a_loop.convergent_calls().into_iter().all(|call| {
            let callee = llvm::called_value(call);
            llvm::is_call(call).is_some()
                && (llvm::is_function(callee).is_some() || llvm::is_inline_asm(callee).is_some())
        })
    }

    /// Hides the convergent calls of a loop, and the conditions of all loops around it.
    pub fn hide(&mut self, cfg: &Cfg, a_loop: &Loop) {
        let calls = a_loop.convergent_calls();
        if calls.is_empty() {
            return;
        }
        for call in calls {
            let stand_in = self.stand_in(call);
            let convergent = llvm::attribute("convergent");
            llvm::remove_call_attribute(call, FUNCTION_INDEX, convergent);
            llvm::set_operand(call, llvm::operand_count(call) as u32 - 1, stand_in);
        }
        for around in cfg.loops() {
            if around.contains(a_loop.header) {
                for block in around.blocks() {
                    self.hide_conditions(block);
                }
            }
        }
    }

    fn stand_in(&mut self, call: Value) -> Value {
        let (callee, number) = (llvm::called_value(call), self.callees.len());
        *self.callees.entry(callee).or_insert_with(|| {
            llvm::declare(
                self.module,
                &format!("gpu.hidden.{number}"),
                llvm::called_type(call),
            )
        })
    }

    fn hide_conditions(&mut self, block: Block) {
        if !self.blocks.insert(block) {
            return;
        }
        for instruction in llvm::block_instructions(block) {
            let is_choice = llvm::is_select(instruction).is_some()
                || llvm::is_switch(instruction).is_some()
                || llvm::conditional_branch(block) == Some(instruction);
            if !is_choice {
                continue;
            }
            let is_branch = llvm::opcode(instruction) == opcode::BR;
            let condition = if is_branch {
                llvm::condition(instruction)
            } else {
                llvm::operand(instruction, 0)
            };
            let of = llvm::type_of(condition);
            if llvm::type_kind(of) != llvm::kind::INTEGER {
                continue;
            }
            let opaque = self.opaque_function(of);
            llvm::position_before(self.builder, instruction);
            let hidden = llvm::call(self.builder, llvm::value_type(opaque), opaque, &[condition]);
            if is_branch {
                llvm::set_condition(instruction, hidden);
            } else {
                llvm::set_operand(instruction, 0, hidden);
            }
        }
    }

    fn opaque_function(&mut self, of: Type) -> Value {
        let (context, module) = (self.context, self.module);
        *self.opaque.entry(of).or_insert_with(|| {
            let name = format!("gpu.opaque.{}", llvm::integer_width(of));
            let function = llvm::declare(module, &name, llvm::signature(of, &[of]));
            // `memory(none)`: unswitching looks at what a loop reads and writes.
            llvm::add_attributes(context, function, &["memory", "nounwind", "willreturn"]);
            function
        })
    }

    /// Puts everything back, in all copies.
    pub fn restore(self) {
        let convergent =
            llvm::create_enum_attribute(self.context, llvm::attribute("convergent"), 0);
        for (callee, stand_in) in self.callees {
            for call in llvm::calls_of(stand_in) {
                llvm::add_call_attribute(call, FUNCTION_INDEX, convergent);
            }
            llvm::replace_all_uses(stand_in, callee);
            // SAFETY: it has no uses left, and no handle is kept.
            unsafe { llvm::delete_function(stand_in) };
        }
        for opaque in self.opaque.into_values() {
            for call in llvm::calls_of(opaque) {
                llvm::replace_instruction(call, llvm::operand(call, 0));
            }
            // SAFETY: as above.
            unsafe { llvm::delete_function(opaque) };
        }
    }
}
