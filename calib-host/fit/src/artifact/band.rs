//! A band around the calibration curve, as the device has it.

use calib_core::artifact::{ArtifactWriter, BandParts, WriteError};
use calib_core::{Margin, Score};

use super::error::CompileError;
use crate::bands::Band;
use crate::data::code_of_score;
use crate::fit::Fit;
use crate::stats::{ScoreKind, f32_ceil, f32_floor};

/// A side: the keys at which it rises, and its values, one more.
type Side = (Vec<u32>, Vec<f32>);

/// What a band is written as.
pub(crate) struct DeviceBand {
    pub(crate) alpha: f32,
    pub(crate) lower: Side,
    pub(crate) upper: Side,
}

impl DeviceBand {
    /// Takes the keys that a device has of the scores, and rounds the lower side down and the upper side up.
    pub(super) fn of(band: &Band, fit: &Fit) -> Result<Self, CompileError> {
        let [lowest, highest] = ends(fit);
        let keys =
            |scores: &[f64]| scores.iter().map(|&score| key(score, fit)).collect::<Result<Vec<_>, _>>();
        let (mut edges, upper) = (keys(band.lower().scores())?, keys(band.upper().scores())?);
        let mut values = vec![0.0];
        values.extend(band.lower().values().iter().map(|&value| f32_floor(value)));
        if edges.first() == Some(&lowest) {
            // No score is below the first step.
            edges.remove(0);
            values.remove(0);
        }
        let lower = (edges, values);
        // The upper side rises behind the scores of its steps.
        let mut values: Vec<f32> = band.upper().values().iter().map(|&value| f32_ceil(value)).collect();
        if upper.last() != Some(&highest) {
            values.push(1.0);
        }
        let edges = upper.iter().filter(|&&key| key < highest).map(|key| key + 1).collect();
        Ok(Self { alpha: band.alpha() as f32, lower, upper: (edges, values) })
    }

    pub(crate) fn write(&self, writer: &mut ArtifactWriter<'_>) -> Result<(), WriteError> {
        let Self { alpha, lower, upper } = self;
        writer.band(&BandParts { alpha: *alpha, lower: (&lower.0, &lower.1), upper: (&upper.0, &upper.1) })
    }
}

/// The key of a score of the calibration points, as a device has it.
fn key(score: f64, fit: &Fit) -> Result<u32, CompileError> {
    let encoding = fit.encoding();
    let single = score as f32;
    if encoding.is_quantized() {
        let code = code_of_score(encoding, fit.scores, single, 0);
        return code.map(|code| code.key().into()).map_err(|_| CompileError::Edge(score));
    }
    if !fit.compact && f64::from(single) != score {
        return Err(CompileError::Edge(score));
    }
    let key = match (fit.scores, fit.compact) {
        (ScoreKind::Probability, false) => Score::new(single).ok().map(Score::to_bits),
        (ScoreKind::Probability, true) => Score::new(single).ok().map(|score| score.rounded_key().into()),
        (ScoreKind::Margin, false) => Margin::new(single).ok().map(Margin::key),
        (ScoreKind::Margin, true) => Margin::new(single).ok().map(|margin| margin.rounded_key().into()),
    };
    key.ok_or(CompileError::Edge(score))
}

/// The least and the greatest key.
fn ends(fit: &Fit) -> [u32; 2] {
    match (fit.encoding().code_range(), fit.scores, fit.compact) {
        (Some((lowest, highest)), ..) => [0, highest.abs_diff(lowest)],
        (None, ScoreKind::Probability, false) => [0, Score::ONE.to_bits()],
        (None, ScoreKind::Probability, true) => [0, Score::ONE.rounded_key().into()],
        (None, ScoreKind::Margin, false) => [Margin::MIN.key(), Margin::MAX.key()],
        (None, ScoreKind::Margin, true) => {
            [Margin::MIN.rounded_key(), Margin::MAX.rounded_key()].map(u32::from)
        }
    }
}
