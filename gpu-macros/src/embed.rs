//! What a device pass leaves in the program: PTX as literals that register at start, or the error that it failed.
//!
//! The first macro of a crate to expand carries the crate's whole module. Both rustc passes must see the same items in
//! the same order, so that the `TypeId`s of what follows agree: only literals differ between them.

use std::sync::atomic::{AtomicBool, Ordering};

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::device_errors;
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
    let foreign = device_errors::of_other_crates_kernels(&crate_name);
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
