//! `rust_kernel!`: signatures of kernels whose source is compiled when the program runs.
//!
//! In: signatures without a body. Out: for each a type with the launch of these parameters, and what the compilation needs:
//! the command line of the rustc that runs now ([`compilation`]), and the text that makes a kernel of the user's function.
//! That text stands after the user's source, so rustc itself checks the function against the signature.

mod compilation;
mod expansion;

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Token, Visibility};

use crate::kernel_macro::Signature;

/// Expands the macro.
pub fn expand(input: TokenStream) -> TokenStream {
    match try_expand(input) {
        Ok(expansion) => expansion,
        Err(error) => error.into_compile_error(),
    }
}

fn try_expand(input: TokenStream) -> syn::Result<TokenStream> {
    let Declarations(signatures) = syn::parse2(input)?;
    let handles = signatures.iter().map(expansion::handle);
    let implementations = signatures.iter().map(expansion::implementation);
    let compilation = compilation::literal();
    Ok(quote! {
        #(#handles)*

        const _: () = {
            static __COMPILATION: ::oxwarp::__private::Compilation = #compilation;
            #(#implementations)*
        };
    })
}

/// `fn f(...);` and more of them.
struct Declarations(Vec<Signature>);

impl Parse for Declarations {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut signatures = Vec::new();
        while !input.is_empty() {
            let attributes = input.call(Attribute::parse_outer)?;
            let visibility: Visibility = input.parse()?;
            let signature: syn::Signature = input.parse()?;
            if input.peek(syn::token::Brace) {
                return Err(input.error(
                    "the body is in the source that is compiled at run time: end the declaration with `;`",
                ));
            }
            input.parse::<Token![;]>()?;
            signatures.push(declaration(&attributes, &visibility, &signature)?);
        }
        Ok(Declarations(signatures))
    }
}

fn declaration(
    attributes: &[Attribute],
    visibility: &Visibility,
    signature: &syn::Signature,
) -> syn::Result<Signature> {
    let read = Signature::read(&quote! { #(#attributes)* #visibility #signature {} })?;
    match read.function.sig.generics.params.first() {
        None => Ok(read),
        Some(parameter) => Err(Error::new_spanned(
            parameter,
            "a kernel that is compiled at run time has no parameters of types: its source is made for the types that it has",
        )),
    }
}
