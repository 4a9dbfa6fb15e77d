//! Which artifacts a device accepts.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::record::NO_KEY;
use crate::artifact::{Artifact, CRC_32C, ClassifierId, KeyId, ParseError};

/// What the monitors of a device have room for: an artifact that asks for an [action](Artifact::monitor_action) on their alarms is refused
/// by a device that could not see an alarm of every table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MonitorRoom {
    /// The number of tables.
    pub tables: usize,
    /// The number of bins of each.
    pub bins: usize,
}

impl MonitorRoom {
    /// The room of a device without monitors.
    pub const NONE: Self = Self { tables: 0, bins: 0 };

    /// Tells whether a device with this room can do what the artifact asks for on an alarm, or the artifact asks for nothing.
    pub fn can_act_for(self, artifact: &Artifact<'_>) -> bool {
        let Some(monitors) = artifact.monitors().filter(|_| artifact.monitor_action().is_some()) else {
            return true;
        };
        let has_room = |table: usize| {
            let Some(reference) = monitors.to_count(table) else { return true };
            let bins = artifact.tables().bins(table).unwrap_or(0);
            table < self.tables && reference.bins() <= self.bins && bins <= self.bins
        };
        (0..monitors.count()).all(has_room)
    }
}

/// Decides whose artifacts are accepted.
pub trait Trust {
    /// Checks the signature of an artifact, or that the artifact needs none. `bytes` are all bytes of the artifact.
    ///
    /// # Errors
    ///
    /// If the artifact is not accepted.
    fn check(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Result<(), SignatureError>;

    /// Returns the name of the key with which artifacts must be signed; `None` if they need no signature.
    fn key(&self) -> Option<KeyId>;

    /// Returns the name of the key that signed an accepted artifact, if it took the place of another key.
    ///
    /// The slots keep it, so that no earlier key is accepted afterwards.
    fn successor(&self, _artifact: &Artifact<'_>, _bytes: &[u8]) -> Option<KeyId> {
        None
    }

    /// Checks that an accepted artifact is signed with this key, which took the place of another one, or with one that took its place.
    ///
    /// # Errors
    ///
    /// [`SignatureError::Revoked`] if it is signed with an earlier key, or with one that an earlier key named.
    fn check_after(
        &self,
        _successor: KeyId,
        _artifact: &Artifact<'_>,
        _bytes: &[u8],
    ) -> Result<(), SignatureError> {
        Ok(())
    }
}

/// Accepts artifacts of anybody, signed or not, without looking at the signature.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Anybody;

/// The demands of a device: an artifact is undamaged, from someone trusted, and for the device's classifier.
///
/// ```
/// use calib_core::{Admission, Anybody, ClassifierId, ParseError};
/// use calib_core::slot::Refused;
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::binary();
/// let admission = Admission::new(Anybody, ClassifierId(*b"thermo01"));
/// assert!(admission.admit(bytes.as_bytes()).is_ok());
/// assert!(matches!(admission.admit(&[0; 64]), Err(Refused::Artifact(ParseError::Blank))));
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Admission<T> {
    trust: T,
    classifier: ClassifierId,
    room: MonitorRoom,
}

/// An artifact that a device accepts, with its bytes.
///
/// Only an [`Admission`] makes an `Admitted`, so no check can be forgotten.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Admitted<'a> {
    artifact: Artifact<'a>,
    bytes: &'a [u8],
}

/// Why an artifact was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Refused {
    /// The bytes are damaged, or not an artifact.
    Artifact(ParseError),
    /// The artifact is not from someone trusted.
    Signature(SignatureError),
    /// The artifact was fitted for this classifier, not for the device's. `None` if it was fitted for another kind of classifier.
    OtherClassifier(Option<ClassifierId>),
    /// The artifact asks for an action on an alarm of its monitors, and the device has none, or none with room for its tables.
    Monitors,
}

/// Why a signature is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SignatureError {
    /// There is no signature.
    Missing,
    /// The signature names this key, which is not the trusted one.
    OtherKey(KeyId),
    /// The signature is not the trusted key's signature of this artifact.
    Wrong,
    /// The signature names this key, in whose place another one came.
    Revoked(KeyId),
}

impl Trust for Anybody {
    fn check(&self, _: &Artifact<'_>, _: &[u8]) -> Result<(), SignatureError> {
        Ok(())
    }

    fn key(&self) -> Option<KeyId> {
        None
    }
}

impl<T: Trust> Admission<T> {
    /// Returns the name of the key with which artifacts must be signed; `None` if they need no signature.
    pub fn trusted_key(&self) -> Option<KeyId> {
        self.trust.key()
    }

    /// Returns what tells apart notes about artifacts that are admitted here: those of another key or classifier do not count.
    pub(super) fn whose(&self) -> u32 {
        let mut digest = CRC_32C.digest();
        digest.update(&self.classifier.0);
        digest.update(&self.trusted_key().map_or([0; 8], |key| key.0));
        digest.finalize()
    }

    /// Returns what the slots keep of the key that signed an admitted artifact.
    pub(super) fn successor(&self, admitted: &Admitted<'_>) -> KeyId {
        self.trust.successor(&admitted.artifact, admitted.bytes).unwrap_or(NO_KEY)
    }

    /// Checks that an admitted artifact is not signed with a key in whose place another one came.
    pub(super) fn check_after(&self, successor: KeyId, admitted: &Admitted<'_>) -> Result<(), Refused> {
        if successor == NO_KEY {
            return Ok(());
        }
        self.trust.check_after(successor, &admitted.artifact, admitted.bytes).map_err(Refused::Signature)
    }

    /// Makes an admission of artifacts that `trust` accepts, for the classifier with this identity, on a device without monitors.
    pub const fn new(trust: T, classifier: ClassifierId) -> Self {
        Self { trust, classifier, room: MonitorRoom::NONE }
    }

    /// Returns the same admission on a device whose monitors have this room.
    #[must_use]
    pub fn watched(self, room: MonitorRoom) -> Self {
        Self { room, ..self }
    }

    /// Checks an artifact that fills `bytes` exactly, and starts at a multiple of 4 in memory.
    ///
    /// An artifact that names no classifier is accepted for every classifier.
    ///
    /// # Errors
    ///
    /// The first demand that the artifact does not meet, in the order damage, signature, classifier, monitors.
    pub fn admit<'a>(&self, bytes: &'a [u8]) -> Result<Admitted<'a>, Refused> {
        let artifact = Artifact::parse(bytes).map_err(Refused::Artifact)?;
        self.trust.check(&artifact, bytes).map_err(Refused::Signature)?;
        if !artifact.is_for(self.classifier) {
            return Err(Refused::OtherClassifier(artifact.header().provenance.classifier));
        }
        if !self.room.can_act_for(&artifact) {
            return Err(Refused::Monitors);
        }
        Ok(Admitted { artifact, bytes })
    }
}

impl<'a> Admitted<'a> {
    /// Returns the artifact in bytes that were admitted before.
    pub(crate) fn again(bytes: &'a [u8]) -> Option<Self> {
        Some(Self { artifact: Artifact::parse(bytes).ok()?, bytes })
    }

    /// Returns the artifact.
    pub const fn artifact(&self) -> &Artifact<'a> {
        &self.artifact
    }

    /// Returns the artifact's bytes.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Artifact(cause) => cause.fmt(f),
            Self::Signature(cause) => cause.fmt(f),
            Self::OtherClassifier(Some(id)) => write!(f, "the artifact is for another classifier, {id}"),
            Self::OtherClassifier(None) => f.write_str("the artifact is for another kind of classifier"),
            Self::Monitors => f.write_str(
                "the artifact requires an action after an alert of its monitors, and the firmware has no monitors, or too little memory for them",
            ),
        }
    }
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the artifact is not signed"),
            Self::OtherKey(key) => write!(f, "the artifact is signed with another key, {key}"),
            Self::Revoked(key) => {
                write!(
                    f,
                    "the artifact is signed with key {key}, in whose place another key came on this device"
                )
            }
            Self::Wrong => f.write_str("the signature does not match the artifact"),
        }
    }
}

impl core::error::Error for Refused {}
impl core::error::Error for SignatureError {}
