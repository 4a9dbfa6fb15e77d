//! `calib bins`

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_fit::BinaryData;
use calib_fit::ScoreKind;
use calib_fit::artifact::number_of;
use calib_fit::assess::{Bootstrap, IntervalKind};
use calib_fit::compare::{BinsTried, TestPoints, choose_bins, halves};
use calib_fit::data::RowsDigest;
use calib_fit::job::Finding;
use calib_fit::stats::{Clusters, thousands};
use calib_io::draw::{Axis, Chart, Mark};
use calib_io::files::{Location, write_file};
use calib_io::input;
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::next::{Given, Suggestion, words};
use crate::options::headings::{DATA, GUARANTEES, METHOD, OUTPUT, ROWS};
use crate::options::{ClusterColumn, ClusterSource, SCORE_COLUMN, SameRows, count, parse_alpha};
use crate::read::{ColumnNames, ScoreColumns, independence_warning, read_all, score_columns};
use crate::run::Run;

/// Choose the number of bins from the data.
///
/// The command compares squared error with bounds on the calibration error (Kumar et al. 2019, figure 17).
///
/// It fits uniform-mass binning with each number of bins and evaluates it on test data. It computes the Brier score and
/// two upper bounds on the calibration error, the root of the mean squared deviation. Each bound is the upper end of a
/// one-sided interval: one from the plugin estimate, one from the debiased estimate.
///
/// All bounds hold simultaneously except with probability alpha. Each has alpha divided by the number of bin counts
/// that are tried. This holds as far as a normal approximation does; the bounds are not a guarantee.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("ScoreSource").required(true).multiple(false))]
pub(crate) struct Bins {
    /// Table with scores of class 1 in [0, 1] and labels.
    ///
    /// The same as --scores FILE.
    #[arg(value_name = "FILE", group = "ScoreSource", help_heading = DATA)]
    data: Option<PathBuf>,
    /// Scores of class 1 in [0, 1].
    ///
    /// Scores of a binary classifier: a table, or a NumPy array of shape (n,).
    #[arg(long, value_name = "FILE", group = "ScoreSource", help_heading = DATA)]
    scores: Option<PathBuf>,
    /// Not for this command, which says so.
    #[arg(long = "margins", value_name = "FILE", value_parser = no_margins, hide = true)]
    _margins: Option<PathBuf>,
    /// Labels, if not in the table.
    ///
    /// A NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    labels: Option<PathBuf>,
    /// Test data, in the same columns; by default a random half of the rows, and calib fits to the other half.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    test: Option<PathBuf>,
    /// Labels of the test data, if not in its table.
    #[arg(long, value_name = "FILE", requires = "test", help_heading = DATA)]
    test_labels: Option<PathBuf>,
    #[command(flatten)]
    same_rows: SameRows,
    /// Column of scores in a table.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = DATA)]
    score_column: String,
    /// Column of labels.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = DATA)]
    label_column: String,
    #[command(flatten)]
    cluster_column: ClusterColumn,
    /// Clusters, if not in the table of scores: a NumPy array of integers, or a table with --cluster-column or
    /// `cluster`.
    #[arg(long, value_name = "FILE", help_heading = ROWS, hide_short_help = true)]
    clusters: Option<PathBuf>,
    /// Clusters of the test data, if not in its table.
    #[arg(long, value_name = "FILE", requires = "test", help_heading = ROWS, hide_short_help = true)]
    test_clusters: Option<PathBuf>,
    /// Numbers of bins to try, separated by commas; by default all from 2 to 100 for which there are enough rows.
    #[arg(long, value_delimiter = ',', value_name = "B", value_parser = count::<u32>(1..=65_536), help_heading = METHOD)]
    bins: Vec<u32>,
    /// Largest acceptable calibration error.
    ///
    /// calib names the number of bins with the least squared error among those whose bound is not above it.
    #[arg(long, value_name = "E", value_parser = parse_error, help_heading = METHOD)]
    at_most: Option<f64>,
    /// Accepted probability that any of the bounds fails.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = parse_alpha, help_heading = GUARANTEES)]
    alpha: f64,
    /// Number of bootstrap resamples.
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = count::<u32>(2..=100_000), help_heading = GUARANTEES, hide_short_help = true)]
    bootstrap: u32,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0, value_name = "SEED", value_parser = count::<u64>(..), help_heading = GUARANTEES, hide_short_help = true)]
    seed: u64,
    /// SVG file for a plot of both bounds against the Brier score.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    svg: Option<PathBuf>,
    /// Replace an existing SVG file.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// Refuses margins with what takes them.
fn no_margins(_: &str) -> Result<PathBuf, String> {
    Err("numbers of bins are compared for scores in [0, 1]; for margins use `calib compare --margins`, which tries several".into())
}

/// The numbers of bins that are tried by default.
const DEFAULT_BINS: [usize; 10] = [2, 3, 5, 7, 10, 15, 20, 30, 50, 100];

impl Run for Bins {
    const AT_WORK: Option<&str> = Some("trying numbers of bins");

    fn run(self, cx: &Context) -> Result<(), Error> {
        let mut warnings = Vec::new();
        let (calibration, test) = self.read(&mut warnings, cx)?;
        cx.warn(&warnings)?;
        let bins: Vec<usize> = if self.bins.is_empty() {
            let fits = |bins: &usize| 2 * *bins as u64 <= calibration.len();
            DEFAULT_BINS.into_iter().filter(fits).collect()
        } else {
            self.bins.iter().map(|&bins| bins as usize).collect()
        };
        let bootstrap = Bootstrap {
            kind: IntervalKind::Percentile,
            resamples: self.bootstrap as usize,
            seed: self.seed,
            alpha: self.alpha,
        };
        let tried = choose_bins(&calibration, &test, &bins, bootstrap)
            .map_err(|cause| Error::fit(Location::file(self.scores()), cause))?;
        if let Some(path) = &self.svg {
            let svg = draw(&tried, self.alpha, self.at_most);
            write_file(path, self.force, |out| out.write_all(svg.as_bytes()))?;
        }
        let chosen = self
            .at_most
            .map(|most| [best(&tried, most, |t| t.upper_plugin), best(&tried, most, |t| t.upper_debiased)]);
        let candidates = tried.len();
        if self.json {
            return cx.print_json(&json!({
                "n": calibration.len(),
                "n_test": test.points.len(),
                "clusters_test": test.clusters.as_ref().map(Clusters::count),
                "tried": tried,
                "candidates": candidates,
                "at_most": self.at_most,
                "chosen": chosen.map(|[plugin, debiased]| json!({"plugin": plugin, "debiased": debiased})),
                "bootstrap": bootstrap,
                "warnings": warnings,
            }));
        }
        self.print(calibration.len(), &test, &tried, chosen, cx)
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let fit = words("calib fit --method umd --bins BINS --candidates TRIED --scores");
        let labels = given.flag("labels", "--labels");
        let line = fit.into_iter().chain([given.source()?.1]).chain(labels).chain(given.columns());
        Some((line.collect(), "BINS: the number that you choose; TRIED: how many numbers are listed".into()))
    }
}

impl Bins {
    /// The table of scores.
    fn scores(&self) -> &Path {
        self.data.as_deref().or(self.scores.as_deref()).expect("clap asks for one of them")
    }

    /// Points to fit to, and points to judge with.
    fn read(&self, warnings: &mut Vec<String>, cx: &Context) -> Result<(BinaryData, TestPoints), Error> {
        let mut points = |path: &Path, labels: Option<&Path>, clusters: Option<ClusterSource<'_>>| {
            let columns = ColumnNames {
                score: &self.score_column,
                label: &self.label_column,
                clusters,
                groups: None,
                points: None,
            };
            let paths: Vec<&Path> = std::iter::once(path).chain(labels).collect();
            let sources = read_all(&paths, cx)?;
            let ScoreColumns { scores, labels, clusters } = score_columns(&sources, columns)?;
            // Checks the range, too.
            let data = input::binary_data(&scores, &labels, ScoreKind::Probability)?;
            let score = |score: f64| f64::from(score as f32);
            let points = scores.values.iter().zip(&labels.values);
            let points = points.map(|(&s, &label)| (score(s), label == 1)).collect();
            warnings.extend(
                Finding::of_points(&data).iter().map(|warning| crate::error::sentence(warning, path)),
            );
            warnings.extend(independence_warning(&data, clusters.as_ref()));
            Ok::<_, Error>(TestPoints { points, clusters })
        };
        let clusters = self.cluster_column.source(self.clusters.as_ref());
        let own = points(self.scores(), self.labels.as_deref(), clusters)?;
        match &self.test {
            Some(path) => {
                let clusters = self.cluster_column.source(self.test_clusters.as_ref());
                let test = points(path, self.test_labels.as_deref(), clusters)?;
                let digest = |rows: &TestPoints| {
                    let points = rows.points.iter();
                    RowsDigest::of_scores(points.map(|&(score, label)| (score as f32, label, 1)))
                };
                let overlap = digest(&own).overlap(&digest(&test));
                let found = self.same_rows.allow(overlap, path, "every number of bins is")?;
                warnings.extend(found.map(|finding| finding.to_string()));
                Ok((own.one_of_each_cluster(self.seed).expect("the rows were checked"), test))
            }
            None => halves(own.points, own.clusters.as_ref(), self.seed).map_err(|_| {
                let one = if own.clusters.is_some() { "cluster" } else { "observation" };
                Error::Usage(format!(
                    "{} has one {one}: two are needed: one to fit, one to evaluate",
                    self.scores().display()
                ))
            }),
        }
    }

    fn print(
        &self,
        n: u64,
        test: &TestPoints,
        tried: &[BinsTried],
        chosen: Option<[Option<usize>; 2]>,
        cx: &Context,
    ) -> Result<(), Error> {
        let mut out = cx.stdout();
        writeln!(
            out,
            "{} {}, {} test observations{}; bounds of the calibration error; any of them fails with probability at most {}, up to a \
             normal approximation: each is at {} / {}",
            thousands(n),
            if test.clusters.is_some() { "observations, one of each cluster" } else { "observations" },
            thousands(test.points.len()),
            test.clusters
                .as_ref()
                .map_or(String::new(), |c| format!(" of {} clusters", thousands(c.count()))),
            self.alpha,
            self.alpha,
            tried.len()
        )?;
        writeln!(out, "{:>6} {:>10} {:>14} {:>16}", "bins", "brier", "bound, plugin", "bound, debiased")?;
        for BinsTried { bins, brier, upper_plugin, upper_debiased } in tried {
            let shown = |bound: &Option<f64>| bound.map_or("none".into(), |bound| format!("{bound:.6}"));
            let (plugin, debiased) = (shown(upper_plugin), shown(upper_debiased));
            writeln!(out, "{bins:>6} {brier:>10.6} {plugin:>14} {debiased:>16}")?;
        }
        if let (Some(most), Some(chosen)) = (self.at_most, chosen) {
            let candidates = tried.len();
            for (estimate, bins) in ["plugin", "debiased"].iter().zip(chosen) {
                match bins {
                    Some(bins) => writeln!(
                        out,
                        "at most {most} by the {estimate} bound: {} (fit: --method umd --bins {bins} --candidates \
                         {candidates})",
                        number_of(bins as u64, "bin")
                    )?,
                    None => writeln!(out, "at most {most} by the {estimate} bound: none of these")?,
                }
            }
        }
        Ok(())
    }
}

/// The number of bins with the least squared error among those whose bound will do; the fewest among equals.
fn best(tried: &[BinsTried], most: f64, upper: impl Fn(&BinsTried) -> Option<f64>) -> Option<usize> {
    let will_do = tried.iter().filter(|tried| upper(tried).is_some_and(|upper| upper <= most));
    will_do.min_by(|a, b| a.brier.total_cmp(&b.brier).then(a.bins.cmp(&b.bins))).map(|tried| tried.bins)
}

/// A bound's name, style and value.
type Bound = (&'static str, &'static str, fn(&BinsTried) -> Option<f64>);

/// Both bounds against the squared error, with the number of bins at every point, as an SVG file.
fn draw(tried: &[BinsTried], alpha: f64, at_most: Option<f64>) -> String {
    let briers = range(tried.iter().map(|tried| tried.brier));
    let uppers = tried.iter().flat_map(|tried| [tried.upper_plugin, tried.upper_debiased]).flatten();
    let (lowest, highest) = range(uppers.chain(at_most));
    let mut chart = Chart::wide(
        Axis::new("mean squared error (Brier score)", briers.0, briers.1),
        Axis::new("upper bound of the calibration error", lowest.max(0.0), highest),
    );
    let mut legend = Vec::new();
    if let Some(most) = at_most {
        chart.line("limit", [(briers.0, most), (briers.1, most)]);
        legend.push(("limit", format!("the largest that will do: {most}")));
    }
    let estimates: [Bound; 2] = [
        ("from the plugin estimate, with the number of bins", "before", |tried| tried.upper_plugin),
        ("from the debiased estimate, with the number of bins", "after", |tried| tried.upper_debiased),
    ];
    let mut labels = Vec::new();
    for (name, style, upper) in estimates {
        let drawn = || tried.iter().filter_map(|tried| Some((tried, (tried.brier, upper(tried)?))));
        let points = || drawn().map(|(_, at)| at);
        chart.line(style, points());
        points().for_each(|(x, y)| chart.mark(style, Mark::Circle, x, y));
        labels.extend(drawn().map(|(tried, at)| (at, tried.bins.to_string())));
        legend.push((style, name.to_owned()));
    }
    chart.labels(&labels);
    let description =
        "Among the acceptable bounds, the one furthest to the left has the best number of bins.";
    let title = format!("calibration error against squared error, by number of bins; alpha = {alpha} in all");
    chart.file(&title, description, &legend)
}

/// A little more than from the least of the values to the largest.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
    let margin = (0.08 * (hi - lo)).max(1e-6);
    (lo - margin, hi + margin)
}

fn parse_error(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(error) if error > 0.0 && error <= 1.0 => Ok(error),
        _ => Err("a calibration error is a number above 0, such as 0.02".into()),
    }
}
