//! What can go wrong with a device on a serial line.

use std::io;
use std::time::Duration;

use calib_core::Identity;
use calib_core::artifact::KeyId;
use calib_core::slot::SlotFault;
use calib_core::wire::{CountersRefusal, Refusal, UpdateRefusal};

/// Why a device did not do as it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The port is not there.
    #[error("there is no serial port {port}")]
    NoPort {
        /// Its name.
        port: String,
        /// The ports that are there.
        there: Vec<String>,
    },
    /// There is something of this name, and it is no serial port.
    #[error("{port} is no serial port")]
    NotAPort {
        /// Its name.
        port: String,
        /// The ports that are there.
        there: Vec<String>,
    },
    /// The port is there, and this user may not open it.
    #[error("no permission to open {port}")]
    NoPermission {
        /// Its name.
        port: String,
    },
    /// Another program has the port open.
    #[error("{port} is in use by another program")]
    Busy {
        /// Its name.
        port: String,
    },
    /// The port cannot be opened.
    #[error("cannot open {port}: {cause}")]
    Open {
        /// Its name.
        port: String,
        /// The operating system's words.
        cause: String,
    },
    /// The line failed.
    #[error("the serial link failed: {0}")]
    Line(io::Error),
    /// The port was closed on the device's side.
    #[error("the device is gone: its serial port was closed")]
    Gone,
    /// The device does not answer.
    #[error("the device did not answer within {:.1} s, asked {}", patience.as_secs_f64(), times(*tries))]
    Silent {
        /// How long each answer was waited for.
        patience: Duration,
        /// How often it was asked.
        tries: u32,
        /// How many frames came that were damaged.
        damaged: u64,
    },
    /// What came is what was sent.
    #[error("the port sends back what is sent to it, and no device answers")]
    Echo,
    /// It answers something else than it was asked.
    #[error("the device's answer does not match the request: its firmware uses another protocol")]
    Protocol,
    /// It answers, and gets no further.
    #[error("the device stopped at {done} of {total} bytes")]
    Stalled {
        /// How far it says that it is.
        done: u32,
        /// How far it should get.
        total: u32,
    },
    /// It does not know what it was asked.
    #[error("the device does not know this request: its firmware uses an older version of the protocol")]
    UnknownRequest,
    /// It answers what only a later version of the protocol has.
    #[error("the device's answer is unknown: its firmware uses a later version of the protocol")]
    UnknownReply,
    /// It was built not to answer this.
    #[error("the device does not answer this request: its firmware was built with it switched off")]
    SwitchedOff,
    /// It answers from an older calibrator than it may have.
    #[error("the device may have fallen back to an older calibrator: slot {slot} is not active, as {fault}")]
    FellBack {
        /// The slot with what may be a newer calibrator.
        slot: u8,
        /// Why it is of no use.
        fault: SlotFault,
    },
    /// It cannot do what it was asked.
    #[error("the device rejects this: {0}")]
    Refused(UpdateRefusal),
    /// It cannot do what it was asked, for a reason that has nothing to do with updates.
    #[error("the device rejects this: {0:?}")]
    RefusedOtherwise(Refusal),
    /// Its monitors do not answer, or do not count what they were told.
    #[error("the device rejects this: {0}")]
    Counters(CountersRefusal),
    /// It takes only artifacts that are signed, and this one is not, or with another key.
    #[error("the device accepts only calibrators signed with key {device}, this one is {}", signed_with(*artifact))]
    Key {
        /// The device's key.
        device: KeyId,
        /// The artifact's.
        artifact: Option<KeyId>,
    },
    /// After the update another calibrator is active.
    #[error("after the update another calibrator is active on the device: {}", named(*found))]
    OtherInForce {
        /// Which one.
        found: Option<Identity>,
    },
}

fn times(tries: u32) -> String {
    if tries == 1 { "once".into() } else { format!("{tries} times") }
}

/// By which key an artifact is signed.
pub(in crate::device) fn signed_with(key: Option<KeyId>) -> String {
    key.map_or("not signed".into(), |key| format!("signed with {key}"))
}

fn named(identity: Option<Identity>) -> String {
    identity.map_or("none".into(), |identity| identity.to_string())
}

impl From<io::Error> for DeviceError {
    /// The errors of operating systems for an unplugged device become this error.
    fn from(error: io::Error) -> Self {
        // EIO, ENXIO and ENODEV.
        const UNPLUGGED: [i32; 3] = [5, 6, 19];
        let unplugged = error.raw_os_error().is_some_and(|code| UNPLUGGED.contains(&code));
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof | io::ErrorKind::NotConnected => {
                Self::Gone
            }
            _ if unplugged => Self::Gone,
            _ => Self::Line(error),
        }
    }
}
