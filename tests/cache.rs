//! A kernel that did not change is taken from the cache, and what did change is compiled.
//!
//! `tests/cache/program.rs` is built again and again by Cargo, each time with another piece of it changed. The device
//! pass says how much it compiled, and the code is always that of a build without a cache.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// The kernels of the program.
const KERNELS: usize = 7;
/// What they share: panics and formatting.
const SHARED: usize = 1;

/// The program's package.
struct Package {
    source: String,
    dependency: &'static str,
    settings: &'static str,
    /// `OXWARP_SKIP`.
    skip: &'static str,
    cache: PathBuf,
}

/// What a build found in the cache, and the program's PTX.
#[derive(Debug, PartialEq)]
struct Built {
    compiled: usize,
    reused: usize,
    ptx: String,
}

impl Package {
    fn root() -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
    }

    fn write(&self) {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = Self::root();
        fs::create_dir_all(root.join("dependency")).unwrap();
        let manifest = format!(
            "[package]\nname = \"cache\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
             [package.metadata.oxwarp]\n{}\n\
             [dependencies]\noxwarp = {{ path = {workspace:?} }}\ndependency = {{ path = \"dependency\" }}\n[workspace]\n\
             [[bin]]\nname = \"cache\"\npath = \"program.rs\"\n",
            self.settings
        );
        fs::write(root.join("Cargo.toml"), manifest).unwrap();
        fs::write(root.join("program.rs"), &self.source).unwrap();
        let manifest = "[package]\nname = \"dependency\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n";
        fs::write(root.join("dependency/Cargo.toml"), manifest).unwrap();
        let library = format!(
            "#[inline]\npub fn changed(x: f32) -> f32 {{\n    {}\n}}\n",
            self.dependency
        );
        fs::write(root.join("dependency/lib.rs"), library).unwrap();
        fs::copy(workspace.join("Cargo.lock"), root.join("Cargo.lock")).unwrap();
    }

    fn run(&self, cache: &Path) -> Output {
        self.write();
        let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()))
            .args(["run", "--offline", "--quiet", "--manifest-path"])
            .arg(Self::root().join("Cargo.toml"))
            .arg("--target-dir")
            .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap())
            .env("OXWARP_CACHE", cache)
            .env("OXWARP_VERBOSE", "1")
            .env("OXWARP_DEVICE", "cpu")
            .env_remove("OXWARP_TARGETS")
            .env("OXWARP_SKIP", self.skip)
            // For `.cargo/config.toml`.
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }

    /// Builds and runs the program, of which something has changed since the last time.
    fn build(&self) -> Built {
        let output = self.run(&self.cache);
        let said = String::from_utf8(output.stderr).unwrap();
        let line = said
            .lines()
            .find(|line| line.starts_with("oxwarp: cache has"));
        let line = line.unwrap_or_else(|| panic!("no device pass:\n{said}"));
        let numbers: Vec<usize> = line
            .split([' ', ',', ';'])
            .filter_map(|word| word.parse().ok())
            .collect();
        let [kernels, compiled, reused] = numbers[..] else {
            panic!("{line}")
        };
        assert_eq!(kernels, KERNELS);
        let ptx = String::from_utf8(output.stdout).unwrap();
        Built {
            compiled,
            reused,
            ptx,
        }
    }

    /// Builds with one piece of the source changed, and leaves it so.
    fn build_with(&mut self, old: &str, new: &str) -> Built {
        assert!(self.source.contains(old), "no `{old}`");
        self.source = self.source.replacen(old, new, 1);
        self.build()
    }
}

fn counts(built: &Built) -> [usize; 2] {
    [built.compiled, built.reused]
}

#[test]
fn what_changed_is_compiled_and_nothing_else() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cache/program.rs");
    let cache = Package::root().join("entries");
    let _ = fs::remove_dir_all(&cache);
    // The first line is of this run alone, so that Cargo builds the program in any case.
    let run = format!("//! {:?}\n", std::time::SystemTime::now());
    let mut package = Package {
        source: run + &fs::read_to_string(program).unwrap(),
        dependency: "x * 5.5",
        settings: "",
        skip: "",
        cache: cache.clone(),
    };
    let all = KERNELS + SHARED;
    let first = package.build();
    assert_eq!(counts(&first), [all, 0]);
    // One variable for both kernels that count.
    let variables = first
        .ptx
        .lines()
        .filter(|line| line.contains(".visible .global") && line.contains("COUNT"));
    assert_eq!(variables.count(), 1, "{}", first.ptx);

    let host = package.build_with("zeros::<f32>(1)", "zeros::<f32>(9)");
    assert_eq!(counts(&host), [0, all]);
    assert_eq!(host.ptx, first.ptx);

    // Each change, and how many kernels it is of. The numbers are `f32` in the PTX.
    for (old, new, kernels, number) in [
        ("3.5", "3.25", 1, "0f40500000"),
        ("FACTOR: f32 = 2.5", "FACTOR: f32 = 2.25", 1, "0f40100000"),
        ("x + 4.5", "x + 4.25", 2, "0f40880000"),
        ("f32; 24]", "f32; 25]", 1, "0f41C80000"),
    ] {
        let built = package.build_with(old, new);
        assert_eq!(counts(&built), [kernels, all - kernels], "{new}");
        assert!(
            built.ptx.contains(number) && !first.ptx.contains(number),
            "{new}: {}",
            built.ptx
        );
    }
    package.dependency = "x * 5.25";
    let built = package.build();
    assert_eq!(counts(&built), [1, all - 1]);
    assert!(built.ptx.contains("0f40A80000"), "{}", built.ptx);

    package.settings = "fma = false";
    assert_eq!(counts(&package.build())[1], 0);
    package.settings = "targets = [\"sm_90\"]";
    let newer = package.build();
    assert_eq!(counts(&newer)[1], 0);
    assert!(newer.ptx.contains(".target sm_90"));

    package.settings = "skip = [\"panic_exits\"]";
    let skipped = package.build();
    assert_eq!(counts(&skipped)[1], 0);
    let has_exits = |built: &Built| built.ptx.contains("call.uni oxwarp_panic_index");
    assert!(has_exits(&built) && !has_exits(&skipped), "{}", skipped.ptx);
    // A change of the variable, which goes before the setting, is one too.
    package.skip = "atomic_reductions";
    let skipped = package.build();
    assert_eq!(counts(&skipped)[1], 0);
    assert!(has_exits(&skipped), "{}", skipped.ptx);
    let reduces = |built: &Built| built.ptx.contains("red.");
    assert!(reduces(&built) && !reduces(&skipped), "{}", skipped.ptx);

    (package.settings, package.skip) = ("", "");
    assert_eq!(counts(&package.build()), [0, all]);
    for entry in fs::read_dir(&cache).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }
    let damaged = package.build_with("zeros::<f32>(9)", "zeros::<f32>(8)");
    assert_eq!(counts(&damaged), [all, 0]);
    assert_eq!(damaged.ptx, built.ptx);

    // A folder that cannot be.
    package.cache = package.cache.join(
        fs::read_dir(&cache)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .file_name(),
    );
    let without = package.build_with("zeros::<f32>(8)", "zeros::<f32>(7)");
    assert_eq!(counts(&without), [all, 0]);
    assert_eq!(without.ptx, built.ptx);
}
