//! Why flash does not hold what it should, and why a device does not use what it holds.

use std::fmt;
use std::time::Duration;

use calib_core::artifact::KeyId;
use calib_core::slot::{InstallError, LayoutError, SlotFault};
use calib_core::wire::Missing;
use calib_core::{ClassifierId, Identity};
use embedded_storage::nor_flash::NorFlashErrorKind;

use super::access::{AccessError, Sector};

/// Why flash does not hold what it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlashError {
    /// The probe failed.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// There is no flash there.
    #[error("there is no flash at {0:#010x}")]
    NoFlash(u64),
    /// A slot shares a sector with something else, which erasing it would destroy.
    #[error("the slot {slot_addr:#010x}..{slot_end:#010x} is not of whole sectors: one is at {:#010x} with {} bytes",
        sector.addr, sector.len_bytes)]
    NotWhole {
        /// Where the slot begins.
        slot_addr: u64,
        /// Where it ends.
        slot_end: u64,
        /// The sector that goes beyond it.
        sector: Sector,
    },
    /// What was read back is not what was written.
    #[error(
        "the flash does not hold what was written: at {addr:#010x} it reads {read:02x}, {written:02x} was written"
    )]
    ReadBack {
        /// The first byte that differs.
        addr: u64,
        /// What was written.
        written: u8,
        /// What is there.
        read: u8,
    },
    /// A sector that was not to be touched is not as it was.
    #[error(
        "a neighboring sector was changed: at {addr:#010x} it reads {after:02x}, before it was {before:02x}"
    )]
    Neighbor {
        /// The first byte that differs.
        addr: u64,
        /// What was there before.
        before: u8,
        /// What is there now.
        after: u8,
    },
    /// The device left no report after its reset.
    #[error(
        "the calibrator is written, but the device did not report within {:.1} s whether it uses it: there is no report at \
         {addr:#010x}",
        patience.as_secs_f64()
    )]
    NoReport {
        /// Where it was looked for.
        addr: u64,
        /// How long it was waited for.
        patience: Duration,
    },
    /// The device does not use what was written.
    #[error("the calibrator is written, but the device does not use it: {0}")]
    Rejected(Rejection),
    /// Slots of this length hold nothing.
    #[error(transparent)]
    Slots(#[from] LayoutError),
    /// The device would not take the artifact. Nothing was written.
    #[error("the device would reject the calibrator: {0}")]
    Refused(InstallError<NorFlashErrorKind>),
}

/// Why a device does not use the calibrator that was written for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// It takes only calibrators signed with a key, and this one is not, or with another.
    Key {
        /// The device's key.
        device: KeyId,
        /// The artifact's.
        artifact: Option<KeyId>,
    },
    /// It was fitted for another classifier.
    Classifier {
        /// The device's classifier.
        device: ClassifierId,
        /// The artifact's.
        artifact: ClassifierId,
    },
    /// A calibrator with a higher counter is active.
    Counter {
        /// The active calibrator's counter.
        held: u32,
        /// The artifact's.
        offered: u32,
    },
    /// The device does not see it in its slots: what it sees there.
    NotThere([Result<Identity, SlotFault>; 2]),
    /// The device does not say why.
    Unsaid {
        /// What is active.
        in_force: Option<Identity>,
        /// Why nothing is.
        missing: Option<Missing>,
    },
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key { device, artifact: Some(key) } => {
                write!(
                    f,
                    "it accepts only calibrators signed with key {device}, this one is signed with {key}"
                )
            }
            Self::Key { device, artifact: None } => {
                write!(f, "it accepts only calibrators signed with key {device}, this one is not signed")
            }
            Self::Classifier { device, artifact } => {
                write!(f, "it was fitted for classifier {artifact}, the device's is {device}")
            }
            Self::Counter { held, offered } => {
                write!(f, "its rollback counter is {offered}, below {held} of the active calibrator")
            }
            Self::NotThere(slots) => {
                f.write_str("the device does not see it; its slots:")?;
                slots.iter().enumerate().try_for_each(|(index, slot)| match slot {
                    Ok(identity) => write!(f, " {index} holds {identity};"),
                    Err(fault) => write!(f, " {index}: {fault};"),
                })
            }
            Self::Unsaid { in_force: Some(identity), .. } => write!(f, "{identity} is active instead"),
            Self::Unsaid { missing: Some(Missing::Slots(faults)), .. } => {
                let mut said = faults.iter().filter(|fault| !matches!(fault, SlotFault::Blank));
                match said.next() {
                    Some(fault) => write!(f, "{fault}"),
                    None => f.write_str("it is uncalibrated"),
                }
            }
            Self::Unsaid { .. } => f.write_str("it is uncalibrated"),
        }
    }
}
