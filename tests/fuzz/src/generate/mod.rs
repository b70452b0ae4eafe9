//! Makes a random program.
//!
//! In: a seed. Out: a [`Program`] that compiles, ends, and gives the same result wherever Rust is right. It may panic, by an
//! index, a division or an overflow. Floats are only used in ways whose result the IEEE standard fixes to the bit, but for
//! the bits of a NaN, which are never looked at.

mod expressions;
mod statements;

use std::fmt::Write;

use crate::random::Random;
use crate::tree::{Block, Expression, Program};
use crate::types::{Scalar, Type};

/// A variable in scope.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    of: Type,
    mutable: bool,
}

/// A helper function.
#[derive(Clone, Debug)]
struct Helper {
    name: String,
    parameters: Vec<Type>,
    result: Scalar,
}

/// What is known while a program is made.
pub struct Generator {
    random: Random,
    /// The scalar fields of each struct.
    structs: Vec<Vec<Scalar>>,
    /// The scalars of each variant of each enum.
    enums: Vec<Vec<Vec<Scalar>>>,
    helpers: Vec<Helper>,
    variables: Vec<Variable>,
    names: usize,
    /// How many loops are around.
    loops: usize,
    /// How many there may be.
    most_loops: usize,
}

impl Generator {
    /// A generator of one program.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            structs: Vec::new(),
            enums: Vec::new(),
            helpers: Vec::new(),
            variables: Vec::new(),
            names: 0,
            loops: 0,
            most_loops: 0,
        }
    }

    /// The program.
    pub fn program(mut self) -> Program {
        let types = self.types();
        let helpers = (0..self.random.below(3)).map(|_| self.helper()).collect();
        self.most_loops = 2;
        self.variables = vec![Variable {
            name: "x".to_owned(),
            of: Type::Array(Scalar::Integer(false, 64), 4),
            mutable: false,
        }];
        let mut body = Block::default();
        for _ in 0..3 + self.random.below(4) {
            let statement = self.declaration(1);
            body.0.push(statement);
        }
        for _ in 0..3 + self.random.below(5) {
            let statement = self.statement(2);
            body.0.push(statement);
        }
        let own = self.variables.iter().skip(1);
        let results = own.map(|variable| variable.name.clone()).collect();
        Program {
            types,
            helpers,
            body,
            results,
        }
    }

    fn types(&mut self) -> String {
        let mut text = String::new();
        for number in 0..self.random.below(3) {
            let fields: Vec<_> = (0..1 + self.random.below(4))
                .map(|_| Scalar::any(&mut self.random))
                .collect();
            write_struct(&mut text, number, &fields);
            self.structs.push(fields);
        }
        for number in 0..self.random.below(3) {
            let variants: Vec<Vec<_>> = (0..1 + self.random.below(4))
                .map(|_| {
                    let count = self.random.below(3);
                    (0..count).map(|_| Scalar::any(&mut self.random)).collect()
                })
                .collect();
            write_enum(&mut text, number, &variants);
            self.enums.push(variants);
        }
        text
    }

    /// A function that `program` may call.
    fn helper(&mut self) -> (String, Block, Expression) {
        self.most_loops = 1;
        self.variables.clear();
        let parameters: Vec<_> = (0..1 + self.random.below(3))
            .map(|_| self.any_type())
            .collect();
        let mut head = String::new();
        for &of in &parameters {
            let name = self.name("p");
            let _ = write!(head, "mut {name}: {of}, ");
            self.variables.push(Variable {
                name,
                of,
                mutable: true,
            });
        }
        let mut body = Block::default();
        for _ in 0..1 + self.random.below(3) {
            let statement = self.statement(1);
            body.0.push(statement);
        }
        let result = Scalar::any(&mut self.random);
        let value = self.expression(Type::Scalar(result), 2);
        let name = format!("helper_{}", self.helpers.len());
        let head = format!("fn {name}({head}) -> {result}");
        self.helpers.push(Helper {
            name,
            parameters,
            result,
        });
        (head, body, value)
    }

    fn any_type(&mut self) -> Type {
        let scalar = Scalar::any(&mut self.random);
        match self.random.below(8) {
            0 => Type::Array(scalar, 1 + self.random.below(8)),
            1 => Type::Option(scalar),
            2 if !self.structs.is_empty() => Type::Struct(self.random.below(self.structs.len())),
            3 if !self.enums.is_empty() => Type::Enum(self.random.below(self.enums.len())),
            _ => Type::Scalar(scalar),
        }
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
}

fn write_struct(text: &mut String, number: usize, fields: &[Scalar]) {
    let mut declared = String::new();
    let mut added = String::new();
    for (field, of) in fields.iter().enumerate() {
        let _ = write!(declared, "pub f{field}: {of}, ");
        let _ = write!(added, "self.f{field}.add_to(hash); ");
    }
    let _ = write!(
        text,
        "#[derive(Clone, Copy, Debug, PartialEq)]\npub struct S{number} {{ {declared} }}\n\
         impl AddTo for S{number} {{ #[inline] fn add_to(&self, hash: &mut Hash) {{ {added} }} }}\n"
    );
}

fn write_enum(text: &mut String, number: usize, variants: &[Vec<Scalar>]) {
    let mut declared = String::new();
    let mut arms = String::new();
    for (variant, fields) in variants.iter().enumerate() {
        let types: Vec<_> = fields.iter().map(Scalar::to_string).collect();
        let names: Vec<_> = (0..fields.len()).map(|field| format!("v{field}")).collect();
        let _ = write!(declared, "V{variant}({}), ", types.join(", "));
        let added: String = names
            .iter()
            .map(|name| format!("{name}.add_to(hash); "))
            .collect();
        let _ = write!(
            arms,
            "E{number}::V{variant}({}) => {{ {variant}u8.add_to(hash); {added} }} ",
            names.join(", ")
        );
    }
    let _ = write!(
        text,
        "#[derive(Clone, Copy, Debug, PartialEq)]\npub enum E{number} {{ {declared} }}\n\
         impl AddTo for E{number} {{ #[inline] fn add_to(&self, hash: &mut Hash) {{ match self {{ {arms} }} }} }}\n"
    );
}
