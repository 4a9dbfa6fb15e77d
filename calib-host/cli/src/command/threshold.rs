//! `calib threshold`

use std::path::PathBuf;

use calib_core::{ClassifierId, ScoreEncoding};
use calib_fit::job::{ThresholdOptions, threshold};
use calib_fit::operating::Sharing;
use calib_io::files::read_artifact;
use clap::Args;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion};
use crate::options::{
    ChildOptions, ClusterColumn, EncodingOptions, SCORE_COLUMN, binary_source, parse_classifier, parse_share,
};
use crate::read::{ColumnNames, For, RowFiles, ScoresAre};
use crate::run::Run;
use crate::show;

/// Find a threshold that promises a sensitivity or specificity.
///
/// A threshold of the score, which is written as an artefact.
///
/// The promise needs no calibrated probability and few rows: 59 of class 1 are enough for 95 % of class 1 with 95 % confidence. It
/// holds for new rows that are drawn as these were, one per patient, whatever the distribution of the scores. With both a sensitivity
/// and a specificity there may be two thresholds, and scores in between are referred.
#[derive(Args)]
pub(crate) struct ThresholdCommand {
    /// Scores of class 1 of a binary classifier, in [0, 1], with labels.
    #[arg(long, value_name = "FILE", required_unless_present = "margins", help_heading = "Data")]
    scores: Option<PathBuf>,
    /// Margins of class 1 of a binary classifier: scores of any size.
    #[arg(long, value_name = "FILE", conflicts_with = "scores", help_heading = "Data")]
    margins: Option<PathBuf>,
    /// Labels, if not in the table of scores: a NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    labels: Option<PathBuf>,
    /// The column of scores or margins in a table.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = "Data")]
    score_column: String,
    /// The column of labels in a table.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = "Data")]
    label_column: String,
    #[command(flatten)]
    codes: EncodingOptions,
    #[command(flatten)]
    cluster_column: ClusterColumn,
    /// The clusters, if not in the table of scores.
    #[arg(long, value_name = "FILE", help_heading = "What rows are", hide_short_help = true)]
    clusters: Option<PathBuf>,
    /// The seed of the row that is drawn from each cluster.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "SEED",
        help_heading = "Guarantees and intervals",
        hide_short_help = true
    )]
    seed: u64,
    /// The share of class 1 that is raised, or at least not cleared.
    #[arg(long, value_name = "P", value_parser = parse_share, help_heading = "Method and bins")]
    sensitivity: Option<f64>,
    /// The share of class 0 that is not raised.
    #[arg(long, value_name = "P", value_parser = parse_share, help_heading = "Method and bins")]
    specificity: Option<f64>,
    /// The confidence of each of the two, over the draw of the rows.
    #[arg(long, default_value_t = 0.95, value_name = "C", value_parser = parse_share, help_heading = "Guarantees and intervals")]
    confidence: f64,
    /// A column of groups, such as the sex or the site: each has thresholds of its own, and the promise holds for all of them
    /// together.
    #[arg(long, value_name = "NAME", help_heading = "What rows are", hide_short_help = true)]
    group_column: Option<String>,
    /// The groups have one threshold, with which the promise holds for each of them.
    #[arg(long, requires = "group_column", help_heading = "What rows are", hide_short_help = true)]
    common_threshold: bool,
    /// The share of class 1 where the device is used: what can be promised of the predictive values there.
    #[arg(long, value_name = "P", value_parser = parse_share, help_heading = "Method and bins")]
    prevalence: Option<f64>,
    /// A score between two thresholds raises the alarm, too.
    #[arg(long, help_heading = "Method and bins", hide_short_help = true)]
    refer_raises: bool,
    /// A binary calibrator that takes such scores: the thresholds go beside it. Without one the device has no probabilities.
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

impl Run for ThresholdCommand {
    const AT_WORK: Option<&str> = Some("looking for thresholds");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artefact);
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let (path, kind) = binary_source(self.scores.as_deref(), self.margins.as_deref())
            .expect("clap asks for one of them");
        let parent = self.calibrator.as_deref().map(read_artifact).transpose()?;
        let of_parent = parent.as_ref().map(|parent| parent.artifact().header().encoding);
        let encoding = self.codes.encoding()?.or(of_parent.filter(ScoreEncoding::is_quantized));
        let columns = ColumnNames {
            score: &self.score_column,
            label: &self.label_column,
            clusters: self.cluster_column.source(self.clusters.as_ref()),
            groups: self.group_column.as_deref(),
            points: None,
        };
        let files =
            RowFiles { scores: (path, ScoresAre::Binary(kind)), labels: self.labels.as_deref(), columns };
        let rows = files.read(For::Device(encoding), cx)?;
        let doubts = rows.doubts();
        cx.warn(&doubts)?;
        let calibrator = self.calibrator.as_deref().zip(parent.as_ref());
        let target = self.child.target(calibrator, rows.sha256(), self.classifier_id, cx)?;
        let found = threshold(&rows.data, &self.options(), &target)
            .map_err(|cause| Error::job(rows.scores.clone(), cause))?;
        cx.write_output(&self.output, self.force, found.artifact.as_bytes())?;
        match (self.json, cx.quiet) {
            (true, _) => cx.print_made(&self.output, &found.summary, Some(&doubts)),
            (false, true) => Ok(()),
            (false, false) => Ok(show::thresholds(&found, &self.output, &mut cx.stderr())?),
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        given.assessed()
    }
}

impl ThresholdCommand {
    fn options(&self) -> ThresholdOptions {
        let mut options = ThresholdOptions::default();
        (options.sensitivity, options.specificity) = (self.sensitivity, self.specificity);
        options.confidence = self.confidence;
        options.sharing = if self.common_threshold { Sharing::Common } else { Sharing::Own };
        options.prevalence = self.prevalence;
        options.refer_raises = self.refer_raises;
        options.seed = self.seed;
        options
    }
}
