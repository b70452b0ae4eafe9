//! The counting of grid-stride loops, in one to three dimensions.
//!
//! A loop that starts at or beyond its end does nothing. Steps are of the launch's size, at least 1. So that a trip is an
//! addition and a comparison, which the device compiler knows to bound an index, an end within one step of `usize::MAX` is
//! brought down by that step: no array is so long, and no thread would live to see it.

/// `start`, `start + step`, ... while below `end`.
#[derive(Clone, Debug)]
pub struct Stride {
    next: usize,
    step: usize,
    end: usize,
}

/// The same along rows, in every row of the same along columns.
#[derive(Clone, Debug)]
pub struct Stride2d {
    rows: Stride,
    cols: Stride,
    start: usize,
}

/// The same again, in every plane of the same along planes.
#[derive(Clone, Debug)]
pub struct Stride3d {
    planes: Stride,
    inner: Stride2d,
    start: usize,
}

impl Stride {
    /// Starts the count.
    #[inline]
    pub fn new(start: usize, step: usize, end: usize) -> Self {
        Stride {
            next: start,
            step,
            end: end.min(usize::MAX - step),
        }
    }

    /// What is next, if the count has not ended.
    #[inline]
    fn peek(&self) -> Option<usize> {
        (self.next < self.end).then_some(self.next)
    }

    /// Goes on.
    #[inline]
    fn advance(&mut self) {
        // It does not wrap: what is next was below the end.
        self.next = self.next.wrapping_add(self.step);
    }
}

impl Iterator for Stride {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let index = self.peek()?;
        self.advance();
        Some(index)
    }
}

impl Stride2d {
    /// Starts the count.
    #[inline]
    pub fn new(start: [usize; 2], step: [usize; 2], end: [usize; 2]) -> Self {
        Stride2d {
            rows: Stride::new(start[0], step[0], end[0]),
            cols: Stride::new(start[1], step[1], end[1]),
            start: start[1],
        }
    }
}

impl Iterator for Stride2d {
    type Item = [usize; 2];

    #[inline]
    fn next(&mut self) -> Option<[usize; 2]> {
        loop {
            let row = self.rows.peek()?;
            if let Some(col) = self.cols.next() {
                return Some([row, col]);
            }
            self.cols.next = self.start;
            self.rows.advance();
        }
    }
}

impl Stride3d {
    /// Starts the count.
    #[inline]
    pub fn new(start: [usize; 3], step: [usize; 3], end: [usize; 3]) -> Self {
        let [_, start_of_rest @ ..] = start;
        let [_, step_of_rest @ ..] = step;
        let [_, end_of_rest @ ..] = end;
        Stride3d {
            planes: Stride::new(start[0], step[0], end[0]),
            inner: Stride2d::new(start_of_rest, step_of_rest, end_of_rest),
            start: start[1],
        }
    }
}

impl Iterator for Stride3d {
    type Item = [usize; 3];

    #[inline]
    fn next(&mut self) -> Option<[usize; 3]> {
        loop {
            let plane = self.planes.peek()?;
            if let Some([row, col]) = self.inner.next() {
                return Some([plane, row, col]);
            }
            self.inner.rows.next = self.start;
            self.planes.advance();
        }
    }
}
