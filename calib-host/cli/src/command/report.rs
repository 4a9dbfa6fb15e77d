//! `calib report`

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use calib_fit::data::Overlap;
use calib_fit::decide::ReportedRule;
use calib_io::files::FileError;
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

/// What a report is made of, and how.
#[derive(Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(super) data: ReportedOptions,
    /// Scores that the artifact was fitted to, as for --test.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    pub(super) calibration: PathBuf,
    /// Labels of these scores, if not in the same table.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    pub(super) calibration_labels: Option<PathBuf>,
    /// Number of bootstrap resamples; by default 1,000, or fewer from 100,000 test rows on, but at least 100.
    #[arg(long, value_name = "N", value_parser = count::<u32>(1..=100_000), help_heading = GUARANTEES, hide_short_help = true)]
    bootstrap: Option<u32>,
    /// Costs file as for `calib decide`: adds the costs of decisions to the table of decisions. Start-up costs do not
    /// count.
    #[arg(long, value_name = "FILE", help_heading = DEVICE, hide_short_help = true)]
    pub(super) actions: Option<PathBuf>,
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
}

/// Write an HTML report about a calibrator.
///
/// The report shows whether the calibrator helps, what is guaranteed, and how good it is before and after on test data.
/// It also has plots, warnings, and the origin of the calibrator.
#[derive(Args)]
pub(crate) struct ReportCommand {
    #[command(flatten)]
    asked: ReportArgs,
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
        let artifact = NamedArtifact::read(&self.asked.data.artifact, self.asked.data.seed)?;
        let name = |path: &Path| path.display().to_string();
        let (report, _) = self.asked.report(&artifact, &name, cx.command_line(), cx)?;
        self.write(&report, cx)
    }

    fn next(given: &Given<'_>, cx: &Context) -> Option<Suggestion> {
        // What a report warns of is no calibrator to use.
        let line = given.applied("NEW", "calibrated.csv").filter(|_| !cx.has_warned())?;
        Some((line, "NEW: scores to calibrate; for a device there are calib export and calib push".into()))
    }
}

/// The roles of the files that a report is made from, and the options that name them; those of rows first.
pub(super) const ROLES: [(&str, &str); 6] = [
    ("calibration", "Calibration scores"),
    ("calibration-labels", "Calibration labels"),
    ("test", "Test scores"),
    ("test-labels", "Test labels"),
    ("test-clusters", "Test clusters"),
    ("actions", "Costs file"),
];

impl ReportArgs {
    /// Makes the report, and returns it with the numbers of calibration and test rows. `name` is what the report calls a file.
    pub(super) fn report(
        &self,
        artifact: &NamedArtifact<'_>,
        name: &dyn Fn(&Path) -> String,
        command: String,
        cx: &Context,
    ) -> Result<(Report, [u64; 2]), Error> {
        let read = |scores, labels, clusters, groups| {
            self.data.read(artifact, (scores, labels), (clusters, groups), cx)
        };
        let of_tables = artifact.needed(self.data.group_column.name());
        let calibration = read(&self.calibration, self.calibration_labels.as_deref(), None, of_tables)?;
        let clusters = self.data.cluster_column.source(self.data.test_clusters.as_ref());
        let test =
            read(&self.data.test, self.data.test_labels.as_deref(), clusters, self.data.group_column.name())?;
        let mut origin = self.origin(artifact, [&calibration, &test], name)?;
        origin.command = command;
        let mut request = self.data.request();
        request.bootstrap = self.bootstrap.map(|resamples| resamples as usize);
        request.drawn_classes = self.drawn_classes;
        request.rule = self.rule(artifact)?;
        let warnings = [&calibration, &test].into_iter().filter_map(Labeled::warning).chain(cx.left_out());
        let named = |text: String, path: &PathBuf| text.replace(&path.display().to_string(), &name(path));
        request.warnings =
            warnings.map(|text| self.inputs().fold(text, |text, (_, path)| named(text, path))).collect();
        let report = report_of(&artifact.stored, [&calibration.data, &test.data], origin, &request);
        let mut report = report.map_err(|cause| Error::assess(cause, &self.data.test, artifact.path))?;
        let [title, model, date, note] = [&self.title, &self.model, &self.date, &self.note].map(Clone::clone);
        report.labels = Labels { title, model, date, note };
        Ok((report, [calibration.data.len(), test.data.len()]))
    }

    /// Takes these files in place of the named ones.
    ///
    /// # Errors
    ///
    /// A file that is named, and not among these.
    pub(super) fn place(&mut self, files: &BTreeMap<String, PathBuf>) -> Result<(), String> {
        let found =
            |option: &str| files.get(option).cloned().ok_or_else(|| format!("no file is known of {option}"));
        let others = [
            ("calibration-labels", &mut self.calibration_labels),
            ("test-labels", &mut self.data.test_labels),
            ("test-clusters", &mut self.data.test_clusters),
            ("actions", &mut self.actions),
        ];
        for (option, path) in others {
            if path.is_some() {
                *path = Some(found(option)?);
            }
        }
        (self.calibration, self.data.test) = (found("calibration")?, found("test")?);
        Ok(())
    }

    /// The files, each with the option that names it.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let files = [
            Some(&self.calibration),
            self.calibration_labels.as_ref(),
            Some(&self.data.test),
            self.data.test_labels.as_ref(),
            self.data.test_clusters.as_ref(),
            self.actions.as_ref(),
        ];
        ROLES.into_iter().zip(files).filter_map(|((option, _), path)| Some((option, path?)))
    }

    /// Which files the report comes from, and what their bytes say of the rows.
    fn origin(
        &self,
        artifact: &NamedArtifact<'_>,
        [calibration, test]: [&Labeled; 2],
        name: &dyn Fn(&Path) -> String,
    ) -> Result<Origin, Error> {
        let file = |role: &str, path: &Path, sha256: &[u8]| FileOrigin {
            role: role.into(),
            name: name(path),
            sha256: hex::encode(sha256),
        };
        let sha256 = Sha256::digest(artifact.stored.as_bytes());
        let named = [calibration, test]
            .into_iter()
            .zip(ROLES.chunks(2))
            .flat_map(|(rows, roles)| rows.sources.iter().zip(roles));
        let files = named.map(|(source, (_, role))| file(role, source.path(), &input::sha256(&[source])));
        let mut files: Vec<FileOrigin> =
            std::iter::once(file("Artifact file", artifact.path, &sha256)).chain(files).collect();
        let others = [&self.data.test_clusters, &self.actions].into_iter().zip(&ROLES[4..]);
        for (path, (_, role)) in others.filter_map(|(path, role)| Some((path.as_ref()?, role))) {
            files.push(file(role, path, &sha256_of_file(path)?));
        }
        Ok(Origin {
            files,
            calibration_is_the_artifacts: calibration
                .overlap_with_fit(artifact)?
                .is_some_and(Overlap::is_exact)
                || calibration.sha256() == artifact.stored.artifact().header().provenance.data_sha256,
            test_is_calibration: (calibration.sha256() == test.sha256()).then(Overlap::exact),
            command: String::new(),
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
}

impl ReportCommand {
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

/// The SHA-256 of a file, of any length.
pub(super) fn sha256_of_file(path: &Path) -> Result<[u8; 32], Error> {
    let read_error = |source| FileError::Read { path: path.into(), source };
    let mut file = File::open(path).map_err(read_error)?;
    let (mut hash, mut block) = (Sha256::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut block).map_err(read_error)? {
            0 => return Ok(hash.finalize().into()),
            len => hash.update(&block[..len]),
        }
    }
}
