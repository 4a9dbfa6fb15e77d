//! What the test rows say of a calibrator, in words.

use calib_core::Artifact;
use serde::Serialize;

use super::evidence::Evidence;
use super::paired::BeforeAfter;
use crate::stats::{Interval, percent, percent_of_success, places, shown};

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
#[non_exhaustive]
pub struct Verdict {
    /// Whether calibrated probabilities are better than the scores.
    pub probabilities: Judgement,
    /// Whether the guarantee holds on the test rows.
    pub promise: PromiseOnRows,
    /// Both in sentences.
    pub sentences: Vec<String>,
}

/// What a verdict rests on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Grounds<'a> {
    /// The metrics on the test rows.
    pub metrics: &'a BeforeAfter,
    /// The interval of the change in the Brier score, if there is any: [`Grounds::with_bootstrap`] takes that of a bootstrap.
    pub change: Option<Interval>,
    /// One minus the coverage of that interval, and of those of the metrics.
    pub alpha: f64,
    /// What the test rows say against the artifact.
    pub evidence: &'a [Evidence],
}

impl Grounds<'_> {
    /// With the interval of the bootstrap, where there is one and scores are compared at all.
    #[must_use]
    pub fn with_bootstrap(self) -> Self {
        let change = self.change.map(|change| self.metrics.change.brier.interval.unwrap_or(change));
        Self { change, ..self }
    }
}

impl Verdict {
    /// Judges an artifact.
    pub fn new(artifact: &Artifact<'_>, grounds: &Grounds<'_>) -> Self {
        let &Grounds { metrics, change, alpha, evidence } = grounds;
        let is_worse = evidence.iter().any(|found| matches!(found, Evidence::Worse { .. }));
        let is_broken = evidence.iter().any(|found| matches!(found, Evidence::BrokenPromise { .. }));
        let probabilities = match change {
            _ if is_worse => Judgement::Worse,
            Some(Interval { hi, .. }) if hi < 0.0 => Judgement::Better,
            Some(Interval { lo, .. }) if lo > 0.0 => Judgement::Worse,
            Some(_) => Judgement::NoSureDifference,
            None => Judgement::NotCompared,
        };
        let is_about_rows = artifact.header().reduction.has_one_probability();
        let guaranteed = is_guaranteed(artifact);
        let promise = match (guaranteed, is_broken, is_about_rows) {
            (_, true, _) => PromiseOnRows::Broken,
            (false, ..) => PromiseOnRows::None,
            (true, false, true) => PromiseOnRows::Kept,
            (true, false, false) => PromiseOnRows::NotTested,
        };
        let mut sentences = vec![of_probabilities(probabilities, grounds), of_promise(promise, artifact)];
        sentences.extend(of_order(metrics, alpha));
        Self { probabilities, promise, sentences }
    }

    /// In a few words.
    pub fn title(&self) -> &'static str {
        match (self.probabilities, self.promise) {
            (Judgement::Worse, _) => "Calibration makes the probabilities worse",
            (_, PromiseOnRows::Broken) => "The promise does not hold on the test rows",
            (Judgement::Better, _) => "Calibration makes the probabilities better",
            (Judgement::NoSureDifference, _) => "Calibration makes no sure difference",
            (Judgement::NotCompared, _) => "Calibrated probabilities on the test rows",
        }
    }

    /// Whether it speaks against the calibrator.
    pub fn is_bad(&self) -> bool {
        self.probabilities == Judgement::Worse || self.promise == PromiseOnRows::Broken
    }
}

/// Whether anything is guaranteed: a deviation of 1 and more is none.
pub fn is_guaranteed(artifact: &Artifact<'_>) -> bool {
    artifact.header().guarantee.is_some_and(|guarantee| guarantee.epsilon < 1.0)
}

fn of_probabilities(judgement: Judgement, grounds: &Grounds<'_>) -> String {
    let BeforeAfter { before, after, change } = grounds.metrics;
    let change = change.brier.value;
    // With the digits in which they differ.
    let digits = match grounds.change {
        Some(Interval { lo, hi }) => places(4, &[change, lo, hi]),
        None => places(4, &[after.brier.value]),
    };
    let [from, to] = [before, after].map(|side| format!("{:.digits$}", side.brier.value));
    let level = percent_of_success(grounds.alpha);
    let by = match grounds.change {
        Some(Interval { lo, hi }) => {
            format!(" (change {change:+.digits$}, {level} % interval [{lo:+.digits$}, {hi:+.digits$}])")
        }
        None => String::new(),
    };
    // Below 10^-7 an error is what rounding to an `f32` left.
    let points = |error: f64| shown(1, if error < 1e-7 { 0.0 } else { 100.0 * error });
    let errors = format!(
        " On average the probabilities are {} percentage points off what came true; the scores are {} points off.",
        points(after.conf_ece.value),
        points(before.conf_ece.value)
    );
    match judgement {
        Judgement::Better => {
            format!("The mean squared error (Brier score) falls from {from} to {to}{by}.{errors}")
        }
        Judgement::Worse => {
            format!("The mean squared error (Brier score) rises from {from} to {to}{by}.{errors}")
        }
        Judgement::NoSureDifference => format!(
            "The mean squared error (Brier score) is {from} before and {to} after{by}: the test rows do not tell which \
             is better.{errors}"
        ),
        Judgement::NotCompared => format!(
            "On average the probabilities are {} percentage points off what came true; their mean squared error (Brier score) \
             is {to}. The scores are not compared with them.",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{StoredArtifact, artifact_bytes};
    use crate::assess::{
        AssessOptions, Bootstrap, IntervalKind, Prediction, PredictionKind, assess_before_after,
    };
    use crate::binary::{BinaryMethod, Isotonic, Umd};
    use crate::data::BinaryData;
    use crate::fit::fit_binary;

    const WORSE: Evidence = Evidence::Worse { brier: 0.1, interval: Interval { lo: 0.05, hi: 0.15 } };
    const BROKEN: Evidence = Evidence::BrokenPromise { broken: 1, bins: 4, alpha: 0.1 };

    /// So many rows, half of which come true, and what is said of all.
    fn metrics(rows: u32, [before, after]: [f64; 2], resamples: Option<usize>) -> BeforeAfter {
        let said =
            |prob: f64| (0..rows).map(move |row| Prediction { class: 1, prob, bin: 0, hit: row % 2 == 0 });
        let bootstrap = resamples.map(|resamples| Bootstrap {
            kind: IntervalKind::Percentile,
            resamples,
            seed: 1,
            alpha: 0.05,
        });
        let options = AssessOptions { bootstrap, ..AssessOptions::default() };
        let [before, after] = [before, after].map(|prob| said(prob).collect::<Vec<_>>());
        assess_before_after(&before, &after, PredictionKind::Binary, &options, &options)
    }

    fn verdict(metrics: &BeforeAfter, evidence: &[Evidence], guaranteed: bool) -> Verdict {
        let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
        let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect()).unwrap();
        let method = match guaranteed {
            true => BinaryMethod::Umd(Umd::new(4)),
            false => BinaryMethod::Isotonic(Isotonic::default()),
        };
        let fit = fit_binary(&data.on_device(), &method, 0.1).unwrap();
        let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default()).unwrap()).unwrap();
        let change = metrics.change.brier.interval;
        Verdict::new(&stored.artifact(), &Grounds { metrics, change, alpha: 0.05, evidence })
    }

    /// Of a few rows a lower error may be chance.
    #[test]
    fn probabilities_are_better_or_worse_if_that_is_sure() {
        for (rows, probs, expected) in [
            (20, [0.6, 0.55], Judgement::NoSureDifference),
            (20, [0.55, 0.6], Judgement::NoSureDifference),
            (20_000, [0.6, 0.55], Judgement::Better),
            (20_000, [0.55, 0.6], Judgement::Worse),
        ] {
            let metrics = metrics(rows, probs, Some(100));
            assert_eq!(verdict(&metrics, &[], true).probabilities, expected, "{rows} {probs:?}");
            assert_eq!(verdict(&metrics, &[WORSE], true).probabilities, Judgement::Worse);
        }
        let without = metrics(20, [0.6, 0.55], None);
        assert_eq!(verdict(&without, &[], true).probabilities, Judgement::NotCompared);
        assert_eq!(verdict(&without, &[WORSE], true).probabilities, Judgement::Worse);
    }

    #[test]
    fn a_broken_promise_is_bad_however_good_the_probabilities_are() {
        let metrics = metrics(20_000, [0.6, 0.55], Some(100));
        for (evidence, guaranteed, promise, title, is_bad) in [
            (&[][..], true, PromiseOnRows::Kept, "Calibration makes the probabilities better", false),
            (&[], false, PromiseOnRows::None, "Calibration makes the probabilities better", false),
            (&[BROKEN], true, PromiseOnRows::Broken, "The promise does not hold on the test rows", true),
            (&[WORSE], true, PromiseOnRows::Kept, "Calibration makes the probabilities worse", true),
            (
                &[WORSE, BROKEN],
                true,
                PromiseOnRows::Broken,
                "Calibration makes the probabilities worse",
                true,
            ),
        ] {
            let got = verdict(&metrics, evidence, guaranteed);
            assert_eq!((got.promise, got.title(), got.is_bad()), (promise, title, is_bad), "{evidence:?}");
        }
    }
}
