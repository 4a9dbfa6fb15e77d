//! A checked network.

use std::fs;
use std::path::Path;

use calib_core::wire::MAX_VALUES;
use calib_core::{ClassifierId, ScoreEncoding};
use sha2::{Digest, Sha256};

use super::error::Side;
use super::graph::{Graph, Tensor};
use super::{Fault, NetworkError, operators};
use crate::{MAX_CLASSES, OutputKind};

/// A quantized network that a device runs, as far as its file tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The file's name without its extension.
    pub name: String,
    /// The first bytes of the file's SHA-256: other weights, another identity.
    pub id: ClassifierId,
    /// The input's lengths, after the batch of 1: features, or rows, columns and channels.
    pub shape: Vec<usize>,
    /// What the features become: their scale and zero point.
    pub input: (f32, i8),
    /// What the codes stand for that come out: their scale and zero point.
    pub output: (f32, i8),
    /// How many codes come out: one is class 1's margin, several are a class each.
    pub outputs: usize,
    /// What they are.
    pub output_kind: OutputKind,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Network {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no network that a device runs.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, NetworkError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| NetworkError::Io(path.into(), error))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::new(&name, bytes).map_err(|fault| NetworkError::Fault(path.into(), fault))
    }

    /// Checks a file's bytes.
    ///
    /// # Errors
    ///
    /// The first cause found.
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Self, Fault> {
        let usual = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
        if !(1..=32).contains(&name.len()) || !name.chars().all(usual) {
            return Err(Fault::Name);
        }
        let graph = Graph::read(&bytes)?;
        let [input, output] = [graph.input, graph.output].map(|at| &graph.tensors[at]);
        let (taken, given) = (input.quantization(), output.quantization());
        let taken = taken.ok_or(Fault::Quantization(Side::Input))?;
        let given = given.ok_or(Fault::Quantization(Side::Output))?;
        let shape = shape(input)?;
        let has_softmax = operators::check(&graph)?;
        let outputs = match output.lengths().as_deref() {
            Some(&[1, outputs]) if outputs <= MAX_CLASSES => outputs,
            _ => return Err(Fault::OutputShape(output.shape.clone())),
        };
        if has_softmax && outputs == 1 {
            return Err(Fault::OutputShape(output.shape.clone()));
        }
        let digest = Sha256::digest(&bytes);
        Ok(Self {
            name: name.to_owned(),
            id: ClassifierId(*digest.first_chunk().expect("a SHA-256 has 32 bytes")),
            shape,
            input: taken,
            output: given,
            outputs,
            output_kind: if has_softmax { OutputKind::Probs } else { OutputKind::Logits },
            bytes,
        })
    }

    /// How many features it takes.
    pub fn features(&self) -> usize {
        self.shape.iter().product()
    }

    /// What its codes stand for.
    pub const fn encoding(&self) -> ScoreEncoding {
        let (scale, zero_point) = self.output;
        ScoreEncoding::I8 { scale, zero_point: zero_point as i32 }
    }
}

/// The lengths of an input after the batch of 1.
fn shape(input: &Tensor) -> Result<Vec<usize>, Fault> {
    let lengths = match input.lengths().as_deref() {
        Some([1, lengths @ ..]) if matches!(lengths.len(), 1 | 3) => lengths.to_vec(),
        _ => return Err(Fault::InputShape(input.shape.clone())),
    };
    let features = lengths.iter().fold(1usize, |product, &length| product.saturating_mul(length));
    if features > MAX_VALUES {
        return Err(Fault::FeatureCount(features));
    }
    Ok(lengths)
}
