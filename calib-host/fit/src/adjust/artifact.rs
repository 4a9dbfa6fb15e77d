//! An artefact for another prevalence.

use calib_core::artifact::{Guarantee, Header, Provenance, Reduction, SectionKind, WriteError};

use super::error::AdjustError;
use super::shift::Shift;
use super::table::{Adjusted, method_after};
use crate::artifact::{StoredArtifact, written};
use crate::fit::parameter_of;

/// How an artefact is changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adjustment {
    /// From which prevalence to which.
    pub shift: Shift,
    /// Whether the new prevalence was estimated, so that no promise for a finite sample is left.
    pub is_estimated: bool,
    /// How new the changed artefact is.
    pub counter: u32,
}

/// The names of the parameters that a change adds to the provenance.
const PARAMETERS: [&str; 5] =
    ["prevalence", "estimated-prevalence", "calibration-prevalence", "prevalence-alpha", "parent"];

/// Returns the artefact with probabilities for another prevalence.
///
/// Edges stay, and so does what a device does with them. A value `v` becomes [`Shift::prob`] of `v`; an interval's ends become
/// [`Shift::interval`], and where there is no interval, `v` and epsilon on both sides become one. Epsilon becomes the farthest end of
/// such an interval from its value. What is promised then fails with the probabilities of the calibrator's promise and of the
/// interval of the calibration prevalence together. All of it holds only if scores are distributed among positives and among
/// negatives as before.
///
/// A signature is left out, since it is one of other bytes. The identity of the artefact before is a parameter of the
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
/// let bytes = adjusted(&before, &Adjustment { shift, is_estimated: false, counter: 2 })?;
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
/// An artefact of several classes or with other than one table, a table of lines between knots, or failure probabilities that add up to 1.
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
    let parameters = parameters(before, adjustment);
    let provenance = Provenance { parameters: &parameters, ..old.provenance };
    let header = Header { method: method_after(old.method), guarantee, provenance, ..*old };
    let table = changed.table(&artifact).ok_or(WriteError::Form)?;
    let table_kind = table.form.section() as u16;
    let replaced =
        [SectionKind::Intervals, SectionKind::Counter, SectionKind::Signature].map(|kind| kind as u16);
    let bytes = written(|writer| {
        for (kind, mandatory, payload) in before.sections() {
            if kind == SectionKind::Header as u16 {
                writer.header(&header)?;
            } else if kind == table_kind {
                writer.tables(&[Some(table)])?;
                if changed.intervals.iter().any(Option::is_some) {
                    writer.intervals(&[Some(&changed.intervals)])?;
                }
            } else if !replaced.contains(&kind) {
                writer.section(kind, mandatory, payload)?;
            }
        }
        if adjustment.counter > 0 { writer.counter(adjustment.counter) } else { Ok(()) }
    })?;
    Ok(bytes)
}

/// The sum of two failure probabilities, not below it as an `f32`.
fn both(alpha: f32, other: f64) -> Result<f32, AdjustError> {
    if other == 0.0 {
        return Ok(alpha);
    }
    let sum = f64::from(alpha) + other;
    let nearest = sum as f32;
    let sum_up = if f64::from(nearest) < sum { nearest.next_up() } else { nearest };
    if sum_up < 1.0 { Ok(sum_up) } else { Err(AdjustError::Alpha(sum)) }
}

/// The parameters of the artefact before, without those of an earlier change, and those of this change.
fn parameters(before: &StoredArtifact, adjustment: &Adjustment) -> String {
    let artifact = before.artifact();
    let pairs = artifact.header().provenance.parameters.split(' ').filter(|pair| {
        let name = pair.split_once('=').map_or(*pair, |(name, _)| name);
        !pair.is_empty() && !PARAMETERS.contains(&name)
    });
    let mut all: Vec<String> = pairs.map(str::to_owned).collect();
    let shift = adjustment.shift;
    let name = if adjustment.is_estimated { "estimated-prevalence" } else { "prevalence" };
    all.push(format!("{name}={}", shift.to()));
    all.push(format!("calibration-prevalence={}", shift.from()));
    if shift.alpha() > 0.0 {
        all.push(format!("prevalence-alpha={}", shift.alpha()));
    }
    all.push(format!("parent={}", artifact.identity()));
    all.join(" ")
}

/// Returns the prevalence for which an artefact was adjusted; `None` if it never was.
pub fn adjusted_prevalence(artifact: &StoredArtifact) -> Option<f64> {
    let artifact = artifact.artifact();
    let parameters = artifact.header().provenance.parameters;
    let named = parameter_of(parameters, "prevalence").or(parameter_of(parameters, "estimated-prevalence"));
    named?.parse().ok()
}
