//! The option that chooses a reduction.

use calib_core::artifact::Reduction;
use calib_core::score::MAX_TOP_K;
use calib_fit::VectorKind;
use clap::{Args, ValueEnum};

use super::method_name::listing;
use super::parse::count;
use crate::error::Error;

/// What a reduction is.
const REDUCTION: &str = "How a problem with several classes becomes binary ones (Gupta and Ramdas 2022), each fitted with the method:";

/// How a multi-class problem becomes binary ones.
#[derive(Args)]
#[command(next_help_heading = "Method and bins")]
pub(crate) struct ReductionOption {
    /// Of several classes: which probability is fitted.
    #[arg(long, value_enum, value_name = "NAME", hide_possible_values = true, long_help = listing::<ReductionName>(REDUCTION))]
    reduction: Option<ReductionName>,
    /// The number of first classes that top-k-label and top-k-confidence give, at most 16.
    #[arg(long, value_name = "K", value_parser = count::<u16>(1..=MAX_TOP_K as u16), hide_short_help = true)]
    k: Option<u16>,
    /// What the score of a predicted class is, under confidence and top-label. `margin` takes --logits, and the device then
    /// computes no softmax; for integer codes of logits there is no other.
    #[arg(long, value_enum, value_name = "SCORE", default_value_t = ClassScore::Softmax, hide_short_help = true)]
    class_score: ClassScore,
}

/// What the score of a predicted class is.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum ClassScore {
    /// Its probability: the softmax of logits, or the probability as it is given.
    Softmax,
    /// How far its logit is above the second largest.
    Margin,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ReductionName {
    /// The probability that the prediction is right, from one calibrator for all classes.
    Confidence,
    /// The probability that the prediction is right, from one calibrator per predicted class.
    TopLabel,
    /// A probability for every class, from one calibrator per class against the rest; they need not sum to one.
    ClassWise,
    /// Class-wise, divided by the sum: nothing is guaranteed then.
    Normalized,
    /// The first K classes and the probability of each being right, from one calibrator per rank and class.
    TopKLabel,
    /// The same from one calibrator per rank.
    TopKConfidence,
}

impl ReductionOption {
    /// Tells whether the score of a predicted class is its margin; refuses that where there is no such score.
    pub(crate) fn is_by_margin(
        &self,
        kind: Option<VectorKind>,
        reduction: Option<Reduction>,
    ) -> Result<bool, Error> {
        if self.class_score == ClassScore::Softmax {
            return Ok(false);
        }
        if !matches!(reduction, Some(Reduction::Confidence | Reduction::TopLabel)) {
            return Err(Error::Usage(
                "--class-score margin goes with --reduction confidence or top-label: it is the score of the predicted class".into(),
            ));
        }
        match kind {
            Some(VectorKind::Logits) => Ok(true),
            _ => Err(Error::Usage(
                "--class-score margin is taken of logits: use --logits, or leave it out for probabilities"
                    .into(),
            )),
        }
    }

    /// The reduction, if one was asked for.
    pub(crate) fn get(&self) -> Result<Option<Reduction>, Error> {
        let Some(name) = self.reduction else {
            return match self.k {
                Some(_) => Err(Error::Usage("--k needs --reduction top-k-label or top-k-confidence".into())),
                None => Ok(None),
            };
        };
        let plain = |reduction| match self.k {
            Some(_) => Err(Error::Usage(format!("{reduction} has no --k: leave it out"))),
            None => Ok(Some(reduction)),
        };
        let k = |of: fn(u16) -> Reduction| match self.k {
            Some(k) => Ok(Some(of(k))),
            None => Err(Error::Usage(format!("{} needs --k", of(1)))),
        };
        match name {
            ReductionName::Confidence => plain(Reduction::Confidence),
            ReductionName::TopLabel => plain(Reduction::TopLabel),
            ReductionName::ClassWise => plain(Reduction::ClassWise),
            ReductionName::Normalized => plain(Reduction::Normalized),
            ReductionName::TopKLabel => k(|k| Reduction::TopKLabel { k }),
            ReductionName::TopKConfidence => k(|k| Reduction::TopKConfidence { k }),
        }
    }
}
