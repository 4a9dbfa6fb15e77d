//! What a clinical validation reports: calibration, clinical usefulness, and the distribution of predictions by outcome (Van Calster
//! et al. 2025; TRIPOD+AI, Collins et al. 2024).
//!
//! There is no Hosmer-Lemeshow test: its P value depends on how rows are grouped and on their number. It has little power in
//! small data, and rejects every model in large data. It shows neither how large a miscalibration is nor of which kind. TRIPOD
//! advises against it. Intercept, slope, curve and Spiegelhalter's test tell what it was used for.
//!
//! Everything is computed from the distinct probabilities and their counts.

mod accuracy;
mod consistency;
mod corp;
mod cox;
mod deviation;
mod distinct;
mod extremes;
mod gathered;
mod logistic;
mod logit_row;
mod logits;
mod net_benefit;
mod observed_expected;
mod operating;
mod outcomes;
mod quadrature;
mod spiegelhalter;
mod spline;
mod undefined;
mod validation;

pub use accuracy::DiagnosticAccuracy;
pub use consistency::BandPoint;
pub use corp::{Corp, CorpSplit, CorpStep};
pub use cox::CoxCalibration;
pub use deviation::CurveDeviation;
pub(super) use distinct::{Distinct, record};
pub use extremes::{ExtremeProbs, Extremes};
pub(super) use gathered::Gathered;
pub use net_benefit::NetBenefit;
pub use observed_expected::ObservedExpected;
pub use operating::{KeyedRow, OperatingAccuracy, OperatingTest, operating_accuracies};
pub use outcomes::OutcomeHistogram;
pub use spiegelhalter::Spiegelhalter;
pub use spline::{CurvePoint, SplineRecalibration};
pub use undefined::{Figure, Undefined};
pub(super) use validation::validate_distinct;
pub use validation::{ClinicalOptions, ClinicalValidation, validate};
