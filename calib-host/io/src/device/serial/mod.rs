//! A device on a serial line: requests and replies, updates, and the log.
//!
//! What is asked and answered works over any [`Transport`]; ports and logs come with the feature `serial`.

mod counters;
mod error;
#[cfg(test)]
mod fake;
mod link;
#[cfg(feature = "serial")]
mod log;
mod push;

pub use counters::stored_counters;
pub use error::DeviceError;
pub(super) use error::signed_with;
#[cfg(feature = "serial")]
pub use link::open_port;
pub use link::{Link, RetryPolicy, Transport};
#[cfg(feature = "serial")]
pub use log::{LogDecoder, LogLine, LogTable};
pub use push::{Stage, push};
