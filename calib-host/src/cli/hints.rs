//! What to do about an error: the option that mends it.

use calib_host::{
    CanonicalError, CodesError, CompileError, Error, FitError, ScalingError, VectorScalingError,
};

/// What to do about an error.
pub(crate) fn hint(error: &Error) -> Option<String> {
    match error {
        Error::Fit { cause, .. } => of_fit(cause),
        Error::Compile(CompileError::Codes(cause)) => of_codes(cause),
        _ => error.hint(),
    }
}

fn of_fit(error: &FitError) -> Option<String> {
    Some(match error {
        FitError::TooFewPoints { n, .. } if *n >= 2 => {
            format!("use --bins {} or fewer, or add calibration data", n / 2)
        }
        FitError::NoClass { most, .. } if *most >= 2 => {
            format!("use --points-per-bin {most} or less, or fewer --bins, or add calibration data")
        }
        FitError::FewerThanABin { n, .. } if *n >= 2 => {
            format!("use --points-per-bin {n} or less, or fewer --bins, or add calibration data")
        }
        FitError::TooFewPoints { .. } | FitError::NoClass { .. } | FitError::FewerThanABin { .. } => {
            "add calibration data".into()
        }
        FitError::OneClass { .. } => "calibration data must hold both labels, 0 and 1".into(),
        FitError::OneOfSeveral { .. } => "calibration data must hold several classes".into(),
        FitError::Alpha(_) => "alpha is a fraction such as 0.1, not a percentage".into(),
        FitError::Scaling(ScalingError::NoLeastSquares) => {
            "use --loss log, or a method that fits no slope, such as umd or isotonic".into()
        }
        FitError::Scaling(_) => "use a method that fits no slope, such as umd or isotonic".into(),
        FitError::VectorScaling(error) => return of_vector_scaling(error),
        FitError::Canonical(error) => return of_canonical(error),
        FitError::RealWeights(_) => {
            "use isotonic or irp without smoothing, platt, beta or temperature, or give whole numbers of points".into()
        }
        _ => return None,
    })
}

fn of_vector_scaling(error: &VectorScalingError) -> Option<String> {
    let text = match error {
        VectorScalingError::AbsentClass(_) => {
            "use temperature scaling, or add calibration data of that class"
        }
        VectorScalingError::OneClass(_) => "calibration data must hold several classes",
        VectorScalingError::Separated => {
            "regularise with --odir-lambda, or use temperature scaling, or add calibration data"
        }
        VectorScalingError::AllEqual | VectorScalingError::Reversed => {
            "check that logits and labels belong together"
        }
        _ => return None,
    };
    Some(text.into())
}

fn of_canonical(error: &CanonicalError) -> Option<String> {
    Some(match error {
        CanonicalError::TooManyCells { .. } => {
            "use a smaller --depth or --resolution, or --method projection".into()
        }
        CanonicalError::TooManyClasses { .. } => "use --method projection, or dirichlet".into(),
        CanonicalError::TooFewPoints { n, .. } if *n >= 2 => {
            format!("use --bins {} or fewer, or add calibration data", n / 2)
        }
        CanonicalError::TooFewPoints { .. } => "add calibration data".into(),
        CanonicalError::OneClass(_) => "calibration data must hold several classes".into(),
        _ => return None,
    })
}

fn of_codes(error: &CodesError) -> Option<String> {
    let text = match error {
        CodesError::Encoding => {
            "the scale is the difference between neighbouring codes' scores, the zero point the code of 0"
        }
        CodesError::Method(_) => {
            "use a method that gives one probability per code, such as ums, isotonic or platt"
        }
        CodesError::TooManySteps(_) => {
            "use a method with bins, such as umd or isotonic, or scaling-binning over the function"
        }
        _ => return None,
    };
    Some(text.into())
}
