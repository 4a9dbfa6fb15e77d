//! `calib assess` and `calib report`: what is done with a calibrator and labeled rows.

use super::apply;
use super::files::ARRAYS;
use crate::case::{Case, Peer};

const FIT: &str =
    "fit --force --quiet --method umd --bins 15 --scores scores.npy --labels labels.npy -o cal.bin";

/// Three of the metrics, of the scores as they are.
const METRICS: Option<Peer> =
    apply::SCRIPT.peer("scikit-learn: brier_score_loss, log_loss, roc_auc_score", &["assess"]);

const ROWS: Case = Case { before: &[FIT], ..Case::of(&ARRAYS, 10_000_000, &["scores.npy", "labels.npy"]) };

pub(super) const CASES: &[Case] = &[
    Case {
        name: "assess scores, NPY",
        ours: "assess --json --scores scores.npy --labels labels.npy",
        peer: METRICS,
        ..ROWS
    },
    Case {
        name: "assess before and after, NPY",
        ours: "assess cal.bin --same-rows --json --scores scores.npy --labels labels.npy",
        peer: METRICS,
        ..ROWS
    },
    Case {
        name: "report, NPY",
        ours: "report cal.bin --force --same-rows -o report.html --calibration scores.npy --calibration-labels labels.npy \
               --test scores.npy --test-labels labels.npy",
        ..ROWS
    },
];
