//! Multi-class isotonic recursive partitioning.

use calib_core::vector::{MAX_CELLS, SplitTree};

use super::grid::Grid;
use super::growth::Growth;
use super::held_out_loss::{HeldOutLoss, loss};
use super::hull_guard::HullGuard;
use super::model::{CanonicalModel, Partition};
use super::regions::{Regions, Rules};
use super::split_search::SteppedPoints;
use super::values::RegionValues;
use crate::data::VectorData;
use crate::error::CanonicalError;
use crate::stats::CrossValidation;

/// Multi-class isotonic recursive partitioning (Berta, Bach and Jordan 2024, Algorithm 2): starts with the whole simplex
/// as one region, and makes again and again the split that gains most of all splits of all regions whose values keep the
/// order.
///
/// A split keeps the order if the values at all calibration points can be separated as the points are: by its threshold
/// and those of all earlier splits. This is the paper's Definition 3.2, evaluated at the splits that were made, as in its
/// section 3.3. Of three classes, a split that would raise the hull of the ROC surface on the
/// calibration points is left out as well, but with [`RegionValues::PaperCompatible`]. With two classes and no smoothing it makes the splits of `irp`, and ends at the
/// isotonic fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MulticlassIrp {
    /// The largest number of regions with calibration points, at least 1; `None` for as many as keep the order. Splitting
    /// ends in front of the first split that would make more; a split makes up to one region per class out of one.
    pub max_regions: Option<usize>,
    /// If given, the number of splits is the one with the least cross-validated log-loss.
    pub cross_validation: Option<CrossValidation>,
    /// Where splits may be.
    pub splits: Splits,
    /// The values of a region.
    pub values: RegionValues,
}

/// Where splits may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Splits {
    /// Next to calibration points: each class is separated from class 0 midway between a point's difference of the two and the
    /// next larger one. Among more than 3 classes about a thousand of the points are tried.
    Midpoints,
    /// At the points of the simplex whose entries are multiples of one over this.
    Grid(u16),
}

/// When splitting ends, if not because no split is left.
#[derive(Clone, Copy)]
struct Limits {
    splits: usize,
    regions: usize,
}

impl Default for MulticlassIrp {
    fn default() -> Self {
        Self {
            max_regions: None,
            cross_validation: None,
            splits: Splits::Midpoints,
            values: RegionValues::Smoothed(1.0),
        }
    }
}

impl MulticlassIrp {
    /// The largest number of classes.
    pub const MAX_CLASSES: usize = 16;

    pub(crate) fn fit(&self, data: &VectorData) -> Result<CanonicalModel, CanonicalError> {
        let classes = data.classes();
        if classes > Self::MAX_CLASSES {
            return Err(CanonicalError::TooManyClasses { classes, max: Self::MAX_CLASSES });
        }
        self.check(data.len())?;
        let steps: Vec<i32> = data.scores().iter().map(|&score| SplitTree::steps(score)).collect();
        let points = SteppedPoints { classes, steps: &steps, labels: data.labels() };
        let all: Vec<usize> = (0..data.len()).collect();
        // Every split makes a cell per class out of one, with points or not.
        let most_splits = (MAX_CELLS - 1) / (classes - 1);
        let mut limits = Limits { splits: most_splits, regions: self.max_regions.unwrap_or(usize::MAX) };
        let mut held_out = None;
        if let Some(parts) = self.cross_validation {
            let (splits, loss) = self.best_splits(&points, &data.scores(), limits, parts)?;
            limits.splits = splits;
            held_out = Some(loss);
        }
        let guard = match self.values {
            RegionValues::PaperCompatible => None,
            RegionValues::Smoothed(_) => HullGuard::new(&points, &all),
        };
        let growth = self.grow(&points, all, limits, guard)?;
        let (tree, leaves) = growth.tree();
        let cells = leaves.into_iter().map(|leaf| growth.cell(leaf).clone()).collect();
        let mut model = CanonicalModel::new(Partition::SplitTree(tree), cells, data);
        model.held_out = held_out;
        Ok(model)
    }

    fn check(&self, n: usize) -> Result<(), CanonicalError> {
        let refuse = |text| Err(CanonicalError::Parameter(text));
        match *self {
            Self { max_regions: Some(0), .. } => refuse("the number of regions is from 1 on"),
            Self { values: RegionValues::Smoothed(a), .. } if !(a >= 0.0 && a.is_finite()) => {
                refuse("smoothing is a number from 0 on")
            }
            Self { cross_validation: Some(parts), .. } if !parts.is_possible(n) => {
                refuse("cross-validation needs at least 2 folds, and an observation for each")
            }
            Self { splits: Splits::Grid(0), .. } => refuse("the grid has at least 1 step"),
            _ => Ok(()),
        }
    }

    /// The number of splits with the least log-loss on points that were left out, and how that compares with the scores as
    /// they are; the fewest among equals. No split at all is among them: one region with the shares of the classes.
    fn best_splits(
        &self,
        points: &SteppedPoints<'_>,
        scores: &[f32],
        limits: Limits,
        parts: CrossValidation,
    ) -> Result<(usize, HeldOutLoss), CanonicalError> {
        // The loss after each number of splits; where a part allows no more, it stays as it is.
        let mut losses: Vec<f64> = Vec::new();
        let mut growths = Vec::new();
        for (kept, left_out) in parts.parts(points.labels.len()) {
            let growth = self.grow(points, kept, limits, None)?;
            let of_fold = growth.losses(points, &left_out);
            let last = of_fold.len().max(losses.len());
            losses.resize(last, losses.last().copied().unwrap_or_default());
            for (splits, loss) in losses.iter_mut().enumerate() {
                *loss += of_fold[splits.min(of_fold.len() - 1)];
            }
            growths.push((growth, left_out));
        }
        let best = (0..losses.len()).min_by(|&a, &b| losses[a].total_cmp(&losses[b]));
        let best = best.expect("no split is a number of splits");
        let pairs = growths.iter().flat_map(|(growth, left_out)| {
            left_out.iter().map(|&point| {
                let own = scores[point * points.classes + usize::from(points.labels[point])];
                (growth.loss_after(points, point, best), loss(own.into()))
            })
        });
        Ok((best, HeldOutLoss::new(pairs)))
    }

    /// Splits until no split is left or the next one is beyond a limit; without those that raise the hull of the ROC surface.
    fn grow(
        &self,
        points: &SteppedPoints<'_>,
        all: Vec<usize>,
        limits: Limits,
        guard: Option<HullGuard>,
    ) -> Result<Growth, CanonicalError> {
        let classes = points.classes;
        let grid = match self.splits {
            Splits::Midpoints => None,
            Splits::Grid(resolution) => {
                let of = if self.values == RegionValues::PaperCompatible {
                    Grid::paper_compatible
                } else {
                    Grid::new
                };
                let too_many = CanonicalError::Parameter("a grid of splits has at most a million points");
                Some(of(classes, resolution).ok_or(too_many)?)
            }
        };
        let mut growth = Growth::new(self.values.whole(points.class_counts(&all)));
        let rules = Rules { points, grid: grid.as_ref(), values: self.values };
        let mut regions = Regions::new(rules, all);
        while growth.splits() < limits.splits && regions.len() < limits.regions {
            let Some(split) = regions.best_split(&growth) else { break };
            if guard.as_ref().is_some_and(|guard| !guard.allows(&regions.cells_after(&split, &growth))) {
                regions.refuse(split);
                continue;
            }
            if regions.len() - 1 + split.regions() > limits.regions {
                break;
            }
            regions.make(split, &mut growth);
        }
        Ok(growth)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::data::{VectorKind, Vectors};
    use crate::joint::simplex::method::CanonicalMethod;
    use crate::points::{group, isotonic_blocks};

    fn data(classes: usize, values: Vec<f32>, labels: &[i64]) -> VectorData {
        VectorData::new(&Vectors::new(values, classes, VectorKind::Probs).unwrap(), labels).unwrap()
    }

    fn fit(irp: MulticlassIrp, data: &VectorData) -> CanonicalModel {
        CanonicalMethod::MulticlassIrp(irp).fit(data).unwrap()
    }

    /// The set of the paper's supplement: points uniform on the simplex, each labeled with the largest of its entries
    /// after noise.
    fn noisy(n: usize, noise: f64, seed: u64) -> VectorData {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let raw: [f64; 3] = std::array::from_fn(|_| -(1.0 - rng.random::<f64>()).ln());
            let sum: f64 = raw.iter().sum();
            let noisy = raw.map(|x| {
                x / sum
                    + noise * {
                        let z: f64 = StandardNormal.sample(&mut rng);
                        z
                    }
            });
            labels.push((0..3).max_by(|&a, &b| noisy[a].total_cmp(&noisy[b])).unwrap() as i64);
            values.extend(raw.map(|x| (x / sum) as f32));
        }
        data(3, values, &labels)
    }

    fn log_loss(probs: impl Fn(&[f32], usize) -> f64, data: &VectorData) -> f64 {
        let scores = data.scores();
        let rows = scores.chunks_exact(data.classes()).zip(data.labels());
        rows.map(|(row, &label)| -probs(row, label.into()).max(1e-15).ln()).sum::<f64>() / data.len() as f64
    }

    /// Scores that are calibrated as they are, and scores that are all turned by a class.
    #[test]
    fn cross_validation_says_whether_calibrating_helps() {
        let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24);
        let fit_turned = |turn: i64| {
            let (mut values, mut labels) = (Vec::new(), Vec::new());
            for i in 0..600 {
                let raw: [f64; 3] = std::array::from_fn(|k| 0.05 + noise(5 * i + k as u32));
                let sum: f64 = raw.iter().sum();
                let mut below = noise(41 * i + 7) * sum;
                let label = raw.iter().position(|entry| {
                    below -= entry;
                    below < 0.0
                });
                values.extend(raw.map(|entry| (entry / sum) as f32));
                labels.push((label.unwrap_or(2) as i64 + turn) % 3);
            }
            let vectors = Vectors::new(values, 3, VectorKind::Probs).unwrap();
            let cross_validation = Some(CrossValidation { folds: 4, seed: 1 });
            let irp = MulticlassIrp { cross_validation, ..MulticlassIrp::default() };
            fit(irp, &VectorData::new(&vectors, &labels).unwrap()).held_out.unwrap()
        };
        let calibrated = fit_turned(0);
        assert!(!calibrated.is_better() && calibrated.standard_error > 0.0, "{calibrated:?}");
        let turned = fit_turned(1);
        assert!(turned.is_better() && turned.change() < -0.1, "{turned:?}");
        let by_hand = HeldOutLoss::new([(1.0, 2.0), (2.0, 2.0)].into_iter());
        let expected =
            HeldOutLoss { log_loss: 1.5, uncalibrated: 2.0, standard_error: (0.25f64 / 2.0).sqrt() };
        assert_eq!(by_hand, expected);
    }

    #[test]
    fn stopping_early_by_cross_validation_does_not_lose() {
        let cross_validation = Some(CrossValidation { folds: 5, seed: 1 });
        for noise in [0.1, 0.2] {
            let (train, test) = (noisy(1500, noise, 1), noisy(5000, noise, 2));
            let model = fit(MulticlassIrp { cross_validation, ..MulticlassIrp::default() }, &train);
            let before = log_loss(|row, label| row[label].into(), &test);
            let after = log_loss(|row, label| model.cell(row).probs[label], &test);
            assert!(after <= before, "{noise} {after} {before}");
        }
    }

    /// Of two splits that gain as much, the one at the lower score is made.
    #[test]
    fn the_first_of_equal_splits_is_made() {
        let scores = [0.125f32, 0.375, 0.625, 0.875];
        let values = scores.iter().flat_map(|&score| [1.0 - score, score]).collect();
        let irp = MulticlassIrp { max_regions: Some(2), ..MulticlassIrp::default() };
        let model = fit(irp, &data(2, values, &[0, 1, 0, 1]));
        let counts = scores.map(|score| model.cell(&[1.0 - score, score]).counts.clone());
        assert_eq!(counts, [vec![1, 0], vec![1, 2], vec![1, 2], vec![1, 2]]);
    }

    #[test]
    fn refuses_what_it_cannot_do() {
        let set = noisy(20, 0.2, 1);
        let refused = |irp| match CanonicalMethod::MulticlassIrp(irp).fit(&set) {
            Err(CanonicalError::Parameter(_)) => true,
            other => panic!("{other:?}"),
        };
        let default = MulticlassIrp::default();
        assert!(refused(MulticlassIrp { max_regions: Some(0), ..default }));
        assert!(refused(MulticlassIrp { values: RegionValues::Smoothed(-1.0), ..default }));
        assert!(refused(MulticlassIrp { splits: Splits::Grid(0), ..default }));
        assert!(refused(MulticlassIrp { splits: Splits::Grid(60_000), ..default }));
        let folds = |folds| Some(CrossValidation { folds, seed: 0 });
        assert!(refused(MulticlassIrp { cross_validation: folds(1), ..default }));
        assert!(refused(MulticlassIrp { cross_validation: folds(21), ..default }));
        let wide = data(17, [vec![1.0], vec![0.0; 17], vec![1.0], vec![0.0; 15]].concat(), &[0, 1]);
        assert_eq!(
            CanonicalMethod::MulticlassIrp(default).fit(&wide),
            Err(CanonicalError::TooManyClasses { classes: 17, max: 16 })
        );
    }

    #[test]
    fn the_authors_values_sum_to_more_than_one() {
        let model = fit(
            MulticlassIrp { values: RegionValues::PaperCompatible, ..MulticlassIrp::default() },
            &noisy(300, 0.2, 3),
        );
        for cell in model.cells.iter().filter(|cell| cell.n() > 0) {
            assert!((cell.probs.iter().sum::<f64>() - 1.15 / 1.05).abs() < 1e-12);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// With two classes and no smoothing the values are those of isotonic regression.
        #[test]
        fn two_classes_give_the_isotonic_fit(rows in proptest::collection::vec((0u32..=64, any::<bool>()), 2..80)) {
            prop_assume!(rows.iter().any(|row| row.1 != rows[0].1));
            let score = |row: &(u32, bool)| row.0 as f32 / 64.0;
            let values = rows.iter().flat_map(|row| [1.0 - score(row), score(row)]).collect();
            let labels: Vec<i64> = rows.iter().map(|row| row.1.into()).collect();
            let irp = MulticlassIrp { values: RegionValues::Smoothed(0.0), ..MulticlassIrp::default() };
            let model = fit(irp, &data(2, values, &labels));
            let blocks = isotonic_blocks(&group(rows.iter().map(|row| (score(row).into(), 1, row.1.into())).collect()));
            prop_assert_eq!(model.cells.len(), blocks.len());
            for block in &blocks {
                for end in [block.lo, block.hi] {
                    let cell = model.cell(&[1.0 - end as f32, end as f32]);
                    prop_assert_eq!(&cell.counts, &[block.n - block.positives, block.positives]);
                }
            }
            // The edges are the midpoints.
            for pair in blocks.windows(2) {
                let middle = ((pair[0].hi + pair[1].lo) / 2.0) as f32;
                prop_assert_eq!(&model.cell(&[1.0 - middle, middle]).counts[1], &pair[0].positives);
                let above = middle + 1e-6;
                prop_assert_eq!(&model.cell(&[1.0 - above, above]).counts[1], &pair[1].positives);
            }
        }

        /// Every split's order is kept by the values at all points, taken from the tree itself. Probabilities sum to one. No
        /// order of rows, and no more regions with points than asked for.
        #[test]
        fn every_split_keeps_its_order(
            classes in 3usize..5, raw in proptest::collection::vec((proptest::collection::vec(1u32..30, 4), 0i64..4), 10..60),
            by_grid in any::<bool>(), max_regions in proptest::option::of(1usize..12),
        ) {
            let rows: Vec<(Vec<f32>, i64)> = raw.iter().map(|(entries, label)| {
                let sum: u32 = entries[..classes].iter().sum();
                (entries[..classes].iter().map(|&e| e as f32 / sum as f32).collect(), label % classes as i64)
            }).collect();
            prop_assume!(rows.iter().any(|row| row.1 != rows[0].1));
            let set = |rows: &[(Vec<f32>, i64)]| {
                data(classes, rows.iter().flat_map(|row| row.0.clone()).collect(), &rows.iter().map(|row| row.1).collect::<Vec<_>>())
            };
            let splits = if by_grid { Splits::Grid(7) } else { Splits::Midpoints };
            let irp = MulticlassIrp { max_regions, splits, ..MulticlassIrp::default() };
            let model = fit(irp, &set(&rows));
            let mut reversed = rows.clone();
            reversed.reverse();
            prop_assert_eq!(&model, &fit(irp, &set(&reversed)));
            let regions = model.cells.iter().filter(|cell| cell.n() > 0).count();
            prop_assert!(max_regions.is_none_or(|max| regions <= max));
            prop_assert!(model.cells.iter().all(|cell| (cell.probs.iter().sum::<f64>() - 1.0).abs() < 1e-12));
            let mut counted = vec![vec![0; classes]; model.cells.len()];
            for (row, label) in &rows {
                counted[model.partition.cell(row)][*label as usize] += 1;
            }
            prop_assert_eq!(model.cells.iter().map(|cell| cell.counts.clone()).collect::<Vec<_>>(), counted);

            let Partition::SplitTree(tree) = &model.partition else { panic!() };
            for node in tree.words().chunks(2 * classes) {
                let child = |row: &[f32]| {
                    SplitTree::child(node[..classes].iter().map(|&entry| entry as i32), row.iter().map(|&entry| SplitTree::steps(entry)))
                };
                let least = |k: usize, l: usize| {
                    let cells = rows.iter().filter(|row| child(&row.0) == k).map(|row| model.cell(&row.0));
                    cells.map(|cell| cell.probs[k] - cell.probs[l]).fold(f64::INFINITY, f64::min)
                };
                for k in 0..classes {
                    for l in 0..classes {
                        prop_assert!(k == l || least(k, l) + least(l, k) >= -1e-9);
                        for m in 0..classes {
                            let cycle = least(k, l) + least(l, m) + least(m, k);
                            prop_assert!(k == l || l == m || m == k || cycle >= -1e-9);
                        }
                    }
                }
            }
        }
    }
}
