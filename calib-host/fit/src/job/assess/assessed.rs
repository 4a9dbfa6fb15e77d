//! What was found of rows, and its JSON.

use serde::{Serialize, Serializer};

use crate::assess::{
    Assessment, BeforeAfter, BinnedEstimate, Binning, Bootstrap, BrierSplit, CEmpEstimate, ClassAssessment,
    ClinicalSummary, ClinicalValidation, EstimateWithInterval, Evidence, GroupComparison, LpEstimate,
    OperatingAccuracy, ReliabilityBin, RocSummary, RocSurface, TopKAssessment, VectorAssessment, Verdict,
};
use crate::decide::ThresholdAccuracy;
use crate::job::Finding;
use crate::sets::SetFigures;
use crate::stats::Share;

/// What was found of rows. As JSON it is what `assess` of the command prints.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Assessed {
    /// The figures; `None` if an artifact with prediction sets alone was assessed.
    pub figures: Option<AssessedFigures>,
    /// How the artifact's prediction sets do, if it has some.
    pub sets: Option<AssessedSets>,
    /// What to doubt, and what the rows say against the artifact; the weightiest first.
    pub findings: Vec<Finding>,
    /// The number of rows and of clusters, if rows belong together.
    pub clusters: Option<(usize, usize)>,
    /// How probabilities were grouped.
    pub(super) binning: Binning,
    pub(super) bootstrap: Option<Bootstrap>,
}

/// The figures of rows.
#[expect(clippy::large_enum_variant, reason = "a caller has one of them")]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum AssessedFigures {
    /// Of predictions.
    Predictions(AssessedPredictions),
    /// Of the same predictions before and after an artifact.
    BeforeAfter(AssessedBeforeAfter),
    /// Of vectors of probabilities.
    Vectors(AssessedVectors),
    /// Of the same vectors before and after an artifact that gives every class a probability.
    Classes(AssessedClasses),
    /// Of the first few ranks before and after.
    Ranks(AssessedRanks),
    /// Of an artifact's operating points, with nothing else in it.
    Operating(AssessedOperating),
}

/// Figures of predictions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AssessedPredictions {
    /// The metrics.
    #[serde(flatten)]
    pub assessment: Assessment,
    /// How many rows are left out because they are uncalibrated.
    pub uncalibrated: u64,
    /// The clinical validation, if the predictions are binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clinical: Option<ClinicalValidation>,
    /// The comparison of the groups, if there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupComparison>,
}

/// Figures of the same predictions before and after an artifact.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AssessedBeforeAfter {
    /// The metrics. Those before need nothing but an order if [`of_margins`](Compared::of_margins) says so.
    #[serde(flatten)]
    pub metrics: Compared,
    /// How many rows are left out because they are uncalibrated.
    pub uncalibrated: u64,
    /// What they say in words.
    pub verdict: Verdict,
    /// What they say against the artifact.
    pub evidence: Vec<Evidence>,
    /// The clinical validation, if the predictions are binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clinical: Option<ClinicalSummary>,
    /// How accurate the artifact's decision rule is at its thresholds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at_thresholds: Vec<ThresholdAccuracy>,
    /// How accurate its operating points are.
    #[serde(rename = "operating_points", skip_serializing_if = "Vec::is_empty")]
    pub operating: Vec<OperatingAccuracy>,
    /// The comparison of the groups, if there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupComparison>,
    /// One minus the coverage of the intervals.
    #[serde(skip)]
    pub alpha: f64,
}

/// The metrics before and after, of probabilities or of margins, which are none.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compared {
    /// The metrics.
    pub both: BeforeAfter,
    /// Whether the scores are margins: of them, and of the change, only what needs an order counts.
    pub of_margins: bool,
}

impl Serialize for Compared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Auc<'a> {
            auc: &'a Option<EstimateWithInterval>,
        }
        #[derive(Serialize)]
        struct Order<'a> {
            before: Auc<'a>,
            after: &'a Assessment,
            change: Auc<'a>,
        }
        let BeforeAfter { before, after, change } = &self.both;
        match self.of_margins {
            false => self.both.serialize(serializer),
            true => Order { before: Auc { auc: &before.auc }, after, change: Auc { auc: &change.auc } }
                .serialize(serializer),
        }
    }
}

/// Figures of vectors of probabilities.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AssessedVectors {
    /// The metrics.
    pub assessment: VectorAssessment,
    /// The volumes under the ROC surface, for a few classes.
    pub surface: Option<RocSurface>,
    /// The metrics of the most probable classes, if they were asked for.
    pub top_k: Option<TopKAssessment>,
    /// How probabilities were grouped, if that is said with these metrics.
    pub(super) binning: Option<Binning>,
}

/// Figures of the same vectors before and after an artifact.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AssessedClasses {
    /// What the predicted classes say in words.
    pub verdict: Verdict,
    /// The metrics of the classifier's probabilities.
    pub before: AssessedVectors,
    /// Those of the calibrated ones.
    pub after: AssessedVectors,
    /// How many rows are left out because a class is uncalibrated.
    pub uncalibrated: u64,
}

/// Figures of the first few ranks before and after an artifact.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AssessedRanks {
    /// The metrics of the classifier's probabilities.
    pub before: TopKAssessment,
    /// Those of the calibrated ones.
    pub after: TopKAssessment,
    /// How many rows are left out because a rank is uncalibrated.
    pub uncalibrated: u64,
}

/// Figures of an artifact's operating points.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AssessedOperating {
    /// The number of rows.
    pub n: usize,
    /// How many of them have label 1.
    pub positives: usize,
    /// How accurate the points are.
    #[serde(rename = "operating_points")]
    pub accuracies: Vec<OperatingAccuracy>,
    /// One minus the coverage of the intervals.
    #[serde(skip)]
    pub alpha: f64,
}

/// Figures of prediction sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AssessedSets {
    /// The figures.
    #[serde(flatten)]
    pub figures: SetFigures,
    /// The rows with a single class in the set, and how many of those are of it.
    alone: Share,
    /// The number of empty sets.
    empty: u64,
}

impl From<SetFigures> for AssessedSets {
    fn from(figures: SetFigures) -> Self {
        Self { alone: figures.alone(), empty: figures.empty(), figures }
    }
}

impl Assessed {
    /// The number of bins that hold predictions; `None` if nothing is binned.
    fn occupied(&self) -> Option<usize> {
        Some(match self.figures.as_ref()? {
            AssessedFigures::Predictions(found) => found.assessment.bins.len(),
            AssessedFigures::BeforeAfter(found) => found.metrics.both.after.bins.len(),
            AssessedFigures::Vectors(found) => found.assessment.top_label.bins.len(),
            AssessedFigures::Classes(found) => found.after.assessment.top_label.bins.len(),
            AssessedFigures::Ranks(found) => found.after.ranks[0].bins.len(),
            AssessedFigures::Operating(_) => return None,
        })
    }
}

/// A binning with its number of bins: those asked for, or those that hold predictions.
#[derive(Serialize)]
struct Bins {
    #[serde(flatten)]
    binning: Binning,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<usize>,
}

impl Bins {
    fn new(binning: Binning, occupied: usize) -> Self {
        let has_none = matches!(binning, Binning::ByBin | Binning::ByValue);
        Self { binning, bins: has_none.then_some(occupied) }
    }
}

impl Serialize for Assessed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Json<'a> {
            #[serde(flatten)]
            figures: &'a Option<AssessedFigures>,
            #[serde(skip_serializing_if = "Option::is_none")]
            warnings: Option<Vec<String>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            prediction_sets: Option<&'a AssessedSets>,
            #[serde(skip_serializing_if = "Option::is_none")]
            binning: Option<Bins>,
            #[serde(skip_serializing_if = "Option::is_none")]
            clusters: Option<usize>,
            #[serde(skip_serializing_if = "Option::is_none")]
            bootstrap: Option<Bootstrap>,
        }
        let occupied = self.occupied();
        let is_said = matches!(self.figures, Some(AssessedFigures::Vectors(_)));
        Json {
            figures: &self.figures,
            warnings: occupied.map(|_| self.warnings().map(ToString::to_string).collect()),
            prediction_sets: self.sets.as_ref().filter(|_| occupied.is_some() || self.figures.is_none()),
            binning: occupied.filter(|_| !is_said).map(|occupied| Bins::new(self.binning, occupied)),
            clusters: self.clusters.filter(|_| occupied.is_some()).map(|(_, clusters)| clusters),
            bootstrap: self.bootstrap.filter(|_| occupied.is_some()),
        }
        .serialize(serializer)
    }
}

impl Serialize for AssessedVectors {
    /// The metrics of vectors under their names, beside those of the most probable class; what both have is the vectors', and the
    /// other under `top_label`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct TopLabel<'a> {
            brier: &'a EstimateWithInterval,
            brier_calibration: &'a EstimateWithInterval,
            brier_refinement: &'a EstimateWithInterval,
            brier_split: &'a BrierSplit,
            log_loss: &'a EstimateWithInterval,
            log_loss_clipped: u64,
            classes: Option<&'a [ClassAssessment]>,
        }
        #[derive(Serialize)]
        struct Json<'a> {
            kind: &'static str,
            n: u64,
            hits: u64,
            rate: &'a EstimateWithInterval,
            accuracy: &'a EstimateWithInterval,
            sharpness: &'a EstimateWithInterval,
            auc: &'a Option<EstimateWithInterval>,
            roc: &'a Option<RocSummary>,
            c_emp: &'a CEmpEstimate,
            conf_ece: &'a BinnedEstimate,
            conf_mce: &'a BinnedEstimate,
            lp_ce: &'a LpEstimate,
            #[serde(skip_serializing_if = "Option::is_none")]
            tl_ece: &'a Option<BinnedEstimate>,
            #[serde(skip_serializing_if = "Option::is_none")]
            tl_mce: &'a Option<BinnedEstimate>,
            #[serde(skip_serializing_if = "Option::is_none")]
            tl_mce_bin: &'a Option<BinnedEstimate>,
            bins: &'a [ReliabilityBin],
            top_label: TopLabel<'a>,
            classes: usize,
            brier: &'a EstimateWithInterval,
            log_loss: &'a EstimateWithInterval,
            log_loss_clipped: u64,
            cw_ece: &'a BinnedEstimate,
            marginal_ce: &'a BinnedEstimate,
            marginal_ce_squared_debiased: &'a EstimateWithInterval,
            class_wise: &'a [Assessment],
            #[serde(flatten)]
            surface: &'a Option<RocSurface>,
            #[serde(skip_serializing_if = "Option::is_none")]
            binning: Option<Bins>,
            #[serde(skip_serializing_if = "Option::is_none")]
            top_k: &'a Option<TopKAssessment>,
        }
        let all = &self.assessment;
        let top = &all.top_label;
        Json {
            kind: "vector",
            n: top.n,
            hits: top.hits,
            rate: &top.rate,
            accuracy: &top.accuracy,
            sharpness: &top.sharpness,
            auc: &top.auc,
            roc: &top.roc,
            c_emp: &top.c_emp,
            conf_ece: &top.conf_ece,
            conf_mce: &top.conf_mce,
            lp_ce: &top.lp_ce,
            tl_ece: &top.tl_ece,
            tl_mce: &top.tl_mce,
            tl_mce_bin: &top.tl_mce_bin,
            bins: &top.bins,
            top_label: TopLabel {
                brier: &top.brier,
                brier_calibration: &top.brier_calibration,
                brier_refinement: &top.brier_refinement,
                brier_split: &top.brier_split,
                log_loss: &top.log_loss,
                log_loss_clipped: top.log_loss_clipped,
                classes: Some(&top.classes[..]).filter(|classes| !classes.is_empty()),
            },
            classes: all.classes,
            brier: &all.brier,
            log_loss: &all.log_loss,
            log_loss_clipped: all.log_loss_clipped,
            cw_ece: &all.cw_ece,
            marginal_ce: &all.marginal_ce,
            marginal_ce_squared_debiased: &all.marginal_ce_squared_debiased,
            class_wise: &all.class_wise,
            surface: &self.surface,
            binning: self.binning.map(|binning| Bins::new(binning, top.bins.len())),
            top_k: &self.top_k,
        }
        .serialize(serializer)
    }
}
