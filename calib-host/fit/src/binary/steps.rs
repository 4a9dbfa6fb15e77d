//! Fitted step functions, with their evidence.

use calib_core::ScoreEncoding;

use crate::stats::ScoreKind;

/// A step function of a score: one value per bin `[lo, hi)`. The outer bins reach to the ends of the scale, which are 0 and 1 for
/// probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct BinnedModel {
    /// The inner edges, strictly ascending, one less than there are bins.
    pub edges: Vec<f64>,
    /// The bins, in ascending order of their scores.
    pub bins: Vec<Bin>,
    /// Whether equal scores straddled a boundary, so that the boundary was moved to keep them together.
    pub ties_merged: bool,
}

/// A step function of a score and a random word: edges are pairs of both, compared lexicographically.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomizedModel {
    /// The scores of the inner edges, ascending.
    pub edges: Vec<f64>,
    /// The words of the inner edges.
    pub words: Vec<u32>,
    /// The bins, in ascending order, one more than there are edges.
    pub bins: Vec<Bin>,
}

/// A step function of the integer codes of an encoding.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CodeModel {
    /// The encoding.
    pub encoding: ScoreEncoding,
    /// The inner edges as [keys](calib_core::QuantizedScore::key), strictly ascending, one less than there are values.
    pub edges: Vec<u32>,
    /// The calibrated probability of each bin, in `[0, 1]`.
    pub values: Vec<f64>,
    /// The evidence of each bin; empty if the values come from a function that has no bins.
    pub bins: Vec<Bin>,
    /// Whether equal scores straddled a boundary, so that the boundary was moved to keep them together.
    pub ties_merged: bool,
}

/// A bin and the calibration points that its value rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// The calibrated probability, in `[0, 1]`.
    pub value: f64,
    /// The number of points that were averaged; 0 for a bin that is empty.
    pub n: u64,
    /// How many of them have label 1.
    pub positives: u64,
}

impl Bin {
    /// A bin whose value is the mean label of its `n > 0` points.
    pub(crate) fn mean(n: u64, positives: u64) -> Self {
        Self { value: positives as f64 / n as f64, n, positives }
    }

    /// A bin without points: its value is its midpoint, or 1/2 for margins, of which a midpoint is no probability.
    pub(crate) fn empty(kind: ScoreKind, lo: f64, hi: f64) -> Self {
        let value = match kind {
            ScoreKind::Probability => (lo + hi) / 2.0,
            ScoreKind::Margin => 0.5,
        };
        Self { value, n: 0, positives: 0 }
    }
}

impl BinnedModel {
    /// The bin a score falls in: the number of edges at or below it.
    pub fn bin(&self, score: f64) -> usize {
        self.edges.partition_point(|&edge| edge <= score)
    }

    /// The calibrated probability of a score.
    pub fn prob(&self, score: f64) -> f64 {
        self.bins[self.bin(score)].value
    }
}

impl RandomizedModel {
    /// The bin that a score and a random word fall in: the number of edges at or below the pair.
    pub fn bin(&self, score: f64, word: u32) -> usize {
        let below = self.edges.partition_point(|&edge| edge < score);
        let tied = self.edges[below..].iter().take_while(|&&edge| edge == score).count();
        below + self.words[below..below + tied].partition_point(|&edge| edge <= word)
    }
}
