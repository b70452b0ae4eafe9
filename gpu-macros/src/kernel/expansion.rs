//! What `#[kernel] fn add` becomes.
//!
//! - `struct add`: the builder of a launch, with `grid`, `block`, `on` and a `launch` of the kernel's own signature.
//! - `fn add() -> add`: the handle. A function, because a local variable may have the name of a function, but not that
//!   of a constant or a unit struct.
//! - in a block of its own: the user's function, unchanged; the parameter struct that crosses the launch; the entry
//!   that reads it; the instance's record for the device compiler; and the methods of the builder ([`builder`]).

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Expr, GenericParam, Generics, Ident, Index, parse_quote};

use super::builder;
use super::options::Options;
use super::signature::{Parameter, Signature};

/// Writes the expansion.
pub fn expand(signature: &Signature, options: &Options) -> TokenStream {
    let generics = HostGenerics::of(&signature.function.sig.generics);
    let handle = handle(signature);
    let function = function(signature);
    let instance = instance(signature, &generics, options);
    let launch = builder::expand(signature, &generics);
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
pub(super) struct HostGenerics {
    /// With bounds, for `impl<...>`.
    pub declared: Generics,
    /// `T, N`
    pub names: Vec<Ident>,
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
    let says_inline = function
        .attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("inline"));
    let inline = (!says_inline).then(|| quote!(#[inline]));
    quote! {
        // Each parameter of a kernel is an array or a number: there may be many.
        #[allow(clippy::too_many_arguments)]
        #inline
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
    let text = name.unraw().to_string();
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
