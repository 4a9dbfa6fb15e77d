//! `calib threshold`

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_fit::job::{ThresholdOptions, threshold};
use calib_fit::operating::Sharing;
use clap::Args;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion};
use crate::options::headings::{DATA, GUARANTEES, METHOD, ROWS};
use crate::options::{ClusterColumn, RuleOptions, binary_source, count, parse_share};
use crate::read::ScoresAre;
use crate::run::Run;
use crate::show;

/// Find a threshold that guarantees a sensitivity or specificity.
///
/// The command writes a threshold of the score as an artifact.
///
/// The guarantee needs no calibrated probability and few rows: 59 of class 1 are enough for 95% of class 1 with 95%
/// confidence. It holds for new rows that are drawn as these rows were, one per patient, for any distribution of the
/// scores.
///
/// With both a sensitivity and a specificity there may be two thresholds, and scores in between are referred.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("ScoreSource").required(true).multiple(false))]
pub(crate) struct ThresholdCommand {
    /// Table with scores of class 1 in [0, 1] and labels.
    ///
    /// The same as --scores FILE.
    #[arg(value_name = "FILE", group = "ScoreSource", help_heading = DATA)]
    data: Option<PathBuf>,
    /// Scores of class 1 in [0, 1], with labels.
    #[arg(long, value_name = "FILE", group = "ScoreSource", help_heading = DATA)]
    scores: Option<PathBuf>,
    /// Raw scores of class 1, of any size.
    #[arg(long, value_name = "FILE", group = "ScoreSource", help_heading = DATA)]
    margins: Option<PathBuf>,
    #[command(flatten)]
    cluster_column: ClusterColumn,
    /// Clusters, if not in the table of scores.
    #[arg(long, value_name = "FILE", help_heading = ROWS, hide_short_help = true)]
    clusters: Option<PathBuf>,
    /// Seed of the row that is drawn from each cluster.
    #[arg(long, default_value_t = 0, value_name = "SEED", value_parser = count::<u64>(..), help_heading = GUARANTEES, hide_short_help = true)]
    seed: u64,
    /// Share of class 1 that raises the alarm.
    ///
    /// If scores in between are referred, it is the share that is at least not cleared.
    #[arg(long, value_name = "P", value_parser = parse_share, help_heading = METHOD)]
    sensitivity: Option<f64>,
    /// Share of class 0 that does not raise the alarm.
    #[arg(long, value_name = "P", value_parser = parse_share, help_heading = METHOD)]
    specificity: Option<f64>,
    /// Confidence of each of the two, over the draw of the rows.
    #[arg(long, default_value_t = 0.95, value_name = "C", value_parser = parse_share, help_heading = GUARANTEES)]
    confidence: f64,
    /// Column of groups, such as the sex or the site.
    ///
    /// Each group has separate thresholds, and the guarantee holds for all groups simultaneously.
    #[arg(long, value_name = "NAME", help_heading = ROWS, hide_short_help = true)]
    group_column: Option<String>,
    /// Use one threshold for all groups, with which the guarantee holds for each group.
    #[arg(long, requires = "group_column", help_heading = ROWS, hide_short_help = true)]
    common_threshold: bool,
    /// Share of class 1 where the device is used.
    ///
    /// calib then prints what it can guarantee of the predictive values there.
    #[arg(long, value_name = "P", value_parser = parse_share, help_heading = METHOD)]
    prevalence: Option<f64>,
    /// Raise the alarm also for a score between two thresholds.
    #[arg(long, help_heading = METHOD, hide_short_help = true)]
    refer_raises: bool,
    #[command(flatten)]
    rule: RuleOptions,
}

impl Run for ThresholdCommand {
    const AT_WORK: Option<&str> = Some("looking for thresholds");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artifact);
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let (path, kind) =
            binary_source(self.data.as_deref().or(self.scores.as_deref()), self.margins.as_deref())
                .expect("clap asks for one of them");
        let parent = self.rule.parent()?;
        let beside = (self.cluster_column.source(self.clusters.as_ref()), self.group_column.as_deref());
        let rows = self.rule.rows((path, ScoresAre::Binary(kind)), beside, parent.as_ref(), cx)?;
        let warnings = rows.warnings();
        cx.warn(&warnings)?;
        let target = self.rule.target(parent.as_ref(), &rows, cx)?;
        let found = threshold(&rows.data, &self.options(), &target)
            .map_err(|cause| Error::job(rows.scores.clone(), cause))?;
        let show = |output: &Path, err: &mut dyn Write| show::thresholds(&found, output, err);
        self.rule.write((&found.artifact, &found.summary), &warnings, show, cx)
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
