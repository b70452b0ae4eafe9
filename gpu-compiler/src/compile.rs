//! The steps in their order.

use std::fs;

use crate::block_shape;
use crate::constants;
use crate::error::Error;
use crate::formatting;
use crate::inert;
use crate::intrinsics;
use crate::launch_facts::{self, Facts};
use crate::link::{self, Sources};
use crate::linked::Linked;
use crate::llvm::{self, Context, Metadata, Module, TargetMachine, Value};
use crate::loop_checks;
use crate::panic_names;
use crate::records::{self, Kernel, Records};
use crate::report::{self, Report};
use crate::request::Request;
use crate::target::Target;
use crate::{
    check, emit, narrow, notes, optimise, requirements, retarget, strides, unchecked, unroll,
    variants,
};

/// Compiles the kernels of `request.bitcode`: writes `sm_*.ptx` for each target and [`Report::FILE`] to
/// `request.output`. Errors of the user's code are in the report; then there is no PTX.
///
/// # Errors
///
/// If the compiler itself cannot do its work.
pub fn compile(request: &Request) -> Result<Report, Error> {
    llvm::load(&request.llvm)?;
    let context = llvm::context_create();
    retarget::learn_data_layout(machine(request.targets[0])?);
    let module = link::parse(context, &link::read_file(&request.bitcode)?, "the crate")?;
    retarget::set_target(module);
    let mut records = records::read(context, module)?;
    let linked = Linked::read(module)?;
    let mut report = Report::default();
    if !records.kernels.is_empty() {
        let facts = lower(context, module, &mut records, &linked, request)?;
        report = optimise_and_emit(
            context,
            module,
            (&records.kernels, &facts),
            &linked,
            request,
        )?;
    }
    write(request, Report::FILE, &report.to_text())?;
    Ok(report)
}

/// From the crate's whole bitcode to a module of device code.
fn lower(
    context: Context,
    module: Module,
    records: &mut Records,
    linked: &Linked,
    request: &Request,
) -> Result<Vec<Facts>, Error> {
    let functions: Vec<Value> = records
        .kernels
        .iter()
        .map(|kernel| kernel.function)
        .collect();
    Sources::open(context, request, records)?.link_into(module, &functions, linked)?;
    notes::remove(module);
    formatting::keep_small(context, module);
    retarget::retarget(context, module);
    intrinsics::lower_arithmetic(context, module)?;
    let facts = launch_facts::apply(context, module, &records.kernels);
    variants::apply(context, module, records, request.fma)?;
    intrinsics::lower(context, module)?;
    inert::make_inert(context, module);
    optimise::verify(module)?;
    let subprograms: Vec<_> = records
        .kernels
        .iter()
        .map(|kernel| subprogram(module, kernel))
        .collect();
    loop_checks::simplify(module)?;
    launch_facts::fold_in_kernels(module, &records.kernels, &facts);
    block_shape::fold(context, module, machine(request.targets[0])?)?;
    loop_checks::tidy(module)?;
    narrow::narrow(context, module);
    unroll::apply(context, module);
    if request.loop_versions {
        loop_checks::version(context, module)?;
    }
    unchecked::remove(context, module)?;
    strides::reduce(module)?;
    for (kernel, subprogram) in records.kernels.iter().zip(subprograms) {
        if let Some(subprogram) = subprogram {
            llvm::set_subprogram(kernel.function, subprogram);
        }
    }
    Ok(facts)
}

/// The debug information of a kernel's entry, whose body the kernel has after the first inlining: lines (`.loc`) are
/// written only for functions that have some.
fn subprogram(module: Module, kernel: &Kernel) -> Option<Metadata> {
    llvm::function(module, &kernel.entry).and_then(llvm::subprogram)
}

fn optimise_and_emit(
    context: Context,
    lowered: Module,
    (kernels, facts): (&[Kernel], &[Facts]),
    linked: &Linked,
    request: &Request,
) -> Result<Report, Error> {
    let mut report = Report::default();
    for &target in &request.targets {
        let module = llvm::clone_module(lowered);
        let kernels = in_clone(module, kernels);
        requirements::fold(module, target);
        optimise::optimise(context, module, machine(target)?)?;
        report.diagnostics = check::check(context, module, &kernels, target, linked);
        report
            .diagnostics
            .extend(constants::excess(module, &kernels));
        if !report.diagnostics.is_empty() {
            break;
        }
        panic_names::mark(context, module, &kernels);
        let described = kernels
            .iter()
            .zip(facts)
            .map(|(kernel, &facts)| describe(kernel, facts));
        report.add(described.collect());
        let isa = target
            .isa()
            .max(requirements::take(module))
            .max(linked.isa(module));
        optimise::run_passes(module, "globaldce", None)?;
        let ptx = emit::emit(module, retarget::machine(target, isa)?)?;
        let ptx = linked.merge(module, ptx)?;
        write(request, &format!("{target}.ptx"), &ptx)?;
    }
    Ok(report)
}

/// The back end for code that asks for no newer PTX than its target does.
fn machine(target: Target) -> Result<TargetMachine, Error> {
    retarget::machine(target, target.isa())
}

/// The same kernels in a clone of their module.
fn in_clone(module: Module, kernels: &[Kernel]) -> Vec<Kernel> {
    let kernels = kernels.iter().filter_map(|kernel| {
        Some(Kernel {
            function: llvm::function(module, &kernel.symbol)?,
            ..kernel.clone()
        })
    });
    kernels.collect()
}

fn describe(kernel: &Kernel, facts: Facts) -> report::Kernel {
    report::Kernel {
        id: kernel.id,
        symbol: kernel.symbol.clone(),
        dimensions: facts.dimensions,
        cooperative: facts.cooperative,
        shared_bytes: launch_facts::shared_bytes(kernel.function),
        deep_stack: launch_facts::deep_stack(kernel.function),
        prints: launch_facts::prints(kernel.function),
        allocates: launch_facts::allocates(kernel.function),
    }
}

fn write(request: &Request, name: &str, text: &str) -> Result<(), Error> {
    let path = request.output.join(name);
    fs::write(&path, text).map_err(|cause| Error::File { path, cause })
}
