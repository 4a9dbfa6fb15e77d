//! The options that say what is assessed.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::clusters::ClusterColumn;
use super::counted::CountedRows;
use super::groups::GroupColumn;
use super::headings::{DATA, ROWS};
use super::same_rows::SameRows;
use super::source::SCORE_COLUMN;
use crate::error::Error;

/// Probabilities with their outcomes, or scores before and after an artifact.
#[derive(Args)]
pub(crate) struct AssessedOptions {
    /// Artifact: the scores are assessed before and after it.
    ///
    /// You can leave it out. If the first file is not an artifact, it is the table of scores.
    pub(crate) artifact: Option<PathBuf>,
    /// Table with scores of class 1 in [0, 1] and labels.
    ///
    /// The same as --scores FILE.
    #[arg(value_name = "FILE", group = "AssessedSource", help_heading = DATA)]
    data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: AssessedSource,
    #[command(flatten)]
    pub(crate) same_rows: SameRows,
    /// Column of scores.
    ///
    /// In an NPZ archive it is the array of scores, logits or probabilities.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = DATA)]
    pub(crate) score_column: String,
    /// Column of probabilities. Rows with an empty probability are uncalibrated: they are counted and left out.
    #[arg(long, default_value = "prob", value_name = "NAME", help_heading = DATA, hide_short_help = true)]
    pub(crate) prob_column: String,
    /// Column of labels.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = DATA)]
    pub(crate) label_column: String,
    /// Labels, if not in the table.
    ///
    /// A NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    pub(crate) labels: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster_column: ClusterColumn,
    #[command(flatten)]
    pub(crate) group_column: GroupColumn,
    #[command(flatten)]
    pub(crate) counted: CountedRows,
    /// Clusters, if not in the table: a NumPy array of integers, or a table with --cluster-column or `cluster`.
    #[arg(long, value_name = "FILE", help_heading = ROWS, hide_short_help = true)]
    pub(crate) clusters: Option<PathBuf>,
    /// Column of predicted classes: each probability is then that of the prediction being right.
    #[arg(long, value_name = "NAME", help_heading = DATA, hide_short_help = true)]
    pub(crate) class_column: Option<String>,
}

impl AssessedOptions {
    /// The same with a table that stands alone as the one of scores, be it behind an artifact or without one.
    ///
    /// # Errors
    ///
    /// If there is nothing to assess.
    pub(crate) fn with_data(mut self) -> Result<Self, Error> {
        let AssessedSource { probs, scores, margins, logits } = &self.source;
        if [probs, scores, margins, logits].into_iter().all(Option::is_none) {
            let alone = || self.artifact.take_if(|path| !is_artifact(path));
            let Some(data) = self.data.take().or_else(alone) else {
                let artifact = self.artifact.as_deref().unwrap_or(Path::new("ARTIFACT")).display();
                return Err(Error::Usage(format!(
                    "there are no rows to assess: calib assess {artifact} FILE, or with --scores, --probs, --margins or --logits"
                )));
            };
            self.source.scores = Some(data);
        }
        Ok(self)
    }
}

/// Whether a file begins as an artifact does.
fn is_artifact(path: &Path) -> bool {
    let mut start = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"CALB"
}

/// What is assessed: one of the four, unless a table stands alone.
#[derive(Args)]
#[command(next_help_heading = DATA)]
#[group(multiple = false)]
pub(crate) struct AssessedSource {
    /// Table of probabilities, as `calib apply` writes it.
    ///
    /// Or probabilities of a multi-class classifier: a NumPy array of shape (n, classes), or one in an NPZ archive. For
    /// any one input, `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) probs: Option<PathBuf>,
    /// Scores of class 1 in [0, 1].
    ///
    /// Scores of a binary classifier: a table, or a NumPy array of shape (n,).
    #[arg(long, value_name = "FILE")]
    pub(crate) scores: Option<PathBuf>,
    /// Raw scores of class 1, if the artifact accepts them.
    ///
    /// The file is as for --scores.
    #[arg(long, value_name = "FILE")]
    pub(crate) margins: Option<PathBuf>,
    /// Logits of several classes.
    ///
    /// A NumPy array of shape (n, classes), or one in an NPZ archive.
    #[arg(long, value_name = "FILE")]
    pub(crate) logits: Option<PathBuf>,
}
