//! Projection-based binning of the simplex.

use super::limits::MAX_CELLS;

/// A partition of the probability simplex by a sequence of hyperplanes (Gupta and Ramdas 2022, Algorithm 10).
///
/// Every cell but the last has a direction `q_b` and a threshold `T_b`. A vector is in the first cell whose direction has a
/// scalar product with the vector below the threshold, otherwise in the last cell.
///
/// ```
/// use calib_core::vector::Projection;
///
/// // First the vectors with much of class 0, then those with much of class 1, then the rest.
/// let halves = Projection::new(3, &[-1.0, 0.0, 0.0, 0.0, -1.0, 0.0], &[-0.5, -0.5]).unwrap();
/// assert_eq!(halves.cells(), 3);
/// assert_eq!(halves.cell(&[0.2, 0.7, 0.1]), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Projection<'a> {
    classes: u16,
    /// An entry per class, for each threshold.
    directions: &'a [f32],
    thresholds: &'a [f32],
}

impl<'a> Projection<'a> {
    /// Makes a partition with one cell more than thresholds. `directions` has an entry in `[-1, 1]` per class, for each
    /// threshold.
    ///
    /// `None` if there are fewer than 2 classes, or 65 536 thresholds or more, or if the lengths do not match. Also `None` if an
    /// entry is outside `[-1, 1]`, or if a threshold is not finite.
    pub fn new(classes: u16, directions: &'a [f32], thresholds: &'a [f32]) -> Option<Self> {
        let len = thresholds.len().checked_mul(classes.into())?;
        let valid = classes >= 2
            && thresholds.len() < MAX_CELLS
            && directions.len() == len
            && directions.iter().all(|entry| entry.abs() <= 1.0)
            && thresholds.iter().all(|threshold| threshold.is_finite());
        valid.then_some(Self { classes, directions, thresholds })
    }

    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the number of cells, at least 1.
    pub const fn cells(&self) -> usize {
        self.thresholds.len() + 1
    }

    /// Returns the directions, one after the other.
    pub const fn directions(&self) -> &'a [f32] {
        self.directions
    }

    /// Returns the thresholds, one per direction.
    pub const fn thresholds(&self) -> &'a [f32] {
        self.thresholds
    }

    /// Returns the scalar product of a direction and a vector of scores, in f32, summed from class 0 upwards.
    pub fn project(direction: &[f32], scores: &[f32]) -> f32 {
        direction.iter().zip(scores).fold(0.0, |sum, (entry, score)| sum + entry * score)
    }

    /// Finds the cell of a vector of scores, one per class.
    pub fn cell(&self, scores: &[f32]) -> u16 {
        let mut directions = self.directions;
        for (cell, &threshold) in self.thresholds.iter().enumerate() {
            let Some((direction, rest)) = directions.split_at_checked(self.classes()) else { break };
            if Self::project(direction, scores) < threshold {
                return cell as u16;
            }
            directions = rest;
        }
        self.thresholds.len() as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_partition() {
        let new = Projection::new;
        assert!(new(2, &[], &[]).is_some_and(|one| one.cells() == 1 && one.cell(&[0.5, 0.5]) == 0));
        assert_eq!(new(1, &[0.5], &[0.1]), None);
        assert_eq!(new(2, &[0.5], &[0.1]), None);
        assert_eq!(new(2, &[0.5, 1.1], &[0.1]), None);
        assert_eq!(new(2, &[0.5, f32::NAN], &[0.1]), None);
        assert_eq!(new(2, &[0.5, 0.5], &[f32::INFINITY]), None);
    }

    #[test]
    fn the_first_hyperplane_decides_and_its_threshold_is_outside() {
        let cells = Projection::new(2, &[0.0, 1.0, 0.0, 1.0], &[0.25, 0.5]).unwrap();
        let at = |score: f32| cells.cell(&[1.0 - score, score]);
        assert_eq!([at(0.0), at(0.25f32.next_down()), at(0.25), at(0.5), at(1.0)], [0, 0, 1, 2, 2]);
    }
}
