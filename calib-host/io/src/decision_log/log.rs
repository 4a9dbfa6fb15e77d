//! Reading and verifying a log.

use std::path::Path;

use calib_fit::StoredArtifact;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::entry::{ArtifactName, Decision, Entry, ProtocolName, TestRows};
use crate::files::{FileError, Location, LogError, Problem, PublicKey, Row, read_text};
use crate::protocol::{History, Measured, Protocol};

/// The type under which entries are signed.
pub const PAYLOAD_TYPE: &str = "application/vnd.calib.decision+json";

/// An entry takes a few kilobytes.
const MAX_LEN_BYTES: u64 = 64 << 20;

/// A log whose entries continue each other and are signed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionLog {
    entries: Vec<LoggedEntry>,
    pub(super) text: String,
}

/// An entry, and whose it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoggedEntry {
    /// The entry.
    pub entry: Entry,
    /// The key that signed it.
    pub key: PublicKey,
    /// The SHA-256 of its line, in hex.
    pub sha256: String,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignedLine<'a> {
    #[serde(borrow)]
    pub(super) entry: &'a RawValue,
    pub(super) key: String,
    pub(super) signature: String,
}

/// Why an artifact may not be installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSigned {
    /// The log has no decision about it under this protocol.
    #[error("the log does not state that it was signed under this protocol")]
    NoEntry,
    /// It was signed under another protocol.
    #[error("it was signed under another protocol, by entry {0}: the protocol was changed afterwards")]
    OtherProtocol(u64),
    /// Every decision about it under this protocol refused it.
    #[error("it was refused, by entry {0}")]
    Refused(u64),
    /// The key that signed it is not the one that signed the entry.
    #[error("its signature is not by the key of entry {0}")]
    OtherKey(u64),
}

impl DecisionLog {
    /// Reads a log, and verifies that every entry is signed and continues the one before it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not whole; with the line.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::from_text(read_text(path, MAX_LEN_BYTES)?).map_err(|(line, cause)| {
            FileError::input(Location::file(path).row(Row::Line(line)), Problem::Log(cause))
        })
    }

    /// The same for a text; an error has the number of the line, from 1 on.
    ///
    /// # Errors
    ///
    /// If the log is not whole.
    pub fn from_text(text: String) -> Result<Self, (u64, LogError)> {
        let mut entries: Vec<LoggedEntry> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let previous = entries.last().map(|entry| &*entry.sha256);
            entries.push(LoggedEntry::read(line, number, previous).map_err(|cause| (number, cause))?);
        }
        // A writer that is interrupted leaves the file as it was: it never holds a part of a line.
        if !text.is_empty() && !text.ends_with('\n') {
            return Err((entries.len() as u64, LogError::CutLine));
        }
        Ok(Self { entries, text })
    }

    /// The entries, the oldest first.
    pub fn entries(&self) -> &[LoggedEntry] {
        &self.entries
    }

    /// The hash of the last line, which tells whether entries were removed at the end; `None` for an empty log.
    pub fn head(&self) -> Option<&str> {
        self.entries.last().map(|entry| &*entry.sha256)
    }

    /// Checks that the log contains the entry with this hash, which someone noted when it was the last one.
    ///
    /// # Errors
    ///
    /// If entries were removed at the end, or it is another log.
    pub fn check_head(&self, head: &str) -> Result<(), LogError> {
        match self.entries.iter().any(|entry| entry.sha256 == head) {
            true => Ok(()),
            false => Err(LogError::Head(head.into())),
        }
    }

    /// Checks that all decisions under a protocol are by as many of its keys as it requires, and that none says that a broken line was accepted.
    ///
    /// # Errors
    ///
    /// The first entry that is not in order.
    pub fn check_protocol(&self, protocol: &Protocol) -> Result<(), LogError> {
        for LoggedEntry { entry, key, .. } in self.under(protocol) {
            // A refused decision may be by any key.
            if entry.decision != Decision::Refused && !protocol.sign.keys.contains(key) {
                return Err(LogError::OtherKey(entry.number));
            }
            if entry.decision != Decision::Refused && entry.lines.iter().any(|line| !line.kept) {
                return Err(LogError::Contradiction(entry.number));
            }
            let is_signed = entry.decision == Decision::Signed;
            if is_signed
                && protocol.sign.needed > 1
                && !self.is_approved(protocol, (&entry.artifact, &entry.test), key, entry.number)
            {
                return Err(LogError::OneKey(entry.number));
            }
        }
        Ok(())
    }

    /// Returns the last entry by which an artifact was signed under a protocol, by the key whose signature the artifact has.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn signed(&self, protocol: &Protocol, stored: &StoredArtifact) -> Result<&LoggedEntry, NotSigned> {
        let name = ArtifactName::from(stored);
        let about = || self.entries.iter().rev().filter(|logged| logged.entry.artifact == name);
        let under = ProtocolName::from(protocol).sha256;
        let is_under = |logged: &&LoggedEntry| logged.entry.protocol.sha256 == under;
        let is_signed = |logged: &&LoggedEntry| logged.entry.decision == Decision::Signed;
        let number = |logged: &LoggedEntry| logged.entry.number;
        match about().filter(is_under).find(is_signed) {
            Some(logged) if logged.key.verify(stored).is_ok() => Ok(logged),
            Some(logged) => Err(NotSigned::OtherKey(number(logged))),
            None => Err(match (about().find(is_under), about().find(is_signed)) {
                (_, Some(other)) => NotSigned::OtherProtocol(number(other)),
                (Some(refused), None) if refused.entry.decision == Decision::Refused => {
                    NotSigned::Refused(number(refused))
                }
                _ => NotSigned::NoEntry,
            }),
        }
    }

    /// What earlier decisions say about an artifact that is to be signed with a key after it was judged by these rows.
    pub fn history(
        &self,
        protocol: &Protocol,
        stored: &StoredArtifact,
        measured: &Measured,
        key: &PublicKey,
    ) -> History {
        let name = ArtifactName::from(stored);
        let rows = hex::encode(measured.rows);
        let signed = || self.entries.iter().rev().filter(|logged| logged.entry.decision == Decision::Signed);
        let before = signed().find(|logged| {
            logged.entry.artifact.calibrator == name.calibrator
                && logged.entry.artifact.counter < name.counter
        });
        let used = self.entries.iter().find(|logged| {
            logged.entry.test.hash == rows && logged.entry.artifact.calibrator != name.calibrator
        });
        // What was signed again is not what a newer one is compared with: the one before it is.
        let newest = signed().find(|logged| logged.entry.artifact.identity != name.identity);
        History {
            newest: newest.map(|logged| logged.entry.artifact.identity.clone()),
            signed_before: before.map(|logged| logged.entry.number),
            rows_used: used.map(|logged| logged.entry.number),
            approved: self.is_approved(protocol, (&name, &TestRows::from(measured)), key, u64::MAX),
        }
    }

    /// Whether a key of the protocol other than this one approved an artifact by these rows, before the entry with this number.
    fn is_approved(
        &self,
        protocol: &Protocol,
        (artifact, test): (&ArtifactName, &TestRows),
        key: &PublicKey,
        before: u64,
    ) -> bool {
        self.under(protocol).any(|logged| {
            let entry = &logged.entry;
            entry.decision == Decision::Approved
                && entry.number < before
                && entry.artifact == *artifact
                && entry.test == *test
                && logged.key != *key
                && protocol.sign.keys.contains(&logged.key)
        })
    }

    fn under(&self, protocol: &Protocol) -> impl Iterator<Item = &LoggedEntry> {
        let sha256 = ProtocolName::from(protocol).sha256;
        self.entries.iter().filter(move |logged| logged.entry.protocol.sha256 == sha256)
    }
}

impl LoggedEntry {
    fn read(line: &str, number: u64, previous: Option<&str>) -> Result<Self, LogError> {
        let no_entry = |cause: &dyn ToString| LogError::NotAnEntry(cause.to_string());
        let signed: SignedLine<'_> = serde_json::from_str(line).map_err(|cause| no_entry(&cause))?;
        let entry: Entry = serde_json::from_str(signed.entry.get()).map_err(|cause| no_entry(&cause))?;
        let key: PublicKey = signed.key.parse().map_err(|cause| no_entry(&cause))?;
        let signature: Option<[u8; 64]> =
            hex::decode(&signed.signature).ok().and_then(|bytes| bytes.try_into().ok());
        let is_signed =
            |bytes: [u8; 64]| key.signed_payload(PAYLOAD_TYPE, signed.entry.get().as_bytes(), &bytes);
        if !signature.is_some_and(is_signed) {
            return Err(LogError::Edited(entry.number));
        }
        if entry.number != number {
            return Err(LogError::Number { expected: number, got: entry.number });
        }
        if entry.previous.as_deref() != previous {
            return Err(LogError::Previous(number));
        }
        Ok(Self { entry, key, sha256: hex::encode(Sha256::digest(line)) })
    }
}
