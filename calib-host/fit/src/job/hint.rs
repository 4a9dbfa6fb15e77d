//! What to do where nothing was fitted, or a fit has no form for a device.

use super::fit::NotFitted;
use crate::artifact::{CodesError, CompileError, MonitorError};
use crate::error::{CanonicalError, FitError, ScalingError, VectorScalingError};
use crate::options_error::OptionsError;

impl NotFitted {
    /// Returns what to do about it, in a sentence that names options; `None` if the error says that itself.
    pub fn hint(&self) -> Option<OptionsError> {
        match self {
            Self::Fit(cause) | Self::ReferenceScores(cause) => cause.hint(),
            Self::Compile(cause) => cause.hint(),
            _ => None,
        }
    }
}

impl FitError {
    /// Returns what to do about it, in a sentence that names options; `None` if the error says that itself.
    pub fn hint(&self) -> Option<OptionsError> {
        of_fit(self).map(OptionsError::new)
    }
}

impl CompileError {
    /// Returns what to do about it, in a sentence that names options; `None` if the error says that itself.
    pub fn hint(&self) -> Option<OptionsError> {
        let hint = match self {
            Self::Codes(cause) => of_codes(cause),
            Self::Monitors(cause) => of_monitors(cause),
            _ => None,
        };
        hint.map(OptionsError::new)
    }
}

/// Fewer points in a bin than this guarantee almost nothing: no hint proposes such.
const USEFUL_POINTS: u64 = 50;

fn of_fit(error: &FitError) -> Option<String> {
    Some(match error {
        FitError::TooFewPoints { n, .. } if *n >= USEFUL_POINTS => {
            format!("use `bins` {} or fewer, or add calibration data", n / USEFUL_POINTS)
        }
        FitError::NoClass { most: n, .. } | FitError::FewerThanABin { n, .. } if *n >= USEFUL_POINTS => {
            format!("use `rows_per_bin` {USEFUL_POINTS} to {n}, or fewer `bins`, or add calibration data")
        }
        FitError::TooFewPoints { .. } | FitError::NoClass { .. } | FitError::FewerThanABin { .. } => {
            "add calibration data".into()
        }
        FitError::OneClass { .. } => "calibration data must hold both labels, 0 and 1".into(),
        FitError::OneOfSeveral { .. } => "calibration data must hold several classes".into(),
        FitError::Alpha(_) => "alpha is a fraction such as 0.1, not a percentage".into(),
        FitError::Scaling(ScalingError::NoLeastSquares) => {
            "use `loss=log`, or a method that fits no slope, such as umd or isotonic".into()
        }
        FitError::Scaling(ScalingError::Separated) => {
            "fit with `loss=bayes`, or use a method that fits no slope, such as umd or isotonic".into()
        }
        FitError::Scaling(_) => "use a method that fits no slope, such as umd or isotonic".into(),
        FitError::VectorScaling(error) => return of_vector_scaling(error).map(Into::into),
        FitError::Canonical(error) => return of_canonical(error),
        FitError::RealWeights(_) => "use isotonic without smoothing, platt, beta or temperature".into(),
        _ => return None,
    })
}

fn of_vector_scaling(error: &VectorScalingError) -> Option<&'static str> {
    Some(match error {
        VectorScalingError::AbsentClass(_) => {
            "use temperature scaling, or add calibration data of that class"
        }
        VectorScalingError::OneClass(_) => "calibration data must hold several classes",
        VectorScalingError::Separated => {
            "add calibration rows that are predicted wrongly; or bin the predicted class's probability: `method=umd` with `reduction=top-label`"
        }
        VectorScalingError::Masked { .. } => "use temperature scaling, which masked classes do not change",
        VectorScalingError::AllEqual | VectorScalingError::Reversed => {
            "check that logits and labels belong together"
        }
        _ => return None,
    })
}

fn of_canonical(error: &CanonicalError) -> Option<String> {
    Some(match error {
        CanonicalError::TooManyCells { .. } => "use a smaller `resolution`, or `method=projection`".into(),
        CanonicalError::TooManyClasses { .. } => "use `method=projection`, or dirichlet".into(),
        CanonicalError::TooFewPoints { n, .. } if *n as u64 >= USEFUL_POINTS => {
            format!("use `bins` {} or fewer, or add calibration data", *n as u64 / USEFUL_POINTS)
        }
        CanonicalError::TooFewPoints { .. } => "add calibration data".into(),
        CanonicalError::OneClass(_) => "calibration data must hold several classes".into(),
        _ => return None,
    })
}

fn of_codes(error: &CodesError) -> Option<String> {
    Some(match error {
        CodesError::Encoding => {
            "the scale is the difference between neighboring codes' scores, the zero point the code of 0"
                .into()
        }
        CodesError::Method("umd-randomized") => {
            "use ums or fixed-width, whose guarantee holds however often codes repeat".into()
        }
        CodesError::Method(_) => {
            "use a method that gives one probability per code, such as ums, isotonic or platt".into()
        }
        CodesError::TooManySteps(_) => {
            "use a method with bins, such as umd or isotonic, or scaling-binning over the function".into()
        }
        _ => return None,
    })
}

/// What to do where there is nothing that monitors could compare with.
fn of_monitors(error: &MonitorError) -> Option<String> {
    Some(match error {
        MonitorError::NeedsBins(_) => {
            "add `monitor_bins` with a number that is set without looking at the labels, such as 10".into()
        }
        MonitorError::Ties => "use scores with more digits, or fewer bins; or leave out `monitor`".into(),
        MonitorError::Encoding(_) => "leave out `monitor`, or use floats, and `table=f32`".into(),
        MonitorError::Weighted => "leave `monitor` out".into(),
        MonitorError::Action(_) => "leave `monitor_action` out".into(),
        MonitorError::Reduction => {
            "leave out `monitor_bins`, and use `method=umd`, whose bins the monitors then have".into()
        }
        _ => return None,
    })
}
