//! Rows that a report is about.

use std::path::Path;

use calib_core::artifact::Reduction;
use calib_fit::Dataset;
use calib_fit::data::RowsHash;
use calib_fit::job::{Calibrated, Finding};
use calib_io::input::{self, Source};

use super::assessed::{RowKind, read_dataset};
use super::files::read_all;
use super::rows::{ColumnNames, NamedArtifact};
use crate::context::Context;
use crate::error::{Error, sentence};
use crate::options::{ClusterSource, ReportedOptions};

/// The rows of a data set.
pub(crate) struct Reported {
    /// The files that they are from.
    pub(crate) sources: Vec<Source>,
    /// The scores and labels.
    pub(crate) data: Dataset,
    /// The hash of the rows.
    pub(crate) hash: RowsHash,
}

impl Reported {
    /// Reads scores and their labels, and if asked for which rows belong together and of which group they are.
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
        let kind = match artifact.stored.artifact().header().reduction {
            Reduction::Binary => RowKind::Binary(artifact.score_kind()),
            _ => RowKind::Vectors(options.kind()),
        };
        let data = read_dataset(Some(artifact), &sources, kind, columns)?;
        let hash = data.rows_hash().map_err(|cause| Error::assess(cause.into(), scores, artifact.path))?;
        Ok(Self { sources, data, hash })
    }

    /// The hash of the files.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        input::sha256(&self.sources.iter().collect::<Vec<_>>())
    }

    /// The rows as the artefact calibrates them.
    pub(crate) fn calibrated(&self, artifact: &NamedArtifact<'_>) -> Result<Calibrated<'_>, Error> {
        let found = Calibrated::new(&self.data, &artifact.stored.artifact(), artifact.seed);
        found.map_err(|cause| Error::assess(cause, self.sources[0].path(), artifact.path))
    }

    /// What is doubtful about the file of scores.
    pub(crate) fn doubt(&self) -> Option<String> {
        Finding::of_scores(&self.data).map(|doubt| sentence(&doubt, self.sources[0].path()))
    }
}
