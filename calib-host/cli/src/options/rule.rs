//! The options of a rule that labeled rows give: it goes beside a calibrator, or into an artifact without one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use calib_core::{ClassifierId, ScoreEncoding};
use calib_fit::StoredArtifact;
use calib_fit::job::Target;
use calib_io::files::read_artifact;
use clap::Args;
use serde::Serialize;

use super::clusters::ClusterSource;
use super::codes::EncodingOptions;
use super::derived::DerivedOptions;
use super::headings::{DATA, DEVICE};
use super::parse::parse_classifier;
use super::source::SCORE_COLUMN;
use crate::context::Context;
use crate::error::Error;
use crate::read::{ColumnNames, For, Labeled, RowFiles, ScoresAre};

/// Where rows and their calibrator are, and what is written.
#[derive(Args)]
pub(crate) struct RuleOptions {
    /// Labels, if not in the table of scores.
    ///
    /// A NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    labels: Option<PathBuf>,
    /// Column of scores.
    ///
    /// It is also the column of raw scores. In an NPZ archive it is the array.
    ///
    /// For codes of several classes in a table: all columns, in the order of the classes, separated by commas.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = DATA)]
    score_column: String,
    /// Column of labels.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = DATA)]
    label_column: String,
    #[command(flatten)]
    codes: EncodingOptions,
    /// Calibrator for these scores.
    ///
    /// The result is stored beside it. Without a calibrator the device has no probabilities.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    calibrator: Option<PathBuf>,
    /// Classifier that the scores come from, as 16 hex digits: a device with another classifier refuses the artifact.
    #[arg(long, value_name = "HEX", value_parser = parse_classifier, conflicts_with = "calibrator", help_heading = DEVICE, hide_short_help = true)]
    classifier_id: Option<ClassifierId>,
    #[command(flatten)]
    child: DerivedOptions,
}

impl RuleOptions {
    /// Reads the calibrator.
    pub(crate) fn parent(&self) -> Result<Option<StoredArtifact>, Error> {
        Ok(self.calibrator.as_deref().map(read_artifact).transpose()?)
    }

    /// Reads the rows; where the calibrator takes codes, they are such.
    pub(crate) fn rows(
        &self,
        scores: (&Path, ScoresAre),
        (clusters, groups): (Option<ClusterSource<'_>>, Option<&str>),
        parent: Option<&StoredArtifact>,
        cx: &Context,
    ) -> Result<Labeled, Error> {
        let of_parent = parent.map(|parent| parent.artifact().header().encoding);
        let encoding = self.codes.encoding()?.or(of_parent.filter(ScoreEncoding::is_quantized));
        let (score, label) = (&*self.score_column, &*self.label_column);
        let columns = ColumnNames { score, label, clusters, groups, points: None };
        RowFiles { scores, labels: self.labels.as_deref(), columns }.read(For::Device(encoding), cx)
    }

    /// Where the rule goes.
    pub(crate) fn target<'a>(
        &self,
        parent: Option<&'a StoredArtifact>,
        rows: &Labeled,
        cx: &Context,
    ) -> Result<Target<'a>, Error> {
        self.child.target(self.calibrator.as_deref().zip(parent), rows.sha256(), self.classifier_id, cx)
    }

    /// Writes what was made, and tells of it: as JSON with the warnings, or as `show` does.
    pub(crate) fn write(
        &self,
        (artifact, summary): (&StoredArtifact, &impl Serialize),
        warnings: &[String],
        show: impl FnOnce(&Path, &mut dyn Write) -> io::Result<()>,
        cx: &Context,
    ) -> Result<(), Error> {
        cx.write_output(&self.child.output, self.child.force, artifact.as_bytes())?;
        match (self.child.json, cx.quiet) {
            (true, _) => cx.print_made(&self.child.output, summary, Some(warnings)),
            (false, true) => Ok(()),
            (false, false) => Ok(show(&self.child.output, &mut cx.stderr())?),
        }
    }
}
