//! `calib plan`

use std::io::Write;
use std::path::PathBuf;

use calib_core::StepTable;
use calib_fit::artifact::bins_in_words;
use calib_fit::guarantee::{ClassPlan, Plan};
use calib_io::draw::{Axis, Chart, Mark};
use calib_io::files::write_file;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::next::{Given, Suggestion};
use crate::options::{PlannedThresholds, ValidationArgs, count, parse_alpha, parse_number, parse_prevalence};
use crate::run::Run;

/// The numbers of bins for which points are told if there is but an epsilon.
const USUAL_BINS: [u64; 6] = [2, 5, 10, 15, 20, 30];
/// What `calib fit` chooses bins for.
const WIDE_EPSILON: f64 = 0.1;
/// One bin is one probability for all scores.
const FEWEST_BINS: u64 = 2;

/// What a table on the device holds.
const MAX_BINS: u64 = StepTable::MAX_BINS as u64;

/// Plan how many points, bins or rows are needed.
///
/// A calibration set: of points, bins, points per bin and epsilon, give two, and the others are answered.
///
/// --n and --epsilon give the most bins, --bins and --epsilon the fewest points, --points-per-bin and --epsilon the most
/// bins with that many points each. --n alone gives a table of epsilon over bins, --epsilon alone one of the points that it takes.
///
/// --sensitivity and --specificity give the points that a threshold takes (`calib threshold`).
///
/// With --reduction the points are those of all classes, and --points-per-bin is what `calib fit` takes: two of --n,
/// --points-per-bin and --epsilon answer the third.
#[derive(Args)]
pub(crate) struct PlanCommand {
    /// The number of calibration points.
    #[arg(long, value_name = "N", value_parser = count::<u64>(2..1 << 53), help_heading = "Data")]
    n: Option<u64>,
    /// The probability with which the guarantee may fail.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = parse_alpha, help_heading = "Guarantees and intervals")]
    alpha: f64,
    /// The number of bins.
    #[arg(long, value_name = "B", value_parser = count::<u64>(1..=65_536), help_heading = "Method and bins")]
    bins: Option<u64>,
    /// The calibration points per bin.
    #[arg(long, value_name = "K", value_parser = count::<u64>(2..1 << 53), help_heading = "Method and bins")]
    points_per_bin: Option<u64>,
    /// The largest deviation that is acceptable.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, help_heading = "Method and bins")]
    epsilon: Option<f64>,
    /// Plan for the predictions of several classes, or for each of them.
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["bins", "svg"], help_heading = "Method and bins")]
    reduction: Option<PlannedReduction>,
    /// The number of classes, for --reduction class-wise.
    #[arg(long, value_name = "L", requires = "reduction", value_parser = count::<u64>(2..=65_535), help_heading = "Method and bins", hide_short_help = true)]
    classes: Option<u64>,
    #[command(flatten)]
    validation: ValidationArgs,
    #[command(flatten)]
    thresholds: PlannedThresholds,
    /// The share of label 1 in the population, in (0, 1): for --validation, and for the rows of --sensitivity and --specificity.
    #[arg(long, value_name = "P", value_parser = parse_prevalence, help_heading = "Method and bins")]
    prevalence: Option<f64>,
    /// Draw epsilon against the number of bins into this SVG file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    svg: Option<PathBuf>,
    /// Replace an existing SVG file.
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PlannedReduction {
    /// A table per predicted class (Gupta and Ramdas 2022, Theorem 1).
    TopLabel,
    /// A table per class (Theorem 2 there).
    ClassWise,
}

/// What the bounds assume.
const CONDITIONS: &str = "if points are independent (one per patient, or per other independent unit), scores rarely repeat, classifier and \
     bins are fixed before the labels are seen, and new data come from the same distribution, at the same prevalence; of a choice \
     among M candidates each has alpha / M";

impl Run for PlanCommand {
    fn run(self, cx: &Context) -> Result<(), Error> {
        if self.validation.validation {
            return self.validation.answer(self.prevalence, self.json, cx);
        }
        if self.thresholds.is_asked() {
            return self.thresholds.answer(self.prevalence, self.json, cx);
        }
        if self.prevalence.is_some() {
            return Err(usage("--prevalence goes with --validation, --sensitivity or --specificity".into()));
        }
        if let Some(reduction) = self.reduction {
            return self.of_classes(reduction, cx);
        }
        if let (Some(epsilon), None, None, None) = (self.epsilon, self.n, self.bins, self.points_per_bin) {
            return self.points_for(epsilon, cx);
        }
        let answer = self.answer()?;
        let n = answer.map_or(self.n, |plan| Some(plan.n)).expect("either is given");
        let curve: Vec<Plan> =
            bins_of_interest(n, answer).filter_map(|b| Plan::new(n, b, self.alpha)).collect();
        if let Some(path) = &self.svg {
            let svg = draw(n, self.alpha, answer);
            write_file(path, self.force, |out| out.write_all(svg.as_bytes()))?;
        }
        if self.json {
            return cx.print_json(&json!({"answer": answer, "curve": curve}));
        }
        let mut out = cx.stdout();
        if let Some(Plan { n, bins, points_per_bin, epsilon, .. }) = answer {
            let bins_asked = bins;
            let bins = bins_in_words(bins as usize).unwrap_or_default();
            let (what, alpha) = (format!("{n} points in {bins}, {points_per_bin} in each"), self.alpha);
            match epsilon < 1.0 {
                true => writeln!(
                    out,
                    "{what}: every bin within {epsilon:.4} of the truth, except with probability {alpha},\n{CONDITIONS}\n"
                )?,
                false => {
                    let needed = Plan::fewest_points(bins_asked, self.alpha, WIDE_EPSILON);
                    let needed =
                        needed.map_or(String::new(), |plan| format!(": {} for {WIDE_EPSILON}", plan.n));
                    writeln!(
                        out,
                        "{what}: nothing is guaranteed, fewer bins or more points are needed{needed}\n"
                    )?
                }
            }
        }
        let more = if answer.is_some() { format!("; of more: calib plan --n {n}") } else { String::new() };
        writeln!(out, "n = {n}, alpha = {}: epsilon by the number of bins{more}", self.alpha)?;
        writeln!(
            out,
            "{:>6} {:>9} {:>10} {:>13} {:>10}",
            "bins", "per bin", "umd", "umd-original", "marginal"
        )?;
        for plan in near(&curve, answer) {
            let mark = if answer.is_some_and(|answer| answer.bins == plan.bins) { " <" } else { "" };
            writeln!(
                out,
                "{:>6} {:>9} {:>10} {:>13} {:>10}{mark}",
                plan.bins,
                plan.points_per_bin,
                shown(plan.epsilon),
                shown(plan.epsilon_original),
                shown(plan.epsilon_marginal)
            )?;
        }
        Ok(())
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        Some((given.planned()?, "CALIBRATION: labelled rows that the classifier was not fitted to"))
    }
}

impl PlanCommand {
    /// The points that an epsilon takes with usual numbers of bins.
    fn points_for(&self, epsilon: f64, cx: &Context) -> Result<(), Error> {
        if self.svg.is_some() {
            return Err(usage(
                "--svg draws epsilon for a number of points: give --n, or --bins beside --epsilon".into(),
            ));
        }
        let plans: Vec<Plan> = USUAL_BINS
            .into_iter()
            .filter_map(|bins| Plan::fewest_points(bins, self.alpha, epsilon))
            .collect();
        if self.json {
            return cx.print_json(&json!({"answer": null, "curve": plans}));
        }
        let mut out = cx.stdout();
        writeln!(
            out,
            "epsilon {epsilon}, alpha {}: points by the number of bins, so that every bin of umd is that near to the truth,\n{CONDITIONS}",
            self.alpha
        )?;
        writeln!(out, "{:>6} {:>9} {:>10}", "bins", "per bin", "points")?;
        for Plan { bins, points_per_bin, n, .. } in plans {
            writeln!(out, "{bins:>6} {points_per_bin:>9} {n:>10}")?;
        }
        Ok(())
    }

    /// Plans for several classes.
    fn of_classes(&self, reduction: PlannedReduction, cx: &Context) -> Result<(), Error> {
        let among = match (reduction, self.classes) {
            (PlannedReduction::TopLabel, _) => 1,
            (PlannedReduction::ClassWise, Some(classes)) => classes,
            (PlannedReduction::ClassWise, None) => {
                return Err(usage(
                    "--reduction class-wise needs --classes: alpha is divided among them".into(),
                ));
            }
        };
        let alpha = self.alpha;
        let none =
            |what: String| usage(format!("{what} give no epsilon as low as that, not even with one bin"));
        let plan = match (self.n, self.points_per_bin, self.epsilon) {
            (Some(n), Some(k), None) => ClassPlan::new(n, k, alpha, among)
                .ok_or_else(|| usage(format!("{n} points are fewer than one bin of {k}")))?,
            (Some(n), None, Some(epsilon)) => ClassPlan::fewest_points_per_bin(n, alpha, among, epsilon)
                .ok_or_else(|| none(format!("{n} points")))?,
            (None, Some(k), Some(epsilon)) => ClassPlan::most_points(k, alpha, among, epsilon)
                .ok_or_else(|| none(format!("{k} points a bin")))?,
            _ => {
                return Err(usage("with --reduction give two of --n, --points-per-bin and --epsilon".into()));
            }
        };
        if self.json {
            return cx.print_json(&json!({"answer": plan, "curve": []}));
        }
        let ClassPlan { n, points_per_bin, epsilon, .. } = plan;
        let (name, theorem) = match reduction {
            PlannedReduction::TopLabel => ("top-label".to_owned(), 1),
            PlannedReduction::ClassWise => (format!("class-wise, {among} classes"), 2),
        };
        writeln!(
            cx.stdout(),
            "{n} points, {name}, {points_per_bin} or more in each bin: every bin of every class within {epsilon:.4} of the truth, \
             except with probability {alpha} (Gupta and Ramdas 2022, Theorem {theorem}),\n{CONDITIONS}"
        )?;
        Ok(())
    }

    /// The plan that was asked for; `None` if only the curve was.
    fn answer(&self) -> Result<Option<Plan>, Error> {
        let alpha = self.alpha;
        let too_few = |n: u64| usage(format!("{n} points are fewer than two a bin"));
        // What one bin of `n` points has.
        let too_small = |n: u64, what: &str| {
            let least = Plan::new(n, 1, alpha).map_or(f64::INFINITY, |plan| plan.epsilon);
            let needed = self.epsilon.and_then(|epsilon| Plan::fewest_points(FEWEST_BINS, alpha, epsilon));
            let needed = needed.map_or(String::new(), |Plan { n, points_per_bin, .. }| {
                let points = if what.is_empty() { n } else { points_per_bin };
                format!("; two bins take {points}{what}")
            });
            usage(format!("{n} points{what} give no epsilon below {least:.4}, not even with one bin{needed}"))
        };
        let plan = match (self.n, self.bins, self.points_per_bin, self.epsilon) {
            (Some(_), None, None, None) => return Ok(None),
            (Some(n), Some(bins), None, None) => Plan::new(n, bins, alpha).ok_or_else(|| too_few(n))?,
            (Some(n), None, Some(k), None) => Plan::new(n, n / k, alpha)
                .ok_or_else(|| usage(format!("{n} points are fewer than one bin of {k}")))?,
            (Some(n), None, None, Some(epsilon)) => {
                Plan::most_bins(n, alpha, epsilon).ok_or_else(|| too_small(n, ""))?
            }
            (None, Some(bins), Some(k), None) => bins
                .checked_mul(k)
                .and_then(|n| Plan::new(n, bins, alpha))
                .ok_or_else(|| usage(format!("{bins} bins of {k} points are more than can be counted")))?,
            (None, Some(bins), None, Some(epsilon)) => {
                Plan::fewest_points(bins, alpha, epsilon).ok_or_else(|| too_few(0))?
            }
            (None, None, Some(k), Some(epsilon)) => {
                Plan::most_bins_of(k, alpha, epsilon).ok_or_else(|| too_small(k, " a bin"))?
            }
            _ => return Err(self.not_two()),
        };
        if plan.bins > MAX_BINS {
            return Err(usage(format!("{} bins: a table has 1 to {MAX_BINS}", plan.bins)));
        }
        Ok(Some(plan))
    }

    /// Why there is no answer to fewer than two numbers, or to more.
    fn not_two(&self) -> Error {
        let given: Vec<&str> = [
            (self.n.is_some(), "--n"),
            (self.bins.is_some(), "--bins"),
            (self.points_per_bin.is_some(), "--points-per-bin"),
            (self.epsilon.is_some(), "--epsilon"),
        ]
        .into_iter()
        .filter_map(|(is_given, name)| is_given.then_some(name))
        .collect();
        usage(match &given[..] {
            [start @ .., last] if given.len() > 2 => {
                format!("{} and {last} leave nothing to answer: give two of them", start.join(", "))
            }
            _ => "give --n or --epsilon, or two of --n, --bins, --points-per-bin and --epsilon".into(),
        })
    }
}

fn usage(sentence: String) -> Error {
    Error::Usage(sentence)
}

/// An epsilon; every probability is within 1 of any other, which is no guarantee.
fn shown(epsilon: f64) -> String {
    if epsilon < 1.0 { format!("{epsilon:.4}") } else { "none".into() }
}

/// The plans beside the answer, or all if there is none.
fn near(curve: &[Plan], answer: Option<Plan>) -> &[Plan] {
    /// On either side.
    const SHOWN: usize = 2;
    let at = answer.and_then(|answer| curve.iter().position(|plan| plan.bins == answer.bins));
    at.map_or(curve, |at| &curve[at.saturating_sub(SHOWN)..curve.len().min(at + SHOWN + 1)])
}

/// Numbers of bins from 1 to n/2, about evenly on a logarithmic scale, the answer's among them.
fn bins_of_interest(n: u64, answer: Option<Plan>) -> impl Iterator<Item = u64> {
    const STEPS: [u64; 9] = [1, 2, 3, 5, 7, 10, 15, 20, 30];
    let mut bins: Vec<u64> = (0..5u32)
        .flat_map(|decade| STEPS.map(|step| step * 10u64.pow(decade)))
        .chain(answer.map(|plan| plan.bins))
        .filter(|&b| b <= n / 2 && b <= 65_536)
        .collect();
    bins.sort_unstable();
    bins.dedup();
    bins.into_iter()
}

/// A curve's name, style and value.
type PlanCurve = (&'static str, &'static str, fn(&Plan) -> f64);

/// The curves of epsilon against the number of bins, as an SVG file.
fn draw(n: u64, alpha: f64, answer: Option<Plan>) -> String {
    let most = answer.map_or(1, |plan| 2 * plan.bins).max(50).min(n / 2).max(2);
    let step = most.div_ceil(500) as usize;
    let plans: Vec<Plan> = (1..=most).step_by(step).filter_map(|bins| Plan::new(n, bins, alpha)).collect();
    let top = 1.05 * plans.iter().map(|plan| plan.epsilon_original).fold(0.0, f64::max).min(1.0);
    let mut chart = Chart::wide(
        Axis::new("number of bins", 0.0, most as f64),
        Axis::new("epsilon, a difference of probabilities", 0.0, top),
    );
    let curves: [PlanCurve; 3] = [
        ("umd, every bin (Theorem 3)", "after", |plan| plan.epsilon),
        ("umd-original (Corollary 1)", "before", |plan| plan.epsilon_original),
        ("umd-randomized, a random score's bin (Theorem 4)", "theory", |plan| plan.epsilon_marginal),
    ];
    let mut legend = Vec::new();
    for (name, style, epsilon) in curves {
        let points = plans.iter().map(|plan| (plan.bins as f64, epsilon(plan)));
        chart.line(style, points.filter(|point| point.1 <= top));
        legend.push((style, name.to_owned()));
    }
    if let Some(plan) = answer {
        // A deviation that no two probabilities have is not in the drawing.
        if plan.epsilon <= top {
            chart.mark("answer", Mark::Circle, plan.bins as f64, plan.epsilon);
        }
        let Plan { bins, points_per_bin, epsilon, .. } = plan;
        legend.push(("answer", format!("{bins} bins of {points_per_bin} points: {epsilon:.4}")));
    }
    let title = format!("epsilon against the number of bins: n = {n}, alpha = {alpha}");
    chart.file(&title, "The fewer bins, the smaller the epsilon that is guaranteed.", &legend)
}

fn parse_epsilon(text: &str) -> Result<f64, String> {
    match parse_number(text) {
        Some(epsilon) if epsilon >= 1e-6 => Ok(epsilon),
        _ => Err("epsilon is a number from 1e-6 on, such as 0.05".into()),
    }
}
