//! What a kernel does that no device can run, as errors at the user's tokens.
//!
//! In: the diagnostics of the device pass, each with the places that led to it, the innermost first. Out: an error for each
//! token of the kernel that is at fault. One call often needs many things that a device lacks: the error is about the one that
//! is nearest to the call, and counts the others.

use std::fmt::Write;

use gpu_compiler::report::{Diagnostic, Place};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::Ident;

use crate::device_pass::{self, Outcome};

/// The diagnostics of one token, the nearest to it first.
struct AtToken<'a> {
    /// Its place and span; `None` where no place is in the kernel's own source.
    token: Option<(&'a Place, Span)>,
    diagnostics: Vec<&'a Diagnostic>,
}

/// The errors of the kernel `name`, each at the token of `source` that it is about, or at the name.
pub fn of_kernel(name: &Ident, source: &TokenStream) -> TokenStream {
    let of_kernel = diagnostics()
        .iter()
        .filter(|diagnostic| is_at(name, diagnostic));
    let tokens = by_token(of_kernel, source);
    let errors = tokens.iter().map(|AtToken { token, diagnostics }| {
        error_at(token.map_or(name.span(), |(_, span)| span), diagnostics)
    });
    errors.collect()
}

/// A generic kernel of another crate, launched here with something that cannot run on a device.
pub fn of_other_crates_kernels(crate_name: &str) -> TokenStream {
    let foreign = diagnostics()
        .iter()
        .filter(|diagnostic| diagnostic.module.split("::").next() != Some(crate_name));
    foreign
        .map(|diagnostic| error_at(Span::call_site(), &[diagnostic]))
        .collect()
}

fn diagnostics() -> &'static [Diagnostic] {
    match device_pass::outcome() {
        Outcome::Compiled { report, .. } => &report.diagnostics,
        _ => &[],
    }
}

/// Whether a diagnostic is about the kernel whose name stands there. A macro can write several kernels at one place.
fn is_at(name: &Ident, diagnostic: &Diagnostic) -> bool {
    let span = name.span().unwrap();
    *name == diagnostic.kernel && diagnostic.file.ends_with(&span.file())
}

/// What is called through a pointer, such as a closure that the library keeps, has no place in the kernel's source: it belongs
/// to the first call that has one.
fn by_token<'a>(
    diagnostics: impl Iterator<Item = &'a Diagnostic>,
    source: &TokenStream,
) -> Vec<AtToken<'a>> {
    let mut tokens: Vec<AtToken> = Vec::new();
    let mut elsewhere = Vec::new();
    for diagnostic in diagnostics {
        let mut places = diagnostic.places.iter();
        let token = places.find_map(|place| Some((place, token_at(source.clone(), place)?)));
        let Some((place, _)) = token else {
            elsewhere.push(diagnostic);
            continue;
        };
        let same = |at: &&mut AtToken| at.token.is_some_and(|(other, _)| other == place);
        match tokens.iter_mut().find(same) {
            Some(at) => at.diagnostics.push(diagnostic),
            None => tokens.push(AtToken {
                token,
                diagnostics: vec![diagnostic],
            }),
        }
    }
    let distance = |diagnostic: &&Diagnostic| diagnostic.places.len();
    for at in &mut tokens {
        at.diagnostics.sort_by_key(distance);
    }
    elsewhere.sort_by_key(distance);
    match tokens.first_mut() {
        Some(first) => first.diagnostics.append(&mut elsewhere),
        None if elsewhere.is_empty() => {}
        None => tokens.push(AtToken {
            token: None,
            diagnostics: elsewhere,
        }),
    }
    tokens
}

/// The error of the first of these diagnostics, and how many more there are.
fn error_at(span: Span, diagnostics: &[&Diagnostic]) -> TokenStream {
    let [first, others @ ..] = diagnostics else {
        return TokenStream::new();
    };
    let Diagnostic {
        kernel,
        message,
        help,
        places,
        ..
    } = first;
    let mut text = format!("in the kernel `{kernel}`: {message}\nhelp: {help}");
    for line in trace(places) {
        let _ = write!(text, "\n  at {line}");
    }
    if !others.is_empty() {
        let _ = write!(
            text,
            "\n  and {} more of what it needs cannot run on a GPU either",
            others.len()
        );
    }
    quote_spanned! { span=> ::core::compile_error!(#text); }
}

/// The places, with those of the standard library counted.
fn trace(places: &[Place]) -> Vec<String> {
    let known: Vec<&Place> = places.iter().filter(|place| place.line > 0).collect();
    let mut lines = Vec::new();
    for part in known.chunk_by(|one, next| is_std(one) == is_std(next)) {
        if is_std(part[0]) {
            lines.push(match part.len() {
                1 => "1 place in the standard library".to_owned(),
                count => format!("{count} places in the standard library"),
            });
            continue;
        }
        lines.extend(
            part.iter()
                .map(|Place { file, line, column }| format!("{file}:{line}:{column}")),
        );
    }
    lines
}

/// Whether it is in the standard library: where that was built, or where rustup installs its source.
fn is_std(place: &Place) -> bool {
    place.file.starts_with("/rustc/") || place.file.contains("/lib/rustlib/src/rust/library/")
}

/// The token that begins at `place`.
fn token_at(tokens: TokenStream, place: &Place) -> Option<Span> {
    tokens.into_iter().find_map(|token| {
        let span = token.span().unwrap();
        let begins = span.line() == place.line as usize && span.column() == place.column as usize;
        if begins && place.file.ends_with(&span.file()) {
            return Some(token.span());
        }
        match token {
            TokenTree::Group(group) => token_at(group.stream(), place),
            _ => None,
        }
    })
}
