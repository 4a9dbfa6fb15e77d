//! A device on a serial line.

mod error;
mod link;
#[cfg(feature = "serial")]
mod log;
mod push;

pub use error::DeviceError;
#[cfg(feature = "serial")]
pub use link::open_port;
pub use link::{Link, Patience, Transport};
#[cfg(feature = "serial")]
pub use log::{LogDecoder, LogLine, LogTable};
pub use push::{Stage, push};
