//! Sierpinski binning of the simplex.

use super::limits::MAX_CELLS;

/// A fixed partition of the probability simplex that is finest toward the corners (Gupta and Ramdas 2022, appendix G.1).
///
/// At each of `depth` levels, a vector with an entry above 1/2 belongs to the corner of the entry's class. The corner is then
/// enlarged to the whole simplex, by doubling every entry and taking 1 from the one above 1/2, and divided at the next level. A
/// vector without such an entry belongs to the middle, which is not divided further.
///
/// There are `(L^(depth + 1) - 1) / (L - 1)` cells: first the cells in the corner of class 0, then of class 1 and so on, last the
/// middle.
///
/// ```
/// use calib_core::vector::Sierpinski;
///
/// let binning = Sierpinski::new(3, 2).unwrap();
/// assert_eq!(binning.cells(), 13);
/// assert_eq!(binning.cell(&mut [0.9, 0.1, 0.0]), 0); // the corner of class 0, twice
/// assert_eq!(binning.cell(&mut [0.4, 0.4, 0.2]), 12); // the middle
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sierpinski {
    classes: u16,
    depth: u8,
    cells: u32,
}

impl Sierpinski {
    /// Makes the partition for this number of classes, at least 2, and this number of levels; `None` if it has more than
    /// [`MAX_CELLS`] cells.
    pub const fn new(classes: u16, depth: u8) -> Option<Self> {
        if classes < 2 {
            return None;
        }
        let mut cells = 1u32;
        let mut level = 0;
        while level < depth {
            // Below 2^16 times 2^16 before the sum saturates.
            cells = cells.saturating_mul(classes as u32).saturating_add(1);
            if cells as usize > MAX_CELLS {
                return None;
            }
            level += 1;
        }
        Some(Self { classes, depth, cells })
    }

    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the number of levels.
    pub const fn depth(&self) -> u8 {
        self.depth
    }

    /// Returns the number of cells, at least 1.
    pub const fn cells(&self) -> usize {
        self.cells as usize
    }

    /// Finds the cell of a vector of scores, one per class. The scores are overwritten.
    ///
    /// Doubling is exact in f32, and so is taking 1 from a number above 1: no rounding moves a vector to another cell. If rounded
    /// scores have two entries above 1/2, the vector belongs to the corner of the lower class.
    pub fn cell(&self, scores: &mut [f32]) -> u16 {
        let (mut first, mut cells) = (0, self.cells);
        for _ in 0..self.depth {
            let Some(corner) = scores.iter().position(|&score| score > 0.5) else {
                return (first + cells - 1) as u16;
            };
            cells = (cells - 1) / u32::from(self.classes.max(1));
            first += corner as u32 * cells;
            for (class, score) in scores.iter_mut().enumerate() {
                *score = *score * 2.0 - if class == corner { 1.0 } else { 0.0 };
            }
        }
        first as u16
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;
    use crate::test_size::step;

    #[test]
    fn has_as_many_cells_as_the_formula_says() {
        for (depth, cells) in [(0, 1), (1, 4), (2, 13), (3, 40), (4, 121)] {
            assert_eq!(Sierpinski::new(3, depth).unwrap().cells(), cells);
        }
        assert_eq!(Sierpinski::new(10, 4).unwrap().cells(), 11_111);
        assert_eq!(Sierpinski::new(10, 5), None);
        assert_eq!(Sierpinski::new(2, 15).unwrap().cells(), 65_535);
        assert_eq!(Sierpinski::new(2, 16), None);
        assert_eq!(Sierpinski::new(1, 1), None);
        assert_eq!(Sierpinski::new(u16::MAX, 255), None);
    }

    #[test]
    fn an_entry_of_one_half_is_not_above_it() {
        let binning = Sierpinski::new(3, 1).unwrap();
        assert_eq!(binning.cell(&mut [0.5, 0.5, 0.0]), 3);
        assert_eq!(binning.cell(&mut [0.5f32.next_up(), 0.25, 0.25]), 0);
        assert_eq!(binning.cell(&mut [0.0, 0.0, 1.0]), 2);
    }

    /// Over a fine grid every cell of depth 3 has points, and nearly as many as the others: all are triangles of a side
    /// that says its depth.
    #[test]
    fn every_cell_is_reached_and_the_areas_are_right() {
        let binning = Sierpinski::new(3, 3).unwrap();
        let mut counts = std::vec![0u32; binning.cells()];
        let steps = 500 / step(4) as u16;
        let mut n = 0;
        for i in 0..steps {
            for j in 0..steps - i {
                // Off the edges by a third of a step.
                let at = |x: u16| (f32::from(x) + 1.0 / 3.0) / f32::from(steps);
                let (a, b) = (at(i), at(j));
                counts[usize::from(binning.cell(&mut [a, b, 1.0 - a - b]))] += 1;
                n += 1;
            }
        }
        // Depth 1's middle has a quarter, depth 2's a sixteenth, depth 3's corners and middles a 64th.
        let share = |cell: usize| f64::from(counts[cell]) / f64::from(n);
        assert!((share(39) - 0.25).abs() < 0.01, "{}", share(39));
        assert!((share(12) - 1.0 / 16.0).abs() < 0.005, "{}", share(12));
        let smallest: Vec<usize> = (0..40).filter(|&cell| (share(cell) - 1.0 / 64.0).abs() < 0.002).collect();
        assert_eq!(smallest.len(), 36);
    }
}
