//! `calib compare`: all methods on parts of the rows, again and again.

use super::files::{ARRAYS, TEN};
use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "compare, binary",
        grows: false,
        ours: "compare --quiet --json --scores scores.npy --labels labels.npy",
        ..Case::of(&ARRAYS, 15_000, &["scores.npy", "labels.npy"])
    },
    Case {
        name: "compare, 10 classes",
        grows: false,
        ours: "compare --quiet --json --logits logits.npy --labels labels.npy",
        ..Case::of(&TEN, 5_000, &["logits.npy", "labels.npy"])
    },
];
