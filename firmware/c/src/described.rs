//! Numbers of the header for what an artifact is made of.

use calib_core::ScoreEncoding;
use calib_core::artifact::{Method, Reduction, Theorem};

use crate::calibrator::{
    CALIB_ENCODING_F32, CALIB_ENCODING_I8, CALIB_ENCODING_I16, CALIB_ENCODING_MARGIN,
    CALIB_ENCODING_ROUNDED_F32, CALIB_ENCODING_ROUNDED_MARGIN, CALIB_ENCODING_U8, CALIB_ENCODING_U16,
    CALIB_REDUCTION_BINARY, CALIB_REDUCTION_CLASS_WISE, CALIB_REDUCTION_CONFIDENCE, CALIB_REDUCTION_JOINT,
    CALIB_REDUCTION_NORMALIZED, CALIB_REDUCTION_TOP_K_CONFIDENCE, CALIB_REDUCTION_TOP_K_LABEL,
    CALIB_REDUCTION_TOP_LABEL, CALIB_UNKNOWN,
};

/// An encoding's number, scale and zero point.
pub(crate) const fn encoding(encoding: ScoreEncoding) -> (u8, f32, i32) {
    match encoding {
        ScoreEncoding::F32 => (CALIB_ENCODING_F32, 0.0, 0),
        ScoreEncoding::RoundedF32 => (CALIB_ENCODING_ROUNDED_F32, 0.0, 0),
        ScoreEncoding::Margin => (CALIB_ENCODING_MARGIN, 0.0, 0),
        ScoreEncoding::RoundedMargin => (CALIB_ENCODING_ROUNDED_MARGIN, 0.0, 0),
        ScoreEncoding::U8 { scale, zero_point } => (CALIB_ENCODING_U8, scale, zero_point),
        ScoreEncoding::I8 { scale, zero_point } => (CALIB_ENCODING_I8, scale, zero_point),
        ScoreEncoding::U16 { scale, zero_point } => (CALIB_ENCODING_U16, scale, zero_point),
        ScoreEncoding::I16 { scale, zero_point } => (CALIB_ENCODING_I16, scale, zero_point),
        _ => (CALIB_UNKNOWN, 0.0, 0),
    }
}

pub(crate) const fn reduction(reduction: Reduction) -> u8 {
    match reduction {
        Reduction::Binary => CALIB_REDUCTION_BINARY,
        Reduction::TopLabel => CALIB_REDUCTION_TOP_LABEL,
        Reduction::Confidence => CALIB_REDUCTION_CONFIDENCE,
        Reduction::ClassWise => CALIB_REDUCTION_CLASS_WISE,
        Reduction::Normalized => CALIB_REDUCTION_NORMALIZED,
        Reduction::TopKLabel { .. } => CALIB_REDUCTION_TOP_K_LABEL,
        Reduction::TopKConfidence { .. } => CALIB_REDUCTION_TOP_K_CONFIDENCE,
        Reduction::Joint => CALIB_REDUCTION_JOINT,
        _ => CALIB_UNKNOWN,
    }
}

/// As in the artifact format.
pub(crate) const fn method(method: Method) -> u8 {
    match method {
        Method::Umd => 0,
        Method::Isotonic => 1,
        Method::UmdOriginal => 2,
        Method::UmdRandomized => 3,
        Method::Ums => 4,
        Method::FixedWidth => 5,
        Method::IsotonicInterpolated => 6,
        Method::Irp => 7,
        Method::ScalingBinning => 8,
        Method::Platt => 9,
        Method::Beta => 10,
        Method::Temperature => 11,
        Method::VennAbers => 12,
        Method::VectorScaling => 13,
        Method::MatrixScaling => 14,
        Method::Dirichlet => 15,
        Method::Sierpinski => 16,
        Method::Grid => 17,
        Method::Projection => 18,
        Method::MulticlassIrp => 19,
        Method::OperatingPoint => 20,
        Method::PredictionSet => 21,
        Method::Blend => 22,
        Method::Unchanged => 23,
        Method::Quadratic => 24,
        Method::IsotonicCentered => 25,
        Method::StructuredVector => 26,
        Method::StructuredMatrix => 27,
        _ => CALIB_UNKNOWN,
    }
}

/// As in the artifact format.
pub(crate) const fn theorem(theorem: Theorem) -> u8 {
    match theorem {
        Theorem::Gr21Theorem3 => 0,
        Theorem::Gr22Theorem1 => 1,
        Theorem::Gr21Corollary1 => 2,
        Theorem::Gr21Theorem4 => 3,
        Theorem::SampleSplit => 4,
        Theorem::ClopperPearson => 5,
        Theorem::Gr22Theorem2 => 6,
        _ => CALIB_UNKNOWN,
    }
}
