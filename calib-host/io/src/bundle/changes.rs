//! The protocol in a bundle, and the log of decisions under it.

use std::path::Path;

use calib_fit::StoredArtifact;

use super::content::{Bundle, BundleFile};
use super::lie::Lie;
use crate::decision_log::DecisionLog;
use crate::protocol::protocol_of_bytes;

/// Reads a log of decisions.
pub(super) fn read_log(bytes: &[u8]) -> Result<DecisionLog, Lie> {
    let text = String::from_utf8(bytes.to_vec()).map_err(|cause| Lie::Log(cause.to_string()))?;
    DecisionLog::from_text(text).map_err(|(line, cause)| Lie::Log(format!("line {line}: {cause}")))
}

/// What was found of the changes of a calibrator.
pub(super) enum Changes {
    /// Every change kept the protocol; how many decisions there are.
    Kept(usize),
    /// Why that cannot be told.
    Unknown(&'static str),
}

/// Finds a decision that is not as the protocol requires, or that the artifact was not signed under it.
pub(super) fn check_changes(
    bundle: &Bundle,
    artifact: &StoredArtifact,
    head: Option<&str>,
) -> Result<Changes, Lie> {
    let log = bundle.get(BundleFile::Log).map(read_log).transpose()?;
    if log.as_ref().and_then(DecisionLog::head) != head {
        return Err(Lie::Log("its last line is another one than claims.json states".into()));
    }
    let Some(toml) = bundle.get(BundleFile::Protocol) else {
        return Ok(Changes::Unknown(if log.is_some() { "there is no protocol" } else { "there are none" }));
    };
    let protocol = protocol_of_bytes(Path::new(BundleFile::Protocol.name()), toml.to_vec())
        .map_err(|cause| Lie::Protocol(cause.to_string()))?;
    let Some(log) = log else { return Ok(Changes::Unknown("there is no log")) };
    log.check_protocol(&protocol).map_err(|cause| Lie::Log(cause.to_string()))?;
    log.signed(&protocol, artifact).map_err(|cause| Lie::Log(format!("the artifact: {cause}")))?;
    Ok(Changes::Kept(log.entries().len()))
}
