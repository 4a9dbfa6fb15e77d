//! The header: what was fitted, how, on what, and what it guarantees.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::error::ParseError;

/// The largest number of classes: class indices are `u16`.
pub const MAX_CLASSES: usize = u16::MAX as usize;

/// What an artefact holds. Encoded in postcard; variants and fields are only ever added in a new section.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header<'a> {
    /// The binary calibration method.
    pub method: Method,
    /// How a multi-class problem was reduced to binary ones.
    pub reduction: Reduction,
    /// What kind of number a score is.
    pub encoding: ScoreEncoding,
    /// The classifier's number of classes, at least 2.
    pub classes: u16,
    /// The number of bins over all tables, at least 1.
    pub bins: u32,
    /// The number of calibration points, at least 1.
    pub n: u64,
    /// What is guaranteed, if anything; its epsilon is the largest over all tables.
    pub guarantee: Option<Guarantee>,
    /// What to know about the fit.
    pub flags: HeaderFlags,
    /// Where the artefact comes from.
    #[serde(borrow)]
    pub provenance: Provenance<'a>,
}

/// A binary calibration method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Method {
    /// Uniform-mass binning without sample splitting (Gupta and Ramdas 2021, Algorithm 1).
    Umd,
    /// Isotonic regression, as a step function (pool adjacent violators).
    Isotonic,
}

/// How a multi-class problem becomes binary ones (Gupta and Ramdas 2022).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Reduction {
    /// Binary already: one table for the score of class 1.
    Binary,
    /// One table per predicted class, for the probability that the prediction is right.
    TopLabel,
}

/// What kind of number a score is on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ScoreEncoding {
    /// An `f32` in `[0, 1]`: a probability, or the softmax of `f32` logits.
    F32,
}

/// A conditional calibration guarantee: with probability at least `1 - alpha` over the calibration data,
/// every bin's probability is within `epsilon` of the truth for that bin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Guarantee {
    /// The theorem it follows from.
    pub theorem: Theorem,
    /// The failure probability, in `(0, 1)`.
    pub alpha: f32,
    /// The largest deviation, above 0; from 1 on it says nothing. Rounded up.
    pub epsilon: f32,
}

/// The source of a guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Theorem {
    /// Gupta and Ramdas 2021, Theorem 3, for scores with a continuous distribution; with top-label and a
    /// fixed number of bins, applied per class with a union bound over all bins (2022, appendix H).
    Gr21Theorem3,
    /// Gupta and Ramdas 2022, Theorem 1, for top-label with points per bin.
    Gr22Theorem1,
}

/// Marks of a whole artefact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct HeaderFlags(u8);

impl HeaderFlags {
    /// Nothing to know.
    pub const NONE: Self = Self(0);
    /// In at least one table equal scores straddled a bin boundary and were merged into one bin, which voids
    /// the theorem for that table.
    pub const TIES_MERGED: Self = Self(1);
    /// At least one class had too few points and stays uncalibrated.
    pub const CLASS_UNCALIBRATED: Self = Self(2);

    /// Both sets of flags together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every flag of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    const fn known(self) -> bool {
        self.0 & !(Self::TIES_MERGED.0 | Self::CLASS_UNCALIBRATED.0) == 0
    }
}

/// Where an artefact comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Provenance<'a> {
    /// The SHA-256 of the calibration data files, in the order they were given.
    pub data_sha256: [u8; 32],
    /// The version of calib that wrote it.
    pub tool_version: &'a str,
    /// The parameters it was created with, as `name=value` separated by spaces.
    pub parameters: &'a str,
    /// The classifier it was fitted for, if stated. A device refuses another classifier's.
    pub classifier: Option<ClassifierId>,
}

/// The name of an artefact: the first 8 bytes of the SHA-256 of its sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Identity(pub [u8; 8]);

/// The name of a classifier: 8 bytes, such as the start of the SHA-256 of its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassifierId(pub [u8; 8]);

impl<'a> Header<'a> {
    pub(super) fn parse(payload: &'a [u8]) -> Result<Self, ParseError> {
        let (header, rest) = postcard::take_from_bytes::<Self>(payload).map_err(|_| ParseError::Header)?;
        if rest.is_empty() && header.is_consistent() { Ok(header) } else { Err(ParseError::Header) }
    }

    pub(super) fn is_consistent(&self) -> bool {
        let classes = match self.reduction {
            Reduction::Binary => self.classes == 2,
            Reduction::TopLabel => self.classes >= 2,
        };
        let guarantee = self.guarantee.is_none_or(|g| {
            // A binary calibrator has one table: ties that void its theorem leave nothing to guarantee.
            let void = self.reduction == Reduction::Binary && self.flags.contains(HeaderFlags::TIES_MERGED);
            let applies = match g.theorem {
                Theorem::Gr21Theorem3 => self.method == Method::Umd,
                Theorem::Gr22Theorem1 => self.method == Method::Umd && self.reduction == Reduction::TopLabel,
            };
            g.alpha > 0.0 && g.alpha < 1.0 && is_epsilon(g.epsilon) && applies && !void
        });
        classes && guarantee && self.bins > 0 && self.n > 0 && self.flags.known()
    }
}

/// Whether a value can be an epsilon: a positive finite number.
pub(super) fn is_epsilon(value: f32) -> bool {
    value > 0.0 && value.is_finite()
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Display for ClassifierId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Umd => "umd",
            Self::Isotonic => "isotonic",
        })
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Binary => "binary",
            Self::TopLabel => "top-label",
        })
    }
}

impl fmt::Display for ScoreEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
        })
    }
}

impl fmt::Display for Theorem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gr21Theorem3 => "Gupta and Ramdas 2021, Theorem 3",
            Self::Gr22Theorem1 => "Gupta and Ramdas 2022, Theorem 1",
        })
    }
}
