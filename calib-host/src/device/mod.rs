//! A device on a serial line.

mod error;
mod link;
mod push;

pub use error::DeviceError;
#[cfg(feature = "serial")]
pub use link::open_port;
pub use link::{Link, Patience, Transport};
pub use push::{Stage, push};
