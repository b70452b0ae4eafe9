//! What one declaration becomes.
//!
//! - `struct scale`: the kernel with the shape of a launch so far, and a `launch` of the declared parameters.
//! - the text that follows the user's source: a kernel of this signature that calls the user's function, and the entry by
//!   which the program finds it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, Ident, Type};

use crate::kernel_macro::expansion::{argument_type, documentation, is_unsafe, raw_type};
use crate::kernel_macro::{Parameter, Signature};

/// The type.
pub fn handle(signature: &Signature) -> TokenStream {
    let name = signature.name();
    let visibility = &signature.function.vis;
    let documentation = documentation(&signature.function.attrs);
    quote! {
        #(#documentation)*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Debug)]
        #visibility struct #name {
            function: ::oxwarp::__private::RunTimeKernel,
        }
    }
}

/// Its source and its launch.
pub fn implementation(signature: &Signature) -> TokenStream {
    let name = signature.name();
    let text = name.to_string();
    let signature_type = signature_type(signature);
    let tail = tail(signature).to_string();
    let launch = launch(signature);
    quote! {
        // SAFETY: `launch` passes the parameters that the signature and the text after the source have.
        unsafe impl ::oxwarp::RustKernel for #name {
            type Signature = #signature_type;
            const NAME: &'static str = #text;
            const TAIL: &'static str = #tail;
            const COMPILATION: &'static ::oxwarp::__private::Compilation = &__COMPILATION;

            fn of(function: ::oxwarp::__private::RunTimeKernel) -> Self {
                Self { function }
            }
        }

        #[allow(dead_code)]
        impl #name {
            ::oxwarp::launch_shape! { function }

            /// Looks into the kernel on a device: PTX, machine code, registers, spills, memory, occupancy.
            ///
            /// # Errors
            ///
            /// If the kernel cannot be loaded.
            pub fn inspect(&self, gpu: &::oxwarp::Gpu) -> ::oxwarp::Result<::oxwarp::KernelInfo> {
                self.function.inspect(gpu)
            }

            /// Explains the kernel without a GPU: what its code does, and each check that is left in a loop.
            ///
            /// # Errors
            ///
            /// If the kernel has no PTX.
            pub fn explain(&self) -> ::oxwarp::Result<::oxwarp::KernelReport> {
                self.function.explain(::core::option::Option::None)
            }

            /// [`explain`](Self::explain) for a GPU of this compute capability, 90 for 9.0.
            ///
            /// # Errors
            ///
            /// If the kernel has no PTX that runs on such a GPU.
            pub fn explain_for(&self, compute_capability: u32) -> ::oxwarp::Result<::oxwarp::KernelReport> {
                self.function.explain(::core::option::Option::Some(compute_capability))
            }
            #launch
        }
    }
}

fn launch(signature: &Signature) -> TokenStream {
    let is_unsafe = is_unsafe(signature);
    let unsafety = is_unsafe.then(|| quote!(unsafe));
    let safety = is_unsafe.then(|| {
        quote! {
            ///
            /// # Safety
            ///
            /// The kernel is an `unsafe fn`: what it demands must hold in every thread of the launch.
        }
    });
    let names: Vec<&Ident> = signature.parameters.iter().map(|p| &p.name).collect();
    let types = signature.parameters.iter().map(argument_type);
    let views = signature.parameters.iter().filter(|p| p.is_view);
    let views = views.map(|p| &p.name);
    let raw_types = signature.parameters.iter().map(raw_type);
    let fields = signature
        .parameters
        .iter()
        .map(|Parameter { name, is_view, .. }| {
            if *is_view {
                quote!(::oxwarp::__private::KernelArg::raw(#name, &mut __arguments))
            } else {
                quote!(#name)
            }
        });
    quote! {
        /// Queues the launch and returns; a panic in the kernel is the error of the next wait.
        ///
        /// # Errors
        ///
        /// If the shape is over a limit of the device, the arguments are of different devices, or the device code cannot
        /// be loaded.
        #safety
        #[allow(clippy::too_many_arguments)]
        pub #unsafety fn launch(&self, #(#names: #types),*) -> ::oxwarp::Result<()> {
            #[repr(C)]
            struct __Params(#(#raw_types,)* ::core::marker::PhantomData<fn() -> ()>);

            #[allow(unused_mut)]
            let mut __arguments = self.function.arguments();
            #(__arguments.prefers(&#views);)*
            let __params = __Params(#(#fields,)* ::core::marker::PhantomData);
            // SAFETY: the parameters are those of the signature, and the arrays behind the views are borrowed.
            unsafe { self.function.launch(__arguments, (&raw const __params).cast()) }
        }
    }
}

/// Tells signatures apart.
fn signature_type(signature: &Signature) -> TokenStream {
    let types = signature.parameters.iter().map(|parameter| &parameter.ty);
    quote!(fn(#(#types),*))
}

/// The text after the user's source.
fn tail(signature: &Signature) -> TokenStream {
    let name = signature.name();
    let names = || signature.parameters.iter().map(|parameter| &parameter.name);
    let types = signature
        .function
        .sig
        .inputs
        .iter()
        .filter_map(written_type);
    let (names_of_call, names) = (names(), names());
    let signature_type = signature_type(signature);
    let call = quote!(super::#name(#(#names_of_call),*));
    let (unsafety, call) = match is_unsafe(signature) {
        false => (quote!(), call),
        true => (quote!(unsafe), quote!(unsafe { #call })),
    };
    quote! {
        #[allow(unused_imports)]
        use ::oxwarp::prelude::*;

        #[doc(hidden)]
        mod oxwarp_run_time {
            #[allow(unused_imports)]
            use super::*;

            #[::oxwarp::kernel]
            #[allow(clippy::missing_safety_doc)]
            pub #unsafety fn #name(#(#names: #types),*) {
                #call
            }

            ::oxwarp::run_time_entry! { #name, #signature_type }
        }
    }
}

fn written_type(input: &FnArg) -> Option<&Type> {
    match input {
        FnArg::Typed(typed) => Some(&typed.ty),
        FnArg::Receiver(_) => None,
    }
}
