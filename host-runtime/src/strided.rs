//! A copy between two layouts as few copies of rows.
//!
//! In: a shape, and for each side where its first element is and how far neighbours are apart. Out: pieces that the
//! driver copies in one call: runs without gaps on both sides, repeated at equal distances. Axes along which both sides
//! go on without a gap become one.

use crate::bytes::Rows;
use crate::error::Result;

/// The largest distance of rows that the driver takes.
const MOST_PITCH: isize = i32::MAX as isize;

/// One side of a copy: the address of the element whose index is all zeros, and the strides in elements.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub address: u64,
    pub strides: &'a [isize],
}

/// An axis, with strides in bytes.
#[derive(Clone, Copy, Debug)]
struct Axis {
    extent: usize,
    to: isize,
    from: isize,
}

/// The copies.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// One of them; the others lie at the distances of the axes.
    rows: Rows,
    axes: Vec<Axis>,
}

impl Pieces {
    /// The pieces of a copy of elements of `size` bytes. Both sides have the same shape.
    pub fn new(size: usize, shape: &[usize], to: Side<'_>, from: Side<'_>) -> Self {
        let mut rows = Rows {
            address: to.address,
            pitch: size,
            source: from.address,
            source_pitch: size,
            width: size,
            height: 1,
        };
        if shape.contains(&0) || size == 0 {
            rows.height = 0;
            return Self {
                rows,
                axes: Vec::new(),
            };
        }
        let mut axes = in_order(size, shape, to, from, &mut rows);
        while let [first, ..] = axes[..]
            && first.to == rows.width as isize
            && first.from == rows.width as isize
        {
            rows.width *= first.extent;
            axes.remove(0);
        }
        merge(&mut axes);
        let mut pieces = Self { rows, axes };
        pieces.take_rows();
        pieces
    }

    /// Makes the longest axis that the driver can copy in one call that of the rows.
    fn take_rows(&mut self) {
        let width = self.rows.width as isize;
        let can = |axis: &Axis| {
            let pitches = [axis.to, axis.from];
            pitches
                .iter()
                .all(|pitch| (width..=MOST_PITCH).contains(pitch))
        };
        let longest = (0..self.axes.len())
            .filter(|&index| can(&self.axes[index]))
            .max_by_key(|&index| self.axes[index].extent);
        let Some(index) = longest else {
            self.rows.pitch = self.rows.width;
            self.rows.source_pitch = self.rows.width;
            return;
        };
        let axis = self.axes.remove(index);
        self.rows.height = axis.extent;
        self.rows.pitch = axis.to as usize;
        self.rows.source_pitch = axis.from as usize;
    }

    /// Calls that they take.
    pub fn count(&self) -> usize {
        self.axes.iter().map(|axis| axis.extent).product()
    }

    /// Bytes that are copied without a gap.
    pub fn width(&self) -> usize {
        self.rows.width
    }

    /// Hands over each, up to the first error.
    pub fn for_each(&self, mut each: impl FnMut(Rows) -> Result<()>) -> Result<()> {
        if self.rows.height == 0 {
            return Ok(());
        }
        for number in 0..self.count() {
            let mut rows = self.rows;
            let mut left = number;
            for axis in &self.axes {
                let index = (left % axis.extent) as isize;
                left /= axis.extent;
                rows.address = rows.address.wrapping_add_signed((index * axis.to) as i64);
                rows.source = rows.source.wrapping_add_signed((index * axis.from) as i64);
            }
            each(rows)?;
        }
        Ok(())
    }
}

/// The axes with more than one element, the closest of the destination first. Where the destination goes backwards,
/// both sides are taken from the other end.
fn in_order(
    size: usize,
    shape: &[usize],
    to: Side<'_>,
    from: Side<'_>,
    rows: &mut Rows,
) -> Vec<Axis> {
    let mut axes = Vec::with_capacity(shape.len());
    let strides = to.strides.iter().zip(from.strides);
    for (&extent, (&to, &from)) in shape.iter().zip(strides) {
        let (mut to, mut from) = (to * size as isize, from * size as isize);
        if extent == 1 {
            continue;
        }
        if to < 0 {
            let last = extent as isize - 1;
            rows.address = rows.address.wrapping_add_signed((last * to) as i64);
            rows.source = rows.source.wrapping_add_signed((last * from) as i64);
            (to, from) = (-to, -from);
        }
        axes.push(Axis { extent, to, from });
    }
    axes.sort_by_key(|axis| axis.to);
    axes
}

/// Makes one axis of neighbours that go on without a gap on both sides.
fn merge(axes: &mut Vec<Axis>) {
    let mut index = 1;
    while index < axes.len() {
        let (inner, outer) = (axes[index - 1], axes[index]);
        let extent = inner.extent as isize;
        if outer.to == inner.to * extent && outer.from == inner.from * extent {
            axes[index - 1].extent *= outer.extent;
            axes.remove(index);
        } else {
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(shape: &[usize], to: &[isize], from: &[isize]) -> Pieces {
        let (to, from) = (
            Side {
                address: 0x1000,
                strides: to,
            },
            Side {
                address: 0x9000,
                strides: from,
            },
        );
        Pieces::new(4, shape, to, from)
    }

    #[test]
    fn what_has_no_gaps_is_one_run() {
        let all = pieces(&[2, 3, 5], &[15, 5, 1], &[15, 5, 1]);
        assert_eq!((all.count(), all.width(), all.rows.height), (1, 120, 1));
        let reordered = pieces(&[3, 2, 5], &[5, 15, 1], &[5, 15, 1]);
        assert_eq!((reordered.count(), reordered.width()), (1, 120));
    }

    #[test]
    fn rows_are_one_call() {
        let block = pieces(&[4, 3], &[3, 1], &[10, 1]);
        assert_eq!(block.count(), 1);
        let Rows {
            width,
            height,
            pitch,
            source_pitch,
            ..
        } = block.rows;
        assert_eq!((width, height, pitch, source_pitch), (12, 4, 12, 40));
        let column = pieces(&[100], &[1], &[7]);
        assert_eq!((column.count(), column.rows.height), (1, 100));
    }

    #[test]
    fn backwards_is_piece_by_piece_on_one_side_only() {
        let both = pieces(&[6], &[-1], &[-1]);
        assert_eq!((both.count(), both.width()), (1, 24));
        assert_eq!(
            (both.rows.address, both.rows.source),
            (0x1000 - 20, 0x9000 - 20)
        );
        assert_eq!(pieces(&[6], &[1], &[-1]).count(), 6);
    }

    #[test]
    fn nothing_is_no_piece() {
        let mut calls = 0;
        let count = |_| {
            calls += 1;
            Ok(())
        };
        pieces(&[3, 0], &[1, 1], &[1, 1]).for_each(count).unwrap();
        assert_eq!(calls, 0);
    }
}
