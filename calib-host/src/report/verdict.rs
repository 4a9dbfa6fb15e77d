//! What the test rows say of a calibrator, in words.

use calib_core::Artifact;
use calib_core::artifact::Reduction;
use calib_fit::assess::{BeforeAfter, Evidence};
use calib_fit::stats::{Interval, percent, percent_of_success};
use serde::Serialize;

/// Whether calibrated probabilities are better than the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// The Brier score falls, surely: the whole interval of its change is below 0.
    Better,
    /// It rises, surely.
    Worse,
    /// Neither.
    NoSureDifference,
    /// The scores are margins, with which no probability is compared, or there is no interval.
    NotCompared,
}

/// Whether a guarantee holds on the test rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromiseOnRows {
    /// No bin deviates by more than epsilon, beyond chance.
    Kept,
    /// Some bin does.
    Broken,
    /// It is not about what test rows show.
    NotTested,
    /// There is none.
    None,
}

/// The first thing that a report says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether calibrated probabilities are better than the scores.
    pub probabilities: Judgement,
    /// Whether the guarantee holds on the test rows.
    pub promise: PromiseOnRows,
    /// Both in sentences.
    pub sentences: Vec<String>,
}

impl Verdict {
    /// Judges by the metrics, whose intervals are of one minus `alpha`, and the evidence. `guaranteed` tells whether anything is.
    pub(super) fn new(
        artifact: &Artifact<'_>,
        (metrics, alpha): (&BeforeAfter, f64),
        evidence: &[Evidence],
        (guaranteed, of_margins): (bool, bool),
    ) -> Self {
        let is_worse = evidence.iter().any(|found| matches!(found, Evidence::Worse { .. }));
        let is_broken = evidence.iter().any(|found| matches!(found, Evidence::BrokenPromise { .. }));
        let interval = metrics.change.brier.interval.filter(|_| !of_margins);
        let probabilities = match interval {
            _ if is_worse => Judgement::Worse,
            Some(Interval { hi, .. }) if hi < 0.0 => Judgement::Better,
            Some(Interval { lo, .. }) if lo > 0.0 => Judgement::Worse,
            Some(_) => Judgement::NoSureDifference,
            None => Judgement::NotCompared,
        };
        let is_about_rows = matches!(
            artifact.header().reduction,
            Reduction::Binary | Reduction::Confidence | Reduction::TopLabel
        );
        let promise = match (guaranteed, is_broken, is_about_rows) {
            (_, true, _) => PromiseOnRows::Broken,
            (false, ..) => PromiseOnRows::None,
            (true, false, true) => PromiseOnRows::Kept,
            (true, false, false) => PromiseOnRows::NotTested,
        };
        let mut sentences =
            vec![of_probabilities(probabilities, metrics, alpha), of_promise(promise, artifact)];
        sentences.extend(of_order(metrics, alpha));
        Self { probabilities, promise, sentences }
    }

    /// In a few words.
    pub(super) fn title(&self) -> &'static str {
        match (self.probabilities, self.promise) {
            (Judgement::Worse, _) => "Calibration makes the probabilities worse",
            (_, PromiseOnRows::Broken) => "The promise does not hold on the test rows",
            (Judgement::Better, _) => "Calibration makes the probabilities better",
            (Judgement::NoSureDifference, _) => "Calibration makes no sure difference",
            (Judgement::NotCompared, _) => "Calibrated probabilities on the test rows",
        }
    }

    /// Whether it speaks against the calibrator.
    pub(super) fn is_bad(&self) -> bool {
        self.probabilities == Judgement::Worse || self.promise == PromiseOnRows::Broken
    }
}

fn of_probabilities(judgement: Judgement, metrics: &BeforeAfter, alpha: f64) -> String {
    let BeforeAfter { before, after, change } = metrics;
    let (from, to) = (before.brier.value, after.brier.value);
    let level = percent_of_success(alpha);
    let by = match change.brier.interval {
        Some(Interval { lo, hi }) => {
            format!(" (change {:+.4}, {level} % interval [{lo:+.4}, {hi:+.4}])", change.brier.value)
        }
        None => String::new(),
    };
    let points = |error: f64| format!("{:.1}", 100.0 * error);
    let errors = format!(
        " On average the probabilities are {} percentage points off what came true; the scores are {} points off.",
        points(after.conf_ece.value),
        points(before.conf_ece.value)
    );
    match judgement {
        Judgement::Better => {
            format!("The mean squared error (Brier score) falls from {from:.4} to {to:.4}{by}.{errors}")
        }
        Judgement::Worse => {
            format!("The mean squared error (Brier score) rises from {from:.4} to {to:.4}{by}.{errors}")
        }
        Judgement::NoSureDifference => format!(
            "The mean squared error (Brier score) is {from:.4} before and {to:.4} after{by}: the test rows do not tell which \
             is better.{errors}"
        ),
        Judgement::NotCompared => format!(
            "On average the probabilities are {} percentage points off what came true; their mean squared error (Brier score) \
             is {to:.4}. The scores are not compared with them.",
            points(after.conf_ece.value)
        ),
    }
}

/// That the scores order the rows no better than chance, unless they surely do: probabilities may be right, and of no use.
fn of_order(metrics: &BeforeAfter, alpha: f64) -> Option<String> {
    let auc = metrics.before.auc.as_ref()?;
    let Interval { lo, hi } = auc.interval.filter(|interval| interval.lo <= 0.5 && 0.5 <= interval.hi)?;
    let level = percent_of_success(alpha);
    Some(format!(
        "The scores tell these rows apart no better than chance, for all that is seen: the area under the ROC curve is {:.3} ({level} % \
         interval [{lo:.3}, {hi:.3}]), and 0.5 is chance. No calibration makes up for that.",
        auc.value
    ))
}

fn of_promise(promise: PromiseOnRows, artifact: &Artifact<'_>) -> String {
    let guarantee = artifact.header().guarantee;
    let (epsilon, alpha) = guarantee.map(|g| (g.epsilon, g.alpha)).unwrap_or_default();
    match promise {
        PromiseOnRows::Kept => format!(
            "The promise is kept on these rows: no bin is further than {epsilon:.4} from what came true, but for chance (exact \
             tests, 1 % over all bins)."
        ),
        PromiseOnRows::Broken => format!(
            "The promise is broken on these rows: a bin is further than {epsilon:.4} from what came true, beyond chance. They are \
             not like the calibration rows, or this is one of the {} % of calibrations that fail.",
            percent(alpha)
        ),
        PromiseOnRows::NotTested => {
            "What is promised is not about predictions, and these rows do not test it.".into()
        }
        PromiseOnRows::None => {
            "Nothing is promised: how far the probabilities are off elsewhere is not known.".into()
        }
    }
}
