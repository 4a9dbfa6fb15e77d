//! `calib sets`

use std::path::{Path, PathBuf};

use calib_core::{ClassifierId, ScoreEncoding};
use calib_fit::artifact::SetsOnDevice;
use calib_fit::sets::{ConformityScore, PredictionSets, SetAim};
use calib_fit::{ArtifactOptions, StoredArtifact, VectorKind};
use calib_io::files::{Place, read_artifact};
use calib_io::input;
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion};
use crate::options::{
    ChildOptions, EncodingOptions, SCORE_COLUMN, ScoreSource, parse_alpha, parse_classifier, parse_share,
};
use crate::read::{SetInput, SetRows, SetSource, read_all};
use crate::run::Run;
use crate::show::ShownSets;

/// Find sets of classes that hold the true one.
///
/// Prediction sets: all classes that conform well enough, with a stated probability that the true one is among them.
///
/// The rows must be others than those that anything inside the scores was fitted to: a temperature, a calibrator, the choice of a
/// method. On average over their draw the set of a new row then contains the true class with a probability of at least 1 - alpha, and
/// with --confidence in at least that share of all new rows. Where the rows are too few every class is in every set, which is an
/// answer and no error.
#[derive(Args)]
pub(crate) struct Sets {
    #[command(flatten)]
    source: ScoreSource,
    /// Labels, if not in the table of scores: a NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    labels: Option<PathBuf>,
    /// The column of scores or margins in a table; in an NPZ archive the array. For codes of several classes in a table the columns of
    /// all, in their order, separated by commas.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = "Data")]
    score_column: String,
    /// The column of labels in a table.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = "Data")]
    label_column: String,
    #[command(flatten)]
    codes: EncodingOptions,
    /// What is compared: the class's own probability, or its logit less the largest other one, which takes no exponential. Codes of
    /// logits take margin.
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Method and bins")]
    class_score: Option<ConformityName>,
    /// The probability that the true class is not in the set.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = parse_alpha, help_heading = "Guarantees and intervals")]
    alpha: f64,
    /// For the rows of every class, rather than for all rows taken together.
    #[arg(long, help_heading = "Method and bins")]
    by_class: bool,
    /// The confidence over the draw of the rows that at most alpha of all new rows are missed (training-conditional coverage).
    #[arg(long, value_name = "C", value_parser = parse_share, help_heading = "Guarantees and intervals")]
    confidence: Option<f64>,
    /// The predicted class is always in the set: coverage only grows by that.
    #[arg(long, help_heading = "Method and bins", hide_short_help = true)]
    never_empty: bool,
    /// A calibrator that takes such scores: the sets go beside it. Without one the device has no probabilities.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    calibrator: Option<PathBuf>,
    /// The classifier that the scores come from, as 16 hex digits: a device with another one refuses the artefact.
    #[arg(long, value_name = "HEX", value_parser = parse_classifier, conflicts_with = "calibrator", help_heading = "The device", hide_short_help = true)]
    classifier_id: Option<ClassifierId>,
    #[command(flatten)]
    child: ChildOptions,
    /// Where to write the artefact.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,
    /// Replace an existing output.
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// What a class's conformity is.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum ConformityName {
    /// The class's probability.
    Softmax,
    /// The class's logit less the largest other one.
    Margin,
}

impl Run for Sets {
    const AT_WORK: Option<&str> = Some("finding sets");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artefact);
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let parent = self.calibrator.as_deref().map(read_artifact).transpose()?;
        let paths: Vec<_> = std::iter::once(self.input().0).chain(self.labels.as_deref()).collect();
        let sources = read_all(&paths, cx)?;
        let of_parent = parent.as_ref().map(|parent| parent.artifact().header().encoding);
        let encoding = self.codes.encoding()?.or(of_parent.filter(ScoreEncoding::is_quantized));
        let source = SetSource {
            input: self.input().1,
            encoding,
            score_column: &self.score_column,
            label_column: &self.label_column,
            score: self.score(encoding)?,
        };
        let SetRows { rows, labels, doubt, encoding, is_binary } = source.read(&sources)?;
        cx.warn(doubt.as_slice())?;
        let aim = SetAim { alpha: self.alpha, by_class: self.by_class, confidence: self.confidence };
        let sets = PredictionSets::fit(&rows, &labels, aim)
            .map_err(|cause| Error::promise(Place::file(self.input().0), cause))?;
        let on_device =
            SetsOnDevice { sets: &sets, encoding, binary: is_binary, never_empty: self.never_empty };
        let parameters = self.parameters();
        let bytes = match self.calibrator.as_deref().zip(parent.as_ref()) {
            Some((path, parent)) => {
                on_device.beside(parent, &self.child.of(path, parent, parameters, cx)?)?
            }
            None => {
                let options = ArtifactOptions {
                    data_sha256: input::sha256(&sources.iter().collect::<Vec<_>>()),
                    classifier: self.classifier_id,
                    counter: self.child.counter(),
                    ..ArtifactOptions::default()
                };
                on_device.alone(&parameters, &options)?
            }
        };
        cx.write_output(&self.output, self.force, &bytes)?;
        let stored = StoredArtifact::from_bytes(&bytes).expect("just written");
        let shown = ShownSets { sets: &sets, stored: &stored, output: &self.output };
        match (self.json, cx.quiet) {
            (true, _) => {
                let mut value = shown.json();
                value["warnings"] = json!(doubt.as_slice());
                cx.print_json(&value)
            }
            (false, true) => Ok(()),
            (false, false) => Ok(shown.print(&mut cx.stderr())?),
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        given.assessed()
    }
}

impl Sets {
    /// The file of scores, and what a row is.
    fn input(&self) -> (&Path, SetInput) {
        let binary = self.source.binary().map(|(path, kind)| (path, SetInput::Binary(kind)));
        let vectors = || self.source.vectors().map(|(path, kind)| (path, SetInput::Vectors(kind)));
        binary.or_else(vectors).expect("clap asks for one of the sources")
    }

    /// What is compared: of codes of logits the margin, and of what else is asked or given.
    fn score(&self, encoding: Option<ScoreEncoding>) -> Result<Option<ConformityScore>, Error> {
        let asked = self.class_score.map(|name| match name {
            ConformityName::Softmax => ConformityScore::Softmax,
            ConformityName::Margin => ConformityScore::Margin,
        });
        let input = self.input().1;
        if matches!(input, SetInput::Binary(_)) && asked.is_some() {
            return Err(Error::Usage(
                "--class-score is for --logits and --probs: a binary score is compared as it is".into(),
            ));
        }
        if input == SetInput::Vectors(VectorKind::Logits)
            && encoding.is_some()
            && asked == Some(ConformityScore::Softmax)
        {
            return Err(Error::Usage(
                "codes of logits have no softmax without floating point: use --class-score margin".into(),
            ));
        }
        Ok(asked)
    }

    /// What was done, as `name=value` separated by spaces.
    fn parameters(&self) -> String {
        let by_class = if self.by_class { " by-class=true" } else { "" };
        let confidence =
            self.confidence.map_or(String::new(), |confidence| format!(" set-confidence={confidence}"));
        format!("set-alpha={}{by_class}{confidence}", self.alpha)
    }
}
