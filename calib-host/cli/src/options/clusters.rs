//! The options that say which rows belong together.

use std::path::{Path, PathBuf};

use calib_fit::stats::Clusters;
use calib_io::files::Format;
use calib_io::input::{self, Source};
use clap::Args;

use super::headings::ROWS;
use crate::error::Error;

/// The column of clusters in a separate file, by default.
const CLUSTER_COLUMN: &str = "cluster";

/// Which rows belong together.
#[derive(Args)]
pub(crate) struct ClusterColumn {
    /// Column of clusters: which rows belong together.
    ///
    /// An example is the patient of each recording. Guarantees and intervals hold for independent rows, and the rows of
    /// one patient are not independent. So calib fits a calibrator to one row of each patient, drawn with the seed. It
    /// resamples whole patients and assigns whole patients to folds.
    #[arg(long, value_name = "NAME", help_heading = ROWS)]
    cluster_column: Option<String>,
}

/// Where it says which rows belong together.
#[derive(Clone, Copy)]
pub(crate) struct ClusterSource<'a> {
    column: &'a str,
    file: Option<&'a Path>,
}

impl ClusterColumn {
    /// Where the clusters of rows are: in a separate file, or beside the scores.
    pub(crate) fn source<'a>(&'a self, file: Option<&'a PathBuf>) -> Option<ClusterSource<'a>> {
        let column = self.cluster_column.as_deref().or(file.map(|_| CLUSTER_COLUMN))?;
        Some(ClusterSource { column, file: file.map(PathBuf::as_path) })
    }
}

impl ClusterSource<'_> {
    /// Reads the clusters of so many rows of a file.
    pub(crate) fn read(self, scores: &Source, rows: usize) -> Result<Clusters, Error> {
        if let Some(file) = self.file {
            return Ok(input::clusters(
                &Source::read(file, &|_| ())?.beside(scores),
                self.column,
                rows,
                scores.path(),
            )?);
        }
        if scores.format() == Format::NPY {
            return Err(Error::Usage(
                "--cluster-column needs a table: an array has no columns; give the clusters of its rows in a separate file \
                 with --clusters"
                    .into(),
            ));
        }
        Ok(input::clusters(scores, self.column, rows, scores.path())?)
    }
}
