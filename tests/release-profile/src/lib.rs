//! The tests of `tests/profiles.rs` again, in a crate whose own checks of overflow are off and whose code is optimised: see
//! the profile's override in the workspace's `Cargo.toml`.
