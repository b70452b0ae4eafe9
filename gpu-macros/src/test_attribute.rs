//! `#[oxwarp::test]`: a test that runs on every kind of device there is.
//!
//! In: a function with a `Gpu` as its argument. Out: a plain `#[test]` that has the runtime call it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, FnArg, ItemFn, Type};

/// Writes the expansion.
pub fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    expanded(options, item).unwrap_or_else(Error::into_compile_error)
}

fn expanded(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !options.is_empty() {
        return Err(Error::new(
            options.span(),
            "`#[oxwarp::test]` has no options",
        ));
    }
    let mut function: ItemFn = syn::parse2(item)?;
    let attributes = std::mem::take(&mut function.attrs);
    let (name, visibility) = (function.sig.ident.clone(), function.vis.clone());
    let argument = argument(&function)?;
    Ok(quote! {
        #(#attributes)*
        #[::core::prelude::v1::test]
        #visibility fn #name() {
            #function
            ::oxwarp::__private::run_test(|__gpu| #name(#argument));
        }
    })
}

/// How the function takes its device: the argument of the call.
fn argument(function: &ItemFn) -> syn::Result<TokenStream> {
    let inputs: Vec<&FnArg> = function.sig.inputs.iter().collect();
    match inputs[..] {
        [FnArg::Typed(argument)] => Ok(match &*argument.ty {
            Type::Reference(_) => quote!(__gpu),
            _ => quote!(::core::clone::Clone::clone(__gpu)),
        }),
        _ => Err(Error::new(
            function.sig.span(),
            "a test of `#[oxwarp::test]` takes the device: `fn name(gpu: &Gpu)`; it may return a `Result`",
        )),
    }
}
