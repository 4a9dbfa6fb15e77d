//! What a command wrote, and what to run next.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use calib_core::artifact::Reduction;
use calib_fit::artifact::score_kind;
use calib_fit::guarantee::Plan;
use calib_fit::job::needs_logits;
use calib_fit::{ScoreKind, StoredArtifact};
use calib_io::files::read_artifact;
use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::context::Context;
use crate::dash::{no_option, option};
use crate::options::artifact_of;
use crate::out::is_standard_output;
use crate::run::Run;

/// A command, and what for. Names in capitals stand for files that calib does not know.
pub(crate) type Suggestion = (Vec<String>, Cow<'static, str>);

/// Tells on standard error which files the command wrote, and the command that usually follows; not beside JSON.
pub(crate) fn tell<C: Run>(given: &ArgMatches, cx: &Context) -> io::Result<()> {
    if has(given, "json") {
        return Ok(());
    }
    let given = Given(given);
    if given.path("output").or(given.path("starter")).is_some_and(|path| is_standard_output(&path)) {
        // Whoever reads it there knows what follows.
        return Ok(());
    }
    let mut err = cx.stderr();
    for path in ["output", "svg", "html", "csv", "starter"]
        .iter()
        .filter_map(|id| given.path(id))
        .filter(|_| !C::TELLS)
    {
        // A file that somebody has removed since is not worth a failure.
        let size = std::fs::metadata(&path).map(|file| format!(", {} bytes", file.len())).unwrap_or_default();
        writeln!(err, "wrote {}{size}", path.display())?;
    }
    if let Some((words, why)) = C::next(&given, cx) {
        // No path holds a zero, which is all that cannot be quoted.
        let line = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
        writeln!(err, "next: {line}\n      {why}")?;
    }
    Ok(())
}

/// What stands for rows to judge by.
pub(crate) const UNSEEN: &str = "Replace TEST with rows used for neither training nor calibration.";

/// A text, taken apart at its spaces.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// The words of a command with a file behind them.
pub(crate) fn on(command: &str, file: String) -> Vec<String> {
    [words(command), vec![file]].concat()
}

/// Whether a flag was given; a command without it has not.
fn has(given: &ArgMatches, id: &str) -> bool {
    given.try_get_one::<bool>(id).ok().flatten().is_some_and(|flag| *flag)
}

/// What stood on the command line.
pub(crate) struct Given<'a>(&'a ArgMatches);

impl Given<'_> {
    fn path(&self, id: &str) -> Option<PathBuf> {
        self.0.try_get_one::<PathBuf>(id).ok().flatten().cloned()
    }

    /// An argument as it was given; `None` of a default.
    pub(crate) fn text(&self, id: &str) -> Option<String> {
        let is_given = self.0.try_contains_id(id).is_ok_and(|is_known| is_known)
            && self.0.value_source(id) == Some(ValueSource::CommandLine);
        let raw = self.0.try_get_raw(id).ok().flatten().filter(|_| is_given)?;
        let text = raw.map(|text| text.to_string_lossy().into_owned()).next()?;
        let is_path = self.0.try_get_one::<PathBuf>(id).is_ok();
        Some(if is_path { no_option(text) } else { text })
    }

    pub(crate) fn flag(&self, id: &str, name: &str) -> Vec<String> {
        self.text(id).map(|value| option(name, value)).unwrap_or_default()
    }

    /// Where `calib fit` writes if nobody says so.
    pub(crate) fn default_output(&self) -> Option<String> {
        Some(no_option(artifact_of(Path::new(&self.source()?.1)).display().to_string()))
    }

    /// Where scores came from, unless that can be read only once.
    pub(crate) fn source(&self) -> Option<(&'static str, String)> {
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
    pub(crate) fn columns(&self) -> Vec<String> {
        let columns = ["score-column", "label-column", "cluster-column", "group-column"];
        let columns =
            columns.iter().flat_map(|name| self.flag(&name.replace('-', "_"), &format!("--{name}")));
        let drop = has(self.0, "drop_missing").then(|| "--drop-missing".to_owned());
        columns.chain(self.flag("positive_label", "--positive-label")).chain(drop).collect()
    }

    /// The data of a fit as those that `calib report` takes, with test data beside them.
    pub(crate) fn judged(&self) -> Option<Vec<String>> {
        // What counts and weights stand for is no row of a report.
        if ["count_columns", "weight_column"].iter().any(|id| self.text(id).is_some()) {
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

    /// The artifact that was named, and the flag of the scores that it takes; `None` where rows must come with a group.
    pub(crate) fn artifact(&self) -> Option<(String, StoredArtifact, &'static str)> {
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
    pub(crate) fn applied(&self, rows: &str, output: &str) -> Option<Vec<String>> {
        let (path, _, flag) = self.artifact()?;
        let words = ["calib", "apply", &path, flag, rows].map(str::to_owned).into_iter();
        let output = ["-o", output].map(str::to_owned);
        Some(words.chain(self.flag("score_column", "--score-column")).chain(output).collect())
    }

    /// Assesses what was written on other rows of the same kind.
    pub(crate) fn assessed(&self) -> Option<Suggestion> {
        let (flag, _) = self.source()?;
        let assess = on("calib assess", self.text("output")?);
        let test = [flag.to_owned(), "TEST".into()];
        let labels = self.text("labels").map(|_| words("--labels TEST_LABELS")).unwrap_or_default();
        Some((assess.into_iter().chain(test).chain(labels).chain(self.columns()).collect(), UNSEEN.into()))
    }

    /// Asks the device that was written to.
    #[cfg(any(feature = "probe", feature = "serial"))]
    pub(crate) fn status(&self) -> Option<Suggestion> {
        let of = |id: &str| Some([format!("--{id}"), self.text(id)?]);
        let line = ["port", "chip"].into_iter().find_map(of).filter(|_| !has(self.0, "dry_run"))?;
        Some((words("calib status").into_iter().chain(line).collect(), "what the device holds".into()))
    }

    /// A report of the artifact, with the test rows if they were named.
    pub(crate) fn reported(&self) -> Option<Vec<String>> {
        let (path, _, flag) = self.artifact()?;
        let named = |id: &str, placeholder: &str| self.text(id).unwrap_or_else(|| placeholder.into());
        let (calibration, test) = (named("calibration", "CALIBRATION"), named("test", "TEST"));
        let words = ["calib", "report", &path, "--calibration", &calibration, "--test", &test];
        let is_of = |flag: &str, id: &str| has(self.0, id).then(|| flag.to_owned());
        let kind = is_of("--probs", "probs").or(is_of("--logits", "logits"));
        let kind = kind.or((flag == "--logits").then(|| flag.to_owned()));
        let words = words.map(str::to_owned).into_iter();
        let of_fit = self.flag("calibration_labels", "--calibration-labels");
        let labels = self.flag("test_labels", "--test-labels");
        let line = words.chain(of_fit).chain(labels).chain(kind).chain(self.columns());
        Some(line.chain(["-o".into(), "report.html".into()]).collect())
    }

    /// How an artifact is judged: what is no calibrator has no report.
    pub(crate) fn judged_by_rows(&self) -> Option<Vec<String>> {
        let (path, stored, flag) = self.artifact()?;
        if !stored.artifact().header().method.has_no_calibrator() {
            return self.reported();
        }
        Some(["calib", "assess", &path, flag, "TEST"].map(str::to_owned).to_vec())
    }

    /// The fit of what was planned.
    pub(crate) fn planned(&self) -> Option<Vec<String>> {
        let given = |options: &[&str]| -> Vec<String> {
            options.iter().flat_map(|name| self.flag(&name[2..].replace('-', "_"), name)).collect()
        };
        let line = |start: &str, options: Vec<String>| {
            Some(start.split(' ').map(str::to_owned).chain(options).collect())
        };
        let aims = given(&["--sensitivity", "--specificity", "--confidence"]);
        let reduction = given(&["--reduction"]);
        let alpha = given(&["--alpha"]);
        let number = |name: &str| self.text(name)?.parse::<f64>().ok();
        // Bins that follow from the other numbers are named: `calib fit --epsilon` makes no more than it needs to.
        let most = self.text("n").and_then(|n| n.parse().ok()).zip(number("epsilon"));
        let most = most.and_then(|(n, epsilon)| Plan::most_bins(n, number("alpha").unwrap_or(0.1), epsilon));
        let bins = match (given(&["--bins", "--rows-per-bin"]), most) {
            (bins, Some(plan)) if bins.is_empty() && reduction.is_empty() => {
                vec!["--bins".into(), plan.bins.to_string()]
            }
            (bins, _) => bins,
        };
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
            (true, true) if self.text("epsilon").is_none() => {
                line("calib fit CALIBRATION --method umd --bins B", alpha)
            }
            (true, true) => line("calib fit CALIBRATION", [given(&["--epsilon"]), alpha].concat()),
            (true, false) => None,
        }
    }
}
