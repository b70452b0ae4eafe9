//! Paths as text: no file is looked at.

use std::path::{Component, Path, PathBuf};

use crate::check::digest_text;

agree!(parts, components, changed);

fn path(x: u8) -> &'static Path {
    Path::new(["a/b.rs", "/x//y.tar.gz", "../q/", "q", "/", "", "./a/../.b"][x as usize % 7])
}

fn text(part: Option<&std::ffi::OsStr>) -> u64 {
    part.and_then(|part| part.to_str()).map_or(0, digest_text)
}

fn parts(x: u8) -> ([u64; 3], bool, Option<usize>) {
    let path = path(x);
    (
        [
            text(path.extension()),
            text(path.file_stem()),
            text(path.file_name()),
        ],
        path.is_absolute(),
        path.parent().map(|parent| parent.as_os_str().len()),
    )
}

fn components((x, y): (u8, u8)) -> ([usize; 3], bool) {
    let path = path(x);
    let count = |kind: fn(&Component) -> bool| path.components().filter(kind).count();
    (
        [
            count(|part| matches!(part, Component::Normal(_))),
            count(|part| *part == Component::ParentDir),
            count(|part| *part == Component::RootDir),
        ],
        path.starts_with(self::path(y)),
    )
}

fn changed((x, y): (u8, u8)) -> (u64, u64) {
    let mut joined: PathBuf = path(x).join(path(y));
    let before = text(Some(joined.as_os_str()));
    joined.set_extension("txt");
    joined.pop();
    joined.push("end");
    (before, text(Some(joined.as_os_str())))
}
