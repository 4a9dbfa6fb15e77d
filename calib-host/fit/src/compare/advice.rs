//! Which method to take, and what a demand takes that none meets.

use serde::Serialize;

use super::compared::{CompareOptions, ComparedMethod};
use super::data::{Claim, CompareData};
use crate::artifact::number_of;
use crate::assess::FEWEST_EVENTS;
use crate::guarantee::{ClassPlan, Plan};
use crate::stats::thousands;

/// The name of the method to take, if one is, with the reason.
pub(super) struct Advice {
    pub(super) recommendation: Option<String>,
    pub(super) reason: String,
    pub(super) unmet: Option<Unmet>,
}

impl Advice {
    /// Rows of which so few have the rarer outcome do not tell which method is better.
    pub(super) fn of_few_events(events: u64, rows: usize) -> Self {
        let have = if events == 1 { "has" } else { "have" };
        let reason = format!(
            "{events} of {} {have} the rarer outcome, and intervals and a recommendation need at least {FEWEST_EVENTS}",
            number_of(rows as u64, "row")
        );
        Self { recommendation: None, reason, unmet: None }
    }
}

/// What an epsilon takes that no method that was compared guarantees.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unmet {
    /// The epsilon that was asked for.
    pub epsilon: f64,
    /// The method to take without that demand, by the same rule; `None` to leave the scores uncalibrated.
    pub without: Option<String>,
    /// The fewest points, or clusters, with which two bins of `umd` have it, or of several classes one bin in all, at the alpha of
    /// this comparison.
    pub points: Option<u64>,
    /// The most bins of `umd` that have it with the points at hand; `None` of several classes, and where it is not even two.
    pub bins: Option<u64>,
    /// The fewest points per bin that have it with the points of all classes at hand; `None` of binary scores, and where it is
    /// out of reach.
    pub rows_per_bin: Option<u64>,
}

/// The default of a fit: of one score, and of vectors of floats; of those in other forms the other one.
const BY_ITSELF: [&str; 2] = ["blend", "top-label/blend"];

/// Chooses among methods in the order of their losses: of those that are at most one standard error of the paired
/// difference behind the best (Breiman et al. 1984, section 3.4.3, for paired losses), and are significantly better than the unchanged scores,
/// the default of a fit, or else the one with the fewest instructions.
pub(super) fn advise(
    ranked: &[ComparedMethod],
    points: &CompareData,
    candidates: u32,
    options: &CompareOptions,
) -> Advice {
    if ranked.is_empty() {
        return Advice { recommendation: None, reason: "no method could be fitted".into(), unmet: None };
    }
    let will_do: Vec<&ComparedMethod> = ranked.iter().filter(|method| method.will_do()).collect();
    if let (Some(epsilon), true) = (options.epsilon, will_do.is_empty()) {
        let (without, of_that) = choose(&ranked.iter().collect::<Vec<_>>(), options.score.figure(), "");
        let unmet = Unmet { without, ..Unmet::new(epsilon, points, candidates, options.alpha) };
        return Advice { recommendation: None, reason: unmet.reason(points, &of_that), unmet: Some(unmet) };
    }
    let among = if options.epsilon.is_some() { " of those whose guarantee is narrow enough" } else { "" };
    let (recommendation, reason) = choose(&will_do, options.score.figure(), among);
    Advice { recommendation, reason, unmet: None }
}

/// The method to take of those that are not behind the first, if that is better than nothing, and why. `among` says what these have in common.
fn choose(ranked: &[&ComparedMethod], score: &str, among: &str) -> (Option<String>, String) {
    let best = ranked[0];
    if !best.is_better() {
        let change = change(best, score);
        return (
            None,
            format!(
                "not even {}, the best of the acceptable methods, is significantly better than the unchanged scores: {change}",
                best.name
            ),
        );
    }
    let is_near = |method: &ComparedMethod| method.behind_best.value <= method.behind_best.standard_error;
    let near: Vec<&ComparedMethod> =
        ranked.iter().copied().filter(|method| method.is_better() && is_near(method)).collect();
    let default = BY_ITSELF.iter().find(|name| ranked.iter().any(|method| method.name == **name));
    let by_itself = near.iter().copied().find(|method| Some(&&*method.name) == default);
    // The first of equals has the lowest loss.
    let order = |method: &ComparedMethod| (method.instructions().unwrap_or(u64::MAX), method.len_bytes);
    let cheapest = || near.iter().copied().min_by_key(|method| order(method)).unwrap_or(best);
    let taken = by_itself.unwrap_or_else(cheapest);
    let change = change(taken, score);
    let name = Some(taken.name.clone());
    if taken.name == best.name {
        return (name, format!("it has the lowest {score}{among}, and {change}"));
    }
    let how = match (by_itself, taken.instructions()) {
        (Some(_), _) => "it is the default of a fit, and one of".into(),
        (None, Some(instructions)) => {
            let instructions = thousands(instructions);
            format!("with {instructions} instructions on a Cortex-M0 it is the cheapest of")
        }
        (None, None) => format!("at {} bytes it is the smallest of", thousands(taken.len_bytes)),
    };
    let reason = format!(
        "{how} {} that are within one standard error of the lowest {score}{among} ({}; the difference is {:.6} with a standard error \
         of {:.6}), and {change}",
        near.len(),
        best.name,
        taken.behind_best.value,
        taken.behind_best.standard_error
    );
    (name, reason)
}

fn change(method: &ComparedMethod, score: &str) -> String {
    let interval = method.change.interval.map_or(String::new(), |i| format!(" [{:+.6}, {:+.6}]", i.lo, i.hi));
    format!("{score} changes by {:+.6}{interval}", method.change.value)
}

impl Unmet {
    fn new(epsilon: f64, points: &CompareData, candidates: u32, alpha: f64) -> Self {
        let unknown = Self { epsilon, without: None, points: None, bins: None, rows_per_bin: None };
        let (n, alpha) = (points.units() as u64, alpha / f64::from(candidates));
        match points.claim() {
            None => Self {
                points: Plan::fewest_points(FEWEST_BINS, alpha, epsilon).map(|plan| plan.n),
                bins: Plan::most_bins(n, alpha, epsilon).map(|plan| plan.bins).filter(|&b| b >= FEWEST_BINS),
                ..unknown
            },
            Some(claim) => {
                let among = if claim == Claim::AllClasses { points.classes() as u64 } else { 1 };
                let per_bin = ClassPlan::fewest_rows_per_bin(n, alpha, among, epsilon);
                Self {
                    points: ClassPlan::fewest_points(alpha, among, epsilon).map(|plan| plan.n),
                    rows_per_bin: per_bin.map(|plan| plan.rows_per_bin),
                    ..unknown
                }
            }
        }
    }

    fn reason(&self, points: &CompareData, of_that: &str) -> String {
        let units = if points.has_clusters() { "clusters" } else { "observations" };
        let (epsilon, n) = (self.epsilon, thousands(points.units()));
        let takes = match (self.bins, self.rows_per_bin, self.points) {
            (Some(bins), ..) => {
                format!("{n} {units} reach it with at most {} of umd", number_of(bins, "bin"))
            }
            (_, Some(per_bin), _) => {
                format!("{n} {units} reach it with at least {} per bin", thousands(per_bin))
            }
            (_, _, Some(needed)) if points.claim().is_none() => {
                format!("{FEWEST_BINS} bins of umd need {} {units}, and there are {n}", thousands(needed))
            }
            (_, _, Some(needed)) => {
                format!("one bin in all needs {} {units}, and there are {n}", thousands(needed))
            }
            _ => "no number of observations that can be counted reaches it".into(),
        };
        let without = match &self.without {
            Some(name) => format!("without that requirement use {name}: {of_that}"),
            None => format!("without that requirement leave the scores unchanged: {of_that}"),
        };
        format!("no method guarantees an epsilon of {epsilon}; {takes}; {without}")
    }
}

/// One bin would be one probability for all scores.
const FEWEST_BINS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{StoredArtifact, artifact_bytes, device_costs};
    use crate::assess::{Bootstrap, EstimateWithInterval, IntervalKind, ProperScore};
    use crate::binary::{BinaryMethod, ScalingMethod, Umd};
    use crate::compare::{PairedDifference, Split};
    use crate::data::BinaryData;
    use crate::fit::fit_binary;
    use crate::stats::Interval;

    /// A method that is so far behind the best, with an error of .001, and changes the loss by at most `hi`.
    fn method(name: &str, len_bytes: usize, behind: f64, hi: f64, epsilon: Option<f64>) -> ComparedMethod {
        let change = EstimateWithInterval { value: hi - 0.1, interval: Some(Interval { lo: hi - 0.2, hi }) };
        ComparedMethod {
            name: name.into(),
            parameters: String::new(),
            log_loss_clipped: None,
            uncalibrated_tables: 0,
            loss: change,
            change,
            behind_best: PairedDifference { value: behind, standard_error: 0.001 },
            epsilon,
            meets_epsilon: None,
            len_bytes,
            cost: None,
        }
    }

    fn advice(mut ranked: Vec<ComparedMethod>, epsilon: Option<f64>) -> Advice {
        for method in &mut ranked {
            method.meets_epsilon =
                epsilon.map(|wanted| method.epsilon.is_some_and(|epsilon| epsilon <= wanted));
        }
        let points = CompareData::binary((0..1000).map(|i| (f64::from(i) / 1000.0, i % 2 == 0)), None);
        let bootstrap = Bootstrap { kind: IntervalKind::Percentile, resamples: 1, seed: 1, alpha: 0.05 };
        let split = Split::CrossValidation { folds: 2, repeats: 1 };
        let options = CompareOptions { split, score: ProperScore::Brier, alpha: 0.1, epsilon, bootstrap };
        advise(&ranked, &points, 2, &options)
    }

    fn ranked() -> Vec<ComparedMethod> {
        vec![
            method("venn-abers", 6588, 0.0, -0.01, None),
            method("isotonic", 672, 0.0009, -0.01, None),
            // Smaller, but no better than the scores.
            method("temperature", 200, 0.0009, 0.01, None),
            // Smaller, but behind.
            method("umd", 300, 0.0011, -0.01, Some(0.05)),
        ]
    }

    #[test]
    fn the_smallest_within_a_standard_error_that_is_surely_better_is_taken() {
        let got = advice(ranked(), None);
        assert_eq!((got.recommendation.as_deref(), got.unmet), (Some("isotonic"), None));
        assert!(
            got.reason.starts_with("at 672 bytes it is the smallest of 2 that are within one"),
            "{}",
            got.reason
        );
        assert!(got.reason.contains("(venn-abers; the difference is 0.000900"), "{}", got.reason);
        let got = advice(ranked()[..1].to_vec(), None);
        assert!(got.reason.starts_with("it has the lowest brier, and"), "{}", got.reason);
        // Where the best is not surely better, nothing smaller is.
        let worthless = vec![method("a", 9, 0.0, 0.01, None), method("b", 8, 0.0, -0.01, None)];
        assert_eq!(advice(worthless, None).recommendation, None);
    }

    #[test]
    fn the_default_comes_before_what_is_cheaper_if_it_is_as_good() {
        let with = |behind: f64| {
            let mut ranked = ranked();
            ranked.insert(1, method("blend", 1500, behind, -0.01, None));
            advice(ranked, None)
        };
        let got = with(0.0005);
        assert_eq!(got.recommendation.as_deref(), Some("blend"));
        assert!(got.reason.starts_with("it is the default of a fit, and one of 3 that"), "{}", got.reason);
        assert_eq!(with(0.0011).recommendation.as_deref(), Some("isotonic"));
        // Fewer instructions come before fewer bytes.
        let fitted = |method: BinaryMethod| {
            let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
            let data = BinaryData::new(scores, (0..400).map(|i| i % 3 == 0 || i > 300).collect())
                .unwrap()
                .on_device();
            let bytes =
                artifact_bytes(&fit_binary(&data, &method, 0.1).unwrap(), &Default::default()).unwrap();
            device_costs(&StoredArtifact::from_bytes(&bytes).unwrap().artifact()).into_iter().next()
        };
        let mut ranked = ranked();
        ranked[1].cost = fitted(BinaryMethod::Umd(Umd::new(15)));
        ranked.push(method("beta", 100, 0.0002, -0.01, None));
        ranked[4].cost = fitted(BinaryMethod::Scaling(ScalingMethod::Beta));
        let got = advice(ranked, None);
        assert_eq!(got.recommendation.as_deref(), Some("isotonic"));
        assert!(
            got.reason.contains(" instructions on a Cortex-M0 it is the cheapest of 3 that"),
            "{}",
            got.reason
        );
    }

    #[test]
    fn a_demand_is_met_by_those_that_meet_it() {
        let got = advice(ranked(), Some(0.05));
        assert_eq!((got.recommendation.as_deref(), got.unmet), (Some("umd"), None));
    }

    #[test]
    fn what_an_unmet_demand_takes_is_said_with_the_best_without_it() {
        let got = advice(ranked(), Some(0.01));
        let unmet = got.unmet.unwrap();
        assert_eq!((got.recommendation, unmet.without.as_deref()), (None, Some("isotonic")));
        let needed = unmet.points.unwrap();
        // Two candidates share alpha.
        assert!(Plan::new(needed, 2, 0.05).unwrap().epsilon <= 0.01);
        assert!(Plan::new(needed - 2, 2, 0.05).unwrap().epsilon > 0.01);
        let needs = format!("2 bins of umd need {} observations, and there are 1,000", thousands(needed));
        assert!(got.reason.contains(&needs), "{}", got.reason);
        assert!(got.reason.contains("without that requirement use isotonic: at 672 bytes"), "{}", got.reason);
        // Fewer bins than those compared would do.
        let unmet = advice(ranked()[..3].to_vec(), Some(0.1)).unmet.unwrap();
        let bins = unmet.bins.unwrap();
        assert!(Plan::new(1000, bins, 0.05).unwrap().epsilon <= 0.1);
        assert!(Plan::new(1000, bins + 1, 0.05).unwrap().epsilon > 0.1);
    }
}
