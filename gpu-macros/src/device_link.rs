//! `#[device_link("ops.ptx")]`: functions of the user's own PTX or bitcode, with what they compute on the simulator.
//!
//! Each declaration becomes a function of Rust whose body is what the simulator runs. It starts with a call that names
//! symbol and file, by which the device compiler puts the linked function in its place. What can be checked of the file
//! is checked here, where the error can stand at the declaration.

use std::fs;
use std::path::{Path, PathBuf};

use gpu_compiler::ptx_text::{self, Signature, Statement};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Abi, Attribute, Block, Error, Expr, ExprLit, FnArg, Lit, LitStr, Meta, ReturnType, Safety,
    Token, Type, Visibility, braced,
};

/// Functions that CUDA gives to every module.
const PROVIDED: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// Expands the attribute on an `extern` block.
pub fn expand(file: TokenStream, item: TokenStream) -> TokenStream {
    match try_expand(file, item) {
        Ok(expansion) => expansion,
        Err(error) => error.into_compile_error(),
    }
}

fn try_expand(file: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let file: LitStr = syn::parse2(file).map_err(|error| {
        Error::new(
            error.span(),
            "name the file: `#[device_link(\"kernels/ops.ptx\")]`, relative to the folder of Cargo.toml",
        )
    })?;
    let block: ExternBlock = syn::parse2(item)?;
    let library = Library::open(&file)?;
    let functions = block
        .functions
        .iter()
        .map(|declaration| function(declaration, &library))
        .collect::<syn::Result<TokenStream>>()?;
    let path = library.path.display().to_string();
    let word = &block.word;
    let promise = quote_spanned!(word.span=> #word { ::oxwarp::__private::linked_as_declared() });
    Ok(quote! {
        #functions
        // With the user's own token, so that `forbid(unsafe_code)` means this too.
        const _: () = #promise;
        // A change of the file compiles the crate anew.
        const _: &[u8] = ::core::include_bytes!(#path);
    })
}

syn::custom_keyword!(safe);

/// `unsafe extern "C" { ... }`.
struct ExternBlock {
    word: Token![unsafe],
    functions: Vec<Declaration>,
}

/// One function: as in any `extern` block, or with a body.
struct Declaration {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    is_safe: bool,
    signature: syn::Signature,
    body: Option<Block>,
}

impl Parse for ExternBlock {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let _: Vec<Attribute> = input.call(Attribute::parse_outer)?;
        let wanted = "`#[device_link]` goes on a block `unsafe extern \"C\" { ... }` of functions";
        let start = input.span();
        let word = input
            .parse::<Token![unsafe]>()
            .map_err(|_| Error::new(start, wanted))?;
        if !input.peek(Token![extern]) {
            return Err(Error::new(start, wanted));
        }
        let abi: Abi = input.parse()?;
        if abi.name.as_ref().is_some_and(|name| name.value() != "C") {
            return Err(Error::new(abi.span(), wanted));
        }
        let inside;
        braced!(inside in input);
        let mut functions = Vec::new();
        while !inside.is_empty() {
            functions.push(inside.parse()?);
        }
        Ok(ExternBlock { word, functions })
    }
}

impl Parse for Declaration {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let is_safe = input.peek(safe);
        if is_safe {
            input.parse::<safe>()?;
        }
        let signature = input.parse()?;
        let body = if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            None
        } else {
            Some(input.parse()?)
        };
        Ok(Declaration {
            attributes,
            visibility,
            is_safe,
            signature,
            body,
        })
    }
}

/// The linked file.
struct Library {
    /// As the user names it.
    name: String,
    path: PathBuf,
    /// If it is PTX.
    statements: Option<Vec<Statement>>,
    bytes: Vec<u8>,
}

impl Library {
    fn open(file: &LitStr) -> syn::Result<Self> {
        let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        let path = Path::new(&root).join(file.value());
        let error = |message: String| Error::new(file.span(), message);
        let bytes = fs::read(&path).map_err(|cause| {
            error(format!(
                "cannot read `{}` in the folder of Cargo.toml: {cause}",
                file.value()
            ))
        })?;
        let statements = match path.extension().and_then(|extension| extension.to_str()) {
            Some("ptx") => Some(ptx_text::statements(&String::from_utf8_lossy(&bytes))),
            Some("bc") => None,
            _ => {
                return Err(error(
                    "device code is linked from PTX (`.ptx`, as from `nvcc -ptx -rdc=true`) or LLVM bitcode (`.bc`, as from \
                     `clang --target=nvptx64 -emit-llvm -c`)"
                        .into(),
                ));
            }
        };
        let library = Library {
            name: file.value(),
            path,
            statements,
            bytes,
        };
        match library.unresolved() {
            Some(symbol) => Err(error(format!(
                "{} uses `{symbol}`, which it does not define: a linked file stands alone",
                library.name
            ))),
            None => Ok(library),
        }
    }

    /// A function that the PTX calls and that nobody defines.
    fn unresolved(&self) -> Option<&str> {
        let statements = self.statements.as_deref()?;
        let mut external = statements
            .iter()
            .filter(|statement| statement.has(".extern") && statement.has(".func"))
            .filter_map(Statement::name);
        external.find(|name| !PROVIDED.contains(name) && self.definition(name).is_none())
    }

    fn definition(&self, symbol: &str) -> Option<&Statement> {
        let mut statements = self.statements.iter().flatten();
        statements.find(|one| one.defines_function() && one.name() == Some(symbol))
    }

    /// Checks that the file has the function, and with the signature where both are known. Names are all that is read of
    /// bitcode; the device compiler knows better.
    fn check(&self, declaration: &Declaration, symbol: &str, at: Span) -> syn::Result<()> {
        let missing = || {
            let message = format!(
                "there is no function `{symbol}` in {}; in CUDA C write `extern \"C\"` before it, or name the mangled symbol \
                 with `#[link_name = \"...\"]`",
                self.name
            );
            Err(Error::new(at, message))
        };
        if self.statements.is_none() {
            let found = self
                .bytes
                .windows(symbol.len())
                .any(|bytes| bytes == symbol.as_bytes());
            return if found { Ok(()) } else { missing() };
        }
        let Some(definition) = self.definition(symbol) else {
            return missing();
        };
        match (definition.signature(), declared(&declaration.signature)) {
            (Some(defined), Some(declared)) if defined != declared => {
                let message = format!(
                    "`{symbol}` in {} {}, but is declared here as one that {}",
                    self.name,
                    in_words(&defined),
                    in_words(&declared)
                );
                Err(Error::new(at, message))
            }
            _ => Ok(()),
        }
    }
}

fn in_words(signature: &Signature) -> String {
    let parameters: Vec<String> = signature.parameters.iter().map(u64::to_string).collect();
    let takes = match &*parameters {
        [] => "nothing".to_owned(),
        _ => format!("{} bits", parameters.join(", ")),
    };
    let returns = signature
        .result
        .map_or("nothing".to_owned(), |bits| format!("{bits} bits"));
    format!("takes {takes} and returns {returns}")
}

/// The widths of a declaration, if all types are plain names of numbers or pointers.
fn declared(signature: &syn::Signature) -> Option<Signature> {
    let parameters = signature.inputs.iter().map(|input| match input {
        FnArg::Typed(typed) => width(&typed.ty),
        FnArg::Receiver(_) => None,
    });
    Some(Signature {
        parameters: parameters.collect::<Option<_>>()?,
        result: match &signature.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(width(ty)?),
        },
    })
}

fn width(ty: &Type) -> Option<u64> {
    match ty {
        Type::Ptr(_) => Some(64),
        Type::Path(path) => match path.path.get_ident()?.to_string().as_str() {
            "u16" | "i16" | "u32" | "i32" | "f32" => Some(32),
            "u64" | "i64" | "f64" | "usize" | "isize" => Some(64),
            _ => None,
        },
        _ => None,
    }
}

fn function(declaration: &Declaration, library: &Library) -> syn::Result<TokenStream> {
    let Declaration {
        attributes,
        visibility,
        is_safe,
        signature,
        body,
    } = declaration;
    let name = &signature.ident;
    let (link_name, attributes): (Vec<&Attribute>, Vec<&Attribute>) = attributes
        .iter()
        .partition(|attribute| attribute.path().is_ident("link_name"));
    let symbol = match link_name.first() {
        Some(attribute) => text_of(attribute)?,
        None => name.to_string(),
    };
    if !signature.generics.params.is_empty() || signature.variadic.is_some() {
        return Err(Error::new(
            name.span(),
            "a linked function is neither generic nor variadic",
        ));
    }
    library.check(declaration, &symbol, name.span())?;
    let types = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(&*typed.ty),
        FnArg::Receiver(_) => None,
    });
    let result = match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(&**ty),
    };
    let checks = types.chain(result).map(|ty| {
        let span = ty.span().resolved_at(Span::call_site());
        quote_spanned! {span=> ::oxwarp::__private::crosses_to_linked_code::<#ty>(); }
    });
    let mut host = signature.clone();
    // A function of a block `unsafe extern` is unsafe unless it says `safe`.
    if !is_safe {
        host.safety = Safety::Unsafe(Token![unsafe](name.span()));
    }
    let without_body = format!(
        "`{name}` is device code, of {}: to run on the simulator its declaration needs a body",
        library.name
    );
    let simulated = match body {
        Some(body) => quote!(#body),
        None => quote!({ ::core::panic!("{}", #without_body) }),
    };
    let (symbol, path) = (
        format!("{symbol}\0"),
        format!("{}\0", library.path.display()),
    );
    Ok(quote! {
        #(#attributes)*
        #[allow(unused_variables)]
        #[inline]
        #visibility #host {
            ::oxwarp::__private::linked(const { #symbol.as_ptr() }, const { #path.as_ptr() });
            #simulated
        }

        const _: () = {
            #(#checks)*
        };
    })
}

/// The text of `#[link_name = "..."]`.
fn text_of(attribute: &Attribute) -> syn::Result<String> {
    if let Meta::NameValue(value) = &attribute.meta
        && let Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) = &value.value
    {
        return Ok(text.value());
    }
    Err(Error::new(
        attribute.span(),
        "write `#[link_name = \"symbol\"]`",
    ))
}
