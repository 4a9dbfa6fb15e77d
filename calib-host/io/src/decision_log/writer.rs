//! Adding entries to a log.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use calib_fit::StoredArtifact;
use serde_json::value::to_raw_value;

use super::entry::{ArtifactName, Decision, Entry, ProtocolName, TestRows};
use super::log::{DecisionLog, LoggedEntry, PAYLOAD_TYPE, SignedLine};
use crate::files::{
    FileError, Location, LogError, OutputError, PUBLIC, Prepared, PrivateKey, Problem, lock_folder_of,
};
use crate::protocol::{Case, Line, Protocol, judge};

/// A log that nobody else adds to meanwhile.
#[derive(Debug)]
pub struct LogWriter {
    path: PathBuf,
    log: DecisionLog,
    _lock: Option<File>,
}

/// Why a decision was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogOutputError {
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The log is not whole.
    #[error(transparent)]
    Log(#[from] FileError),
}

impl LogWriter {
    /// Reads a log, or begins one. Anyone else who opens a log in the same folder waits.
    ///
    /// # Errors
    ///
    /// If the log cannot be read, or is not whole.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let lock = lock_folder_of(path);
        let log = match path.symlink_metadata().is_ok() {
            true => DecisionLog::read(path)?,
            false => DecisionLog::default(),
        };
        Ok(Self { path: path.into(), log, _lock: lock })
    }

    /// What the log says so far.
    pub fn log(&self) -> &DecisionLog {
        &self.log
    }

    /// Judges an artifact by a protocol, adds the decision to the log, and writes the signed artifact if every line is kept. With `approves` of the case the
    /// artifact is only approved. `output` is the place of the signed artifact, and whether it may replace a file.
    ///
    /// The decision is on the disk before the signed artifact is in its place.
    ///
    /// # Errors
    ///
    /// If a file cannot be written. The log is as it was then, unless only the artifact is missing: the same call then writes it.
    pub fn decide(
        &mut self,
        key: &PrivateKey,
        protocol: &Protocol,
        case: &Case<'_>,
        (output, time): (Option<(&Path, bool)>, u64),
    ) -> Result<LoggedEntry, LogOutputError> {
        self.log.check_protocol(protocol).map_err(|cause| self.fault(cause))?;
        let lines = judge(protocol, case);
        let is_kept = lines.iter().all(|line| line.kept);
        let decision = match (is_kept, case.approves) {
            (false, _) => Decision::Refused,
            (true, true) => Decision::Approved,
            (true, false) => Decision::Signed,
        };
        let prepared = match output.filter(|_| decision == Decision::Signed) {
            Some((path, overwrite)) => Some(prepare(key, case.new, path, overwrite)?),
            None => None,
        };
        let logged = self.add(key, self.entry(protocol, case, (decision, lines, time)))?;
        if let Some(prepared) = prepared {
            prepared.commit()?;
        }
        Ok(logged)
    }

    fn entry(
        &self,
        protocol: &Protocol,
        case: &Case<'_>,
        (decision, lines, time): (Decision, Vec<Line>, u64),
    ) -> Entry {
        Entry {
            number: self.log.entries().len() as u64 + 1,
            previous: self.log.head().map(str::to_owned),
            time,
            decision,
            protocol: ProtocolName::from(protocol),
            artifact: ArtifactName::from(case.new),
            active: case.active.map(ArtifactName::from),
            test: TestRows::from(case.measured),
            lines,
            calib: env!("CARGO_PKG_VERSION").into(),
        }
    }

    fn add(&mut self, key: &PrivateKey, entry: Entry) -> Result<LoggedEntry, LogOutputError> {
        let raw = to_raw_value(&entry).expect("an entry is JSON");
        let line = SignedLine {
            entry: &raw,
            key: key.public().to_string(),
            signature: hex::encode(key.sign_payload(PAYLOAD_TYPE, raw.get().as_bytes())),
        };
        let line = serde_json::to_string(&line).expect("a line is JSON");
        // What is written is what a reader accepts.
        let text = format!("{}{line}\n", self.log.text);
        let log = DecisionLog::from_text(text).map_err(|(_, cause)| self.fault(cause))?;
        Prepared::new(PUBLIC, &self.path, true, |out| out.write_all(log.text.as_bytes()))?.commit()?;
        self.log = log;
        Ok(self.log.entries().last().expect("one was added").clone())
    }

    fn fault(&self, cause: LogError) -> FileError {
        FileError::input(Location::file(&self.path), Problem::Log(cause))
    }
}

/// Writes a signed artifact, but not in its place.
fn prepare(
    key: &PrivateKey,
    artifact: &StoredArtifact,
    path: &Path,
    overwrite: bool,
) -> Result<Prepared, LogOutputError> {
    let signed =
        key.sign(artifact).map_err(|by| FileError::input(Location::file(path), Problem::Signed(by)))?;
    Ok(Prepared::new(PUBLIC, path, overwrite, |out| out.write_all(&signed))?)
}
