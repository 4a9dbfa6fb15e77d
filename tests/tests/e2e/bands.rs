//! Bands on every core, against the host, bit for bit.

use std::collections::BTreeSet;

use calib_core::decision::SureBy;
use calib_core::wire::{RequestBody, Scores as RequestScores};
use calib_core::{Score, ScoreEncoding};
use calib_host::binary::{Blend, Isotonic, ScalingMethod};
use calib_host::dataset::{Dataset, Rows, Scores};
use calib_host::decide::{Actions, Cost, CostedAction, Rule};
use calib_host::job::{FitOptions, TableWidth, fit};
use calib_host::{BinaryMethod, ScoreKind, StoredArtifact};
use calib_tests::{Board, around_band_edges};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::harness::{ID, Image, random_inputs_on};

const N: usize = 2000;
/// Besides those at the edges and next to them.
const SCORES: usize = 5000;
const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65_536.0, zero_point: 0 };

/// Above 0.3 it treats if the band at the score is above, too, and asks if it is not; below it waits.
fn rule() -> (Actions, Rule) {
    let action = |name: &str, if_sure| CostedAction {
        name: name.into(),
        positive: Cost::default(),
        negative: Cost::default(),
        start_up: Cost::default(),
        alarm: if_sure == Some(SureBy::Band),
        abstain: name == "ask",
        if_sure,
    };
    let actions = vec![action("wait", None), action("ask", None), action("treat", Some(SureBy::Band))];
    let actions = Actions::new(actions, None).and_then(|actions| actions.with_unsure(None)).unwrap();
    (actions, Rule::stated(&[(0, 0.0, 0.3), (2, 0.3, 1.0)]).unwrap())
}

/// Artifacts with a band: a function, steps, a blend and a table of two values, over every kind of score.
pub(crate) fn all() -> Vec<(String, StoredArtifact)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(53);
    let scores: Vec<f32> = (0..N).map(|_| rng.random()).collect();
    let labels: Vec<i64> =
        scores.iter().map(|&score| rng.random_bool(f64::from(score * score)).into()).collect();
    // 0 many times.
    let margins: Vec<f32> = scores.iter().map(|score| (8.0 * score - 5.0).max(-3.0) + 0.0).collect();
    let of = |scores: Scores<'_>, method: BinaryMethod, width: TableWidth| {
        let data = Dataset::new(scores, Rows::new(&labels)).unwrap();
        let mut options = FitOptions::default().method(method).band(true).table(width).classifier_id(ID);
        // Half of them decide by it.
        if width == TableWidth::F32 {
            options = options.decision(rule());
        }
        let fitted = fit(&data, &options).unwrap().artifact;
        let encoding = fitted.artifact().header().encoding;
        (format!("band beside {method:?} of {encoding}, {width:?}"), fitted)
    };
    let (isotonic, beta) =
        (BinaryMethod::Isotonic(Isotonic::default()), BinaryMethod::Scaling(ScalingMethod::Beta));
    let platt = BinaryMethod::Scaling(ScalingMethod::PlattMargin);
    let blend = BinaryMethod::Blend(Blend::new(0));
    let mut all = Vec::new();
    for (method, width) in [
        (beta, TableWidth::F32),
        (blend, TableWidth::F32),
        (BinaryMethod::VennAbers, TableWidth::F32),
        (isotonic, TableWidth::U16),
    ] {
        all.push(of(Scores::Binary(ScoreKind::Probability, scores.as_slice().into()), method, width));
    }
    for (method, width) in [(platt, TableWidth::F32), (isotonic, TableWidth::U16)] {
        all.push(of(Scores::Binary(ScoreKind::Margin, margins.as_slice().into()), method, width));
    }
    for (encoding, keys, widths) in
        [(I8, 256.0, &[TableWidth::U16, TableWidth::Direct][..]), (U16, 65_536.0, &[TableWidth::F32])]
    {
        let (lowest, _) = encoding.code_range().unwrap();
        let codes: Vec<i64> = scores.iter().map(|score| (score * keys) as i64 + i64::from(lowest)).collect();
        for &width in widths {
            all.push(of(Scores::Codes(ScoreKind::Probability, encoding, &codes), isotonic, width));
        }
    }
    all
}

/// Random scores of the kind that an artifact takes.
fn random(encoding: ScoreEncoding, rng: &mut Xoshiro256PlusPlus) -> RequestScores {
    match encoding.code_range() {
        Some((lowest, highest)) => RequestScores::Code(rng.random_range(0..=highest.abs_diff(lowest)) as u16),
        None if encoding.is_margin() => RequestScores::Margin(rng.random_range(-6.0..6.0)),
        None => RequestScores::Score(rng.random_range(0.0..=Score::ONE.get())),
    }
}

/// The device answers with the band of each score, and the host finds the same bits.
fn host_and_device_agree(board: Board) {
    let image = Image::stand_in(board, 1);
    for (name, stored) in all() {
        let encoding = stored.artifact().header().encoding;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(59);
        let mut scores = around_band_edges(&stored.artifact());
        assert!(scores.len() > 60, "{name}: {} scores around edges", scores.len());
        scores.extend((0..random_inputs_on(board, SCORES)).map(|_| random(encoding, &mut rng)));
        let mut deployed = image.deploy(name, stored.as_bytes());
        let sent = deployed.asked(scores.into_iter().map(RequestBody::predict));
        let bits = sent.predictions.iter().map(|answer| {
            let band = answer.band().unwrap_or_else(|| panic!("{}: {answer:?}", deployed.what));
            [band.lo, band.hi].map(f32::to_bits)
        });
        let bands: BTreeSet<[u32; 2]> = bits.collect();
        if let Some(rule) = stored.artifact().decision() {
            let threshold = rule.thresholds()[0];
            let mut taken = [0; 3];
            for answer in &sent.predictions {
                let (prob, band) = (answer.outcome.calibrated().unwrap().prob, answer.band().unwrap());
                let expected = if prob <= threshold { 0 } else { 1 + usize::from(band.lo > threshold) };
                assert_eq!(
                    (answer.action, answer.alarm),
                    (Some(expected as u8), expected == 2),
                    "{answer:?}"
                );
                taken[expected] += 1;
            }
            assert!(taken.iter().all(|&times| times > 20), "{}: {taken:?}", deployed.what);
        }
        assert!(bands.len() > 10, "{}: {} bands", deployed.what, bands.len());
        println!("{}: {} bands, {} questions", deployed.what, bands.len(), sent.predictions.len());
    }
}

#[test]
fn the_device_answers_with_the_band() {
    host_and_device_agree(Board::Mps2An386);
}

#[test]
#[ignore = "builds other boards: `cargo xtask verify` does"]
fn on_other_cores() {
    for &board in Board::ALL.iter().filter(|&&board| board != Board::Mps2An386) {
        host_and_device_agree(board);
    }
}
