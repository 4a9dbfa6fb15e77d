//! Classifiers for a device: as a build reads them, and as the device runs them.
//!
//! | module | what | where |
//! |---|---|---|
//! | [`linear`] | a linear classifier in a JSON file | trainer, build script |
//! | [`tflite`] | a quantized network of TensorFlow Lite in its file | build script |
//! | [`network`] | a quantized network, run by microflow | device |
//!
//! Each has a feature of its name. What a device runs of a linear classifier is in `calib_firmware`.
#![cfg_attr(not(any(feature = "linear", feature = "tflite")), no_std)]
#![forbid(unsafe_code)]

#[cfg(feature = "linear")]
pub mod linear;
#[cfg(feature = "network")]
pub mod network;
#[cfg(feature = "tflite")]
pub mod tflite;

/// The most outputs of a network: two bytes for a code and four for the logit that it stands for share a device's memory for 128
/// floats.
pub const MAX_CLASSES: usize = 2 * calib_core::wire::MAX_VALUES / 3;

/// What a network's codes stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// Logits of several classes, or class 1's margin.
    Logits,
    /// The probabilities of a softmax.
    Probs,
}
