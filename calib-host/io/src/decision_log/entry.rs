//! What an entry says.

use calib_core::artifact::{Header, Provenance, SectionKind};
use calib_core::slot::ROTATION_SECTION;
use calib_fit::StoredArtifact;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::protocol::{Line, Measured, Protocol};

/// What was decided about an artifact, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Entry {
    /// The number of the entry, from 1 on.
    pub number: u64,
    /// The SHA-256 of the line before, in hex; `None` for the first entry.
    pub previous: Option<String>,
    /// The time by the clock of the signer, in seconds since 1970.
    pub time: u64,
    /// What was decided.
    pub decision: Decision,
    /// By which protocol.
    pub protocol: ProtocolName,
    /// About which artifact.
    pub artifact: ArtifactName,
    /// The artifact that was active, if there was one.
    pub active: Option<ArtifactName>,
    /// The test rows.
    pub test: TestRows,
    /// The lines of the protocol, and what was measured.
    pub lines: Vec<Line>,
    /// The version of calib that decided.
    pub calib: String,
}

/// What was decided about an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It was signed.
    Signed,
    /// One of two keys agrees that it is signed.
    Approved,
    /// It breaks a line of the protocol, and was not signed.
    Refused,
}

/// Which protocol it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProtocolName {
    /// What it is called.
    pub name: String,
    /// The SHA-256 of its file, in hex.
    pub sha256: String,
}

/// Which artifact it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactName {
    /// Its identity, in hex.
    pub identity: String,
    /// Its rollback counter.
    pub counter: u32,
    /// The SHA-256 of what it contains, in hex, except for the counter, the statements of keys, the name of its
    /// parent and the version of calib.
    pub calibrator: String,
}

/// Which test rows they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestRows {
    /// The hash of the rows, whatever their order, in hex.
    pub hash: String,
    /// The number of rows.
    pub n: u64,
    /// The number of rows with label 1; `None` for several classes.
    pub events: Option<u64>,
}

impl From<&Protocol> for ProtocolName {
    fn from(protocol: &Protocol) -> Self {
        Self { name: protocol.name.clone(), sha256: hex::encode(protocol.sha256) }
    }
}

impl From<&StoredArtifact> for ArtifactName {
    fn from(stored: &StoredArtifact) -> Self {
        const LEFT_OUT: [u16; 4] = [
            SectionKind::Header as u16,
            SectionKind::Counter as u16,
            SectionKind::Signature as u16,
            ROTATION_SECTION,
        ];
        let artifact = stored.artifact();
        let header = artifact.header();
        let own = header.provenance.parameters.split(' ').filter(|pair| !pair.starts_with("parent="));
        let own = own.collect::<Vec<_>>().join(" ");
        let provenance = Provenance { parameters: &own, tool_version: "", ..header.provenance };
        let mut hash = Sha256::new();
        hash.update(serde_json::to_vec(&Header { provenance, ..*header }).expect("a header is JSON"));
        for (kind, mandatory, payload) in stored.sections().filter(|section| !LEFT_OUT.contains(&section.0)) {
            hash.update(kind.to_le_bytes());
            hash.update([u8::from(mandatory)]);
            hash.update((payload.len() as u64).to_le_bytes());
            hash.update(payload);
        }
        Self {
            identity: artifact.identity().to_string(),
            counter: artifact.counter(),
            calibrator: hex::encode(hash.finalize()),
        }
    }
}

impl From<&Measured> for TestRows {
    fn from(measured: &Measured) -> Self {
        Self { hash: hex::encode(measured.rows), n: measured.all.n, events: measured.all.events }
    }
}
