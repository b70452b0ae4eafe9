//! Statements: declarations, assignments, branches, bounded loops.

use super::{Generator, Variable};
use crate::tree::{Block, Part, Statement};
use crate::types::{Scalar, Type, USIZE};

impl Generator {
    /// A variable with its value.
    pub fn declaration(&mut self, depth: usize) -> Statement {
        let of = self.any_type();
        let value = self.expression(of, depth);
        let name = self.name("v");
        let text = format!("let mut {name}: {of} = {{}};");
        self.variables.push(Variable {
            name,
            of,
            mutable: true,
        });
        Statement::with(&text, [Part::Expression(value)]).needed()
    }

    /// A statement, with others of at most so many levels inside.
    pub fn statement(&mut self, depth: usize) -> Statement {
        match self.random.below(if depth == 0 { 4 } else { 10 }) {
            0 | 1 => self.assignment(),
            2 => self.element_assignment(),
            3 => self.field_assignment(),
            4 => self.declaration(2),
            5 | 6 => self.branch(depth - 1),
            7 => self.match_statement(depth - 1),
            _ if self.loops < self.most_loops => self.repetition(depth - 1),
            _ => self.assignment(),
        }
    }

    fn block(&mut self, depth: usize) -> Block {
        let before = self.variables.len();
        let mut block = Block::default();
        for _ in 0..1 + self.random.below(3) {
            let statement = self.statement(depth);
            block.0.push(statement);
        }
        self.variables.truncate(before);
        block
    }

    fn mutable(&self, wanted: impl Fn(Type) -> bool) -> Vec<Variable> {
        let suitable = self
            .variables
            .iter()
            .filter(|variable| variable.mutable && wanted(variable.of));
        suitable.cloned().collect()
    }

    fn assignment(&mut self) -> Statement {
        let places = self.mutable(|_| true);
        if places.is_empty() {
            return self.declaration(2);
        }
        let place = self.random.pick(&places).clone();
        if let (Type::Scalar(of @ Scalar::Integer(..)), true) = (place.of, self.random.one_in(2)) {
            let value = self.expression(Type::Scalar(of), 2);
            let operator = *self.random.pick(&["^", "|", "&"]);
            let text = format!("{} {operator}= {{}};", place.name);
            return Statement::with(&text, [Part::Expression(value)]);
        }
        let value = self.expression(place.of, 2);
        Statement::with(
            &format!("{} = {{}};", place.name),
            [Part::Expression(value)],
        )
    }

    fn element_assignment(&mut self) -> Statement {
        let arrays = self.mutable(|of| matches!(of, Type::Array(..)));
        if arrays.is_empty() {
            return self.assignment();
        }
        let array = self.random.pick(&arrays).clone();
        let Type::Array(of, len) = array.of else {
            unreachable!("only arrays were picked")
        };
        let name = &array.name;
        match (self.random.below(6), of) {
            (0, Scalar::Integer(..)) => Statement::with(&format!("{name}.sort_unstable();"), []),
            (1, _) => Statement::with(&format!("{name}.reverse();"), []),
            (2, _) if len > 1 => Statement::with(&format!("{name}.swap(0, {});", len - 1), []),
            (3, Scalar::Integer(..)) => {
                let value = self.expression(Type::Scalar(of), 1);
                let text = format!(
                    "{{ let t = {{}}; for (i, v) in {name}.iter_mut().enumerate() {{ *v = v.wrapping_add(t) ^ i as {of}; }} }}"
                );
                Statement::with(&text, [Part::Expression(value)])
            }
            _ => {
                let bound = if self.random.one_in(8) { len + 1 } else { len };
                let inside = [
                    Part::Expression(self.expression(Type::Scalar(USIZE), 1)),
                    Part::Expression(self.expression(Type::Scalar(of), 2)),
                ];
                Statement::with(&format!("{name}[{{}} % {bound}] = {{}};"), inside)
            }
        }
    }

    fn field_assignment(&mut self) -> Statement {
        let structs = self.mutable(|of| matches!(of, Type::Struct(_)));
        if structs.is_empty() {
            return self.assignment();
        }
        let place = self.random.pick(&structs).clone();
        let Type::Struct(number) = place.of else {
            unreachable!("only structs were picked")
        };
        let field = self.random.below(self.structs[number].len());
        let value = self.expression(Type::Scalar(self.structs[number][field]), 2);
        Statement::with(
            &format!("{}.f{field} = {{}};", place.name),
            [Part::Expression(value)],
        )
    }

    fn branch(&mut self, depth: usize) -> Statement {
        let condition = Part::Expression(self.condition(1));
        let then = Part::Block(self.block(depth));
        if self.random.one_in(2) {
            return Statement::with("if {} {}", [condition, then]);
        }
        let otherwise = Part::Block(self.block(depth));
        Statement::with("if {} {} else {}", [condition, then, otherwise])
    }

    fn match_statement(&mut self, depth: usize) -> Statement {
        let of = Type::Scalar(Scalar::any_integer(&mut self.random));
        let inside = [
            Part::Expression(self.expression(of, 2)),
            Part::Block(self.block(depth)),
            Part::Block(self.block(depth)),
            Part::Block(self.block(depth)),
        ];
        Statement::with(
            "match {} { 0..=9 => {}, 10 | 20 | 30..=100 => {}, _ => {} }",
            inside,
        )
    }

    /// A loop of at most eight rounds, which may end early.
    fn repetition(&mut self, depth: usize) -> Statement {
        let name = self.name("i");
        let rounds = 1 + self.random.below(8);
        let before = self.variables.len();
        self.variables.push(Variable {
            name: name.clone(),
            of: Type::Scalar(USIZE),
            mutable: false,
        });
        self.loops += 1;
        let mut body = self.block(depth);
        if self.random.one_in(2) {
            let end = *self.random.pick(&["break", "continue"]);
            let condition = self.condition(1);
            let early = Statement::with(
                &format!("if {{}} {{ {end}; }}"),
                [Part::Expression(condition)],
            );
            let place = self.random.below(body.0.len() + 1);
            // Variables that are declared after it are not used in it: it was made after the block's own had ended.
            body.0.insert(place, early);
        }
        self.loops -= 1;
        self.variables.truncate(before);
        let text = match self.random.below(3) {
            0 => format!("for {name} in (0..{rounds}usize).rev() {{}}"),
            1 => format!("for {name} in (0..{}usize).step_by(3) {{}}", rounds * 3),
            _ => format!("for {name} in 0..{rounds}usize {{}}"),
        };
        Statement::with(&text, [Part::Block(body)])
    }
}
