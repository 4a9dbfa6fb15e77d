//! Why flash does not hold what it should, and why a device does not use what it holds.

use std::time::Duration;

use calib_core::artifact::KeyId;
use calib_core::slot::{InstallError, LayoutError, SlotFault};
use calib_core::wire::Missing;
use calib_core::{ClassifierId, Identity};
use embedded_storage::nor_flash::NorFlashErrorKind;

use super::access::{AccessError, Sector};
use crate::device::serial::signed_with;

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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// It takes only calibrators signed with a key, and this one is not, or with another.
    #[error("it accepts only calibrators signed with key {device}, this one is {}", signed_with(*artifact))]
    Key {
        /// The device's key.
        device: KeyId,
        /// The artifact's.
        artifact: Option<KeyId>,
    },
    /// It was fitted for another classifier.
    #[error("it was fitted for classifier {artifact}, the device's is {device}")]
    Classifier {
        /// The device's classifier.
        device: ClassifierId,
        /// The artifact's.
        artifact: ClassifierId,
    },
    /// A calibrator with a higher counter is active.
    #[error("its rollback counter is {offered}, below {held} of the active calibrator")]
    Counter {
        /// The active calibrator's counter.
        held: u32,
        /// The artifact's.
        offered: u32,
    },
    /// The device does not see it in its slots: what it sees there.
    #[error("the device does not see it; its slots:{}", slots_in_words(.0))]
    NotThere([Result<Identity, SlotFault>; 2]),
    /// Another calibrator is active, and the device does not say why.
    #[error("{0} is active instead")]
    Other(Identity),
    /// No calibrator is active: why, if the device says it.
    #[error("{}", missing_in_words(.0))]
    Missing(Option<Missing>),
}

fn slots_in_words(slots: &[Result<Identity, SlotFault>]) -> String {
    let words = |(index, slot): (usize, &Result<Identity, SlotFault>)| match slot {
        Ok(identity) => format!(" {index} holds {identity};"),
        Err(fault) => format!(" {index}: {fault};"),
    };
    slots.iter().enumerate().map(words).collect()
}

fn missing_in_words(missing: &Option<Missing>) -> String {
    let fault = match missing {
        Some(Missing::Slots(faults)) => faults.iter().find(|fault| !matches!(fault, SlotFault::Blank)),
        _ => None,
    };
    fault.map_or("it is uncalibrated".into(), SlotFault::to_string)
}
