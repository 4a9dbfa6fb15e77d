//! The signed list of a bundle's files: an in-toto statement in a DSSE envelope.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::content::{Bundle, BundleFile};
use super::lie::Lie;
use crate::files::{PrivateKey, PublicKey};

/// What DSSE signs with the statement.
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// What this statement says of its subjects: that they are the files of a bundle.
const PREDICATE_TYPE: &str = "urn:calib:bundle:v1";

/// DSSE 1.0.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    signatures: Vec<Signed>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signed {
    keyid: String,
    sig: String,
}

/// in-toto Statement v1.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    #[serde(rename = "_type")]
    statement_type: String,
    subject: Vec<Subject>,
    #[serde(rename = "predicateType")]
    predicate_type: String,
    predicate: Predicate,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Subject {
    name: String,
    digest: BTreeMap<String, String>,
}

/// What the owner states of the files.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Predicate {
    /// The version of calib that made the bundle.
    pub(super) calib: String,
    /// The identity of the artifact.
    pub(super) artifact: String,
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The statement over all files that are there, signed.
pub(super) fn sign(bundle: &Bundle, predicate: Predicate, key: &PrivateKey) -> serde_json::Result<Vec<u8>> {
    let subject = |(file, bytes): (BundleFile, &[u8])| Subject {
        name: file.name().into(),
        digest: BTreeMap::from([("sha256".into(), sha256(bytes))]),
    };
    let statement = Statement {
        statement_type: STATEMENT_TYPE.into(),
        subject: bundle.files().filter(|(file, _)| *file != BundleFile::Statement).map(subject).collect(),
        predicate_type: PREDICATE_TYPE.into(),
        predicate,
    };
    let payload = serde_json::to_vec(&statement)?;
    let signature = key.sign_payload(PAYLOAD_TYPE, &payload);
    let envelope = Envelope {
        payload: STANDARD.encode(&payload),
        payload_type: PAYLOAD_TYPE.into(),
        signatures: vec![Signed { keyid: key.public().id().to_string(), sig: STANDARD.encode(signature) }],
    };
    let mut json = serde_json::to_vec_pretty(&envelope)?;
    json.push(b'\n');
    Ok(json)
}

/// Finds a file that is not the one that the key's owner signed.
pub(super) fn check(bundle: &Bundle, key: &PublicKey) -> Result<Predicate, Lie> {
    let json = bundle.get(BundleFile::Statement).ok_or(Lie::MissingFile(BundleFile::Statement))?;
    let wrong = |cause: String| Lie::Statement(cause);
    let envelope: Envelope = serde_json::from_slice(json).map_err(|cause| wrong(cause.to_string()))?;
    let decoded = |text: &str| STANDARD.decode(text).map_err(|cause| wrong(cause.to_string()));
    let payload = decoded(&envelope.payload)?;
    let not_signed = || Lie::Signature(key.id().to_string());
    let [signed] = &envelope.signatures[..] else {
        return Err(wrong(format!("{} signatures, and one is expected", envelope.signatures.len())));
    };
    let signature: [u8; 64] = decoded(&signed.sig)?.try_into().map_err(|_| not_signed())?;
    let is_ours = envelope.payload_type == PAYLOAD_TYPE && signed.keyid == key.id().to_string();
    if !is_ours || !key.signed_payload(PAYLOAD_TYPE, &payload, &signature) {
        return Err(not_signed());
    }
    let statement: Statement = serde_json::from_slice(&payload).map_err(|cause| wrong(cause.to_string()))?;
    if (statement.statement_type.as_str(), statement.predicate_type.as_str())
        != (STATEMENT_TYPE, PREDICATE_TYPE)
    {
        return Err(wrong(format!(
            "a {} of {} is no statement of a bundle",
            statement.predicate_type, statement.statement_type
        )));
    }
    let mut listed = BTreeMap::new();
    for subject in &statement.subject {
        let file = BundleFile::of(&subject.name).ok_or_else(|| Lie::StrayFile(subject.name.clone()))?;
        let bytes = bundle.get(file).ok_or(Lie::MissingFile(file))?;
        if subject.digest.get("sha256") != Some(&sha256(bytes)) {
            return Err(Lie::ChangedFile(file));
        }
        listed.insert(file, ());
    }
    let mut files = bundle.files().map(|(file, _)| file).filter(|file| *file != BundleFile::Statement);
    match files.find(|file| !listed.contains_key(file)) {
        Some(file) => Err(Lie::UnlistedFile(file)),
        None => Ok(statement.predicate),
    }
}
