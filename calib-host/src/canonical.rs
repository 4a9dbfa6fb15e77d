//! Canonical binning: a partition of the simplex with the frequencies of the classes in each cell.

use calib_core::vector::{MAX_CELLS, Projection, Sierpinski, SimplexGrid};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::held_out_loss::HeldOutLoss;
use crate::method::Seed;
use crate::multiclass_irp::{MulticlassIrp, SplitTreeModel};
use crate::vector_data::VectorData;

/// A canonical calibration method (Gupta and Ramdas 2022, appendix G; Berta, Bach and Jordan 2024, section 3).
///
/// Meant for a few classes: the number of cells that resolve the simplex grows exponentially with them. Nothing is
/// guaranteed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CanonicalMethod {
    /// Sierpinski binning of this depth, at least 1.
    Sierpinski(u8),
    /// Grid-style binning with this many steps from 0 to 1, at least 1.
    Grid(u16),
    /// Projection-based histogram binning.
    Projection(ProjectionBinning),
    /// Multi-class isotonic recursive partitioning.
    MulticlassIrp(MulticlassIrp),
}

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

/// A partition of the simplex and a probability of every class in each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CanonicalModel {
    /// The partition.
    pub partition: Partition,
    /// The cells in the partition's order.
    pub cells: Vec<SimplexCell>,
    /// Whether equal projections straddled a threshold, so that the points on it count in the cells that they are in.
    pub ties_merged: bool,
    /// The number of calibration points.
    pub n: u64,
    /// What cross-validation found, if there was one.
    pub held_out: Option<HeldOutLoss>,
    classes: usize,
}

/// A partition of the simplex.
#[derive(Clone, Debug, PartialEq)]
pub enum Partition {
    /// Sierpinski binning.
    Sierpinski(Sierpinski),
    /// A grid.
    Grid(SimplexGrid),
    /// Hyperplanes.
    Projection {
        /// The directions one after the other.
        directions: Vec<f32>,
        /// A threshold for each.
        thresholds: Vec<f32>,
    },
    /// Splits.
    SplitTree(SplitTreeModel),
}

/// A cell of the simplex with the points that its values rest on.
#[derive(Clone, Debug, PartialEq)]
pub struct SimplexCell {
    /// The calibrated probability of every class.
    pub probs: Vec<f64>,
    /// How many of the cell's points have each class as their label.
    pub counts: Vec<u64>,
}

/// Why no partition was fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalError {
    /// There would be too many cells.
    #[error("{classes} classes make more than {MAX_CELLS} cells: canonical binning is for few classes")]
    TooManyCells {
        /// The number of classes.
        classes: usize,
    },
    /// A parameter is out of range.
    #[error("{0}")]
    Parameter(&'static str),
    /// There are fewer than two points a cell.
    #[error("{n} calibration points are too few for {bins} cells: at least {} are needed", 2 * bins)]
    TooFewPoints {
        /// The number of points.
        n: usize,
        /// The number of cells.
        bins: usize,
    },
    /// All labels are the same.
    #[error("all {0} labels are the same: nothing can be learned")]
    OneClass(usize),
    /// There are too many classes for recursive partitioning.
    #[error("{0} classes: recursive partitioning takes up to {max}", max = MulticlassIrp::MAX_CLASSES)]
    TooManyClasses(usize),
}

impl CanonicalError {
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::TooManyCells { .. } => {
                "use a smaller --depth or --resolution, or --method projection".into()
            }
            Self::TooManyClasses(_) => "use --method projection, or dirichlet".into(),
            Self::TooFewPoints { n, .. } if *n >= 2 => {
                format!("use --bins {} or fewer, or add calibration data", n / 2)
            }
            Self::TooFewPoints { .. } => "add calibration data".into(),
            Self::OneClass(_) => "calibration data must hold several classes".into(),
            Self::Parameter(_) => return None,
        })
    }
}

impl CanonicalMethod {
    /// Fits scores as the device sees them. The result does not depend on the order of the rows.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, there would be too many cells or are too few points, or all labels are the same.
    pub fn fit(&self, data: &VectorData) -> Result<CanonicalModel, CanonicalError> {
        let classes = data.classes();
        if data.class_counts().contains(&(data.len() as u64)) {
            return Err(CanonicalError::OneClass(data.len()));
        }
        let few = u16::try_from(classes).map_err(|_| CanonicalError::TooManyCells { classes })?;
        let partition = match self {
            Self::Sierpinski(0) => return Err(CanonicalError::Parameter("the depth is from 1 on")),
            Self::Grid(0) => return Err(CanonicalError::Parameter("the resolution is from 1 on")),
            Self::Sierpinski(depth) => Sierpinski::new(few, *depth).map(Partition::Sierpinski),
            Self::Grid(resolution) => SimplexGrid::new(few, *resolution).map(Partition::Grid),
            Self::Projection(projection) => return projection.fit(data),
            Self::MulticlassIrp(irp) => return irp.fit(data),
        };
        let partition = partition.ok_or(CanonicalError::TooManyCells { classes })?;
        Ok(CanonicalModel::with_frequencies(partition, data, |_| true))
    }
}

impl ProjectionBinning {
    fn fit(&self, data: &VectorData) -> Result<CanonicalModel, CanonicalError> {
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
        let model = CanonicalModel::with_frequencies(partition, data, inside);
        Ok(CanonicalModel { ties_merged, ..model })
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

impl CanonicalModel {
    /// A partition with the cells' probabilities.
    pub(crate) fn new(partition: Partition, cells: Vec<SimplexCell>, data: &VectorData) -> Self {
        Self {
            partition,
            cells,
            ties_merged: false,
            n: data.len() as u64,
            held_out: None,
            classes: data.classes(),
        }
    }

    /// A partition with the frequencies of the classes among the points of each cell that are counted.
    fn with_frequencies(partition: Partition, data: &VectorData, counts: impl Fn(&[f32]) -> bool) -> Self {
        let classes = data.classes();
        let mut cells = vec![vec![0; classes]; partition.cells()];
        for (row, &label) in data.scores().chunks_exact(classes).zip(data.labels()) {
            if counts(row) {
                cells[partition.cell(row)][usize::from(label)] += 1;
            }
        }
        let cells = cells.into_iter().map(SimplexCell::frequencies).collect();
        Self::new(partition, cells, data)
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The cell of a vector of scores.
    pub fn cell(&self, scores: &[f32]) -> &SimplexCell {
        &self.cells[self.partition.cell(scores)]
    }
}

impl Partition {
    /// The number of cells, at least 1.
    pub fn cells(&self) -> usize {
        match self {
            Self::Sierpinski(sierpinski) => sierpinski.cells(),
            Self::Grid(grid) => grid.cells(),
            Self::Projection { thresholds, .. } => thresholds.len() + 1,
            Self::SplitTree(tree) => tree.cells(),
        }
    }

    /// The cell of a vector of scores, found as the device finds it.
    pub fn cell(&self, scores: &[f32]) -> usize {
        let cell = match self {
            Self::Sierpinski(sierpinski) => sierpinski.cell(&mut scores.to_vec()),
            Self::Grid(grid) => grid.cell(&mut scores.to_vec()),
            Self::Projection { directions, thresholds } => {
                let classes = u16::try_from(scores.len()).expect("at most 65 535 classes");
                let projection = Projection::new(classes, directions, thresholds).expect("fitted");
                projection.cell(scores)
            }
            Self::SplitTree(tree) => tree.cell(scores),
        };
        cell.into()
    }
}

impl SimplexCell {
    /// The frequencies of the classes; of a cell without points the uniform distribution.
    fn frequencies(counts: Vec<u64>) -> Self {
        Self::smoothed(counts, 0.0)
    }

    /// `(n_k + a) / (n + L a)`
    pub(crate) fn smoothed(counts: Vec<u64>, a: f64) -> Self {
        let classes = counts.len() as f64;
        let n: u64 = counts.iter().sum();
        let prob = |&count: &u64| match n {
            0 => 1.0 / classes,
            _ => (count as f64 + a) / (n as f64 + classes * a),
        };
        Self { probs: counts.iter().map(prob).collect(), counts }
    }

    /// The number of points.
    pub fn n(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::BinaryData;
    use crate::fit::fit_binary;
    use crate::method::BinaryMethod;
    use crate::umd::Umd;
    use crate::vectors::{VectorKind, Vectors};

    fn data(classes: usize, rows: &[(Vec<f32>, i64)]) -> VectorData {
        let values = rows.iter().flat_map(|row| row.0.clone()).collect();
        let vectors = Vectors::new(values, classes, VectorKind::Probs).unwrap();
        VectorData::new(&vectors, &rows.iter().map(|row| row.1).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn an_empty_cell_is_uniform() {
        let data = data(3, &[(vec![0.8, 0.1, 0.1], 0), (vec![0.8, 0.2, 0.0], 1), (vec![0.1, 0.8, 0.1], 1)]);
        let model = CanonicalMethod::Sierpinski(1).fit(&data).unwrap();
        assert_eq!(model.cells[0], SimplexCell { probs: vec![0.5, 0.5, 0.0], counts: vec![1, 1, 0] });
        assert_eq!(model.cells[2], SimplexCell { probs: vec![1.0 / 3.0; 3], counts: vec![0; 3] });
        assert_eq!(model.cell(&[0.0, 1.0, 0.0]).probs, [0.0, 1.0, 0.0]);
        assert_eq!(CanonicalMethod::Grid(4).fit(&data).unwrap().cells.len(), 16);
    }

    #[test]
    fn refuses_what_it_cannot_fit() {
        let small = data(3, &[(vec![0.8, 0.1, 0.1], 0), (vec![0.8, 0.2, 0.0], 1)]);
        let one = data(3, &[(vec![0.8, 0.1, 0.1], 0), (vec![0.8, 0.2, 0.0], 0)]);
        assert_eq!(CanonicalMethod::Sierpinski(1).fit(&one), Err(CanonicalError::OneClass(2)));
        let many = Err(CanonicalError::TooManyCells { classes: 3 });
        assert_eq!(CanonicalMethod::Sierpinski(20).fit(&small), many);
        assert_eq!(CanonicalMethod::Grid(300).fit(&small), many);
        assert!(matches!(CanonicalMethod::Grid(0).fit(&small), Err(CanonicalError::Parameter(_))));
        let projection =
            |bins| CanonicalMethod::Projection(ProjectionBinning { bins, directions: Directions::Rotate });
        assert_eq!(projection(2).fit(&small), Err(CanonicalError::TooFewPoints { n: 2, bins: 2 }));
        assert!(matches!(projection(0).fit(&small), Err(CanonicalError::Parameter(_))));
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
