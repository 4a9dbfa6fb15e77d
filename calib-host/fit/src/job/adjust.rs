//! A calibrator for another prevalence.

use calib_core::ProbInterval;
use calib_core::artifact::{Guarantee, Reduction};
use serde::Serialize;

use super::error::JobError;
use super::facts::Written;
use crate::accessors::options;
use crate::adjust::{
    AdjustError, Adjustment, CalibrationPrevalence, EstimatedPrevalence, Shift, adjusted, adjusted_prevalence,
};
use crate::artifact::{MonitorFacts, Monitoring, StoredArtifact, guarantee_text};
use crate::options_error::OptionsError;
use crate::stats::{Interval, RangeMoments};

options! {
    /// From which prevalence to which.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct AdjustOptions {
        /// The share of class 1 where the device will be used; `None` to estimate it.
        pub prevalence: Option<f64> = None,
        /// The share of class 1 in the population of the calibration points; `None` for the share among them, with an exact interval.
        pub calibration_prevalence: Option<f64> = None,
        /// The probability with which that interval may fail; the alpha of what is guaranteed grows by it.
        pub prevalence_alpha: f64 = 0.05,
        /// How new the artifact is.
        pub counter: u32 = 0,
        /// What monitors on the device compare with.
        pub monitors: Option<Monitoring> = None,
    }
}

/// A calibrator for another prevalence.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Adjusted {
    /// From which prevalence to which.
    pub shift: Shift,
    /// The artifact.
    pub artifact: StoredArtifact,
    /// What is said of it.
    pub summary: AdjustSummary,
}

/// What is said of a calibrator for another prevalence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AdjustSummary {
    /// Which artifact was written.
    #[serde(flatten)]
    pub written: Written,
    /// The prevalence that its probabilities are for.
    pub prevalence: f64,
    /// The estimate of it; `None` if it was stated.
    pub estimate: Option<EstimatedPrevalence>,
    /// The prevalence that they were for.
    pub calibration_prevalence: f64,
    /// The probability with which an interval of that fails; `None` if it was stated.
    pub prevalence_alpha: Option<f64>,
    /// What is guaranteed.
    pub guarantee: Option<GuaranteeFacts>,
    /// The bins with what is guaranteed of each; empty if nothing is.
    pub bins: Vec<AdjustedBin>,
    /// What is guaranteed, in a sentence.
    pub statement: String,
    /// What monitors compare with.
    pub monitors: Option<MonitorFacts>,
}

/// A bin at another prevalence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AdjustedBin {
    /// The probability.
    pub value: f32,
    /// The interval of the event rate.
    pub interval: Interval,
}

/// What an artifact guarantees, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GuaranteeFacts {
    /// The theorem.
    pub theorem: String,
    /// The failure probability.
    pub alpha: f32,
    /// The largest deviation.
    pub epsilon: f32,
}

impl From<Guarantee> for GuaranteeFacts {
    fn from(Guarantee { theorem, alpha, epsilon }: Guarantee) -> Self {
        Self { theorem: theorem.to_string(), alpha, epsilon }
    }
}

/// Changes the probabilities of a binary calibrator to those at another prevalence. If that is not stated, it is estimated from `rows`,
/// what the calibrator gives for scores from the new place: the probability, and the bin that it answers with.
///
/// ```
/// use calib_fit::job::{AdjustOptions, adjust};
/// # use calib_fit::{BinaryData, BinaryMethod, Isotonic, StoredArtifact, artifact_bytes, fit_binary};
/// # let data = BinaryData::new(vec![0.25, 0.25, 0.75, 0.75], vec![false, true, false, true])?;
/// # let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// # let calibrator = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// let mut options = AdjustOptions::default();
/// (options.prevalence, options.calibration_prevalence) = (Some(0.1), Some(0.5));
/// let made = adjust(&calibrator, &options, None)?;
/// assert_eq!(made.summary.prevalence, 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// A calibrator of several classes, groups or lines between knots. A share that is not in `(0, 1)`. No prevalence, or two. Or nothing
/// that says how frequent class 1 was.
pub fn adjust(
    before: &StoredArtifact,
    options: &AdjustOptions,
    rows: Option<&[(f64, u16)]>,
) -> Result<Adjusted, JobError> {
    let reduction = before.artifact().header().reduction;
    if reduction != Reduction::Binary {
        return Err(AdjustError::Reduction(reduction).into());
    }
    let tables = before.artifact().tables().count();
    if tables != 1 {
        return Err(AdjustError::Tables(tables).into());
    }
    let from = options.from(before)?;
    let estimate = rows.map(|rows| estimate(before, rows, from)).transpose()?;
    let to = match (options.prevalence, estimate) {
        (Some(stated), None) => stated,
        // Without positives there are no odds: half a row is the least that rows can tell.
        (None, Some(estimate)) => {
            let half = 0.5 / rows.map_or(1.0, |rows| rows.len() as f64);
            estimate.value.clamp(half, 1.0 - half)
        }
        _ => return Err(OptionsError::new("give either `prevalence` or `estimate_from`").into()),
    };
    let shift = Shift::new(from, to)?;
    let adjustment = Adjustment {
        shift,
        is_estimated: estimate.is_some(),
        counter: options.counter,
        monitors: options.monitors.clone(),
    };
    let bytes = adjusted(before, &adjustment)?;
    let artifact = StoredArtifact::from_bytes(&bytes).expect("what was written is an artifact");
    let stored = artifact.artifact();
    let summary = AdjustSummary {
        written: Written::of(&artifact),
        prevalence: shift.to(),
        estimate,
        calibration_prevalence: shift.from(),
        prevalence_alpha: (shift.alpha() > 0.0).then_some(shift.alpha()),
        guarantee: stored.header().guarantee.map(GuaranteeFacts::from),
        bins: bins_of(&artifact),
        statement: guarantee_text(&artifact).statement,
        monitors: MonitorFacts::of(&stored),
    };
    Ok(Adjusted { shift, artifact, summary })
}

/// The bins of an artifact's only table that have an interval.
fn bins_of(artifact: &StoredArtifact) -> Vec<AdjustedBin> {
    let artifact = artifact.artifact();
    let tables = artifact.tables();
    let Some(table) = tables.get(0) else { return Vec::new() };
    let bin = |bin: usize| {
        let ProbInterval { lo, hi } = tables.interval(0, u16::try_from(bin).ok()?)?;
        Some(AdjustedBin {
            value: table.form.step(bin)?,
            interval: Interval { lo: lo.into(), hi: hi.into() },
        })
    };
    (0..table.form.bins()).filter_map(bin).collect()
}

impl AdjustOptions {
    /// The prevalence that the artifact's probabilities are for.
    fn from(&self, stored: &StoredArtifact) -> Result<CalibrationPrevalence, OptionsError> {
        if let Some(stated) = self.calibration_prevalence.or(adjusted_prevalence(stored)) {
            return Ok(CalibrationPrevalence::Stated(stated));
        }
        let n = stored.artifact().header().n;
        match stored.sample().and_then(|sample| sample.positives) {
            Some(positives) => {
                Ok(CalibrationPrevalence::Counted { positives, n, alpha: self.prevalence_alpha })
            }
            None => Err(OptionsError::new(
                "`the artifact` does not state how many of its calibration observations have label 1: give `calibration_prevalence`",
            )),
        }
    }
}

/// The share of class 1 among rows from the new place.
fn estimate(
    before: &StoredArtifact,
    rows: &[(f64, u16)],
    from: CalibrationPrevalence,
) -> Result<EstimatedPrevalence, AdjustError> {
    let from = match from {
        CalibrationPrevalence::Stated(from) => from,
        CalibrationPrevalence::Counted { positives, n, .. } => positives as f64 / n as f64,
    };
    let probs: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let estimate = EstimatedPrevalence::of(&probs, from)?;
    let Some((count, [negatives, positives])) = before.class_ranges() else { return Ok(estimate) };
    let mut counts = vec![0; count];
    for (_, bin) in rows {
        if let Some(count) = counts.get_mut(usize::from(*bin)) {
            *count += 1;
        }
    }
    let found = RangeMoments::of(&counts).map(|rows| estimate.within(&rows, [&negatives, &positives]));
    Ok(found.unwrap_or(estimate))
}
