//! A quantized network of TensorFlow Lite, as a converter writes it and the build of a device's program reads it.
//!
//! A [`Network`] was looked at: it is one that microflow runs, as far as that can be seen from the file. Whether microflow gives the
//! same codes as TensorFlow Lite is seen by running both, which is calib-twin's job.
//!
//! What TensorFlow Lite makes of some rows stands beside a network in NumPy files: an [`Array`].
//!
//! # What this module does not do
//!
//! It runs no network, and is no part of a device's program.

mod array;
mod error;
mod flatbuffer;
mod graph;
mod network;
mod operators;
mod source;

pub use array::{Array, ArrayError};
pub use error::{Fault, NetworkError, Side};
pub use network::Network;
pub use source::source;
