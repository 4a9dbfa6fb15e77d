//! What a probe must be able to do: our own few words, so that everything else is tested without one.

use std::ops::Range;

use serde::Serialize;

/// A sector of flash: the least that can be erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sector {
    /// Its address.
    pub addr: u64,
    /// Its length in bytes.
    pub len_bytes: u64,
}

/// A probe that is plugged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeState {
    /// How it is called: vendor, product and serial number, with colons between.
    pub selector: String,
    /// What it calls itself.
    pub name: String,
    /// Whether this user may use it.
    pub accessible: bool,
}

/// The probe of this name, or the only one.
///
/// # Errors
///
/// If there is none, not this one, several to choose from, or no permission to use it.
#[cfg_attr(not(feature = "probe"), allow(dead_code, reason = "nothing looks for probes then"))]
pub(super) fn choose<'p>(
    there: &'p [ProbeState],
    wanted: Option<&str>,
) -> Result<&'p ProbeState, AccessError> {
    let names = || there.iter().map(|probe| probe.selector.clone()).collect();
    let probe = match (there, wanted) {
        ([], _) => return Err(AccessError::NoProbe),
        (_, Some(wanted)) => there
            .iter()
            .find(|probe| probe.selector == wanted)
            .ok_or_else(|| AccessError::NoSuchProbe { wanted: wanted.to_owned(), there: names() })?,
        ([probe], None) => probe,
        _ => return Err(AccessError::SeveralProbes(names())),
    };
    if probe.accessible { Ok(probe) } else { Err(AccessError::NoPermission(probe.selector.clone())) }
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
    /// There are probes, but none of this name.
    #[error("no debug probe is called {wanted}")]
    NoSuchProbe {
        /// The name.
        wanted: String,
        /// The probes that are there.
        there: Vec<String>,
    },
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
    /// Writing memory that is not flash failed.
    #[error("cannot write the chip's memory at {addr:#010x}: {cause}")]
    WriteMemory {
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

    /// Writes memory that is not flash.
    ///
    /// # Errors
    ///
    /// The probe's.
    fn write_memory(&mut self, addr: u64, bytes: &[u8]) -> Result<(), AccessError>;

    /// Resets the chip and lets it run.
    ///
    /// # Errors
    ///
    /// The probe's.
    fn reset(&mut self) -> Result<(), AccessError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(selector: &str, accessible: bool) -> ProbeState {
        ProbeState { selector: selector.into(), name: "J-Link".into(), accessible }
    }

    #[test]
    fn one_probe_is_chosen_or_the_reason_told() {
        let [a, b] = [probe("1366:1061:01", true), probe("1366:1061:02", false)];
        let both = [a.clone(), b.clone()];
        let named = |probes: &[ProbeState], wanted| choose(probes, wanted).cloned();
        assert_eq!(named(&[], None), Err(AccessError::NoProbe));
        assert_eq!(named(&[], Some("1366:1061:01")), Err(AccessError::NoProbe));
        assert_eq!(named(&both[..1], None), Ok(a.clone()));
        assert_eq!(named(&both[1..], None), Err(AccessError::NoPermission(b.selector.clone())));
        assert_eq!(named(&both, Some("1366:1061:01")), Ok(a.clone()));
        assert_eq!(named(&both, Some("1366:1061:02")), Err(AccessError::NoPermission(b.selector.clone())));
        let there = vec![a.selector, b.selector];
        assert_eq!(named(&both, None), Err(AccessError::SeveralProbes(there.clone())));
        let wanted = "1366:1061:03".to_owned();
        assert_eq!(named(&both, Some(&wanted)), Err(AccessError::NoSuchProbe { wanted, there }));
    }
}
