//! Measures cases, one after the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::case::{Case, Scale, calib, prepare};
use crate::limit::limit;
use crate::process::{Usage, best_of};

/// Best of so many runs.
const REPEATS: usize = 3;

/// A folder that goes when this does.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new one among the system's temporary files.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("calib-bench-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(cause) = fs::remove_dir_all(&self.0) {
            eprintln!("{} is left: {cause}", self.0.display());
        }
    }
}

/// A line of the table: a command at a number of rows.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) rows: u64,
    pub(crate) ours: Usage,
    /// The seconds that reading and hashing take.
    pub(crate) limit: f64,
    /// The peer, at the rows at which it is measured.
    pub(crate) peer: Option<(&'static str, Usage)>,
}

impl Line {
    /// How many times faster than the peer it is.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.peer.map(|(_, peer)| peer.seconds / self.ours.seconds)
    }
}

/// Measures cases; without `python` no peers. `told` gets every line as it is measured.
pub(crate) fn measure(
    cases: &[&Case],
    scale: Scale,
    python: Option<&Path>,
    mut told: impl FnMut(&Line),
) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    let mut left: Vec<(u64, &Case)> =
        cases.iter().flat_map(|case| case.sizes(scale).into_iter().map(move |rows| (rows, *case))).collect();
    // Files of each kind and size are written once, and there at a time is one such set.
    while let Some(&(rows, first)) = left.first() {
        let data = first.data;
        let (now, later) = left.into_iter().partition(|&(r, c)| r == rows && c.data.name == data.name);
        left = later;
        let folder = Folder::new(data.name)?;
        eprintln!("writing {} of {rows} rows to {}", data.name, folder.path().display());
        (data.write)(folder.path(), rows)?;
        let now: Vec<(u64, &Case)> = now;
        for (rows, case) in now {
            eprintln!("measuring {} of {rows} rows", case.name);
            let python = python.filter(|_| rows == case.main_rows(scale));
            let line = line(case, rows, folder.path(), python)?;
            told(&line);
            lines.push(line);
        }
    }
    Ok(lines)
}

fn line(case: &Case, rows: u64, folder: &Path, python: Option<&Path>) -> Result<Line> {
    for command in case.before {
        prepare(folder, command)?;
    }
    // One run alone where it takes long.
    let repeats = if rows > 20_000_000 { 1 } else { REPEATS };
    let ours =
        best_of(repeats, || calib(folder, case.ours)).with_context(|| format!("calib {}", case.ours))?;
    let limit = limit(folder, case.reads, repeats)?;
    let peer = match (&case.peer, python) {
        (Some(peer), Some(python)) => {
            let script = folder.join("peer.py");
            fs::write(&script, peer.script)?;
            let command = || {
                let mut command = Command::new(python);
                command.current_dir(folder).arg(&script).args(peer.arguments);
                command
            };
            Some((peer.says, best_of(repeats, command).with_context(|| peer.says.to_owned())?))
        }
        _ => None,
    };
    Ok(Line { name: case.name, rows, ours, limit, peer })
}
