//! Why a slot holds no calibrator, or takes none.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::admission::Refused;

/// Why a slot holds no valid calibrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SlotFault {
    /// The slot is erased.
    Blank,
    /// No installation into the slot was completed.
    Uncommitted,
    /// The slot's bytes are not the installed ones: bytes of the artifact were altered, or its length is impossible.
    Altered,
    /// The rest of the slot is not erased.
    Tail {
        /// The offset in the slot of the first byte that is not erased.
        offset: u32,
    },
    /// The artifact is longer than the device's buffer.
    TooLarge {
        /// The artifact's length.
        len_bytes: u32,
    },
    /// The artifact is whole, but not accepted.
    Refused(Refused),
    /// The flash cannot be read.
    Flash,
}

/// Why an artifact was not installed. The active calibrator is the same as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum InstallError<E> {
    /// The artifact is not accepted.
    Refused(Refused),
    /// The artifact's counter is lower than the counter of the active calibrator.
    Downgrade {
        /// The active calibrator's counter.
        held: u32,
        /// The artifact's counter.
        offered: u32,
    },
    /// The artifact does not fit a slot.
    TooLarge {
        /// The artifact's length.
        len_bytes: u32,
        /// The length of the longest artifact that fits.
        max: u32,
    },
    /// The artifact is not the one that the installation began with.
    OtherArtifact,
    /// The device has had 2^32 - 1 installations, which is the limit.
    SequenceExhausted,
    /// The flash failed.
    Flash(E),
    /// The flash does not hold the bytes that were written.
    ReadBack {
        /// The offset in the slot of the first byte that differs.
        offset: u32,
    },
    /// The active calibrator needs another mark before the other slot may be erased, no unit for one is blank, and none is read as complete every
    /// time.
    NoMark,
    /// The artifact has no counter, or the counter 0: a device that demands signatures does not take it.
    NoCounter,
    /// The artifact's counter is that of another calibrator in the slots: a device that demands signatures does not take it.
    SameCounter {
        /// The counter.
        counter: u32,
    },
    /// A slot holds what was not there, or could not be read, when the calibrator was loaded.
    /// [Load](super::SlotStore::load) it again.
    Reload,
}

impl fmt::Display for SlotFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("the slot is blank"),
            Self::Uncommitted => f.write_str("no installation into the slot was completed"),
            Self::Altered => f.write_str("the slot's bytes were altered"),
            Self::Tail { offset } => {
                write!(f, "the slot is not erased at offset {offset}, behind the artifact")
            }
            Self::TooLarge { len_bytes } => {
                write!(f, "the artifact of {len_bytes} bytes is larger than the device's buffer")
            }
            Self::Refused(cause) => cause.fmt(f),
            Self::Flash => f.write_str("the flash cannot be read"),
        }
    }
}

impl<E: fmt::Debug> fmt::Display for InstallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(cause) => cause.fmt(f),
            Self::Downgrade { held, offered } => {
                write!(f, "the artifact's counter is {offered}, below {held} of the active calibrator")
            }
            Self::NoMark => {
                f.write_str("the calibrator in force cannot be made sure of: no mark of it is certain")
            }
            Self::NoCounter => f.write_str("the artifact has no counter"),
            Self::SameCounter { counter } => {
                write!(f, "the artifact's counter is {counter}, as that of another calibrator on the device")
            }
            Self::Reload => f.write_str("the slots are not what they were when the calibrator was loaded"),
            Self::TooLarge { len_bytes, max } => {
                write!(f, "the artifact has {len_bytes} bytes, the slot holds {max}")
            }
            Self::OtherArtifact => f.write_str("the artifact changed while it was installed"),
            Self::SequenceExhausted => {
                f.write_str("nothing can be installed any more: the sequence has ended")
            }
            Self::Flash(cause) => write!(f, "the flash failed: {cause:?}"),
            Self::ReadBack { offset } => {
                write!(f, "the flash does not hold what was written, from offset {offset} of the slot on")
            }
        }
    }
}

impl core::error::Error for SlotFault {}
impl<E: fmt::Debug> core::error::Error for InstallError<E> {}
