//! The values of regions of the simplex.

use super::model::SimplexCell;

/// The values of a region with `n` points, `n_k` of them of class `k`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RegionValues {
    /// `(n_k + a) / (n + L a)`, with `a` at least 0: they sum to one.
    Smoothed(f64),
    /// `(n_k / n + 0.05) / 1.05`, as the authors' code has it: they sum to more than one, and log-loss comes out too
    /// small. Without any split they are the shares of the classes. The splits are those
    /// of the authors' code: each pair of classes must keep its order, and on a grid they are equal one by one.
    PaperCompatible,
}

impl RegionValues {
    /// The whole simplex before any split, with so many points of each class.
    pub(crate) fn whole(self, counts: Vec<u64>) -> SimplexCell {
        match self {
            Self::PaperCompatible => SimplexCell::smoothed(counts, 0.0),
            Self::Smoothed(_) => self.cell(counts),
        }
    }

    /// The region with so many points of each class.
    pub(crate) fn cell(self, counts: Vec<u64>) -> SimplexCell {
        match self {
            Self::Smoothed(a) => SimplexCell::smoothed(counts, a),
            Self::PaperCompatible => {
                let SimplexCell { probs, counts } = SimplexCell::smoothed(counts, 0.0);
                SimplexCell { probs: probs.iter().map(|prob| (prob + 0.05) / 1.05).collect(), counts }
            }
        }
    }
}
