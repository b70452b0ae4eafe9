//! What the user chose: the targets, the mathematical library, `fma`, which optimisations are skipped.
//!
//! From `[package.metadata.oxwarp]` in the crate's `Cargo.toml`; an environment variable goes before it.
//!
//! ```toml
//! [package.metadata.oxwarp]
//! targets = ["sm_75", "sm_90"]  # OXWARP_TARGETS=sm_75,sm_90
//! libdevice = "off"             # OXWARP_LIBDEVICE: a path to libdevice.10.bc, or off
//! fma = false
//! skip = ["loop_versions"]      # OXWARP_SKIP=loop_versions: optimisations, or all
//! ```

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use gpu_compiler::step::{Steps, UnknownStep};
use gpu_compiler::{Target, UnknownTarget};

/// A change of one of these compiles the crate anew.
pub const TRACKED_VARIABLES: [&str; 5] = [
    "OXWARP_TARGETS",
    "OXWARP_SKIP",
    "OXWARP_LIBDEVICE",
    "CUDA_HOME",
    "CUDA_PATH",
];

/// The choices.
#[derive(Debug, PartialEq, Eq)]
pub struct Settings {
    pub targets: Vec<Target>,
    pub libdevice: Option<PathBuf>,
    pub fma: bool,
    pub steps: Steps,
}

/// A choice that is none.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{place}: {cause}")]
    Target {
        place: &'static str,
        cause: UnknownTarget,
    },
    #[error("{place}: {cause}")]
    Step {
        place: &'static str,
        cause: UnknownStep,
    },
    #[error("`[package.metadata.oxwarp]` in Cargo.toml: `{key}` must be {wanted}")]
    Type {
        key: &'static str,
        wanted: &'static str,
    },
    #[error(
        "`[package.metadata.oxwarp]` in Cargo.toml: unknown key `{0}`; there are `targets`, `libdevice`, `fma` and `skip`"
    )]
    Key(String),
    #[error("there is no libdevice at {}", .0.display())]
    NoLibdevice(PathBuf),
}

/// Reads the settings of the crate that is being compiled.
pub fn read() -> Result<Settings, Error> {
    let table = manifest()
        .as_deref()
        .and_then(|path| fs::read_to_string(path).ok())
        .and_then(|text| metadata(&text));
    from(&table.unwrap_or_default(), |name| {
        env::var(name).ok().filter(|value| !value.is_empty())
    })
}

/// The crate's `Cargo.toml`.
pub fn manifest() -> Option<PathBuf> {
    let path = Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("Cargo.toml");
    path.is_file().then_some(path)
}

fn metadata(text: &str) -> Option<toml::Table> {
    let mut manifest: toml::Table = text.parse().ok()?;
    let mut table = manifest.remove("package")?;
    for key in ["metadata", "oxwarp"] {
        table = table.as_table_mut()?.remove(key)?;
    }
    table.as_table().cloned()
}

fn from(table: &toml::Table, variable: impl Fn(&str) -> Option<String>) -> Result<Settings, Error> {
    if let Some(key) = table
        .keys()
        .find(|key| !["targets", "libdevice", "fma", "skip"].contains(&key.as_str()))
    {
        return Err(Error::Key(key.clone()));
    }
    let libdevice = match variable("OXWARP_LIBDEVICE") {
        Some(path) => Some(path),
        None => table
            .get("libdevice")
            .map(|value| text(value, "libdevice"))
            .transpose()?,
    };
    Ok(Settings {
        targets: targets(table, variable("OXWARP_TARGETS"))?,
        libdevice: find_libdevice(libdevice, &variable)?,
        fma: switch(table, "fma")?,
        steps: steps(table, variable("OXWARP_SKIP"))?,
    })
}

/// What is on unless it is turned off.
fn switch(table: &toml::Table, key: &'static str) -> Result<bool, Error> {
    let wanted = "true or false";
    table.get(key).map_or(Ok(true), |value| {
        value.as_bool().ok_or(Error::Type { key, wanted })
    })
}

fn text(value: &toml::Value, key: &'static str) -> Result<String, Error> {
    value.as_str().map(String::from).ok_or(Error::Type {
        key,
        wanted: "a string",
    })
}

/// The names that a variable lists, with commas or spaces between, or else a list of the manifest.
fn names(
    table: &toml::Table,
    key: &'static str,
    variable: Option<String>,
    wanted: &'static str,
) -> Result<Vec<String>, Error> {
    if let Some(list) = variable {
        let names = list.split([',', ' ']).filter(|name| !name.is_empty());
        return Ok(names.map(String::from).collect());
    }
    let Some(value) = table.get(key) else {
        return Ok(Vec::new());
    };
    let list = value.as_array().ok_or(Error::Type { key, wanted })?;
    list.iter().map(|value| text(value, key)).collect()
}

/// The optimisations that are left when some are skipped.
fn steps(table: &toml::Table, variable: Option<String>) -> Result<Steps, Error> {
    let place = match &variable {
        Some(_) => "OXWARP_SKIP",
        None => "`skip` in Cargo.toml",
    };
    let wanted = "a list of strings such as \"loop_versions\"";
    let names = names(table, "skip", variable, wanted)?;
    Steps::without(names.iter().map(String::as_str)).map_err(|cause| Error::Step { place, cause })
}

fn targets(table: &toml::Table, variable: Option<String>) -> Result<Vec<Target>, Error> {
    let place = match &variable {
        Some(_) => "OXWARP_TARGETS",
        None => "`targets` in Cargo.toml",
    };
    let wanted = "a list of strings such as \"sm_90\"";
    let mut targets = names(table, "targets", variable, wanted)?
        .iter()
        .map(|name| name.parse().map_err(|cause| Error::Target { place, cause }))
        .collect::<Result<Vec<Target>, _>>()?;
    if targets.is_empty() {
        targets.push(Target::DEFAULT);
    }
    targets.sort();
    targets.dedup();
    Ok(targets)
}

/// The libdevice that was chosen, or else that of a CUDA toolkit or its Python package. `None` if there is none.
fn find_libdevice(
    chosen: Option<String>,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Option<PathBuf>, Error> {
    match chosen.as_deref() {
        Some("off") => return Ok(None),
        Some(path) if Path::new(path).is_file() => return Ok(Some(path.into())),
        Some(path) => return Err(Error::NoLibdevice(path.into())),
        None => {}
    }
    let toolkits = ["CUDA_HOME", "CUDA_PATH"]
        .into_iter()
        .filter_map(variable)
        .map(PathBuf::from);
    let usual = ["/usr/local/cuda", "/opt/cuda"]
        .into_iter()
        .map(PathBuf::from);
    let python = variable("VIRTUAL_ENV")
        .into_iter()
        .flat_map(|environment| python_packages(Path::new(&environment)));
    let roots = toolkits.chain(usual).chain(python);
    Ok(roots
        .map(|root| root.join("nvvm/libdevice/libdevice.10.bc"))
        .find(|path| path.is_file()))
}

/// The folders of NVIDIA's packages in a Python environment.
fn python_packages(environment: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let versions = inside(&environment.join("lib"));
    versions
        .iter()
        .flat_map(|version| inside(&version.join("site-packages/nvidia")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(manifest: &str, variables: &[(&str, &str)]) -> Result<Settings, Error> {
        let find = |name: &str| {
            variables
                .iter()
                .find(|variable| variable.0 == name)
                .map(|variable| variable.1.to_string())
        };
        from(&metadata(manifest).unwrap_or_default(), find)
    }

    const OXWARP: &str = "[package]\nname = \"a\"\n[package.metadata.oxwarp]\n";

    #[test]
    fn the_variable_goes_before_the_manifest_and_that_before_the_default() {
        let off = ("OXWARP_LIBDEVICE", "off");
        let targets =
            |manifest: &str, variables: &[_]| settings(manifest, variables).unwrap().targets;
        assert_eq!(targets("[package]", &[off]), [Target::DEFAULT]);
        let manifest = format!("{OXWARP}targets = [\"sm_90\", \"sm_80\"]\nlibdevice = \"off\"");
        assert_eq!(targets(&manifest, &[]), [Target(80), Target(90)]);
        assert_eq!(
            targets(&manifest, &[("OXWARP_TARGETS", "sm_75, sm_100")]),
            [Target(75), Target(100)]
        );
    }

    #[test]
    fn steps_are_skipped_by_name() {
        let skipped = |manifest: &str, variables: &[_]| {
            let variables = [variables, &[("OXWARP_LIBDEVICE", "off")]].concat();
            let steps = settings(manifest, &variables).map(|settings| settings.steps);
            steps.map(|steps| steps.skipped().collect::<Vec<_>>())
        };
        let manifest = format!("{OXWARP}skip = [\"strides\", \"merged_checks\"]");
        assert_eq!(skipped("[package]", &[]).unwrap(), [""; 0]);
        assert_eq!(
            skipped(&manifest, &[]).unwrap(),
            ["strides", "merged_checks"]
        );
        let variable = |value| [("OXWARP_SKIP", value)];
        assert_eq!(
            skipped(&manifest, &variable("fall_through, nested_loads")).unwrap(),
            ["nested_loads", "fall_through"]
        );
        let all = skipped(&manifest, &variable("all")).unwrap();
        assert_eq!(all.len(), gpu_compiler::step::Step::ALL.len());
        let error = skipped("[package]", &variable("checks")).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("OXWARP_SKIP: there is no step `checks`")
                && error.contains("`merged_checks`"),
            "{error}"
        );
    }

    #[test]
    fn wrong_settings_name_themselves() {
        for (line, named) in [
            ("targets = [\"sm_5\"]", "`sm_5`"),
            ("targets = 5", "`targets`"),
            ("fma = \"no\"", "`fma`"),
            ("loop_versions = false", "`loop_versions`"),
            ("skip = \"strides\"", "`skip` must be a list"),
            ("skip = [1]", "`skip` must be a string"),
            (
                "skip = [\"checks\"]",
                "`skip` in Cargo.toml: there is no step `checks`",
            ),
            ("speed = 1", "`speed`"),
            ("libdevice = \"/no/such/file\"", "/no/such/file"),
        ] {
            let error = settings(&format!("{OXWARP}{line}"), &[])
                .unwrap_err()
                .to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
