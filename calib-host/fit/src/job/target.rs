//! Where thresholds and sets go.

use crate::artifact::{ArtifactOptions, DerivedArtifact, StoredArtifact};

/// Where a rule goes.
#[derive(Clone, Debug)]
pub enum Target<'a> {
    /// Into a separate artifact: the device then has no probabilities.
    Alone(Box<ArtifactOptions>),
    /// Beside a calibrator of the same scores, into an artifact with this counter.
    Beside(&'a StoredArtifact, u32),
}

impl<'a> Target<'a> {
    /// Returns the calibrator.
    pub(super) fn parent(&self) -> Option<&'a StoredArtifact> {
        match self {
            Self::Alone(_) => None,
            Self::Beside(parent, _) => Some(parent),
        }
    }

    /// Writes a separate artifact, or one beside a calibrator, with these parameters.
    pub(super) fn write<E>(
        &self,
        parameters: String,
        alone: impl FnOnce(&str, &ArtifactOptions) -> Result<Vec<u8>, E>,
        beside: impl FnOnce(&StoredArtifact, &DerivedArtifact) -> Result<Vec<u8>, E>,
    ) -> Result<StoredArtifact, E> {
        let bytes = match self {
            Self::Alone(options) => alone(&parameters, options)?,
            Self::Beside(parent, counter) => {
                beside(parent, &DerivedArtifact { counter: *counter, parameters })?
            }
        };
        Ok(StoredArtifact::from_bytes(&bytes).expect("what was written is an artifact"))
    }
}
