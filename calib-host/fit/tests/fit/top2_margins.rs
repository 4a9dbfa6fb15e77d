//! Top-label and confidence without a softmax: fits to the top-two margin.

use calib_core::artifact::{HeaderFlags, Reduction, TableForm, Theorem};
use calib_core::{Artifact, ScoreEncoding};
use calib_fit::apply::{Others, RandomWords, apply};
use calib_fit::data::CodeVectors;
use calib_fit::{
    ArtifactOptions, BinaryMethod, Fit, Isotonic, Problems, ReductionOptions, StoredArtifact, Umd,
    VectorKind, Vectors, artifact_bytes, fit_reduction,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const CLASSES: usize = 3;
const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };

fn stored(fit: &Fit) -> StoredArtifact {
    StoredArtifact::from_bytes(&artifact_bytes(fit, &ArtifactOptions::default()).unwrap()).unwrap()
}

fn by_points(rows_per_bin: usize) -> ReductionOptions {
    ReductionOptions::new(BinaryMethod::Umd(Umd::new(1))).rows_per_bin(Some(rows_per_bin))
}

/// The class and the top-two margin of a row, in f64 of the f32 difference.
fn top2_margin(row: &[f32]) -> (usize, f64) {
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
    (order[0], f64::from(row[order[0]] - row[order[1]]))
}

/// Checks every row against the model: its bin is that of the top-two margin among the fitted edges.
fn answers_as_fitted(fit: &Fit, artifact: &Artifact<'_>, vectors: &Vectors) {
    let rows = apply(artifact, vectors.into(), RandomWords::new(artifact, 0));
    for (row, applied) in vectors.rows().zip(rows) {
        let applied = applied.unwrap();
        assert_eq!(applied.others, Others::None);
        let applied = applied.first;
        let (class, top2_margin) = top2_margin(row);
        assert_eq!((usize::from(applied.class), f64::from(applied.score)), (class, top2_margin));
        let table = if fit.tables().len() == 1 { 0 } else { class };
        let Some(table) = &fit.tables()[table] else {
            assert!(applied.outcome.calibrated().is_none());
            continue;
        };
        let steps = table.model().steps().unwrap();
        let got = applied.outcome.calibrated().unwrap();
        assert_eq!(
            (usize::from(got.bin), got.prob),
            (steps.bin(top2_margin), steps.prob(top2_margin) as f32)
        );
    }
}

/// Logits as codes: few values, so that top-two margins tie.
fn coded_rows() -> impl Strategy<Value = (Vec<i64>, Vec<i64>)> {
    let row = (proptest::collection::vec(-128i64..128, CLASSES), 0i64..CLASSES as i64);
    proptest::collection::vec(row, 60..200).prop_map(|rows| {
        let (codes, labels): (Vec<Vec<i64>>, Vec<i64>) = rows.into_iter().unzip();
        (codes.concat(), labels)
    })
}

proptest! {
    /// The device finds the bins that were fitted, from floats and from codes alike.
    #[test]
    fn the_device_answers_as_fitted((codes, labels) in coded_rows(), rows_per_bin in 5usize..20) {
        let logits = codes.iter().map(|&code| 0.25 * (code - 10) as f32).collect();
        let logits = Vectors::new(logits, CLASSES, VectorKind::Logits).unwrap();
        let codes = CodeVectors::of_logits(&codes, CLASSES, I8).unwrap();
        for reduction in [Reduction::TopLabel, Reduction::Confidence] {
            for options in [
                by_points(rows_per_bin),
                ReductionOptions::new(BinaryMethod::Isotonic(Isotonic::default())),
            ] {
                let of_floats = Problems::of_top2_margins(&logits, &labels, reduction).unwrap();
                let of_codes = Problems::of_code_margins(&codes, &labels, reduction).unwrap();
                let Ok(fit) = fit_reduction(&of_floats, &options, 0.1) else { continue };
                prop_assert_eq!(&fit, &fit_reduction(&of_codes, &options, 0.1).unwrap());
                prop_assert!(fit.is_by_top2_margin());
                let fit = fit.with_score_summaries(of_floats.score_summaries());
                let floats = stored(&fit);
                prop_assert!(floats.artifact().header().flags.contains(HeaderFlags::TOP2_MARGIN));
                prop_assert_eq!(floats.artifact().header().encoding, ScoreEncoding::Margin);
                answers_as_fitted(&fit, &floats.artifact(), &logits);

                let quantized = stored(&fit.quantized(I8).unwrap());
                prop_assert_eq!(quantized.artifact().header().encoding, I8);
                let (of_codes, of_floats) = (quantized.artifact(), floats.artifact());
                let rows = apply(&of_codes, (&codes).into(), RandomWords::new(&of_codes, 0));
                let as_floats = apply(&of_floats, (&logits).into(), RandomWords::new(&of_floats, 0));
                for (coded, float) in rows.zip(as_floats) {
                    let (coded, float) = (coded.unwrap(), float.unwrap());
                    prop_assert_eq!((&coded.others, &float.others), (&Others::None, &Others::None));
                    let (coded, float) = (coded.first, float.first);
                    let prob = |outcome: calib_core::Outcome| outcome.calibrated().map(|c| (c.prob, c.flags));
                    prop_assert_eq!((coded.class, coded.score), (float.class, float.score));
                    prop_assert_eq!(prob(coded.outcome), prob(float.outcome));
                }
            }
        }
    }

    /// Adding a number to all logits of a row changes no top-two margin and no class, if nothing is rounded.
    #[test]
    fn a_shift_of_all_logits_changes_nothing((codes, labels) in coded_rows(), shift in -1000i32..1000) {
        let problems = |shift: i32| {
            let logits = codes.iter().map(|&code| code as f32 + shift as f32).collect();
            let logits = Vectors::new(logits, CLASSES, VectorKind::Logits).unwrap();
            Problems::of_top2_margins(&logits, &labels, Reduction::TopLabel).unwrap()
        };
        prop_assert_eq!(problems(shift), problems(0));
    }
}

/// Logits with heavy tails: ratios of normals would do; here a uniform number to the power of -1/2, with a sign.
fn heavy(rng: &mut Xoshiro256PlusPlus) -> f32 {
    let size = rng.random_range(1e-6f32..1.0).powf(-0.5) - 1.0;
    if rng.random_bool(0.5) { size } else { -size }
}

/// A row, and whether its prediction is right, with a probability that rises with the top-two margin.
fn draw(rng: &mut Xoshiro256PlusPlus) -> ([f32; CLASSES], i64) {
    let row = [(); CLASSES].map(|()| heavy(rng));
    let (class, top2_margin) = top2_margin(&row);
    // Class 2 is right less often, so that the tables of the classes differ.
    let ceiling = if class == 2 { 0.6 } else { 0.95 };
    let right = rng.random_bool(ceiling * top2_margin / (0.5 + top2_margin));
    let label = if right { class } else { (class + 1) % CLASSES };
    (row, label as i64)
}

/// Theorem 1 of Gupta and Ramdas 2022 holds for any score of the predicted class: over many calibration sets, the share in which a
/// bin is off by more than epsilon is not above alpha.
#[test]
fn the_guarantee_of_top_label_holds_for_top2_margins() {
    const SETS: usize = 300;
    const ROWS: usize = 900;
    const ALPHA: f64 = 0.2;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1962);
    let truth: Vec<(usize, f64, bool)> = (0..200_000)
        .map(|_| {
            let (row, label) = draw(&mut rng);
            let (class, top2_margin) = top2_margin(&row);
            (class, top2_margin, class as i64 == label)
        })
        .collect();
    let mut violations = 0;
    for _ in 0..SETS {
        let rows: Vec<_> = (0..ROWS).map(|_| draw(&mut rng)).collect();
        let logits = rows.iter().flat_map(|row| row.0).collect();
        let logits = Vectors::new(logits, CLASSES, VectorKind::Logits).unwrap();
        let labels: Vec<i64> = rows.iter().map(|row| row.1).collect();
        let problems = Problems::of_top2_margins(&logits, &labels, Reduction::TopLabel).unwrap();
        let fit = fit_reduction(&problems, &by_points(60), ALPHA).unwrap();
        let guarantee = fit.guarantee().unwrap();
        assert_eq!(guarantee.theorem, Theorem::ClopperPearson);
        let mut counts: Vec<Vec<(u32, u32)>> = fit
            .tables()
            .iter()
            .map(|table| vec![(0, 0); table.as_ref().map_or(0, |table| table.model().bins().len())])
            .collect();
        for &(class, top2_margin, hit) in &truth {
            let Some(table) = &fit.tables()[class] else { continue };
            let count = &mut counts[class][table.model().steps().unwrap().bin(top2_margin)];
            *count = (count.0 + 1, count.1 + u32::from(hit));
        }
        let is_off = |(table, counts): (&Option<calib_fit::fit::FittedTable>, &Vec<(u32, u32)>)| {
            let bins = table.as_ref().map_or(&[][..], |table| table.model().bins());
            bins.iter().zip(counts).any(|(bin, &(n, hits))| {
                n > 0 && (bin.value - f64::from(hits) / f64::from(n)).abs() > guarantee.epsilon
            })
        };
        violations += usize::from(fit.tables().iter().zip(&counts).any(is_off));
    }
    // At most alpha of them, and three standard deviations.
    let most = SETS as f64 * ALPHA + 3.0 * (SETS as f64 * ALPHA * (1.0 - ALPHA)).sqrt();
    assert!((violations as f64) < most, "{violations} of {SETS}");
}

#[test]
fn a_table_over_top2_margins_has_edges_from_0_up() {
    let codes: Vec<i64> = (0..300).flat_map(|i| [i % 128, i % 61, -128]).collect();
    let labels: Vec<i64> = (0..300).map(|i| i64::from(i % 3 == 0)).collect();
    let codes = CodeVectors::of_logits(&codes, CLASSES, I8).unwrap();
    let problems = Problems::of_code_margins(&codes, &labels, Reduction::Confidence).unwrap();
    let fit = fit_reduction(&problems, &by_points(50), 0.1)
        .unwrap()
        .with_score_summaries(problems.score_summaries());
    let stored = stored(&fit.quantized(I8).unwrap());
    let artifact = stored.artifact();
    let TableForm::Codes(table) = artifact.tables().get(0).unwrap().form else { panic!("not over codes") };
    assert!(table.edges().len() > 1 && table.edges().iter().all(|&edge| edge <= 128), "{:?}", table.edges());
    let [least, greatest] = artifact.tables().score_range(0).unwrap();
    assert!(least == 0 && greatest < 128, "{least} {greatest}");
}
