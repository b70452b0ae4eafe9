//! The methods of `struct add`, the builder of a launch: its shape, what can be asked of the kernel, and the launch with the
//! kernel's own signature, at once (`launch`), for later (`bind`) and for many times (`plan`).

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, parse_quote};

use super::expansion::{HostGenerics, argument_type, is_unsafe};
use super::signature::{Parameter, Signature};

/// Writes the builder's implementations. They stand beside `__Params` and `__Instance`.
pub(super) fn expand(signature: &Signature, generics: &HostGenerics) -> TokenStream {
    let name = signature.name();
    let traits = traits(name, generics);
    let shape = shape(name);
    let questions = questions(generics);
    let launch = launch(signature, generics);
    let bind = bind(signature, generics);
    let plan = plan(signature, generics);
    quote! {
        #traits

        #[allow(dead_code)]
        impl #name {
            #shape
            #questions
            #launch
            #bind
            #plan
        }
    }
}

fn traits(name: &Ident, generics: &HostGenerics) -> TokenStream {
    let sole_instance = generics.names.is_empty().then(|| {
        quote! {
            impl ::oxwarp::__private::SoleInstance for #name {
                fn record() -> &'static ::oxwarp::__private::KernelRecord {
                    <__Instance as ::oxwarp::__private::KernelInstance>::RECORD
                }
            }
        }
    });
    quote! {
        impl ::oxwarp::__private::KernelBuilder for #name {
            #[inline]
            fn from_config(config: ::oxwarp::__private::LaunchConfig) -> Self {
                #name { config }
            }
        }

        #sole_instance
    }
}

fn shape(name: &Ident) -> TokenStream {
    quote! {
        /// Sets the blocks of the grid: a number, `(x, y)` or `(x, y, z)`.
        #[inline]
        pub fn grid(self, grid: impl ::oxwarp::ToDim) -> Self {
            #name { config: self.config.grid(grid) }
        }

        /// Sets the threads of a block: a number, `(x, y)` or `(x, y, z)`.
        #[inline]
        pub fn block(self, block: impl ::oxwarp::ToDim) -> Self {
            #name { config: self.config.block(block) }
        }

        /// Lets the driver choose the threads of a block, so that most of them run at once: for a kernel that is right
        /// for any block size.
        #[inline]
        pub fn auto_block(self) -> Self {
            #name { config: self.config.auto_block() }
        }

        /// Gives each block so many bytes of dynamic shared memory, for `shared::dynamic()` in the kernel.
        #[inline]
        pub fn shared_bytes(self, bytes: impl ::oxwarp::Count) -> Self {
            #name { config: self.config.shared_bytes(bytes) }
        }

        /// Launches the grid in clusters of so many blocks, at most 8: a number, `(x, y)` or `(x, y, z)`, of which each
        /// dimension of the grid is a multiple.
        #[inline]
        pub fn cluster(self, cluster: impl ::oxwarp::ToDim) -> Self {
            #name { config: self.config.cluster(cluster) }
        }

        /// Chooses the stream: a `Stream`, or the one of a `Gpu`.
        #[inline]
        pub fn on(self, stream: impl ::core::convert::AsRef<::oxwarp::Stream>) -> Self {
            #name { config: self.config.on(stream) }
        }
    }
}

fn questions(generics: &HostGenerics) -> TokenStream {
    let (impl_generics, type_generics, where_clause) = generics.declared.split_for_impl();
    quote! {
        /// The most blocks of so many threads that run at once, for a kernel that waits for its whole grid
        /// (`grid::sync`): on the device of [`on`](Self::on), with the bytes of
        /// [`shared_bytes`](Self::shared_bytes).
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = ""]
        #[doc = "If the block is over a limit of the device, or the device code cannot be loaded."]
        pub fn max_cooperative_blocks #impl_generics (
            &self,
            block: impl ::oxwarp::ToDim,
        ) -> ::oxwarp::Result<u64> #where_clause {
            ::oxwarp::__private::max_cooperative_blocks::<__Instance #type_generics>(&self.config, block)
        }

        /// Looks into the kernel on a device: PTX, machine code, registers, spills, memory, occupancy.
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = ""]
        #[doc = "If the kernel has no device code, or it cannot be loaded."]
        pub fn inspect #impl_generics (
            &self,
            gpu: &::oxwarp::Gpu,
        ) -> ::oxwarp::Result<::oxwarp::KernelInfo> #where_clause {
            ::oxwarp::__private::inspect::<__Instance #type_generics>(gpu)
        }

        /// Explains the kernel without a GPU: what its code does, and each check that is left in a loop.
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = ""]
        #[doc = "If the kernel has no device code."]
        pub fn explain #impl_generics (&self) -> ::oxwarp::Result<::oxwarp::KernelReport> #where_clause {
            ::oxwarp::__private::explain::<__Instance #type_generics>(::core::option::Option::None)
        }

        /// [`explain`](Self::explain) for a GPU of this compute capability, 90 for 9.0.
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = ""]
        #[doc = "If the kernel has no device code that runs on such a GPU."]
        pub fn explain_for #impl_generics (
            &self,
            compute_capability: u32,
        ) -> ::oxwarp::Result<::oxwarp::KernelReport> #where_clause {
            ::oxwarp::__private::explain::<__Instance #type_generics>(::core::option::Option::Some(compute_capability))
        }
    }
}

fn launch(signature: &Signature, generics: &HostGenerics) -> TokenStream {
    let (impl_generics, type_generics, where_clause) = generics.declared.split_for_impl();
    let (unsafety, safety) = unsafety(signature);
    let names = names(signature);
    let types = signature.parameters.iter().map(argument_type);
    let fields = fields(signature);
    let views = signature.parameters.iter();
    let views = views.filter(|parameter| parameter.is_view);
    let views: Vec<&Ident> = views.map(|parameter| &parameter.name).collect();
    quote! {
        /// Queues the launch and returns; a panic in the kernel is the error of the next wait.
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = ""]
        #[doc = "If the shape is over a limit of the device, the arguments are of different devices, or the device \
                 code cannot be loaded."]
        #safety
        #[allow(clippy::too_many_arguments)]
        #[inline]
        pub #unsafety fn launch #impl_generics (self, #(#names: #types),*) -> ::oxwarp::Result<()> #where_clause {
            #[allow(unused_mut)]
            let mut __arguments = ::oxwarp::__private::Arguments::new();
            if false #(|| ::oxwarp::__private::is_host_data(&#views))* {
                __arguments = ::oxwarp::__private::Arguments::of(&self.config);
                #(__arguments.prefers(&#views);)*
            }
            let __params: __Params #type_generics = __Params(#(#fields,)* ::core::marker::PhantomData);
            // SAFETY: the parameters are those of the instance, and the arrays behind the views are borrowed.
            unsafe {
                ::oxwarp::__private::launch::<__Instance #type_generics>(
                    &self.config,
                    __arguments,
                    (&raw const __params).cast(),
                )
            }
        }
    }
}

fn bind(signature: &Signature, generics: &HostGenerics) -> TokenStream {
    let (_, type_generics, where_clause) = generics.declared.split_for_impl();
    let mut of_arrays = generics.declared.clone();
    of_arrays.params.insert(0, parse_quote!('__arrays));
    let (impl_generics, _, _) = of_arrays.split_for_impl();
    let (unsafety, safety) = unsafety(signature);
    let names = names(signature);
    let fields = fields(signature);
    let types = signature.parameters.iter().map(|parameter| {
        let ty = argument_type(parameter);
        if parameter.is_view {
            quote!(#ty + '__arrays)
        } else {
            ty
        }
    });
    quote! {
        /// The launch with its arguments, for a graph's node, or to change a plan or a node.
        #safety
        #[allow(clippy::too_many_arguments)]
        pub #unsafety fn bind #impl_generics (
            self,
            #(#names: #types),*
        ) -> ::oxwarp::BoundLaunch<'__arrays> #where_clause {
            #[allow(unused_mut)]
            let mut __arguments = ::oxwarp::__private::Arguments::new();
            let __params: __Params #type_generics = __Params(#(#fields,)* ::core::marker::PhantomData);
            // SAFETY: the parameters are those of the instance, and the arrays behind the views are borrowed as long as
            // the launch.
            unsafe {
                ::oxwarp::__private::bind::<__Instance #type_generics>(
                    self.config,
                    __arguments,
                    (&raw const __params).cast(),
                )
            }
        }
    }
}

fn plan(signature: &Signature, generics: &HostGenerics) -> TokenStream {
    let (impl_generics, _, where_clause) = generics.declared.split_for_impl();
    let (unsafety, safety) = unsafety(signature);
    let names = names(signature);
    let types = signature.parameters.iter().map(argument_type);
    let type_names = &generics.names;
    let turbofish = (!type_names.is_empty()).then(|| quote!(::<#(#type_names),*>));
    let mut bind = quote!(self.bind #turbofish (#(#names),*));
    if is_unsafe(signature) {
        // SAFETY of the call: the caller of `plan` promises what `bind` demands.
        bind = quote!(unsafe { #bind });
    }
    quote! {
        /// Checks and packs the launch once, for many replays. The plan owns its part in the arrays' memory, so they can
        /// be used between the replays.
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = ""]
        #[doc = "Those of a launch."]
        #safety
        #[allow(clippy::too_many_arguments)]
        pub #unsafety fn plan #impl_generics (self, #(#names: #types),*) -> ::oxwarp::Result<::oxwarp::Plan> #where_clause {
            #bind.plan()
        }
    }
}

fn names(signature: &Signature) -> Vec<&Ident> {
    let parameters = signature.parameters.iter();
    parameters.map(|parameter| &parameter.name).collect()
}

/// What the parameter struct holds of each argument.
fn fields(signature: &Signature) -> impl Iterator<Item = TokenStream> {
    signature
        .parameters
        .iter()
        .map(|Parameter { name, is_view, .. }| {
            if *is_view {
                quote!(::oxwarp::__private::KernelArg::raw(#name, &mut __arguments))
            } else {
                quote!(#name)
            }
        })
}

/// The word and the documentation of a launch that is `unsafe`.
fn unsafety(signature: &Signature) -> (Option<TokenStream>, Option<TokenStream>) {
    let is_unsafe = is_unsafe(signature);
    let documentation = quote! {
        #[doc = ""]
        #[doc = "# Safety"]
        #[doc = ""]
        #[doc = "The kernel is an `unsafe fn`: what it demands must hold in every thread of the launch."]
    };
    (
        is_unsafe.then(|| quote!(unsafe)),
        is_unsafe.then_some(documentation),
    )
}
