//! What an artifact guarantees, in plain sentences.

use std::fmt;

use calib_core::artifact::{Band, Guarantee, HeaderFlags, Method, Rate, Reduction, ScoreIntervals, Theorem};
use calib_core::{Artifact, BinFlags, Margin};

use super::points::{OF_COUNTED_OUTCOMES, cluster_rows, counting_devices, points, size_in_words};
use super::sample::SampleFacts;
use super::stored::StoredArtifact;
use crate::fit::{grouped_table_name, parameter_of, table_name};
use crate::guarantee::{Plan, gr21_theorem3_smallest_n};
use crate::stats::{percent_of_success, shown_bound, thousands};

/// Above this, a guarantee is called wide.
const USEFUL_EPSILON: f64 = 0.1;

/// What an artifact guarantees, under which assumptions, and what it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuaranteeText {
    /// What is guaranteed, and for which bins and classes nothing is; if for none, why.
    pub statement: String,
    /// The same without the theorem, and without intervals and a band beside another guarantee.
    pub brief: String,
    /// What has to be so for that to hold; none if nothing is guaranteed.
    pub assumptions: Vec<Condition>,
    /// What the statement does not say, although it may be read so.
    pub limits: Vec<Condition>,
}

/// An assumption or a limit, in two lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Condition {
    /// For a line of a list, without a full stop; empty if it is about what the brief statement leaves out, or about no guarantee.
    pub short: String,
    /// A sentence, or several.
    pub full: String,
}

impl Condition {
    fn new(short: impl Into<String>, full: impl Into<String>) -> Self {
        Self { short: short.into(), full: full.into() }
    }

    fn only_in_full(full: impl Into<String>) -> Self {
        Self::new("", full)
    }
}

impl GuaranteeText {
    /// The assumptions in full.
    pub fn full_assumptions(&self) -> Vec<&str> {
        self.assumptions.iter().map(|assumption| &*assumption.full).collect()
    }

    /// The limits in full.
    pub fn full_limits(&self) -> Vec<&str> {
        self.limits.iter().map(|limit| &*limit.full).collect()
    }

    /// The statement, then the assumptions and the limits in full as lists: a line each, without what ends it.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.statement.clone()];
        for (title, list) in self.lists() {
            lines.push(format!("{title}:"));
            lines.extend(list.iter().map(|condition| format!("- {}", condition.full)));
        }
        lines
    }

    /// The brief statement, then the assumptions and the limits in short, each under its title.
    pub fn short_lines(&self) -> Vec<(&'static str, String)> {
        let lists = self.lists().map(|(title, list)| {
            let short = list.iter().map(|condition| &*condition.short).filter(|short| !short.is_empty());
            (title, format!("{}.", short.collect::<Vec<_>>().join("; ")))
        });
        std::iter::once((GUARANTEE, self.brief.clone())).chain(lists).collect()
    }

    /// The same, or all of it: every assumption and limit in full, the title beside the first of each.
    pub fn labeled(&self, is_full: bool) -> Vec<(&'static str, String)> {
        if !is_full {
            return self.short_lines();
        }
        let list = |title: &'static str, list: Vec<&str>| {
            let title = move |at| if at == 0 { title } else { "" };
            let lines = list.into_iter().enumerate().map(|(at, text)| (title(at), format!("- {text}")));
            lines.collect::<Vec<_>>()
        };
        let lists = [list(ASSUMPTIONS, self.full_assumptions()), list(LIMITS, self.full_limits())].concat();
        std::iter::once((GUARANTEE, self.statement.clone())).chain(lists).collect()
    }

    /// What is not empty, under its title.
    fn lists(&self) -> impl Iterator<Item = (&'static str, &[Condition])> {
        let lists = [(ASSUMPTIONS, &self.assumptions[..]), (LIMITS, &self.limits)];
        lists.into_iter().filter(|(_, list)| !list.is_empty())
    }
}

/// What stands above the brief statement.
const GUARANTEE: &str = "Guarantee";

/// What stands above the assumptions.
pub const ASSUMPTIONS: &str = "Requires";

/// What stands above the limits.
pub const LIMITS: &str = "Limits";

/// Everything, in full.
impl fmt::Display for GuaranteeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("\n"))
    }
}

/// States what an artifact guarantees, under which assumptions, and for which bins and classes nothing is guaranteed; if
/// for none, why.
///
/// ```
/// use calib_fit::{BinaryData, BinaryMethod, Isotonic, StoredArtifact, artifact_bytes, fit_binary, guarantee_text};
///
/// let data = BinaryData::new(vec![0.25, 0.75], vec![false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
/// let guarantee = guarantee_text(&stored);
/// assert_eq!(guarantee.statement, "Nothing is guaranteed: isotonic has no distribution-free guarantee.");
/// assert!(guarantee.assumptions.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn guarantee_text(stored: &StoredArtifact) -> GuaranteeText {
    let artifact = &stored.artifact();
    let header = artifact.header();
    let sample = stored.sample();
    let guarantee = header.guarantee.filter(|guarantee| guarantee.epsilon < 1.0);
    let (statement, mut brief, assumptions, limits) = match guarantee {
        Some(guarantee) => {
            let [statement, brief] = guaranteed(artifact, guarantee);
            (statement, brief, assumptions(artifact, guarantee, sample), limits(artifact, guarantee))
        }
        None => (why_nothing(artifact), why_nothing(artifact), Vec::new(), Vec::new()),
    };
    let (statement, assumptions, mut limits) = match (artifact.score_intervals(), guarantee) {
        (None, _) => (statement, assumptions, limits),
        (Some(found), None) => {
            let uncalibrated = uncalibrated(artifact).unwrap_or_default();
            let only = " Nothing is guaranteed of the probability itself.";
            let statement = statement_of_ranges(artifact, found) + only + &uncalibrated;
            brief.clone_from(&statement);
            (statement, assumptions_of_ranges(artifact, found, sample), limits_at(artifact, found.alpha()))
        }
        (Some(found), Some(_)) => {
            (statement + " " + &statement_of_ranges(artifact, found), assumptions, limits)
        }
    };
    let (statement, mut assumptions, mut limits) = match artifact.band() {
        None => (statement, assumptions, limits),
        Some(band) if guarantee.is_none() && artifact.score_intervals().is_none() => {
            let only = " Nothing is guaranteed of the probability itself.";
            let assumptions = vec![independent(artifact), fixed_classifier(), same_distribution(artifact)];
            let mut limits = limits_at(artifact, band.alpha());
            limits.retain(|limit| *limit != of_averages());
            brief = statement_of_band(band) + only;
            (brief.clone(), assumptions, limits)
        }
        Some(band) => {
            let other = guarantee.map(|guarantee| guarantee.alpha);
            let other = other.or(artifact.score_intervals().map(|found| found.alpha())).unwrap_or_default();
            limits.push(both_hold(band.alpha(), other));
            (statement + " " + &statement_of_band(band), assumptions, limits)
        }
    };
    if artifact.band().is_some() {
        assumptions.push(monotone(guarantee.is_none() && artifact.score_intervals().is_none()));
    }
    if artifact.is_randomized() {
        limits.push(Condition::new(
            "two patients with the same score may get different answers, and so may the same patient twice",
            "Two patients with the same score may get different answers, and so may the same patient twice: equal scores are \
             assigned to bins at random.",
        ));
    }
    if let Some(SampleFacts { pure_bins: pure @ 1.., fewest_in_pure: fewest, .. }) = sample {
        limits.push(extremes(header.method, pure, fewest));
    }
    GuaranteeText { statement, brief, assumptions, limits }
}

/// The statement where something is guaranteed, with the theorem, and in brief.
fn guaranteed(artifact: &Artifact<'_>, guarantee: Guarantee) -> [String; 2] {
    let header = artifact.header();
    let among = match candidates(artifact) {
        1 => String::new(),
        candidates => format!(", at alpha / {candidates} for each of {candidates} candidates"),
    };
    let within = |drawn: &str| {
        format!(
            "With at least {}% probability over the draw of the {drawn}, every bin's probability is within {} of the event rate{}{}",
            percent_of_success(guarantee.alpha),
            // What is smaller has no digits to show.
            shown_bound(4, f64::from(guarantee.epsilon).max(1e-7)),
            meant(header.reduction),
            if cluster_rows(artifact).is_some() { " in a random row of a random cluster" } else { "" },
        )
    };
    let mut text = String::new();
    if has_empty_bins(artifact) {
        text += " Scores in bins without calibration observations are uncalibrated.";
    }
    let tables = artifact.tables();
    let each = || (0..tables.count()).map(|table| (table, tables.get(table)));
    // What is guaranteed of the others is not for a table whose equal scores straddle a boundary.
    let tied: Vec<usize> = each()
        .filter(|(_, table)| table.is_some_and(|table| table.epsilon.is_none()))
        .map(|(i, _)| i)
        .collect();
    if !tied.is_empty() {
        let names = names(artifact, &tied);
        text += &format!(
            " Nothing is guaranteed for {names}: equal scores straddle a bin boundary. {CONSERVATIVE}"
        );
    }
    text += &uncalibrated(artifact).unwrap_or_default();
    let of_intervals = match guarantee.theorem {
        Theorem::ClopperPearson if artifact.tables().has_intervals() => {
            " The event rate of every bin lies in the bin's interval."
        }
        _ => "",
    };
    let theorem = guarantee.theorem;
    let observations = points(artifact);
    let are_rows = cluster_rows(artifact).is_none() && counting_devices(artifact).is_none();
    let in_brief = within(if are_rows { "calibration set" } else { &observations });
    [
        format!("{} ({theorem}{among}).{of_intervals}{text}", within(&observations)),
        format!("{in_brief}.{text}"),
    ]
}

/// For which tables nothing is guaranteed because they are uncalibrated.
fn uncalibrated(artifact: &Artifact<'_>) -> Option<String> {
    let tables = artifact.tables();
    if artifact.header().reduction == Reduction::Joint {
        let found = artifact.score_intervals()?;
        let unseen: Vec<usize> = (0..found.count()).filter(|&class| found.table(class).is_none()).collect();
        let names = (!unseen.is_empty()).then(|| names(artifact, &unseen))?;
        return Some(format!(
            " Nothing is guaranteed where {names} has the highest score: no calibration row is like that."
        ));
    }
    let uncalibrated: Vec<usize> = (0..tables.count()).filter(|&table| tables.get(table).is_none()).collect();
    let are = if uncalibrated.len() == 1 { "is" } else { "are" };
    let names = (!uncalibrated.is_empty()).then(|| names(artifact, &uncalibrated))?;
    Some(format!(" Nothing is guaranteed for {names}, which {are} uncalibrated."))
}

/// What is to be said where one tie voids the guarantee of a table.
const CONSERVATIVE: &str = "That is cautious: bins without such scores may well be as good, but the theorem is about the \
     whole table.";

/// What has to be so for a guarantee to hold.
fn assumptions(artifact: &Artifact<'_>, guarantee: Guarantee, sample: Option<SampleFacts>) -> Vec<Condition> {
    let (fixed, in_full) = match candidates(artifact) {
        1 => (
            "classifier, method and bins chosen without these labels".to_owned(),
            "The classifier was trained and selected without these labels. Its threshold, the method and the number of bins were also \
             chosen without them. If you chose the best of M by these labels, the valid epsilon is the one for alpha / M."
                .to_owned(),
        ),
        candidates => (
            format!(
                "a classifier trained and selected without these labels; method and bins chosen from {candidates} predefined candidates \
                 (epsilon accounts for this)"
            ),
            format!(
                "The classifier was trained and selected without these labels, and so was its threshold. Method and number of bins were \
                 chosen by these labels from at most {candidates} candidates, which were fixed in advance."
            ),
        ),
    };
    let mut all = vec![independent(artifact), Condition::new(fixed, in_full), same_distribution(artifact)];
    if counting_devices(artifact).is_some() {
        all.extend(OF_COUNTED_OUTCOMES.map(|[short, full]| Condition::new(short, full)));
    }
    match guarantee.theorem {
        Theorem::Gr21Theorem4 => all.push(Condition::new(
            "a fresh random word for each look-up on the device",
            "The device gets a fresh random word for each look-up, uniform and independent of the score.",
        )),
        Theorem::SampleSplit => {}
        Theorem::ClopperPearson => all.extend(ties_at_edges(artifact)),
        _ => all.push(repeated_scores(sample)),
    }
    all
}

/// What intervals of ranges of the score guarantee.
fn statement_of_ranges(artifact: &Artifact<'_>, found: ScoreIntervals<'_>) -> String {
    let as_before = match found.rate() {
        Rate::OfRange => "",
        _ => ", for scores distributed within the range as in the calibration set (some tie at the edges)",
    };
    let event = match artifact.header().reduction {
        Reduction::Binary => "",
        Reduction::ClassWise => " The event is that the class is right, for each class separately.",
        Reduction::TopKLabel { .. } | Reduction::TopKConfidence { .. } => {
            " The event is that the class with the rank is right."
        }
        Reduction::Joint => " The event is that the class with the highest score is right.",
        _ => " The event is that the predicted class is right.",
    };
    let of_clusters =
        if cluster_rows(artifact).is_some() { " A new row is a random row of a random cluster." } else { "" };
    format!(
        "With at least {}% probability over the draw of the calibration set, the event rate of every score range lies in its interval\
         {as_before}.{event}{of_clusters}",
        percent_of_success(found.alpha()),
    )
}

/// What a band guarantees.
fn statement_of_band(band: Band<'_>) -> String {
    format!(
        "With at least {}% probability over the labels of the calibration set, the probability of an event lies in the band \
         for every score simultaneously. This holds if a higher score never means a lower probability.",
        percent_of_success(band.alpha()),
    )
}

/// What only a band assumes; in short, if it is the only guarantee.
fn monotone(is_only: bool) -> Condition {
    Condition::new(
        if is_only { "a higher score never means a lower probability" } else { "" },
        "For the band: a higher score never means a lower probability of an event. Labels can contradict this, but not confirm it. If the \
         probability may fall by 0.05 from a score to a higher one, the band is 0.05 wider on each side.",
    )
}

/// The assumption about the classifier where nothing else is chosen.
fn fixed_classifier() -> Condition {
    Condition::new(
        "a classifier trained and selected without these labels",
        "The classifier was trained and selected without these labels. The method may be chosen by them: the band depends on no method.",
    )
}

/// What has to be so for that to hold. Method and number of bins may be chosen by the labels: the ranges depend on the scores alone.
fn assumptions_of_ranges(
    artifact: &Artifact<'_>,
    found: ScoreIntervals<'_>,
    sample: Option<SampleFacts>,
) -> Vec<Condition> {
    let fixed = Condition::new(
        "a classifier trained and selected without these labels",
        "The classifier was trained and selected without these labels. The method may be chosen by them: the ranges depend on the scores only.",
    );
    let mut all = vec![independent(artifact), fixed, same_distribution(artifact)];
    if found.rate() == Rate::OfRange {
        all.push(repeated_scores(sample));
    }
    all
}

/// The assumption that rows do not depend on each other.
fn independent(artifact: &Artifact<'_>) -> Condition {
    match cluster_rows(artifact) {
        None => Condition::new(
            "independent rows (one per patient)",
            "The calibration observations are independent: one per patient, or one per other independent unit. Several recordings, \
             frames or visits of one patient are not.",
        ),
        Some(_) => Condition::new(
            "independent clusters, one row drawn from each: a new row is a random row of a random cluster",
            "The clusters are independent, one per patient or other independent unit, and one row of each was drawn. A new row is \
             a random one of a random cluster.",
        ),
    }
}

/// The assumption about where new data come from: at the prevalence of the calibration points, or the one that the artifact was
/// adjusted to.
fn same_distribution(artifact: &Artifact<'_>) -> Condition {
    match parameter(artifact, "prevalence") {
        None => Condition::new(
            "new data: same distribution and prevalence",
            "New data come from the same distribution as the calibration set, at the same prevalence. Other patients, sensors or classifiers \
             are another distribution, and so is a sample with as many cases as controls.",
        ),
        Some(prevalence) => Condition::new(
            format!(
                "new data with a prevalence of {prevalence} and nothing else new: the scores of positives and of negatives are distributed \
                 as before"
            ),
            format!(
                "New data have a prevalence of {prevalence}. The scores of positives and of negatives are distributed as in the \
                 calibration set (label shift). Other patients, sensors or classifiers, or a disease at another stage, are another \
                 distribution."
            ),
        ),
    }
}

/// What is assumed of scores at the edges of bins, if exact intervals hold: nothing if the edges were fixed in advance.
fn ties_at_edges(artifact: &Artifact<'_>) -> Option<Condition> {
    let of_scores = artifact.header().method == Method::Umd && counting_devices(artifact).is_none();
    of_scores.then(|| match has_ties(artifact) {
        true => Condition::new(
            "new scores distributed within each bin as in the calibration set (equal scores lie at an edge)",
            "Equal scores lie at an edge of a bin. The event rate of a bin is then the average over the scores that the calibration set \
             has there: new scores are distributed within the bin as these are.",
        ),
        false => Condition::new(
            "no ties across an edge (checked)",
            "No equal scores lie on both sides of an edge of a bin. This was checked in the calibration set.",
        ),
    })
}

/// The assumption that scores have a continuous distribution, with what was seen of it.
fn repeated_scores(sample: Option<SampleFacts>) -> Condition {
    let percent =
        |share: f32| format!("{:.*}%", if share > 0.0 && share < 0.01 { 2 } else { 1 }, 100.0 * share);
    match sample.filter(|sample| !sample.tied.is_nan()) {
        Some(SampleFacts { tied: 0.0, .. }) => Condition::new(
            "few equal scores (here none)",
            "Scores have a continuous distribution: equal scores are rare. No two calibration observations have equal scores.",
        ),
        Some(SampleFacts { tied, heaviest, .. }) => {
            let seen = format!(
                "{} of the calibration observations share a score, {} the most frequent one",
                percent(tied),
                percent(heaviest)
            );
            Condition::new(
                format!("few equal scores (here {})", percent(tied)),
                format!("Scores have a continuous distribution: equal scores are rare. {seen}."),
            )
        }
        None => Condition::new(
            "few equal scores",
            "Scores have a continuous distribution: equal scores are rare.",
        ),
    }
}

/// What a guarantee with this alpha does not say.
fn limits_at(artifact: &Artifact<'_>, alpha: f32) -> Vec<Condition> {
    let percent = in_decimals(100.0 * as_written(alpha));
    let (spent, spent_in_full) = match parameter(artifact, "alpha-spent").filter(|&spent| spent > 0.0) {
        None => (
            "each recalibration adds the same risk".to_owned(),
            "Each recalibration adds the same risk.".to_owned(),
        ),
        Some(spent) => {
            let all = in_decimals((spent + as_written(alpha)).min(1.0));
            (
                format!(
                    "with the earlier calibrations in the field ({spent}), one of them fails with probability at most {all}"
                ),
                format!(
                    "Earlier calibrations in the field used a probability of {spent}: the probability that the guarantee of any of \
                     them, or this one, fails is at most {all}."
                ),
            )
        }
    };
    let known = [
        Condition::only_in_full(
            "Event rates are those of the labels as recorded, among patients like those of the calibration set. An imperfect reference \
             standard, or labels for only some patients, shift them by an unknown amount.",
        ),
        of_averages(),
        Condition::new(
            format!("fails with probability at most {percent}%, and {spent}"),
            format!(
                "The guarantee fails with probability at most {percent}%. The draw of the calibration set decides this once, not \
                 separately for every patient. {spent_in_full}"
            ),
        ),
    ];
    unseen_scores(artifact).into_iter().chain(known).collect()
}

/// What is said of bins is no more than that.
fn of_averages() -> Condition {
    Condition::new(
        "averages over a bin or range, not a part of it, a subgroup or a single patient",
        "The guarantee is about the average over all patients with scores in a bin or score range. It does not cover a part of the bin \
         or a subgroup: the error for one sex, site or scanner can be of any size.",
    )
}

/// With which probability the band and what else is guaranteed hold simultaneously.
fn both_hold(band: f32, other: f32) -> Condition {
    let both = in_decimals(100.0 * (1.0 - as_written(band) - as_written(other)).max(0.0));
    Condition::only_in_full(format!(
        "The band holds with its own probability. The band and the other guarantee hold simultaneously with at least {both}% probability."
    ))
}

/// What a guarantee of every bin does not say.
fn limits(artifact: &Artifact<'_>, guarantee: Guarantee) -> Vec<Condition> {
    let mut all = limits_at(artifact, guarantee.alpha);
    // An exact epsilon is the farthest end of an interval: it holds whenever the intervals do.
    if artifact.tables().has_intervals() && guarantee.theorem != Theorem::ClopperPearson {
        let one = percent_of_success(guarantee.alpha);
        let both = in_decimals(100.0 * (1.0 - 2.0 * as_written(guarantee.alpha)).max(0.0));
        all.push(Condition::only_in_full(format!(
            "The exact intervals hold with at least {one}% probability, as epsilon does. Both hold simultaneously with at least {both}% \
             probability."
        )));
    }
    all
}

/// What is to be said of scores beyond those of the calibration points; nothing if those span all probabilities.
fn unseen_scores(artifact: &Artifact<'_>) -> Option<Condition> {
    let tables = artifact.tables();
    if artifact.header().reduction == Reduction::Joint {
        return None;
    }
    let has_ranges = (0..tables.count()).any(|table| tables.score_range(table).is_some());
    let is_float = !artifact.header().encoding.is_quantized();
    let is_margin = artifact.header().encoding.is_margin();
    let ends =
        tables.score_range(0).filter(|_| tables.count() == 1 && is_float).map(|ends| match is_margin {
            true => ends.map(|key| Margin::from_key(key).unwrap_or_default().get()),
            false => ends.map(f32::from_bits),
        });
    if !is_margin && ends == Some([0.0, 1.0]) {
        return None;
    }
    let beyond = ends.map_or("out of the range of the table".to_owned(), |[lowest, highest]| {
        format!("below {} or above {}", short(lowest), short(highest))
    });
    // Outcomes are known of bins, and the range is that of the scores that the edges come from.
    let of_what = if counting_devices(artifact).is_some() {
        "score that the bins were made from"
    } else {
        "calibration score"
    };
    let flagged = if has_ranges { " The device flags results there as out of range." } else { "" };
    Some(Condition::only_in_full(format!(
        "No {of_what} was {beyond}.{flagged} What is stated for the outermost bins also applies to such scores."
    )))
}

/// What is to be said of bins, or of a smooth function's steps, whose value is exactly 0 or 1.
fn extremes(method: Method, bins: u32, fewest: Option<u32>) -> Condition {
    let (has, value) = if bins == 1 { ("has", "value") } else { ("have", "values") };
    let bins = size_in_words(method, bins as usize).unwrap_or_default();
    let from = match fewest {
        None => String::new(),
        Some(1) => ", from as few as 1 observation".into(),
        Some(fewest) => format!(", from as few as {} observations", thousands(fewest)),
    };
    let short = format!(
        "{bins} {has} the {value} 0 or 1{from}: this does not show that the other outcome never happens"
    );
    Condition::new(&*short, format!("{short}."))
}

/// A number of the fit's parameters.
fn parameter(artifact: &Artifact<'_>, name: &str) -> Option<f64> {
    parameter_of(artifact.header().provenance.parameters, name)?.parse().ok()
}

/// Among how many candidates method and bins were chosen by the labels, as the artifact's parameters say: its epsilon is for alpha
/// divided by so many.
pub fn candidates(artifact: &Artifact<'_>) -> u64 {
    parameter(artifact, "candidates").map_or(1, |candidates| candidates as u64).max(1)
}

/// A number with up to ten decimals: a sum such as 0.1 + 0.2 does not show its rounding.
fn in_decimals(number: f64) -> String {
    let text = format!("{number:.10}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A score or margin with the digits that give it back, those far from 1 with an exponent.
fn short(number: f32) -> String {
    match number.abs() {
        0.0 | 1e-5..1e7 => number.to_string(),
        _ => format!("{number:e}"),
    }
}

/// Says how many points a useful epsilon takes, if the artifact's is wide: exactly where the theorem gives the number,
/// otherwise how many times as many, as epsilon falls with the root of the number.
///
/// ```
/// use calib_fit::artifact::points_for_a_useful_epsilon;
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// // 400 points in 4 bins guarantee 0.15.
/// let advice = points_for_a_useful_epsilon(&stored.artifact()).expect("0.15 is wide");
/// assert!(advice.contains("observations"), "{advice}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn points_for_a_useful_epsilon(artifact: &Artifact<'_>) -> Option<String> {
    let header = artifact.header();
    let guarantee = header.guarantee?;
    let epsilon = f64::from(guarantee.epsilon);
    if epsilon <= USEFUL_EPSILON {
        return None;
    }
    let counts_points = match guarantee.theorem {
        Theorem::Gr21Theorem3 | Theorem::Gr21Theorem4 => true,
        Theorem::ClopperPearson => header.method == Method::Umd && !has_ties(artifact),
        _ => false,
    };
    let bins = header.bins;
    Some(if counts_points && header.reduction == Reduction::Binary {
        let alpha = as_written(guarantee.alpha) / candidates(artifact) as f64;
        let needed = match guarantee.theorem {
            Theorem::ClopperPearson => Plan::fewest_points(bins.into(), alpha, USEFUL_EPSILON)?.n,
            _ => gr21_theorem3_smallest_n(bins.into(), alpha, USEFUL_EPSILON),
        };
        format!(
            "That is wide: {bins} bins need {} observations for an epsilon of {USEFUL_EPSILON}; fewer bins need fewer.",
            thousands(needed)
        )
    } else {
        let times = (epsilon / USEFUL_EPSILON).powi(2);
        format!(
            "That is wide: an epsilon of {USEFUL_EPSILON} needs about {times:.1} times as many observations in the smallest bin, \
             or fewer bins."
        )
    })
}

/// Says why nothing is guaranteed.
fn why_nothing(artifact: &Artifact<'_>) -> String {
    let header = artifact.header();
    if let Some(guarantee) = header.guarantee {
        return format!(
            "There is no useful guarantee: epsilon is {:.4}, and values of 1 or more say nothing. More observations per bin, or fewer \
             bins, make it smaller.",
            guarantee.epsilon
        );
    }
    if header.flags.contains(HeaderFlags::WEIGHTED) {
        return "Nothing is guaranteed: the observations have real weights, and theorems count observations."
            .into();
    }
    if parameter(artifact, "estimated-prevalence").is_some() {
        return "Nothing is guaranteed: the prevalence was estimated from rows without labels, and no number of rows makes \
             this estimate certain."
            .into();
    }
    if header.method.has_no_calibrator() {
        return "Nothing is guaranteed of probabilities: there are none. Thresholds and sets state their guarantees themselves.".into();
    }
    // Before what would keep a guarantee otherwise.
    if let Some(classifiers) = parameter(artifact, "classifiers").filter(|_| has_theorem(header.method)) {
        return format!(
            "Nothing is guaranteed: the scores are from {classifiers} classifiers, and the theorems are about a single one. \
             Scores of the classifier that is kept have a guarantee if its training rows are left out."
        );
    }
    if header.reduction == Reduction::Normalized {
        return "Nothing is guaranteed: what holds for every class separately no longer applies after dividing by the sum; \
             class-wise keeps it."
            .into();
    }
    match header.method {
        Method::Umd | Method::UmdOriginal => {
            format!(
                "Nothing is guaranteed: equal scores straddle a bin boundary, and the theorem does not hold for them. \
                 {CONSERVATIVE} Exact intervals keep a guarantee, and so does umd with ties broken at random, but not over integer \
                 codes."
            )
        }
        Method::VennAbers => {
            "Nothing is guaranteed for a single probability: of p0 and p1, the one for the true label is calibrated; they are \
             not a confidence interval."
                .into()
        }
        Method::UmdRandomized => {
            "Nothing is guaranteed: the observations on the boundaries are kept, and the theorem for ties broken at random leaves \
             them out."
                .into()
        }
        method => format!("Nothing is guaranteed: {method} has no distribution-free guarantee."),
    }
}

/// Whether something is guaranteed of the method's bins, if its assumptions hold.
const fn has_theorem(method: Method) -> bool {
    matches!(
        method,
        Method::Umd | Method::UmdOriginal | Method::UmdRandomized | Method::Ums | Method::FixedWidth
    )
}

/// What a bin's probability is compared with.
fn meant(reduction: Reduction) -> &'static str {
    match reduction {
        Reduction::TopLabel => " of its class, when predicted with its scores",
        Reduction::Confidence => {
            " of predictions with its scores, all classes taken together (for a single class it may be off)"
        }
        Reduction::ClassWise => " of its class, at its scores",
        Reduction::TopKLabel { .. } => " of its class, when it has its rank with its scores",
        Reduction::TopKConfidence { .. } => {
            " of the classes with its rank and its scores, taken together (for a single class it may be off)"
        }
        _ => " of all rows with scores in the bin",
    }
}

/// Whether equal scores at an edge were kept in one bin.
fn has_ties(artifact: &Artifact<'_>) -> bool {
    artifact.header().flags.contains(HeaderFlags::TIES_MERGED)
}

/// Whether a bin of a table rests on no calibration point.
fn has_empty_bins(artifact: &Artifact<'_>) -> bool {
    let tables = artifact.tables();
    let bins = |table: usize| tables.get(table).map_or(0, |table| table.form.bins());
    let is_empty = |table: usize, bin: usize| tables.bin_flags(table, bin as u16).contains(BinFlags::EMPTY);
    (0..tables.count()).any(|table| (0..bins(table)).any(|bin| is_empty(table, bin)))
}

/// Returns what a table of an artifact is for, with its group if each group has separate tables.
pub fn table_label(artifact: &Artifact<'_>, table: usize) -> String {
    let header = artifact.header();
    let grouped = header.flags.contains(HeaderFlags::GROUPED);
    let groups: Vec<&str> =
        artifact.groups().filter(|_| grouped).map_or(Vec::new(), |groups| groups.names().collect());
    grouped_table_name(header.reduction, header.classes.into(), &groups, artifact.tables().count(), table)
}

/// The names of tables, the first few of them.
pub(crate) fn names(artifact: &Artifact<'_>, tables: &[usize]) -> String {
    const SHOWN: usize = 8;
    let header = artifact.header();
    let shown = tables.iter().take(SHOWN);
    let mut names = match header.reduction {
        _ if header.flags.contains(HeaderFlags::GROUPED) => {
            shown.map(|&table| table_label(artifact, table)).collect::<Vec<_>>().join("; ")
        }
        Reduction::TopLabel | Reduction::ClassWise | Reduction::Normalized | Reduction::Joint => {
            let classes = shown.map(usize::to_string).collect::<Vec<_>>().join(", ");
            format!("{} {classes}", if tables.len() == 1 { "class" } else { "classes" })
        }
        reduction => {
            let name = |&table: &usize| table_name(reduction, header.classes.into(), table);
            shown.map(name).collect::<Vec<_>>().join("; ")
        }
    };
    if tables.len() > SHOWN {
        names += &format!(" and {} more", tables.len() - SHOWN);
    }
    names
}

/// An `f32` as the decimal number that a person wrote.
fn as_written(value: f32) -> f64 {
    value.to_string().parse().expect("a printed number is a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_far_from_one_have_an_exponent() {
        for (number, shown) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.00001, "0.00001"),
            (2.099_882_9e-22, "2.0998829e-22"),
            (-3e38, "-3e38"),
        ] {
            assert_eq!(short(number), shown);
        }
    }

    #[test]
    fn a_percentage_shows_no_rounding() {
        for (alpha, percent) in [(0.1, "10"), (0.07, "7"), (0.29, "29"), (0.001, "0.1")] {
            assert_eq!(in_decimals(100.0 * as_written(alpha)), percent);
        }
    }
}
