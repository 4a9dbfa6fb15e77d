//! Artifacts signed with Ed25519.

use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha512};

use super::admission::{SignatureError, Trust};
use super::rotation::{Rotation, signed_by_successor};
use crate::artifact::{Artifact, KeyId, SignedPart};

/// A public key: only artifacts signed by its owner are accepted, or by the owner of a key that it names.
///
/// The owner may name another key in its place ([`Rotation`]). An artifact that is signed with that key contains a chain of statements, one of
/// which this key signed. Its counter is at least that of each statement. Statements before the one that names this key do not
/// count: the same artifact serves devices that were built with any key of the chain.
///
/// Once such an artifact is installed, the slots remember the name of its key ([`Trust::successor`]). From then on only artifacts are installed
/// that statements from this key over that one lead to. So a key is revoked as soon as the next one has signed an artifact that is installed: what it signs
/// afterwards, whatever the counter, is refused, and so is another key that it names.
///
/// A signature is verified as in RFC 8032, with the stricter rules of `verify_strict`: neither the key nor a part of the signature
/// may be of small order. A signature then fits one message and one key only.
///
/// ```
/// use calib_core::{Admission, ClassifierId, TrustedKey};
/// use calib_core::slot::{NotAKey, Refused, SignatureError};
///
/// // The public key of RFC 8032's first test.
/// let key = [
///     0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
///     0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
/// ];
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::binary();
/// let admission = Admission::new(TrustedKey::new(&key)?, ClassifierId(*b"thermo01"));
/// let refusal = admission.admit(bytes.as_bytes()).unwrap_err();
/// assert_eq!(refusal, Refused::Signature(SignatureError::Missing));
/// # Ok::<(), NotAKey>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TrustedKey {
    key: VerifyingKey,
    id: KeyId,
}

/// Why bytes are not a [`TrustedKey`]: they are no public key, or one that nobody can own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NotAKey;

impl TrustedKey {
    /// Takes the 32 bytes of an Ed25519 public key.
    ///
    /// # Errors
    ///
    /// If the bytes are no point of the curve, or a point of small order.
    pub fn new(bytes: &[u8; 32]) -> Result<Self, NotAKey> {
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| NotAKey)?;
        if key.is_weak() {
            return Err(NotAKey);
        }
        let hash = Sha512::digest(bytes);
        let id = KeyId(*hash.first_chunk().ok_or(NotAKey)?);
        Ok(Self { key, id })
    }

    /// Returns the statements that lead from this key to the one that signed an artifact: none if this key did.
    ///
    /// Statements before the one that names this key are left out, since nobody verifies them here.
    fn path<'b>(
        &self,
        artifact: &Artifact<'_>,
        bytes: &'b [u8],
    ) -> Result<impl Iterator<Item = Rotation> + use<'b>, SignatureError> {
        let is_led = self.successor(artifact, bytes).is_some();
        let own = |rotation: Rotation| rotation.next == *self.key.as_bytes();
        let (before, path) = match is_led {
            false => (0, None),
            true => {
                let chain = || Rotation::chain_of(bytes).ok_or(SignatureError::Wrong);
                (chain()?.position(own).map_or(0, |at| at + 1), Some(chain()?))
            }
        };
        Ok(path.into_iter().flatten().skip(before))
    }

    /// Returns the key that an artifact's path ends with, after verifying each statement.
    fn last(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Result<Self, SignatureError> {
        let (mut key, mut least) = (*self, 0);
        for rotation in self.path(artifact, bytes)? {
            let message = Rotation::message(&rotation.next, rotation.counter);
            key.verify(&message, &Signature::from_bytes(&rotation.signature))?;
            // An artifact that was signed too early, or statements out of order.
            if rotation.counter < least || artifact.counter() < rotation.counter {
                return Err(SignatureError::Wrong);
            }
            least = rotation.counter;
            key = Self::new(&rotation.next).map_err(|_| SignatureError::Wrong)?;
        }
        Ok(key)
    }

    /// Checks that the owner of this very key signed an artifact.
    fn check_own(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Result<(), SignatureError> {
        let signature = artifact.signature().ok_or(SignatureError::Missing)?;
        if signature.key != self.id {
            return Err(SignatureError::OtherKey(signature.key));
        }
        let message = SignedPart::of(bytes).ok_or(SignatureError::Wrong)?.message();
        self.verify(&message, &Signature::from_bytes(signature.bytes))
    }

    /// Verifies a signature of a message.
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        self.key.verify_strict(message, signature).map_err(|_| SignatureError::Wrong)
    }

    /// Returns the key's name.
    pub const fn id(&self) -> KeyId {
        self.id
    }
}

impl Trust for TrustedKey {
    fn check(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Result<(), SignatureError> {
        self.last(artifact, bytes)?.check_own(artifact, bytes)
    }

    fn key(&self) -> Option<KeyId> {
        Some(self.id)
    }

    fn successor(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Option<KeyId> {
        signed_by_successor(artifact, bytes).filter(|key| *key != self.id)
    }

    fn check_after(
        &self,
        successor: KeyId,
        artifact: &Artifact<'_>,
        bytes: &[u8],
    ) -> Result<(), SignatureError> {
        let is_successor =
            |rotation: Rotation| Self::new(&rotation.next).is_ok_and(|key| key.id == successor);
        match successor == self.id || self.path(artifact, bytes)?.any(is_successor) {
            true => Ok(()),
            false => {
                let revoked = artifact.signature().map(|by| SignatureError::Revoked(by.key));
                Err(revoked.unwrap_or(SignatureError::Missing))
            }
        }
    }
}

impl SignedPart<'_> {
    /// Returns the message that is signed: [`SignedPart::DOMAIN`], then the SHA-512 of the signed part.
    #[cfg_attr(docsrs, doc(cfg(feature = "ed25519")))]
    pub fn message(&self) -> [u8; 80] {
        let hash = Sha512::new().chain_update(self.front).chain_update(self.rest).finalize();
        let mut message = [0; 80];
        let (domain, rest) = message.split_at_mut(Self::DOMAIN.len());
        domain.copy_from_slice(&Self::DOMAIN);
        rest.copy_from_slice(&hash);
        message
    }
}

impl core::fmt::Display for NotAKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("not an Ed25519 public key")
    }
}

impl core::error::Error for NotAKey {}
