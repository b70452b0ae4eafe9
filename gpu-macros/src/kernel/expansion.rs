//! What `#[kernel] fn add` becomes.
//!
//! - `struct add`: the builder of a launch, with `grid`, `block`, `on` and a `launch` of the kernel's own signature.
//! - `fn add() -> add`: the handle. A function, because a local variable may have the name of a function, but not that
//!   of a constant or a unit struct.
//! - in a block of its own: the user's function, unchanged; the parameter struct that crosses the launch; the entry
//!   that reads it; and the instance's record for the device compiler.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, Expr, GenericParam, Generics, Ident, Index, parse_quote};

use super::options::Options;
use super::signature::{Parameter, Signature};

/// Writes the expansion.
pub fn expand(signature: &Signature, options: &Options) -> TokenStream {
    let generics = HostGenerics::of(&signature.function.sig.generics);
    let handle = handle(signature);
    let function = function(signature);
    let instance = instance(signature, &generics, options);
    let launch = launch(signature, &generics);
    let values = check_values(signature, &generics);
    quote! {
        #handle
        const _: () = {
            #function
            #instance
            #launch
            #values
        };
    }
}

/// The kernel's type and const parameters, without lifetimes, and with `'static` types: a `TypeId` stands for them.
struct HostGenerics {
    /// With bounds, for `impl<...>`.
    declared: Generics,
    /// `T, N`
    names: Vec<Ident>,
}

impl HostGenerics {
    fn of(generics: &Generics) -> Self {
        let mut declared = generics.clone();
        declared.params = generics
            .params
            .iter()
            .filter(|p| !matches!(p, GenericParam::Lifetime(_)))
            .cloned()
            .collect();
        let mut names = Vec::new();
        let mut in_where_clause: Vec<syn::WherePredicate> = Vec::new();
        for parameter in &mut declared.params {
            match parameter {
                GenericParam::Type(parameter) => {
                    let name = parameter.ident.clone();
                    // Where the user's bounds are: clippy objects to bounds in two places.
                    if parameter.bounds.is_empty() {
                        in_where_clause.push(parse_quote!(#name: 'static));
                    } else {
                        parameter.bounds.push(parse_quote!('static));
                    }
                    names.push(name);
                }
                GenericParam::Const(parameter) => names.push(parameter.ident.clone()),
                GenericParam::Lifetime(_) => {}
            }
        }
        declared
            .make_where_clause()
            .predicates
            .extend(in_where_clause);
        HostGenerics { declared, names }
    }

    /// Types that mention every type parameter, for `PhantomData`.
    fn phantom(&self) -> TokenStream {
        let types = self
            .declared
            .type_params()
            .map(|parameter| &parameter.ident);
        quote!(::core::marker::PhantomData<fn() -> (#(#types,)*)>)
    }
}

fn handle(signature: &Signature) -> TokenStream {
    let (name, visibility) = (signature.name(), &signature.function.vis);
    let documentation = documentation(&signature.function.attrs);
    let launches =
        format!("A launch of the kernel [`{name}`](fn@{name}), as far as it is described.");
    quote! {
        #[doc = #launches]
        #[allow(non_camel_case_types)]
        #[must_use = "a kernel runs when it is launched: call `launch` with its arguments"]
        #[derive(Clone, Debug)]
        #visibility struct #name {
            config: ::oxwarp::__private::LaunchConfig,
        }

        #(#documentation)*
        #[must_use = "a kernel runs when it is launched: call `grid`, `block` and `launch`"]
        #[inline]
        #visibility fn #name() -> #name {
            #name { config: ::core::default::Default::default() }
        }
    }
}

pub(crate) fn documentation(attributes: &[Attribute]) -> Vec<TokenStream> {
    let own: Vec<&Attribute> = attributes
        .iter()
        .filter(|a| {
            ["doc", "deprecated", "cfg"]
                .iter()
                .any(|name| a.path().is_ident(name))
        })
        .collect();
    if own.iter().any(|attribute| attribute.path().is_ident("doc")) {
        own.iter().map(|attribute| quote!(#attribute)).collect()
    } else {
        let mut all: Vec<TokenStream> = own.iter().map(|attribute| quote!(#attribute)).collect();
        all.push(quote!(#[doc = "A kernel."]));
        all
    }
}

/// The user's function, which keeps its name: in its own block it hides the handle, so recursion works.
fn function(signature: &Signature) -> TokenStream {
    let mut function = signature.function.clone();
    function.vis = syn::Visibility::Inherited;
    function
        .attrs
        .retain(|attribute| !attribute.path().is_ident("doc"));
    quote! {
        // Each parameter of a kernel is an array or a number: there may be many.
        #[allow(clippy::too_many_arguments)]
        #[inline]
        #function
    }
}

fn instance(signature: &Signature, generics: &HostGenerics, options: &Options) -> TokenStream {
    let name = signature.name();
    let names = &generics.names;
    let (impl_generics, type_generics, where_clause) = generics.declared.split_for_impl();
    let phantom = generics.phantom();
    let raw_types = signature.parameters.iter().map(raw_type);
    let arguments = signature.parameters.iter().enumerate().map(read_parameter);
    let flags = flags(signature, options);
    let block = three("block", &options.block);
    let cluster = three("cluster", &options.cluster);
    let max_threads = bound("max_threads", &options.max_threads);
    let min_blocks = bound("min_blocks", &options.min_blocks);
    let max_registers = bound("max_registers", &options.max_registers);
    let views = signature
        .parameters
        .iter()
        .enumerate()
        .filter(|(_, parameter)| parameter.is_view);
    let views = views.map(|(index, _)| {
        let field = Index::from(index);
        quote!(::core::mem::offset_of!(__Params #type_generics, #field))
    });
    let text = name.to_string();
    let line = quote_spanned!(name.span()=> ::core::line!());
    let used = names.is_empty().then(|| {
        quote! {
            #[used]
            static __RECORD: &::oxwarp::__private::KernelRecord =
                <__Instance as ::oxwarp::__private::KernelInstance>::RECORD;
        }
    });
    quote! {
        #[repr(C)]
        struct __Params #impl_generics (#(#raw_types,)* #phantom) #where_clause;

        struct __Instance #impl_generics (#phantom) #where_clause;

        // A kernel without parameters does not look at the pointer.
        #[allow(unused_variables)]
        #[inline]
        unsafe fn __entry #impl_generics (__params: *const u8) #where_clause {
            // SAFETY: the launch passes the kernel's parameter struct, whose views live as long as the launch.
            unsafe {
                let __params = &*__params.cast::<__Params #type_generics>();
                #name::<#(#names),*>(#(#arguments),*)
            }
        }

        // SAFETY: `entry` reads a `__Params`, and the id is that of `__Instance`.
        unsafe impl #impl_generics ::oxwarp::__private::KernelInstance for __Instance #type_generics #where_clause {
            // The bounds may be numbers of any type.
            #[allow(clippy::unnecessary_cast)]
            const RECORD: &'static ::oxwarp::__private::KernelRecord = &::oxwarp::__private::KernelRecord {
                magic: ::oxwarp::__private::KERNEL_MAGIC,
                id: ::core::any::TypeId::of::<Self>(),
                entry: __entry::<#(#names),*>,
                runtime: ::oxwarp::__private::RUNTIME,
                name: #text,
                module: ::core::module_path!(),
                file: ::core::file!(),
                line: #line,
                flags: #flags,
                params_size: ::core::mem::size_of::<__Params #type_generics>(),
                params_align: ::core::mem::align_of::<__Params #type_generics>(),
                views: &[#(#views),*],
                max_threads: #max_threads,
                min_blocks: #min_blocks,
                max_registers: #max_registers,
                block: #block,
                cluster: #cluster,
            };
        }
        #used
    }
}

/// The expression of a bound of the launch, which is checked when the record is computed.
fn bound(name: &str, value: &Option<Expr>) -> TokenStream {
    let Some(value) = value else {
        return quote!(0);
    };
    let span = syn::spanned::Spanned::span(value);
    let check = format_ident!("{name}", span = span);
    quote_spanned!(span=> ::oxwarp::__private::bounds::#check((#value) as i128))
}

/// The extents of every block or cluster, checked likewise.
fn three(name: &str, extents: &[Expr]) -> TokenStream {
    let Some(first) = extents.first() else {
        return quote!([0; 3]);
    };
    let extents = extents.iter().map(|extent| quote!((#extent) as i128));
    let ones = std::iter::repeat_n(quote!(1), 3 - extents.len());
    let extents = extents.chain(ones);
    let span = syn::spanned::Spanned::span(first);
    let check = format_ident!("{name}", span = span);
    quote_spanned!(span=> ::oxwarp::__private::bounds::#check([#(#extents),*]))
}

fn flags(signature: &Signature, options: &Options) -> TokenStream {
    let mut flags = quote!(0);
    if !options.fma {
        flags.extend(quote!(| ::oxwarp::__private::NO_FMA));
    }
    if options.fast_math {
        flags.extend(quote!(| ::oxwarp::__private::FAST_MATH));
    }
    if let Some(word) = &options.unchecked {
        // With the author's own token, so that `forbid(unsafe_code)` means this too.
        flags.extend(quote_spanned!(word.span=> | #word { ::oxwarp::__private::unchecked() }));
    }
    if is_unsafe(signature) {
        flags.extend(quote!(| ::oxwarp::__private::TAKES_POINTERS));
    }
    if signature.may_take_atomics() {
        flags.extend(quote!(| ::oxwarp::__private::TAKES_ATOMICS));
    }
    flags
}

pub(crate) fn is_unsafe(signature: &Signature) -> bool {
    matches!(signature.function.sig.safety, syn::Safety::Unsafe(_))
}

pub(crate) fn raw_type(parameter: &Parameter) -> TokenStream {
    let ty = &parameter.ty;
    if parameter.is_view {
        quote!(<#ty as ::oxwarp::__private::KernelParam>::Raw)
    } else {
        quote!(#ty)
    }
}

fn read_parameter((index, parameter): (usize, &Parameter)) -> TokenStream {
    let field = Index::from(index);
    let ty = &parameter.ty;
    if parameter.is_view {
        quote!(<#ty as ::oxwarp::__private::KernelParam>::from_raw(__params.#field))
    } else {
        quote!(::core::ptr::read(&raw const __params.#field))
    }
}

fn launch(signature: &Signature, generics: &HostGenerics) -> TokenStream {
    let name = signature.name();
    let (impl_generics, type_generics, where_clause) = generics.declared.split_for_impl();
    let is_unsafe = is_unsafe(signature);
    let unsafety = is_unsafe.then(|| quote!(unsafe));
    let names: Vec<&Ident> = signature
        .parameters
        .iter()
        .map(|parameter| &parameter.name)
        .collect();
    let types = signature.parameters.iter().map(argument_type);
    let views = signature
        .parameters
        .iter()
        .filter(|parameter| parameter.is_view);
    let views: Vec<_> = views.map(|parameter| &parameter.name).collect();
    let fields = signature.parameters.iter().map(|parameter| {
        let name = &parameter.name;
        if parameter.is_view {
            quote!(::oxwarp::__private::KernelArg::raw(#name, &mut __arguments))
        } else {
            quote!(#name)
        }
    });
    let bound = signature.parameters.iter().map(|parameter| {
        let ty = argument_type(parameter);
        if parameter.is_view {
            quote!(#ty + '__arrays)
        } else {
            ty
        }
    });
    let bound: Vec<TokenStream> = bound.collect();
    let mut generics_of_arrays = generics.declared.clone();
    generics_of_arrays.params.insert(0, parse_quote!('__arrays));
    let (impl_generics_of_arrays, _, _) = generics_of_arrays.split_for_impl();
    let fields_of_bound = fields.clone();
    let types_of_plan: Vec<TokenStream> = signature.parameters.iter().map(argument_type).collect();
    let type_names = &generics.names;
    let bind = if type_names.is_empty() {
        quote!(self.bind(#(#names),*))
    } else {
        quote!(self.bind::<#(#type_names),*>(#(#names),*))
    };
    // SAFETY of the call: the caller of `plan` promises what `bind` demands.
    let bind = if is_unsafe {
        quote!(unsafe { #bind })
    } else {
        bind
    };
    let safety = is_unsafe.then(|| quote! {
        #[doc = ""]
        #[doc = "# Safety"]
        #[doc = ""]
        #[doc = "The kernel is an `unsafe fn`: what it demands must hold in every thread of the launch."]
    });
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

        #[allow(dead_code)]
        impl #name {
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

            /// The launch with its arguments, for a graph's node, or to change a plan or a node.
            #safety
            #[allow(clippy::too_many_arguments)]
            pub #unsafety fn bind #impl_generics_of_arrays (
                self,
                #(#names: #bound),*
            ) -> ::oxwarp::BoundLaunch<'__arrays> #where_clause {
                #[allow(unused_mut)]
                let mut __arguments = ::oxwarp::__private::Arguments::new();
                let __params: __Params #type_generics = __Params(#(#fields_of_bound,)* ::core::marker::PhantomData);
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

            /// Checks and packs the launch once, for many replays. The plan owns its part in the arrays' memory, so they can
            /// be used between the replays.
            #[doc = ""]
            #[doc = "# Errors"]
            #[doc = ""]
            #[doc = "Those of a launch."]
            #safety
            #[allow(clippy::too_many_arguments)]
            pub #unsafety fn plan #impl_generics (self, #(#names: #types_of_plan),*) -> ::oxwarp::Result<::oxwarp::Plan> #where_clause {
                #bind.plan()
            }
        }
    }
}

pub(crate) fn argument_type(parameter: &Parameter) -> TokenStream {
    let ty = &parameter.ty;
    if parameter.is_view {
        quote!(impl ::oxwarp::__private::KernelArg<#ty>)
    } else {
        quote!(#ty)
    }
}

/// An error at a parameter's type if it is not `Copy + 'static`.
fn check_values(signature: &Signature, generics: &HostGenerics) -> TokenStream {
    let (impl_generics, _, where_clause) = generics.declared.split_for_impl();
    let values = signature
        .parameters
        .iter()
        .filter(|parameter| !parameter.is_view);
    let checks = values.map(|parameter| {
        let ty = &parameter.ty;
        let span = syn::spanned::Spanned::span(ty).resolved_at(Span::call_site());
        quote_spanned! {span=> ::oxwarp::__private::parameter_is_copied_to_the_device::<#ty>(); }
    });
    let check = format_ident!("__check");
    quote! {
        #[allow(dead_code)]
        fn #check #impl_generics () #where_clause {
            #(#checks)*
        }
    }
}
