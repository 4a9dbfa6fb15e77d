//! Fitting a calibrator of whole vectors to a data set.

use std::collections::BTreeMap;

use super::error::NotFitted;
use super::method_name::{ClassScore, TableWidth};
use super::options::{FitOptions, MethodChoice};
use crate::apply::{RandomWords, apply};
use crate::artifact::{StoredArtifact, joint_artifact_bytes};
use crate::binary::Gain;
use crate::data::{RowsDigest, VectorData, Vectors};
use crate::dataset::{Content, Dataset};
use crate::error::FitError;
use crate::intervals::fit_predicted;
use crate::job::finding::Finding;
use crate::joint::{JointFit, JointMethod, fit_joint};
use crate::options_error::OptionsError;
use crate::reduction::Problems;
use calib_core::artifact::Reduction;

/// A calibrator of whole vectors, and what is said of it.
pub(super) struct OfVectors {
    pub(super) artifact: StoredArtifact,
    pub(super) fit: JointFit,
    pub(super) chosen: Option<OptionsError>,
    pub(super) findings: Vec<Finding>,
}

impl FitOptions {
    /// The method of whole vectors that is fitted: the one that was named. It is a blend if nobody named a method, a reduction, or what only
    /// tables have.
    pub(super) fn joint_method(&self, data: &Dataset) -> Option<JointMethod> {
        match &self.method {
            MethodChoice::Joint(method) => Some(method.clone()),
            MethodChoice::Auto => {
                let is_open = matches!(data.content(), Content::Vectors(..))
                    && self.reduction.is_none()
                    && self.class_score == ClassScore::Softmax
                    && self.table == TableWidth::F32
                    && self.monitors.is_none()
                    && (self.candidates, self.alpha_spent) == (1, 0.0);
                is_open.then_some(JointMethod::Blend { seed: self.seed })
            }
            _ => None,
        }
    }
}

/// Fits a method of whole vectors to the sample, and says of how many rows it was drawn if some were left out. `None` if nobody named the
/// method and no scaling function has a finite optimum: tables need none.
pub(super) fn fit_vectors(
    options: &FitOptions,
    method: &JointMethod,
    (sample, drawn_of): (&Dataset, Option<u64>),
    rows: RowsDigest,
) -> Result<Option<OfVectors>, NotFitted> {
    let Content::Vectors(vectors, labels) = sample.content() else {
        let why = "a calibrator of whole vectors accepts floats of several classes";
        return Err(OptionsError::new(why).into());
    };
    let is_chosen = options.method == MethodChoice::Auto;
    let fit = match fit_joint(&VectorData::new(vectors, labels)?, method) {
        Err(FitError::VectorScaling(_)) if is_chosen => return Ok(None),
        fit => fit?,
    };
    let fit = match drawn_of {
        Some(rows) => fit.of_clusters(rows, options.seed),
        None => fit,
    };
    let has_ranges = options.intervals && sample.classifiers() <= 1 && !sample.is_of_passes();
    let ranges = if has_ranges {
        Some(fit_predicted(&Problems::new(vectors, labels, Reduction::TopLabel)?, options.alpha)?)
    } else {
        None
    };
    let beside = options.artifact_options(rows, None).score_intervals(ranges);
    let artifact = options.decided(&joint_artifact_bytes(&fit, &beside)?)?;
    let mut findings: Vec<Finding> = values_outside(&artifact, vectors).into_iter().collect();
    let gain = fit.blend().as_ref().map(|blend| blend.gain);
    findings.extend(gain.filter(Gain::is_loss).map(Finding::Loss));
    let chosen = is_chosen.then(|| {
        OptionsError::new("chosen: blend of whole vectors; `reduction=top-label` takes fewer instructions")
    });
    Ok(Some(OfVectors { artifact, fit, chosen, findings }))
}

/// The ranges of the predicted classes whose interval does not contain the mean probability of their rows.
fn values_outside(artifact: &StoredArtifact, vectors: &Vectors) -> Option<Finding> {
    /// Values are summed in units of this, so that no order matters.
    const UNIT: f64 = 1.0 / (1u64 << 40) as f64;
    let artifact = artifact.artifact();
    let found = artifact.score_intervals()?;
    let mut sums: BTreeMap<(u16, u16), (i128, i128)> = BTreeMap::new();
    for row in apply(&artifact, vectors.into(), RandomWords::new(&artifact, 0)) {
        let Ok(row) = row else { continue };
        let Some(calibrated) = row.first.outcome.calibrated() else { continue };
        let sum = sums.entry((row.first.class, calibrated.bin)).or_default();
        *sum = (sum.0 + 1, sum.1 + (f64::from(calibrated.prob) / UNIT).round() as i128);
    }
    let is_outside = |(&(class, bin), &(n, sum)): (&(u16, u16), &(i128, i128))| {
        let mean = sum as f64 * UNIT / n as f64;
        let interval = artifact.tables().interval(class.into(), bin);
        interval.is_some_and(|range| !(f64::from(range.lo)..=f64::from(range.hi)).contains(&mean))
    };
    let outside = sums.iter().filter(|range| is_outside(*range)).count();
    let ranges = (0..found.count()).filter_map(|class| found.table(class)).map(|ranges| ranges.bins()).sum();
    (outside > 0).then_some(Finding::ValuesOutside { outside, ranges })
}
