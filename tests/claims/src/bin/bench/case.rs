//! What is measured: a command on files, or a function on arrays, each next to its peer.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use xtask::root;

/// Files that commands are measured on.
pub(crate) struct Data {
    /// The name of their folder.
    pub(crate) name: &'static str,
    /// Writes them, of so many rows, to a folder.
    pub(crate) write: fn(&Path, u64) -> Result<()>,
}

/// A command that is measured as a whole process, from its start to its end.
pub(crate) struct Case {
    /// What the table and the baseline call it; no other case has the name.
    pub(crate) name: &'static str,
    /// What it reads.
    pub(crate) data: &'static Data,
    /// The rows at which it is compared with its peer.
    pub(crate) rows: u64,
    /// Whether it is measured on a hundredth and a tenth of the rows, too, and with `--huge` on ten times as many.
    pub(crate) grows: bool,
    /// Commands of `calib` that are run first, and not measured.
    pub(crate) before: &'static [&'static str],
    /// The command, without `calib`; it runs in the folder of the data.
    pub(crate) ours: &'static str,
    /// The files that it has to read and to hash: no way of doing it is quicker than that.
    pub(crate) reads: &'static [&'static str],
    /// What people use instead.
    pub(crate) peer: Option<Peer>,
}

/// A script in Python that does the same, also measured as a whole process.
pub(crate) struct Peer {
    /// What it uses, in a few words.
    pub(crate) says: &'static str,
    /// Its text.
    pub(crate) script: &'static str,
    /// Its arguments.
    pub(crate) arguments: &'static [&'static str],
}

/// The text of a script in Python.
pub(crate) struct Script(pub(crate) &'static str);

impl Script {
    /// The peer that the script is with these arguments.
    pub(crate) const fn peer(&self, says: &'static str, arguments: &'static [&'static str]) -> Option<Peer> {
        Some(Peer { says, script: self.0, arguments })
    }
}

impl Case {
    /// A case, still without a name and a command, that reads some files of this data.
    pub(crate) const fn of(data: &'static Data, rows: u64, reads: &'static [&'static str]) -> Self {
        Self { name: "", data, rows, grows: true, before: &[], ours: "", reads, peer: None }
    }

    /// The numbers of rows to measure at, ascending.
    pub(crate) fn sizes(&self, scale: Scale) -> Vec<u64> {
        let main = (self.rows as f64 * scale.share).max(1000.0) as u64;
        match (self.grows, scale.huge) {
            (false, _) => vec![main],
            (true, false) => vec![main / 100, main / 10, main],
            (true, true) => vec![main / 100, main / 10, main, main * 10],
        }
    }

    /// The rows at which it is compared with its peer.
    pub(crate) fn main_rows(&self, scale: Scale) -> u64 {
        self.sizes(Scale { huge: false, ..scale }).pop().expect("there is one")
    }
}

/// How large all of it is.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    /// The share of every case's rows.
    pub(crate) share: f64,
    /// Whether ten times the rows are measured, too.
    pub(crate) huge: bool,
}

/// A release build of `calib`.
pub(crate) fn calib(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(root().join("target/release/calib"));
    command.current_dir(folder).args(line.split_whitespace());
    command
}

/// Runs `calib` for what it writes.
pub(crate) fn prepare(folder: &Path, line: &str) -> Result<()> {
    let output = calib(folder, line).output().context("cannot run calib")?;
    ensure!(
        output.status.success(),
        "calib {line} failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
