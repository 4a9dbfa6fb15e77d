//! What is wrong with statements by which one key takes the place of another.

use calib_core::artifact::KeyId;
use calib_core::slot::MAX_ROTATIONS;

/// Why statements are no chain, or an artifact does not go with one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// The file holds no chain.
    #[error("not a chain of keys: {0}")]
    Json(String),
    /// The number of statements is not 1 to [`MAX_ROTATIONS`].
    #[error("{0} statements, where a chain has 1 to {MAX_ROTATIONS}")]
    Length(usize),
    /// A statement has no public key.
    #[error("statement {0}: its key is no public Ed25519 key")]
    Key(usize),
    /// The key before did not sign a statement.
    #[error("statement {0} is not signed with the key before it")]
    Signature(usize),
    /// A counter is lower than the one before, or 0.
    #[error("the counter {counter} is below {least}")]
    Counter {
        /// The counter.
        counter: u32,
        /// The least one.
        least: u32,
    },
    /// A key takes its own place, or that of a key after it.
    #[error("key {0} is in the chain already")]
    Repeated(KeyId),
    /// The chain ends with another key than the one that signs.
    #[error("the chain ends with key {end}, and not with key {key}, which signs")]
    End {
        /// The last key.
        end: KeyId,
        /// The one that signs.
        key: KeyId,
    },
    /// The artifact is older than a statement allows.
    #[error("the artifact has the counter {counter}, and the key may sign from counter {least} on")]
    Early {
        /// The counter of the artifact.
        counter: u32,
        /// The least one.
        least: u32,
    },
    /// With the chain the artifact is too long.
    #[error("the artifact has no room for it")]
    TooLong,
}
