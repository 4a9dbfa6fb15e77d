//! What can go wrong with a device: one plain line, and what to do.

use std::io;
use std::time::Duration;

use calib_core::artifact::KeyId;
use calib_core::slot::{Refused, SignatureError};
use calib_core::wire::{Refusal, UpdateRefusal};
use calib_core::{ClassifierId, Identity};

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
    #[error("the serial line failed: {0}")]
    Line(io::Error),
    /// The port was closed on the device's side.
    #[error("the device is gone: its serial port was closed")]
    Gone,
    /// The device does not answer.
    #[error("the device did not answer within {:.1} s, asked {tries} times", patience.as_secs_f64())]
    Silent {
        /// How long each answer was waited for.
        patience: Duration,
        /// How often it was asked.
        tries: u32,
        /// How many frames came that were damaged.
        damaged: u64,
    },
    /// It answers something else than it was asked.
    #[error("the device's answer does not go with the question: its firmware speaks another protocol")]
    Protocol,
    /// It cannot do what it was asked.
    #[error("the device refuses: {0}")]
    Refused(UpdateRefusal),
    /// It cannot do what it was asked, for a reason that has nothing to do with updates.
    #[error("the device refuses: {0:?}")]
    RefusedOtherwise(Refusal),
    /// It takes only artefacts that are signed, and this one is not, or with another key.
    #[error("the device takes only calibrators signed with key {device}, this one is {}", signed_with(*artifact))]
    Key {
        /// The device's key.
        device: KeyId,
        /// The artefact's.
        artifact: Option<KeyId>,
    },
    /// After the update another calibrator is in force.
    #[error("after the update the device has another calibrator in force: {}", named(*found))]
    OtherInForce {
        /// Which one.
        found: Option<Identity>,
    },
}

fn signed_with(key: Option<KeyId>) -> String {
    key.map_or("not signed".into(), |key| format!("signed with {key}"))
}

fn named(identity: Option<Identity>) -> String {
    identity.map_or("none".into(), |identity| identity.to_string())
}

impl From<io::Error> for DeviceError {
    /// What the operating systems say when a device is unplugged is told as that.
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

impl DeviceError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoPort { there, .. } if there.is_empty() => {
                "no serial port was found: connect the device, then run `calib doctor`".into()
            }
            Self::NoPort { there, .. } => format!("the ports are {}", there.join(", ")),
            Self::NoPermission { port } => {
                format!(
                    "join the group that owns {port} (often `sudo usermod -aG dialout $USER`), then log in again"
                )
            }
            Self::Busy { .. } => "close the other program, such as a terminal or a monitor".into(),
            Self::Silent { damaged: 0, .. } => {
                "is this the right port and baud rate, and does the device run calib's firmware?".into()
            }
            Self::Silent { damaged, .. } => {
                format!("{damaged} damaged frames came: check the baud rate and the cable")
            }
            Self::Protocol => "use the calib that the firmware was built with".into(),
            Self::Refused(UpdateRefusal::NotUpdatable) => {
                "this firmware has no slots: write its flash with `calib flash`".into()
            }
            Self::Refused(UpdateRefusal::Downgrade { held, .. }) => {
                format!("fit again with --counter {held} or more, if this one is to replace it")
            }
            Self::Refused(UpdateRefusal::Refused(Refused::OtherClassifier(id))) => other_classifier(*id),
            Self::Refused(UpdateRefusal::Refused(Refused::Signature(SignatureError::Missing)))
            | Self::Key { .. } => {
                "sign the calibrator with `calib sign` and the private key that belongs to the device".into()
            }
            Self::Refused(UpdateRefusal::TooLarge { .. }) => "fit with fewer bins".into(),
            Self::Refused(UpdateRefusal::ReadBack { .. } | UpdateRefusal::Flash) => {
                "the calibrator in force is as before; if it happens again, the flash is worn out".into()
            }
            Self::Gone => {
                "connect it again, then run the command again: a push goes on where it stopped".into()
            }
            Self::Refused(_) | Self::Line(_) => "run the command again: it goes on where it stopped".into(),
            _ => return None,
        })
    }
}

fn other_classifier(id: Option<ClassifierId>) -> String {
    match id {
        Some(id) => format!("it was fitted for classifier {id}: see `calib status` for the device's"),
        None => "it is for another kind or number of scores than the device's classifier gives".into(),
    }
}
