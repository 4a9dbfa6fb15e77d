//! Grid-style binning of the simplex.

use super::limits::MAX_CELLS;

/// A fixed partition of the probability simplex by the multiples of `1 / resolution` of every entry (Gupta and Ramdas
/// 2022, appendix G.2).
///
/// A cell is named by `k_l` in `1..=K` for every class `l`, and holds the vectors with `s_l K` in `[k_l - 1, k_l]` for
/// all of them; such a cell exists if the `k_l` add up to `max(L, K + 1)` up to `K + L - 1`. A vector on an edge belongs
/// to the lexicographically smallest of its cells. Cells are numbered in that order: with 3 classes there are `K^2`.
///
/// ```
/// use calib_core::SimplexGrid;
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
    /// The grid for so many classes, at least 2, with so many steps from 0 to 1, at least 1; `None` if it has more than
    /// [`MAX_CELLS`] cells.
    pub fn new(classes: u16, resolution: u16) -> Option<Self> {
        if classes < 2 || resolution == 0 {
            return None;
        }
        let grid = Self { classes, resolution, cells: 0 };
        let (lowest, highest) = grid.sums();
        // Bounds every binomial coefficient that is computed later.
        binomial(highest + u32::from(classes), classes.into()).filter(|&all| all <= 1 << 32)?;
        let cells = u32::try_from(tuples(classes.into(), lowest, highest)?).ok()?;
        (cells as usize <= MAX_CELLS).then_some(Self { cells, ..grid })
    }

    /// The number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// The number of steps from 0 to 1.
    pub const fn resolution(&self) -> u16 {
        self.resolution
    }

    /// The number of cells, at least 1.
    pub const fn cells(&self) -> usize {
        self.cells as usize
    }

    /// The least and the largest sum of the `k_l - 1` of a cell.
    fn sums(&self) -> (u32, u32) {
        let (classes, resolution) = (u32::from(self.classes), u32::from(self.resolution));
        ((resolution + 1).saturating_sub(classes), resolution - 1)
    }

    /// The cell of a vector of scores, one per class, which is overwritten.
    ///
    /// `s_l K` is computed in f32, and is an edge if it is a whole number. Where the scores do not sum to one, so that
    /// the vector lies beside the simplex, the cell is the next one along the last class if they sum to less, along the
    /// first ones if to more.
    pub fn cell(&self, scores: &mut [f32]) -> u16 {
        let (lowest, highest) = self.sums();
        let mut sum = 0;
        for place in scores.iter_mut() {
            // From here on `k - 1`, which an f32 holds exactly. The cast takes what is below 0 to 0.
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

    /// How many cells come before the one with these `k_l - 1`; `None` only for what is no cell.
    fn rank(&self, steps: &[f32]) -> Option<u16> {
        let (mut lowest, mut highest) = self.sums();
        let mut rank = 0;
        let mut rest = u32::from(self.classes);
        for &place in steps {
            rest = rest.checked_sub(1)?;
            let step = place as u32;
            // Those with a smaller entry here: of them, those with a sum of 0 up to the highest, less those with a sum
            // below the lowest.
            let left = highest.checked_sub(step)?;
            rank += binomial(highest + rest + 1, rest + 1)? - binomial(left + rest + 1, rest + 1)?;
            let needed = lowest.saturating_sub(step);
            rank -= binomial(lowest + rest, rest + 1)? - binomial(needed + rest, rest + 1)?;
            (lowest, highest) = (needed, left);
        }
        u16::try_from(rank).ok()
    }
}

/// How many tuples of so many numbers from 0 on have a sum in `lowest..=highest`.
fn tuples(len: u32, lowest: u32, highest: u32) -> Option<u64> {
    let up_to = binomial(highest + len, len)?;
    let below = if lowest == 0 { 0 } else { binomial(lowest - 1 + len, len)? };
    up_to.checked_sub(below)
}

/// `n` over `k`; `None` if it is too large to tell.
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
