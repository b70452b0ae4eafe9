//! A program as a tree of text: what it prints as is Rust.
//!
//! An expression, a statement or a block is text with others inside. The generator need not know more to build a program,
//! nor the reduction to take one apart: an expression may be replaced by any other of its type, a statement left out unless
//! others need it.

use std::fmt;

use crate::types::Type;

/// Text, or a part of the program in it.
#[derive(Clone, Debug)]
pub enum Part {
    Text(String),
    Expression(Expression),
    Block(Block),
}

/// An expression and its type.
#[derive(Clone, Debug)]
pub struct Expression {
    pub of: Type,
    pub parts: Vec<Part>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    pub parts: Vec<Part>,
    /// Whether the program is one without it.
    pub removable: bool,
}

/// Statements one after the other.
#[derive(Clone, Debug, Default)]
pub struct Block(pub Vec<Statement>);

/// A whole program: the items that its function needs, and the function's body.
#[derive(Clone, Debug)]
pub struct Program {
    /// Structs and enums.
    pub types: String,
    /// Helper functions, each its head, body and result.
    pub helpers: Vec<(String, Block, Expression)>,
    /// The body.
    pub body: Block,
    /// Variables of the body whose values are the result.
    pub results: Vec<String>,
}

impl Expression {
    /// Text without parts.
    pub fn text(of: Type, text: impl Into<String>) -> Self {
        Self {
            of,
            parts: vec![Part::Text(text.into())],
        }
    }

    /// The expressions in the gaps `{}` of a text.
    pub fn with(of: Type, text: &str, inside: impl IntoIterator<Item = Expression>) -> Self {
        Self {
            of,
            parts: fill(text, inside.into_iter().map(Part::Expression)),
        }
    }
}

impl Statement {
    /// The parts in the gaps `{}` of a text.
    pub fn with(text: &str, inside: impl IntoIterator<Item = Part>) -> Self {
        Self {
            parts: fill(text, inside),
            removable: true,
        }
    }

    /// One that others need.
    pub fn needed(mut self) -> Self {
        self.removable = false;
        self
    }
}

fn fill(text: &str, inside: impl IntoIterator<Item = Part>) -> Vec<Part> {
    let mut inside = inside.into_iter();
    let mut parts = Vec::new();
    for (number, piece) in text.split("{}").enumerate() {
        if number > 0 {
            parts.push(inside.next().expect("there is a part for each gap"));
        }
        if !piece.is_empty() {
            parts.push(Part::Text(piece.to_owned()));
        }
    }
    parts
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Expression(expression) => expression.fmt(f),
            Self::Block(block) => block.fmt(f),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| write!(f, "{part}"))
    }
}

impl Block {
    /// The statements without the block's braces, which end the life of its variables.
    fn write_statements(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for statement in &self.0 {
            statement
                .parts
                .iter()
                .try_for_each(|part| write!(f, "{part}"))?;
            f.write_str("\n")?;
        }
        Ok(())
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{\n")?;
        self.write_statements(f)?;
        f.write_str("}")
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.types)?;
        for (head, body, result) in &self.helpers {
            writeln!(f, "#[inline]\n{head} {{")?;
            body.write_statements(f)?;
            writeln!(f, "{result}\n}}")?;
        }
        writeln!(f, "#[inline]\npub fn program(x: [u64; 4]) -> u64 {{")?;
        writeln!(f, "let mut hash = Hash::new();")?;
        self.body.write_statements(f)?;
        for result in &self.results {
            writeln!(f, "{result}.add_to(&mut hash);")?;
        }
        writeln!(f, "hash.finish()\n}}")
    }
}
