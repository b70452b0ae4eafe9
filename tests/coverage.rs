//! What the documents say is there: the tests that `docs/coverage.md` names, with a test or a reason in each line, and the
//! names of oxwarp in `docs/cuda-numba-oxwarp.md`.
#![allow(missing_docs)]

use std::fs;
use std::path::Path;

/// The source of the test that a name stands for, and the test's own name if the file is not a test itself.
fn source_and_test<'a>(root: &Path, name: &'a str) -> (String, Option<&'a str>) {
    let (place, test) = name.rsplit_once("::").unwrap();
    if ["ui", "device_errors"].contains(&place) {
        let source = fs::read_to_string(root.join(format!("tests/{place}/{test}.rs")));
        return (
            source.unwrap_or_else(|_| panic!("there is no `{name}`")),
            None,
        );
    }
    let in_crate = |folder: &str| match place.rsplit_once('/') {
        Some((package, file)) => format!("{folder}{package}/tests/{file}.rs"),
        None => String::new(),
    };
    let files = [
        format!("tests/{place}.rs"),
        in_crate("tests/"),
        in_crate(""),
    ];
    let source = files
        .iter()
        .find_map(|file| fs::read_to_string(root.join(file)).ok());
    (
        source.unwrap_or_else(|| panic!("`{name}` is in none of {files:?}")),
        Some(test),
    )
}

/// Whether the source has a function of the name, or an entry of a macro that makes one.
fn has_test(source: &str, test: &str) -> bool {
    source.lines().any(|line| {
        let line = line.trim_start();
        let name = line.strip_prefix("fn ").unwrap_or(line);
        name.strip_prefix(test)
            .is_some_and(|rest| rest.starts_with(['(', ':']))
    })
}

#[test]
fn what_the_document_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join("docs/coverage.md")).unwrap();
    let tables = document.lines().filter(|line| line.starts_with("| "));
    let rows: Vec<&str> = tables
        .filter(|line| !line.ends_with("| tested by |") && !line.contains("---"))
        .collect();
    assert!(rows.len() > 100);
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let &[_, proof] = &cells[..] else {
            panic!("not two cells: {row}");
        };
        assert!(!proof.trim().is_empty(), "neither test nor reason: {row}");
        for name in proof
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| name.contains("::"))
        {
            let (source, test) = source_and_test(root, name);
            let is_there = test.is_none_or(|test| has_test(&source, test));
            assert!(is_there, "there is no test `{name}`");
        }
    }
}

/// All Rust code under a folder.
fn code(folder: &Path) -> String {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.extension() {
            Some(extension) if extension == "rs" => fs::read_to_string(&path).unwrap(),
            None if path.is_dir() => code(&path),
            _ => String::new(),
        })
        .collect()
}

/// The last names of the paths in a cell: `index_1d` of `thread::index_1d()`.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    let paths = cell
        .split('`')
        .skip(1)
        .step_by(2)
        .flat_map(|code| code.split("::").skip(1));
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    paths.map(move |rest| rest.split(|letter| !is_name(letter)).next().unwrap())
}

#[test]
fn the_names_beside_cudas_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join("docs/cuda-numba-oxwarp.md")).unwrap();
    let code = ["gpu-std/src", "host-runtime/src"].map(|folder| code(&root.join(folder)));
    let code = code.concat();
    let rows = document
        .lines()
        .filter(|line| line.starts_with("| ") && !line.contains("---"));
    let mut count = 0;
    for row in rows {
        // A bar of a closure is written as `\|`.
        let row = row.replace(r"\|", "");
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        assert_eq!(cells.len(), 3, "{row}");
        for name in names(cells[2]).filter(|name| !["", "sync", "atomic", "new"].contains(name)) {
            let mut words = code.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            assert!(
                words.any(|word| word == name),
                "there is no `{name}`: {row}"
            );
            count += 1;
        }
    }
    assert!(count > 80, "{count} names");
}
