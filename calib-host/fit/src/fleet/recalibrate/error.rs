//! Why outcomes make no calibrator.

use calib_core::artifact::{Method, WriteError};

use crate::error::FitError;
use crate::fleet::error::FleetError;

/// Why outcomes that devices counted make no calibrator.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecalibrateError {
    /// The counters are not those of the calibrator.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// Alpha is out of range.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The values are not shares of labels in bins that were there before the labels.
    #[error("{}", of_method(*.0))]
    Method(Method),
    /// Probabilities are divided by their sum.
    #[error(
        "probabilities that are divided by their sum are not the shares of any bin: take rows with labels"
    )]
    Normalized,
    /// Outcomes are counted in ranges of the score, which are not the bins of the values.
    #[error(
        "outcomes are counted in ranges of the score that have intervals of their own, and values are not the shares of these: take rows with \
         labels"
    )]
    Ranges,
    /// Codes, or tables of 16-bit numbers.
    #[error("only tables of f32 are made from counted outcomes: take rows with labels")]
    Form,
    /// There are thresholds or sets, whose guarantees are of the rows before.
    #[error(
        "the calibrator has thresholds or prediction sets, whose guarantees are about the rows that they were made of: counters do not \
         renew them, so take rows with labels"
    )]
    Rules,
    /// A counter has stopped.
    #[error(
        "{device}, table {table}: a counter is full, so that not every outcome was counted: take counters from before"
    )]
    Full {
        /// The device.
        device: String,
        /// The table.
        table: usize,
    },
    /// A device without counters of today.
    #[error("{0}: there are earlier counters of the device, and none of now")]
    Gone(String),
    /// Less than before.
    #[error(
        "{device}, table {table}: it has counted less than its earlier counters say: it has begun anew since, so leave those out"
    )]
    Back {
        /// The device.
        device: String,
        /// The table.
        table: usize,
    },
    /// No outcome at all.
    #[error("no outcome is known: first tell devices what became of their predictions")]
    NoOutcome,
    /// The artifact is not written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

fn of_method(method: Method) -> String {
    let why = match method {
        Method::Isotonic | Method::IsotonicInterpolated | Method::Irp => {
            "has values that rise with the score, and counted shares need not"
        }
        Method::UmdOriginal | Method::UmdRandomized | Method::ScalingBinning => {
            "has values that are not the shares of its bins"
        }
        _ => "has no bins, of which outcomes could be counted",
    };
    format!("{method} {why}: take rows with labels, or from now on a calibrator of umd, ums or fixed-width")
}
