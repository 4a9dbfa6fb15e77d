//! What an artifact shows against itself, without any rows.

use std::fmt;

use calib_core::artifact::{Method, Reduction, TableForm};
use calib_core::decision::Action;
use calib_core::table::{MarginScaling, Scaling};
use calib_core::{Artifact, BinFlags, DecisionRule, Margin, Score};
use serde::Serialize;

use super::withheld::{Withheld, withheld};
use crate::artifact::table_names;
use crate::stats::shown;

/// Something that a calibrator is hardly meant to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Flaw {
    /// The higher the score, the lower the probability.
    Falls {
        /// Whose tables; `None` if there is one table only.
        of: Option<String>,
    },
    /// All scores get the same probability.
    Constant {
        /// Whose tables; `None` if there is one table only.
        of: Option<String>,
    },
    /// Every probability is 0, or every one is 1: no calibration row was of the other class.
    OneLabel {
        /// The label of all rows.
        label: u8,
    },
    /// The probability rises with the score on one side of a score, and falls on the other.
    Turns {
        /// The score.
        at: f32,
    },
    /// The event rate significantly falls from some scores to higher ones: the exact intervals of two bins do not overlap.
    Dips {
        /// Whose table; `None` if there is one table only.
        of: Option<String>,
        /// The interval of the bin of the lower scores.
        from: [f32; 2],
        /// The interval of the bin of the higher scores.
        to: [f32; 2],
    },
    /// The decision rule has alarms, and no calibrated probability raises one.
    SilentAlarm {
        /// The lowest probability that a score gets.
        lowest: f32,
        /// The highest.
        highest: f32,
    },
    /// No calibrated probability leads to these actions of the decision rule. Alarms are left out where none is raised.
    Unreachable {
        /// Their names.
        actions: Vec<String>,
        /// The lowest probability that a score gets.
        lowest: f32,
        /// The highest.
        highest: f32,
    },
    /// The decision rule holds actions back, because the evidence of a bin does not suffice for them.
    Withheld {
        /// The number of bins in which they are held back.
        bins: u64,
        /// The number of bins with calibration points in which they would be taken.
        of: u64,
        /// The action that is taken instead.
        instead: String,
    },
    /// Margins are so far from 0 that 32-bit floats round the probabilities of Platt scaling.
    Rounded {
        /// By how much at most, about.
        by: f64,
        /// About where the margins lie: subtracted from them, it fixes that.
        margin: f64,
    },
    /// There is no decision rule, and no calibrated probability reaches one half, from which up the firmware's own alarm is
    /// raised if nobody chose another threshold.
    BelowOneHalf {
        /// The highest probability that a score gets.
        highest: f32,
    },
}

impl Flaw {
    /// Whether it makes what is guaranteed beside the point.
    pub fn is_grave(&self) -> bool {
        !matches!(
            self,
            Self::Turns { .. }
                | Self::Dips { .. }
                | Self::BelowOneHalf { .. }
                | Self::Rounded { .. }
                | Self::Withheld { .. }
        )
    }
}

/// An interval of a decision rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleInterval<'a> {
    /// The action's name.
    pub action: &'a str,
    /// Whether the action raises the alarm.
    pub alarm: bool,
    /// The probabilities of the interval are above this one; `None` for the lowest, which holds 0.
    pub above: Option<f32>,
    /// And at most this one.
    pub up_to: f32,
}

/// Looks for what an artifact shows against itself, the weightiest first: scores or labels that were the wrong way round when it
/// was fitted, and decisions that it can never lead to.
///
/// Only tables of scores of a class are looked at for their order: of predicted classes, high scores may well be right less often. The
/// probabilities that are divided by their sum, and those of whole vectors, are not compared with the rule.
///
/// ```
/// use calib_fit::assess::{Flaw, flaws};
/// use calib_fit::{BinaryData, BinaryMethod, ScalingMethod, StoredArtifact, artifact_bytes, fit_binary};
///
/// // Low scores are of class 1.
/// let data = BinaryData::new(vec![0.1, 0.3, 0.4, 0.7, 0.8, 0.9], vec![true, true, false, true, false, false])?;
/// let fit = fit_binary(&data, &BinaryMethod::Scaling(ScalingMethod::PlattLogit), 0.1)?;
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
/// assert_eq!(flaws(&stored.artifact()), [Flaw::Falls { of: None }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn flaws(artifact: &Artifact<'_>) -> Vec<Flaw> {
    flaws_under(artifact, &artifact.decision().map(intervals).unwrap_or_default())
}

/// As [`flaws`], with the intervals of this rule in place of the artifact's own; none if there is no rule. For the
/// artifact's own rule, the flaws also state what the device withholds.
pub fn flaws_under(artifact: &Artifact<'_>, rule: &[RuleInterval<'_>]) -> Vec<Flaw> {
    let tables = artifact.tables();
    let all: Vec<(usize, Vec<ProbSpan>)> = (0..tables.count())
        .filter_map(|table| Some((table, spans(artifact, table)?)))
        .filter(|(_, spans)| !spans.is_empty())
        .collect();
    let mut found = order(artifact, &all);
    found.extend(
        (0..tables.count()).find_map(|table| Some(Flaw::Turns { at: turning_point(artifact, table)? })),
    );
    if !found.iter().any(|flaw| matches!(flaw, Flaw::Falls { .. })) {
        found.extend((0..tables.count()).find_map(|table| dip(artifact, table)));
    }
    let reduction = artifact.header().reduction;
    if reduction != Reduction::Normalized {
        let given: Vec<ProbSpan> = all.into_iter().flat_map(|(_, spans)| spans).collect();
        found.extend(decisions(rule, &given));
        let has_no_rule = artifact.operating_points().is_none() && artifact.prediction_sets().is_none();
        let highest = range(&given).map(|range| range.1).filter(|highest| *highest < 0.5);
        if let Some(highest) =
            highest.filter(|_| rule.is_empty() && has_no_rule && reduction == Reduction::Binary)
        {
            found.push(Flaw::BelowOneHalf { highest });
        }
    }
    found.extend(held_back(artifact));
    found.extend(rounded(artifact));
    found
}

/// How much 32-bit floats round Platt scaling of margins that are far from 0, in the worst table.
fn rounded(artifact: &Artifact<'_>) -> Option<Flaw> {
    /// What nobody misses.
    const FINE: f64 = 1e-3;
    let tables = artifact.tables();
    let of_table = |table: usize| match tables.get(table)?.form {
        TableForm::MarginScaling(function) => match function.parameters() {
            MarginScaling::Platt { a, b } => Some((f64::from(a), f64::from(b))),
            _ => None,
        },
        _ => None,
    };
    let (a, b) = (0..tables.count()).filter_map(of_table).max_by(|x, y| x.1.abs().total_cmp(&y.1.abs()))?;
    // Where the probability is one half, slope times margin is as large as the intercept: slope, product and intercept are rounded. A
    // quarter is the sigmoid's steepest slope.
    let by = 0.25 * 3.0 * b.abs() * f64::from(f32::EPSILON) / 2.0;
    (by > FINE).then(|| Flaw::Rounded { by: by.min(1.0), margin: -b / a })
}

/// The actions that the artifact's own rule holds back for want of evidence.
fn held_back(artifact: &Artifact<'_>) -> Option<Flaw> {
    let Withheld { bins, of } = withheld(artifact).filter(|counts| counts.bins > 0)?;
    let rule = artifact.decision()?;
    let instead = rule.action(rule.unsure()?)?;
    Some(Flaw::Withheld { bins, of, instead: instead.name.into() })
}

/// Looks for the alarms and actions of a rule that none of these probabilities leads to.
///
/// ```
/// use calib_fit::assess::{Flaw, RuleInterval, unreached};
///
/// let wait = RuleInterval { action: "wait", alarm: false, above: None, up_to: 0.5 };
/// let act = RuleInterval { action: "act", alarm: true, above: Some(0.5), up_to: 1.0 };
/// assert_eq!(unreached(&[wait, act], [0.1, 0.6]), []);
/// let silent = [Flaw::SilentAlarm { lowest: 0.1, highest: 0.5 }];
/// assert_eq!(unreached(&[wait, act], [0.1, 0.5]), silent);
/// ```
pub fn unreached(rule: &[RuleInterval<'_>], probs: impl IntoIterator<Item = f32>) -> Vec<Flaw> {
    decisions(rule, &probs.into_iter().map(|prob| (prob, prob)).collect::<Vec<_>>())
}

/// The intervals of an artifact's rule.
fn intervals<'a>(rule: &DecisionRule<'a>) -> Vec<RuleInterval<'a>> {
    let above = std::iter::once(None).chain(rule.thresholds().iter().copied().map(Some));
    let up_to = rule.thresholds().iter().copied().chain([1.0]);
    let actions = rule.intervals().iter().filter_map(|&index| rule.action(index));
    let interval = |(action, (above, up_to)): (Action<'a>, _)| RuleInterval {
        action: action.name,
        alarm: action.alarm,
        above,
        up_to,
    };
    actions.zip(above.zip(up_to)).map(interval).collect()
}

/// What neighboring scores get: the probability of the lowest of them, and of the highest. All between are between.
type ProbSpan = (f32, f32);

/// The spans of a table in ascending order of score, without bins that hold no calibration point.
fn spans(artifact: &Artifact<'_>, table: usize) -> Option<Vec<ProbSpan>> {
    let tables = artifact.tables();
    let flat = |values: &mut dyn Iterator<Item = f32>| {
        let is_empty = |bin: usize| tables.bin_flags(table, bin as u16).contains(BinFlags::EMPTY);
        let kept = values.enumerate().filter(|(bin, _)| !is_empty(*bin));
        kept.map(|(_, value)| (value, value)).collect::<Vec<_>>()
    };
    Some(match tables.get(table)?.form {
        TableForm::Steps(steps) => flat(&mut steps.values()),
        TableForm::Randomized(steps) => flat(&mut steps.values()),
        TableForm::Codes(steps) => flat(&mut steps.values()),
        TableForm::Compact(steps) => flat(&mut steps.values()),
        TableForm::MarginSteps(steps) => flat(&mut steps.values()),
        TableForm::MarginRandomized(steps) => flat(&mut steps.values()),
        TableForm::VennAbers(ends) => flat(&mut ends.p0().zip(ends.p1()).map(merged)),
        TableForm::MarginVennAbers(ends) => flat(&mut ends.p0().zip(ends.p1()).map(merged)),
        TableForm::Interpolated(line) => between_knots(line.y()),
        TableForm::MarginInterpolated(line) => between_knots(line.y()),
        TableForm::Scaling(function) => {
            let prob = |score: f32| Score::new(score).map_or(0.5, |score| function.prob(score));
            around(&prob, (0.0, 1.0), turning_point(artifact, table))
        }
        // Of all margins those that are usual count: at the ends every function is 0 or 1.
        TableForm::MarginScaling(function) => {
            let ends = margins_of(artifact, table).unwrap_or((f32::MIN, f32::MAX));
            let prob = |margin: f32| Margin::new(margin).map_or(0.5, |margin| function.prob(margin));
            around(&prob, ends, turning_point(artifact, table))
        }
        _ => return None,
    })
}

/// The pieces of a function between two scores.
fn around(prob: &dyn Fn(f32) -> f32, (lo, hi): (f32, f32), turning_point: Option<f32>) -> Vec<ProbSpan> {
    let stops: Vec<f32> = [Some(lo), turning_point, Some(hi)].into_iter().flatten().map(prob).collect();
    stops.windows(2).map(|ends| (ends[0], ends[1])).collect()
}

/// The range of margins that a table was fitted to.
fn margins_of(artifact: &Artifact<'_>, table: usize) -> Option<(f32, f32)> {
    let [lo, hi] = artifact.tables().score_range(table)?;
    Some((Margin::from_key(lo)?.get(), Margin::from_key(hi)?.get()))
}

/// The score between those that a table was fitted to where its function turns.
fn turning_point(artifact: &Artifact<'_>, table: usize) -> Option<f32> {
    let tables = artifact.tables();
    let (at, (lo, hi)) = match tables.get(table)?.form {
        TableForm::Scaling(function) => match function.parameters() {
            Scaling::Quadratic { a, b, .. } => {
                let [lo, hi] = tables.score_range(table)?.map(f32::from_bits);
                (calib_core::score::sigmoid(-b / (2.0 * a))?.get(), (lo, hi))
            }
            _ => return None,
        },
        TableForm::MarginScaling(function) => match function.parameters() {
            MarginScaling::Quadratic { a, b, scale, shift, .. } => {
                ((-b / (2.0 * a) - shift) / scale, margins_of(artifact, table)?)
            }
            _ => return None,
        },
        _ => return None,
    };
    (lo < at && at < hi).then_some(at)
}

/// The probability of a bin of Venn-Abers prediction.
fn merged((p0, p1): (f32, f32)) -> f32 {
    p1 / (1.0 - p0 + p1)
}

fn between_knots(y: &[f32]) -> Vec<ProbSpan> {
    match *y {
        [only] => vec![(only, only)],
        ref y => y.windows(2).map(|ends| (ends[0], ends[1])).collect(),
    }
}

/// What is wrong with the order that tables give scores.
fn order(artifact: &Artifact<'_>, tables: &[(usize, Vec<ProbSpan>)]) -> Vec<Flaw> {
    let header = artifact.header();
    if !matches!(header.reduction, Reduction::Binary | Reduction::ClassWise | Reduction::Normalized) {
        return Vec::new();
    }
    // A method that merges bins was not asked for one bin.
    let merges = matches!(
        header.method,
        Method::Isotonic | Method::IsotonicInterpolated | Method::IsotonicCentered | Method::Irp
    );
    let is_constant = |spans: &[ProbSpan]| {
        let first = spans[0].0;
        let is_one_bin = spans.len() == 1 && spans[0].0 == spans[0].1 && artifact.header().bins > 0;
        spans.iter().all(|piece| *piece == (first, first)) && (merges || !is_one_bin)
    };
    let falls = |spans: &[ProbSpan]| {
        let probs: Vec<f32> = spans.iter().flat_map(|&(lo, hi)| [lo, hi]).collect();
        probs.is_sorted_by(|a, b| a >= b) && probs.first() > probs.last()
    };
    let those = |is: &dyn Fn(&[ProbSpan]) -> bool| -> Vec<usize> {
        tables.iter().filter(|(_, spans)| is(spans)).map(|(table, _)| *table).collect()
    };
    let of = |those: &[usize]| (artifact.tables().count() > 1).then(|| table_names(artifact, those));
    let (falling, constant) = (those(&falls), those(&is_constant));
    let falling = (!falling.is_empty()).then(|| Flaw::Falls { of: of(&falling) });
    let only = |value: f32| tables.iter().flat_map(|(_, spans)| spans).all(|piece| *piece == (value, value));
    let one_label = [0u8, 1].into_iter().find(|&label| only(label.into()));
    let constant = (!constant.is_empty()).then(|| match one_label {
        Some(label) => Flaw::OneLabel { label },
        None => Flaw::Constant { of: of(&constant) },
    });
    falling.into_iter().chain(constant).collect()
}

/// Where a table's bins significantly fall: all intervals hold at once. What falls within them may be chance, and is within the guarantee.
fn dip(artifact: &Artifact<'_>, table: usize) -> Option<Flaw> {
    let header = artifact.header();
    let is_of_class =
        matches!(header.reduction, Reduction::Binary | Reduction::ClassWise | Reduction::Normalized);
    // Those of ranges of the score are not the bins'.
    if !is_of_class || artifact.score_intervals().is_some() {
        return None;
    }
    let tables = artifact.tables();
    let bins = u16::try_from(tables.bins(table)?).ok()?;
    let mut highest: Option<[f32; 2]> = None;
    for bin in 0..bins {
        let Some(interval) = tables.interval(table, bin) else { continue };
        let to = [interval.lo, interval.hi];
        match highest {
            Some(from) if to[1] < from[0] => {
                let of = (tables.count() > 1).then(|| table_names(artifact, &[table]));
                return Some(Flaw::Dips { of, from, to });
            }
            Some(from) if to[0] <= from[0] => {}
            _ => highest = Some(to),
        }
    }
    None
}

/// The lowest and the highest probability.
fn range(given: &[ProbSpan]) -> Option<(f32, f32)> {
    let probs = || given.iter().flat_map(|&(lo, hi)| [lo, hi]);
    probs().reduce(f32::min).zip(probs().reduce(f32::max))
}

/// Which decisions of a rule no probability leads to.
fn decisions(rule: &[RuleInterval<'_>], given: &[ProbSpan]) -> Vec<Flaw> {
    let Some((lowest, highest)) = range(given) else { return Vec::new() };
    let is_reached = |interval: &RuleInterval<'_>| {
        let holds = |&(a, b): &ProbSpan| {
            interval.above.is_none_or(|above| f32::max(a, b) > above) && f32::min(a, b) <= interval.up_to
        };
        given.iter().any(holds)
    };
    let (reached, missed): (Vec<&RuleInterval<'_>>, Vec<_>) =
        rule.iter().partition(|interval| is_reached(interval));
    let silent =
        missed.iter().any(|interval| interval.alarm) && reached.iter().all(|interval| !interval.alarm);
    let is_taken = |name: &str| reached.iter().any(|interval| interval.action == name);
    let mut actions: Vec<String> = Vec::new();
    for interval in missed.iter().filter(|interval| !(is_taken(interval.action) || silent && interval.alarm))
    {
        if actions.iter().all(|action| action != interval.action) {
            actions.push(interval.action.into());
        }
    }
    let silent = silent.then_some(Flaw::SilentAlarm { lowest, highest });
    let unreachable = (!actions.is_empty()).then_some(Flaw::Unreachable { actions, lowest, highest });
    silent.into_iter().chain(unreachable).collect()
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = |of: &Option<String>| of.as_ref().map_or(String::new(), |of| format!(" of {of}"));
        match self {
            Self::Withheld { bins, of, instead } => write!(
                f,
                "The evidence is insufficient in {bins} of the {of} bins whose action requires it: the action there is \
                 {instead:?}. Costs that are computed from probabilities only do not show this."
            ),
            Self::Falls { of } => write!(
                f,
                "The calibrator{} is decreasing: the higher the score, the lower the probability. Were the scores or the \
                 labels of the calibration set reversed?",
                whose(of)
            ),
            Self::Constant { of } => write!(
                f,
                "The calibrator{} gives all scores the same probability. Either the scores carry no information, or the \
                 scores or the labels of the calibration set were reversed.",
                whose(of)
            ),
            Self::OneLabel { label } => write!(
                f,
                "Every calibrated probability is {label}: all labels of the calibration set were {label}, and nothing is \
                 known about the other class."
            ),
            Self::Turns { at } => write!(
                f,
                "The calibrator is not increasing everywhere: it turns at the score {at:.4}. Scores on both sides of this \
                 score get the same probability."
            ),
            Self::Dips { of, from, to } => {
                let [from, to] = [from, to]
                    .map(|ends| format!("[{}, {}]", shown(4, ends[0].into()), shown(4, ends[1].into())));
                write!(
                    f,
                    "The calibrator{} is not increasing everywhere: the event rate falls from within {from} to within {to} at higher \
                     scores (exact intervals, simultaneous at level 1 - alpha). Are the scores from more than one model or group?",
                    whose(of)
                )
            }
            Self::SilentAlarm { lowest, highest } => write!(
                f,
                "No calibrated probability raises the alarm: the probabilities range from {} to {}, where the decision rule \
                 has no alarm.",
                shown(4, (*lowest).into()),
                shown(4, (*highest).into())
            ),
            Self::Unreachable { actions, lowest, highest } => {
                let (word, is) = if actions.len() == 1 { ("action", "is") } else { ("actions", "are") };
                write!(
                    f,
                    "The {word} {} {is} never taken for a calibrated probability: the probabilities range from {} to {}.",
                    actions.join(", "),
                    shown(4, (*lowest).into()),
                    shown(4, (*highest).into())
                )
            }
            Self::Rounded { by, margin } => write!(
                f,
                "The margins lie so far from 0 that 32-bit floats round the probabilities by up to {by:.1e}: subtract {margin:.0} from \
                 every margin, for the fit and on the device."
            ),
            Self::BelowOneHalf { highest } => write!(
                f,
                "No calibrated probability is above {}: an alarm that the firmware raises at one half or more stays silent. A \
                 decision rule in the artifact sets another threshold.",
                if *highest == 0.0 { "0".to_owned() } else { shown(4, (*highest).into()) }
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use calib_core::decision::{DecisionParts, SureBy};

    use super::*;
    use crate::artifact::{ArtifactOptions, StoredArtifact, artifact_bytes, written};
    use crate::binary::{BinaryMethod, Isotonic, Loss, Model, ScalingBinning, ScalingMethod, Umd};
    use crate::data::{BinaryData, VectorKind, Vectors};
    use crate::fit::{Fit, fit_binary};
    use crate::reduction::{Problems, ReductionOptions, fit_reduction};

    /// 400 scores of which label 1 is the more frequent the higher the score, or the lower.
    fn fitted(method: &BinaryMethod, turned: bool) -> Fit {
        let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
        let labels = (0..400).map(|i| (i % 41 < i / 10) != turned).collect();
        fit_binary(&BinaryData::new(scores, labels).unwrap().on_device(), method, 0.1).unwrap()
    }

    fn flaws_of(fit: &Fit) -> Vec<Flaw> {
        let bytes = artifact_bytes(fit, &Default::default()).unwrap();
        flaws(&StoredArtifact::from_bytes(&bytes).unwrap().artifact())
    }

    #[test]
    fn methods_that_were_fitted_the_wrong_way_round_are_found() {
        let scaling = ScalingMethod::PlattLogit;
        let bins = ScalingBinning { scaling, loss: Loss::Log, bins: 4, split_seed: None };
        let falls = [Flaw::Falls { of: None }];
        let constant = [Flaw::Constant { of: None }];
        let isotonic = Isotonic::default();
        for (method, expected) in [
            (BinaryMethod::Scaling(scaling), &falls),
            (BinaryMethod::Scaling(ScalingMethod::PlattProb), &falls),
            (BinaryMethod::ScalingBinning(bins), &falls),
            (BinaryMethod::Umd(Umd::new(4)), &falls),
            (BinaryMethod::UmdRandomized(Umd::new(4), 0), &falls),
            (BinaryMethod::Scaling(ScalingMethod::Beta), &constant),
            (BinaryMethod::Isotonic(isotonic), &constant),
            (BinaryMethod::IsotonicInterpolated(isotonic), &constant),
        ] {
            let found = |turned| flaws_of(&fitted(&method, turned));
            assert_eq!(found(true).first(), expected.first(), "{method:?}: {:?}", found(true));
            assert_eq!(found(false), [], "{method:?}");
        }
        // Who asks for one bin gets one.
        let one = flaws_of(&fitted(&BinaryMethod::Umd(Umd::new(1)), false));
        assert!(matches!(one[..], [Flaw::BelowOneHalf { .. }]), "{one:?}");
    }

    /// Bins of 500 rows, of which so many of a hundred are positive.
    fn rates(rates: &[u32]) -> Vec<Flaw> {
        let rows = rates.iter().enumerate().flat_map(|(bin, &rate)| {
            (0..500u32).map(move |row| ((bin as f64 + f64::from(row) / 500.0) / 8.0, row * 7 % 100 < rate))
        });
        let (scores, labels) = rows.unzip();
        let umd = BinaryMethod::Umd(Umd::new(rates.len()));
        let fit = fit_binary(&BinaryData::new(scores, labels).unwrap(), &umd, 0.1).unwrap();
        let options = ArtifactOptions { intervals: true, ..Default::default() };
        flaws(&StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap().artifact())
    }

    #[test]
    fn bins_that_surely_fall_are_told() {
        let rises = rates(&[10, 20, 40, 60]);
        let by_chance = rates(&[10, 23, 18, 60]);
        assert!(rises.is_empty() && by_chance.is_empty(), "{rises:?} {by_chance:?}");
        for falling in [[10, 40, 20, 60], [10, 40, 37, 20]] {
            let found = rates(&falling);
            let [Flaw::Dips { of: None, from, to }, ..] = &found[..] else { panic!("{found:?}") };
            assert!(from[0] < 0.4 && 0.4 < from[1] && to[0] < 0.2 && 0.2 < to[1], "{found:?}");
            let said = found[0].to_string();
            assert!(said.contains("is not increasing everywhere") && !found[0].is_grave(), "{said}");
        }
        // That everything falls is told as that.
        assert!(matches!(rates(&[60, 40, 20, 10])[..], [Flaw::Falls { .. }, ..]));
    }

    /// As far as floats of 32 bits round it, whatever the margins are subtracted from.
    #[test]
    fn margins_far_from_zero_are_told() {
        let of = |offset: f64, method| {
            let margins: Vec<f64> = (0..400).map(|i| f64::from(i) / 100.0 - 2.0 + offset).collect();
            let labels = (0..400).map(|i| i * 7 % 400 < i).collect();
            let data = BinaryData::of_margins(margins.clone(), labels).unwrap().on_device();
            let fit = fit_binary(&data, &BinaryMethod::Scaling(method), 0.1).unwrap();
            let bytes = artifact_bytes(&fit, &Default::default()).unwrap();
            let stored = StoredArtifact::from_bytes(&bytes).unwrap();
            let found = flaws(&stored.artifact());
            let Some(TableForm::MarginScaling(function)) =
                stored.artifact().tables().get(0).map(|table| table.form)
            else {
                panic!("a function")
            };
            let Some(Model::Scaling(model)) = fit.tables()[0].as_ref().map(|table| table.model()) else {
                panic!("a function")
            };
            let off = margins.iter().map(|&margin| {
                let margin = Margin::new(margin as f32).unwrap();
                (f64::from(function.prob(margin)) - model.prob(margin.get().into())).abs()
            });
            (found, off.fold(0.0, f64::max))
        };
        for offset in [0.0, 1e3, -1e4] {
            let (found, off) = of(offset, ScalingMethod::PlattMargin);
            assert!(found.is_empty() && off < 1e-3, "{offset}: {found:?} {off}");
        }
        for offset in [1e5, -1e6, 3e6] {
            let (found, off) = of(offset, ScalingMethod::PlattMargin);
            let [Flaw::Rounded { by, margin }] = found[..] else { panic!("{offset}: {found:?}") };
            assert!(off <= by && (margin / offset - 1.0).abs() < 0.01, "{offset}: {off} {by} {margin}");
        }
    }

    #[test]
    fn tables_of_classes_are_named_and_those_of_predictions_left_alone() {
        // Logits of three classes; of class 2 the low ones are right.
        let row = |i: u32| {
            let x = (i * 7 % 100) as f32 / 50.0 - 1.0;
            ([x, -x, 3.0 * x], if x < -0.4 { 2 } else { i64::from(x < 0.3) })
        };
        let (values, labels): (Vec<_>, Vec<_>) = (0..600).map(row).unzip();
        let vectors = Vectors::new(values.concat(), 3, VectorKind::Logits).unwrap();
        let options = ReductionOptions { method: BinaryMethod::Umd(Umd::new(3)), rows_per_bin: None };
        let of = |reduction| {
            let problems = Problems::new(&vectors, &labels, reduction).unwrap();
            flaws_of(&fit_reduction(&problems, &options, 0.1).unwrap())
        };
        let found = of(Reduction::ClassWise);
        assert!(matches!(&found[0], Flaw::Falls { of: Some(of) } if of.contains('2')), "{found:?}");
        assert_eq!(of(Reduction::Confidence), []);
    }

    #[test]
    fn an_artifact_without_a_rule_is_told_where_its_probabilities_end() {
        let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
        let rare = (0..400).map(|i| i % 40 == 0 || i > 360 && i % 5 == 0).collect();
        let fit = fit_binary(&BinaryData::new(scores, rare).unwrap(), &BinaryMethod::Umd(Umd::new(4)), 0.1)
            .unwrap();
        let found = flaws_of(&fit);
        assert!(matches!(found[..], [Flaw::BelowOneHalf { highest }] if highest < 0.3), "{found:?}");
    }

    #[test]
    fn an_action_is_held_back_where_the_interval_crosses_a_threshold() {
        // Four bins of 250 points each, with the rates 0, 1/4, 1/2 and 3/4, and an epsilon of .094.
        let (scores, labels) = (0..1000u32).map(|i| (f64::from(i) / 1024.0, i % 4 < i / 250)).unzip();
        let data = BinaryData::new(scores, labels).unwrap();
        let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1).unwrap();
        let plain = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default()).unwrap()).unwrap();
        let action = |name, if_sure: bool| Action {
            name,
            alarm: false,
            abstain: !if_sure,
            if_sure: if_sure.then_some(SureBy::Interval),
        };
        let held_back = |threshold: f32, if_sure: bool| {
            let parts = DecisionParts {
                thresholds: &[threshold],
                intervals: &[0, 1],
                uncalibrated: 0,
                unsure: if_sure.then_some(0),
                actions: &[action("ask", false), action("treat", if_sure)],
            };
            let bytes = written(|writer| {
                for (kind, mandatory, payload) in plain.sections() {
                    writer.section(kind, mandatory, payload)?;
                }
                writer.decision(&parts)
            });
            let stored = StoredArtifact::from_bytes(&bytes.unwrap()).unwrap();
            flaws(&stored.artifact()).into_iter().find_map(|flaw| match flaw {
                Flaw::Withheld { bins, of, instead } => Some((bins, of, instead)),
                _ => None,
            })
        };
        let ask = "ask".to_owned();
        assert_eq!(held_back(0.125, true), None);
        assert_eq!(held_back(0.2, true), Some((1, 3, ask.clone())));
        assert_eq!(held_back(0.45, true), Some((1, 2, ask.clone())));
        assert_eq!(held_back(0.7, true), Some((1, 1, ask)));
        assert_eq!(held_back(0.7, false), None);
    }
}
