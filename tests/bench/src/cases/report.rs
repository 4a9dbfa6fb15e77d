//! `calib assess` and `calib report`: what is done with a calibrator and labelled rows.

use super::binary::ARRAYS;
use crate::case::Case;

const FIT: &str =
    "fit --force --quiet --method umd --bins 15 --scores scores.npy --labels labels.npy -o cal.bin";

const ROWS: Case = Case {
    name: "",
    data: &ARRAYS,
    rows: 10_000_000,
    grows: true,
    before: &[FIT],
    ours: "",
    reads: &["scores.npy", "labels.npy"],
    peer: None,
};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "assess the artefact, NPY",
        ours: "assess cal.bin --same-rows --scores scores.npy --labels labels.npy",
        ..ROWS
    },
    Case {
        name: "report, NPY",
        ours: "report cal.bin --force --same-rows -o report.html --calibration scores.npy --calibration-labels labels.npy \
               --test scores.npy --test-labels labels.npy",
        ..ROWS
    },
];
