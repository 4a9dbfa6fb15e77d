//! Rows that a report is about.

use std::path::Path;

use calib_core::artifact::Reduction;
use calib_fit::data::RowsHash;
use calib_io::input::Source;
use calib_io::report::{CalibratedRows, ClassProbRows};

use super::files::read_all;
use super::operating::OperatingRows;
use super::rows::{ColumnNames, NamedArtifact, ReadRows};
use crate::context::Context;
use crate::error::Error;
use crate::options::{ClusterSource, ReportedOptions};

/// The rows of a data set, calibrated.
pub(crate) struct Reported {
    /// The files that they are from.
    pub(crate) sources: Vec<Source>,
    /// The hash of the rows.
    pub(crate) hash: RowsHash,
    /// The predictions.
    pub(crate) rows: CalibratedRows,
    /// The same rows with all classes, if the artefact gives every class a probability.
    pub(crate) class_probs: Option<ClassProbRows>,
    /// What is doubtful about the file of scores.
    pub(crate) doubt: Option<String>,
    /// The rows as the artefact's operating points see them, if it has any.
    pub(crate) operating: Option<OperatingRows>,
}

impl Reported {
    /// Reads scores and their labels, and if asked for which rows belong together and of which group they are, and calibrates
    /// them.
    pub(crate) fn read(
        options: &ReportedOptions,
        artifact: &NamedArtifact<'_>,
        (scores, labels): (&Path, Option<&Path>),
        (clusters, groups): (Option<ClusterSource<'_>>, Option<&str>),
        cx: &Context,
    ) -> Result<Self, Error> {
        let paths: Vec<&Path> = std::iter::once(scores).chain(labels).collect();
        let sources = read_all(&paths, cx)?;
        let columns =
            ColumnNames { score: &options.score_column, label: &options.label_column, clusters, groups };
        let (read, class_probs) = match artifact.stored.artifact().header().reduction {
            Reduction::Binary => (artifact.scores(&sources, columns, artifact.score_kind())?, None),
            Reduction::ClassWise | Reduction::Normalized | Reduction::Joint => {
                artifact.all_classes(&sources, options.kind(), columns)?
            }
            _ => (artifact.vectors(&sources, options.kind(), columns)?, None),
        };
        let ReadRows { rows, hash, doubt } = read;
        let operating = match artifact.stored.artifact().header().reduction {
            Reduction::Binary => artifact.operating_rows(&sources, columns, artifact.score_kind())?,
            _ => None,
        };
        Ok(Self { sources, hash, rows, class_probs, doubt, operating })
    }
}
