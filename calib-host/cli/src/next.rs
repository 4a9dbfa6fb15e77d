//! What a command wrote, and what to run next.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use calib_core::artifact::Reduction;
use calib_fit::artifact::score_kind;
use calib_fit::{ScoreKind, StoredArtifact};
use calib_io::files::read_artifact;
use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::options::artifact_of;
use crate::out::{has_warned, is_standard_output, stderr};
use crate::read::needs_logits;

/// Commands that say themselves what they wrote.
const TOLD: [&str; 6] = ["fit", "threshold", "sets", "adjust", "sign", "keygen"];

/// Tells on standard error which files the command wrote, and the command that usually follows; not beside JSON.
pub(super) fn tell(name: &str, given: &ArgMatches) -> io::Result<()> {
    if has(given, "json") {
        return Ok(());
    }
    let given = Given(given);
    if given.path("output").or(given.path("starter")).is_some_and(|path| is_standard_output(&path)) {
        // Whoever reads it there knows what follows.
        return Ok(());
    }
    let mut err = stderr();
    for path in ["output", "svg", "html", "csv", "starter"]
        .iter()
        .filter_map(|id| given.path(id))
        .filter(|_| !TOLD.contains(&name))
    {
        // A file that somebody has removed since is not worth a failure.
        let size = std::fs::metadata(&path).map(|file| format!(", {} bytes", file.len())).unwrap_or_default();
        writeln!(err, "wrote {}{size}", path.display())?;
    }
    if let Some((words, why)) = follows(name, &given) {
        // No path holds a zero, which is all that cannot be quoted.
        let line = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
        writeln!(err, "next: {line}\n      {why}")?;
    }
    Ok(())
}

/// What stands for rows to judge by.
const UNSEEN: &str = "TEST: rows that nothing was fitted to";

/// The command that usually follows, and what for. Names in capitals stand for files that calib does not know.
fn follows(name: &str, given: &Given<'_>) -> Option<(Vec<String>, &'static str)> {
    let output = given.text("output");
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let on = |command: &str, artifact: String| [words(command), vec![artifact]].concat();
    Some(match name {
        "fit" => {
            let report = on("calib report", output.or_else(|| given.default_output())?);
            (report.into_iter().chain(given.judged()?).chain(words("-o report.html")).collect(), UNSEEN)
        }
        "apply" => {
            (on("calib assess --probs", output?), "if its rows have labels: how good the probabilities are")
        }
        "assess" => {
            let (flag, path) = given.source()?;
            let report = on("calib report", given.text("artifact")?);
            let test = ["--calibration".into(), "CALIBRATION".into(), "--test".into(), path];
            let kind = (flag == "--logits" || flag == "--probs").then(|| flag.to_owned());
            let labels = given.flag("labels", "--test-labels");
            let line = report.into_iter().chain(test).chain(labels).chain(kind).chain(given.columns());
            (line.chain(words("-o report.html")).collect(), "CALIBRATION: the rows that it was fitted to")
        }
        "threshold" | "sets" => {
            let (flag, _) = given.source()?;
            let assess = on("calib assess", output?);
            let test = [flag.to_owned(), "TEST".into()];
            let labels = given.text("labels").map(|_| words("--labels TEST_LABELS")).unwrap_or_default();
            (assess.into_iter().chain(test).chain(labels).chain(given.columns()).collect(), UNSEEN)
        }
        "decide" if given.text("starter").is_some() => {
            (on("calib decide --actions", given.text("starter")?), "when its names and costs are yours")
        }
        "decide" => {
            let (flag, path) = given.source()?;
            let line = on("calib apply", output?);
            (
                line.into_iter().chain([flag.to_owned(), path]).chain(words("-o decided.csv")).collect(),
                "the action for every row",
            )
        }
        "adjust" => (on("calib inspect", output?), "what it promises there"),
        "keygen" => {
            let line = [words("calib sign ARTEFACT --key"), vec![output?], words("-o signed.bin")].concat();
            (line, "ARTEFACT: one with a counter above 0 (calib fit --counter)")
        }
        "sign" => {
            let public = format!("{}.pub", given.text("key")?);
            ([on("calib verify", output?), vec!["--key".into(), public]].concat(), "as a device does")
        }
        "flash" | "push" if !has(given.0, "dry_run") => {
            let line = ["port", "chip"].iter().find_map(|id| Some([format!("--{id}"), given.text(id)?]))?;
            (words("calib status").into_iter().chain(line).collect(), "what the device holds")
        }
        // What a report warns of is no calibrator to use.
        "report" if !has_warned() => (
            given.applied("NEW", "calibrated.csv")?,
            "NEW: scores to calibrate; for a device there are calib export and calib push",
        ),
        "plot" => (given.reported()?, "all plots on a page, with what they say"),
        "export" => (
            given.applied("TEST", "expected.csv")?,
            "TEST: scores; a device must give the very probabilities of expected.csv",
        ),
        "inspect" => (given.judged_by_rows()?, UNSEEN),
        "bins" => {
            let fit = words("calib fit --method umd --bins BINS --candidates TRIED --scores");
            let labels = given.flag("labels", "--labels");
            let line = fit.into_iter().chain([given.source()?.1]).chain(labels).chain(given.columns());
            (line.collect(), "BINS: those that you take, of the numbers TRIED (how many are listed)")
        }
        "plan" => (given.planned()?, "CALIBRATION: labelled rows that the classifier was not fitted to"),
        _ => return None,
    })
}

/// Whether a flag was given; a command without it has not.
fn has(given: &ArgMatches, id: &str) -> bool {
    given.try_get_one::<bool>(id).ok().flatten().is_some_and(|flag| *flag)
}

/// What stood on the command line.
struct Given<'a>(&'a ArgMatches);

impl Given<'_> {
    fn path(&self, id: &str) -> Option<PathBuf> {
        self.0.try_get_one::<PathBuf>(id).ok().flatten().cloned()
    }

    /// An argument as it was given; `None` of a default.
    fn text(&self, id: &str) -> Option<String> {
        let is_given = self.0.try_contains_id(id).is_ok_and(|is_known| is_known)
            && self.0.value_source(id) == Some(ValueSource::CommandLine);
        let raw = self.0.try_get_raw(id).ok().flatten().filter(|_| is_given)?;
        raw.map(|text| text.to_string_lossy().into_owned()).next()
    }

    fn flag(&self, id: &str, name: &str) -> Vec<String> {
        self.text(id).map(|value| vec![name.to_owned(), value]).unwrap_or_default()
    }

    /// Where `calib fit` writes if nobody says so.
    fn default_output(&self) -> Option<String> {
        Some(artifact_of(Path::new(&self.source()?.1)).display().to_string())
    }

    /// Where scores came from, unless that can be read only once.
    fn source(&self) -> Option<(&'static str, String)> {
        let sources = [
            ("--scores", "data"),
            ("--scores", "scores"),
            ("--margins", "margins"),
            ("--logits", "logits"),
            ("--probs", "probs"),
        ];
        let given = sources.iter().find_map(|(flag, id)| Some((*flag, self.text(id)?)));
        given.filter(|(_, path)| path != "-")
    }

    /// The columns that are called otherwise than usual, and how else the table is read.
    fn columns(&self) -> Vec<String> {
        let columns = ["score-column", "label-column", "cluster-column", "group-column"];
        let columns =
            columns.iter().flat_map(|name| self.flag(&name.replace('-', "_"), &format!("--{name}")));
        let drop = has(self.0, "drop_missing").then(|| "--drop-missing".to_owned());
        columns.chain(self.flag("positive_label", "--positive-label")).chain(drop).collect()
    }

    /// The data of a fit as those that `calib report` takes, with test data beside them.
    fn judged(&self) -> Option<Vec<String>> {
        // What counts and weights stand for is no row of a report.
        if ["count_column", "weight_column"].iter().any(|id| self.text(id).is_some()) {
            return None;
        }
        let (flag, path) = self.source()?;
        let labels = self.flag("labels", "--calibration-labels");
        let test: &[&str] = if labels.is_empty() {
            &["--test", "TEST"]
        } else {
            &["--test", "TEST", "--test-labels", "TEST_LABELS"]
        };
        let kind = (flag == "--logits" || flag == "--probs").then(|| flag.to_owned());
        let words = ["--calibration".to_owned(), path].into_iter().chain(labels);
        let words = words.chain(test.iter().map(|word| (*word).to_owned())).chain(kind);
        Some(words.chain(self.columns()).collect())
    }

    /// The artefact that was named, and the flag of the scores that it takes; `None` where rows must come with a group.
    fn artifact(&self) -> Option<(String, StoredArtifact, &'static str)> {
        let path = self.text("artifact")?;
        let stored = read_artifact(Path::new(&path)).ok()?;
        let artifact = stored.artifact();
        let header = artifact.header();
        let flag = match (header.reduction, score_kind(&artifact)) {
            _ if artifact.groups().is_some() => return None,
            (Reduction::Binary, ScoreKind::Margin) => "--margins",
            (Reduction::Binary, ScoreKind::Probability) => "--scores",
            _ if needs_logits(&artifact) => "--logits",
            _ => "--probs",
        };
        Some((path, stored, flag))
    }

    /// Calibrates other rows into a table.
    fn applied(&self, rows: &str, output: &str) -> Option<Vec<String>> {
        let (path, _, flag) = self.artifact()?;
        let words = ["calib", "apply", &path, flag, rows].map(str::to_owned).into_iter();
        let output = ["-o", output].map(str::to_owned);
        Some(words.chain(self.flag("score_column", "--score-column")).chain(output).collect())
    }

    /// A report of the artefact; whoever named test rows has them again.
    fn reported(&self) -> Option<Vec<String>> {
        let (path, _, flag) = self.artifact()?;
        let named = |id: &str, placeholder: &str| self.text(id).unwrap_or_else(|| placeholder.into());
        let (calibration, test) = (named("calibration", "CALIBRATION"), named("test", "TEST"));
        let words = ["calib", "report", &path, "--calibration", &calibration, "--test", &test];
        let is_of = |flag: &str, id: &str| has(self.0, id).then(|| flag.to_owned());
        let kind = is_of("--probs", "probs").or(is_of("--logits", "logits"));
        let kind = kind.or((flag == "--logits").then(|| flag.to_owned()));
        let words = words
            .map(str::to_owned)
            .into_iter()
            .chain(self.flag("calibration_labels", "--calibration-labels"));
        let labels = self.flag("test_labels", "--test-labels");
        let line = words.chain(labels).chain(kind).chain(self.columns());
        Some(line.chain(["-o".into(), "report.html".into()]).collect())
    }

    /// How an artefact is judged: what is no calibrator has no report.
    fn judged_by_rows(&self) -> Option<Vec<String>> {
        let (path, stored, flag) = self.artifact()?;
        if !stored.artifact().header().method.has_no_calibrator() {
            return self.reported();
        }
        Some(["calib", "assess", &path, flag, "TEST"].map(str::to_owned).to_vec())
    }

    /// The fit of what was planned.
    fn planned(&self) -> Option<Vec<String>> {
        let given = |options: &[&str]| -> Vec<String> {
            options.iter().flat_map(|name| self.flag(&name[2..].replace('-', "_"), name)).collect()
        };
        let line = |start: &str, options: Vec<String>| {
            Some(start.split(' ').map(str::to_owned).chain(options).collect())
        };
        let aims = given(&["--sensitivity", "--specificity", "--confidence"]);
        let reduction = given(&["--reduction"]);
        let bins = given(&["--bins", "--points-per-bin"]);
        let alpha = given(&["--alpha"]);
        match (bins.is_empty(), reduction.is_empty()) {
            _ if has(self.0, "validation") => None,
            _ if self.text("sensitivity").or(self.text("specificity")).is_some() => line(
                "calib threshold --scores CALIBRATION",
                [aims, vec!["-o".into(), "point.bin".into()]].concat(),
            ),
            (false, true) => line("calib fit CALIBRATION --method umd", [bins, alpha].concat()),
            (false, false) => {
                line("calib fit --probs CALIBRATION --method umd", [reduction, bins, alpha].concat())
            }
            (true, true) => line("calib fit CALIBRATION", [given(&["--epsilon"]), alpha].concat()),
            (true, false) => None,
        }
    }
}
