//! How good probabilities are, on data used for neither training nor calibration.
//!
//! Everything here takes plain numbers: predictions of an event or of a class, or vectors of probabilities, with what came
//! of them. Counts are integers and sums exact (in units of 2^-62), so that nothing depends on the order of the rows or on
//! the number of threads.

mod assessment;
mod binning;
mod bootstrap;
mod c_emp;
mod calibrated;
mod calibration_error;
mod cells;
mod clinical;
mod column;
mod evidence;
mod few_events;
mod figures;
mod flaw;
mod groups;
mod guarantee_test;
mod mean_change;
mod paired;
mod prediction;
mod proper;
mod reliability;
mod roc;
mod roc_surface;
mod rows_by_prob;
mod streaming;
mod subject;
mod validity;
mod vectors;
mod verdict;
mod withheld;

pub use assessment::{
    AssessOptions, Assessment, BinnedEstimate, CEmpEstimate, ClassAssessment, EstimateWithInterval, Groups,
    LpEstimate, RocSummary,
};
pub use binning::{Binning, BinningScheme};
pub use bootstrap::{Bootstrap, IntervalKind};
pub use c_emp::{c_emp, c_emp_interval};
pub use calibrated::{CalibratedRows, ClassProbRows, ClinicalSummary};
pub use calibration_error::{CalibrationError, calibration_error, chance_error};
pub use cells::Cell;
pub use clinical::{
    BandPoint, ClinicalOptions, ClinicalValidation, Corp, CorpSplit, CorpStep, CoxCalibration,
    CurveDeviation, CurvePoint, DiagnosticAccuracy, ExtremeProbs, Extremes, Figure, KeyedRow, NetBenefit,
    ObservedExpected, OperatingAccuracy, OperatingTest, OutcomeHistogram, Spiegelhalter, SplineRecalibration,
    Undefined, operating_accuracies, validate,
};
pub(crate) use column::Column;
pub use column::cells;
pub use evidence::{ChangedRows, Evidence, Judged, evidence_of_fit, judge};
pub use few_events::FEWEST_EVENTS;
pub use flaw::{Flaw, RuleInterval, flaws, flaws_under, unreached};
pub use groups::{
    Difference, EqualCalibration, GroupAssessment, GroupComparison, GroupOptions, NotTested, RowGroups,
    Tested, compare_groups, test_equal_calibration,
};
pub use guarantee_test::{GuaranteeOnRows, GuaranteeTest, RangeTest};
pub use mean_change::BrierChange;
pub use paired::{BeforeAfter, Change, assess_before_after};
pub use prediction::{Prediction, PredictionKind, TiedRows};
pub use proper::{BrierSplit, ProperScore};
pub use reliability::{ReliabilityBin, reliability};
pub use roc::{Roc, RocPoint};
pub use roc_surface::{HullVolume, RocSurface, SurfaceVolume, roc_surface};
pub use rows_by_prob::RowsByProb;
pub use streaming::{StreamingAssessment, assess_before_after_streaming, assess_streaming, can_stream};
pub use subject::assess;
pub use validity::{Validity, ValidityStep};
pub use vectors::{ProbMatrix, TopKAssessment, VectorAssessment, assess_top_k, assess_vectors};
pub use verdict::{Judgment, Values, Verdict, is_guaranteed};
