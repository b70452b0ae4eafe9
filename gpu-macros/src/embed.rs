//! What a device pass leaves in the program: PTX as literals that register at start, or errors at the user's tokens.
//!
//! The first macro of a crate to expand carries the crate's whole module. Both rustc passes must see the same items in
//! the same order, so that the `TypeId`s of what follows agree: only literals differ between them.

use std::sync::atomic::{AtomicBool, Ordering};

use gpu_compiler::report::{Diagnostic, Place};
use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::device_pass::{self, Error, Outcome, TRACKED_VARIABLES};

/// The stack that a kernel gets whose depth is not known, in bytes a thread. CUDA's own default of 1 KiB is too small
/// for `sort_unstable` and for formatting.
const DEEP_STACK_BYTES: u32 = 16 * 1024;

/// The registration of this crate's device code, for the first caller; nothing for others.
pub fn module_of_this_crate() -> TokenStream {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.swap(true, Ordering::Relaxed) {
        return TokenStream::new();
    }
    let crate_name = std::env::var("CARGO_CRATE_NAME").unwrap_or_else(|_| "the crate".into());
    let [images, kernels, skipped] = literals();
    let for_device = matches!(device_pass::outcome(), Outcome::Inside);
    let tracked = tracked_inputs();
    let failure = failure();
    let foreign = errors_of_other_crates_kernels(&crate_name);
    quote! {
        const _: () = {
            ::oxwarp::__private::inventory::submit! {
                ::oxwarp::__private::DeviceCode {
                    crate_name: #crate_name,
                    images: &[#images],
                    kernels: &[#kernels],
                    skipped: #skipped,
                }
            }
            struct Local;
            #[used]
            static TWINS: ::oxwarp::__private::Twins = ::oxwarp::__private::Twins::of::<Local>(#for_device);
            #tracked
        };
        #failure
        #foreign
    }
}

fn literals() -> [TokenStream; 3] {
    match device_pass::outcome() {
        Outcome::Compiled { images, report } => {
            let images = images.iter().map(|(target, ptx)| {
                let (target, ptx) = (target.0, Literal::c_string(ptx));
                quote! { ::oxwarp::__private::Image { target: #target, ptx: #ptx }, }
            });
            let kernels = report.kernels.iter().map(|kernel| {
                let id = kernel.id;
                let symbol = Literal::c_string(&std::ffi::CString::new(kernel.symbol.as_str()).unwrap_or_default());
                let (dimensions, shared_bytes) = (kernel.dimensions, kernel.shared_bytes);
                let (cooperative, prints, allocates) = (kernel.cooperative, kernel.prints, kernel.allocates);
                let stack_bytes = if kernel.deep_stack { DEEP_STACK_BYTES } else { 0 };
                quote! {
                    ::oxwarp::__private::CompiledKernel {
                        id: #id, symbol: #symbol, dimensions: #dimensions, shared_bytes: #shared_bytes,
                        cooperative: #cooperative,
                        stack_bytes: #stack_bytes,
                        prints: #prints, allocates: #allocates,
                    },
                }
            });
            [
                images.collect(),
                kernels.collect(),
                quote!(::core::option::Option::None),
            ]
        }
        Outcome::Skipped(reason) => [TokenStream::new(), TokenStream::new(), some(reason)],
        Outcome::Inside => [
            TokenStream::new(),
            TokenStream::new(),
            quote!(::core::option::Option::None),
        ],
        Outcome::Failed(_) => [
            TokenStream::new(),
            TokenStream::new(),
            some("the device pass failed"),
        ],
    }
}

fn some(reason: &str) -> TokenStream {
    quote!(::core::option::Option::Some(#reason))
}

/// Tells rustc, and so Cargo, what else than the source the device code depends on.
fn tracked_inputs() -> TokenStream {
    let variables = TRACKED_VARIABLES.iter().map(|name| {
        quote! { const _: ::core::option::Option<&str> = ::core::option_env!(#name); }
    });
    let manifest = device_pass::manifest().map(|path| {
        let path = path.display().to_string();
        quote! { const _: &[u8] = ::core::include_bytes!(#path); }
    });
    quote! { #(#variables)* #manifest }
}

/// The error of a device pass that failed.
///
/// Where rustc failed, the user's source is mostly at fault, and the running rustc says so better. Only if it comes as
/// far as generating code is the failure an error of its own.
fn failure() -> TokenStream {
    let Outcome::Failed(error) = device_pass::outcome() else {
        return TokenStream::new();
    };
    let message = format!("no device code for this crate: {error}");
    if !matches!(error, Error::Rustc(_)) {
        return quote! { ::core::compile_error!(#message); };
    }
    quote! {
        const _: () = {
            struct DevicePass<const N: usize>;
            impl<const N: usize> DevicePass<N> {
                const FAILED: () = ::core::panic!("{}", #message);
            }
            fn fail<const N: usize>() {
                DevicePass::<N>::FAILED
            }
            #[used]
            static FAIL: fn() = fail::<0>;
        };
    }
}

fn diagnostics() -> &'static [Diagnostic] {
    match device_pass::outcome() {
        Outcome::Compiled { report, .. } => &report.diagnostics,
        _ => &[],
    }
}

/// A generic kernel of another crate, launched here with something that cannot run on a device.
fn errors_of_other_crates_kernels(crate_name: &str) -> TokenStream {
    let foreign = diagnostics()
        .iter()
        .filter(|diagnostic| diagnostic.module.split("::").next() != Some(crate_name));
    foreign
        .map(|diagnostic| error_at(Span::call_site(), diagnostic))
        .collect()
}

/// The errors of the kernel `name`, each at the token of `source` that it is about, or at the name.
pub fn errors_of_kernel(name: &syn::Ident, source: &TokenStream) -> TokenStream {
    let of_kernel = diagnostics()
        .iter()
        .filter(|diagnostic| is_at(name, diagnostic));
    let errors = of_kernel.map(|diagnostic| {
        let span = diagnostic
            .places
            .iter()
            .find_map(|place| token_at(source.clone(), place));
        error_at(span.unwrap_or(name.span()), diagnostic)
    });
    errors.collect()
}

/// Whether a diagnostic is about the kernel whose name stands there. A macro can write several kernels at one place.
fn is_at(name: &syn::Ident, diagnostic: &Diagnostic) -> bool {
    let span = name.span().unwrap();
    *name == diagnostic.kernel && diagnostic.file.ends_with(&span.file())
}

fn error_at(span: Span, diagnostic: &Diagnostic) -> TokenStream {
    let Diagnostic {
        kernel,
        message,
        help,
        places,
        ..
    } = diagnostic;
    let mut text = format!("in the kernel `{kernel}`: {message}\nhelp: {help}");
    for Place { file, line, column } in places.iter().filter(|place| place.line > 0) {
        text.push_str(&format!("\n  at {file}:{line}:{column}"));
    }
    quote_spanned! { span=> ::core::compile_error!(#text); }
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
