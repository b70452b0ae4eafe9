//! The steps in their order.

use std::fs;

use crate::assemble::assemble;
use crate::cache::Cache;
use crate::constants;
use crate::entry::Shared;
use crate::error::Error;
use crate::fatal;
use crate::link::{self, Sources};
use crate::linked::Linked;
use crate::llvm;
use crate::notes;
use crate::one_kernel::{self, Compiled, Crate, Image};
use crate::parts::Whole;
use crate::records::{self, Kernel, Records};
use crate::report::{self, Report};
use crate::request::Request;
use crate::retarget;
use crate::shared_code;
use crate::twins;
use crate::workers;

/// Compiles the kernels of `request.bitcode`: writes `sm_*.ptx` for each target and [`Report::FILE`] to
/// `request.output`. Errors of the user's code are in the report; then there is no PTX.
///
/// # Errors
///
/// If the compiler itself cannot do its work.
pub fn compile(request: &Request) -> Result<Report, Error> {
    llvm::load(&request.llvm)?;
    fatal::report();
    let first = request.targets[0];
    retarget::learn_data_layout(retarget::machine(first, first.isa())?);
    let context = llvm::context_create();
    let module = link::parse(context, &link::read_file(&request.bitcode)?, "the crate")?;
    retarget::set_target(module);
    let records = records::read(context, module)?;
    twins::replace_what_is_missing(module)?;
    let linked = Linked::read(module)?;
    let mut report = Report::default();
    if !records.kernels.is_empty() {
        let functions: Vec<_> = records
            .kernels
            .iter()
            .map(|kernel| kernel.function)
            .collect();
        Sources::open(context, request, &records)?.link_into(module, &functions, &linked)?;
        notes::remove(module);
        let whole = Whole::of(context, module, &records.kernels, &request.steps)?;
        report = compile_kernels(&whole, &records, &linked, request)?;
    }
    write(request, Report::FILE, &report.to_text())?;
    Ok(report)
}

fn compile_kernels(
    whole: &Whole,
    records: &Records,
    linked: &Linked,
    request: &Request,
) -> Result<Report, Error> {
    let of = Crate {
        request,
        replacements: &records.replacements,
        linked,
    };
    let kernels: Vec<Kernel<()>> = records
        .kernels
        .iter()
        .map(|kernel| kernel.with(()))
        .collect();
    let mut report = Report::default();
    let cache = Cache::open(request);
    let mut images = Vec::new();
    let compiled = workers::map(&kernels, |kernel| {
        let bitcode = whole.kernel(kernel)?;
        cache.result(&[&bitcode, of.content(kernel).as_bytes()], || {
            one_kernel::compile(&bitcode, kernel, &of)
        })
    });
    for compiled in compiled {
        match compiled? {
            Compiled::Images(of_kernel) => images.push(of_kernel),
            Compiled::Wrong(wrong) => report.diagnostics.extend(wrong),
        }
    }
    if !report.diagnostics.is_empty() {
        return Ok(report);
    }
    let wanted = images
        .iter()
        .flatten()
        .flat_map(|image| image.shared.iter().cloned())
        .collect();
    let cooperative = images
        .iter()
        .flatten()
        .any(|image| image.kernel.cooperative);
    let bitcode = whole.shared(&wanted)?;
    let Shared(shared) = cache.result(&[&bitcode, &[cooperative.into()]], || {
        shared_code::compile(&bitcode, cooperative, request).map(Shared)
    })?;
    cache.clean();
    report.cache = cache.counts();
    for (index, (target, shared)) in request.targets.iter().zip(&shared).enumerate() {
        let images: Vec<&Image> = images.iter().map(|images| &images[index]).collect();
        let constants = images.iter().map(|image| image.constants.as_slice());
        report
            .diagnostics
            .extend(constants::excess(kernels.iter().zip(constants)));
        if !report.diagnostics.is_empty() {
            report.kernels.clear();
            return Ok(report);
        }
        report.add(
            images
                .iter()
                .map(|image| described(image, shared))
                .collect(),
        );
        let ptx = assemble(&images, shared);
        let called: Vec<String> = images
            .iter()
            .flat_map(|image| image.linked.clone())
            .collect();
        write(
            request,
            &format!("{target}.ptx"),
            &linked.merge(&called, ptx)?,
        )?;
    }
    Ok(report)
}

/// What is so of a kernel with the shared functions that it calls.
fn described(image: &Image, shared: &shared_code::Image) -> report::Kernel {
    let mut kernel = image.kernel.clone();
    let called = shared
        .functions
        .iter()
        .filter(|function| image.shared.contains(&function.symbol));
    for function in called {
        kernel.deep_stack |= function.deep_stack;
        kernel.prints |= function.prints;
        kernel.allocates |= function.allocates;
    }
    kernel
}

fn write(request: &Request, name: &str, text: &str) -> Result<(), Error> {
    let path = request.output.join(name);
    fs::write(&path, text).map_err(|cause| Error::File { path, cause })
}
