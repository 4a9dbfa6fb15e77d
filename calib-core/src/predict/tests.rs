//! The matching of outputs and calibrators, on the artefacts of the examples.

extern crate std;

use super::*;
use crate::artifact::Artifact;
use crate::decision::{ClassSet, Verdict};
use crate::outcome::{Outcome, Uncalibrated};
use crate::score::{
    CodeVector, Logits, Margin, Probs, QuantizedScore, Score, ScoreEncoding, TopLabelCode, TopLabelCodeMargin,
};

mod sample {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs"));
}
