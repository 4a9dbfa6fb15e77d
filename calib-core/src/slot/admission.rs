//! Which artefacts a device accepts.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, ClassifierId, KeyId, ParseError};

/// Decides whose artefacts are accepted.
pub trait Trust {
    /// Checks the signature of an artefact, or that it needs none. `bytes` are the artefact's, all of them.
    ///
    /// # Errors
    ///
    /// If it is not accepted.
    fn check(&self, artifact: &Artifact<'_>, bytes: &[u8]) -> Result<(), SignatureError>;

    /// The key that artefacts must be signed with, if they must.
    fn key(&self) -> Option<KeyId>;
}

/// Accepts artefacts of anybody, with or without a signature, which is not looked at.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Anybody;

/// What a device demands of an artefact: that it is undamaged, from somebody it trusts, and for its classifier.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Admission<T> {
    trust: T,
    classifier: ClassifierId,
}

/// An artefact that a device accepts, at the bytes that were checked.
///
/// Only an [`Admission`] makes one: what holds an `Admitted` need not ask whether a check was forgotten.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Admitted<'a> {
    artifact: Artifact<'a>,
    bytes: &'a [u8],
}

/// Why an artefact was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Refused {
    /// It is damaged, or not an artefact.
    Artifact(ParseError),
    /// It is not from somebody trusted.
    Signature(SignatureError),
    /// It was fitted for this classifier, not for the device's.
    OtherClassifier(Option<ClassifierId>),
}

/// Why a signature is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SignatureError {
    /// There is none.
    Missing,
    /// It says to be of this key, which is not the trusted one.
    OtherKey(KeyId),
    /// It is not the trusted key's signature of this artefact.
    Wrong,
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
    /// The key that artefacts must be signed with, if they must.
    pub fn trusted_key(&self) -> Option<KeyId> {
        self.trust.key()
    }

    /// Accepts what `trust` does, for the classifier of this identity.
    pub const fn new(trust: T, classifier: ClassifierId) -> Self {
        Self { trust, classifier }
    }

    /// Checks an artefact that fills `bytes` exactly, and starts at a multiple of 4 in memory.
    ///
    /// An artefact that names no classifier is accepted for every one.
    ///
    /// # Errors
    ///
    /// The first demand that it does not meet: damage first, then the signature, then the classifier.
    pub fn admit<'a>(&self, bytes: &'a [u8]) -> Result<Admitted<'a>, Refused> {
        let artifact = Artifact::parse(bytes).map_err(Refused::Artifact)?;
        self.trust.check(&artifact, bytes).map_err(Refused::Signature)?;
        if !artifact.is_for(self.classifier) {
            return Err(Refused::OtherClassifier(artifact.header().provenance.classifier));
        }
        Ok(Admitted { artifact, bytes })
    }
}

impl<'a> Admitted<'a> {
    /// The artefact in bytes that were admitted before.
    pub(crate) fn again(bytes: &'a [u8]) -> Option<Self> {
        Some(Self { artifact: Artifact::parse(bytes).ok()?, bytes })
    }

    /// The artefact.
    pub const fn artifact(&self) -> &Artifact<'a> {
        &self.artifact
    }

    /// Its bytes.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Artifact(cause) => cause.fmt(f),
            Self::Signature(cause) => cause.fmt(f),
            Self::OtherClassifier(Some(id)) => write!(f, "the artefact is for another classifier, {id}"),
            Self::OtherClassifier(None) => f.write_str("the artefact is for another kind of classifier"),
        }
    }
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the artefact is not signed"),
            Self::OtherKey(key) => write!(f, "the artefact is signed with another key, {key}"),
            Self::Wrong => f.write_str("the signature does not match the artefact"),
        }
    }
}

impl core::error::Error for Refused {}
impl core::error::Error for SignatureError {}
