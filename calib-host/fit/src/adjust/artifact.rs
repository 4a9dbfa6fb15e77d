//! An artifact for another prevalence.

use calib_core::artifact::{Guarantee, Header, Provenance, Reduction, SectionKind, WriteError};

use super::error::AdjustError;
use super::ranges::{AdjustedRanges, adjusted_band};
use super::shift::Shift;
use super::table::{Adjusted, method_after};
use crate::accessors::builders;
use crate::artifact::{DerivedArtifact, Monitoring, OTHER_SCORES, StoredArtifact};
use crate::fit::parameter_of;
use crate::stats::f32_ceil;

/// How an artifact is changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Adjustment {
    /// From which prevalence to which.
    pub shift: Shift,
    /// Whether the new prevalence was estimated, so that no guarantee for a finite sample is left.
    pub is_estimated: bool,
    /// How new the changed artifact is.
    pub counter: u32,
    /// What monitors on the device compare with: [scores from the new place](crate::artifact::MonitorBins::of_scores). Those of the
    /// artifact are left out.
    pub monitors: Option<Monitoring>,
}

impl Adjustment {
    /// A known shift, without monitors, of an artifact with counter 0.
    pub fn new(shift: Shift) -> Self {
        Self { shift, is_estimated: false, counter: 0, monitors: None }
    }
}

builders! {
    Adjustment {
        shift: Shift,
        is_estimated: bool,
        counter: u32,
        monitors: Option<Monitoring>,
    }
}

/// The names of the parameters that a change adds to the provenance, in place of those of the artifact before.
const PARAMETERS: [&str; 5] =
    ["prevalence", "estimated-prevalence", "calibration-prevalence", "prevalence-alpha", OTHER_SCORES];

/// Returns the artifact with probabilities for another prevalence.
///
/// Edges stay, and so does what a device does with them. A value `v` becomes [`Shift::prob`] of `v`. An interval's ends become
/// [`Shift::interval`], also those of ranges of the score, and where there is no interval, `v` and epsilon on both sides become one. Epsilon becomes the farthest end of
/// an interval from its value. What is guaranteed then fails with the probabilities of the calibrator's guarantee and of the
/// interval of the calibration prevalence together. All of it holds only if scores are distributed among positives and among
/// negatives as before.
///
/// A signature is left out, since it is one of other bytes. The identity of the artifact before is a parameter of the
/// provenance.
///
/// ```
/// use calib_core::Calibrator;
/// use calib_fit::adjust::{Adjustment, CalibrationPrevalence, Shift, adjusted};
/// use calib_fit::{BinaryData, BinaryMethod, Isotonic, StoredArtifact, artifact_bytes, fit_binary};
///
/// let data = BinaryData::new(vec![0.25, 0.25, 0.75, 0.75], vec![false, true, false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let before = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
/// let shift = Shift::new(CalibrationPrevalence::Stated(0.5), 0.1)?;
/// let bytes = adjusted(&before, &Adjustment::new(shift).counter(2))?;
///
/// let after = StoredArtifact::from_bytes(&bytes)?;
/// let Calibrator::Binary(calibrator) = after.artifact().calibrator() else { panic!("binary") };
/// let prob = calibrator.calibrate(calib_core::Score::new(0.3)?).calibrated().unwrap().prob;
/// assert!((prob - 0.1).abs() < 1e-7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// An artifact of several classes or with other than one table, or a table of lines between knots. Failure probabilities that add up to 1,
/// or monitors whose bins are not of scores from the new place.
pub fn adjusted(before: &StoredArtifact, adjustment: &Adjustment) -> Result<Vec<u8>, AdjustError> {
    let artifact = before.artifact();
    let old = artifact.header();
    if old.reduction != Reduction::Binary {
        return Err(AdjustError::Reduction(old.reduction));
    }
    if artifact.tables().count() != 1 {
        return Err(AdjustError::Tables(artifact.tables().count()));
    }
    let shift = &adjustment.shift;
    let changed = Adjusted::of(&artifact, shift, !adjustment.is_estimated)?;
    let guarantee = match old.guarantee.zip(changed.epsilon) {
        None => None,
        Some((Guarantee { theorem, alpha, .. }, epsilon)) => {
            Some(Guarantee { theorem, alpha: both(alpha, shift.alpha())?, epsilon })
        }
    };
    let monitored = match &adjustment.monitors {
        Some(monitors) => Some((monitors, monitors.of_changed(&artifact)?)),
        None => None,
    };
    let ranges = match artifact.score_intervals().filter(|_| !adjustment.is_estimated) {
        Some(found) => Some(AdjustedRanges::of(found, both(found.alpha(), shift.alpha())?, shift)),
        None => None,
    };
    let band = match artifact.band().filter(|_| !adjustment.is_estimated) {
        Some(found) => Some(adjusted_band(found, both(found.alpha(), shift.alpha())?, shift)),
        None => None,
    };
    let kept = kept_parameters(old.provenance.parameters);
    let provenance = Provenance { parameters: &kept, ..old.provenance };
    let header = Header { method: method_after(old.method), guarantee, provenance, ..*old };
    let table = changed.table(&artifact).ok_or(WriteError::Form)?;
    let child = DerivedArtifact { counter: adjustment.counter, parameters: parameters(adjustment) };
    let bytes = child.rewrite(
        before,
        |_| header,
        |writer, (kind, mandatory, payload)| {
            // Scores of another prevalence are no draws from those that the monitors compare with.
            const LEFT_OUT: [SectionKind; 3] =
                [SectionKind::Intervals, SectionKind::Monitors, SectionKind::MonitorAction];
            if LEFT_OUT.iter().any(|&left_out| left_out as u16 == kind) {
                return Ok(());
            }
            if kind == SectionKind::ScoreIntervals as u16 {
                return ranges.as_ref().map_or(Ok(()), |ranges| ranges.write(writer));
            }
            if kind == SectionKind::Band as u16 {
                return band.as_ref().map_or(Ok(()), |band| band.write(writer));
            }
            if kind != table.form.section() as u16 {
                return writer.section(kind, mandatory, payload);
            }
            writer.tables(&[Some(table)])?;
            let has_intervals = changed.intervals.iter().any(Option::is_some);
            if has_intervals { writer.intervals(&[Some(&changed.intervals)]) } else { Ok(()) }
        },
        |writer| match &monitored {
            Some((monitors, tables)) => monitors.write(tables, writer),
            None => Ok(()),
        },
    )?;
    Ok(bytes)
}

/// The sum of two failure probabilities, not below it as an `f32`.
fn both(alpha: f32, other: f64) -> Result<f32, AdjustError> {
    if other == 0.0 {
        return Ok(alpha);
    }
    let sum = f64::from(alpha) + other;
    let sum_up = f32_ceil(sum);
    if sum_up < 1.0 { Ok(sum_up) } else { Err(AdjustError::Alpha(sum)) }
}

/// Parameters without those of an earlier change.
fn kept_parameters(before: &str) -> String {
    let name = |pair: &str| pair.split_once('=').map_or(pair, |(name, _)| name).to_owned();
    let kept = before.split(' ').filter(|pair| !PARAMETERS.contains(&&*name(pair)));
    kept.collect::<Vec<_>>().join(" ")
}

/// The parameters of this change.
fn parameters(adjustment: &Adjustment) -> String {
    let shift = adjustment.shift;
    let name = if adjustment.is_estimated { "estimated-prevalence" } else { "prevalence" };
    let mut all = format!("{name}={} calibration-prevalence={}", shift.to(), shift.from());
    if shift.alpha() > 0.0 {
        all += &format!(" prevalence-alpha={}", shift.alpha());
    }
    if let Some(scores) = adjustment.monitors.as_ref().and_then(Monitoring::other_scores) {
        all += &format!(" {OTHER_SCORES}={scores}");
    }
    all
}

/// Returns the prevalence for which an artifact was adjusted; `None` if it never was.
pub fn adjusted_prevalence(artifact: &StoredArtifact) -> Option<f64> {
    let artifact = artifact.artifact();
    let parameters = artifact.header().provenance.parameters;
    let named = parameter_of(parameters, "prevalence").or(parameter_of(parameters, "estimated-prevalence"));
    named?.parse().ok()
}
