//! Statements by which one key names the next.

use crate::artifact::{Artifact, KeyId, optional_section};

/// The kind of the section with the chain of [`Rotation`]s: optional, so that it makes no difference where keys do not change.
pub const ROTATION_SECTION: u16 = 68;
/// The number of bytes of a statement.
pub const ROTATION_LEN: usize = 100;
/// A chain has at most this many statements, so that it is verified in a bounded time.
pub const MAX_ROTATIONS: usize = 4;

/// A statement by one key that another one takes its place. An artifact that is signed with the new key contains it.
///
/// It has 100 bytes: the new public key, the least counter as a little-endian `u32`, and the old key's signature of [`Rotation::DOMAIN`]
/// followed by both.
///
/// ```
/// use calib_core::slot::Rotation;
///
/// let signature = [0x5A; 64]; // by the old key, of Rotation::message
/// let rotation = Rotation { next: [7; 32], counter: 6, signature };
/// assert_eq!(Rotation::chain(&rotation.to_bytes()).map(|chain| chain.count()), Some(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The public key that takes the place.
    pub next: [u8; 32],
    /// The least counter of artifacts that are signed with it.
    pub counter: u32,
    /// The signature by the key before.
    pub signature: [u8; 64],
}

impl Rotation {
    /// The bytes that tell a statement from anything else that the key signs.
    pub const DOMAIN: [u8; 16] = *b"calib rotation\0\x01";

    /// Returns the message that the key before signs.
    pub fn message(next: &[u8; 32], counter: u32) -> [u8; 52] {
        let mut message = [0; 52];
        message[..16].copy_from_slice(&Self::DOMAIN);
        message[16..48].copy_from_slice(next);
        message[48..].copy_from_slice(&counter.to_le_bytes());
        message
    }

    /// Returns the bytes of the statement.
    pub fn to_bytes(&self) -> [u8; ROTATION_LEN] {
        let mut bytes = [0; ROTATION_LEN];
        bytes[..32].copy_from_slice(&self.next);
        bytes[32..36].copy_from_slice(&self.counter.to_le_bytes());
        bytes[36..].copy_from_slice(&self.signature);
        bytes
    }

    /// Returns the statements of a chain, the first key's first; `None` unless there are 1 to [`MAX_ROTATIONS`].
    pub fn chain(bytes: &[u8]) -> Option<impl Iterator<Item = Self> + '_> {
        let (statements, rest) = bytes.as_chunks::<ROTATION_LEN>();
        let is_chain = rest.is_empty() && (1..=MAX_ROTATIONS).contains(&statements.len());
        is_chain.then(|| statements.iter().filter_map(Self::parse))
    }

    /// Returns the chain of an artifact that parses; `None` if it has none.
    pub fn chain_of(artifact: &[u8]) -> Option<impl Iterator<Item = Self> + '_> {
        Self::chain(optional_section(artifact, ROTATION_SECTION)?)
    }

    fn parse(bytes: &[u8; ROTATION_LEN]) -> Option<Self> {
        let counter = u32::from_le_bytes(*bytes.get(32..)?.first_chunk()?);
        Some(Self { next: *bytes.first_chunk()?, counter, signature: *bytes.last_chunk()? })
    }
}

/// Returns the name of the key that signed an artifact, if the artifact contains statements by which it took the place of another one.
pub(super) fn signed_by_successor(artifact: &Artifact<'_>, bytes: &[u8]) -> Option<KeyId> {
    optional_section(bytes, ROTATION_SECTION)?;
    artifact.signature().map(|signature| signature.key)
}
