//! Fits to the integer codes of several classes, made as `calib fit` makes them, on the device: the same bits for every vector.

use calib_core::ScoreEncoding;
use calib_core::artifact::Reduction;
use calib_core::wire::{ReplyBody, RequestBody, Scores};
use calib_host::apply::{Others, RandomWords, apply};
use calib_host::binary::{Isotonic, ScalingMethod};
use calib_host::data::CodeVectors;
use calib_host::reduction::{Problems, fit_reduction};
use calib_host::{ArtifactOptions, BinaryMethod, ReductionOptions, Umd, artifact_bytes};
use calib_tests::{Board, overconfident_logits, quantized_softmax};

use crate::harness::{ID, Image, calibrated};

const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 1.0 / 256.0, zero_point: 0 };
const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65_536.0, zero_point: 0 };
const VECTORS: usize = 1000;

/// What a quantized softmax makes of logits, and labels.
fn data(encoding: ScoreEncoding, classes: usize) -> (CodeVectors, Vec<i64>) {
    let (lowest, highest) = encoding.code_range().unwrap();
    let (vectors, labels) = overconfident_logits(classes, 3000).unwrap();
    let keys = vectors.rows().flat_map(|row| quantized_softmax(row, (highest - lowest) as u16).unwrap());
    let codes: Vec<i64> = keys.map(|key| i64::from(lowest) + i64::from(key)).collect();
    (CodeVectors::new(&codes, classes, encoding).unwrap(), labels)
}

/// Fits, deploys, and demands the same bits for every vector.
fn host_and_device_agree(board: Board, classes: usize) {
    let image = Image::stand_in(board, classes);
    let umd = BinaryMethod::Umd(Umd::new(1));
    let few = BinaryMethod::Isotonic(Isotonic { max_bins: Some(8), ..Isotonic::default() });
    for (encoding, reduction, method, direct_table, compact) in [
        (I8, Reduction::TopLabel, umd, false, false),
        (I8, Reduction::TopLabel, umd, true, false),
        (I8, Reduction::TopLabel, few, false, true),
        (I8, Reduction::Confidence, BinaryMethod::Scaling(ScalingMethod::PlattLogit), false, false),
        (U8, Reduction::Confidence, umd, false, false),
        (U16, Reduction::TopLabel, umd, false, false),
        (U16, Reduction::Confidence, few, false, false),
    ] {
        let name = format!("{classes} classes, {reduction}, {method:?} over {encoding}");
        let (codes, labels) = data(encoding, classes);
        let problems = Problems::of_codes(&codes, &labels, reduction).unwrap();
        let options = ReductionOptions::new(method).rows_per_bin((method == umd).then_some(25));
        let fit = fit_reduction(&problems, &options, 0.1).unwrap().quantized(encoding).unwrap();
        let fit = if compact { fit.into_u16_table().unwrap() } else { fit };
        let options = ArtifactOptions::default().classifier(Some(ID)).direct_table(direct_table);
        let bytes = artifact_bytes(&fit, &options).unwrap();
        let mut deployed = image.deploy(name, &bytes);
        let sent = deployed.code_vectors(VECTORS, 3);
        assert!(calibrated(&sent) * 2 > sent.predictions.len(), "{}", deployed.what);

        // The rows that were fitted, as `calib apply` has them.
        let rows = codes.rows().take(100);
        let request = |row: &[u16]| RequestBody::predict(Scores::Codes(row.iter().copied().collect()));
        let replies = deployed.device.pipeline(rows.map(request)).unwrap();
        let (what, artifact) = (&deployed.what, deployed.artifact());
        for (reply, applied) in
            replies.iter().zip(apply(&artifact, (&codes).into(), RandomWords::new(&artifact, 0)))
        {
            let ReplyBody::Answer(got) = reply else { panic!("{what}: {reply:?}") };
            let applied = applied.unwrap();
            assert_eq!(applied.others, Others::None, "{what}");
            let expected = applied.first;
            assert_eq!((got.class, got.outcome), (expected.class, expected.outcome), "{what}");
        }
        println!("{what}: {} bytes, {} vectors", bytes.len(), sent.replies.len());
    }
}

#[test]
fn three_classes() {
    host_and_device_agree(Board::Mps2An386, 3);
}

#[test]
fn ten_classes() {
    host_and_device_agree(Board::Mps2An386, 10);
}

#[test]
#[ignore = "builds other boards: `cargo xtask verify` does"]
fn on_other_cores() {
    for (board, classes) in [(Board::Microbit, 3), (Board::Virt, 3), (Board::Microbit, 10)] {
        host_and_device_agree(board, classes);
    }
}
