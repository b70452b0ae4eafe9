//! What compiles another source against the libraries of this crate, as a literal.
//!
//! The libraries are noted with size and time: a kernel that is compiled later shares types with this program, so they must
//! be the very same files.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use proc_macro2::TokenStream;
use quote::quote;

use crate::device_pass::{self, Invocation};

/// An expression of the type `oxwarp::__private::Compilation`.
pub fn literal() -> TokenStream {
    match Invocation::of_this_process() {
        Ok(invocation) => known(&invocation),
        Err(reason) => quote! {
            ::oxwarp::__private::Compilation {
                rustc: "",
                arguments: &[],
                libraries: &[],
                folder: "",
                package: "",
                settings: "",
                libdevice: "",
                skip: "",
                targets: &[],
                skipped: ::core::option::Option::Some(#reason),
            }
        },
    }
}

fn known(invocation: &Invocation) -> TokenStream {
    let rustc = text(&invocation.program);
    let arguments = invocation.arguments_for_another_source();
    let libraries = invocation.libraries();
    let libraries = libraries.iter().filter_map(|path| {
        let (bytes, nanoseconds) = version(path)?;
        let path = text(path);
        Some(quote!((#path, #bytes, #nanoseconds)))
    });
    // Beside the crate's own output.
    let folder = text(&invocation.output_folder().join("oxwarp-run-time"));
    let manifest = device_pass::manifest();
    let package = manifest.as_deref().and_then(Path::parent).map(text);
    let package = package.unwrap_or_default();
    // Settings that are wrong are an error of the crate's own device code.
    let settings = device_pass::settings().ok();
    let libdevice = settings
        .as_ref()
        .map(|settings| settings.libdevice.as_deref());
    let libdevice = libdevice.flatten().map_or("off".to_owned(), text);
    let skip = settings.as_ref().map(|settings| {
        let skipped: Vec<&str> = settings.steps.skipped().collect();
        skipped.join(",")
    });
    let skip = skip.unwrap_or_default();
    let settings = format!("{settings:?}");
    let targets = device_pass::known_targets();
    quote! {
        ::oxwarp::__private::Compilation {
            rustc: #rustc,
            arguments: &[#(#arguments),*],
            libraries: &[#(#libraries),*],
            folder: #folder,
            package: #package,
            settings: #settings,
            libdevice: #libdevice,
            skip: #skip,
            targets: &[#(#targets),*],
            skipped: ::core::option::Option::None,
        }
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// The size of a file, and the time of its last change.
fn version(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((metadata.len(), changed.as_nanos() as u64))
}
