//! A partition of the simplex with the probabilities in its cells.

use calib_core::vector::{Projection, Sierpinski, SimplexGrid};

use super::held_out_loss::HeldOutLoss;
use super::split_tree::SplitTreeModel;
use crate::data::VectorData;

/// A partition of the simplex and a probability of every class in each cell.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct SimplexCell {
    /// The calibrated probability of every class.
    pub probs: Vec<f64>,
    /// How many of the cell's points have each class as their label.
    pub counts: Vec<u64>,
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
    pub(crate) fn with_frequencies(
        partition: Partition,
        data: &VectorData,
        counts: impl Fn(&[f32]) -> bool,
    ) -> Self {
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
