//! What a command was started with, how it reads tables, and where it prints.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal, StderrLock, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use calib_io::files::{Progress, write_file};
use calib_io::input::{TableNote, TableOptions, TableRemark};
use clap::{ArgMatches, Command};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::out::{self, Plain, is_standard_output};
use crate::progress;
use crate::spinner::Spinner;
use crate::tables;

/// The surroundings of a command.
pub(crate) struct Context {
    /// No progress and no summary on standard error.
    pub(crate) quiet: bool,
    /// How tables are read.
    pub(crate) tables: Arc<TableOptions>,
    /// All commands and options, without the layout of their help.
    pub(crate) program: Command,
    words: Vec<OsString>,
    spinner: Spinner,
    notes: Arc<Notes>,
    has_warned: AtomicBool,
}

/// What was told of the tables that were read.
#[derive(Default)]
struct Notes(Mutex<Vec<TableNote>>);

impl Notes {
    fn all(&self) -> MutexGuard<'_, Vec<TableNote>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a note; whether it is a new one.
    fn is_new(&self, note: &TableNote) -> bool {
        let mut notes = self.all();
        let is_new = !notes.contains(note);
        if is_new {
            notes.push(note.clone());
        }
        is_new
    }
}

impl Context {
    /// For a command line, and the part of it that the command itself was given.
    pub(crate) fn new(program: Command, words: Vec<OsString>, quiet: bool, given: &ArgMatches) -> Self {
        let (spinner, notes) = (Spinner::default(), Arc::<Notes>::default());
        let (told, screen) = (Arc::clone(&notes), spinner.clone());
        let tell = move |note: &TableNote| {
            if told.is_new(note) && !quiet {
                // Nothing is left to be told when standard error is closed.
                let _ = writeln!(stderr(&screen), "note: {note}");
            }
        };
        let tables = Arc::new(tables::options(given, tell));
        Self { quiet, tables, program, words, spinner, notes, has_warned: AtomicBool::new(false) }
    }

    /// How many rows were left out, because they lack a value.
    pub(crate) fn rows_left_out(&self) -> u64 {
        let of = |note: &TableNote| match note.remark {
            TableRemark::LeftOut { rows, .. } => rows as u64,
            _ => 0,
        };
        self.notes.all().iter().map(of).sum()
    }

    /// The words of the command line after the name of the program.
    pub(crate) fn words(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.words.iter().skip(1).map(|word| word.to_string_lossy())
    }

    /// The command line, with the name of the program as its users know it.
    pub(crate) fn command_line(&self) -> String {
        // No argument holds a zero, which is all that cannot be quoted.
        let words: Vec<Cow<'_, str>> = std::iter::once("calib".into()).chain(self.words()).collect();
        shlex::try_join(words.iter().map(AsRef::as_ref)).unwrap_or_default()
    }

    /// Shows, until what it returns is dropped, what the command is doing.
    pub(crate) fn at_work(&self, what: Option<&'static str>) -> impl Drop + use<> {
        self.spinner.start(what.filter(|_| !self.quiet))
    }

    /// Shows how far the reading of files is.
    pub(crate) fn reading(&self) -> impl Fn(Progress<'_>) + Sync + use<> {
        progress::reading(self.spinner.clone(), self.quiet)
    }

    /// Standard output, safe for a terminal.
    pub(crate) fn stdout(&self) -> Plain<StdoutLock<'static>> {
        self.spinner.give_way();
        Plain(io::stdout().lock())
    }

    /// Standard output for what goes into a file elsewhere, byte for byte; a terminal gets text alone, and that escaped.
    pub(crate) fn raw_stdout(&self, is_text: bool) -> Result<Box<dyn Write>, Error> {
        match (io::stdout().is_terminal(), is_text) {
            (false, _) => {
                self.spinner.give_way();
                Ok(Box::new(io::stdout().lock()))
            }
            (true, true) => Ok(Box::new(self.stdout())),
            (true, false) => Err(Error::Usage(
                "this is no text, and standard output is a terminal: send it to a file or a program, or name a file with -o".into(),
            )),
        }
    }

    /// Standard error, safe for a terminal.
    pub(crate) fn stderr(&self) -> Plain<StderrLock<'static>> {
        stderr(&self.spinner)
    }

    /// Prints warnings on standard error, a line each, also where there is no summary.
    pub(crate) fn warn(&self, warnings: &[impl Display]) -> io::Result<()> {
        self.has_warned.fetch_or(!warnings.is_empty(), Ordering::Relaxed);
        let mut err = self.stderr();
        warnings.iter().try_for_each(|warning| writeln!(err, "warning: {warning}"))
    }

    /// Whether anything was warned of.
    pub(crate) fn has_warned(&self) -> bool {
        self.has_warned.load(Ordering::Relaxed)
    }

    /// Writes a file completely or not at all, or what it would hold on standard output if it is called `-`.
    pub(crate) fn write_output(&self, path: &Path, overwrite: bool, bytes: &[u8]) -> Result<(), Error> {
        if !is_standard_output(path) {
            return Ok(write_file(path, overwrite, |out| out.write_all(bytes))?);
        }
        let mut out = self.raw_stdout(std::str::from_utf8(bytes).is_ok())?;
        out.write_all(bytes)?;
        Ok(out.flush()?)
    }

    /// Prints what was made as JSON: where it is, what is said of it, and what is doubtful, if that is looked for.
    pub(crate) fn print_made(
        &self,
        output: &Path,
        made: &impl Serialize,
        warnings: Option<&[String]>,
    ) -> Result<(), Error> {
        let mut value = out::made(Some(output), made)?;
        if let Some(warnings) = warnings {
            value["warnings"] = json!(warnings);
        }
        self.print_json(&value)
    }

    /// Prints a value as JSON on standard output, with what was told of tables.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<(), Error> {
        if !self.leaves_out() && self.notes.all().is_empty() {
            return self.write_json(value);
        }
        let mut value = serde_json::to_value(value).map_err(io::Error::from)?;
        self.add_notes(&mut value);
        self.write_json(&value)
    }

    fn write_json(&self, value: &impl Serialize) -> Result<(), Error> {
        self.spinner.give_way();
        let json = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        Ok(writeln!(io::stdout().lock(), "{}", out::escaped_json(&json))?)
    }

    /// Adds what was told of tables to an object.
    fn add_notes(&self, value: &mut Value) {
        let Some(object) = value.as_object_mut() else { return };
        let notes = self.notes.all();
        if self.leaves_out() {
            let left_out = notes.iter().filter_map(|note| match note.remark {
                TableRemark::LeftOut { rows, of } => {
                    Some(json!({"file": note.place.file, "rows": rows, "of": of}))
                }
                _ => None,
            });
            object.insert("left_out".into(), left_out.collect());
        }
        if !notes.is_empty() {
            object.insert("notes".into(), notes.iter().map(ToString::to_string).collect());
        }
    }

    /// Whether rows without values are left out of tables.
    pub(crate) fn leaves_out(&self) -> bool {
        !self.tables.complete.is_empty()
    }

    /// What was left out of tables, in sentences.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let is_left_out = |note: &&TableNote| matches!(note.remark, TableRemark::LeftOut { .. });
        self.notes.all().iter().filter(is_left_out).map(|note| format!("{note}.")).collect()
    }
}

fn stderr(spinner: &Spinner) -> Plain<StderrLock<'static>> {
    spinner.give_way();
    Plain(io::stderr().lock())
}
