//! Projection-based histogram binning.

use calib_core::vector::{MAX_CELLS, Projection};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::model::{CanonicalModel, Partition};
use crate::cancel;
use crate::data::VectorData;
use crate::error::CanonicalError;
use crate::stats::Seed;

/// Projection-based histogram binning (Gupta and Ramdas 2022, Algorithm 10): cells of the same number of points, cut off
/// one after the other by hyperplanes.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectionBinning {
    /// The number of cells, at least 1; there must be at least twice as many points.
    pub bins: usize,
    /// The hyperplanes' normals.
    pub directions: Directions,
}

/// The directions along which vectors are ordered.
#[derive(Clone, Debug, PartialEq)]
pub enum Directions {
    /// The classes in turn: each cell has the largest scores of its class among the vectors that are left.
    Rotate,
    /// Drawn uniformly from the unit sphere.
    Random(Seed),
    /// These, one after the other, with an entry in `[-1, 1]` per class; `bins - 1` of them.
    Given(Vec<f32>),
}

impl ProjectionBinning {
    pub(crate) fn fit(&self, data: &VectorData) -> Result<CanonicalModel, CanonicalError> {
        let (n, bins, classes) = (data.len(), self.bins, data.classes());
        if bins == 0 || bins > MAX_CELLS {
            return Err(CanonicalError::Parameter("the number of cells is from 1 to 65536"));
        }
        if n / 2 < bins {
            return Err(CanonicalError::TooFewPoints { n, bins });
        }
        let mut directions = self.directions(classes)?;
        let scores = data.scores();
        let mut left: Vec<&[f32]> = scores.chunks_exact(classes).collect();
        let rank = (n + 1) / bins;
        let mut thresholds = Vec::with_capacity(bins - 1);
        let mut ties_merged = false;
        for direction in directions.chunks_exact(classes) {
            cancel::check_canceled();
            // Ties took more than their share.
            if left.len() < rank {
                break;
            }
            let mut projected: Vec<f32> =
                left.iter().map(|row| Projection::project(direction, row)).collect();
            let (_, &mut threshold, _) = projected.select_nth_unstable_by(rank - 1, f32::total_cmp);
            // -0 and 0 are one threshold.
            let threshold = threshold + 0.0;
            ties_merged |= projected.iter().filter(|&&place| place == threshold).count() > 1;
            thresholds.push(threshold);
            left.retain(|row| Projection::project(direction, row) > threshold);
        }
        directions.truncate(thresholds.len() * classes);
        // As printed, a point that is on any threshold counts nowhere.
        let inside = |row: &[f32]| {
            let mut pairs = directions.chunks_exact(classes).zip(&thresholds);
            ties_merged
                || pairs.all(|(direction, &threshold)| Projection::project(direction, row) != threshold)
        };
        let partition =
            Partition::Projection { directions: directions.clone(), thresholds: thresholds.clone() };
        let mut model = CanonicalModel::with_frequencies(partition, data, inside);
        model.ties_merged = ties_merged;
        Ok(model)
    }

    /// The directions of all cells but the last, one after the other.
    fn directions(&self, classes: usize) -> Result<Vec<f32>, CanonicalError> {
        let len = (self.bins - 1) * classes;
        match &self.directions {
            Directions::Rotate => {
                let entry = |i: usize| if i % classes == (i / classes) % classes { -1.0 } else { 0.0 };
                Ok((0..len).map(entry).collect())
            }
            Directions::Random(seed) => {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(*seed);
                let mut directions = Vec::with_capacity(len);
                for _ in 1..self.bins {
                    let normal: Vec<f64> = (0..classes).map(|_| StandardNormal.sample(&mut rng)).collect();
                    let norm = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
                    directions.extend(normal.iter().map(|x| (x / norm) as f32));
                }
                Ok(directions)
            }
            Directions::Given(given)
                if given.len() == len && given.iter().all(|entry| entry.abs() <= 1.0) =>
            {
                Ok(given.clone())
            }
            Directions::Given(_) => {
                Err(CanonicalError::Parameter("a direction has an entry from -1 to 1 per class"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::binary::{BinaryMethod, Umd};
    use crate::data::{BinaryData, VectorKind, Vectors};
    use crate::fit::fit_binary;
    use crate::joint::simplex::CanonicalMethod;

    fn data(classes: usize, rows: &[(Vec<f32>, i64)]) -> VectorData {
        let values = rows.iter().flat_map(|row| row.0.clone()).collect();
        let vectors = Vectors::new(values, classes, VectorKind::Probs).unwrap();
        VectorData::new(&vectors, &rows.iter().map(|row| row.1).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn all_projections_equal_leave_one_cell_with_points() {
        let rows: Vec<_> = (0..20).map(|i| (vec![0.5, 0.25, 0.25], i64::from(i < 5))).collect();
        let method = ProjectionBinning { bins: 4, directions: Directions::Rotate };
        let model = CanonicalMethod::Projection(method).fit(&data(3, &rows)).unwrap();
        assert!(model.ties_merged);
        assert_eq!(model.cell(&[0.5, 0.25, 0.25]).counts, [15, 5, 0]);
    }

    proptest! {
        /// With all directions e_2, two classes, no ties and B dividing n + 1, Algorithm 10 is uniform-mass binning.
        #[test]
        fn projection_on_one_class_is_uniform_mass_binning(
            scores in proptest::collection::btree_set(1u32..1 << 20, 30..200), bins in 1usize..8, seed in any::<u64>(),
        ) {
            let len = (scores.len() + 1) / bins * bins - 1;
            prop_assume!(len >= 2 * bins);
            let rows: Vec<(Vec<f32>, i64)> = scores.iter().take(len).enumerate().map(|(i, &s)| {
                let score = s as f32 / (1 << 20) as f32;
                (vec![1.0 - score, score], (seed >> (i % 61) & 1) as i64)
            }).collect();
            let binary = BinaryData::new(
                rows.iter().map(|row| row.0[1].into()).collect(), rows.iter().map(|row| row.1 == 1).collect(),
            ).unwrap();
            prop_assume!(rows.iter().any(|row| row.1 != rows[0].1));
            let umd = fit_binary(&binary, &BinaryMethod::Umd(Umd::new(bins)), 0.1).unwrap();
            let umd = umd.tables[0].as_ref().unwrap().model.steps().unwrap().clone();
            let directions = Directions::Given([0.0, 1.0].repeat(bins - 1));
            let method = CanonicalMethod::Projection(ProjectionBinning { bins, directions });
            let model = method.fit(&data(2, &rows)).unwrap();
            let Partition::Projection { thresholds, .. } = &model.partition else { panic!() };
            prop_assert_eq!(thresholds.iter().map(|&t| f64::from(t)).collect::<Vec<_>>(), &umd.edges[..]);
            let values: Vec<f64> = model.cells.iter().map(|cell| cell.probs[1]).collect();
            prop_assert_eq!(values, umd.bins.iter().map(|bin| bin.value).collect::<Vec<_>>());
        }

        /// Every point is in one cell; each cell but the last has floor((n + 1) / B) - 1 points without ties.
        #[test]
        fn projection_bins_have_uniform_mass(
            raw in proptest::collection::vec((1u32..10_000, 1u32..10_000, 1u32..10_000, 0i64..3), 30..120),
            bins in 1usize..7, random in any::<bool>(),
        ) {
            let rows: Vec<_> = raw.iter().map(|&(a, b, c, label)| {
                let sum = (a + b + c) as f32;
                (vec![a as f32 / sum, b as f32 / sum, c as f32 / sum], label)
            }).collect();
            prop_assume!(rows.iter().any(|row| row.1 != rows[0].1));
            let directions = if random { Directions::Random(3) } else { Directions::Rotate };
            let method = CanonicalMethod::Projection(ProjectionBinning { bins, directions });
            let model = method.fit(&data(3, &rows)).unwrap();
            let n = rows.len();
            if model.ties_merged {
                prop_assert_eq!(model.cells.iter().map(|cell| cell.n()).sum::<u64>(), n as u64);
            } else {
                let on = |cell: usize| model.cells[cell].n();
                let share = ((n + 1) / bins - 1) as u64;
                // A point in one cell may happen to be on a threshold of another.
                prop_assert!((0..bins - 1).all(|cell| on(cell) <= share && on(cell) + 2 >= share));
            }
            let mut reversed = rows.clone();
            reversed.reverse();
            prop_assert_eq!(&model, &method.fit(&data(3, &reversed)).unwrap());
        }
    }
}
