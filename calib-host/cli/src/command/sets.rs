//! `calib sets`

use std::path::PathBuf;

use calib_core::{ClassifierId, ScoreEncoding};
use calib_fit::job::{SetOptions, sets};
use calib_fit::sets::ConformityScore;
use calib_io::files::read_artifact;
use clap::Args;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion};
use crate::options::{
    ChildOptions, EncodingOptions, SCORE_COLUMN, ScoreSource, named, parse_alpha, parse_classifier,
    parse_share,
};
use crate::read::{ColumnNames, For, RowFiles};
use crate::run::Run;
use crate::show;

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
    #[arg(long, value_name = "NAME", value_parser = named::<ConformityScore>(), help_heading = "Method and bins")]
    class_score: Option<ConformityScore>,
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

impl Run for Sets {
    const AT_WORK: Option<&str> = Some("finding sets");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artefact);
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let parent = self.calibrator.as_deref().map(read_artifact).transpose()?;
        let of_parent = parent.as_ref().map(|parent| parent.artifact().header().encoding);
        let encoding = self.codes.encoding()?.or(of_parent.filter(ScoreEncoding::is_quantized));
        let columns = ColumnNames {
            score: &self.score_column,
            label: &self.label_column,
            clusters: None,
            groups: None,
            points: None,
        };
        let files = RowFiles { scores: self.source.or(None), labels: self.labels.as_deref(), columns };
        let rows = files.read(For::Device(encoding), cx)?;
        let doubt = rows.doubt();
        cx.warn(doubt.as_slice())?;
        let calibrator = self.calibrator.as_deref().zip(parent.as_ref());
        let target = self.child.target(calibrator, rows.sha256(), self.classifier_id, cx)?;
        let found = sets(&rows.data, &self.options(), &target)
            .map_err(|cause| Error::job(rows.scores.clone(), cause))?;
        cx.write_output(&self.output, self.force, found.artifact.as_bytes())?;
        match (self.json, cx.quiet) {
            (true, _) => cx.print_made(&self.output, &found.summary, Some(doubt.as_slice())),
            (false, true) => Ok(()),
            (false, false) => Ok(show::sets(&found, &self.output, &mut cx.stderr())?),
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        given.assessed()
    }
}

impl Sets {
    fn options(&self) -> SetOptions {
        let mut options = SetOptions::default();
        (options.alpha, options.confidence) = (self.alpha, self.confidence);
        (options.by_class, options.never_empty) = (self.by_class, self.never_empty);
        options.class_score = self.class_score;
        options
    }
}
