//! What an artifact is, as far as every result says it.

use serde::Serialize;

use crate::artifact::StoredArtifact;
use crate::fit::parameter_of;

/// Which artifact was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Written {
    /// Its size.
    pub len_bytes: usize,
    /// Its identity, in hex.
    pub identity: String,
    /// The identity of the artifact that it was made from; `None` if from none.
    pub parent: Option<String>,
}

impl Written {
    pub(super) fn of(stored: &StoredArtifact) -> Self {
        let artifact = stored.artifact();
        Self {
            len_bytes: artifact.len_bytes(),
            identity: artifact.identity().to_string(),
            parent: parameter_of(artifact.header().provenance.parameters, "parent").map(str::to_owned),
        }
    }
}
