//! One kernel, from its own module ([`parts`](crate::parts)) to PTX for each target.

use std::collections::BTreeMap;

use crate::block_shape;
use crate::constants::{self, Constant};
use crate::error::Error;
use crate::exits::{self, Sites};
use crate::fatal;
use crate::host_features;
use crate::inert;
use crate::inlining;
use crate::intrinsics;
use crate::launch_facts::{self, Facts};
use crate::link;
use crate::linked::Linked;
use crate::llvm::{self, Context, Metadata, Module};
use crate::loop_checks;
use crate::panic_names;
use crate::records::Kernel;
use crate::report::{self, Diagnostic};
use crate::request::Request;
use crate::step::Step;
use crate::target::Target;
use crate::{
    check, choices, emit, narrow, optimise, own_atomics, rejoin, requirements, retarget,
    shared_code, strides, unchecked, unroll,
};

/// What is the same for all kernels of a crate.
pub struct Crate<'a> {
    pub request: &'a Request,
    /// The runtime's table ([`Records`](crate::records::Records)).
    pub replacements: &'a BTreeMap<String, String>,
    pub linked: &'a Linked,
}

/// What becomes of a kernel.
#[derive(Debug, PartialEq, Eq)]
pub enum Compiled {
    /// One image for each target.
    Images(Vec<Image>),
    /// Errors of the user's code.
    Wrong(Vec<Diagnostic>),
}

/// A kernel's code for one target.
#[derive(Debug, PartialEq, Eq)]
pub struct Image {
    pub kernel: report::Kernel,
    /// A module of its own.
    pub ptx: String,
    /// The constant memory that it reads.
    pub constants: Vec<Constant>,
    /// The functions in PTX of the user's own files that it calls.
    pub linked: Vec<String>,
    /// The shared functions that it refers to.
    pub shared: Vec<String>,
}

impl Crate<'_> {
    /// All that a kernel's result depends on, but for its module and the request. Its name and place are for messages.
    pub fn content(&self, kernel: &Kernel<()>) -> String {
        let Kernel {
            id,
            choices,
            takes_pointers,
            views,
            symbol,
            entry,
            ..
        } = kernel;
        let runtime = choices.unchecked.then_some(self.replacements);
        let linked = self.linked.ptx();
        format!(
            "{id:x} {choices:?} {takes_pointers} {views:?} {symbol} {entry} {runtime:?} {linked:?}"
        )
    }
}

/// Compiles a kernel, given its module as bitcode.
pub fn compile(bitcode: &[u8], kernel: &Kernel<()>, of: &Crate) -> Result<Compiled, Error> {
    fatal::working_on(kernel);
    let context = llvm::context_create();
    let module = link::parse(context, bitcode, &kernel.name)?;
    let compiled = compile_in(context, module, kernel, of);
    // SAFETY: nothing of the context is used again: what was compiled is text and numbers.
    unsafe {
        llvm::dispose_module(module);
        llvm::dispose_context(context);
    }
    compiled
}

fn compile_in(
    context: Context,
    lowered: Module,
    kernel: &Kernel<()>,
    of: &Crate,
) -> Result<Compiled, Error> {
    let facts = lower(context, lowered, &in_module(lowered, kernel)?, of)?;
    let mut images = Vec::new();
    for &target in &of.request.targets {
        let module = llvm::clone_module(lowered);
        let made = image(
            context,
            module,
            &in_module(module, kernel)?,
            facts,
            target,
            of,
        );
        // SAFETY: the image holds nothing of the module.
        unsafe { llvm::dispose_module(module) };
        match made? {
            Ok(image) => images.push(image),
            Err(wrong) => return Ok(Compiled::Wrong(wrong)),
        }
    }
    Ok(Compiled::Images(images))
}

fn in_module(module: Module, kernel: &Kernel<()>) -> Result<Kernel, Error> {
    let what = || Error::Bitcode {
        what: kernel.name.clone(),
    };
    llvm::function(module, &kernel.symbol)
        .map(|function| kernel.with(function))
        .ok_or_else(what)
}

/// From what rustc wrote to device code that is good for all targets.
fn lower(context: Context, module: Module, kernel: &Kernel, of: &Crate) -> Result<Facts, Error> {
    let steps = &of.request.steps;
    retarget::retarget(context, module);
    intrinsics::lower_arithmetic(context, module)?;
    let facts = launch_facts::apply(context, module, kernel);
    choices::apply(
        context,
        module,
        kernel.choices,
        of.request.fma,
        of.replacements,
    );
    intrinsics::lower(context, module)?;
    inert::make_inert(context, module);
    optimise::verify(module)?;
    let subprogram = subprogram(module, kernel);
    inlining::allow(context, module);
    loop_checks::simplify(module)?;
    own_atomics::lower(context, module);
    host_features::deny(module);
    if steps.has(Step::LaunchDimensions) {
        launch_facts::fold(module, facts);
    }
    if steps.has(Step::BlockShape) {
        let first = of.request.targets[0];
        block_shape::fold(context, module, retarget::machine(first, first.isa())?)?;
    }
    loop_checks::tidy(module)?;
    if steps.has(Step::NarrowCounters) {
        narrow::narrow(context, module);
    }
    unroll::apply(context, module);
    if steps.has(Step::LoopVersions) {
        loop_checks::version(context, module, steps.has(Step::WideIndices))?;
    }
    unchecked::remove(context, module)?;
    if steps.has(Step::Strides) {
        strides::reduce(module)?;
    }
    if let Some(subprogram) = subprogram {
        llvm::set_subprogram(kernel.function, subprogram);
    }
    Ok(facts)
}

/// The debug information of a kernel's entry, whose body the kernel has after the first inlining: lines (`.loc`) are
/// written only for functions that have some.
fn subprogram(module: Module, kernel: &Kernel) -> Option<Metadata> {
    llvm::function(module, &kernel.entry).and_then(llvm::subprogram)
}

fn image(
    context: Context,
    module: Module,
    kernel: &Kernel,
    facts: Facts,
    target: Target,
    of: &Crate,
) -> Result<Result<Image, Vec<Diagnostic>>, Error> {
    let steps = &of.request.steps;
    requirements::fold(module, target);
    let machine = retarget::machine(target, target.isa())?;
    optimise::optimise(context, module, machine, steps)?;
    if steps.has(Step::LoopEnds) {
        loop_checks::divide_ends(context, module)?;
    }
    // SAFETY: nothing uses it again.
    unsafe { llvm::dispose_machine(machine) };
    let wrong = check::check(context, module, kernel, target, of.linked);
    if !wrong.is_empty() {
        return Ok(Err(wrong));
    }
    // A thread that panics must leave its grid too, which the runtime's functions do.
    let sites = match !facts.cooperative && steps.has(Step::PanicExits) {
        true => exits::replace(context, module, kernel.function, of.replacements),
        false => Sites::default(),
    };
    panic_names::mark(context, module, kernel);
    let (described, constants) = (describe(kernel, facts), constants::read_in(module));
    let linked = of.linked.called_in(module);
    let shared = link::undefined(module)
        .into_iter()
        .filter(|&function| shared_code::is_shared(function))
        .map(llvm::name)
        .collect();
    let isa = target
        .isa()
        .max(requirements::take(module))
        .max(of.linked.isa(&linked));
    optimise::run_passes(module, "globaldce", None)?;
    if steps.has(Step::PanicRejoins) {
        rejoin::rejoin(context, kernel.function);
    }
    let machine = retarget::machine(target, isa)?;
    let ptx = exits::describe(emit::emit(module, machine, steps)?, &sites);
    // SAFETY: as above.
    unsafe { llvm::dispose_machine(machine) };
    Ok(Ok(Image {
        kernel: described,
        ptx,
        constants,
        linked,
        shared,
    }))
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
