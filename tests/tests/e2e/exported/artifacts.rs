//! The artifacts: every form and every reduction that has one as source code.

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm,
};
use calib_core::table::CodeTable;
use calib_core::{Identity, ScoreEncoding};
use calib_host::binary::{Blend, FixedWidth, Isotonic, ScalingMethod};
use calib_host::intervals::{self, Intervals};
use calib_host::reduction::{Problems, fit_reduction};
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, Fit, ReductionOptions, StoredArtifact, Umd, VectorKind,
    Vectors, artifact_bytes, fit_binary,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65_536.0, zero_point: 0 };
/// The number of classes of the reductions.
pub(crate) const CLASSES: usize = 7;

/// An artifact with a name of its own.
pub(crate) struct Exportable {
    pub(crate) name: String,
    pub(crate) stored: StoredArtifact,
}

fn exportable(name: &str, fit: &Fit, direct_table: bool) -> Exportable {
    let options = ArtifactOptions::default().direct_table(direct_table);
    let bytes = artifact_bytes(fit, &options).unwrap();
    Exportable { name: name.into(), stored: StoredArtifact::from_bytes(&bytes).unwrap() }
}

/// Scores up to 0.75, so that bins of equal width above are empty, with labels of probability `score^2`.
fn data(step: f64) -> BinaryData {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(23);
    let points = (0..2000).map(|_| {
        let score = (rng.random_range(0.0f64..0.75) / step).round() * step;
        (score, rng.random_bool(score * score))
    });
    let (scores, labels) = points.unzip();
    BinaryData::new(scores, labels).unwrap().on_device()
}

/// Probability vectors in which the last class is rarely first, so that it has too few points.
fn vectors() -> (Vectors, Vec<i64>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(29);
    let (mut probs, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..1500 {
        let mut row: Vec<f32> = (0..CLASSES).map(|_| rng.random_range(0.0f32..1.0).powi(4)).collect();
        row[CLASSES - 1] *= 0.3;
        let sum: f32 = row.iter().sum();
        row.iter_mut().for_each(|prob| *prob /= sum);
        let mut draw: f32 = rng.random();
        let label = row.iter().position(|prob| {
            draw -= prob;
            draw < 0.0
        });
        labels.push(label.unwrap_or(0) as i64);
        probs.extend(row);
    }
    (Vectors::new(probs, CLASSES, VectorKind::Probs).unwrap(), labels)
}

/// All of them.
pub(crate) fn all() -> Vec<Exportable> {
    let fine = data(1e-6);
    let umd = |bins| BinaryMethod::Umd(Umd::new(bins));
    let few = Isotonic { max_bins: Some(12), ..Isotonic::default() };
    let floats = [
        ("with_empty_bins", BinaryMethod::FixedWidth(FixedWidth { bins: 20 })),
        ("fixed_width", BinaryMethod::FixedWidth(FixedWidth { bins: 3 })),
        ("umd", umd(15)),
        ("one_bin", umd(1)),
        ("isotonic", BinaryMethod::Isotonic(Isotonic::default())),
        ("interpolated", BinaryMethod::IsotonicInterpolated(few)),
        ("centered", BinaryMethod::IsotonicCentered(few)),
        ("blend", BinaryMethod::Blend(Blend::new(0))),
        ("venn_abers", BinaryMethod::VennAbers),
        ("platt", BinaryMethod::Scaling(ScalingMethod::PlattLogit)),
        ("beta", BinaryMethod::Scaling(ScalingMethod::Beta)),
    ];
    let mut all: Vec<Exportable> = floats
        .iter()
        .map(|(name, method)| exportable(name, &fit_binary(&fine, method, 0.1).unwrap(), false))
        .collect();
    for (name, method) in [
        ("beta_in_steps", BinaryMethod::Scaling(ScalingMethod::Beta)),
        ("quadratic_in_steps", BinaryMethod::BayesianTargets(ScalingMethod::Quadratic)),
    ] {
        all.push(exportable(name, &fit_binary(&fine, &method, 0.1).unwrap().in_steps(), false));
    }
    // With scores that tie.
    let tied = fit_binary(&data(0.05), &BinaryMethod::UmdRandomized(Umd::new(10), 7), 0.1).unwrap();
    all.push(exportable("randomized", &tied, false));
    // A fifth of the scores are 0, which an edge divides.
    let zeros = fit_binary(&data(0.3), &BinaryMethod::UmdRandomized(Umd::new(10), 7), 0.1).unwrap();
    all.push(exportable("randomized_at_0", &zeros, false));
    let rounded = fit_binary(&fine.clone().rounded(), &umd(15), 0.1).unwrap().into_u16_table().unwrap();
    all.push(exportable("rounded", &rounded, false));
    for (name, encoding, step) in
        [("u8", U8, 1.0 / 255.0), ("i8", I8, 1.0 / 256.0), ("u16", U16, 1.0 / 65_536.0)]
    {
        let codes = || fit_binary(&data(step), &umd(10), 0.1).unwrap().quantized(encoding).unwrap();
        all.push(exportable(name, &codes(), false));
        all.push(exportable(&format!("{name}_compact"), &codes().into_u16_table().unwrap(), false));
        if name != "u16" {
            all.push(exportable(&format!("{name}_direct"), &codes(), true));
        }
    }
    let (vectors, labels) = vectors();
    let reduced = |reduction, method| {
        let problems = Problems::new(&vectors, &labels, reduction).unwrap();
        fit_reduction(&problems, &ReductionOptions::new(method).rows_per_bin(Some(30)), 0.1).unwrap()
    };
    let randomized = BinaryMethod::UmdRandomized(Umd::new(1), 7);
    for (name, reduction, method) in [
        ("confidence", Reduction::Confidence, umd(1)),
        ("top_label", Reduction::TopLabel, umd(1)),
        ("top_label_randomized", Reduction::TopLabel, randomized),
        ("class_wise", Reduction::ClassWise, BinaryMethod::IsotonicInterpolated(few)),
        ("normalized", Reduction::Normalized, umd(1)),
        ("normalized_randomized", Reduction::Normalized, randomized),
        ("top_k_label", Reduction::TopKLabel { k: 3 }, umd(1)),
        ("top_k_confidence", Reduction::TopKConfidence { k: 3 }, BinaryMethod::VennAbers),
    ] {
        all.push(exportable(name, &reduced(reduction, method), false));
    }
    all.extend(with_intervals(&fine, &vectors, &labels));
    all.push(Exportable { name: "top_label_u8".into(), stored: top_label_over_codes() });
    all.extend(super::margins::all());
    all
}

/// Every form with the intervals of its bins, or with those of ranges of the score.
fn with_intervals(fine: &BinaryData, vectors: &Vectors, labels: &[i64]) -> Vec<Exportable> {
    let of_bins = |name: &str, fit: &Fit, direct_table| {
        let options = ArtifactOptions::default().intervals(true).direct_table(direct_table);
        let bytes = artifact_bytes(fit, &options).unwrap();
        Exportable { name: name.into(), stored: StoredArtifact::from_bytes(&bytes).unwrap() }
    };
    let beside = |name: &str, fit: &Fit, found: Intervals| {
        let bytes = artifact_bytes(fit, &ArtifactOptions::default().score_intervals(Some(found))).unwrap();
        Exportable { name: name.into(), stored: StoredArtifact::from_bytes(&bytes).unwrap() }
    };
    let umd = |bins| BinaryMethod::Umd(Umd::new(bins));
    let few = Isotonic { max_bins: Some(12), ..Isotonic::default() };
    let fit = |data: &BinaryData, method| fit_binary(data, &method, 0.1).unwrap();
    let coarse = data(1.0 / 255.0);
    let codes = |method| fit(&coarse, method).quantized(U8).unwrap();
    let randomized = fit(&data(0.05), BinaryMethod::UmdRandomized(Umd::new(10), 7));
    let empty = fit(fine, BinaryMethod::FixedWidth(FixedWidth { bins: 20 }));
    let mut all = vec![
        of_bins("umd_intervals", &fit(fine, umd(10)), false),
        of_bins("intervals_and_empty_bins", &empty, false),
        of_bins("randomized_intervals", &randomized, false),
        of_bins("u8_intervals", &codes(umd(10)), false),
        of_bins("u8_direct_intervals", &codes(umd(10)), true),
        of_bins("compact_intervals", &fit(&fine.clone().rounded(), umd(10)).into_u16_table().unwrap(), false),
    ];
    let ranges = |data: &BinaryData| intervals::fit(data, 0.1).unwrap();
    let beta = BinaryMethod::Scaling(ScalingMethod::Beta);
    for (name, fit) in [
        ("beta_ranges", fit(fine, beta)),
        ("steps_ranges", fit(fine, beta).in_steps()),
        ("blend_ranges", fit(fine, BinaryMethod::Blend(Blend::new(0)))),
        ("interpolated_ranges", fit(fine, BinaryMethod::IsotonicInterpolated(few))),
        ("venn_abers_ranges", fit(fine, BinaryMethod::VennAbers)),
    ] {
        all.push(beside(name, &fit, ranges(fine)));
    }
    let rounded = fine.clone().rounded();
    let isotonic = BinaryMethod::Isotonic(few);
    all.push(beside("rounded_ranges", &fit(&rounded, isotonic).into_u16_table().unwrap(), ranges(&rounded)));
    all.push(beside("u8_ranges", &codes(beta), ranges(&coarse)));
    let (scores, of_margin): (Vec<f64>, Vec<bool>) =
        (0..900).map(|i| (f64::from(i) / 75.0 - 6.0, (i * 7919) % 900 < i)).unzip();
    let margins = BinaryData::of_margins(scores, of_margin).unwrap().on_device();
    let platt = BinaryMethod::Scaling(ScalingMethod::PlattMargin);
    all.push(beside("margin_steps_ranges", &fit(&margins, platt).in_steps(), ranges(&margins)));
    let problems = Problems::new(vectors, labels, Reduction::TopLabel).unwrap();
    let options = ReductionOptions::new(isotonic).rows_per_bin(Some(30));
    let top_label = fit_reduction(&problems, &options, 0.1).unwrap();
    let found = intervals::fit_problems(&problems, &top_label, 0.1).unwrap();
    all.push(beside("top_label_ranges", &top_label, found));
    all
}

/// What `calib fit` does not make: the classes' tables over codes, the last one missing.
fn top_label_over_codes() -> StoredArtifact {
    let tables: Vec<(Vec<u32>, Vec<f32>)> = (1..CLASSES as u32)
        .map(|class| {
            let edges: Vec<u32> = (1..=class).map(|bin| bin * 250 / (class + 1)).collect();
            let values = (0..=class).map(|bin| (bin as f32 + 0.3) / (class as f32 + 2.0)).collect();
            (edges, values)
        })
        .collect();
    let bins: usize = tables.iter().map(|(_, values)| values.len()).sum();
    let header = Header {
        method: Method::Umd,
        reduction: Reduction::TopLabel,
        encoding: U8,
        classes: CLASSES as u16,
        bins: bins as u32,
        n: 1000,
        guarantee: None,
        flags: HeaderFlags::CLASS_UNCALIBRATED,
        provenance: Provenance {
            data_sha256: [3; 32],
            tool_version: "test",
            parameters: "",
            classifier: None,
        },
    };
    let forms: Vec<Option<Table<'_>>> = tables
        .iter()
        .map(|(edges, values)| TableForm::Codes(CodeTable::new(edges, values, U8).unwrap()))
        .map(|form| Some(Table { form, epsilon: None }))
        .chain([None])
        .collect();
    let mut bytes = [0; 4096];
    let mut writer = ArtifactWriter::new(&mut bytes);
    writer.header(&header).unwrap();
    writer.tables(&forms).unwrap();
    StoredArtifact::from_bytes(writer.finish(|_| Identity(*b"identity")).unwrap()).unwrap()
}
