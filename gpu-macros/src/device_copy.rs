//! `#[derive(DeviceCopy)]`: a user's type as element of device memory.
//!
//! In: a struct, enum or union. Out: an `unsafe impl` that stands only if every field is `DeviceCopy`; an error is at
//! the type of the field that is not. Type parameters get the bound, as with the derives of std.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, GenericParam, Generics, Type, parse_quote};

/// Expands the derive.
pub fn expand(item: TokenStream) -> TokenStream {
    match syn::parse2::<DeriveInput>(item) {
        Ok(input) => implementation(&input),
        Err(error) => error.into_compile_error(),
    }
}

fn implementation(input: &DeriveInput) -> TokenStream {
    let name = &input.ident;
    let generics = with_bounds(input.generics.clone());
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let fields = fields_of(&input.data);
    let checks = fields.iter().map(|field| no_padding(&field.ty));
    let whole = no_gaps(&input.data, &fields);
    quote! {
        #[automatically_derived]
        // SAFETY: the fields are `DeviceCopy`, as the check demands, so none holds a reference.
        unsafe impl #impl_generics ::oxwarp::DeviceCopy for #name #type_generics #where_clause {
            const NO_PADDING: bool = #whole;
        }

        const _: () = {
            #[allow(dead_code)]
            fn check #impl_generics () #where_clause {
                #(let _ = #checks;)*
            }
        };
    }
}

/// The bound on each type parameter.
fn with_bounds(mut generics: Generics) -> Generics {
    for parameter in &mut generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(parse_quote!(::oxwarp::DeviceCopy));
        }
    }
    generics
}

fn fields_of(data: &Data) -> Vec<&Field> {
    match data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Union(data) => data.fields.named.iter().collect(),
        Data::Enum(data) => data
            .variants
            .iter()
            .flat_map(|variant| &variant.fields)
            .collect(),
    }
}

/// Asks a field's type for its padding, at the place of the type.
fn no_padding(ty: &Type) -> TokenStream {
    let span = ty.span().resolved_at(Span::call_site());
    quote_spanned!(span=> ::oxwarp::__private::no_padding::<#ty>())
}

/// Whether all bytes of a value are those of fields. Of an enum or union nothing is known.
fn no_gaps(data: &Data, fields: &[&Field]) -> TokenStream {
    let Data::Struct(_) = data else {
        return quote!(false);
    };
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let inside = types.iter().map(|ty| no_padding(ty));
    quote! {
        #(#inside &&)* 0 #(+ ::core::mem::size_of::<#types>())* == ::core::mem::size_of::<Self>()
    }
}
