//! Why a file is no network for a device.

use std::path::PathBuf;
use std::{fmt, io};

use calib_core::wire::MAX_VALUES;

use super::flatbuffer::Damaged;
use crate::MAX_CLASSES;

/// Why there is no [`Network`](super::Network).
#[derive(Debug)]
#[non_exhaustive]
pub enum NetworkError {
    /// Reading this file failed.
    Io(PathBuf, io::Error),
    /// This file's network is none that a device runs.
    Fault(PathBuf, Fault),
}

/// Why a device does not run a network.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// It is no TFLite file, or a damaged one.
    Damaged,
    /// The file's name, without its extension, is none of 1 to 32 characters for people and programs.
    Name,
    /// So many graphs.
    Graphs(usize),
    /// Not one input.
    Inputs,
    /// Not one output.
    Outputs,
    /// The input, or the output, is not int8 with one scale.
    Quantization(Side),
    /// The input has this shape.
    InputShape(Vec<i32>),
    /// So many features.
    FeatureCount(usize),
    /// The output has this shape.
    OutputShape(Vec<i32>),
    /// This operator, counted from 0, is none that runs.
    Operator(usize, String),
    /// This operator does not take the output of the one before it, or gives something else than one tensor.
    Chain(usize),
    /// This dense layer has so many scales for its weights.
    PerChannelDense(usize, usize),
    /// This layer has no bias.
    Bias(usize),
    /// This layer has a dilated filter.
    Dilation(usize),
    /// This layer's activation is neither none nor ReLU nor ReLU6.
    Activation(usize),
    /// This layer is padded in another way than TensorFlow pads it: so many rows or columns instead of so many.
    Padding {
        /// The layer, counted from 0.
        layer: usize,
        /// The rows or columns before the first that TensorFlow Lite adds.
        needed: usize,
        /// Those that microflow adds.
        added: usize,
    },
    /// The softmax is not the last operator, has a beta other than 1, or gives other codes than steps of 1/256 from -128.
    Softmax,
    /// The logits before the softmax have this scale, with so many classes: exponentials of them overflow or vanish.
    LogitScale(f32, usize),
}

/// A side of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where features go in.
    Input,
    /// Where scores come out.
    Output,
}

impl From<Damaged> for Fault {
    fn from(_: Damaged) -> Self {
        Self::Damaged
    }
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Fault(path, fault) => write!(f, "{} is no network for a device: {fault}", path.display()),
        }
    }
}

impl std::error::Error for NetworkError {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => f.write_str("it is no TFLite file, or a damaged one"),
            Self::Name => f.write_str(
                "its file's name becomes the classifier's: it has 1 to 32 letters, digits, `-`, `_` or `.`",
            ),
            Self::Graphs(count) => write!(f, "{count} graphs: one is needed"),
            Self::Inputs => f.write_str("it has not exactly one input"),
            Self::Outputs => f.write_str("it has not exactly one output"),
            Self::Quantization(side) => write!(
                f,
                "its {side} is not int8 with one scale: convert with `inference_{side}_type = tf.int8`"
            ),
            Self::InputShape(shape) => write!(
                f,
                "its input has the shape {shape:?}: [1, features] or [1, rows, columns, channels] is needed. Give the \
                 Keras input `batch_size=1`"
            ),
            Self::FeatureCount(got) => write!(f, "{got} features: a request holds 1 to {MAX_VALUES}"),
            Self::OutputShape(shape) => {
                write!(
                    f,
                    "its output has the shape {shape:?}: [1, classes] with 1 to {MAX_CLASSES} is needed"
                )
            }
            Self::Operator(at, name) => write!(
                f,
                "operator {at} is {name}: what runs is CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, AVERAGE_POOL_2D, \
                 RESHAPE and SOFTMAX{}",
                if matches!(name.as_str(), "SHAPE" | "PACK" | "STRIDED_SLICE") {
                    ". Give the Keras input `batch_size=1`, and it goes away"
                } else {
                    ""
                }
            ),
            Self::Chain(at) => write!(
                f,
                "operator {at} does not take what the one before it gives: only networks without branches run"
            ),
            Self::PerChannelDense(at, scales) => write!(
                f,
                "operator {at}, a dense layer, has {scales} scales for its weights: convert with \
                 `_experimental_disable_per_channel_quantization_for_dense_layers = True`"
            ),
            Self::Bias(at) => write!(f, "operator {at} has no bias: leave `use_bias=False` out"),
            Self::Dilation(at) => write!(f, "operator {at} has a dilated filter"),
            Self::Activation(at) => write!(f, "operator {at} has another activation than ReLU or ReLU6"),
            Self::Padding { layer, needed, added } => write!(
                f,
                "operator {layer}: \"same\" padding with this stride adds {needed} rows or columns before the first, and \
                 microflow adds {added}. Take padding=\"valid\", or stride 1"
            ),
            Self::Softmax => f.write_str(
                "its softmax is not the last operator, or not TensorFlow Lite's usual one of int8 codes",
            ),
            Self::LogitScale(scale, classes) => write!(
                f,
                "its logits are in steps of {scale}, and microflow's softmax subtracts no maximum: with {classes} classes \
                 it overflows. Leave the softmax out of the network: a calibrator takes logits"
            ),
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
        })
    }
}
