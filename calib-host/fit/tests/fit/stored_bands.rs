//! Bands in artifacts: what the device answers is what was fitted, for every kind of score.

use calib_core::predict::Output;
use calib_core::{Artifact, Margin, ProbInterval, QuantizedScore, Score};
use calib_fit::adjust::{Adjustment, CalibrationPrevalence, Shift, adjusted};
use calib_fit::apply::{RandomWords, apply, calibrate};
use calib_fit::bands::Band;
use calib_fit::data::RowGroups;
use calib_fit::dataset::{Dataset, Rows, Scores};
use calib_fit::job::{FitOptions, Fitted, NotFitted, TableWidth, fit};
use calib_fit::stats::Interval;
use calib_fit::{
    BinaryData, BinaryMethod, FitError, Isotonic, ScalingMethod, ScoreKind, StoredArtifact, Umd, VectorKind,
    guarantee_text,
};

use crate::rows::{I8, N, hash, labels, scores};

fn with(method: BinaryMethod) -> FitOptions {
    FitOptions::default().method(method).intervals(false).band(true)
}

fn isotonic() -> BinaryMethod {
    BinaryMethod::Isotonic(Isotonic::default())
}

fn dataset(scores: Scores<'_>, labels: &[i64]) -> Dataset {
    Dataset::new(scores, Rows::new(labels)).unwrap()
}

/// Whether the ends of an artifact contain those that were fitted, and are at most an f32 wider.
fn rounds(exact: Interval, got: ProbInterval) -> bool {
    let (down, up) = (exact.lo - f64::from(got.lo), f64::from(got.hi) - exact.hi);
    (0.0..1e-7).contains(&down) && (0.0..1e-7).contains(&up)
}

fn at(artifact: &Artifact<'_>, output: Output<'_>) -> ProbInterval {
    artifact.band_at(&output).unwrap()
}

#[test]
fn every_method_has_the_same_band_and_keeps_what_it_says_without() {
    let scores = scores();
    let labels = labels(&scores);
    let data = dataset(Scores::Binary(ScoreKind::Probability, scores.as_slice().into()), &labels);
    let band = Band::fit(&BinaryData::from_device_classes(&scores, &labels).unwrap(), 0.1).unwrap();
    let methods = [
        BinaryMethod::Scaling(ScalingMethod::Beta),
        isotonic(),
        BinaryMethod::IsotonicInterpolated(Isotonic::default()),
        BinaryMethod::VennAbers,
        BinaryMethod::Umd(Umd::new(5)),
        BinaryMethod::UmdRandomized(Umd::new(5), 1),
    ];
    for method in methods {
        // Candidates divide the alpha of a guarantee, not that of the band, which depends on no choice.
        for candidates in [1u32, 4] {
            let plain = fit(&data, &with(method).band(false).candidates(candidates)).unwrap();
            let fitted = fit(&data, &with(method).candidates(candidates)).unwrap();
            let (plain, artifact) = (plain.artifact.artifact(), fitted.artifact.artifact());
            assert_eq!(plain.band(), None);
            assert_eq!(artifact.band().unwrap().alpha(), 0.1);
            assert_eq!((plain.tables(), plain.header()), (artifact.tables(), artifact.header()));
            let every = (0..=1000).map(|i| i as f32 / 1000.0);
            let edges = artifact.band().unwrap();
            let edges = [edges.lower().edges(), edges.upper().edges()].concat();
            let around = edges.iter().flat_map(|edge| [edge - 1, *edge]).map(f32::from_bits);
            for score in scores.iter().copied().chain(every).chain(around) {
                let got = at(&artifact, Output::Score(Score::new(score).unwrap()));
                assert!(rounds(band.at(score.into()), got), "{method:?} {score}: {got:?}");
            }
        }
    }
    // What is applied to rows has the band beside the probability.
    let fitted = fit(&data, &with(isotonic())).unwrap();
    let artifact = fitted.artifact.artifact();
    let rows: Vec<Score> = scores.iter().map(|&score| Score::new(score).unwrap()).collect();
    let (words, outputs) = (|| RandomWords::new(&artifact, 0), || rows[..].into());
    for (row, &score) in calibrate(&artifact, outputs(), words()).unwrap().iter().zip(&rows) {
        assert_eq!(row.band, Some(at(&artifact, Output::Score(score))));
    }
    let first = apply(&artifact, outputs(), words()).next().unwrap().unwrap().first;
    assert_eq!(first.band, Some(at(&artifact, Output::Score(rows[0]))));
}

#[test]
fn rounded_scores_codes_and_margins_have_bands_of_their_own_keys() {
    let scores = scores();
    let labels = labels(&scores);
    let flags: Vec<bool> = labels.iter().map(|&label| label == 1).collect();
    let of = |scores: Scores<'_>, options: &FitOptions| fit(&dataset(scores, &labels), options).unwrap();
    let probabilities = Scores::Binary(ScoreKind::Probability, scores.as_slice().into());
    let compact = of(probabilities, &with(isotonic()).table(TableWidth::U16));
    let single: Vec<f64> = scores.iter().map(|&score| score.into()).collect();
    let band = Band::fit(&BinaryData::new(single, flags.clone()).unwrap().rounded(), 0.1).unwrap();
    for &score in &scores {
        let score = Score::new(score).unwrap();
        let rounded = f64::from(score.rounded_key()) / 65_535.0;
        assert!(rounds(band.at(rounded), at(&compact.artifact.artifact(), Output::Score(score))));
    }

    // Below and above 0, and 0 many times.
    let margins: Vec<f32> = scores.iter().map(|&score| (8.0 * score - 5.0).max(-3.0) + 0.0).collect();
    let single: Vec<f64> = margins.iter().map(|&margin| margin.into()).collect();
    for (method, width) in [
        (BinaryMethod::Scaling(ScalingMethod::PlattMargin), TableWidth::F32),
        (isotonic(), TableWidth::F32),
        (isotonic(), TableWidth::U16),
    ] {
        let fitted =
            of(Scores::Binary(ScoreKind::Margin, margins.as_slice().into()), &with(method).table(width));
        let points = BinaryData::of_margins(single.clone(), flags.clone()).unwrap();
        let is_rounded = width == TableWidth::U16;
        let band = Band::fit(&if is_rounded { points.rounded() } else { points }, 0.1).unwrap();
        for &margin in &margins {
            let margin = Margin::new(margin).unwrap();
            let least = Margin::from_key(u32::from(margin.rounded_key()) << 16).unwrap();
            let seen = if is_rounded { least } else { margin };
            let got = at(&fitted.artifact.artifact(), Output::Margin(margin));
            assert!(rounds(band.at(seen.get().into()), got), "{margin:?}");
        }
    }

    let codes: Vec<i64> = scores.iter().map(|&score| (256.0 * score) as i64 - 128).collect();
    let dequantized: Vec<f64> = codes.iter().map(|&code| (code + 128) as f64 / 256.0).collect();
    let band = Band::fit(&BinaryData::new(dequantized, flags).unwrap(), 0.1).unwrap();
    for method in [isotonic(), BinaryMethod::Scaling(ScalingMethod::Beta)] {
        for width in [TableWidth::F32, TableWidth::U16, TableWidth::Direct] {
            let fitted = of(Scores::Codes(ScoreKind::Probability, I8, &codes), &with(method).table(width));
            for code in -128..=127 {
                let output = Output::Code(QuantizedScore::new(I8, code).unwrap());
                let got = at(&fitted.artifact.artifact(), output);
                assert!(rounds(band.at(f64::from(code + 128) / 256.0), got), "{code}");
            }
        }
    }
}

/// The least and the greatest score have no key below and above them.
#[test]
fn scores_at_the_ends_have_a_band() {
    let scores: Vec<f32> = (0..400).map(|row| [0.0, 1.0][row % 2]).collect();
    let labels: Vec<i64> = (0..400).map(|row| i64::from(row % 2 == 1 || row % 10 == 0)).collect();
    for width in [TableWidth::F32, TableWidth::U16] {
        let data = dataset(Scores::Binary(ScoreKind::Probability, scores.as_slice().into()), &labels);
        let fitted = fit(&data, &with(isotonic()).table(width)).unwrap();
        let artifact = fitted.artifact.artifact();
        let (zero, one) =
            (at(&artifact, Output::Score(Score::ZERO)), at(&artifact, Output::Score(Score::ONE)));
        assert!(0.1 < zero.lo && zero.hi < 0.35, "{zero:?}");
        assert!(one.lo > 0.95 && one.hi == 1.0, "{one:?}");
        let between = at(&artifact, Output::Score(Score::new(0.5).unwrap()));
        assert_eq!((between.lo, between.hi), (zero.lo, 1.0));
    }
    let codes: Vec<i64> = scores.iter().map(|&score| if score > 0.5 { 127 } else { -128 }).collect();
    let data = dataset(Scores::Codes(ScoreKind::Probability, I8, &codes), &labels);
    let fitted = fit(&data, &with(isotonic())).unwrap();
    let ask = |code| at(&fitted.artifact.artifact(), Output::Code(QuantizedScore::new(I8, code).unwrap()));
    assert!(ask(-128).lo > 0.1 && ask(-128).hi < 0.35 && ask(127).lo > 0.95 && ask(0).hi == 1.0);
}

#[test]
fn a_band_is_guaranteed_with_what_it_assumes() {
    let scores = scores();
    let labels = labels(&scores);
    let data = dataset(Scores::Binary(ScoreKind::Probability, scores.as_slice().into()), &labels);
    let band = "With at least 90% probability over the labels of the calibration set, the probability of an event lies in the \
         band for every score simultaneously. This holds if a higher score never means a lower probability.";
    let guaranteed = |options: FitOptions| guarantee_text(&fit(&data, &options).unwrap().artifact);
    let alone = guaranteed(with(isotonic()));
    assert_eq!(alone.statement, format!("{band} Nothing is guaranteed of the probability itself."));
    assert_eq!(alone.assumptions.len(), 4);
    assert!(alone.assumptions[3].full.contains("0.05"), "{:?}", alone.assumptions[3]);
    assert!(alone.limits.iter().all(|limit| !limit.full.contains("average")));
    let beside = guaranteed(with(isotonic()).intervals(true));
    assert!(
        beside.limits.iter().any(|limit| limit.full.contains("simultaneously with at least 80% probability"))
    );
    assert!(
        beside.statement.contains("every score range lies in its interval.")
            && beside.statement.ends_with(band)
    );
    let umd = guaranteed(with(BinaryMethod::Umd(Umd::new(5))));
    assert!(
        umd.statement.starts_with("With at least 90% probability over the draw")
            && umd.statement.ends_with(band)
    );
}

/// What the band of one prevalence says of another: the ends move as those of bins do.
#[test]
fn a_band_moves_with_the_prevalence() {
    let scores = scores();
    let labels = labels(&scores);
    let data = dataset(Scores::Binary(ScoreKind::Probability, scores.as_slice().into()), &labels);
    let before = fit(&data, &with(isotonic())).unwrap().artifact;
    let positives = labels.iter().sum::<i64>() as u64;
    let from = CalibrationPrevalence::Counted { positives, n: N as u64, alpha: 0.05 };
    let shift = Shift::new(from, 0.05).unwrap();
    let bytes = adjusted(&before, &Adjustment::new(shift).counter(1)).unwrap();
    let after = StoredArtifact::from_bytes(&bytes).unwrap();
    let (before, after) = (before.artifact(), after.artifact());
    assert!((after.band().unwrap().alpha() - 0.15).abs() < 1e-6);
    for &score in &scores {
        let output = Output::Score(Score::new(score).unwrap());
        let (old, new) = (at(&before, output), at(&after, output));
        let moved = shift.interval(Interval { lo: old.lo.into(), hi: old.hi.into() });
        assert!(rounds(moved, new), "{score}: {new:?}");
    }
}

#[test]
fn where_no_band_would_hold_none_is_stored() {
    let scores = scores();
    let labels = labels(&scores);
    let turned: Vec<f32> = scores.iter().map(|score| 1.0 - score).collect();
    let probabilities = |scores: &[f32]| Scores::Binary(ScoreKind::Probability, scores.to_vec().into());
    let refused = |data: &Dataset, options: FitOptions| -> NotFitted {
        match fit(data, &options) {
            Err(cause) => cause,
            Ok(Fitted { artifact, .. }) => panic!("{:?}", artifact.artifact().band()),
        }
    };
    let falling = Dataset::new(probabilities(&turned), Rows::new(&labels)).unwrap();
    let cause = refused(&falling, with(isotonic()));
    assert!(matches!(cause, NotFitted::Fit(FitError::NotMonotone { .. })), "{cause:?}");
    // Nobody asked, and 900 rows are enough: it is left out.
    let fitted = fit(&falling, &FitOptions::default().method(isotonic())).unwrap();
    assert_eq!(fitted.artifact.artifact().band(), None);

    let weights: Vec<f64> = (0..N).map(|row| 1.0 + hash(row, 9)).collect();
    let groups = RowGroups::new((0..N).map(|row| if row % 3 == 0 { "b" } else { "a" }));
    let rows = [
        Rows::new(&labels).weights(&weights[..]),
        Rows::new(&labels).groups(groups),
        Rows::new(&labels).classifiers(5),
    ];
    for rows in rows {
        let data = Dataset::new(probabilities(&scores), rows).unwrap();
        let cause = refused(&data, with(isotonic()));
        assert!(
            matches!(&cause, NotFitted::Options(why) if why.to_string().contains("leave out")),
            "{cause:?}"
        );
    }
    let logits: Vec<f32> = (0..3 * N).map(|at| 6.0 * hash(at, 3) as f32).collect();
    let truth: Vec<i64> = (0..N).map(|row| (row % 3) as i64).collect();
    let data = Dataset::new(Scores::Vectors(VectorKind::Logits, logits, 3), Rows::new(&truth)).unwrap();
    assert!(matches!(refused(&data, FitOptions::default().band(true)), NotFitted::Options(_)));
}
