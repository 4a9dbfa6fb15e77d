//! How data are assessed.

use crate::accessors::options;
use crate::assess::{
    AssessOptions as Metrics, Binning, Bootstrap, ClinicalOptions, ExtremeProbs, IntervalKind,
};
use crate::options_error::OptionsError;
use crate::stats::Clusters;

/// More resamples say nothing that these do not.
const MOST_RESAMPLES: usize = 100_000;

options! {
    /// How data are assessed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct AssessOptions {
        /// How probabilities are grouped for calibration errors.
        pub binning: Binning = Metrics::default().binning,
        /// The norm of `lp_ce`, at least 1.
        pub norm: f64 = Metrics::default().norm,
        /// One minus the coverage of intervals.
        pub alpha: f64 = Metrics::default().alpha,
        /// The number of bootstrap resamples; 0 for no bootstrap intervals.
        pub resamples: usize = 0,
        /// How bootstrap intervals are made.
        pub intervals: IntervalKind = IntervalKind::Percentile,
        /// The seed of the bootstrap, of the tuples that `vus` draws, and of the random words that a randomized artifact needs.
        pub seed: u64 = 0,
        /// How many of the most probable classes of a vector are assessed as well.
        pub top_k: Option<u16> = None,
        /// What is done with probabilities of exactly 0 or 1, which have no logit.
        pub extremes: ExtremeProbs = ExtremeProbs::LeaveOut,
        /// Whether rows are assessed that the artifact was fitted to: every figure is then optimistically biased.
        pub same_rows: bool = false,
        /// The SHA-256 of the files that the rows come from. It tells the rows of the fit if the artifact keeps no other hash of them.
        pub data_sha256: Option<[u8; 32]> = None,
    }
}

impl AssessOptions {
    /// Refuses what is out of range.
    ///
    /// # Errors
    ///
    /// Alpha outside `(0, 1)`, no bins, a norm below 1, or no class to assess.
    pub fn check(&self) -> Result<(), OptionsError> {
        let has_bins = match self.binning {
            Binning::EqualWidth(bins) | Binning::EqualMass(bins) | Binning::EqualMassKumar(bins) => bins > 0,
            Binning::ByBin | Binning::ByValue => true,
        };
        Err(OptionsError::new(match self {
            Self { alpha, .. } if !(*alpha > 0.0 && *alpha < 1.0) => {
                "`alpha` is a fraction between 0 and 1, such as 0.05".into()
            }
            _ if !has_bins => "`n_bins` is at least 1".into(),
            Self { norm, .. } if !(*norm >= 1.0 && norm.is_finite()) => {
                format!("`norm`={norm}: a norm is a number from 1 on")
            }
            Self { resamples, .. } if *resamples > MOST_RESAMPLES => {
                format!("`resamples`={resamples}: at most {MOST_RESAMPLES} are kept in memory")
            }
            Self { top_k: Some(0), .. } => "`top_k` is at least 1".into(),
            _ => return Ok(()),
        }))
    }

    pub(super) fn bootstrap(&self) -> Option<Bootstrap> {
        let Self { intervals: kind, resamples, seed, alpha, .. } = *self;
        (resamples > 0).then_some(Bootstrap { kind, resamples, seed, alpha })
    }

    /// The options of the metrics, with which rows belong together.
    pub(super) fn metrics<'c>(&self, clusters: Option<&'c Clusters>) -> Metrics<'c> {
        let Self { binning, norm, alpha, .. } = *self;
        Metrics { binning, norm, alpha, bootstrap: self.bootstrap(), clusters }
    }

    pub(super) fn clinical(&self) -> ClinicalOptions<'static> {
        ClinicalOptions { extremes: self.extremes, thresholds: &[] }
    }
}
