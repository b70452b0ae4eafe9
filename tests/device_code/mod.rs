//! The PTX of a test binary, as text and through `ptxas`.

#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use oxwarp::__private::{DeviceCode, inventory};

/// Everything that this binary's crates have as PTX, one text a target.
fn images() -> Vec<(u32, String)> {
    inventory::iter::<DeviceCode>
        .into_iter()
        .flat_map(|code| code.images)
        .map(|image| (image.target, image.ptx.to_string_lossy().into_owned()))
        .collect()
}

/// All PTX of the test binary.
pub fn all() -> String {
    images().into_iter().map(|(_, ptx)| ptx).collect()
}

/// The PTX of the kernel `name`, from its entry to the end of its body; of the lowest target.
pub fn of(name: &str) -> String {
    of_target(name, 0)
}

/// The PTX of the kernel `name` for the lowest target that is not below `target`; of all its instances, if it has several.
pub fn of_target(name: &str, target: u32) -> String {
    let images = images().into_iter().filter(|image| image.0 >= target);
    let mut found = images.filter_map(|(_, ptx)| {
        let bodies = entries(&ptx, name).map(|start| {
            let end = ptx[start..].find("\n}").unwrap_or(ptx.len() - start);
            ptx[start..start + end].to_owned()
        });
        Some(bodies.collect::<String>()).filter(|bodies| !bodies.is_empty())
    });
    found.next().unwrap_or_else(|| panic!("no PTX of `{name}`"))
}

/// Where the entries of the kernel `name` are: their symbols are the name and the 32 digits of an id.
fn entries<'a>(ptx: &'a str, name: &str) -> impl Iterator<Item = usize> + 'a {
    let start = format!(".entry {name}_");
    let len = start.len();
    let places: Vec<_> = ptx.match_indices(&start).map(|(at, _)| at).collect();
    places.into_iter().filter(move |at| {
        let id = ptx[at + len..].chars();
        id.take_while(char::is_ascii_hexdigit).count() == 32
    })
}

/// The PTX of the function that the kernel `name` calls.
pub fn called_by(name: &str) -> String {
    let code = of(name);
    let called = code.split_once("call.uni").and_then(|(_, rest)| {
        rest.split([',', '(', ')', ' ', '\n'])
            .find(|word| word.starts_with("_R"))
    });
    let called = called.unwrap_or_else(|| panic!("no call in\n{code}"));
    let found = images().into_iter().find_map(|(_, ptx)| {
        // The last place is the definition.
        let start = ptx.rfind(&format!("{called}("))?;
        let end = ptx[start..].find("\n}")?;
        Some(ptx[start..start + end].to_owned())
    });
    found.unwrap_or_else(|| panic!("no PTX of `{called}`"))
}

/// The whole PTX that the kernel `name` is in, of the lowest target.
pub fn module_of(name: &str) -> String {
    let found = images()
        .into_iter()
        .find(|(_, ptx)| entries(ptx, name).next().is_some());
    found.unwrap_or_else(|| panic!("no PTX of `{name}`")).1
}

/// The PTX of all functions, not kernels, beside the kernel `name` whose name has `word` in it.
pub fn functions(name: &str, word: &str) -> Vec<String> {
    let ptx = module_of(name);
    let functions = ptx.split(".func ").skip(1).filter_map(|text| {
        let (head, rest) = text.split_once('{')?;
        let is_definition = !head.contains(';') && head.contains(word);
        is_definition.then(|| head.to_owned() + rest.split("\n}").next().unwrap_or_default())
    });
    functions.collect()
}

/// Fails with the code if one of `wanted` is missing.
#[track_caller]
pub fn contains(code: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(code.contains(wanted), "no `{wanted}` in\n{code}");
    }
}

/// Lets `ptxas` assemble all of it, where there is one.
#[track_caller]
pub fn assembles() {
    for (target, ptx) in images() {
        assemble(target, &ptx);
    }
}

/// As [`assembles`], but for no newer GPUs, where the PTX is large.
#[track_caller]
pub fn assembles_for_its_target() {
    for (target, ptx) in images() {
        assemble_for(&[target], &ptx);
    }
}

/// Lets `ptxas` assemble the PTX of one target for that GPU and newer ones, where there is a `ptxas`.
#[track_caller]
pub fn assemble(target: u32, ptx: &str) {
    let newer = [80, 90, 100].into_iter().filter(|&arch| arch > target);
    let archs: Vec<u32> = std::iter::once(target).chain(newer).collect();
    assemble_for(&archs, ptx);
}

#[track_caller]
fn assemble_for(archs: &[u32], ptx: &str) {
    let Some(ptxas) = ptxas() else {
        eprintln!("no ptxas on this machine: the PTX is not assembled");
        return;
    };
    let file = std::env::temp_dir().join(format!(
        "oxwarp-{}-{:?}.ptx",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::write(&file, ptx).expect("the temporary folder can be written");
    for arch in archs {
        let output = Command::new(&ptxas)
            // That it assembles does not depend on how far it is optimised, and this is faster.
            .args([
                format!("-arch=sm_{arch}").as_str(),
                "-O1",
                "-o",
                "/dev/null",
            ])
            .arg(&file)
            .output()
            .expect("ptxas runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "sm_{arch}: {said}");
    }
    let _ = std::fs::remove_file(file);
}

/// The registers of a thread of the kernel `name`, as `ptxas` gives them for its own target. `None` without a `ptxas`.
pub fn registers(name: &str) -> Option<u32> {
    let ptxas = ptxas()?;
    let (target, ptx) = images()
        .into_iter()
        .find(|(_, ptx)| entries(ptx, name).next().is_some())?;
    let file = std::env::temp_dir().join(format!("oxwarp-{name}-{}.ptx", std::process::id()));
    std::fs::write(&file, ptx).expect("the temporary folder can be written");
    let output = Command::new(ptxas)
        .args(["-v", &format!("-arch=sm_{target}"), "-o", "/dev/null"])
        .arg(&file)
        .output()
        .expect("ptxas runs");
    let _ = std::fs::remove_file(file);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let of_kernel = said.split_once(&format!("'{name}_"))?.1;
    let number = of_kernel.split_once("Used ")?.1.split_whitespace().next()?;
    Some(number.parse().expect("ptxas writes a number"))
}

/// The program `ptxas`. It must be there where `OXWARP_REQUIRE_PTXAS` is 1.
fn ptxas() -> Option<PathBuf> {
    let toolkits = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(std::env::var_os);
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Cargo runs the tests of a package in its own folder.
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let folders = toolkits
        .map(|home| PathBuf::from(home).join("bin"))
        .chain(above.map(|folder| folder.join("tools")))
        .chain(["tools", "/usr/local/cuda/bin"].map(PathBuf::from))
        .chain(std::env::split_paths(&path));
    let mut programs = folders.map(|folder| folder.join("ptxas"));
    let found = programs.find(|program| program.is_file());
    let required = std::env::var("OXWARP_REQUIRE_PTXAS").is_ok_and(|value| value == "1");
    assert!(
        found.is_some() || !required,
        "OXWARP_REQUIRE_PTXAS is set, but there is no ptxas: run scripts/install-ptxas.sh"
    );
    found
}
