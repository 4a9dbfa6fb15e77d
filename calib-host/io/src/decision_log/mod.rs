//! Which calibrators were signed or refused, and why: a log to which entries are only added.
//!
//! The log is a text with an entry on each line, in JSON:
//!
//! ```text
//! {"entry":{"number":1,"previous":null,...},"key":"MCowBQYDK2Vw...","signature":"5f0c..."}
//! ```
//!
//! `previous` is the SHA-256 of the line before, without its line feed. `signature` is the Ed25519 signature by `key` of the bytes of `entry` as
//! they stand there, as DSSE 1.0 signs a payload of the type [`PAYLOAD_TYPE`].
//!
//! [`DecisionLog`] finds an entry that was edited, and entries that were reordered, replaced, or removed before the last one that is left.
//! Removed last entries are found only by the hash of the last line, which someone else keeps: [`DecisionLog::check_head`]. Nothing here finds
//! that the owner of a key wrote all entries again, unless such a hash is known.

mod entry;
mod log;
#[cfg(test)]
mod tests;
mod writer;

pub use entry::{ArtifactName, Decision, Entry, ProtocolName, TestRows};
pub use log::{DecisionLog, LoggedEntry, NotSigned, PAYLOAD_TYPE};
pub use writer::{LogOutputError, LogWriter};
