//! What the program was started with.

use std::ffi::OsString;
use std::sync::OnceLock;

/// Set before a command runs.
static ASKED: OnceLock<(Vec<OsString>, Stdout)> = OnceLock::new();

/// Whether there is a standard output at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdout {
    /// What is printed arrives somewhere.
    Open,
    /// It was closed when the program was started: a command that prints a result fails.
    Closed,
}

/// Remembers what the program was started with.
pub(super) fn set(arguments: Vec<OsString>, stdout: Stdout) {
    // A process runs one command; of another the first is what it was started with.
    let _ = ASKED.set((arguments, stdout));
}

/// Whether standard output was closed when the program was started.
pub(crate) fn stdout_was_closed() -> bool {
    ASKED.get().is_some_and(|(_, stdout)| *stdout == Stdout::Closed)
}

/// The words of the command line after the name of the program.
pub(crate) fn words() -> impl Iterator<Item = String> {
    let arguments = ASKED.get().map(|(arguments, _)| &arguments[..]).unwrap_or_default();
    arguments.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned())
}

/// The command line, with the name of the program as its users know it.
pub(crate) fn command_line() -> String {
    let words: Vec<String> = std::iter::once("calib".to_owned()).chain(words()).collect();
    // No argument holds a zero, which is all that cannot be quoted.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}
