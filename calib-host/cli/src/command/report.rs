//! `calib report`

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_fit::data::Overlap;
use calib_fit::decide::ReportedRule;
use calib_io::input::{self, read_costs};
use calib_io::report::{FileOrigin, Labels, Origin, Report, report_of};
use clap::Args;
use sha2::{Digest, Sha256};

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion};
use crate::options::headings::{DATA, DEVICE, GUARANTEES, OUTPUT};
use crate::options::{ReportedOptions, count};
use crate::read::{Labeled, NamedArtifact};
use crate::run::Run;

/// Write an HTML report about a calibrator.
///
/// The report shows whether the calibrator helps, what is guaranteed, and how good it is before and after on test data.
/// It also has plots, warnings, and the origin of the calibrator.
#[derive(Args)]
pub(crate) struct ReportCommand {
    #[command(flatten)]
    data: ReportedOptions,
    /// Scores that the artifact was fitted to, as for --test.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    calibration: PathBuf,
    /// Labels of these scores, if not in the same table.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    calibration_labels: Option<PathBuf>,
    /// Number of bootstrap resamples; by default 1,000, or fewer from 100,000 test rows on, but at least 100.
    #[arg(long, value_name = "N", value_parser = count::<u32>(1..=100_000), help_heading = GUARANTEES, hide_short_help = true)]
    bootstrap: Option<u32>,
    /// Costs file as for `calib decide`: adds the costs of decisions to the table of decisions. Start-up costs do not
    /// count.
    #[arg(long, value_name = "FILE", help_heading = DEVICE, hide_short_help = true)]
    actions: Option<PathBuf>,
    /// Largest number of classes with separate diagrams; calib selects the classes with the most rows.
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = count::<usize>(..), help_heading = OUTPUT, hide_short_help = true)]
    drawn_classes: usize,
    /// Title of the report.
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT, hide_short_help = true)]
    title: Option<String>,
    /// Model that the scores come from, for the head of the report.
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT, hide_short_help = true)]
    model: Option<String>,
    /// Date for the head of the report. calib adds no date on its own, so that the same command gives the same report.
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT, hide_short_help = true)]
    date: Option<String>,
    /// Note for the head of the report: purpose, author, data.
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT, hide_short_help = true)]
    note: Option<String>,
    /// Output file for the report.
    #[arg(short, long, value_name = "FILE", required_unless_present = "json", help_heading = OUTPUT)]
    output: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Print the report as JSON on standard output.
    ///
    /// `calib_io::report::REPORT_KEYS` documents its names.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Run for ReportCommand {
    const AT_WORK: Option<&str> = Some("making the report");
    const OUTPUT: Option<FileKind> = Some(FileKind::Page);

    fn run(self, cx: &Context) -> Result<(), Error> {
        let artifact = NamedArtifact::read(&self.data.artifact, self.data.seed)?;
        let read = |scores, labels, clusters, groups| {
            self.data.read(&artifact, (scores, labels), (clusters, groups), cx)
        };
        let of_tables = artifact.needed(self.data.group_column.name());
        let calibration = read(&self.calibration, self.calibration_labels.as_deref(), None, of_tables)?;
        let clusters = self.data.cluster_column.source(self.data.test_clusters.as_ref());
        let test =
            read(&self.data.test, self.data.test_labels.as_deref(), clusters, self.data.group_column.name())?;
        let origin = self.origin(&artifact, [&calibration, &test], cx)?;
        let mut request = self.data.request();
        request.bootstrap = self.bootstrap.map(|resamples| resamples as usize);
        request.drawn_classes = self.drawn_classes;
        request.rule = self.rule(&artifact)?;
        request.warnings =
            [&calibration, &test].into_iter().filter_map(Labeled::warning).chain(cx.left_out()).collect();
        let report = report_of(&artifact.stored, [&calibration.data, &test.data], origin, &request);
        let mut report = report.map_err(|cause| Error::assess(cause, &self.data.test, artifact.path))?;
        let [title, model, date, note] = [&self.title, &self.model, &self.date, &self.note].map(Clone::clone);
        report.labels = Labels { title, model, date, note };
        self.write(&report, cx)
    }

    fn next(given: &Given<'_>, cx: &Context) -> Option<Suggestion> {
        // What a report warns of is no calibrator to use.
        let line = given.applied("NEW", "calibrated.csv").filter(|_| !cx.has_warned())?;
        Some((line, "NEW: scores to calibrate; for a device there are calib export and calib push".into()))
    }
}

impl ReportCommand {
    /// Which files the report comes from, and what their bytes say of the rows.
    fn origin(
        &self,
        artifact: &NamedArtifact<'_>,
        [calibration, test]: [&Labeled; 2],
        cx: &Context,
    ) -> Result<Origin, Error> {
        let file = |role: &str, path: &Path, sha256: &[u8]| FileOrigin {
            role: role.into(),
            name: path.display().to_string(),
            sha256: hex::encode(sha256),
        };
        let sha256 = Sha256::digest(artifact.stored.as_bytes());
        let roles = [["Calibration scores", "Calibration labels"], ["Test scores", "Test labels"]];
        let named = [calibration, test]
            .into_iter()
            .zip(roles)
            .flat_map(|(rows, roles)| rows.sources.iter().zip(roles));
        let files = named.map(|(source, role)| file(role, source.path(), &input::sha256(&[source])));
        Ok(Origin {
            files: std::iter::once(file("Artifact file", &self.data.artifact, &sha256))
                .chain(files)
                .collect(),
            calibration_is_the_artifacts: calibration
                .overlap_with_fit(artifact)?
                .is_some_and(Overlap::is_exact)
                || calibration.sha256() == artifact.stored.artifact().header().provenance.data_sha256,
            test_is_calibration: (calibration.sha256() == test.sha256()).then(Overlap::exact),
            command: cx.command_line(),
        })
    }

    /// The artifact's rule with its costs, or that of the costs file.
    fn rule(&self, artifact: &NamedArtifact<'_>) -> Result<Option<ReportedRule>, Error> {
        let costs = self.actions.as_deref().map(read_costs).transpose()?;
        ReportedRule::of(&artifact.stored.artifact(), costs.as_ref()).map_err(|cause| {
            Error::Mismatch(format!(
                "the costs file does not fit the artifact: {cause}\n  artifact  {}\n  costs     {}",
                artifact.path.display(),
                self.actions.as_deref().unwrap_or(Path::new("-")).display()
            ))
        })
    }

    fn write(&self, report: &Report, cx: &Context) -> Result<(), Error> {
        if let Some(path) = &self.output {
            let page = report.html()?;
            cx.write_output(path, self.force, page.as_bytes())?;
        }
        cx.warn(&report.warnings)?;
        if !cx.quiet && !self.json {
            let mut err = cx.stderr();
            report.verdict.sentences.iter().try_for_each(|sentence| writeln!(err, "{sentence}"))?;
        }
        match (self.json, report.of_margins) {
            (false, _) => Ok(()),
            (true, false) => cx.print_json(report),
            (true, true) => cx.print_json(&report.to_json().map_err(std::io::Error::other)?),
        }
    }
}
