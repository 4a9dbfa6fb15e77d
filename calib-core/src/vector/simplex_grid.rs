//! Grid-style binning of the simplex.

use super::limits::MAX_CELLS;

/// A fixed partition of the probability simplex at the multiples of `1 / K` of every entry, for a resolution `K` (Gupta and
/// Ramdas 2022, appendix G.2).
///
/// A cell has a number `k_l` in `1..=K` for every class `l`, and contains the vectors `s` with every `s_l K` in
/// `[k_l - 1, k_l]`. A cell exists if the sum of its numbers is from `max(L, K + 1)` to `K + L - 1`: with 3 classes there are
/// `K^2` cells. A vector on an edge belongs to the lexicographically smallest of its cells. The cells are indexed in
/// lexicographic order.
///
/// ```
/// use calib_core::vector::SimplexGrid;
///
/// let grid = SimplexGrid::new(3, 4).unwrap();
/// assert_eq!(grid.cells(), 16);
/// assert_eq!(grid.cell(&mut [0.1, 0.1, 0.8]), 1); // k = (1, 1, 4), after (1, 1, 3)
/// assert_eq!(grid.cell(&mut [1.0, 0.0, 0.0]), 15); // k = (4, 1, 1)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SimplexGrid {
    classes: u16,
    resolution: u16,
    cells: u32,
}

impl SimplexGrid {
    /// Makes the grid for this number of classes, at least 2, and this resolution, at least 1; `None` if it has more than
    /// [`MAX_CELLS`] cells.
    pub fn new(classes: u16, resolution: u16) -> Option<Self> {
        if classes < 2 || resolution == 0 {
            return None;
        }
        let grid = Self { classes, resolution, cells: 0 };
        let (lowest, highest) = grid.sums();
        // Every binomial coefficient that is computed later is below this one.
        binomial(highest + u32::from(classes), classes.into()).filter(|&all| all <= 1 << 32)?;
        let cells = u32::try_from(tuples(classes.into(), lowest, highest)?).ok()?;
        (cells as usize <= MAX_CELLS).then_some(Self { cells, ..grid })
    }

    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the resolution: the number of steps from 0 to 1.
    pub const fn resolution(&self) -> u16 {
        self.resolution
    }

    /// Returns the number of cells, at least 1.
    pub const fn cells(&self) -> usize {
        self.cells as usize
    }

    /// Returns the least and the largest sum of the `k_l - 1` of a cell.
    fn sums(&self) -> (u32, u32) {
        let (classes, resolution) = (u32::from(self.classes), u32::from(self.resolution));
        ((resolution + 1).saturating_sub(classes), resolution - 1)
    }

    /// Finds the cell of a vector of scores, one per class. The scores are overwritten.
    ///
    /// `s_l K` is computed in f32; a whole number is an edge. If rounded scores do not sum to one, the vector lies beside the
    /// simplex. Its cell is then the next one along the last class if the sum is below one, along the first classes if it is
    /// above.
    pub fn cell(&self, scores: &mut [f32]) -> u16 {
        let (lowest, highest) = self.sums();
        let mut sum = 0;
        for place in scores.iter_mut() {
            // From here on the places hold `k - 1`, which is exact in f32. The cast turns numbers below 0 into 0.
            let k = libm::ceilf(*place * f32::from(self.resolution)) as u32;
            let steps = k.saturating_sub(1).min(highest);
            sum += steps;
            *place = steps as f32;
        }
        if let Some(last) = scores.last_mut() {
            *last += lowest.saturating_sub(sum) as f32;
            sum = sum.max(lowest);
        }
        for place in scores.iter_mut() {
            let taken = (*place as u32).min(sum.saturating_sub(highest));
            sum -= taken;
            *place -= taken as f32;
        }
        self.rank(scores).unwrap_or(0)
    }

    /// Returns how many cells come before the cell with these `k_l - 1`; `None` only if there is no such cell.
    fn rank(&self, steps: &[f32]) -> Option<u16> {
        let (mut lowest, mut highest) = self.sums();
        let mut rank = 0;
        let mut rest = u32::from(self.classes);
        for &place in steps {
            rest = rest.checked_sub(1)?;
            let step = place as u32;
            // Counts the cells with a smaller entry here: the ones with a sum up to the highest, less the ones with a sum below
            // the lowest.
            let left = highest.checked_sub(step)?;
            rank += binomial(highest + rest + 1, rest + 1)? - binomial(left + rest + 1, rest + 1)?;
            let needed = lowest.saturating_sub(step);
            rank -= binomial(lowest + rest, rest + 1)? - binomial(needed + rest, rest + 1)?;
            (lowest, highest) = (needed, left);
        }
        u16::try_from(rank).ok()
    }
}

/// Returns how many tuples of `len` numbers from 0 up have a sum in `lowest..=highest`.
fn tuples(len: u32, lowest: u32, highest: u32) -> Option<u64> {
    let up_to = binomial(highest + len, len)?;
    let below = if lowest == 0 { 0 } else { binomial(lowest - 1 + len, len)? };
    up_to.checked_sub(below)
}

/// Returns the binomial coefficient `n` over `k`; `None` if it may overflow.
fn binomial(n: u32, k: u32) -> Option<u64> {
    if k > n {
        return Some(0);
    }
    let mut value = 1u64;
    for i in 0..k.min(n - k) {
        value = value.checked_mul((n - i).into())?.checked_div((i + 1).into())?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// All cells in order, by trying every tuple.
    fn all(classes: usize, resolution: u16) -> Vec<Vec<u16>> {
        let k = usize::from(resolution);
        let mut cells = Vec::new();
        let mut tuple = vec![1u16; classes];
        loop {
            let sum: usize = tuple.iter().map(|&k| usize::from(k)).sum();
            if (classes.max(k + 1)..=k + classes - 1).contains(&sum) {
                cells.push(tuple.clone());
            }
            let Some(at) = tuple.iter().rposition(|&k| k < resolution) else { return cells };
            tuple[at] += 1;
            tuple[at + 1..].fill(1);
        }
    }

    #[test]
    fn has_as_many_cells_as_there_are_tuples() {
        for (classes, resolution) in [(2, 1), (2, 7), (3, 1), (3, 4), (3, 5), (4, 5), (5, 3), (6, 2), (10, 2)]
        {
            let grid = SimplexGrid::new(classes, resolution).unwrap();
            assert_eq!(grid.cells(), all(classes.into(), resolution).len(), "{classes} {resolution}");
        }
        assert_eq!(SimplexGrid::new(3, 256).unwrap().cells(), 65_536);
        assert_eq!(SimplexGrid::new(3, 257), None);
        assert_eq!(SimplexGrid::new(3, 0), None);
        assert_eq!(SimplexGrid::new(1, 3), None);
        assert_eq!(SimplexGrid::new(u16::MAX, u16::MAX), None);
    }

    #[test]
    fn an_edge_belongs_to_the_smallest_cell() {
        let grid = SimplexGrid::new(3, 4).unwrap();
        let cell_of = |tuple: &[u16]| all(3, 4).iter().position(|cell| cell == tuple).unwrap() as u16;
        // On a line, and on the corners of three and of six triangles.
        assert_eq!(grid.cell(&mut [0.25, 0.375, 0.375]), cell_of(&[1, 2, 2]));
        assert_eq!(grid.cell(&mut [0.25, 0.25, 0.5]), cell_of(&[1, 1, 3]));
        assert_eq!(grid.cell(&mut [0.5, 0.5, 0.0]), cell_of(&[2, 2, 1]));
        assert_eq!(grid.cell(&mut [0.0, 0.0, 1.0]), cell_of(&[1, 1, 4]));
    }

    proptest! {
        /// The cell is the first, in order, of those that hold the vector by the definition.
        #[test]
        fn is_the_smallest_cell_that_holds_the_vector(
            classes in 2usize..6, resolution in 1u16..7, raw in proptest::collection::vec(0u32..200, 6),
            on_edges in any::<bool>(),
        ) {
            let grid = SimplexGrid::new(classes as u16, resolution).unwrap();
            // Multiples of 2^-12, or of the grid's steps: the sum is one, and every s K exact.
            let unit = if on_edges { u32::from(resolution) } else { 4096 };
            let mut left = unit;
            let mut parts: Vec<u32> = raw[..classes - 1].iter().map(|&r| {
                let part = (r * unit / 100).min(left);
                left -= part;
                part
            }).collect();
            parts.push(left);
            let holds = |cell: &Vec<u16>| cell.iter().zip(&parts).all(|(&k, &part)| {
                let scaled = part * u32::from(resolution);
                (u32::from(k) - 1) * unit <= scaled && scaled <= u32::from(k) * unit
            });
            let expected = all(classes, resolution).iter().position(holds).unwrap();
            let mut scores: Vec<f32> = parts.iter().map(|&part| part as f32 / unit as f32).collect();
            prop_assert_eq!(usize::from(grid.cell(&mut scores)), expected);
        }

        /// Whatever the scores sum to, there is a cell.
        #[test]
        fn is_total(classes in 2usize..6, resolution in 1u16..7, mut scores in proptest::collection::vec(0.0f32..=1.0, 6)) {
            let grid = SimplexGrid::new(classes as u16, resolution).unwrap();
            let mut steps = scores[..classes].to_vec();
            prop_assert!(usize::from(grid.cell(&mut steps)) < grid.cells());
            let sum: f32 = steps.iter().sum();
            let (lowest, highest) = grid.sums();
            prop_assert!((lowest..=highest).contains(&(sum as u32)));
            scores.fill(f32::NAN);
            prop_assert!(usize::from(grid.cell(&mut scores[..classes])) < grid.cells());
        }
    }
}
