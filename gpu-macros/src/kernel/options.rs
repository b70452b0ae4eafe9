//! What stands in the parentheses of `#[kernel(...)]`.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, ExprLit, Ident, Lit, LitBool, Token, parenthesized, token};

/// What there is, for messages.
const ALL: &str = "`block(x, y, z)`, `cluster(x, y, z)`, `launch_bounds(threads)`, `launch_bounds(threads, blocks)`, `max_registers = n`, \
                   `fast_math`, `fma = false` and `unsafe(unchecked)`";

/// The options of one kernel.
pub struct Options {
    /// Whether multiplications and additions may be contracted to a fused multiply-add.
    pub fma: bool,
    /// Whether `f32` arithmetic may be approximate.
    pub fast_math: bool,
    /// The author's word, as they wrote it, that nothing in the kernel ever panics.
    pub unchecked: Option<Token![unsafe]>,
    /// The threads of every block, along x, and where given along y and z.
    pub block: Vec<Expr>,
    /// The blocks of every cluster, likewise.
    pub cluster: Vec<Expr>,
    /// The most threads of a block.
    pub max_threads: Option<Expr>,
    /// The least blocks that a multiprocessor is to hold at once.
    pub min_blocks: Option<Expr>,
    /// The most registers of a thread.
    pub max_registers: Option<Expr>,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut options = Options {
            fma: true,
            fast_math: false,
            unchecked: None,
            block: Vec::new(),
            cluster: Vec::new(),
            max_threads: None,
            min_blocks: None,
            max_registers: None,
        };
        let mut given: Vec<Ident> = Vec::new();
        while !input.is_empty() {
            let name = options.parse_one(input)?;
            if given.contains(&name) {
                return error(name.span(), &format!("`{name}` is given twice"));
            }
            given.push(name);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    fn parse_one(&mut self, input: ParseStream) -> syn::Result<Ident> {
        if input.peek(Token![unsafe]) {
            return self.parse_unsafe(input);
        }
        let name: Ident = input.parse()?;
        match name.to_string().as_str() {
            "fma" => self.fma = flag(input)?,
            "fast_math" => self.fast_math = flag(input)?,
            "block" => self.parse_block(&name, input)?,
            "cluster" => self.parse_cluster(&name, input)?,
            "launch_bounds" => self.parse_launch_bounds(&name, input)?,
            "max_registers" if input.peek(Token![=]) => {
                input.parse::<Token![=]>()?;
                self.max_registers = Some(number(input, 255, "a thread has 1 to 255 registers")?);
            }
            "max_registers" => return error(name.span(), "write `max_registers = 64`"),
            "unchecked" => {
                return error(
                    name.span(),
                    "without its checks a kernel is sound only if none of them ever fails, which is yours to promise: write \
                     `unsafe(unchecked)`",
                );
            }
            _ => {
                let message = format!("unknown kernel option `{name}`; there are {ALL}");
                return error(name.span(), &message);
            }
        }
        Ok(name)
    }

    fn parse_block(&mut self, name: &Ident, input: ParseStream) -> syn::Result<()> {
        if !input.peek(token::Paren) {
            return error(
                name.span(),
                "write `block(256)` or `block(16, 16)`, the threads of every block",
            );
        }
        self.block = extents(name, input, [1024, 1024, 64], |last| {
            format!("a block has 1 to {last} threads along this dimension")
        })?;
        Ok(())
    }

    fn parse_cluster(&mut self, name: &Ident, input: ParseStream) -> syn::Result<()> {
        if !input.peek(token::Paren) {
            return error(
                name.span(),
                "write `cluster(2)` or `cluster(2, 2)`, the blocks of every cluster",
            );
        }
        let range = |last| format!("a cluster has 1 to {last} blocks");
        self.cluster = extents(name, input, [8; 3], range)?;
        Ok(())
    }

    fn parse_launch_bounds(&mut self, name: &Ident, input: ParseStream) -> syn::Result<()> {
        if !input.peek(token::Paren) {
            return error(
                name.span(),
                "write `launch_bounds(256)`, the most threads of a block, or `launch_bounds(256, 2)`, with the least blocks of \
                 a multiprocessor",
            );
        }
        let bounds;
        parenthesized!(bounds in input);
        self.max_threads = Some(number(&bounds, 1024, "a block has 1 to 1024 threads")?);
        if !bounds.is_empty() {
            bounds.parse::<Token![,]>()?;
        }
        if !bounds.is_empty() {
            self.min_blocks = Some(number(
                &bounds,
                32,
                "a multiprocessor holds 1 to 32 blocks at once",
            )?);
        }
        if !bounds.is_empty() {
            return Err(bounds.error("`launch_bounds` takes one or two numbers"));
        }
        Ok(())
    }

    fn parse_unsafe(&mut self, input: ParseStream) -> syn::Result<Ident> {
        let word = input.parse::<Token![unsafe]>()?;
        let promises;
        parenthesized!(promises in input);
        let name: Ident = promises.parse()?;
        if name != "unchecked" {
            let message =
                format!("`unsafe({name})` is no kernel option; there is `unsafe(unchecked)`");
            return error(name.span(), &message);
        }
        if !promises.is_empty() {
            return Err(promises.error("`unsafe(unchecked)` takes nothing more"));
        }
        self.unchecked = Some(word);
        Ok(name)
    }
}

/// One to three numbers in parentheses, each up to the last of its dimension.
fn extents(
    name: &Ident,
    input: ParseStream,
    limits: [u32; 3],
    range: impl Fn(u32) -> String,
) -> syn::Result<Vec<Expr>> {
    let mut given = Vec::new();
    let extents;
    parenthesized!(extents in input);
    for last in limits {
        given.push(number(&extents, last, &range(last))?);
        if !extents.is_empty() {
            extents.parse::<Token![,]>()?;
        }
        if extents.is_empty() {
            return Ok(given);
        }
    }
    Err(extents.error(format!("`{name}` takes one to three numbers")))
}

/// A constant expression. One that is a literal is checked here, where the error can stand at it, others by
/// `gpu_std::kernel::bounds`.
fn number(input: ParseStream, last: u32, range: &str) -> syn::Result<Expr> {
    let value: Expr = input.parse()?;
    if let Expr::Lit(ExprLit {
        lit: Lit::Int(literal),
        ..
    }) = &value
        && !literal
            .base10_parse()
            .is_ok_and(|number: u32| (1..=last).contains(&number))
    {
        return error(literal.span(), range);
    }
    Ok(value)
}

/// `= true`, `= false`, or nothing, which is `true`.
fn flag(input: ParseStream) -> syn::Result<bool> {
    if !input.peek(Token![=]) {
        return Ok(true);
    }
    input.parse::<Token![=]>()?;
    Ok(input.parse::<LitBool>()?.value)
}

fn error<T>(span: Span, message: &str) -> syn::Result<T> {
    Err(Error::new(span, message))
}
