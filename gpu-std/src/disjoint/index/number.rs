//! What `i + 1` and `i < n` say of the index of a thread, warp or block, which is not to be computed with: its number is.
//!
//! rustc knows that `*i` would do only where the operator exists, so each is there for operands that do not exist.

use core::cmp::Ordering;
use core::ops::{Add, Div, Mul, Rem, Sub};

use super::{BlockIndex, ThreadIndex, WarpIndex};

/// An operand for the index of a thread, warp or block: there is none.
#[diagnostic::on_unimplemented(
    message = "the index of a thread, warp or block is not computed or compared with: its number is",
    label = "its number is `*i`",
    note = "`a[i]` reads the element of the index itself; another one is `a[*i + 1]`"
)]
pub trait NoOperandOfIndex {
    /// Nothing can.
    fn never(&self) -> !;
}

macro_rules! operators {
    ($index:ident: $($operator:ident $function:ident)*) => {
        $(
            #[doc(hidden)]
            impl<N: NoOperandOfIndex> $operator<N> for $index {
                type Output = usize;

                fn $function(self, operand: N) -> usize {
                    operand.never()
                }
            }
        )*

        #[doc(hidden)]
        impl<N: NoOperandOfIndex> PartialEq<N> for $index {
            fn eq(&self, operand: &N) -> bool {
                operand.never()
            }
        }

        #[doc(hidden)]
        impl<N: NoOperandOfIndex> PartialOrd<N> for $index {
            fn partial_cmp(&self, operand: &N) -> Option<Ordering> {
                operand.never()
            }
        }
    };
}

operators!(ThreadIndex: Add add Sub sub Mul mul Div div Rem rem);
operators!(WarpIndex: Add add Sub sub Mul mul Div div Rem rem);
operators!(BlockIndex: Add add Sub sub Mul mul Div div Rem rem);
