//! What stands in the parentheses of `#[kernel(...)]`.

use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitBool, Token};

/// The options of one kernel.
#[derive(Debug)]
pub struct Options {
    /// Whether multiplications and additions may be contracted to a fused multiply-add.
    pub fma: bool,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut options = Options { fma: true };
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if name != "fma" {
                let message = format!(
                    "unknown kernel option `{name}`; there is `fma = true` or `fma = false`"
                );
                return Err(syn::Error::new(name.span(), message));
            }
            input.parse::<Token![=]>()?;
            options.fma = input.parse::<LitBool>()?.value;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}
