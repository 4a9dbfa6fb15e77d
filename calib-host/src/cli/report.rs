//! `calib report` and `calib plot`

use std::path::{Path, PathBuf};

use calib_core::artifact::Reduction;
use calib_host::decide::{Envelope, Rule, read_costs};
use calib_host::input::{self, Source};
use calib_host::{
    AssessOptions, Binning, Bootstrap, CalibratedRows, ClassProbRows, Error, FileOrigin, IntervalKind,
    Origin, Plot, Report, ReportData, ReportedRule, VectorKind, report, write_file,
};
use clap::{Args, ValueEnum};
use sha2::{Digest, Sha256};

use super::calibrated::{Columns, NamedArtifact, matrix_labels};
use super::class_probs::class_probs;
use super::options::read_vectors;
use super::print_json;

/// With this many drawn rows in all, resampling takes a few seconds.
const DRAWS: usize = 100_000_000;

/// Write a page about a calibrator that can be handed over: what is guaranteed, how good it is before and after on test data,
/// plots, warnings, and where it comes from.
#[derive(Args)]
pub(crate) struct ReportCommand {
    #[command(flatten)]
    data: Data,
    /// The scores that the artefact was fitted to, as for --test.
    #[arg(long, value_name = "FILE")]
    calibration: PathBuf,
    /// Their labels, if not in the same table.
    #[arg(long, value_name = "FILE")]
    calibration_labels: Option<PathBuf>,
    /// The number of bootstrap resamples; without it 1000, or fewer from 100 000 test rows on, but 100 at least.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    bootstrap: Option<u32>,
    /// A costs file as of `calib decide`: adds what decisions cost to the table of decisions. Start-up costs do not count.
    #[arg(long, value_name = "FILE")]
    actions: Option<PathBuf>,
    /// At most so many classes get diagrams of their own, those with the most rows.
    #[arg(long, default_value_t = 12, value_name = "N")]
    drawn_classes: usize,
    /// Where to write the page.
    #[arg(short, long, value_name = "FILE", required_unless_present = "json")]
    output: Option<PathBuf>,
    /// Replace an existing page.
    #[arg(long)]
    force: bool,
    /// Print the report as JSON on standard output; `calib_host::REPORT_KEYS` documents its names.
    #[arg(long)]
    json: bool,
}

/// Draw one of the plots of a report as an SVG or PNG file.
#[derive(Args)]
pub(crate) struct PlotCommand {
    /// What to draw.
    #[arg(value_enum)]
    plot: PlotName,
    #[command(flatten)]
    data: Data,
    /// The class of a class's diagram.
    #[arg(long, value_name = "K", required_if_eq_any([("plot", "class"), ("plot", "class-wise")]))]
    class: Option<u16>,
    /// The scores that the artefact was fitted to, for the occupancy.
    #[arg(long, value_name = "FILE", required_if_eq("plot", "occupancy"))]
    calibration: Option<PathBuf>,
    /// Their labels, if not in the same table.
    #[arg(long, value_name = "FILE", requires = "calibration")]
    calibration_labels: Option<PathBuf>,
    /// Where to write the file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The format; without it PNG if the name ends so, otherwise SVG.
    #[arg(long, value_enum)]
    format: Option<FormatName>,
    /// How many pixels of a PNG image make one of the SVG's 360 in width.
    #[arg(long, default_value_t = 2.0, value_name = "FACTOR", value_parser = parse_scale)]
    scale: f32,
    /// Replace an existing file.
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum FormatName {
    /// A vector image with light and dark colours.
    Svg,
    /// Pixels in light colours; the same bytes on every machine.
    Png,
}

fn parse_scale(text: &str) -> Result<f32, String> {
    let scale = text.parse().ok().filter(|scale| (0.1..=10.0).contains(scale));
    scale.ok_or_else(|| "a number from 0.1 to 10 is expected".to_owned())
}

/// What both take.
#[derive(Args)]
struct Data {
    /// The artefact.
    artifact: PathBuf,
    /// Scores that nothing was fitted to: scores of class 1 for a binary artefact, otherwise a matrix. As integer codes for
    /// an artefact over those.
    #[arg(long, value_name = "FILE")]
    test: PathBuf,
    /// Their labels, if not in the same table.
    #[arg(long, value_name = "FILE")]
    test_labels: Option<PathBuf>,
    /// What a matrix holds; integer codes if the artefact is over those.
    #[arg(long, value_enum, default_value_t = MatrixName::Logits)]
    matrix: MatrixName,
    /// The column of scores in a table; in an NPZ archive the array of scores, logits or probabilities.
    #[arg(long, default_value = super::options::SCORE_COLUMN, value_name = "NAME")]
    score_column: String,
    /// The column of labels in a table.
    #[arg(long, default_value = "label", value_name = "NAME")]
    label_column: String,
    /// The number of bins of equal width of calibration errors and reliability diagrams.
    #[arg(long, default_value_t = 15, value_name = "B", value_parser = clap::value_parser!(u32).range(1..=1000))]
    bins: u32,
    /// The seed of the bootstrap, and of the random words that a randomised artefact needs.
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
    /// One minus the coverage of the intervals.
    #[arg(long, default_value_t = 0.05, value_name = "ALPHA", value_parser = super::parse_alpha)]
    alpha: f64,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum MatrixName {
    /// Logits.
    Logits,
    /// Probabilities.
    Probs,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PlotName {
    /// The reliability diagram after calibration.
    Reliability,
    /// The reliability diagram before calibration.
    ReliabilityBefore,
    /// The reliability diagrams of one predicted class, before and after.
    Class,
    /// The share of predictions whose bin is within epsilon.
    Validity,
    /// Whether every bin is within epsilon.
    ValidityConditional,
    /// The ROC curves and the convex hull.
    Roc,
    /// The distributions of scores and probabilities.
    Distribution,
    /// The reliability diagram of one class against the rest, before and after.
    ClassWise,
    /// The shares of the calibration and test rows in the calibrator's bins.
    Occupancy,
    /// The recalibration diagram on the simplex, for three classes.
    Simplex,
}

impl ReportCommand {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        let artifact = NamedArtifact::read(&self.data.artifact, self.data.seed)?;
        let calibration_files =
            self.data.read(&self.calibration, self.calibration_labels.as_deref(), quiet)?;
        let test_files = self.data.read(&self.data.test, self.data.test_labels.as_deref(), quiet)?;
        let calibration = self.data.rows(&artifact, &calibration_files)?;
        let test = self.data.rows(&artifact, &test_files)?;
        let data_sha256 = |files: &[Source]| input::sha256(&files.iter().collect::<Vec<_>>());
        let (of_calibration, of_test) = (data_sha256(&calibration_files), data_sha256(&test_files));
        let artifact_file = FileOrigin {
            role: "Artefact file".into(),
            name: self.data.artifact.display().to_string(),
            sha256: hex::encode(Sha256::digest(artifact.stored.as_bytes())),
        };
        let roles = ["Calibration scores", "Calibration labels", "Test scores", "Test labels"];
        let named = calibration_files.iter().zip(&roles[..2]).chain(test_files.iter().zip(&roles[2..]));
        let files = named.map(|(source, role)| FileOrigin {
            role: (*role).into(),
            name: source.path().display().to_string(),
            sha256: hex::encode(input::sha256(&[source])),
        });
        let origin = Origin {
            files: std::iter::once(artifact_file).chain(files).collect(),
            calibration_is_the_artefacts: of_calibration
                == artifact.stored.artifact().header().provenance.data_sha256,
            test_is_calibration: of_calibration == of_test,
            command: command_line(),
        };
        let resamples = match self.bootstrap {
            Some(resamples) => resamples as usize,
            None => (DRAWS / test.after.len()).clamp(100, 1000),
        };
        let options = self.data.options(Some(resamples));
        let class_probs = self.data.class_probs(&artifact, &test_files)?;
        let rule = self.rule(&artifact)?;
        let data = ReportData {
            calibration: &calibration,
            test: &test,
            class_probs: class_probs.as_ref(),
            rule: rule.as_ref(),
            drawn_classes: self.drawn_classes,
        };
        self.write(&report(&artifact.stored, &data, origin, &options))
    }

    /// The artefact's rule with its costs, or that of the costs file.
    fn rule(&self, artifact: &NamedArtifact<'_>) -> Result<Option<ReportedRule>, Error> {
        let costs = self.actions.as_deref().map(read_costs).transpose()?;
        let actions = costs.as_ref().map(|costs| &costs.actions);
        let own = ReportedRule::of_artifact(&artifact.stored.artifact(), actions).map_err(|cause| {
            Error::Mismatch(format!(
                "the costs file does not fit the artefact: {cause}\n  artefact  {}\n  costs     {}",
                artifact.path.display(),
                self.actions.as_deref().unwrap_or(Path::new("-")).display()
            ))
        })?;
        Ok(own.or_else(|| {
            let costs = costs?;
            let bayes = || Rule::bayes(&Envelope::new(&costs.actions, |_| true));
            Some(ReportedRule::of_costs(costs.stated.clone().unwrap_or_else(bayes), &costs.actions))
        }))
    }

    fn write(&self, report: &Report) -> Result<(), Error> {
        if let Some(path) = &self.output {
            let page = report.html().map_err(|cause| Error::Usage(cause.to_string()))?;
            write_file(path, self.force, |out| out.write_all(page.as_bytes()))?;
        }
        if self.json { print_json(report) } else { Ok(()) }
    }
}

impl PlotCommand {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        let artifact = NamedArtifact::read(&self.data.artifact, self.data.seed)?;
        let files = self.data.read(&self.data.test, self.data.test_labels.as_deref(), quiet)?;
        let rows = self.data.rows(&artifact, &files)?;
        let origin = Origin {
            files: Vec::new(),
            calibration_is_the_artefacts: true,
            test_is_calibration: false,
            command: String::new(),
        };
        let calibration = match &self.calibration {
            Some(path) => {
                let files = self.data.read(path, self.calibration_labels.as_deref(), quiet)?;
                Some(self.data.rows(&artifact, &files)?)
            }
            None => None,
        };
        let class_probs = self.data.class_probs(&artifact, &files)?;
        let data = ReportData {
            calibration: calibration.as_ref().unwrap_or(&rows),
            test: &rows,
            class_probs: class_probs.as_ref(),
            rule: None,
            drawn_classes: usize::MAX,
        };
        let report = report(&artifact.stored, &data, origin, &self.data.options(None));
        let plot = self.find(&report)?;
        let bytes = match self.format() {
            FormatName::Svg => plot.file.clone().into_bytes(),
            FormatName::Png => plot.png(self.scale).map_err(|cause| Error::Usage(cause.to_string()))?,
        };
        write_file(&self.output, self.force, |out| out.write_all(&bytes))?;
        Ok(())
    }

    fn format(&self) -> FormatName {
        let is_png = self.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
        self.format.unwrap_or(if is_png { FormatName::Png } else { FormatName::Svg })
    }

    fn find<'r>(&self, report: &'r Report) -> Result<&'r Plot, Error> {
        let class = self.class.unwrap_or_default();
        let (id, absent) = match self.plot {
            PlotName::Reliability => ("reliability-after".to_owned(), NO_SPREAD),
            PlotName::ReliabilityBefore => ("reliability-before".into(), NO_SPREAD),
            PlotName::Class => {
                (format!("class-{class}"), "this class has no diagram: no test row is predicted to be of it")
            }
            PlotName::Validity => ("validity-marginal".into(), NO_SPREAD),
            PlotName::ValidityConditional => ("validity-conditional".into(), NO_SPREAD),
            PlotName::Roc => ("roc".into(), NO_SPREAD),
            PlotName::Distribution => ("distribution".into(), NO_SPREAD),
            PlotName::ClassWise => (
                format!("one-vs-rest-{class}"),
                "there is no such plot: it takes an artefact that gives every class a probability, and one of its classes",
            ),
            PlotName::Occupancy => ("occupancy".into(), "there is no such plot: this calibrator has no bins"),
            PlotName::Simplex => (
                "simplex".into(),
                "there is no such plot: it takes an artefact that gives each of three classes a probability",
            ),
        };
        let found = report.plots.iter().find(|plot| plot.id == id);
        found.ok_or_else(|| Error::Usage(absent.into()))
    }
}

/// Why a curve cannot be drawn.
const NO_SPREAD: &str = "there is no such plot: the test rows all came out the same";

impl Data {
    fn read(&self, scores: &Path, labels: Option<&Path>, quiet: bool) -> Result<Vec<Source>, Error> {
        let paths: Vec<&Path> = std::iter::once(scores).chain(labels).collect();
        Source::read_all(&paths, !quiet)
    }

    fn columns(&self) -> Columns<'_> {
        Columns { score: &self.score_column, label: &self.label_column }
    }

    fn kind(&self) -> VectorKind {
        match self.matrix {
            MatrixName::Logits => VectorKind::Logits,
            MatrixName::Probs => VectorKind::Probs,
        }
    }

    /// The same rows with all classes, if the artefact gives every class a probability.
    fn class_probs(
        &self,
        artifact: &NamedArtifact<'_>,
        sources: &[Source],
    ) -> Result<Option<ClassProbRows>, Error> {
        let reduction = artifact.stored.artifact().header().reduction;
        if !matches!(reduction, Reduction::ClassWise | Reduction::Normalized | Reduction::Joint) {
            return Ok(None);
        }
        let vectors = read_vectors(&sources[0], self.kind(), &self.score_column)?;
        let labels = matrix_labels(sources, &self.label_column, vectors.len(), vectors.classes())?;
        Ok(class_probs(artifact.apply(&vectors)?, &vectors, &labels))
    }

    fn rows(&self, artifact: &NamedArtifact<'_>, sources: &[Source]) -> Result<CalibratedRows, Error> {
        let columns = self.columns();
        if artifact.stored.artifact().header().reduction == Reduction::Binary {
            return artifact.scores(sources, columns);
        }
        artifact.vectors(sources, self.kind(), columns)
    }

    fn options(&self, resamples: Option<usize>) -> AssessOptions {
        let bootstrap = resamples.map(|resamples| Bootstrap {
            kind: IntervalKind::Percentile,
            resamples,
            seed: self.seed,
            alpha: self.alpha,
        });
        AssessOptions {
            binning: Binning::EqualWidth(self.bins as usize),
            norm: 2.0,
            alpha: self.alpha,
            bootstrap,
        }
    }
}

/// The command line, with the name of the program as its users know it.
fn command_line() -> String {
    let arguments = std::env::args_os().skip(1).map(|argument| {
        let text = argument.to_string_lossy().into_owned();
        if text.contains(char::is_whitespace) { format!("'{text}'") } else { text }
    });
    std::iter::once("calib".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}
