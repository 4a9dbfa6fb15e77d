//! The options of a report and of its plots.

use std::path::{Path, PathBuf};

use calib_fit::VectorKind;
use calib_io::report::ReportRequest;
use clap::Args;

use super::clinical::ClinicalArgs;
use super::clusters::{ClusterColumn, ClusterSource};
use super::groups::GroupColumn;
use super::headings::{DATA, GUARANTEES, METHOD, ROWS};
use super::parse::{count, parse_alpha};
use super::same_rows::SameRows;
use super::source::SCORE_COLUMN;
use crate::context::Context;
use crate::error::Error;
use crate::read::{ColumnNames, For, Labeled, NamedArtifact, RowFiles, ScoresAre};

/// An artifact, and rows that it is judged on.
#[derive(Args)]
pub(crate) struct ReportedOptions {
    /// Artifact.
    pub(crate) artifact: PathBuf,
    /// Scores of rows used for neither training nor calibration.
    ///
    /// A binary artifact needs scores of class 1, any other artifact a matrix. An artifact over integer codes needs
    /// codes.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    pub(crate) test: PathBuf,
    /// Labels of the test rows, if not in the same table.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    pub(crate) test_labels: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster_column: ClusterColumn,
    #[command(flatten)]
    pub(crate) group_column: GroupColumn,
    /// Clusters of the test rows, if not in the same table: a NumPy array of integers, or a table with --cluster-column
    /// or `cluster`.
    #[arg(long, value_name = "FILE", help_heading = ROWS, hide_short_help = true)]
    pub(crate) test_clusters: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) same_rows: SameRows,
    #[command(flatten)]
    pub(crate) clinical: ClinicalArgs,
    /// Read the matrices as logits.
    ///
    /// Without --logits and --probs, an artifact that accepts only logits reads logits. Otherwise, the matrix has
    /// probabilities if every row sums to one with entries in [0, 1], and logits if not.
    #[arg(long, conflicts_with = "probs", help_heading = DATA)]
    logits: bool,
    /// Read the matrices as probabilities.
    ///
    /// For an artifact over integer codes of probabilities, they are read as such codes.
    #[arg(long, help_heading = DATA)]
    probs: bool,
    /// Column of scores.
    ///
    /// In an NPZ archive it is the array of scores, logits or probabilities.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = DATA)]
    pub(crate) score_column: String,
    /// Column of labels.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = DATA)]
    pub(crate) label_column: String,
    /// Number of equal-width bins.
    ///
    /// These are the bins of calibration errors and reliability diagrams.
    #[arg(long, default_value_t = 15, value_name = "B", value_parser = count::<u32>(1..=1000), help_heading = METHOD, hide_short_help = true)]
    bins: u32,
    /// Seed of the bootstrap, and of the random words that a randomized artifact needs.
    #[arg(long, default_value_t = 0, value_name = "SEED", value_parser = count::<u64>(..), help_heading = GUARANTEES, hide_short_help = true)]
    pub(crate) seed: u64,
    /// One minus the coverage of the intervals.
    #[arg(long, default_value_t = 0.05, value_name = "ALPHA", value_parser = parse_alpha, help_heading = GUARANTEES, hide_short_help = true)]
    alpha: f64,
}

impl ReportedOptions {
    /// What the matrices hold, if the user says so.
    fn kind(&self) -> Option<VectorKind> {
        match self.logits {
            true => Some(VectorKind::Logits),
            false => self.probs.then_some(VectorKind::Probs),
        }
    }

    /// Reads scores and their labels, and if asked for which rows belong together and of which group they are.
    pub(crate) fn read(
        &self,
        artifact: &NamedArtifact<'_>,
        (scores, labels): (&Path, Option<&Path>),
        (clusters, groups): (Option<ClusterSource<'_>>, Option<&str>),
        cx: &Context,
    ) -> Result<Labeled, Error> {
        let (score, label) = (&*self.score_column, &*self.label_column);
        let columns = ColumnNames { score, label, clusters, groups, points: None };
        let scores = (scores, ScoresAre::of_artifact(artifact, self.kind()));
        RowFiles { scores, labels, columns }.read(For::Artifact(artifact), cx)
    }

    /// How a report is made.
    pub(crate) fn request(&self) -> ReportRequest {
        let mut request = ReportRequest::default();
        (request.bins, request.alpha, request.seed) = (self.bins as usize, self.alpha, self.seed);
        request.extremes = self.clinical.extreme_probs;
        request.same_rows = self.same_rows.are_allowed();
        request
    }
}
