//! Smaller programs of a program: one statement less, or an expression replaced by a simpler one of its type.

use crate::tree::{Block, Expression, Part, Program};

/// All programs that are one step smaller.
pub fn smaller(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for number in 0.. {
        let mut candidate = program.clone();
        if !remove(&mut candidate, number) {
            break;
        }
        found.push(candidate);
    }
    for number in 0.. {
        let Some(simpler) = simpler_of(&mut program.clone(), number) else {
            break;
        };
        for replacement in simpler {
            let mut candidate = program.clone();
            replace(&mut candidate, number, replacement);
            found.push(candidate);
        }
    }
    found
}

fn blocks(program: &mut Program) -> impl Iterator<Item = &mut Block> {
    let helpers = program.helpers.iter_mut().map(|(_, body, _)| body);
    helpers.chain([&mut program.body])
}

/// Leaves out the statement with this number of those that can be left out.
fn remove(program: &mut Program, number: usize) -> bool {
    let mut left = number;
    blocks(program).any(|block| remove_from(block, &mut left))
}

fn remove_from(block: &mut Block, left: &mut usize) -> bool {
    for place in 0..block.0.len() {
        if block.0[place].removable {
            if *left == 0 {
                block.0.remove(place);
                return true;
            }
            *left -= 1;
        }
        let inside = block.0[place].parts.iter_mut().any(|part| match part {
            Part::Block(block) => remove_from(block, left),
            _ => false,
        });
        if inside {
            return true;
        }
    }
    false
}

/// What the expression with this number may be replaced by; `None` if there are not so many.
fn simpler_of(program: &mut Program, number: usize) -> Option<Vec<Expression>> {
    let mut found = None;
    at(program, number, &mut |expression| {
        found = Some(simpler(expression))
    });
    found
}

fn replace(program: &mut Program, number: usize, replacement: Expression) {
    at(program, number, &mut |expression| {
        *expression = replacement.clone()
    });
}

fn simpler(expression: &Expression) -> Vec<Expression> {
    let text = expression.to_string();
    let literal = expression.of.simple().filter(|literal| *literal != text);
    let mut found: Vec<_> = literal
        .map(|literal| Expression::text(expression.of, literal))
        .into_iter()
        .collect();
    for part in &expression.parts {
        if let Part::Expression(inside) = part
            && inside.of == expression.of
        {
            found.push(inside.clone());
        }
    }
    found
}

/// Calls `act` with the expression with this number, those outside before those inside.
fn at(program: &mut Program, number: usize, act: &mut impl FnMut(&mut Expression)) {
    let mut left = number;
    for (_, body, result) in &mut program.helpers {
        if in_block(body, &mut left, act) || in_expression(result, &mut left, act) {
            return;
        }
    }
    in_block(&mut program.body, &mut left, act);
}

fn in_block(block: &mut Block, left: &mut usize, act: &mut impl FnMut(&mut Expression)) -> bool {
    let mut parts = block
        .0
        .iter_mut()
        .flat_map(|statement| &mut statement.parts);
    parts.any(|part| in_part(part, left, act))
}

fn in_part(part: &mut Part, left: &mut usize, act: &mut impl FnMut(&mut Expression)) -> bool {
    match part {
        Part::Text(_) => false,
        Part::Expression(expression) => in_expression(expression, left, act),
        Part::Block(block) => in_block(block, left, act),
    }
}

fn in_expression(
    expression: &mut Expression,
    left: &mut usize,
    act: &mut impl FnMut(&mut Expression),
) -> bool {
    if *left == 0 {
        act(expression);
        return true;
    }
    *left -= 1;
    expression
        .parts
        .iter_mut()
        .any(|part| in_part(part, left, act))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;

    #[test]
    fn steps_make_a_program_smaller_and_end() {
        let mut program = Generator::new(3).program();
        let mut steps = 0;
        while let Some(next) = smaller(&program)
            .into_iter()
            .min_by_key(|program| program.to_string().len())
            .filter(|next| next.to_string().len() < program.to_string().len())
        {
            program = next;
            steps += 1;
        }
        assert!(steps > 3, "{steps} steps");
        // What is left are declarations that cannot go.
        assert!(program.body.0.iter().all(|statement| !statement.removable));
    }

    #[test]
    fn a_seed_gives_one_program() {
        let text = |seed| Generator::new(seed).program().to_string();
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }
}
