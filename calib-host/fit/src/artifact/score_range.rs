//! The range of the calibration scores, as the device compares with it.

use calib_core::{Margin, QuantizedScore, Score, ScoreEncoding};

use crate::data::score_of_code;
use crate::points::ScoreSummary;
use crate::stats::ScoreKind;

/// The least and the greatest score of a table's calibration points as section 17 has them: those of the device that are looked up
/// as one of these.
pub(super) fn device_range(
    score_summary: &ScoreSummary,
    kind: ScoreKind,
    encoding: ScoreEncoding,
) -> [u32; 2] {
    match encoding {
        ScoreEncoding::F32 => [score_summary.lowest, score_summary.highest].map(bits),
        ScoreEncoding::RoundedF32 => rounded(score_summary),
        ScoreEncoding::Margin => [score_summary.lowest, score_summary.highest].map(margin_key),
        ScoreEncoding::RoundedMargin => {
            [margin_key(score_summary.lowest) & !LOWER_HALF, margin_key(score_summary.highest) | LOWER_HALF]
        }
        encoding => keys(score_summary, kind, encoding),
    }
}

/// What a device drops of a margin's key for a table of 16-bit numbers.
const LOWER_HALF: u32 = 0xFFFF;

fn margin_key(margin: f64) -> u32 {
    Margin::new(margin as f32).map_or(Margin::MAX.key(), Margin::key)
}

fn bits(score: f64) -> u32 {
    (score as f32 + 0.0).to_bits()
}

/// The least score that the device rounds as the least of the points, and the greatest that it rounds as the greatest.
fn rounded(score_summary: &ScoreSummary) -> [u32; 2] {
    let key = |score: f64| Score::new(score as f32).unwrap_or(Score::ONE).rounded_key();
    let (least, greatest) = (key(score_summary.lowest), key(score_summary.highest));
    let of_bits = |bits: u32| Score::new(f32::from_bits(bits)).unwrap_or(Score::ONE).rounded_key();
    // How many scores, in their order, are rounded to a key below this one.
    let below = |key: u32| {
        let (mut lo, mut hi) = (0, Score::ONE.to_bits() + 1);
        while lo < hi {
            let middle = lo + (hi - lo) / 2;
            if u32::from(of_bits(middle)) < key { lo = middle + 1 } else { hi = middle }
        }
        lo
    };
    [below(least.into()), below(u32::from(greatest) + 1) - 1]
}

/// The least and the greatest key whose score lies within the range.
fn keys(score_summary: &ScoreSummary, kind: ScoreKind, encoding: ScoreEncoding) -> [u32; 2] {
    let (lowest, highest) = encoding.code_range().unwrap_or_default();
    let codes = (lowest..=highest).filter_map(|code| QuantizedScore::new(encoding, code).ok());
    let inside = codes.filter(|&code| {
        (score_summary.lowest..=score_summary.highest).contains(&f64::from(score_of_code(kind, code)))
    });
    let keys = inside.map(|code| u32::from(code.key()));
    keys.fold(None, |range: Option<[u32; 2]>, key| Some([range.map_or(key, |[least, _]| least), key]))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use calib_core::{Artifact, BinFlags, Calibrator, Outcome};

    use super::*;
    use crate::artifact::{ArtifactOptions, StoredArtifact, artifact_bytes};
    use crate::binary::{BinaryMethod, Isotonic, Umd};
    use crate::data::BinaryData;
    use crate::fit::{Fit, fit_binary};

    fn stored(fit: &Fit) -> StoredArtifact {
        StoredArtifact::from_bytes(&artifact_bytes(fit, &ArtifactOptions::default()).unwrap()).unwrap()
    }

    /// A fit that knows the spread of its scores.
    fn fitted(data: &BinaryData, method: &BinaryMethod) -> Fit {
        fit_binary(data, method, 0.1).unwrap().with_score_summaries([Some(data.score_summary().unwrap())])
    }

    fn is_outside(outcome: &Outcome) -> bool {
        outcome.calibrated().unwrap().flags.contains(BinFlags::OUT_OF_RANGE)
    }

    fn marked(artifact: &Artifact<'_>, scores: &[f32]) -> Vec<bool> {
        let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not binary") };
        let score = |&score: &f32| calibrator.calibrate(Score::new(score).unwrap());
        scores.iter().map(|one| is_outside(&score(one))).collect()
    }

    /// No calibration score is out of range, on whatever grid the device sees it, and a score beyond them is.
    #[test]
    fn what_was_seen_is_in_range_and_what_is_beyond_is_not() {
        let scores: Vec<f32> = (0..100).map(|i| 0.2 + i as f32 / 173.0).collect();
        let labels: Vec<bool> = (0..100).map(|i| i % 7 < 3).collect();
        let data = BinaryData::from_device_scores(&scores, &labels).unwrap();
        for method in [BinaryMethod::Umd(Umd::new(4)), BinaryMethod::Isotonic(Isotonic::default())] {
            let exact = stored(&fitted(&data, &method));
            let compact = data.clone().rounded();
            let compact = stored(&fitted(&compact, &method).into_u16_table().unwrap());
            for stored in [&exact, &compact] {
                assert!(marked(&stored.artifact(), &scores).iter().all(|outside| !outside));
                let beyond = [0.0, 0.199, 0.2 - 2e-5, 0.2 + 99.0 / 173.0 + 2e-5, 0.9, 1.0];
                assert!(marked(&stored.artifact(), &beyond).iter().all(|&outside| outside));
            }
            let ends = [0.2f32.next_down(), (0.2f32 + 99.0 / 173.0).next_up()];
            assert_eq!(marked(&exact.artifact(), &ends), [true, true]);
            // The device rounds these as it rounds the ends.
            assert_eq!(marked(&compact.artifact(), &ends), [false, false]);
        }
    }

    #[test]
    fn codes_are_marked_as_their_scores_are() {
        let encoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
        let code = |code| QuantizedScore::new(encoding, code).unwrap();
        let score = |at: i32| f64::from(code(at).score().unwrap().get());
        let rows = (40..200).map(|at| (score(at), 1, u64::from(at % 5 < 2))).collect();
        let fit = fitted(&BinaryData::from_counts(rows).unwrap(), &BinaryMethod::Umd(Umd::new(3)));
        let stored = stored(&fit.quantized(encoding).unwrap());
        let artifact = stored.artifact();
        let Calibrator::BinaryCode(calibrator) = artifact.calibrator() else { panic!("not over codes") };
        for at in 0..=255 {
            let outcome = calibrator.calibrate(code(at)).unwrap();
            assert_eq!(is_outside(&outcome), !(40..200).contains(&at), "{at}");
        }
    }

    /// What the guarantee says nothing was seen of are the ends of the margins themselves.
    #[test]
    fn the_guarantee_names_the_ends_of_scores_and_of_margins() {
        let labels: Vec<bool> = (0..40).map(|i| i % 3 == 0).collect();
        let said = |data: &BinaryData| {
            let stored = stored(&fitted(data, &BinaryMethod::Umd(Umd::new(2))));
            crate::artifact::guarantee_text(&stored).full_limits().join(" ")
        };
        let margins = (0..40).map(|i| f64::from(i) / 4.0 - 7.5).collect();
        let margins = BinaryData::of_margins(margins, labels.clone()).unwrap();
        assert!(
            said(&margins).contains("No calibration score was below -7.5 or above 2.25. "),
            "{}",
            said(&margins)
        );
        let scores = BinaryData::new((0..40).map(|i| f64::from(i) / 64.0).collect(), labels).unwrap();
        assert!(
            said(&scores).contains("No calibration score was below 0 or above 0.609375. "),
            "{}",
            said(&scores)
        );
    }
}
