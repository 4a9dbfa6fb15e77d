//! What is said first, because it may make all else worthless.

use std::io;

use calib_core::Artifact;
use calib_fit::assess::{Evidence, Flaw, flaws};
use calib_fit::job::Finding;
use calib_io::files::Location;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::sentence;

/// What speaks against a calibrator, or against how its data were read.
#[derive(Default)]
pub(crate) struct Warnings {
    /// What is doubtful about how files were read, in sentences.
    pub(crate) warnings: Vec<String>,
    /// What the rows say against it.
    pub(crate) evidence: Vec<Evidence>,
    /// What the artifact shows against itself.
    pub(crate) flaws: Vec<Flaw>,
}

impl Warnings {
    /// What was found of a fit to the rows at a place.
    pub(crate) fn of_findings(findings: &[Finding], rows: &Location) -> Self {
        let mut warnings = Self::default();
        for finding in findings {
            match finding {
                Finding::Evidence(evidence) => warnings.evidence.push(*evidence),
                Finding::Flaw(flaw) => warnings.flaws.push(flaw.clone()),
                warning => warnings.warnings.push(sentence(warning, &rows.file)),
            }
        }
        warnings
    }

    /// What an artifact shows against itself.
    pub(crate) fn of_artifact(artifact: &Artifact<'_>) -> Self {
        Self::default().and_of(artifact)
    }

    /// The same with what an artifact shows against itself.
    pub(crate) fn and_of(self, artifact: &Artifact<'_>) -> Self {
        Self { flaws: flaws(artifact), ..self }
    }

    /// The sentences, the weightiest first.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let evidence = self.evidence.iter().map(ToString::to_string);
        self.warnings
            .iter()
            .cloned()
            .chain(evidence)
            .chain(self.flaws.iter().map(ToString::to_string))
            .collect()
    }

    /// Prints them on standard error.
    pub(crate) fn print(&self, cx: &Context) -> io::Result<()> {
        cx.warn(&self.sentences())
    }

    /// Adds them to an object: evidence and flaws with their figures, and all as sentences.
    pub(crate) fn add_to(&self, value: &mut Value) {
        value["evidence"] = json!(self.evidence);
        value["flaws"] = json!(self.flaws);
        value["warnings"] = json!(self.sentences());
    }
}
