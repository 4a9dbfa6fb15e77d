//! `calib bins`

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_host::input::{self, Source};
use calib_host::{
    BinaryData, BinsTried, Bootstrap, Error, IntervalKind, Place, choose_bins, halves, write_file,
};
use clap::Args;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde_json::json;

use super::calibrated::{Columns, score_columns};
use super::drawing::{self, Axis, BLUE, ORANGE, decimals};
use super::print_json;

/// Choose the number of bins: squared error against what can be said about the calibration error (Kumar et al. 2019,
/// figure 17).
///
/// Fits uniform-mass binning with each number of bins and judges it on test data: the Brier score, and the upper end of the
/// one-sided interval of the calibration error (the root of the mean squared deviation), from the plugin estimate and from the
/// debiased one. Each bound holds for itself, not for the best of many.
#[derive(Args)]
pub(crate) struct Bins {
    /// Scores of class 1 of a binary classifier, in [0, 1]: a table, or a NumPy array of shape (n,).
    #[arg(long, value_name = "FILE")]
    scores: PathBuf,
    /// Labels, if not in the table: a NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Test data, in the same columns; without it a random half of the points, and fits are to the other half.
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// The labels of the test data, if not in its table.
    #[arg(long, value_name = "FILE", requires = "test")]
    test_labels: Option<PathBuf>,
    /// The column of scores in a table.
    #[arg(long, default_value = super::options::SCORE_COLUMN, value_name = "NAME")]
    score_column: String,
    /// The column of labels in a table.
    #[arg(long, default_value = "label", value_name = "NAME")]
    label_column: String,
    /// The numbers of bins to try, separated by commas; by default those of 2 to 100 for which there are points.
    #[arg(long, value_delimiter = ',', value_name = "B", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    bins: Vec<u32>,
    /// The largest calibration error that will do: names the number of bins with the least squared error whose bound is not
    /// above it.
    #[arg(long, value_name = "E", value_parser = parse_error)]
    at_most: Option<f64>,
    /// The probability with which a bound may fail.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = super::parse_alpha)]
    alpha: f64,
    /// The number of bootstrap resamples.
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    bootstrap: u32,
    /// The seed of everything random.
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
    /// Draw both bounds against the Brier score into this SVG file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace an existing SVG file.
    #[arg(long)]
    force: bool,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

/// The numbers of bins that are tried by default.
const DEFAULT_BINS: [usize; 10] = [2, 3, 5, 7, 10, 15, 20, 30, 50, 100];

impl Bins {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        let (calibration, test) = self.read(quiet)?;
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
            .map_err(|cause| Error::fit(Place::file(&self.scores), cause))?;
        if let Some(path) = &self.svg {
            let svg = draw(&tried, self.alpha)
                .map_err(|cause| Error::Usage(format!("the bounds cannot be drawn: {cause}")))?;
            write_file(path, self.force, |out| out.write_all(svg.as_bytes()))?;
        }
        let chosen = self
            .at_most
            .map(|most| [best(&tried, most, |t| t.upper_plugin), best(&tried, most, |t| t.upper_debiased)]);
        if self.json {
            return print_json(&json!({
                "n": calibration.len(),
                "n_test": test.len(),
                "tried": tried,
                "at_most": self.at_most,
                "chosen": chosen.map(|[plugin, debiased]| json!({"plugin": plugin, "debiased": debiased})),
                "bootstrap": bootstrap,
            }));
        }
        self.print(calibration.len(), test.len(), &tried, chosen)
    }

    /// Points to fit to, and points to judge with.
    fn read(&self, quiet: bool) -> Result<(BinaryData, Vec<(f64, bool)>), Error> {
        let columns = Columns { score: &self.score_column, label: &self.label_column };
        let points = |path: &Path, labels: Option<&Path>| {
            let paths: Vec<&Path> = std::iter::once(path).chain(labels).collect();
            let sources = Source::read_all(&paths, !quiet)?;
            let (scores, labels) = score_columns(&sources, columns)?;
            // Checks the range, too.
            let data = input::binary_data(&scores, &labels)?;
            let score = |score: f64| f64::from(score as f32);
            let points = scores.values.iter().zip(&labels.values);
            let points: Vec<_> = points.map(|(&s, &label)| (score(s), label == 1)).collect();
            Ok::<_, Error>((data, points))
        };
        let (data, own) = points(&self.scores, self.labels.as_deref())?;
        match &self.test {
            Some(test) => Ok((data, points(test, self.test_labels.as_deref())?.1)),
            None => halves(own, self.seed).map_err(|_| {
                Error::Usage(format!(
                    "{} has one point: two are needed to fit to the one and judge with the other",
                    self.scores.display()
                ))
            }),
        }
    }

    fn print(
        &self,
        n: u64,
        n_test: usize,
        tried: &[BinsTried],
        chosen: Option<[Option<usize>; 2]>,
    ) -> Result<(), Error> {
        let mut out = std::io::stdout().lock();
        writeln!(
            out,
            "{n} points, {n_test} test points; bounds of the calibration error that fail with probability {}",
            self.alpha
        )?;
        writeln!(out, "{:>6} {:>10} {:>14} {:>16}", "bins", "brier", "bound, plugin", "bound, debiased")?;
        for BinsTried { bins, brier, upper_plugin, upper_debiased } in tried {
            writeln!(out, "{bins:>6} {brier:>10.6} {upper_plugin:>14.6} {upper_debiased:>16.6}")?;
        }
        if let (Some(most), Some(chosen)) = (self.at_most, chosen) {
            for (estimate, bins) in ["plugin", "debiased"].iter().zip(chosen) {
                match bins {
                    Some(bins) => writeln!(out, "at most {most} by the {estimate} bound: {bins} bins")?,
                    None => writeln!(out, "at most {most} by the {estimate} bound: none of these")?,
                }
            }
        }
        Ok(())
    }
}

/// The number of bins with the least squared error among those whose bound will do; the fewest among equals.
fn best(tried: &[BinsTried], most: f64, upper: impl Fn(&BinsTried) -> f64) -> Option<usize> {
    let will_do = tried.iter().filter(|tried| upper(tried) <= most);
    will_do.min_by(|a, b| a.brier.total_cmp(&b.brier).then(a.bins.cmp(&b.bins))).map(|tried| tried.bins)
}

/// A bound's name, colour and value, and on which side of its points the numbers of bins are.
type Estimate = (&'static str, RGBColor, fn(&BinsTried) -> f64, HPos);

/// Both bounds against the squared error, with the number of bins at every point.
fn draw(tried: &[BinsTried], alpha: f64) -> Result<String, Box<dyn std::error::Error>> {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        let margin = (0.08 * (hi - lo)).max(1e-6);
        lo - margin..hi + margin
    };
    let briers = range(&mut tried.iter().map(|tried| tried.brier));
    let uppers = range(&mut tried.iter().flat_map(|tried| [tried.upper_plugin, tried.upper_debiased]));
    let uppers = uppers.start.max(0.0)..uppers.end;
    let (of_x, of_y) = (decimals(briers.end - briers.start), decimals(uppers.end - uppers.start));
    let x = Axis {
        title: "mean squared error (Brier score)".into(),
        range: briers,
        tick: &|brier| format!("{brier:.of_x$}"),
    };
    let y = Axis {
        title: format!("upper bound of the calibration error, alpha = {alpha}"),
        range: uppers,
        tick: &|upper| format!("{upper:.of_y$}"),
    };
    let caption = "calibration error against squared error, by number of bins";
    drawing::draw(caption, x, y, SeriesLabelPosition::UpperRight, |chart| {
        // Points of the two estimates are above one another: their numbers are on different sides,
        // and beside the lines.
        let estimates: [Estimate; 2] = [
            ("from the plugin estimate", ORANGE, |tried| tried.upper_plugin, HPos::Left),
            ("from the debiased estimate", BLUE, |tried| tried.upper_debiased, HPos::Right),
        ];
        for (name, colour, upper, side) in estimates {
            let points = || tried.iter().map(|tried| (tried.brier, upper(tried)));
            drawing::curve(chart, name, colour, points())?;
            chart.draw_series(points().map(|at| Circle::new(at, 3, colour.filled())))?;
            let away = if matches!(side, HPos::Left) { (5, -8) } else { (-5, 8) };
            let style = ("sans-serif", 12).into_font().color(&colour).pos(Pos::new(side, VPos::Center));
            chart.draw_series(tried.iter().zip(points()).map(|(tried, at)| {
                EmptyElement::at(at) + Text::new(tried.bins.to_string(), away, style.clone())
            }))?;
        }
        Ok(())
    })
}

fn parse_error(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(error) if error > 0.0 && error <= 1.0 => Ok(error),
        _ => Err("a calibration error is a number above 0, such as 0.02".into()),
    }
}
