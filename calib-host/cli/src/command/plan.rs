//! `calib plan`

use std::io::Write;
use std::path::PathBuf;

use calib_fit::OptionsError;
use calib_fit::artifact::number_of;
use calib_fit::guarantee::{ClassPlan, Plan};
use calib_fit::job::{PlanAnswer, PlanOptions, plan};
use calib_fit::stats::{shown_bound, thousands};
use calib_io::draw::{Axis, Chart, Mark};
use calib_io::files::write_file;
use clap::{Args, ValueEnum};

use crate::context::Context;
use crate::error::{Error, option};
use crate::next::{Given, Suggestion};
use crate::options::headings::{DATA, GUARANTEES, METHOD, OUTPUT};
use crate::options::{PlannedThresholds, ValidationArgs, count, parse_alpha, parse_number, parse_prevalence};
use crate::run::Run;

/// What `calib fit` chooses bins for.
const WIDE_EPSILON: f64 = 0.1;

/// Plan the number of rows or bins that you need.
///
/// For a calibration set, give two of rows, bins, rows per bin and epsilon; calib computes the others.
///
/// --n and --epsilon give the largest number of bins. --bins and --epsilon give the smallest number of rows.
/// --rows-per-bin and --epsilon give the largest number of bins with that many rows each. --n without other options
/// prints a table of epsilon over bins. --epsilon without other options prints a table of the rows that it needs.
///
/// --sensitivity and --specificity give the rows that a threshold needs (`calib threshold`).
///
/// With --reduction the rows are those of all classes, and --rows-per-bin has the meaning of `calib fit`. Two of --n,
/// --rows-per-bin and --epsilon give the third.
#[derive(Args)]
pub(crate) struct PlanCommand {
    /// Number of calibration rows.
    #[arg(long, value_name = "N", value_parser = count::<u64>(2..1 << 53), help_heading = DATA)]
    n: Option<u64>,
    /// Accepted probability that the guarantee fails.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = parse_alpha, help_heading = GUARANTEES)]
    alpha: f64,
    /// Number of bins.
    #[arg(long, value_name = "B", value_parser = count::<u64>(1..=65_536), help_heading = METHOD)]
    bins: Option<u64>,
    /// Calibration rows per bin.
    #[arg(long, value_name = "K", value_parser = count::<u64>(2..1 << 53), help_heading = METHOD)]
    rows_per_bin: Option<u64>,
    /// Largest acceptable deviation.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, help_heading = METHOD)]
    epsilon: Option<f64>,
    /// Reduction: plan for the predictions of several classes, or for each class.
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["bins", "svg"], help_heading = METHOD)]
    reduction: Option<PlannedReduction>,
    /// Number of classes, for --reduction class-wise.
    #[arg(long, value_name = "L", requires = "reduction", value_parser = count::<u64>(2..=65_535), help_heading = METHOD, hide_short_help = true)]
    classes: Option<u64>,
    #[command(flatten)]
    validation: ValidationArgs,
    #[command(flatten)]
    thresholds: PlannedThresholds,
    /// Share of label 1 in the population, in (0, 1): for --validation, and for the rows of --sensitivity and
    /// --specificity.
    #[arg(long, value_name = "P", value_parser = parse_prevalence, help_heading = METHOD)]
    prevalence: Option<f64>,
    /// SVG file for a plot of epsilon against the number of bins.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    svg: Option<PathBuf>,
    /// Replace an existing SVG file.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PlannedReduction {
    /// One table per predicted class.
    TopLabel,
    /// One table per class.
    ClassWise,
}

/// What the bounds assume.
const CONDITIONS: &str = "This requires independent observations, one per patient or other independent unit, and no equal scores on both sides of an edge. \
     Classifier and bins must be fixed before the labels are seen. New data must have the same distribution and prevalence. \
     In a choice among M candidates, each has alpha / M";

/// What stands in a suggested command for rows, and for bins.
const ROWS: &str = "CALIBRATION: rows with labels that were not used for training";
const WITH_BINS: &str =
    "CALIBRATION: rows with labels that were not used for training; B: a number of bins of the table";

impl Run for PlanCommand {
    fn run(self, cx: &Context) -> Result<(), Error> {
        if self.validation.validation {
            return self.validation.answer(self.prevalence, self.json, cx);
        }
        if self.thresholds.is_asked() {
            return self.thresholds.answer(self.prevalence, self.json, cx);
        }
        if self.prevalence.is_some() {
            return Err(usage("--prevalence goes with --validation, --sensitivity or --specificity"));
        }
        let knows_points = (self.n, self.bins, self.rows_per_bin) != (None, None, None);
        if self.svg.is_some() && self.epsilon.is_some() && !knows_points {
            return Err(usage(
                "--svg draws epsilon for a number of observations: give --n, or --bins beside --epsilon",
            ));
        }
        let planned = plan(&self.options()?).map_err(|cause| named(&cause))?;
        if let (Some(path), Some(Plan { n, .. })) = (&self.svg, planned.curve.first()) {
            let svg = draw(*n, self.alpha, bins_of(planned.answer));
            write_file(path, self.force, |out| out.write_all(svg.as_bytes()))?;
        }
        match planned.answer {
            _ if self.json => cx.print_json(&planned),
            Some(PlanAnswer::Classes(answer)) => self.print_classes(answer, cx),
            answer if answer.is_none() && self.n.is_none() => self.print_points(&planned.curve, cx),
            answer => self.print_curve(bins_of(answer), &planned.curve, cx),
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let planned = given.planned()?;
        let names_bins = planned.iter().any(|word| word == "B");
        Some((planned, if names_bins { WITH_BINS } else { ROWS }.into()))
    }
}

impl PlanCommand {
    fn options(&self) -> Result<PlanOptions, Error> {
        let mut options = PlanOptions::default();
        (options.n, options.bins, options.alpha) = (self.n, self.bins, self.alpha);
        (options.rows_per_bin, options.epsilon) = (self.rows_per_bin, self.epsilon);
        options.classes = match (self.reduction, self.classes) {
            (None, _) => None,
            (Some(PlannedReduction::TopLabel), _) => Some(1),
            (Some(PlannedReduction::ClassWise), Some(classes)) => Some(classes),
            (Some(PlannedReduction::ClassWise), None) => {
                return Err(usage("--reduction class-wise needs --classes: alpha is divided among them"));
            }
        };
        Ok(options)
    }

    /// Prints the answer if there is one, and epsilon by the number of bins.
    fn print_curve(&self, answer: Option<Plan>, curve: &[Plan], cx: &Context) -> Result<(), Error> {
        let mut out = cx.stdout();
        let n = answer.map_or(self.n, |plan| Some(plan.n)).unwrap_or_default();
        if let Some(Plan { n, bins, rows_per_bin, epsilon, .. }) = answer {
            let words = number_of(bins, "bin");
            let (what, alpha) = (
                format!("{} observations in {words}, {} in each", thousands(n), thousands(rows_per_bin)),
                self.alpha,
            );
            if epsilon < 1.0 {
                writeln!(
                    out,
                    "{what}: every bin within {} of its event rate, whatever the labels are. This fails with probability at most {alpha}.\n\
                     {CONDITIONS}\n",
                    shown_bound(4, epsilon)
                )?;
            } else {
                let needed = Plan::fewest_points(bins, self.alpha, WIDE_EPSILON);
                let needed = needed
                    .map_or(String::new(), |plan| format!(": {} for {WIDE_EPSILON}", thousands(plan.n)));
                writeln!(
                    out,
                    "{what}: nothing is guaranteed, fewer bins or more observations are needed{needed}\n"
                )?;
            }
        }
        let more = if answer.is_some() { format!("; of more: calib plan --n {n}") } else { String::new() };
        writeln!(out, "n = {n}, alpha = {}: epsilon by the number of bins{more}", self.alpha)?;
        writeln!(
            out,
            "{:>6} {:>9} {:>10} {:>10} {:>13} {:>10}",
            "bins", "per bin", "umd", "hoeffding", "umd-original", "marginal"
        )?;
        for plan in near(curve, answer) {
            let mark = if answer.is_some_and(|answer| answer.bins == plan.bins) { " <" } else { "" };
            writeln!(
                out,
                "{:>6} {:>9} {:>10} {:>10} {:>13} {:>10}{mark}",
                plan.bins,
                plan.rows_per_bin,
                shown(plan.epsilon),
                shown(plan.epsilon_hoeffding),
                shown(plan.epsilon_original),
                shown(plan.epsilon_marginal)
            )?;
        }
        Ok(())
    }

    /// Prints the points that an epsilon takes with usual numbers of bins.
    fn print_points(&self, plans: &[Plan], cx: &Context) -> Result<(), Error> {
        let mut out = cx.stdout();
        writeln!(
            out,
            "epsilon {}, alpha {}: the observations that umd needs for each number of bins, with every bin within epsilon of its event rate.\n{CONDITIONS}",
            self.epsilon.unwrap_or_default(),
            self.alpha
        )?;
        writeln!(out, "{:>6} {:>9} {:>10}", "bins", "per bin", "rows")?;
        for Plan { bins, rows_per_bin, n, .. } in plans {
            writeln!(out, "{bins:>6} {rows_per_bin:>9} {n:>10}")?;
        }
        Ok(())
    }

    /// Prints a plan for several classes.
    fn print_classes(&self, answer: ClassPlan, cx: &Context) -> Result<(), Error> {
        let ClassPlan { n, rows_per_bin, epsilon, divided_among, .. } = answer;
        let name = match self.reduction {
            Some(PlannedReduction::ClassWise) => format!("class-wise, {divided_among} classes"),
            _ => "top-label".to_owned(),
        };
        writeln!(
            cx.stdout(),
            "{} observations, {name}, {} or more in each bin: every bin of every class within {} of its event \
             rate, whatever the labels are. This fails with probability at most {}.\n{CONDITIONS}",
            thousands(n),
            thousands(rows_per_bin),
            shown_bound(4, epsilon),
            self.alpha
        )?;
        Ok(())
    }
}

fn usage(sentence: &str) -> Error {
    Error::Usage(sentence.into())
}

/// The error with the names of options.
fn named(cause: &OptionsError) -> Error {
    Error::Usage(
        cause.with_names(|field| if field == "classes" { "--reduction".into() } else { option(field) }),
    )
}

/// A plan of bins.
fn bins_of(answer: Option<PlanAnswer>) -> Option<Plan> {
    match answer {
        Some(PlanAnswer::Bins(plan)) => Some(plan),
        _ => None,
    }
}

/// An epsilon; every probability is within 1 of any other, which is no guarantee.
fn shown(epsilon: f64) -> String {
    if epsilon < 1.0 { shown_bound(4, epsilon) } else { "none".into() }
}

/// The plans beside the answer, or all if there is none.
fn near(curve: &[Plan], answer: Option<Plan>) -> &[Plan] {
    /// On either side.
    const SHOWN: usize = 2;
    let at = answer.and_then(|answer| curve.iter().position(|plan| plan.bins == answer.bins));
    at.map_or(curve, |at| &curve[at.saturating_sub(SHOWN)..curve.len().min(at + SHOWN + 1)])
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
        ("umd, every bin (exact)", "after", |plan| plan.epsilon),
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
        let Plan { bins, rows_per_bin, epsilon, .. } = plan;
        legend.push((
            "answer",
            format!("{bins} bins of {rows_per_bin} observations: {}", shown_bound(4, epsilon)),
        ));
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
