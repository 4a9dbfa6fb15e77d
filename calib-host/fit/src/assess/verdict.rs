//! What the test rows say of a calibrator, in words.

use std::cmp::Ordering;
use std::fmt;

use calib_core::Artifact;
use calib_core::artifact::{Header, Method, Reduction};
use serde::Serialize;

use super::evidence::{Evidence, Judged};
use super::guarantee_test::{GuaranteeOnRows, RangeTest};
use super::mean_change::BrierChange;
use super::paired::BeforeAfter;
use crate::artifact::table_steps;
use crate::data::Overlap;
use crate::stats::{Interval, percent_of_success, places, shown, shown_bound, thousands};

/// Whether calibrated probabilities are better than the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgment {
    /// The Brier score falls significantly.
    Better,
    /// It rises significantly.
    Worse,
    /// Neither.
    NoSureDifference,
    /// The scores are margins, with which no probability is compared, or there is no interval.
    NotCompared,
}

/// The first thing that a report says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether calibrated probabilities are better than the scores.
    pub probabilities: Judgment,
    /// Whether the guarantee holds on the test rows.
    pub guarantee: GuaranteeOnRows,
    /// A bin or range that deviates by less than this would go unseen in 9 of 10 cases, if the rows neither show nor refute the guarantee.
    pub unseen: Option<f64>,
    /// The log-loss rises significantly, and the Brier score does not.
    pub log_loss_rises: bool,
    /// The probabilities order the rows worse than the scores, or rows that get one probability differ in their event rates, significantly.
    pub is_coarse: bool,
    /// The different probabilities that the calibrator has, if it is a table of steps.
    pub values: Option<Values>,
    /// Each bin with a guarantee, or each score range with an interval, if it holds test rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<RangeTest>,
    /// That the calibrator was fitted to test rows.
    pub overlap: Option<Overlap>,
    /// All of it in sentences.
    pub sentences: Vec<String>,
}

/// How many different probabilities a calibrator has, and between which.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Values {
    /// How many.
    pub count: usize,
    /// The lowest.
    pub lo: f64,
    /// The highest.
    pub hi: f64,
}

impl Values {
    /// Counts them over all tables; `None` if one is no step function, or a probability is put together of several.
    pub fn of(artifact: &Artifact<'_>) -> Option<Self> {
        let tables = artifact.tables();
        let calibrated = (0..tables.count()).filter(|&table| tables.get(table).is_some());
        let steps: Vec<_> = calibrated.map(|table| table_steps(artifact, table)).collect();
        if !artifact.header().reduction.has_one_probability() || steps.iter().any(Vec::is_empty) {
            return None;
        }
        let mut values: Vec<f32> = steps.into_iter().flatten().map(|(_, value)| value).collect();
        values.sort_by(f32::total_cmp);
        values.dedup();
        Some(Self { count: values.len(), lo: (*values.first()?).into(), hi: (*values.last()?).into() })
    }
}

impl Verdict {
    /// Judges an artifact by the metrics on the test rows, and by what these say of it. The change in the Brier score has the interval of the
    /// bootstrap, if there is one and there are enough events for one. Intervals have the coverage `1 - alpha`.
    pub fn new(artifact: &Artifact<'_>, metrics: &BeforeAfter, judged: &Judged, alpha: f64) -> Self {
        let Judged { evidence, change, guarantee: tested } = judged;
        let bootstrap = metrics.change.brier.interval;
        let change = change.map(|change| BrierChange {
            interval: change.interval.map(|own| bootstrap.unwrap_or(own)),
            ..change
        });
        let is_worse = evidence.iter().any(|found| matches!(found, Evidence::Worse { .. }));
        let is_contradicted = evidence.iter().any(|found| {
            matches!(found, Evidence::ContradictedGuarantee { .. } | Evidence::ContradictedIntervals { .. })
        });
        let probabilities = match change.map(|change| change.sign) {
            _ if is_worse => Judgment::Worse,
            Some(Ordering::Less) => Judgment::Better,
            Some(Ordering::Greater) => Judgment::Worse,
            Some(Ordering::Equal) => Judgment::NoSureDifference,
            None => Judgment::NotCompared,
        };
        let reduction = artifact.header().reduction;
        let is_about_rows = reduction.has_one_probability() || reduction == Reduction::Joint;
        let guaranteed = is_guaranteed(artifact);
        let guarantee = match (guaranteed, is_contradicted, is_about_rows) {
            (_, true, _) => GuaranteeOnRows::Contradicted,
            (false, ..) => GuaranteeOnRows::None,
            (true, false, true) if tested.is_shown => GuaranteeOnRows::Shown,
            (true, false, true) => GuaranteeOnRows::NotRefuted,
            (true, false, false) => GuaranteeOnRows::NotTested,
        };
        let log_loss_rises = evidence.iter().any(|found| matches!(found, Evidence::LogLoss { .. }));
        let is_coarse =
            evidence.iter().any(|found| matches!(found, Evidence::Order { .. } | Evidence::Mixed { .. }));
        let values = Values::of(artifact);
        let unseen = tested.unseen.filter(|_| guarantee == GuaranteeOnRows::NotRefuted);
        let mut sentences = vec![
            of_probabilities(probabilities, metrics, change, alpha),
            of_guarantee(guarantee, artifact, (metrics.after.n, unseen)),
        ];
        sentences.extend(of_order(metrics, alpha));
        sentences.extend(values.map(|values| values.to_string()));
        let ranges = tested.ranges.clone();
        let mut found = Self {
            probabilities,
            guarantee,
            unseen,
            log_loss_rises,
            is_coarse,
            values,
            ranges,
            overlap: None,
            sentences,
        };
        found.sentences.extend(found.advice(artifact.header()));
        found
    }

    /// Says first that the calibrator was fitted to test rows, if it was: they then do not show that the guarantee holds.
    pub fn tell(&mut self, overlap: Option<Overlap>) {
        let Some(overlap) = overlap else { return };
        if let GuaranteeOnRows::Shown | GuaranteeOnRows::NotRefuted = self.guarantee {
            self.guarantee = GuaranteeOnRows::NotTested;
            self.unseen = None;
            for range in &mut self.ranges {
                range.guarantee = GuaranteeOnRows::NotTested;
            }
            let some = if overlap.is_most() { "them" } else { "some of them" };
            self.sentences[1] =
                format!("These rows do not test the guarantee: the calibrator was fitted to {some}.");
        }
        self.overlap = Some(overlap);
        self.sentences.insert(0, overlap.warning());
    }

    /// In a few words.
    pub fn title(&self) -> &'static str {
        match (self.probabilities, self.guarantee) {
            _ if self.overlap.is_some_and(Overlap::is_most) => "The test rows are calibration rows",
            _ if self.overlap.is_some() => "Some of the test rows are calibration rows",
            (Judgment::Worse, _) => "Calibration makes the probabilities worse",
            (_, GuaranteeOnRows::Contradicted) => "The test rows contradict the guarantee",
            _ if self.log_loss_rises => "Calibration makes the log-loss worse",
            (Judgment::Better, _) if self.is_coarse => {
                "Calibration makes the probabilities better on average, but loses part of the information in the scores"
            }
            _ if self.is_coarse => "Calibration loses part of the information in the scores",
            (Judgment::Better, _) => "Calibration makes the probabilities better",
            (Judgment::NoSureDifference, _) => "Calibration makes no significant difference",
            (Judgment::NotCompared, _) => "Calibrated probabilities on the test rows",
        }
    }

    /// Whether it speaks against the calibrator.
    pub fn is_bad(&self) -> bool {
        self.overlap.is_some()
            || self.probabilities == Judgment::Worse
            || self.guarantee == GuaranteeOnRows::Contradicted
            || self.log_loss_rises
            || self.is_coarse
    }

    /// Why it is bad, and what to try instead of this calibrator. If the rows contradict the guarantee, that is the reason.
    fn advice(&self, header: &Header<'_>) -> Option<String> {
        /// A method of few parameters needs no more.
        const FEW: u64 = 500;
        if !self.is_bad() || self.guarantee == GuaranteeOnRows::Contradicted {
            return None;
        }
        let rows = header.n;
        let can_be_finer = self.is_coarse && header.method != Method::Blend;
        let of_values = self.values.filter(|_| can_be_finer).map(|Values { count, .. }| {
            let count = thousands(count);
            format!("The reason is that {count} probabilities stand for all scores: more bins, or the method blend, lose less.")
        });
        let of_few = || {
            (rows < FEW).then(|| {
                format!("It was fitted to only {rows} rows: with so few rows, the method platt or the unchanged scores may be \
                     better.")
            })
        };
        let other = || {
            "Compare the methods on the calibration rows: another method, or the unchanged scores, may be better.".into()
        };
        Some(of_values.or_else(of_few).unwrap_or_else(other))
    }
}

/// A sentence, which the verdict has as well.
impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lo, hi) = (shown(4, self.lo), shown(4, self.hi));
        match self.count {
            1 => write!(f, "The calibrator has one probability for all scores, {lo}."),
            count => write!(
                f,
                "The calibrator has {} different probabilities, from {lo} to {hi}.",
                thousands(count)
            ),
        }
    }
}

/// Whether anything is guaranteed, of bins or of score ranges: a deviation of 1 and more is none.
pub fn is_guaranteed(artifact: &Artifact<'_>) -> bool {
    artifact.header().guarantee.is_some_and(|guarantee| guarantee.epsilon < 1.0)
        || artifact.score_intervals().is_some()
}

fn of_probabilities(
    judgment: Judgment,
    metrics: &BeforeAfter,
    stated: Option<BrierChange>,
    alpha: f64,
) -> String {
    let BeforeAfter { before, after, change } = metrics;
    let change = change.brier.value;
    // With the digits in which they differ.
    let digits = match stated {
        Some(BrierChange { interval: Some(Interval { lo, hi }), .. }) => places(4, &[change, lo, hi]),
        Some(_) => places(4, &[change]),
        None => places(4, &[after.brier.value]),
    };
    // No change is 0, and not -0.
    let change =
        if format!("{change:.digits$}").contains(|c| ('1'..='9').contains(&c)) { change } else { 0.0 };
    let [from, to] = [before, after].map(|side| format!("{:.digits$}", side.brier.value));
    let level = percent_of_success(alpha);
    let by = match stated {
        Some(BrierChange { interval: Some(Interval { lo, hi }), .. }) => {
            format!(" (change {change:+.digits$}, {level}% interval [{lo:+.digits$}, {hi:+.digits$}])")
        }
        Some(BrierChange { interval: None, .. }) => {
            format!(" (change {change:+.digits$}; too few events for an interval)")
        }
        None => String::new(),
    };
    match judgment {
        Judgment::Better => format!("The mean squared error (Brier score) falls from {from} to {to}{by}."),
        Judgment::Worse => format!("The mean squared error (Brier score) rises from {from} to {to}{by}."),
        Judgment::NoSureDifference => format!(
            "The mean squared error (Brier score) is {from} before and {to} after{by}: the test rows do not show which is \
             better."
        ),
        Judgment::NotCompared => format!(
            "The mean squared error (Brier score) of the probabilities is {to}. The scores are not compared with them."
        ),
    }
}

/// That the scores order the rows no better than chance, unless they do so significantly: probabilities may be right, and of no use.
fn of_order(metrics: &BeforeAfter, alpha: f64) -> Option<String> {
    let auc = metrics.before.auc.as_ref()?;
    let Interval { lo, hi } = auc.interval.filter(|interval| interval.lo <= 0.5 && 0.5 <= interval.hi)?;
    let level = percent_of_success(alpha);
    Some(format!(
        "These rows do not show that the scores separate the classes better than chance: the area under the ROC curve is \
         {:.3} ({level}% interval [{lo:.3}, {hi:.3}]), and 0.5 is chance. No calibration can change that.",
        auc.value
    ))
}

fn of_guarantee(
    guarantee: GuaranteeOnRows,
    artifact: &Artifact<'_>,
    (rows, unseen): (u64, Option<f64>),
) -> String {
    let of_ranges = artifact.score_intervals().is_some();
    let rows = thousands(rows);
    let epsilon = artifact.header().guarantee.map(|guarantee| guarantee.epsilon).unwrap_or_default();
    match (guarantee, of_ranges) {
        (GuaranteeOnRows::Shown, true) => "These rows show that the guarantee holds: the event rate of every score range with test rows lies \
             in its interval (exact tests at 5% on either side of every range)."
            .into(),
        (GuaranteeOnRows::Shown, false) => format!(
            "These rows show that the guarantee holds: the event rate of every bin is within {} of its probability (exact \
             tests at 5% on either side of every bin).",
            shown_bound(4, epsilon.into())
        ),
        (GuaranteeOnRows::NotRefuted, _) => match (unseen, of_ranges) {
            (Some(unseen), true) => format!(
                "These rows do not refute the guarantee, and do not show that it holds: with {rows} rows a score range whose \
                 event rate is less than {} outside its interval would go undetected in 9 of 10 cases.",
                shown(2, unseen)
            ),
            (Some(unseen), false) => format!(
                "These rows do not refute the guarantee, and do not show that it holds: with {rows} rows a bin whose event \
                 rate differs from its probability by less than {} would go undetected in 9 of 10 cases.",
                shown(2, unseen)
            ),
            (None, _) => {
                format!("These {rows} rows cannot show whether the guarantee holds: they are too few to refute it.")
            }
        },
        (GuaranteeOnRows::Contradicted, _) => {
            let is_off = if of_ranges { "a score range is significantly outside its interval" } else { "a bin is \
                 significantly outside its guaranteed range" };
            format!(
                "These rows contradict the guarantee: the event rate of {is_off}. Either these rows are not like the \
                 calibration rows, or the guarantee failed (probability at most alpha)."
            )
        }
        (GuaranteeOnRows::NotTested, _) => {
            "The guarantee is not about predictions, and these rows do not test it.".into()
        }
        (GuaranteeOnRows::None, _) => {
            "Nothing is guaranteed: the error of the probabilities on other data is unknown.".into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{StoredArtifact, artifact_bytes};
    use crate::assess::GuaranteeTest;
    use crate::assess::{
        AssessOptions, Bootstrap, IntervalKind, Prediction, PredictionKind, assess_before_after, judge,
    };
    use crate::binary::{BinaryMethod, Blend, Isotonic, Umd};
    use crate::data::BinaryData;
    use crate::fit::fit_binary;

    const WORSE: Evidence = Evidence::Worse { brier: 0.1, interval: Interval { lo: 0.05, hi: 0.15 } };
    const LOG_LOSS: Evidence = Evidence::LogLoss { log_loss: 0.1, interval: Interval { lo: 0.05, hi: 0.15 } };
    const ORDER: Evidence =
        Evidence::Order { before: 0.88, after: 0.8, interval: Interval { lo: -0.1, hi: -0.06 } };
    const MIXED: Evidence = Evidence::Mixed { mixed: 1, of: 4, prob: 0.21, rates: [0.1, 0.5], epsilon: 0.09 };
    const CONTRADICTED: Evidence = Evidence::ContradictedGuarantee { contradicted: 1, bins: 4, alpha: 0.1 };

    /// This many rows, half of them events, and one probability for all.
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

    fn verdict(
        metrics: &BeforeAfter,
        evidence: &[Evidence],
        sign: Option<Ordering>,
        is_shown: bool,
    ) -> Verdict {
        let change = sign.map(|sign| BrierChange { interval: metrics.change.brier.interval, sign });
        let guarantee = GuaranteeTest { is_refuted: false, is_shown, unseen: Some(0.3), ranges: Vec::new() };
        let judged = Judged { evidence: evidence.to_vec(), change, guarantee };
        Verdict::new(&stored(true).artifact(), metrics, &judged, 0.05)
    }

    fn stored(guaranteed: bool) -> StoredArtifact {
        fitted(&match guaranteed {
            true => BinaryMethod::Umd(Umd::new(4)),
            false => BinaryMethod::Isotonic(Isotonic::default()),
        })
    }

    fn fitted(method: &BinaryMethod) -> StoredArtifact {
        let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
        let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect()).unwrap();
        let fit = fit_binary(&data.on_device(), method, 0.1).unwrap();
        StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default()).unwrap()).unwrap()
    }

    /// Of a few rows a lower error may be chance.
    #[test]
    fn probabilities_are_better_or_worse_if_that_is_sure() {
        for (rows, [before, after], expected) in [
            (20u32, [0.6, 0.55], Ordering::Equal),
            (20, [0.55, 0.6], Ordering::Equal),
            (20_000, [0.6, 0.55], Ordering::Less),
            (20_000, [0.55, 0.6], Ordering::Greater),
        ] {
            let said = |prob: f64| {
                (0..rows)
                    .map(move |row| Prediction { class: 1, prob, bin: 0, hit: row % 2 == 0 })
                    .collect::<Vec<_>>()
            };
            let (artifact, both) = (stored(true), metrics(rows, [before, after], None));
            let judged = judge(&artifact.artifact(), &both, [&said(before), &said(after)], None, 0.05);
            let change = judged.change.unwrap();
            assert_eq!(change.sign, expected, "{rows} {before} {after}");
        }
        let metrics = metrics(20, [0.6, 0.55], Some(100));
        for (sign, expected) in [
            (Some(Ordering::Less), Judgment::Better),
            (Some(Ordering::Equal), Judgment::NoSureDifference),
            (Some(Ordering::Greater), Judgment::Worse),
            (None, Judgment::NotCompared),
        ] {
            assert_eq!(verdict(&metrics, &[], sign, true).probabilities, expected);
            assert_eq!(verdict(&metrics, &[WORSE], sign, true).probabilities, Judgment::Worse);
        }
    }

    #[test]
    fn a_contradicted_guarantee_is_bad_however_good_the_probabilities_are() {
        const COARSE: &str = "Calibration makes the probabilities better on average, but loses part of the information in the \
             scores";
        let metrics = metrics(20_000, [0.6, 0.55], Some(100));
        let better = Some(Ordering::Less);
        for (evidence, is_shown, guarantee, title, is_bad) in [
            (&[][..], true, GuaranteeOnRows::Shown, "Calibration makes the probabilities better", false),
            (&[], false, GuaranteeOnRows::NotRefuted, "Calibration makes the probabilities better", false),
            (
                &[CONTRADICTED],
                true,
                GuaranteeOnRows::Contradicted,
                "The test rows contradict the guarantee",
                true,
            ),
            (&[WORSE], true, GuaranteeOnRows::Shown, "Calibration makes the probabilities worse", true),
            (&[LOG_LOSS, ORDER], true, GuaranteeOnRows::Shown, "Calibration makes the log-loss worse", true),
            (&[ORDER], false, GuaranteeOnRows::NotRefuted, COARSE, true),
            (&[MIXED], true, GuaranteeOnRows::Shown, COARSE, true),
            (
                &[WORSE, CONTRADICTED],
                true,
                GuaranteeOnRows::Contradicted,
                "Calibration makes the probabilities worse",
                true,
            ),
        ] {
            let got = verdict(&metrics, evidence, better, is_shown);
            assert_eq!(
                (got.guarantee, got.title(), got.is_bad()),
                (guarantee, title, is_bad),
                "{evidence:?}"
            );
            assert_eq!(got.unseen.is_some(), guarantee == GuaranteeOnRows::NotRefuted);
            let values = "The calibrator has 4 different probabilities, from ";
            assert!(got.sentences.iter().any(|sentence| sentence.starts_with(values)), "{:?}", got.sentences);
            let is_advised = got.sentences.last().is_some_and(|last| !last.starts_with(values));
            assert_eq!(
                is_advised,
                is_bad && guarantee != GuaranteeOnRows::Contradicted,
                "{:?}",
                got.sentences
            );
        }
        // What to try is another method than the one that was fitted.
        let advice = |method: BinaryMethod| {
            let guarantee =
                GuaranteeTest { is_refuted: false, is_shown: true, unseen: None, ranges: Vec::new() };
            let judged = Judged { evidence: vec![MIXED], change: None, guarantee };
            Verdict::new(&fitted(&method).artifact(), &metrics, &judged, 0.05).sentences.pop().unwrap()
        };
        assert!(advice(BinaryMethod::Umd(Umd::new(4))).contains("the method blend"));
        assert!(!advice(BinaryMethod::Blend(Blend::new(0))).contains("blend"));

        let guarantee =
            GuaranteeTest { is_refuted: false, is_shown: false, unseen: None, ranges: Vec::new() };
        let judged = Judged { evidence: Vec::new(), change: None, guarantee };
        let verdict = |stored: StoredArtifact| Verdict::new(&stored.artifact(), &metrics, &judged, 0.05);
        assert_eq!(verdict(stored(false)).guarantee, GuaranteeOnRows::None);
        let cannot_tell = verdict(stored(true));
        assert!(
            cannot_tell.sentences[1].starts_with("These 20,000 rows cannot show whether the guarantee holds"),
            "{cannot_tell:?}"
        );
    }
}
