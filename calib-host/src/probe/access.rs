//! What a probe must be able to do: our own few words, so that everything else is tested without one.

use std::ops::Range;

/// A sector of flash: the least that can be erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sector {
    /// Its address.
    pub addr: u64,
    /// Its length in bytes.
    pub len_bytes: u64,
}

/// Why a probe did not do as it was told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// There is no probe.
    #[error("no debug probe was found")]
    NoProbe,
    /// A probe is there, and this user may not use it.
    #[error("no permission to use the debug probe {0}")]
    NoPermission(String),
    /// There are several probes.
    #[error("there are {} debug probes", .0.len())]
    SeveralProbes(Vec<String>),
    /// No chip has this name; these are similar.
    #[error("no chip is called {name}")]
    NoChip {
        /// The name.
        name: String,
        /// Names that begin alike.
        similar: Vec<String>,
    },
    /// The probe does not reach the chip.
    #[error("the probe does not reach the chip: {0}")]
    Attach(String),
    /// The chip is locked; unlocking would erase all of it.
    #[error("the chip is locked against debugging: {0}")]
    Locked(String),
    /// Reading failed.
    #[error("cannot read the chip at {addr:#010x}: {cause}")]
    Read {
        /// Where.
        addr: u64,
        /// The probe's words.
        cause: String,
    },
    /// Erasing or writing failed.
    #[error("cannot write the chip's flash at {addr:#010x}: {cause}")]
    Write {
        /// Where.
        addr: u64,
        /// The probe's words.
        cause: String,
    },
    /// Resetting failed.
    #[error("cannot reset the chip: {0}")]
    Reset(String),
}

/// A chip whose flash can be read and written.
pub trait FlashAccess {
    /// The sectors that a range of addresses touches, in order; empty where there is no flash.
    fn sectors(&self, range: Range<u64>) -> Vec<Sector>;

    /// Reads memory.
    ///
    /// # Errors
    ///
    /// The probe's.
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), AccessError>;

    /// Erases the sectors that `bytes` touch, and writes them. Never erases others, and never the whole chip.
    ///
    /// # Errors
    ///
    /// The probe's.
    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), AccessError>;

    /// Resets the chip and lets it run.
    ///
    /// # Errors
    ///
    /// The probe's.
    fn reset(&mut self) -> Result<(), AccessError>;
}

impl AccessError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoProbe => "connect one, and its cable to the chip; then run `calib doctor`".into(),
            Self::NoPermission(_) => {
                "install the udev rules of https://probe.rs/docs/getting-started/probe-setup, then plug it in again".into()
            }
            Self::SeveralProbes(there) => format!("choose one with --probe: {}", there.join(", ")),
            Self::NoChip { similar, .. } if similar.is_empty() => "see https://probe.rs/targets for the names".into(),
            Self::NoChip { similar, .. } => format!("similar are {}", similar.join(", ")),
            Self::Attach(_) => "is the chip powered, and is --chip the right one?".into(),
            Self::Locked(_) => "unlocking erases the whole chip, which calib never does: use the maker's tool".into(),
            Self::Read { .. } | Self::Write { .. } | Self::Reset(_) => "check cable and power, then run it again".into(),
        })
    }
}
