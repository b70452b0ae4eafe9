//! Expressions of a type.

use super::{Generator, Variable};
use crate::tree::{Expression, Part};
use crate::types::{INTEGERS, Scalar, Type, U32, USIZE};

/// Methods of all integers: the text, and what its gaps are: `s` the same type, `u` a `u32`.
const OF_INTEGERS: [(&str, &str); 28] = [
    ("{}.wrapping_add({})", "ss"),
    ("{}.wrapping_sub({})", "ss"),
    ("{}.wrapping_mul({})", "ss"),
    ("{}.wrapping_neg()", "s"),
    ("{}.wrapping_shl({})", "su"),
    ("{}.wrapping_shr({})", "su"),
    ("{}.wrapping_pow({} % 9)", "su"),
    ("{}.saturating_add({})", "ss"),
    ("{}.saturating_sub({})", "ss"),
    ("{}.saturating_mul({})", "ss"),
    ("{}.checked_add({}).unwrap_or({})", "sss"),
    ("{}.checked_mul({}).unwrap_or({})", "sss"),
    ("{}.checked_div({}).unwrap_or({})", "sss"),
    ("{}.checked_rem({}).unwrap_or({})", "sss"),
    ("{}.checked_shl({}).unwrap_or({})", "sus"),
    ("{}.overflowing_sub({}).0", "ss"),
    ("{}.rotate_left({} % 200)", "su"),
    ("{}.rotate_right({} % 200)", "su"),
    ("{}.swap_bytes()", "s"),
    ("{}.reverse_bits()", "s"),
    ("{}.min({})", "ss"),
    ("{}.max({})", "ss"),
    ("({} & {})", "ss"),
    ("({} | {})", "ss"),
    ("({} ^ {})", "ss"),
    ("(!{})", "s"),
    ("{}.checked_rem_euclid({}).unwrap_or({})", "sss"),
    ("{}.clamp({1}, {2})", "s"),
];

/// Operators that may panic.
const MAY_PANIC: [(&str, &str); 7] = [
    ("({} + {})", "ss"),
    ("({} - {})", "ss"),
    ("({} * {})", "ss"),
    ("({} / {})", "ss"),
    ("({} % {})", "ss"),
    ("({} << ({} & 7))", "su"),
    ("({} >> ({} & 7))", "su"),
];

/// What gives the same bits on every machine.
const OF_FLOATS: [(&str, &str); 14] = [
    ("({} + {})", "ss"),
    ("({} - {})", "ss"),
    ("({} * {})", "ss"),
    ("({} / {})", "ss"),
    ("({} % {})", "ss"),
    ("(-{})", "s"),
    ("{}.abs()", "s"),
    ("{}.sqrt()", "s"),
    ("{}.floor()", "s"),
    ("{}.ceil()", "s"),
    ("{}.trunc()", "s"),
    ("{}.round()", "s"),
    ("{}.round_ties_even()", "s"),
    ("{}.mul_add({}, {})", "sss"),
];

impl Generator {
    /// An expression of the type, of at most so many levels.
    pub fn expression(&mut self, of: Type, depth: usize) -> Expression {
        let known = self.variables_of(of);
        if !known.is_empty() && (depth == 0 || self.random.one_in(3)) {
            let variable = self.random.pick(&known).name.clone();
            return Expression::text(of, variable);
        }
        match of {
            Type::Scalar(scalar) if depth > 0 => self.scalar(scalar, depth - 1),
            Type::Scalar(scalar) => Expression::text(of, scalar.literal(&mut self.random)),
            Type::Array(scalar, len) => self.array(scalar, len, depth.saturating_sub(1)),
            Type::Option(scalar) => self.option(scalar, depth.saturating_sub(1)),
            Type::Struct(number) => {
                let fields = self.structs[number].clone();
                let gaps: Vec<_> = (0..fields.len())
                    .map(|field| format!("f{field}: {{}}"))
                    .collect();
                let values = self.scalars(&fields, depth.saturating_sub(1));
                Expression::with(of, &format!("S{number} {{ {} }}", gaps.join(", ")), values)
            }
            Type::Enum(number) => {
                let variant = self.random.below(self.enums[number].len());
                let fields = self.enums[number][variant].clone();
                let gaps = vec!["{}"; fields.len()].join(", ");
                let values = self.scalars(&fields, depth.saturating_sub(1));
                Expression::with(of, &format!("E{number}::V{variant}({gaps})"), values)
            }
        }
    }

    fn scalars(&mut self, of: &[Scalar], depth: usize) -> Vec<Expression> {
        of.iter()
            .map(|&of| self.expression(Type::Scalar(of), depth))
            .collect()
    }

    fn variables_of(&self, of: Type) -> Vec<Variable> {
        let same = self.variables.iter().filter(|variable| variable.of == of);
        same.cloned().collect()
    }

    fn scalar(&mut self, of: Scalar, depth: usize) -> Expression {
        let whole = Type::Scalar(of);
        match self.random.below(14) {
            12 | 13 => self.expression(whole, 0),
            0 => self.choice(of, depth),
            1 => self.element(of, depth),
            2 => self.conversion(of, depth),
            3 => self.unpacked(of, depth),
            4 => self.call(of, depth),
            5 => self.fold(of, depth),
            6 => Expression::text(whole, of.literal(&mut self.random)),
            _ => self.operation(of, depth),
        }
    }

    fn operation(&mut self, of: Scalar, depth: usize) -> Expression {
        let (text, gaps) = match of {
            Scalar::Bool => return self.condition(depth),
            Scalar::Float(_) => *self.random.pick(&OF_FLOATS),
            Scalar::Integer(..) if self.random.one_in(4) => *self.random.pick(&MAY_PANIC),
            Scalar::Integer(..) => *self.random.pick(&OF_INTEGERS),
        };
        let text = text
            .replace("{1}", &format!("{of}::MAX / 5"))
            .replace("{2}", &format!("{of}::MAX / 2"));
        let inside: Vec<_> = gaps
            .chars()
            .map(|gap| if gap == 'u' { U32 } else { of })
            .map(|of| self.expression(Type::Scalar(of), depth))
            .collect();
        let mut made = Expression::with(Type::Scalar(of), &text, inside);
        // A literal such as `-1i32` before a method binds less than the method.
        if let Some(Part::Expression(_)) = made.parts.first() {
            made.parts.insert(0, Part::Text("(".to_owned()));
            made.parts.insert(2, Part::Text(")".to_owned()));
        }
        made
    }

    /// An expression of type `bool`.
    pub fn condition(&mut self, depth: usize) -> Expression {
        let bool = Type::Scalar(Scalar::Bool);
        match self.random.below(6) {
            0 => Expression::with(bool, "(!{})", [self.expression(bool, depth)]),
            1 | 2 => {
                let text =
                    *self
                        .random
                        .pick(&["({} && {})", "({} || {})", "({} ^ {})", "({} == {})"]);
                let sides = [self.expression(bool, depth), self.expression(bool, depth)];
                Expression::with(bool, text, sides)
            }
            _ => {
                let of = Type::Scalar(Scalar::any(&mut self.random));
                let text = *self.random.pick(&[
                    "({} < {})",
                    "({} >= {})",
                    "({} == {})",
                    "({} != {})",
                    "({} > {})",
                ]);
                let sides = [self.expression(of, depth), self.expression(of, depth)];
                Expression::with(bool, text, sides)
            }
        }
    }

    fn choice(&mut self, of: Scalar, depth: usize) -> Expression {
        let whole = Type::Scalar(of);
        if self.random.one_in(2) {
            let inside = [
                self.condition(depth.min(1)),
                self.expression(whole, depth),
                self.expression(whole, depth),
            ];
            return Expression::with(whole, "(if {} { {} } else { {} })", inside);
        }
        let subject = Scalar::any_integer(&mut self.random);
        let inside = [
            self.expression(Type::Scalar(subject), depth),
            self.expression(whole, depth.min(1)),
            self.expression(whole, depth.min(1)),
            self.condition(depth.min(1)),
            self.expression(whole, 0),
            self.expression(whole, 0),
        ];
        let text = "(match {} { 0 | 7 => {}, 1..=50 => {}, n if n % 2 == 1 && {} => {}, _ => {} })";
        Expression::with(whole, text, inside)
    }

    /// An element of an array, with an index that may be out of bounds, now and then.
    fn element(&mut self, of: Scalar, depth: usize) -> Expression {
        let whole = Type::Scalar(of);
        let arrays: Vec<_> = (self.variables.iter())
            .filter_map(|variable| match variable.of {
                Type::Array(scalar, len) if scalar == of => Some((variable.name.clone(), len)),
                _ => None,
            })
            .collect();
        if arrays.is_empty() {
            return self.expression(whole, 0);
        }
        let (name, len) = self.random.pick(&arrays).clone();
        let index = self.expression(Type::Scalar(USIZE), depth);
        let bound = if self.random.one_in(8) { len + 1 } else { len };
        Expression::with(whole, &format!("{name}[{{}} % {bound}]"), [index])
    }

    fn conversion(&mut self, of: Scalar, depth: usize) -> Expression {
        let whole = Type::Scalar(of);
        let from = Scalar::any(&mut self.random);
        match (from, of) {
            (Scalar::Bool, Scalar::Float(_)) | (_, Scalar::Bool) => self.expression(whole, depth),
            _ => {
                let value = self.expression(Type::Scalar(from), depth);
                Expression::with(whole, &format!("({{}} as {of})"), [value])
            }
        }
    }

    /// What is in an option, a struct, an enum, or the number of bits that are set.
    fn unpacked(&mut self, of: Scalar, depth: usize) -> Expression {
        let whole = Type::Scalar(of);
        let fields: Vec<_> = (self.variables.iter())
            .filter_map(|variable| match variable.of {
                Type::Struct(number) => {
                    let field = self.structs[number].iter().position(|&field| field == of)?;
                    Some(format!("{}.f{field}", variable.name))
                }
                _ => None,
            })
            .collect();
        if !fields.is_empty() && self.random.one_in(2) {
            return Expression::text(whole, self.random.pick(&fields).clone());
        }
        if !self.enums.is_empty() && self.random.one_in(2) {
            return self.matched(of, depth);
        }
        if of == U32 && self.random.one_in(2) {
            let from = Type::Scalar(*self.random.pick(&INTEGERS));
            let method = *self.random.pick(&[
                "count_ones",
                "leading_zeros",
                "trailing_zeros",
                "leading_ones",
            ]);
            let value = self.expression(from, depth);
            return Expression::with(whole, &format!("({{}}).{method}()"), [value]);
        }
        let inside = [
            self.expression(Type::Option(of), depth),
            self.expression(whole, depth),
        ];
        let text = *self.random.pick(&[
            "{}.unwrap_or({})",
            "{}.map_or({}, |v| v)",
            "(if let Some(v) = {} { v } else { {} })",
        ]);
        Expression::with(whole, text, inside)
    }

    /// A match of an enum, whose arms use what its variants hold.
    fn matched(&mut self, of: Scalar, depth: usize) -> Expression {
        let number = self.random.below(self.enums.len());
        let mut inside = vec![self.expression(Type::Enum(number), depth)];
        let mut text = "(match {} { ".to_owned();
        for (variant, fields) in self.enums[number].clone().into_iter().enumerate() {
            let before = self.variables.len();
            let mut names = Vec::new();
            for field in fields {
                let name = self.name("m");
                names.push(name.clone());
                self.variables.push(Variable {
                    name,
                    of: Type::Scalar(field),
                    mutable: false,
                });
            }
            text.push_str(&format!(
                "E{number}::V{variant}({}) => {{}}, ",
                names.join(", ")
            ));
            inside.push(self.expression(Type::Scalar(of), depth.min(1)));
            self.variables.truncate(before);
        }
        text.push_str("})");
        Expression::with(Type::Scalar(of), &text, inside)
    }

    fn call(&mut self, of: Scalar, depth: usize) -> Expression {
        let whole = Type::Scalar(of);
        let callable: Vec<_> = (self.helpers.iter())
            .filter(|helper| helper.result == of)
            .cloned()
            .collect();
        if callable.is_empty() || self.loops > 1 {
            return self.expression(whole, depth);
        }
        let helper = self.random.pick(&callable).clone();
        let values: Vec<_> = helper
            .parameters
            .iter()
            .map(|&of| self.expression(of, depth.min(1)))
            .collect();
        let gaps = vec!["{}"; values.len()].join(", ");
        Expression::with(whole, &format!("{}({gaps})", helper.name), values)
    }

    /// Something of all elements of an array, by an iterator.
    fn fold(&mut self, of: Scalar, depth: usize) -> Expression {
        let whole = Type::Scalar(of);
        let len = 1 + self.random.below(8);
        let array = self.expression(Type::Array(of, len), depth);
        match of {
            Scalar::Integer(..) => {
                let text = *self.random.pick(&[
                    "{}.iter().fold({}, |a, &b| a.wrapping_mul(31 as T).wrapping_add(b))",
                    "{}.iter().rev().map(|v| v ^ {}).max().unwrap_or_default()",
                    "{}.iter().copied().filter(|&v| v > {}).min().unwrap_or_default()",
                    "{}.windows(2).map(|w| w[0].wrapping_sub(w[1])).fold({}, |a, b| a ^ b)",
                    "{}.chunks(3).enumerate().map(|(i, c)| c[c.len() - 1].wrapping_shl(i as u32)).fold({}, |a, b| a | b)",
                    "{}.iter().zip([{}; 3]).skip(1).fold(1 as T, |a, (x, y)| a ^ x.wrapping_mul(y))",
                    "{}.iter().position(|&v| v == {}).unwrap_or(99) as T",
                    "{}.iter().take_while(|&&v| v != {}).count() as T",
                ]);
                let value = self.expression(whole, depth);
                let text = text.replace("as T", &format!("as {of}"));
                Expression::with(whole, &format!("({text})"), [array, value])
            }
            Scalar::Float(_) => {
                let value = self.expression(whole, depth);
                Expression::with(whole, "{}.iter().fold({}, |a, b| a - b)", [array, value])
            }
            Scalar::Bool => Expression::with(whole, "{}.iter().any(|&v| v)", [array]),
        }
    }

    fn array(&mut self, of: Scalar, len: usize, depth: usize) -> Expression {
        let whole = Type::Array(of, len);
        if self.random.one_in(3) {
            let value = self.expression(Type::Scalar(of), depth);
            return Expression::with(whole, &format!("[{{}}; {len}]"), [value]);
        }
        let values = self.scalars(&vec![of; len], 0);
        let gaps = vec!["{}"; len].join(", ");
        Expression::with(whole, &format!("[{gaps}]"), values)
    }

    fn option(&mut self, of: Scalar, depth: usize) -> Expression {
        let (whole, scalar) = (Type::Option(of), Type::Scalar(of));
        if let (Scalar::Integer(..), true) = (of, self.random.one_in(2)) {
            let method =
                *self
                    .random
                    .pick(&["checked_add", "checked_sub", "checked_mul", "checked_div"]);
            let sides = [
                self.expression(scalar, depth),
                self.expression(scalar, depth),
            ];
            return Expression::with(whole, &format!("({{}}).{method}({{}})"), sides);
        }
        if self.random.one_in(4) {
            return Expression::text(whole, format!("Option::<{of}>::None"));
        }
        Expression::with(whole, "Some({})", [self.expression(scalar, depth)])
    }
}
