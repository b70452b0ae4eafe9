//! Sizes of a grid or block that are no one to three integers.
use oxwarp::prelude::*;

#[kernel]
fn nothing() {}

fn main() -> oxwarp::Result<()> {
    launch!(nothing[(1, 2, 3, 4), 32]())?;
    launch!(nothing[[1, 2, 3, 4], 32]())?;
    launch!(nothing[1.5, 32]())?;
    launch!(nothing[1, "32"]())?;
    nothing.for_each(2.0).launch()?;
    Ok(())
}
