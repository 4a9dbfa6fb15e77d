//! What is known of a method before it meets a point.

use calib_core::artifact::{Method, Theorem};

use crate::stats::ScoreKind;

/// The facts of a method with its parameters: everything that the rest of the crate asks it, apart from fitting.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Facts {
    /// Its name in the artifact.
    pub(crate) method: Method,
    /// Its parameters, as `name=value` separated by spaces.
    pub(crate) parameters: String,
    /// The number of bins asked for; `None` if the method chooses them itself or has none.
    pub(crate) bins: Option<usize>,
    /// The fewest points that it can be fitted to.
    pub(crate) min_points: usize,
    /// The theorem that may hold for a fit, and which of its bounds gives epsilon.
    pub(crate) guarantee: Option<(Theorem, Bound)>,
    /// Whether points with one label only tell it something: its bins do not depend on labels, and have exact bounds on one side.
    pub(crate) takes_one_label: bool,
    /// The only kind of score that it can be fitted to; `None` if it needs no more than the order.
    pub(crate) takes: Option<ScoreKind>,
    /// What of it counts points, so that it refuses real weights.
    pub(crate) counts_points: Option<&'static str>,
}

/// How epsilon follows from the numbers of points and bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// By points per bin, the boundary points left out: Gupta and Ramdas 2021, Theorem 3. The conditional part of Theorem
    /// 4 is the same, up to an arbitrarily small delta.
    LeftOut,
    /// By points per bin, the boundary points kept: Corollary 1 there.
    Kept,
    /// By the actual count of the bin with the fewest points: for edges that do not depend on the labels.
    FewestPoints,
}

impl Facts {
    /// Tells whether exact binomial intervals hold for the bins: the labels of a bin are independent draws with its rate, or, given the
    /// scores, with separate probabilities.
    pub(crate) fn has_exact_intervals(&self) -> bool {
        matches!(self.guarantee, Some((Theorem::Gr21Theorem3 | Theorem::SampleSplit, _)))
    }

    /// Returns the facts of a method that anything can be fitted to and nothing is guaranteed of.
    pub(crate) fn new(method: Method, parameters: String) -> Self {
        Self {
            method,
            parameters,
            bins: None,
            min_points: 1,
            guarantee: None,
            takes_one_label: false,
            takes: None,
            counts_points: None,
        }
    }
}
