//! What `#[kernel]` and a launch refuse at compile time: each error stands at the user's own line and says what to do
//! instead. The expected texts are those of the pinned toolchain; `TRYBUILD=overwrite cargo test --test compile_fail`
//! writes them anew.
#![allow(missing_docs)]

#[test]
fn errors_are_at_the_users_line_and_say_what_to_do() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
