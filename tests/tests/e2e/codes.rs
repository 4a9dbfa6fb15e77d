//! Fits to integer codes, made as `calib fit` makes them, on the device: the same bits for every code.

use calib_core::wire::{RequestBody, ScoreEcho, Scores};
use calib_core::{Calibrator, Outcome, QuantizedScore, ScoreEncoding};
use calib_host::apply::{RandomWords, calibrate};
use calib_host::artifact::{CodesError, CompileError};
use calib_host::binary::{Isotonic, Loss, Model, ScalingBinning, ScalingMethod};
use calib_host::{ArtifactOptions, BinaryData, BinaryMethod, Umd, artifact_bytes, fit_binary};
use calib_tests::Board;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::harness::{ID, Image};

const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65_536.0, zero_point: 0 };

/// The score that a code stands for, which may be outside `[0, 1]` by a rounding.
fn score(code: QuantizedScore) -> f64 {
    f64::from(code.dequantized().clamp(0.0, 1.0))
}

/// Codes drawn as a classifier gives them, more often near the ends, with labels of probability `score^2`.
fn data(encoding: ScoreEncoding, keys: u32) -> BinaryData {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
    let points = (0..4000).map(|_| {
        let skewed = rng.random_range(0.0f64..1.0).powi(2);
        let key = if rng.random() { skewed } else { 1.0 - skewed } * f64::from(keys);
        let score = score(QuantizedScore::from_key(encoding, (key as u32).min(keys - 1) as u16).unwrap());
        (score, rng.random_bool(score * score))
    });
    let (scores, labels) = points.unzip();
    BinaryData::new(scores, labels).unwrap()
}

/// Fits, deploys, and demands that the device gives the bits of the host for these codes and for those at every edge.
fn host_and_device_agree(
    encoding: ScoreEncoding,
    keys: u32,
    method: &BinaryMethod,
    direct_table: bool,
    asked: impl Iterator<Item = u16>,
) {
    let name = format!("{method:?} over {encoding}, direct table {direct_table}");
    let on_scores = fit_binary(&data(encoding, keys), method, 0.1).unwrap();
    let fit = on_scores.clone().quantized(encoding).unwrap();
    let Model::Codes(codes) = &fit.tables()[0].as_ref().unwrap().model() else { panic!("{name}: no codes") };
    let around =
        codes.edges.iter().flat_map(|&edge| [edge.saturating_sub(1), edge, (edge + 1).min(keys - 1)]);
    let asked: Vec<u16> = asked.chain(around.map(|key| key as u16)).collect();

    let options = ArtifactOptions::default().classifier(Some(ID)).direct_table(direct_table);
    let bytes = artifact_bytes(&fit, &options).unwrap();
    let image = Image::stand_in(Board::Mps2An386, 1);
    let mut deployed = image.deploy(name, &bytes);
    let sent = deployed.asked(asked.iter().map(|&key| RequestBody::predict(Scores::Code(key))));
    assert_eq!(sent.predictions.len(), asked.len());

    let (name, artifact) = (&deployed.what, deployed.artifact());
    assert!(matches!(artifact.calibrator(), Calibrator::BinaryCode(_)), "{name}: not over codes");
    assert_eq!(artifact.tables().has_direct_table(), direct_table);
    let quantized: Vec<_> =
        asked.iter().map(|&key| QuantizedScore::from_key(encoding, key).unwrap()).collect();
    let applied = calibrate(&artifact, quantized[..].into(), RandomWords::new(&artifact, 0)).unwrap();
    assert_eq!(applied.len(), asked.len());
    for (((got, &key), &code), applied) in sent.predictions.iter().zip(&asked).zip(&quantized).zip(&applied) {
        assert_eq!((got.class, got.score), (1, ScoreEcho::Code(key)), "{name}");
        assert_eq!(applied.outcome, got.outcome, "{name}: {key}");
        let Outcome::Calibrated(calibrated) = got.outcome else { panic!("{name}: {key} is uncalibrated") };
        // The fit to the scores that the codes stand for gives the same probability.
        if let Some(steps) = on_scores.tables()[0].as_ref().unwrap().model().steps() {
            assert_eq!(calibrated.prob, steps.prob(score(code)) as f32, "{name}: {key}");
        }
        assert_eq!(got.alarm, image.model.parameters().alarm.is_raised_by(calibrated.prob));
    }
    println!("{name}: {} bytes, {} codes", bytes.len(), asked.len());
}

#[test]
fn every_8_bit_code() {
    for encoding in [U8, I8] {
        for method in [
            BinaryMethod::Umd(Umd::new(10)),
            BinaryMethod::Isotonic(Isotonic::default()),
            BinaryMethod::Scaling(ScalingMethod::PlattLogit),
        ] {
            for direct_table in [false, true] {
                host_and_device_agree(encoding, 256, &method, direct_table, 0..256);
            }
        }
    }
}

#[test]
fn an_even_part_of_the_16_bit_codes() {
    let smooth =
        ScalingBinning { scaling: ScalingMethod::PlattLogit, loss: Loss::Log, bins: 20, split_seed: None };
    for method in [
        BinaryMethod::Umd(Umd::new(10)),
        BinaryMethod::Isotonic(Isotonic::default()),
        BinaryMethod::ScalingBinning(smooth),
    ] {
        let even = (0..=u16::MAX).step_by(16).chain([u16::MAX]);
        host_and_device_agree(U16, 65_536, &method, false, even);
    }
    // A smooth function has as many steps as there are codes.
    let platt = BinaryMethod::Scaling(ScalingMethod::PlattLogit);
    let refused = fit_binary(&data(U16, 65_536), &platt, 0.1).unwrap().quantized(U16);
    assert!(matches!(refused, Err(CompileError::Codes(CodesError::TooManySteps(_)))), "{refused:?}");
}
