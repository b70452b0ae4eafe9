//! `tests/profiles.rs`, compiled as in a release build.
#![allow(missing_docs)]

#[path = "../../profiles.rs"]
mod profiles;

const _: () = assert!(
    !cfg!(debug_assertions),
    "the checks of a release build are off"
);
