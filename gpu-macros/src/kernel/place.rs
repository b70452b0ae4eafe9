//! Whether a kernel stands in an `impl` block or a trait, where its expansion cannot.
//!
//! A macro does not see what is around its item, so the source file is read and parsed. That is done once a file, and
//! only for kernels that are indented.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, mem};

use syn::visit::{self, Visit};
use syn::{Attribute, Error, Ident, ImplItemFn, ItemFn, TraitItemFn};

/// An error at the name of a kernel that is an associated function.
pub fn check(name: &Ident) -> syn::Result<()> {
    let span = name.span().unwrap();
    let first_word = "fn ".len() + 1;
    let file = span.local_file();
    match file {
        Some(file) if span.column() > first_word && associated_kernel(&file, &name.to_string()) => {
            Err(Error::new(
                name.span(),
                "a kernel is a free function: move it out of the `impl` block or trait, into the module",
            ))
        }
        _ => Ok(()),
    }
}

fn associated_kernel(file: &Path, name: &str) -> bool {
    static FILES: Mutex<BTreeMap<PathBuf, BTreeSet<String>>> = Mutex::new(BTreeMap::new());
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = files
        .entry(file.into())
        .or_insert_with(|| associated_kernels(file));
    names.contains(name)
}

/// The kernels of a file that are associated functions, less those whose name a kernel outside has too.
fn associated_kernels(file: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    // Without these words there are none, and parsing is spared.
    if !["impl", "trait"].iter().any(|word| text.contains(word)) {
        return BTreeSet::new();
    }
    let Ok(parsed) = syn::parse_file(&text) else {
        return BTreeSet::new();
    };
    let mut kernels = Kernels::default();
    kernels.visit_file(&parsed);
    kernels.retain_associated()
}

#[derive(Default)]
struct Kernels {
    associated: BTreeSet<String>,
    free: BTreeSet<String>,
}

impl Kernels {
    fn retain_associated(mut self) -> BTreeSet<String> {
        let mut associated = mem::take(&mut self.associated);
        associated.retain(|name| !self.free.contains(name));
        associated
    }
}

fn is_kernel(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let last = attribute.path().segments.last();
        last.is_some_and(|segment| segment.ident == "kernel")
    })
}

impl<'ast> Visit<'ast> for Kernels {
    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if is_kernel(&function.attrs) {
            self.associated.insert(function.sig.ident.to_string());
        }
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if is_kernel(&function.attrs) {
            self.associated.insert(function.sig.ident.to_string());
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if is_kernel(&function.attrs) {
            self.free.insert(function.sig.ident.to_string());
        }
        visit::visit_item_fn(self, function);
    }
}
