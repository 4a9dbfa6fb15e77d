//! Class-wise and normalized binning on CIFAR-10, against reference values and against each other (Gupta and Ramdas 2022).

use anyhow::{Context, Result, ensure};
use calib_core::artifact::Reduction;
use calib_host::apply::RandomWords;
use calib_host::assess::{AssessOptions, Binning, Prediction, PredictionKind, assess};
use calib_host::binary::Boundary;
use calib_host::reduction::{Problems, fit_reduction};
use calib_host::{
    ArtifactOptions, BinaryMethod, ReductionOptions, StoredArtifact, Umd, VectorKind, Vectors, apply,
    artifact_bytes,
};
use serde_json::Value;

use super::{Comparison, float, floats, steps};

const BINS: usize = 15;
/// The temperature that the reference was computed with.
const TEMPERATURE: f64 = 1.1;
/// It was computed in f32.
const SINGLE_PRECISION: f64 = 1e-8;

/// Logits with their labels, to fit and to judge.
pub(super) struct Parts<'a> {
    pub(super) cal: (&'a Vectors, &'a [i64]),
    pub(super) test: (&'a Vectors, &'a [i64]),
}

/// Every class's probability for a row, with the bin it came from, or 0.
type Rows = Vec<Vec<(f64, u32)>>;

/// What temperature scaling reaches, to be beaten.
pub(super) struct Findings {
    temperature_tl_ece: f64,
    temperature_tl_mce_bin: f64,
}

/// Compares class-wise and normalized binning, in f64 scores and as the device computes them, and fails if one of the
/// paper's findings does not hold: in class-wise ECE, class-wise binning is better than the others.
pub(super) fn class_wise(table: &mut Comparison, parts: &Parts<'_>, refs: &Value) -> Result<Findings> {
    let (_, labels) = parts.test;
    let mut found = Vec::new();
    for (suffix, boundary) in [("ceil", Boundary::Ceil), ("floor", Boundary::Floor)] {
        let block = format!("B15_alg1_{suffix}");
        for (reduction, name) in [(Reduction::ClassWise, "CW_HB"), (Reduction::Normalized, "N_HB")] {
            let reference = &refs[name][&block];
            let title = format!("CIFAR-10 {reduction} UMD B15 {suffix}");
            let rows = [in_f64(parts, reduction, boundary)?, on_device(parts, reduction, boundary)?];
            if reduction == Reduction::ClassWise {
                let [ours, device] = rows.each_ref().map(|rows| cw_ece(rows, labels, Binning::ByBin));
                table.values(
                    &format!("{title}: by class"),
                    floats(&reference["per_class"])?.into_iter().zip(ours.iter().copied()),
                );
                let cw_ece = mean(&ours);
                table.value(
                    &format!("{title}: cw_ece"),
                    float(&reference["CW_ECE_unbinned"])?,
                    cw_ece,
                    Some(mean(&device)),
                );
                found.push(cw_ece);
            }
            let equal_width = Binning::EqualWidth(BINS);
            let [ours, device] = rows.each_ref().map(|rows| mean(&cw_ece(rows, labels, equal_width)));
            let key = if reduction == Reduction::ClassWise { "CW_ECE_equalwidth15" } else { "CW_ECE" };
            table.value(
                &format!("{title}: cw_ece, equal width"),
                float(&reference[key])?,
                ours,
                Some(device),
            );
            if reduction == Reduction::Normalized {
                found.push(ours);
                let metrics = rows.each_ref().map(|rows| {
                    assess(&predictions(rows, labels), PredictionKind::TopLabel, &binned_by(equal_width))
                });
                for (name, key) in [("accuracy", "accuracy"), ("conf_ece", "conf_ECE"), ("tl_ece", "TL_ECE")]
                {
                    let [ours, device] = metrics.each_ref().map(|a| match name {
                        "accuracy" => Some(a.accuracy.value),
                        "conf_ece" => Some(a.conf_ece.value),
                        _ => a.tl_ece.map(|estimate| estimate.value),
                    });
                    let ours = ours.context("an assessment of top-label predictions has every metric")?;
                    table.value(&format!("{title}: {name}"), float(&reference[key])?, ours, device);
                }
            }
        }
    }
    let (temperature_cw_ece, findings) = temperature(table, parts, refs)?;
    let [class_wise, normalized, ..] = found[..] else { unreachable!("both boundaries were compared") };
    println!(
        "finding: cw_ece of class-wise {class_wise:.6} < temperature {temperature_cw_ece:.6} < normalized {normalized:.6}"
    );
    ensure!(
        class_wise < temperature_cw_ece && class_wise < normalized,
        "class-wise binning is not the best in cw_ece"
    );
    Ok(findings)
}

impl Findings {
    /// Prints top-label binning beside temperature scaling, and fails if it is not better.
    pub(super) fn top_label_beats_temperature(
        &self,
        tl_ece: Option<f64>,
        tl_mce_bin: Option<f64>,
    ) -> Result<()> {
        let (tl_ece, tl_mce_bin) = tl_ece.zip(tl_mce_bin).context("a top-label assessment")?;
        println!(
            "finding: top-label tl_ece {tl_ece:.6} < temperature {:.6}; tl_mce_bin {tl_mce_bin:.4} < {:.4}",
            self.temperature_tl_ece, self.temperature_tl_mce_bin
        );
        ensure!(tl_ece < self.temperature_tl_ece, "top-label binning is not better in tl_ece");
        ensure!(2.0 * tl_mce_bin < self.temperature_tl_mce_bin, "nor by far in tl_mce_bin");
        Ok(())
    }
}

/// Temperature scaling of the logits at the reference's temperature.
fn temperature(table: &mut Comparison, parts: &Parts<'_>, refs: &Value) -> Result<(f64, Findings)> {
    let (test, labels) = parts.test;
    let rows: Rows = test
        .rows()
        .map(|row| {
            let cooled: Vec<f64> = row.iter().map(|&logit| (f64::from(logit) / TEMPERATURE).exp()).collect();
            let sum: f64 = cooled.iter().sum();
            cooled.into_iter().map(|share| (share / sum, 0)).collect()
        })
        .collect();
    let equal_width = Binning::EqualWidth(BINS);
    let reference = &refs["equal_width"]["TS_T1.1"]["B15_left_closed"];
    let cw_ece = mean(&cw_ece(&rows, labels, equal_width));
    let assessed = assess(&predictions(&rows, labels), PredictionKind::TopLabel, &binned_by(equal_width));
    let (tl_ece, tl_mce_bin) = assessed
        .tl_ece
        .map(|e| e.value)
        .zip(assessed.tl_mce_bin.map(|e| e.value))
        .context("a top-label assessment")?;
    let pairs = [
        (float(&reference["CW_ECE"])?, cw_ece),
        (float(&reference["TL_ECE"])?, tl_ece),
        (float(&reference["TL_MCE_max_b_weighted_Delta_b"])?, tl_mce_bin),
    ];
    table.values_within(SINGLE_PRECISION, "CIFAR-10 temperature 1.1: cw_ece, tl_ece, tl_mce_bin", pairs);
    Ok((cw_ece, Findings { temperature_tl_ece: tl_ece, temperature_tl_mce_bin: tl_mce_bin }))
}

fn options(boundary: Boundary) -> ReductionOptions {
    ReductionOptions::new(BinaryMethod::Umd(Umd { boundary, ..Umd::new(BINS) }))
}

/// Fits and applies in f64.
fn in_f64(parts: &Parts<'_>, reduction: Reduction, boundary: Boundary) -> Result<Rows> {
    let ((cal, cal_labels), (test, test_labels)) = (parts.cal, parts.test);
    let problems = Problems::in_f64(cal, cal_labels, reduction)?;
    let fit = fit_reduction(&problems, &options(boundary), 0.1)?;
    let test = Problems::in_f64(test, test_labels, Reduction::ClassWise)?;
    let mut rows = vec![Vec::with_capacity(test.classes()); test.len()];
    for class in 0..test.classes() {
        let model = steps(&fit, class)?;
        for (row, (score, _)) in rows.iter_mut().zip(test.points(class)) {
            let bin = model.bin(score);
            row.push((model.bins[bin].value, bin as u32));
        }
    }
    if reduction == Reduction::Normalized {
        for row in &mut rows {
            let sum = numpy_sum(&row.iter().map(|(prob, _)| *prob).collect::<Vec<_>>());
            let even = 1.0 / row.len() as f64;
            row.iter_mut().for_each(|(prob, _)| *prob = if sum > 0.0 { *prob / sum } else { even });
        }
    }
    Ok(rows)
}

/// The sum of fewer than 16 numbers in NumPy's order, as the reference was computed: the last bit decides in which of two
/// bins of equal width a quotient such as 1/5 falls.
fn numpy_sum(values: &[f64]) -> f64 {
    let Some((&[a, b, c, d, e, f, g, h], rest)) = values.split_first_chunk() else {
        return values.iter().sum();
    };
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, value| sum + value)
}

/// Fits and applies as the device does.
fn on_device(parts: &Parts<'_>, reduction: Reduction, boundary: Boundary) -> Result<Rows> {
    let ((cal, cal_labels), (test, _)) = (parts.cal, parts.test);
    ensure!(test.kind() == VectorKind::Logits);
    let fit = fit_reduction(&Problems::new(cal, cal_labels, reduction)?, &options(boundary), 0.1)?;
    let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &ArtifactOptions::default())?)
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    let artifact = stored.artifact();
    apply(&artifact, test.into(), RandomWords::new(&artifact, 0))
        .map(|row| {
            let row = row.context("the artifact is for these vectors")?;
            let row = row.classes().context("not a probability for every class")?;
            let bin = |class: usize| match row.outcomes.get(class) {
                Some(calib_core::Outcome::Calibrated(calibrated)) => calibrated.bin.into(),
                _ => 0,
            };
            let prob = |prob: Option<f32>| prob.map(f64::from).context("every class is calibrated");
            row.probs.iter().enumerate().map(|(class, &p)| Ok((prob(p)?, bin(class)))).collect()
        })
        .collect()
}

fn binned_by(binning: Binning) -> AssessOptions<'static> {
    AssessOptions::default().binning(binning)
}

/// The class-wise ECE of every class (equation 7 there).
fn cw_ece(rows: &Rows, labels: &[i64], binning: Binning) -> Vec<f64> {
    let of = |class: usize| {
        let each = rows.iter().zip(labels).map(|(row, &label)| Prediction {
            class: 1,
            prob: row[class].0,
            bin: row[class].1,
            hit: label == class as i64,
        });
        assess(&each.collect::<Vec<_>>(), PredictionKind::Binary, &binned_by(binning)).conf_ece.value
    };
    (0..rows[0].len()).map(of).collect()
}

/// The class with the highest probability, the lowest of equals.
fn predictions(rows: &Rows, labels: &[i64]) -> Vec<Prediction> {
    let first =
        |row: &[(f64, u32)]| (0..row.len()).fold(0, |best, i| if row[i].0 > row[best].0 { i } else { best });
    rows.iter()
        .zip(labels)
        .map(|(row, &label)| {
            let class = first(row);
            Prediction { class: class as u16, prob: row[class].0, bin: 0, hit: label == class as i64 }
        })
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
