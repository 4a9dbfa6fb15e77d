//! The part of the device protocol that replaces a calibrator.
//!
//! The host announces an artefact, sends it in chunks, and then asks the device to install it, step by step, until it is
//! installed. Each request is answered when it is done, and does little: between them the device answers requests for
//! predictions, from the calibrator that is still in force. Every request may be repeated, and an update may be left
//! and taken up again by announcing the same artefact.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::artifact::KeyId;
use crate::slot::{InstallError, Progress, Receipt, Refused, SlotContent, SlotFault};

/// The most bytes of an artefact in a request.
pub const MAX_CHUNK: usize = 256;

/// The length in bytes of what a device leaves in memory for a debug probe: its replies to `Slots` and to `Status` as
/// frames, one after the other.
pub const REPORT_LEN: usize = 512;

/// A part of an artefact.
pub type Chunk = heapless::Vec<u8, MAX_CHUNK>;

/// What a device's slots hold, and how far an update is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Slots {
    /// Which slot is in force, if one is: its place in `slots`.
    pub in_force: Option<u8>,
    /// What they hold, or why they are not valid.
    pub slots: [Result<SlotContent, SlotFault>; 2],
    /// The longest artefact that fits a slot and the device's buffer, in bytes.
    pub max_len_bytes: u32,
    /// The key that artefacts must be signed with, if they must.
    pub trusted_key: Option<KeyId>,
    /// How far the update is, if one has begun.
    pub update: Option<UpdateStatus>,
}

/// How far an update is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum UpdateStatus {
    /// So many bytes of the artefact are there; the next chunk begins behind them.
    Receiving {
        /// Where the next chunk begins.
        received: u32,
        /// The artefact's length.
        len_bytes: u32,
    },
    /// The artefact is admitted, and on its way to flash.
    Installing {
        /// The bytes of flash erased, written and compared so far.
        done_bytes: u32,
        /// All of them.
        total_bytes: u32,
    },
    /// The artefact is in force from now on.
    Installed(Receipt),
}

/// Why a device does not go on with an update. What is in force stays so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum UpdateRefusal {
    /// This device's calibrator is not replaced over the line.
    NotUpdatable,
    /// The artefact does not fit.
    TooLarge {
        /// Its length.
        len_bytes: u32,
        /// The longest that fits.
        max: u32,
    },
    /// Nothing was announced.
    NotAnnounced,
    /// The chunk begins beyond what is there.
    Offset {
        /// Where the next chunk begins.
        expected: u32,
    },
    /// Bytes are missing yet.
    Incomplete {
        /// How many are there.
        received: u32,
    },
    /// The bytes that are there are not those that were announced. Announce them again.
    Crc,
    /// The artefact is not accepted.
    Refused(Refused),
    /// The artefact's counter is lower than the one in force.
    Downgrade {
        /// The counter in force.
        held: u32,
        /// The artefact's.
        offered: u32,
    },
    /// The flash failed.
    Flash,
    /// The flash does not hold what was written; the offset in the slot of the first byte that differs.
    ReadBack {
        /// Where.
        offset: u32,
    },
    /// As often as this nothing can be installed on one device.
    SequenceExhausted,
}

impl From<Progress> for UpdateStatus {
    fn from(progress: Progress) -> Self {
        match progress {
            Progress::Pending { done_bytes, total_bytes } => Self::Installing { done_bytes, total_bytes },
            Progress::Installed(receipt) => Self::Installed(receipt),
        }
    }
}

impl<E> From<InstallError<E>> for UpdateRefusal {
    fn from(error: InstallError<E>) -> Self {
        match error {
            InstallError::Refused(cause) => Self::Refused(cause),
            InstallError::Downgrade { held, offered } => Self::Downgrade { held, offered },
            InstallError::TooLarge { len_bytes, max } => Self::TooLarge { len_bytes, max },
            InstallError::OtherArtifact => Self::Crc,
            InstallError::SequenceExhausted => Self::SequenceExhausted,
            InstallError::Flash(_) => Self::Flash,
            InstallError::ReadBack { offset } => Self::ReadBack { offset },
        }
    }
}

impl fmt::Display for UpdateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUpdatable => f.write_str("this device's calibrator is not replaced over the line"),
            Self::TooLarge { len_bytes, max } => {
                write!(f, "the artefact has {len_bytes} bytes, the device takes {max}")
            }
            Self::NotAnnounced => f.write_str("no artefact was announced"),
            Self::Offset { expected } => write!(f, "the device expects offset {expected}"),
            Self::Incomplete { received } => write!(f, "only {received} bytes of the artefact are there"),
            Self::Crc => f.write_str("the bytes received are not those that were announced"),
            Self::Refused(cause) => cause.fmt(f),
            Self::Downgrade { held, offered } => {
                write!(f, "the artefact's counter is {offered}, below {held} of the calibrator in force")
            }
            Self::Flash => f.write_str("the device's flash failed"),
            Self::ReadBack { offset } => {
                write!(
                    f,
                    "the device's flash does not hold what was written, from offset {offset} of the slot on"
                )
            }
            Self::SequenceExhausted => f.write_str("nothing can be installed on this device any more"),
        }
    }
}

impl core::error::Error for UpdateRefusal {}
