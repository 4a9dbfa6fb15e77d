//! The laws of binary margins: order is all that counts, the device sees what was fitted, and guarantees hold.

use calib_core::artifact::TableForm;
use calib_core::score::ScoreError;
use calib_core::{Artifact, BinFlags, Calibrator, Margin, QuantizedScore, Score, ScoreEncoding};
use calib_fit::apply::{Applied, Outputs, RandomWords, calibrate};
use calib_fit::artifact::score_kind;
use calib_fit::binary::{
    BinnedModel, Boundary, BoundaryPoints, FixedRange, FixedWidth, Loss, Model, ScalingBinning, ScalingModel,
    Ums,
};
use calib_fit::data::DataError;
use calib_fit::{
    ArtifactOptions, BinaryData, BinaryMethod, Fit, FitError, Isotonic, ScalingMethod, ScoreKind,
    StoredArtifact, Umd, WeightedData, artifact_bytes, fit_binary, fit_weighted,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Methods that need no more than the order of the scores.
fn methods_of_order(bins: usize, seed: u64) -> Vec<BinaryMethod> {
    let umd = Umd::new(bins);
    let kept = Umd { boundary_points: BoundaryPoints::Kept, ..umd };
    vec![
        BinaryMethod::Umd(umd),
        BinaryMethod::Umd(Umd { boundary: Boundary::Floor, ..umd }),
        BinaryMethod::Umd(kept),
        BinaryMethod::UmdRandomized(umd, seed),
        BinaryMethod::UmdRandomized(kept, seed),
        BinaryMethod::Ums(Ums { bins, seed }),
        BinaryMethod::Isotonic(Isotonic::default()),
        BinaryMethod::Isotonic(Isotonic { max_bins: Some(bins), smoothing: 0.5 }),
        BinaryMethod::IsotonicInterpolated(Isotonic::default()),
        BinaryMethod::VennAbers,
    ]
}

fn methods_of_margins(bins: usize, seed: u64) -> Vec<BinaryMethod> {
    let scaling = ScalingMethod::PlattMargin;
    let split = ScalingBinning { scaling, loss: Loss::Log, bins, split_seed: Some(seed) };
    let mut methods = methods_of_order(bins, seed);
    methods.extend([
        BinaryMethod::FixedRange(FixedRange { bins, lowest: -2.0, highest: 3.0 }),
        BinaryMethod::ScalingBinning(split),
        BinaryMethod::ScalingBinning(ScalingBinning { split_seed: None, loss: Loss::Squared, ..split }),
        BinaryMethod::Scaling(scaling),
        BinaryMethod::Scaling(ScalingMethod::TemperatureMargin),
        BinaryMethod::BayesianTargets(scaling),
        BinaryMethod::LeastSquares(scaling),
        BinaryMethod::LeastSquares(ScalingMethod::TemperatureMargin),
        BinaryMethod::Scaling(ScalingMethod::QuadraticMargin),
        BinaryMethod::Unchanged,
    ]);
    methods
}

fn stored(fit: &Fit) -> StoredArtifact {
    let options = ArtifactOptions::default().intervals(true);
    StoredArtifact::from_bytes(&artifact_bytes(fit, &options).unwrap()).unwrap()
}

fn applied<'r>(artifact: &Artifact<'r>, outputs: impl Into<Outputs<'r>>, seed: u64) -> Vec<Applied> {
    calibrate(artifact, outputs.into(), RandomWords::new(artifact, seed)).unwrap()
}

fn fitted(margins: &[f32], labels: &[bool], method: &BinaryMethod) -> Result<Fit, FitError> {
    let margins = margins.iter().map(|&margin| margin.into()).collect();
    let data = BinaryData::of_margins(margins, labels.to_vec()).unwrap().on_device();
    let spread = data.score_summary().unwrap();
    Ok(fit_binary(&data, method, 0.1)?.with_score_summaries([Some(spread)]))
}

/// What a fit rests on, whatever the scale of its scores.
#[derive(Debug, PartialEq)]
struct FitEvidence {
    /// Points, positives, and the value unless there are no points: it is then arbitrary.
    bins: Vec<(u64, u64, Option<f64>)>,
    /// The values of what has no bins.
    values: Vec<f64>,
    epsilon: Option<f64>,
}

fn evidence(fit: &Fit) -> FitEvidence {
    let table = fit.tables()[0].as_ref().unwrap();
    let bins = table.model().bins().iter();
    let bins = bins.map(|bin| (bin.n, bin.positives, (bin.n > 0).then_some(bin.value))).collect();
    let values = match table.model() {
        Model::Interpolated(line) => line.values.clone(),
        Model::VennAbers(table) => [&table.p0[..], &table.p1].concat(),
        _ => Vec::new(),
    };
    FitEvidence { bins, values, epsilon: table.epsilon() }
}

/// Margins of all sizes, both zeros, and equal ones.
fn margin() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -4.0f32..4.0,
        2 => (-3i32..4).prop_map(|whole| whole as f32),
        1 => any::<f32>().prop_filter("finite", |value| value.is_finite()),
        1 => prop::sample::select(vec![0.0, -0.0, f32::MAX, f32::MIN, 1e-45, -1e-45, f32::MIN_POSITIVE]),
    ]
}

fn rows() -> impl Strategy<Value = (Vec<f32>, Vec<bool>)> {
    proptest::collection::vec((margin(), any::<bool>()), 60..150)
        .prop_map(|rows| rows.into_iter().unzip())
        .prop_filter("both labels", |(_, labels): &(Vec<f32>, Vec<bool>)| {
            labels.contains(&true) && labels.contains(&false)
        })
}

/// All edges, one ulp on either side, the ends, subnormals and both zeros.
fn probes(edges: &[f32]) -> Vec<Margin> {
    let around = edges.iter().flat_map(|&edge| [edge.next_down(), edge, edge.next_up()]);
    let ends = [f32::MIN, f32::MAX, 0.0, -0.0, 1e-45, -1e-45, -3.5, 0.25, f32::MIN_POSITIVE];
    around.chain(ends).filter_map(|value| Margin::new(value).ok()).collect()
}

/// What the model says to a margin and a word: bin and probability.
fn said(model: &Model, margin: f64, word: u32) -> (Option<usize>, f64) {
    match model {
        Model::Steps(steps) => (Some(steps.bin(margin)), steps.prob(margin)),
        Model::Randomized(steps) => {
            let bin = steps.bin(margin, word);
            (Some(bin), steps.bins[bin].value)
        }
        Model::Interpolated(line) => {
            let above = line.scores.partition_point(|&knot| knot <= margin);
            let prob = match (above.checked_sub(1), line.scores.get(above)) {
                (None, _) => line.values[0],
                (Some(below), None) => line.values[below],
                (Some(below), Some(&x)) => {
                    let share = (margin - line.scores[below]) / (x - line.scores[below]);
                    line.values[below] + share * (line.values[above] - line.values[below])
                }
            };
            (Some(above), prob)
        }
        Model::VennAbers(table) => {
            let bin = table.edges.partition_point(|&edge| edge <= margin);
            let (p0, p1) = (table.p0[bin], table.p1[bin]);
            (Some(bin), p1 / (1.0 - p0 + p1))
        }
        Model::Scaling(model) => (None, model.prob(margin)),
        other => panic!("{other:?}"),
    }
}

fn f32_edges(artifact: &Artifact<'_>) -> Vec<f32> {
    artifact.tables().get(0).unwrap().form.edges().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Fitted to probabilities and to any increasing function of them, bins have the same points, values and epsilon.
    #[test]
    fn only_the_order_counts(
        raw in proptest::collection::vec((1u32..60, any::<bool>()), 60..120), bins in 1usize..8, seed in any::<u64>(),
    ) {
        prop_assume!(raw.iter().any(|row| row.1) && raw.iter().any(|row| !row.1));
        let probs: Vec<f64> = raw.iter().map(|row| f64::from(row.0 as f32 / 60.0)).collect();
        let labels: Vec<bool> = raw.iter().map(|row| row.1).collect();
        let maps: [fn(f64) -> f64; 3] = [|p| (p / (1.0 - p)).ln(), |p| 1e30 * (p - 0.4).powi(3), |p| 1e-40 * p - 5e-41];
        for method in methods_of_order(bins, seed) {
            let of_probs = fit_binary(&BinaryData::new(probs.clone(), labels.clone()).unwrap().on_device(), &method, 0.1);
            for map in maps {
                let margins: Vec<f32> = probs.iter().map(|&p| map(p) as f32).collect();
                let of_margins = fitted(&margins, &labels, &method);
                match (&of_probs, &of_margins) {
                    (Ok(a), Ok(b)) => {
                        let (a, b) = (evidence(a), evidence(b));
                        // Right above the score 1 there is no probability, but a margin.
                        prop_assert_eq!(a, b, "{:?}", method);
                    }
                    (Err(a), Err(b)) => prop_assert_eq!(a, b),
                    other => prop_assert!(false, "{other:?}"),
                }
            }
        }
    }

    /// What the device says to every edge, one ulp beside it and the ends is what the model says, and both zeros are one.
    #[test]
    fn the_device_says_what_was_fitted((margins, labels) in rows(), bins in 1usize..6, seed in any::<u64>()) {
        for method in methods_of_margins(bins, seed) {
            let Ok(fit) = fitted(&margins, &labels, &method) else { continue };
            let model = &fit.tables()[0].as_ref().unwrap().model();
            let Ok(bytes) = artifact_bytes(&fit, &ArtifactOptions::default()) else {
                // A slope or an intercept may be too large for an f32, and nothing else.
                prop_assert!(matches!(model, Model::Scaling(_)), "{method:?}");
                continue;
            };
            let stored = StoredArtifact::from_bytes(&bytes).unwrap();
            let artifact = stored.artifact();
            prop_assert_eq!(artifact.header().encoding, ScoreEncoding::Margin);
            prop_assert_eq!(score_kind(&artifact), ScoreKind::Margin);
            let words = RandomWords::new(&artifact, 0);
            prop_assert!(calibrate(&artifact, [Score::ZERO][..].into(), words).is_err());
            let probes = probes(&f32_edges(&artifact));
            let rows = applied(&artifact, &probes[..], seed);
            for (probe, row) in probes.iter().zip(&rows) {
                let (bin, prob) = said(model, probe.get().into(), row.word.unwrap_or(u32::MAX));
                prop_assert_eq!(row.score, probe.get());
                let Some(calibrated) = row.outcome.calibrated() else {
                    prop_assert_eq!(model.bins()[bin.unwrap()].n, 0);
                    continue;
                };
                if let Some(bin) = bin {
                    prop_assert_eq!(usize::from(calibrated.bin), bin, "{:?} {:?}", method, probe);
                }
                if model.bins().is_empty() {
                    // A parabola's terms may cancel each other, but not more digits than they have.
                    let terms = match model {
                        Model::Scaling(ScalingModel::QuadraticMargin { a, b, scale, shift, .. }) => {
                            let u = f64::from(probe.get()) * scale + shift;
                            (a * u * u).abs() + (b * u).abs()
                        }
                        _ => 0.0,
                    };
                    let tolerance = 1e-4 + 1e-7 * terms;
                    prop_assert!((f64::from(calibrated.prob) - prob).abs() < tolerance, "{method:?} {probe:?} {calibrated:?} {prob}");
                } else {
                    prop_assert_eq!(calibrated.prob, prob as f32);
                }
                let is_beyond = margins.iter().all(|&m| m < probe.get()) || margins.iter().all(|&m| m > probe.get());
                prop_assert_eq!(calibrated.flags.contains(BinFlags::OUT_OF_RANGE), is_beyond);
            }
        }
    }

    /// A table of 16-bit numbers says to a margin what was fitted to the margins that the device takes for one.
    #[test]
    fn a_table_of_16_bits_gives_what_was_fitted((margins, labels) in rows()) {
        let wide = margins.iter().map(|&margin| margin.into()).collect();
        let data = BinaryData::of_margins(wide, labels).unwrap().rounded();
        for method in [BinaryMethod::Umd(Umd::new(5)), BinaryMethod::Isotonic(Isotonic::default())] {
            let fit = fit_binary(&data, &method, 0.1).unwrap().with_score_summaries([Some(data.score_summary().unwrap())]);
            let fit = fit.into_u16_table().unwrap();
            let stored = stored(&fit);
            let artifact = stored.artifact();
            prop_assert_eq!(artifact.header().encoding, ScoreEncoding::RoundedMargin);
            let probes: Vec<Margin> = margins.iter().flat_map(|&m| [m.next_down(), m, m.next_up()])
                .filter_map(|m| Margin::new(m).ok()).collect();
            let steps = fit.tables()[0].as_ref().unwrap().model().steps().unwrap();
            for (probe, row) in probes.iter().zip(applied(&artifact, &probes[..], 0)) {
                let seen = Margin::from_key(u32::from(probe.rounded_key()) << 16).unwrap().get();
                let calibrated = row.outcome.calibrated().unwrap();
                prop_assert_eq!(usize::from(calibrated.bin), steps.bin(seen.into()), "{:?} {:?}", method, probe);
                prop_assert_eq!(f64::from(calibrated.prob), steps.prob(seen.into()));
            }
            let seen: Vec<Margin> = margins.iter().map(|&m| Margin::new(m).unwrap()).collect();
            for row in applied(&artifact, &seen[..], 0) {
                prop_assert!(!row.outcome.calibrated().unwrap().flags.contains(BinFlags::OUT_OF_RANGE));
            }
        }
    }

    /// The same fit for rows in any order, and for -0.0 in place of 0.0; a negative zero is never an edge.
    #[test]
    fn both_zeros_are_one((margins, labels) in rows(), bins in 1usize..6, seed in any::<u64>()) {
        let turned: Vec<f32> = margins.iter().rev().map(|&m| if m == 0.0 { -m } else { m }).collect();
        let turned_labels: Vec<bool> = labels.iter().rev().copied().collect();
        for method in methods_of_margins(bins, seed) {
            let (fit, other) = (fitted(&margins, &labels, &method), fitted(&turned, &turned_labels, &method));
            prop_assert_eq!(&fit, &other);
            if let Ok(bytes) = fit.map(|fit| artifact_bytes(&fit, &ArtifactOptions::default()).ok()) {
                prop_assert_eq!(bytes, other.map(|fit| artifact_bytes(&fit, &ArtifactOptions::default()).ok()).unwrap());
            }
        }
    }

    /// Every code of an encoding has the bin, or the probability, of the number that it stands for, in [0, 1] or not.
    #[test]
    fn codes_stand_for_any_finite_number(
        rows in proptest::collection::vec((any::<i8>(), any::<bool>()), 60..150), zero_point in -128i32..128,
        scale in prop::sample::select(vec![0.5f32, 1e-42, 3e35, 0.007]), bins in 1usize..6,
    ) {
        prop_assume!(rows.iter().any(|row| row.1) && rows.iter().any(|row| !row.1));
        let encoding = ScoreEncoding::I8 { scale, zero_point };
        let code = |code: i32| QuantizedScore::new(encoding, code).unwrap();
        let margins: Vec<f32> = rows.iter().map(|row| code(row.0.into()).dequantized()).collect();
        let labels: Vec<bool> = rows.iter().map(|row| row.1).collect();
        for method in methods_of_margins(bins, 1) {
            let Ok(fit) = fitted(&margins, &labels, &method) else { continue };
            let Ok(quantized) = fit.clone().quantized(encoding) else {
                let model = &fit.tables()[0].as_ref().unwrap().model();
                prop_assert!(matches!(model, Model::VennAbers(_) | Model::Randomized(_) | Model::Scaling(_)));
                continue;
            };
            let stored_codes = stored(&quantized);
            prop_assert_eq!(score_kind(&stored_codes.artifact()), ScoreKind::Margin);
            let stored_margins = stored(&fit);
            let codes: Vec<QuantizedScore> = (-128..128).map(code).collect();
            let by_code = applied(&stored_codes.artifact(), &codes[..], 0);
            let margins: Vec<Margin> = codes.iter().map(|code| Margin::new(code.dequantized()).unwrap()).collect();
            for (a, b) in by_code.iter().zip(applied(&stored_margins.artifact(), &margins[..], 0)) {
                let of = |row: &calib_fit::apply::Applied| row.outcome.calibrated().map(|c| (c.prob, c.epsilon, c.interval, c.flags));
                prop_assert_eq!(of(a), of(&b), "{:?} {}", method, b.score);
                prop_assert_eq!(a.score, b.score);
            }
        }
    }

    /// The gradient of the log-loss vanishes, on a scale on which the margins that matter are of order one.
    #[test]
    fn logistic_functions_are_stationary(
        raw in proptest::collection::vec((-300i32..300, 0u32..100), 30..120), scale in prop::sample::select(vec![1.0f64, 1e-6, 1e9]),
        shift in prop::sample::select(vec![0.0f64, 1e4]), tail in prop::sample::select(vec![1, 5]), steep in 20i32..200,
    ) {
        let margin = |raw: i32| (f64::from(raw) / 100.0).powi(tail) * scale + shift * scale;
        let rows: Vec<(f64, bool)> = raw.iter().map(|&(m, u)| (margin(m), (u as i32) < 50 + m * 50 / (steep + m.abs()))).collect();
        let (margins, labels): (Vec<f64>, Vec<bool>) = rows.iter().copied().unzip();
        let Ok(data) = BinaryData::of_margins(margins, labels) else { panic!() };
        for method in [ScalingMethod::PlattMargin, ScalingMethod::TemperatureMargin] {
            let Ok(fit) = fit_binary(&data, &BinaryMethod::Scaling(method), 0.1) else { continue };
            let Model::Scaling(model) = &fit.tables()[0].as_ref().unwrap().model() else { panic!() };
            let weight = |m: f64| model.prob(m) * (1.0 - model.prob(m));
            let sum = |of: &dyn Fn(f64, bool) -> f64| rows.iter().map(|&(m, y)| of(m, y)).sum::<f64>();
            let all = sum(&|m, _| weight(m));
            let has_intercept = method == ScalingMethod::PlattMargin;
            let mean = if has_intercept { sum(&|m, _| weight(m) * m) / all } else { 0.0 };
            let spread = (sum(&|m, _| weight(m) * (m - mean).powi(2)) / all).sqrt();
            let residual = |m: f64, y: bool| model.prob(m) - f64::from(u8::from(y));
            let slope = sum(&|m, y| residual(m, y) * (m - mean) / spread) / rows.len() as f64;
            prop_assert!(slope.abs() < 1e-9, "{method:?} {slope:e}");
            let offset = sum(&residual) / rows.len() as f64;
            prop_assert!(!has_intercept || offset.abs() < 1e-9, "{offset:e}");
        }
    }
}

#[test]
fn what_is_no_margin_is_refused_with_its_row() {
    let new = |bad: f64| BinaryData::of_margins(vec![0.5, bad], vec![true, false]);
    let cause = |cause| Err(DataError::Score { row: 1, cause });
    assert_eq!(new(f64::NAN), cause(ScoreError::NaN));
    for beyond in [f64::INFINITY, f64::NEG_INFINITY, 1e300, 3.5e38] {
        assert_eq!(new(beyond), cause(ScoreError::Infinite), "{beyond}");
    }
    assert!(new(f64::from(f32::MIN)).is_ok());
    assert_eq!(BinaryData::of_margins(vec![], vec![]), Err(DataError::Empty));
    let weighted = WeightedData::of_margins(&[(1.0, 1.0, true), (f64::INFINITY, 1.0, false)]);
    assert_eq!(weighted, cause(ScoreError::Infinite).map(|_: BinaryData| unreachable!()));
}

#[test]
fn methods_of_the_other_kind_are_refused() {
    let labels = || vec![false, true, false, true, true, false];
    let margins = BinaryData::of_margins(vec![-3.0, -1.0, 0.5, 2.0, 5.0, 0.25], labels()).unwrap();
    let probs = BinaryData::new(vec![0.1, 0.2, 0.4, 0.6, 0.9, 0.3], labels()).unwrap();
    let binning = |scaling| {
        BinaryMethod::ScalingBinning(ScalingBinning { scaling, loss: Loss::Log, bins: 2, split_seed: None })
    };
    for method in [
        BinaryMethod::FixedWidth(FixedWidth { bins: 2 }),
        BinaryMethod::Scaling(ScalingMethod::Beta),
        BinaryMethod::Scaling(ScalingMethod::PlattLogit),
        BinaryMethod::LeastSquares(ScalingMethod::PlattProb),
        BinaryMethod::BayesianTargets(ScalingMethod::Temperature),
        binning(ScalingMethod::Beta),
    ] {
        let refused = fit_binary(&margins, &method, 0.1).unwrap_err();
        assert!(
            refused.is_about_options() && refused.to_string().contains("is for probabilities"),
            "{refused}"
        );
    }
    for method in [
        BinaryMethod::FixedRange(FixedRange { bins: 2, lowest: 0.0, highest: 1.0 }),
        BinaryMethod::Scaling(ScalingMethod::PlattMargin),
        binning(ScalingMethod::TemperatureMargin),
    ] {
        let refused = fit_binary(&probs, &method, 0.1).unwrap_err();
        assert!(matches!(refused, FitError::ScoreKind { given: ScoreKind::Probability, .. }), "{refused}");
    }
}

#[test]
fn bins_of_a_range_reach_beyond_it() {
    let margins: Vec<f32> = vec![-9.0, -1.5, -0.5, -0.25, 0.0, 0.75, 40.0, 50.0];
    let labels = [false, false, true, false, false, true, true, true];
    let range = |lowest, highest, bins| BinaryMethod::FixedRange(FixedRange { bins, lowest, highest });
    let fit = fitted(&margins, &labels, &range(-2.0, 2.0, 4)).unwrap();
    let steps = fit.tables()[0].as_ref().unwrap().model().steps().unwrap();
    assert_eq!(steps.edges, [-1.0, 0.0, 1.0]);
    let counts =
        |steps: &BinnedModel| steps.bins.iter().map(|bin| (bin.n, bin.positives)).collect::<Vec<_>>();
    assert_eq!(counts(steps), [(2, 0), (2, 1), (2, 1), (2, 2)]);
    // A bin without points is uncalibrated, whatever its value is.
    let fit = fitted(&margins, &labels, &range(-2.0, 20.0, 11)).unwrap();
    let stored = stored(&fit);
    let rows = applied(&stored.artifact(), &[Margin::new(7.0).unwrap()][..], 0);
    assert_eq!(rows[0].flags(), "empty-bin");
    for (lowest, highest) in
        [(1.0, 1.0), (2.0, 1.0), (f32::NAN, 1.0), (0.0, f32::INFINITY), (1.0, 1.0f32.next_up())]
    {
        let refused = fitted(&margins, &labels, &range(lowest, highest, 4));
        assert!(matches!(refused, Err(FitError::Range { .. })), "{lowest} {highest}");
    }
}

#[test]
fn weights_and_tables_of_counts_take_margins() {
    let rows = [(-3.0, 1.0, false), (-1.0, 2.0, true), (0.5, 1.0, false), (2.0, 2.0, true)];
    let method = BinaryMethod::Scaling(ScalingMethod::PlattMargin);
    let weighted = fit_weighted(&WeightedData::of_margins(&rows).unwrap(), &method, 0.1).unwrap();
    let counts = rows.iter().map(|&(m, w, y)| (m, w as u64, if y { w as u64 } else { 0 })).collect();
    let counted = fit_binary(&BinaryData::of_margin_counts(counts).unwrap(), &method, 0.1).unwrap();
    let model = |fit: &Fit| fit.tables()[0].as_ref().unwrap().model().clone();
    let (
        Model::Scaling(ScalingModel::PlattMargin { a, b }),
        Model::Scaling(ScalingModel::PlattMargin { a: c, b: d }),
    ) = (model(&weighted), model(&counted))
    else {
        panic!()
    };
    assert!((a - c).abs() < 1e-12 && (b - d).abs() < 1e-12, "{a} {b} {c} {d}");
    assert_eq!((weighted.scores(), counted.scores()), (ScoreKind::Margin, ScoreKind::Margin));
}

#[test]
fn codes_beyond_the_largest_float_are_refused() {
    let margins = [-3.0, -1.0, 0.5, 2.0];
    let fit = fitted(&margins, &[false, true, false, true], &BinaryMethod::Umd(Umd::new(2))).unwrap();
    let refused = fit.quantized(ScoreEncoding::I16 { scale: 1e36, zero_point: 0 });
    assert!(refused.unwrap_err().to_string().contains("the scale is too large"));
}

/// Against scikit-learn 1.9 (`_sigmoid_calibration` for Bayesian targets, whose example is LibSVM's) and the
/// closed form of two margins for labels: logits of the rates.
#[test]
fn platt_on_margins_is_platts_own_form() {
    let rows = vec![(5.0, 1, 1), (-4.0, 1, 0), (1.0, 1, 0)];
    let model = |rows, method| {
        let fit = fit_binary(&BinaryData::of_margin_counts(rows).unwrap(), &method, 0.1).unwrap();
        match fit.tables()[0].as_ref().unwrap().model() {
            Model::Scaling(ScalingModel::PlattMargin { a, b }) => [*a, *b],
            ref other => panic!("{other:?}"),
        }
    };
    let [a, b] = model(rows, BinaryMethod::BayesianTargets(ScalingMethod::PlattMargin));
    assert!((a - 0.202_615).abs() < 1e-5 && (b + 0.652_367).abs() < 1e-5, "{a} {b}");
    let two = vec![(-30.0, 10, 2), (50.0, 10, 9)];
    let [a, b] = model(two, BinaryMethod::Scaling(ScalingMethod::PlattMargin));
    let (low, high) = ((0.2f64 / 0.8).ln(), (0.9f64 / 0.1).ln());
    assert!((a - (high - low) / 80.0).abs() < 1e-12 && (b - (low + 30.0 * a)).abs() < 1e-12, "{a} {b}");
}

/// Theorem 3 of Gupta and Ramdas (2021) holds for margins: in no more than a share alpha of draws is any bin farther from its
/// truth than epsilon, whatever the distribution.
#[test]
fn the_guarantee_holds_for_margins_with_heavy_tails_and_atoms() {
    const DRAWS: u64 = 400;
    const N: usize = 300;
    let alpha = 0.2;
    // The truth has one rate per range of margins, so that the truth of a bin is a mean over the distribution: it is found from a
    // large sample that no fit sees.
    let truth = |margin: f64| 0.5 + (margin / 3.0).atan() / std::f64::consts::PI;
    let cauchy = |u: f64| (std::f64::consts::PI * (u - 0.5)).tan() as f32;
    let with_atoms = |u: f64| if u < 0.3 { 0.0 } else { cauchy((u - 0.3) / 0.7) };
    type Draw<'d> = (&'static str, &'d dyn Fn(f64) -> f32, bool);
    let draws: [Draw<'_>; 2] = [("Cauchy", &cauchy, false), ("Cauchy and an atom at 0", &with_atoms, true)];
    for (name, draw, randomize) in draws {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let reference: Vec<f32> = (0..60_000).map(|i| draw((f64::from(i) + 0.5) / 60_000.0)).collect();
        let reference: Vec<Margin> = reference.into_iter().map(|m| Margin::new(m).unwrap()).collect();
        let mut violations = 0;
        for seed in 0..DRAWS {
            let margins: Vec<f32> = (0..N).map(|_| draw(rng.random())).collect();
            let labels: Vec<bool> = margins.iter().map(|&m| rng.random::<f64>() < truth(m.into())).collect();
            let method = match randomize {
                true => BinaryMethod::UmdRandomized(Umd::new(6), seed),
                false => BinaryMethod::Umd(Umd::new(6)),
            };
            let fit = fitted(&margins, &labels, &method).unwrap();
            let epsilon = fit_binary_epsilon(&fit, alpha);
            let bins = fit.tables()[0].as_ref().unwrap().model().bins();
            let mut sums = vec![(0.0, 0.0); bins.len()];
            for (row, margin) in
                applied(&stored(&fit).artifact(), &reference[..], seed).iter().zip(&reference)
            {
                let sum = &mut sums[usize::from(row.outcome.calibrated().unwrap().bin)];
                *sum = (sum.0 + 1.0, sum.1 + truth(margin.get().into()));
            }
            let is_off = |(bin, sum): (&calib_fit::binary::Bin, &(f64, f64))| {
                sum.0 > 0.0 && (bin.value - sum.1 / sum.0).abs() > epsilon
            };
            violations += u64::from(bins.iter().zip(&sums).any(is_off));
        }
        // The upper end of the 99.9 % binomial interval around alpha.
        let room = 3.3 * (alpha * (1.0 - alpha) * DRAWS as f64).sqrt();
        assert!(violations as f64 <= alpha * DRAWS as f64 + room, "{name}: {violations} of {DRAWS}");
        println!("{name}: {violations} of {DRAWS}");
    }
}

/// The epsilon of Theorem 3 for 300 points in 6 bins at another alpha.
fn fit_binary_epsilon(fit: &Fit, alpha: f64) -> f64 {
    let guarantee = fit.guarantee().expect("ties are broken at random");
    let stated = |alpha: f64| (2.0 * 6.0 / alpha).ln();
    guarantee.epsilon * (stated(alpha) / stated(guarantee.alpha)).sqrt()
}

/// The kinds of table forms of margins that artifacts hold.
#[test]
fn every_form_of_margins_is_written() {
    let mut forms = Vec::new();
    let margins: Vec<f32> = (0..200).map(|i| (i as f32 - 100.0) / 7.0).collect();
    let labels: Vec<bool> = (0..200).map(|i| i * 31 % 40 < i / 5).collect();
    for method in methods_of_margins(4, 3) {
        let fit = fitted(&margins, &labels, &method).unwrap();
        let stored = stored(&fit);
        let artifact = stored.artifact();
        assert!(matches!(artifact.calibrator(), Calibrator::BinaryMargin(_)));
        forms.push(match artifact.tables().get(0).unwrap().form {
            TableForm::MarginSteps(_) => "steps",
            TableForm::MarginRandomized(_) => "randomized",
            TableForm::MarginInterpolated(_) => "interpolated",
            TableForm::MarginScaling(_) => "function",
            TableForm::MarginVennAbers(_) => "venn-abers",
            other => panic!("{other:?}"),
        });
        assert_eq!(calib_fit::assess::flaws(&artifact), [], "{method:?}");
        let turned: Vec<bool> = labels.iter().map(|label| !label).collect();
        if let (Ok(fit), BinaryMethod::Umd(_) | BinaryMethod::Scaling(ScalingMethod::PlattMargin)) =
            (fitted(&margins, &turned, &method), &method)
        {
            let falls = calib_fit::assess::flaws(&self::stored(&fit).artifact());
            assert_eq!(falls[0], calib_fit::assess::Flaw::Falls { of: None }, "{method:?}");
        }
    }
    forms.sort_unstable();
    forms.dedup();
    assert_eq!(forms, ["function", "interpolated", "randomized", "steps", "venn-abers"]);
}
