//! The kernel's function as the macro sees it, and the errors of what cannot be a kernel.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Error, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Lifetime, Pat, PathArguments,
    PathSegment, ReturnType, Type, TypePath, TypeReference,
};

/// A function that can be a kernel.
pub struct Signature {
    /// The user's function, with `impl Trait` parameters made named ones.
    pub function: ItemFn,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

/// One parameter.
pub struct Parameter {
    /// What the launch calls it.
    pub name: Ident,
    /// Its type, with every lifetime `'static`.
    pub ty: Type,
    /// Whether it is a view of device memory, which a device array is passed for, or a plain value.
    pub is_view: bool,
}

impl Signature {
    /// Reads an item.
    pub fn read(item: &TokenStream) -> syn::Result<Self> {
        let mut function: ItemFn = syn::parse2(item.clone()).map_err(|error| {
            Error::new(
                error.span(),
                format!("`#[kernel]` goes on a function: {error}"),
            )
        })?;
        check_function(&function)?;
        Ungrouped.visit_signature_mut(&mut function.sig);
        name_impl_traits(&mut function);
        let parameters = function
            .sig
            .inputs
            .iter()
            .enumerate()
            .map(|(index, input)| parameter(index, input));
        let parameters = parameters.collect::<syn::Result<_>>()?;
        Ok(Signature {
            function,
            parameters,
        })
    }

    /// Whether a view among the parameters may be one of atomics: by its type's name, or because that is a type parameter.
    pub fn may_take_atomics(&self) -> bool {
        let type_parameters = self.function.sig.generics.type_params();
        let type_parameters: Vec<String> = type_parameters
            .map(|parameter| parameter.ident.to_string())
            .collect();
        let views = self.parameters.iter().filter(|parameter| parameter.is_view);
        views.into_iter().any(|parameter| {
            let ty = &parameter.ty;
            let words = quote!(#ty).to_string();
            words
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| {
                    word.starts_with("Atomic") || type_parameters.iter().any(|name| name == word)
                })
        })
    }

    /// The kernel's name.
    pub fn name(&self) -> &Ident {
        &self.function.sig.ident
    }
}

fn check_function(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if let Some(token) = &signature.asyncness {
        return error(
            token.span(),
            "a kernel cannot be `async`: its threads run to the end at once; the launch is already asynchronous",
        );
    }
    if let Some(abi) = &signature.abi {
        return error(abi.span(), "a kernel has Rust's own ABI: remove `extern`");
    }
    if let Some(variadic) = &signature.variadic {
        return error(
            variadic.span(),
            "a kernel cannot be variadic: take a slice `&[T]`",
        );
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        return error(
            ty.span(),
            "a kernel returns nothing: write results through a `DisjointSlice<T>` parameter",
        );
    }
    Ok(())
}

fn parameter(index: usize, input: &FnArg) -> syn::Result<Parameter> {
    let typed = match input {
        FnArg::Receiver(receiver) => {
            return error(
                receiver.span(),
                "a kernel is a free function: take the fields of `self` that it needs as parameters",
            );
        }
        FnArg::Typed(typed) => typed,
    };
    if let Some(cfg) = typed.attrs.iter().find(|a| a.path().is_ident("cfg")) {
        return error(
            cfg.span(),
            "a parameter of a kernel is always there: write a kernel for each case, each with its `#[cfg]`",
        );
    }
    let is_view = check_type(&typed.ty)?;
    let name = match &*typed.pat {
        Pat::Ident(pattern) => pattern.ident.clone(),
        _ => format_ident!("argument_{index}"),
    };
    let mut ty = (*typed.ty).clone();
    StaticLifetimes.visit_type_mut(&mut ty);
    Ok(Parameter { name, ty, is_view })
}

/// The parameters of `gpu_std::disjoint`, that of `gpu_std::matrix`, and the one that nothing makes disjoint.
const DISJOINT: [&str; 7] = [
    "UnsafeSlice",
    "DisjointSlice",
    "DisjointChunks",
    "DisjointFragments",
    "DisjointRows",
    "DisjointColumns",
    "DisjointTiles",
];

/// Whether it is the name of a type of `gpu_std::view`: `ArrayView`, or `ArrayView1` to `ArrayView6`.
fn is_array_view(name: &str) -> bool {
    name.strip_prefix("ArrayView")
        .is_some_and(|dimensions| matches!(dimensions, "" | "1" | "2" | "3" | "4" | "5" | "6"))
}

/// Whether the type is a view; an error if it can be no parameter.
fn check_type(ty: &Type) -> syn::Result<bool> {
    match ty {
        Type::Reference(reference) => check_reference(reference).map(|()| true),
        Type::Path(path) => {
            let last = last_name(path);
            if is_array_view(&last) && path.path.segments[0].ident == "ndarray" {
                return error(
                    ty.span(),
                    &format!(
                        "a kernel cannot take `ndarray`'s `{last}`, which is of host memory: take oxwarp's own, `oxwarp::view::{last}`"
                    ),
                );
            }
            if DISJOINT.contains(&&*last) || is_array_view(&last) {
                return Ok(true);
            }
            if let Some(advice) = advice_for(&last) {
                return error(
                    ty.span(),
                    &format!("a kernel cannot take `{last}`: {advice}"),
                );
            }
            no_reference_inside(ty).map(|()| false)
        }
        _ => no_reference_inside(ty).map(|()| false),
    }
}

/// The type's own name, without its modules and parameters.
fn last_name(path: &TypePath) -> String {
    let last = path.path.segments.last();
    last.map(|segment| segment.ident.to_string())
        .unwrap_or_default()
}

/// The type as one writes it: tokens alone come out as `Vec < f32 >`.
fn text(ty: &impl ToTokens) -> String {
    let mut text = ty.to_token_stream().to_string();
    for (spaced, written) in [
        (" < ", "<"),
        (" >", ">"),
        (" :: ", "::"),
        (" ,", ","),
        ("& ", "&"),
    ] {
        text = text.replace(spaced, written);
    }
    text
}

/// What to take instead of a type that owns host memory.
fn advice_for(name: &str) -> Option<&'static str> {
    match name {
        "Vec" => Some(
            "its elements are in host memory; take a slice `&[T]`, or `DisjointSlice<T>` to write, and pass a `DeviceArray`",
        ),
        "Box" => Some(
            "what it points to is in host memory; take that by value, a closure as `impl Fn(f32) -> f32 + Copy`",
        ),
        "Array" | "Array1" | "Array2" | "Array3" | "Array4" | "Array5" | "Array6" => Some(
            "its elements are in host memory; take an `ArrayView2<T>` (or `ArrayView1` to `ArrayView6`), or `DisjointSlice<T>` \
             to write, and pass a `DeviceArray`",
        ),
        "String" => Some("its text is in host memory; take `&[u8]` and pass a `DeviceArray<u8>`"),
        "Rc" | "Arc" | "RefCell" | "Mutex" | "HashMap" => {
            Some("it is host memory; pass plain `Copy` data or a `DeviceArray`")
        }
        "DeviceArray" | "DeviceArray2" | "DeviceArray3" | "DeviceView" | "DeviceViewMut" => Some(
            "that is the host's side of it; take `&[T]` or an `ArrayView2<T>` to read, or `DisjointSlice<T>` to write",
        ),
        _ => None,
    }
}

fn check_reference(reference: &TypeReference) -> syn::Result<()> {
    let element = text(&reference.elem);
    match (&*reference.elem, &reference.mutability) {
        (Type::Slice(slice), Some(_)) => error(
            reference.span(),
            &format!(
                "a kernel cannot take `&mut [{0}]`: every thread of the launch would hold the same mutable slice; take \
                 `DisjointSlice<{0}>`, which gives each thread its own elements, or atomics such as `&[AtomicU32]`, or in an \
                 `unsafe fn` kernel a `*mut {0}`",
                text(&slice.elem)
            ),
        ),
        (Type::Slice(slice), None) => no_reference_inside(&slice.elem),
        (_, Some(_)) => error(
            reference.span(),
            &format!(
                "a kernel cannot take `&mut {0}`: every thread of the launch would hold the same reference; take `DisjointSlice<{0}>` \
             or an atomic slice such as `&[AtomicU32]`",
                element
            ),
        ),
        (Type::Path(path), None) if path.path.is_ident("str") => error(
            reference.span(),
            "`&str` would point into host memory: take `&[u8]` and pass a `DeviceArray<u8>`",
        ),
        (Type::TraitObject(object), None) => error(
            reference.span(),
            &format!(
                "`&{element}` would point into host memory: take `impl {} + Copy` by value, a closure for instance",
                text(&object.bounds)
            ),
        ),
        (Type::Path(path), None) if let Some(advice) = advice_for(&last_name(path)) => error(
            reference.span(),
            &format!("a kernel cannot take `&{element}`: {advice}"),
        ),
        (_, None) => error(
            reference.span(),
            &format!(
                "`&{element}` would point into host memory: take `{element}` by value, or a slice `&[{element}]` of device \
                 memory"
            ),
        ),
    }
}

fn no_reference_inside(ty: &Type) -> syn::Result<()> {
    struct References(Option<Span>);
    impl<'ast> Visit<'ast> for References {
        fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
            self.0.get_or_insert(reference.span());
        }
        fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
        fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
            // `Fn(&T)` takes a reference, it does not hold one.
            if !matches!(segment.arguments, PathArguments::Parenthesized(_)) {
                visit::visit_path_segment(self, segment);
            }
        }
    }
    let mut references = References(None);
    references.visit_type(ty);
    match references.0 {
        Some(span) => error(
            span,
            "this reference would point into host memory: pass slices as parameters of their own (`x: &[T]`), and other data by value",
        ),
        None => Ok(()),
    }
}

/// `f: impl Fn(f32) -> f32` becomes a named type parameter, since the launch must name it.
fn name_impl_traits(function: &mut ItemFn) {
    let mut named: Vec<GenericParam> = Vec::new();
    for input in &mut function.sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        if let Type::ImplTrait(trait_type) = &*typed.ty {
            let name = format_ident!("Impl{}", named.len(), span = trait_type.span());
            let bounds = &trait_type.bounds;
            named.push(syn::parse_quote!(#name: #bounds));
            *typed.ty = syn::parse_quote!(#name);
        }
    }
    function.sig.generics.params.extend(named);
}

/// Takes types out of the invisible brackets in which `macro_rules!` puts the `$type:ty` of a kernel that it writes.
struct Ungrouped;

impl VisitMut for Ungrouped {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        while let Type::Group(group) = ty {
            *ty = (*group.elem).clone();
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// Makes every lifetime `'static`, those left out of references and array views too: on the host a parameter's type is
/// only named.
struct StaticLifetimes;

impl VisitMut for StaticLifetimes {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'static", lifetime.span());
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime = Some(Lifetime::new("'static", reference.span()));
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_path_segment_mut(&mut self, segment: &mut PathSegment) {
        visit_mut::visit_path_segment_mut(self, segment);
        let is_view = is_array_view(&segment.ident.to_string());
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments
            && is_view
            && !matches!(arguments.args.first(), Some(GenericArgument::Lifetime(_)))
        {
            let lifetime = Lifetime::new("'static", segment.ident.span());
            arguments
                .args
                .insert(0, GenericArgument::Lifetime(lifetime));
        }
    }
}

fn error<T>(span: Span, message: &str) -> syn::Result<T> {
    Err(Error::new(span, message))
}
