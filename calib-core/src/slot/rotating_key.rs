//! A key that may name another one in its place.

use ed25519_dalek::Signature;

use super::admission::{SignatureError, Trust};
use super::rotation::{MAX_ROTATIONS, Rotation, signed_by_successor};
use super::trusted_key::TrustedKey;
use crate::artifact::{Artifact, KeyId};

/// A public key whose owner may name another one in its place: as a [`TrustedKey`], until an artifact with such a statement is installed.
///
/// An artifact is accepted if it is signed with this key. It is also accepted if it contains a chain of [`Rotation`]s that begins with this key and
/// ends with the one that signed it. Its counter is at least that of each statement.
///
/// Once an artifact with a chain is installed, the slots remember the name of its key ([`Trust::successor`]). From then on only artifacts
/// are installed whose chain contains that key. So a key is revoked as soon as the next one has signed an artifact that is installed: what it
/// signs afterwards, whatever the counter, is refused, and so is a key that it names instead.
///
/// ```
/// use calib_core::slot::{NotAKey, RotatingKey, Trust};
/// use calib_core::TrustedKey;
///
/// # let key = [
/// #     0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
/// #     0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
/// # ];
/// let first = TrustedKey::new(&key)?;
/// assert_eq!(RotatingKey::new(first).key(), Some(first.id()));
/// # Ok::<(), NotAKey>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RotatingKey {
    first: TrustedKey,
}

impl RotatingKey {
    /// Trusts this key, and the one that it names.
    pub const fn new(first: TrustedKey) -> Self {
        Self { first }
    }

    /// Returns the key that an artifact's chain ends with, after verifying each statement.
    fn last(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Result<TrustedKey, SignatureError> {
        if signed_by_successor(artifact, bytes).is_none() {
            return Ok(self.first);
        }
        let chain = Rotation::chain_of(bytes).ok_or(SignatureError::Wrong)?;
        let (mut key, mut least) = (self.first, 0);
        for rotation in chain.take(MAX_ROTATIONS) {
            let message = Rotation::message(&rotation.next, rotation.counter);
            key.verify(&message, &Signature::from_bytes(&rotation.signature))?;
            // An artifact that was signed too early, or statements out of order.
            if rotation.counter < least || artifact.counter() < rotation.counter {
                return Err(SignatureError::Wrong);
            }
            least = rotation.counter;
            key = TrustedKey::new(&rotation.next).map_err(|_| SignatureError::Wrong)?;
        }
        Ok(key)
    }
}

impl Trust for RotatingKey {
    fn check(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Result<(), SignatureError> {
        self.last(artifact, bytes)?.check(artifact, bytes)
    }

    fn key(&self) -> Option<KeyId> {
        self.first.key()
    }

    fn successor(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Option<KeyId> {
        signed_by_successor(artifact, bytes)
    }

    fn check_after(
        &self,
        successor: KeyId,
        artifact: &Artifact<'_>,
        bytes: &[u8],
    ) -> Result<(), SignatureError> {
        let is_successor =
            |rotation: Rotation| TrustedKey::new(&rotation.next).is_ok_and(|key| key.id() == successor);
        match Rotation::chain_of(bytes).is_some_and(|mut chain| chain.any(is_successor)) {
            true => Ok(()),
            false => Err(artifact
                .signature()
                .map_or(SignatureError::Missing, |by| SignatureError::OtherKey(by.key))),
        }
    }
}
