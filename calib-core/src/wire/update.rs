//! The part of the device protocol that replaces a calibrator.
//!
//! The host announces an artifact, sends it in chunks, and then asks the device to install it step by step. Each request does
//! little, and is answered when it is done. Between requests of an update, the device answers requests for predictions from the
//! active calibrator. Every request may be repeated. An update that was left is taken up again by announcing the same artifact.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::artifact::KeyId;
use crate::slot::{InstallError, Progress, Receipt, Refused, SlotContent, SlotFault};

/// The largest number of bytes of an artifact in a request.
pub const MAX_CHUNK: usize = 256;

/// The length of the report that a device leaves in memory for a debug probe, in bytes: its replies to `Slots` and `Status` as frames,
/// one after the other.
pub const REPORT_LEN: usize = 512;

/// A part of an artifact.
pub type Chunk = heapless::Vec<u8, MAX_CHUNK>;

/// The content of a device's slots, and the progress of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Slots {
    /// The active slot, as an index of `slots`.
    pub in_force: Option<u8>,
    /// What each slot holds, or why it is not valid.
    pub slots: [Result<SlotContent, SlotFault>; 2],
    /// The longest artifact that fits a slot and the device's buffer, in bytes.
    pub max_len_bytes: u32,
    /// The name of the key with which artifacts must be signed; `None` if they need no signature.
    pub trusted_key: Option<KeyId>,
    /// The progress of the update, if one has begun.
    pub update: Option<UpdateStatus>,
}

/// The progress of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum UpdateStatus {
    /// The device has received a part of the artifact.
    Receiving {
        /// The number of bytes received, which is the offset of the next chunk.
        received: u32,
        /// The artifact's length.
        len_bytes: u32,
    },
    /// The artifact is admitted, and is being written to flash.
    Installing {
        /// The bytes of flash erased, written and compared so far.
        done_bytes: u32,
        /// The bytes of flash to erase, write and compare in all.
        total_bytes: u32,
    },
    /// The artifact is active, whatever happens from now on.
    Installed(Receipt),
}

/// Why a device does not go on with an update. The active calibrator stays active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum UpdateRefusal {
    /// This device's calibrator cannot be replaced over the line.
    NotUpdatable,
    /// The artifact does not fit.
    TooLarge {
        /// The artifact's length.
        len_bytes: u32,
        /// The length of the longest artifact that fits.
        max: u32,
    },
    /// No artifact was announced.
    NotAnnounced,
    /// The chunk begins beyond the received bytes.
    Offset {
        /// The offset of the next chunk.
        expected: u32,
    },
    /// Bytes of the artifact are still missing.
    Incomplete {
        /// The number of bytes received.
        received: u32,
    },
    /// The received bytes are not the announced ones. Announce the artifact again.
    Crc,
    /// The artifact is not accepted.
    Refused(Refused),
    /// The artifact's counter is lower than the active one.
    Downgrade {
        /// The active calibrator's counter.
        held: u32,
        /// The artifact's counter.
        offered: u32,
    },
    /// The flash failed.
    Flash,
    /// The flash does not hold the bytes that were written.
    ReadBack {
        /// The offset in the slot of the first byte that differs.
        offset: u32,
    },
    /// The device has had 2^32 - 1 installations, which is the limit.
    SequenceExhausted,
    /// The active calibrator cannot be made sure of, so it is not replaced.
    NoMark,
    /// The artifact has no counter, which a device that demands signatures does not take.
    NoCounter,
    /// The artifact's counter is that of another calibrator on the device, which demands signatures.
    SameCounter {
        /// The counter.
        counter: u32,
    },
    /// The slots are not what they were when the device looked at them last: it looks again now.
    Reload,
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
            InstallError::NoMark => Self::NoMark,
            InstallError::NoCounter => Self::NoCounter,
            InstallError::SameCounter { counter } => Self::SameCounter { counter },
            InstallError::Reload => Self::Reload,
        }
    }
}

impl fmt::Display for UpdateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUpdatable => f.write_str("this device's calibrator is not replaced over the line"),
            Self::TooLarge { len_bytes, max } => {
                write!(f, "the artifact has {len_bytes} bytes, the device takes {max}")
            }
            Self::NotAnnounced => f.write_str("no artifact was announced"),
            Self::Offset { expected } => write!(f, "the device expects offset {expected}"),
            Self::Incomplete { received } => write!(f, "only {received} bytes of the artifact are there"),
            Self::Crc => f.write_str("the bytes received are not those that were announced"),
            Self::Refused(cause) => cause.fmt(f),
            Self::Downgrade { held, offered } => {
                write!(f, "the artifact's counter is {offered}, below {held} of the active calibrator")
            }
            Self::Flash => f.write_str("the device's flash failed"),
            Self::ReadBack { offset } => {
                write!(
                    f,
                    "the device's flash does not hold what was written, from offset {offset} of the slot on"
                )
            }
            Self::SequenceExhausted => f.write_str("nothing can be installed on this device any more"),
            Self::NoMark => f.write_str(
                "the calibrator in force cannot be made sure of before it is replaced: no mark of its slot is certain",
            ),
            Self::NoCounter => f.write_str("the artifact has no counter, which this device demands"),
            Self::SameCounter { counter } => {
                write!(f, "the artifact's counter is {counter}, as that of another calibrator on the device")
            }
            Self::Reload => {
                f.write_str("the device's slots are not what they were when it looked last: it has looked again")
            }
        }
    }
}

impl core::error::Error for UpdateRefusal {}
