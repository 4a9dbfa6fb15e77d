//! `calib export`

use std::io::Write;
use std::path::PathBuf;

use calib_host::export::{export_c, export_rust};
use calib_host::files::{read_artifact, write_file};
use clap::{Args, ValueEnum};

use crate::cli::error::Error;

/// Write an artefact as source code, to be built into a firmware.
#[derive(Args)]
pub(crate) struct Export {
    /// The artefact.
    artifact: PathBuf,
    /// The form: `c`, a header in C99 that needs no library but the compiler's own; `rust`, tables for `include!`, which
    /// need calib-core; `bin`, the artefact as it is. `c` and `rust` take every method and reduction with tables, `rust`
    /// also scaling functions; neither takes calibrators of whole vectors, a rule for decisions or intervals.
    #[arg(long)]
    format: SourceForm,
    /// The name that the source code defines, or that what it defines starts with.
    #[arg(long, default_value = "calib")]
    name: String,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite the file if it exists.
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum SourceForm {
    Rust,
    C,
    Bin,
}

impl Export {
    pub(crate) fn run(self) -> Result<(), Error> {
        let stored = read_artifact(&self.artifact)?;
        let text = match self.format {
            SourceForm::Bin => None,
            SourceForm::C => Some(export_c(&stored, &self.name)),
            SourceForm::Rust => Some(export_rust(&stored, &self.name.to_ascii_uppercase())),
        };
        let text = text.transpose()?;
        let bytes = text.as_ref().map_or(stored.as_bytes(), String::as_bytes);
        write_file(&self.output, self.force, |out: &mut dyn Write| out.write_all(bytes))?;
        Ok(())
    }
}
