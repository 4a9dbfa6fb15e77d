//! `calib plot`

use std::path::PathBuf;

use calib_fit::assess::{AssessOptions, assess_before_after};
use calib_fit::decide::ReportedRule;
use calib_io::draw::Plot;
use calib_io::report::{Figure, ReportData, plot};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion};
use crate::options::headings::{DATA, METHOD, OUTPUT};
use crate::options::{ReportedOptions, count};
use crate::read::{Labeled, NamedArtifact, prediction_warning};
use crate::run::Run;

/// Draw one plot of a report as SVG or PNG.
#[derive(Args)]
pub(crate) struct PlotCommand {
    /// Plot to draw.
    #[arg(value_enum)]
    plot: PlotName,
    #[command(flatten)]
    data: ReportedOptions,
    /// Class of the diagram of one class.
    #[arg(long, value_name = "K", value_parser = count::<u16>(..), required_if_eq_any([("plot", "class"), ("plot", "class-wise")]), help_heading = METHOD)]
    class: Option<u16>,
    /// Scores that the artifact was fitted to, for the occupancy.
    #[arg(long, value_name = "FILE", required_if_eq("plot", "occupancy"), help_heading = DATA, hide_short_help = true)]
    calibration: Option<PathBuf>,
    /// Labels of these scores, if not in the same table.
    #[arg(long, value_name = "FILE", requires = "calibration", help_heading = DATA, hide_short_help = true)]
    calibration_labels: Option<PathBuf>,
    /// Output file.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: PathBuf,
    /// Format; by default PNG if the name ends in .png, otherwise SVG.
    #[arg(long, value_enum, help_heading = OUTPUT)]
    format: Option<FormatName>,
    /// Number of pixels of a PNG image for each of the SVG's 360 in width.
    #[arg(long, default_value_t = 2.0, value_name = "FACTOR", value_parser = parse_scale, help_heading = OUTPUT, hide_short_help = true)]
    scale: f32,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Print what was written as JSON on standard output.
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PlotName {
    /// Reliability diagrams before and after calibration in one plot, with bands.
    BeforeAndAfter,
    /// Reliability diagram after calibration.
    Reliability,
    /// Reliability diagram before calibration.
    ReliabilityBefore,
    /// Reliability diagrams of one predicted class, before and after calibration.
    Class,
    /// Share of predictions whose bin is within epsilon.
    Validity,
    /// Check that every bin is within epsilon.
    ValidityConditional,
    /// ROC curves and the convex hull.
    Roc,
    /// Distributions of scores and probabilities; for raw scores only of probabilities.
    Distribution,
    /// Distribution of raw scores.
    Margins,
    /// Calibrated probability of every raw score.
    Map,
    /// The band around the calibration curve, over the scores.
    Band,
    /// One-vs-rest reliability diagram of one class, before and after calibration.
    ClassWise,
    /// Shares of the calibration and test rows in the calibrator's bins.
    Occupancy,
    /// Recalibration diagram on the simplex, for three classes.
    Simplex,
    /// CORP reliability curve with its consistency band, before calibration; binary rows only.
    CorpBefore,
    /// CORP reliability curve after calibration; binary rows only.
    Corp,
    /// Decision curves before and after calibration, of treating all and of treating none; binary rows only.
    DecisionCurve,
    /// Distribution of the calibrated probabilities by outcome; binary rows only.
    Outcomes,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum FormatName {
    /// Vector image with light and dark colors.
    Svg,
    /// Pixels in light colors; the same bytes on every machine.
    Png,
}

impl Run for PlotCommand {
    const AT_WORK: Option<&str> = Some("drawing");

    fn run(self, cx: &Context) -> Result<(), Error> {
        let format = self.format()?;
        let artifact = NamedArtifact::read(&self.data.artifact, self.data.seed)?;
        let read = |scores, labels, clusters, groups| {
            self.data.read(&artifact, (scores, labels), (clusters, groups), cx)
        };
        let clusters = self.data.cluster_column.source(self.data.test_clusters.as_ref());
        let groups = artifact.needed(self.data.group_column.name());
        let test = read(&self.data.test, self.data.test_labels.as_deref(), clusters, groups)?;
        let overlap = test.overlap_with_fit(&artifact)?;
        let found = self.data.same_rows.allow(overlap, &self.data.test, "the artifact was")?;
        let mut warnings: Vec<String> = found.iter().map(ToString::to_string).collect();
        let calibration = self.calibration.as_deref();
        let calibration = calibration
            .map(|path| read(path, self.calibration_labels.as_deref(), None, groups))
            .transpose()?;
        warnings.extend(calibration.iter().chain([&test]).filter_map(Labeled::warning));
        let calibration =
            calibration.as_ref().map(|calibration| calibration.calibrated(&artifact)).transpose()?;
        let test = test.calibrated(&artifact)?;
        // Without costs of its own a rule fits its artifact.
        let rule = ReportedRule::of_artifact(&artifact.stored.artifact(), None).unwrap_or_default();
        let rows = test.predictions(&artifact.stored.artifact()).map_err(|cause| artifact.refuse(cause))?;
        let data = ReportData {
            calibration: calibration
                .as_ref()
                .and_then(|calibration| calibration.rows.as_ref())
                .unwrap_or(rows),
            test: rows,
            class_probs: test.class_probs.as_ref(),
            warnings: &[],
            rule: rule.as_ref(),
            operating: &[],
            extremes: self.data.clinical.extreme_probs,
            drawn_classes: usize::MAX,
        };
        let (figure, absent) = self.figure();
        let absent = if rows.margins.is_some() { NO_MARGIN_PLOT } else { absent };
        let clusters = rows.clusters.as_ref();
        let options = AssessOptions::default().clusters(clusters);
        let both = assess_before_after(&rows.before, &rows.after, rows.kind, &options, &options);
        warnings.extend(prediction_warning(&rows.before, clusters));
        let judged = rows.judged(&artifact.stored.artifact(), &both, clusters, options.alpha);
        warnings.extend(judged.evidence.iter().map(ToString::to_string));
        cx.warn(&warnings)?;
        let resamples = self.is_banded().then_some(RESAMPLES);
        let plot =
            plot(figure, &artifact.stored, &data, &self.data.request().assess_options(resamples, clusters));
        let plot = plot.ok_or_else(|| Error::Usage(absent.into()))?;
        let bytes = match format {
            FormatName::Svg => plot.file.into_bytes(),
            FormatName::Png => pixels(&plot, self.scale)?,
        };
        cx.write_output(&self.output, self.force, &bytes)?;
        match self.json {
            true => cx.print_json(&json!({
                "output": self.output,
                "len_bytes": bytes.len(),
                "format": if format == FormatName::Png { "png" } else { "svg" },
                "warnings": warnings,
            })),
            false => Ok(()),
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        Some((given.reported()?, "all plots on a page, with what they say".into()))
    }
}

impl PlotCommand {
    /// Whether the plot has a band by resampling.
    fn is_banded(&self) -> bool {
        matches!(self.plot, PlotName::CorpBefore | PlotName::Corp | PlotName::DecisionCurve)
    }

    /// What is written, by the extension of the file if nothing else says it.
    fn format(&self) -> Result<FormatName, Error> {
        match (self.format, FileKind::of(&self.output)) {
            (Some(format), _) => Ok(format),
            (None, Some(FileKind::Png)) => Ok(FormatName::Png),
            (None, Some(FileKind::Svg)) => Ok(FormatName::Svg),
            (None, None) if self.output.extension().is_none() => Ok(FormatName::Svg),
            (None, _) => Err(Error::Usage(format!(
                "{} has an unknown extension: name it .svg or .png, or set --format",
                self.output.display()
            ))),
        }
    }

    /// What to draw, and why there may be none.
    fn figure(&self) -> (Figure, &'static str) {
        let class = self.class.unwrap_or_default();
        match self.plot {
            PlotName::BeforeAndAfter => (Figure::BeforeAndAfter, NO_SPREAD),
            PlotName::Reliability => (Figure::Reliability, NO_SPREAD),
            PlotName::ReliabilityBefore => (Figure::ReliabilityBefore, NO_SPREAD),
            PlotName::Class => {
                (Figure::Class(class), "this class has no diagram: no test row is predicted to be of it")
            }
            PlotName::Validity => (Figure::Validity, NO_SPREAD),
            PlotName::ValidityConditional => (Figure::ValidityConditional, NO_SPREAD),
            PlotName::Roc => (Figure::Roc, NO_SPREAD),
            PlotName::Distribution => (Figure::Distribution, NO_SPREAD),
            PlotName::Margins => (Figure::Margins, NO_MARGINS),
            PlotName::Map => (Figure::Map, NO_MARGINS),
            PlotName::Band => (Figure::Band, "there is no such plot: the artifact has no band"),
            PlotName::ClassWise => (
                Figure::ClassWise(class),
                "there is no such plot: it needs an artifact that gives every class a probability, and one of its classes",
            ),
            PlotName::Occupancy => (Figure::Occupancy, "there is no such plot: this calibrator has no bins"),
            PlotName::Simplex => (
                Figure::Simplex,
                "there is no such plot: it needs an artifact that gives each of three classes a probability",
            ),
            PlotName::CorpBefore => (Figure::CorpBefore, NO_EVENT),
            PlotName::Corp => (Figure::Corp, NO_EVENT),
            PlotName::DecisionCurve => (Figure::DecisionCurve, NO_EVENT),
            PlotName::Outcomes => (Figure::Outcomes, NO_EVENT),
        }
    }
}

#[cfg(feature = "png")]
fn pixels(plot: &Plot, scale: f32) -> Result<Vec<u8>, Error> {
    Ok(plot.png(scale)?)
}

#[cfg(not(feature = "png"))]
fn pixels(_: &Plot, _: f32) -> Result<Vec<u8>, Error> {
    Err(Error::Usage("this calib was built without the feature that draws PNG: use --format svg".into()))
}

/// Why a curve cannot be drawn.
const NO_SPREAD: &str = "there is no such plot: the test rows all came out the same";

/// As many resamples as a report takes.
const RESAMPLES: usize = 1000;

/// Why there is no plot of a clinical validation.
const NO_EVENT: &str =
    "there is no such plot: it needs a binary artifact, whose probabilities are those of one event";

/// Why there is no plot of margins.
const NO_MARGINS: &str = "there is no such plot: the artifact accepts probabilities, not margins";

/// Why a plot of rows with margins is missing.
const NO_MARGIN_PLOT: &str = "there is no such plot: a margin is no probability before calibration, or all rows came out the same, or the calibrator has \
     no bins";

fn parse_scale(text: &str) -> Result<f32, String> {
    let scale = text.parse().ok().filter(|scale| (0.1..=10.0).contains(scale));
    scale.ok_or_else(|| "a number from 0.1 to 10 is expected".to_owned())
}
