//! `#[kernel]`: from a function to a handle that launches it.
//!
//! [`options`] reads the attribute, [`signature`] the function and what cannot be one, [`place`] where it stands;
//! [`expansion`] writes the result, [`builder`] its methods that launch.

mod builder;
pub(crate) mod expansion;
mod options;
mod place;
mod signature;

use proc_macro2::TokenStream;
use quote::quote;

use crate::{device_errors, embed};
use options::Options;
pub(crate) use signature::{Parameter, Signature};

/// Expands the attribute on an item.
pub fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    match try_expand(options, &item) {
        Ok(expansion) => expansion,
        Err(error) => error.into_compile_error(),
    }
}

fn try_expand(options: TokenStream, item: &TokenStream) -> syn::Result<TokenStream> {
    let options: Options = syn::parse2(options)?;
    let signature = Signature::read(item)?;
    place::check(signature.name())?;
    let kernel = expansion::expand(&signature, &options);
    let errors = device_errors::of_kernel(signature.name(), item);
    let module = embed::module_of_this_crate();
    Ok(quote! { #kernel #module #errors })
}
