//! Whose artifacts are accepted: anybody's, or those signed with the caller's key.

use calib_core::Artifact;
use calib_core::artifact::KeyId;
use calib_core::slot::{SignatureError, Trust};

use crate::error::Result;
use crate::memory;

/// Bytes of a public key.
pub const CALIB_KEY_BYTES: usize = 32;

/// Decided while the program runs.
#[derive(Debug)]
pub(crate) enum Trusted {
    Anybody,
    #[cfg(feature = "ed25519")]
    Key(calib_core::TrustedKey),
}

impl Trusted {
    /// Takes the key that the caller points to; null trusts anybody.
    ///
    /// # Safety
    ///
    /// A pointer that is not null points to [`CALIB_KEY_BYTES`] bytes.
    pub(crate) unsafe fn new(key: *const u8) -> Result<Self> {
        if key.is_null() {
            return Ok(Self::Anybody);
        }
        // SAFETY: the caller's.
        let bytes: [u8; CALIB_KEY_BYTES] = unsafe { memory::copied(key.cast()) }?;
        of_key(&bytes)
    }
}

#[cfg(feature = "ed25519")]
fn of_key(bytes: &[u8; CALIB_KEY_BYTES]) -> Result<Trusted> {
    let key = calib_core::TrustedKey::new(bytes);
    key.map(Trusted::Key).map_err(|_| crate::error::CALIB_ERROR_KEY)
}

#[cfg(not(feature = "ed25519"))]
fn of_key(_: &[u8; CALIB_KEY_BYTES]) -> Result<Trusted> {
    Err(crate::error::CALIB_ERROR_UNSUPPORTED)
}

impl Trust for Trusted {
    fn check(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> core::result::Result<(), SignatureError> {
        match self {
            Self::Anybody => calib_core::Anybody.check(artifact, bytes),
            #[cfg(feature = "ed25519")]
            Self::Key(key) => key.check(artifact, bytes),
        }
    }

    fn key(&self) -> Option<KeyId> {
        match self {
            Self::Anybody => None,
            #[cfg(feature = "ed25519")]
            Self::Key(key) => key.key(),
        }
    }

    fn successor(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Option<KeyId> {
        match self {
            Self::Anybody => calib_core::Anybody.successor(artifact, bytes),
            #[cfg(feature = "ed25519")]
            Self::Key(key) => key.successor(artifact, bytes),
        }
    }

    fn check_after(
        &self,
        successor: KeyId,
        artifact: &Artifact<'_>,
        bytes: &[u8],
    ) -> core::result::Result<(), SignatureError> {
        match self {
            Self::Anybody => calib_core::Anybody.check_after(successor, artifact, bytes),
            #[cfg(feature = "ed25519")]
            Self::Key(key) => key.check_after(successor, artifact, bytes),
        }
    }
}
