//! `calib export`

use std::path::{Path, PathBuf};

use calib_io::export::{export_c, export_rust};
use calib_io::files::read_artifact;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion};
use crate::options::headings::OUTPUT;
use crate::out::is_standard_output;
use crate::run::Run;

/// Export an artifact as source code for a firmware.
///
/// In C: use `#include "cal.h"`, which needs no library, and call what the example in its first comment calls. For a
/// new calibrator, build the firmware again.
///
/// In Rust: use `include!("cal.rs")` with calib-core among the dependencies. Or put the artifact itself into flash and
/// parse it; then a new calibrator needs no build.
#[derive(Args)]
pub(crate) struct Export {
    /// Artifact.
    artifact: PathBuf,
    /// Form of the output, if the output's extension does not specify it.
    ///
    /// `c` (.h, .hpp) is a header in C99 that needs only the compiler's own library. `rust` (.rs, .in) is a set of
    /// tables for `include!`, which need calib-core. `bin` (.bin, .cal) is the unchanged artifact.
    ///
    /// `c` supports every method and reduction, `rust` all but vector calibrators. Results are bit-identical to
    /// `calib apply`. Both include the intervals of bins or score ranges, and leave out a rule for decisions.
    #[arg(long, help_heading = OUTPUT)]
    format: Option<SourceForm>,
    /// Name that the source code defines, or prefix of the names that it defines.
    #[arg(long, default_value = "calib", help_heading = OUTPUT, hide_short_help = true)]
    name: String,
    /// Output file.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: PathBuf,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Print what was written as JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum SourceForm {
    Rust,
    C,
    Bin,
}

impl SourceForm {
    /// The form that a file of this name has.
    fn of(path: &Path) -> Result<Self, Error> {
        if is_standard_output(path) {
            return Err(Error::Usage("standard output has no extension: set the form with --format".into()));
        }
        match FileKind::of(path) {
            Some(FileKind::C) => Ok(Self::C),
            Some(FileKind::Rust) => Ok(Self::Rust),
            Some(FileKind::Artifact) => Ok(Self::Bin),
            _ => Err(Error::Usage(format!(
                "{} has an unknown extension: name it .h, .rs or .bin, or set --format",
                path.display()
            ))),
        }
    }
}

impl Run for Export {
    fn run(self, cx: &Context) -> Result<(), Error> {
        let form = self.format.map_or_else(|| SourceForm::of(&self.output), Ok)?;
        let stored = read_artifact(&self.artifact)?;
        let text = match form {
            SourceForm::Bin => None,
            SourceForm::C => Some(export_c(&stored, &self.name)),
            SourceForm::Rust => Some(export_rust(&stored, &self.name.to_ascii_uppercase())),
        };
        let text = text.transpose()?;
        let bytes = text.as_ref().map_or(stored.as_bytes(), String::as_bytes);
        cx.write_output(&self.output, self.force, bytes)?;
        match self.json {
            true => cx.print_json(&json!({
                "output": self.output,
                "len_bytes": bytes.len(),
                "format": form.to_possible_value().map(|form| form.get_name().to_owned()),
                "identity": stored.artifact().identity().to_string(),
            })),
            false => Ok(()),
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let line = given.applied("TEST", "expected.csv")?;
        let why = "Replace TEST with scores. The results of a device must be bit-identical to expected.csv.";
        Some((line, why.into()))
    }
}
