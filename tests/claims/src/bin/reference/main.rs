//! `cargo xtask papers`: ours against reference values that were computed independently.

mod assessment;
mod decide;
mod guarantees;
mod histogram;
mod imbalance;
mod reductions;
mod scaling;
mod simplex;
mod validity;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use calib_core::artifact::Reduction;
use calib_host::assess::{AssessOptions, Assessment, Binning, Prediction, PredictionKind, assess};
use calib_host::binary::{BinnedModel, Boundary, BoundaryPoints};
use calib_host::guarantee::{gr21_theorem3, gr21_theorem3_smallest_n, gr22_theorem1};
use calib_host::io::input::{self, Source, Table};
use calib_host::{
    BinaryData, BinaryMethod, Fit, Problems, ReductionOptions, Umd, VectorKind, Vectors, fit_binary,
    fit_reduction,
};
use rand_mt::Mt;
use serde_json::Value;

/// The largest difference that f64 scores may show.
const TOLERANCE: f64 = 1e-9;

/// Groups by the calibrator's bins.
fn by_bin() -> AssessOptions<'static> {
    AssessOptions::default().binning(Binning::ByBin)
}

/// Lines of the comparison: reference, ours, difference.
#[derive(Default)]
struct Comparison {
    compared: usize,
    failed: usize,
}

fn main() -> Result<()> {
    let flags = xflags::parse_or_exit! {
        /// The folder with cifar10_resnet50_*.npy and credit_scores.csv.
        required --data dir: PathBuf
        /// The folder with cifar10_resnet50.json, credit_fixed_cases.json and theory_tables.json.
        required --refs dir: PathBuf
    };
    papers(&flags.data, &flags.refs)
}

/// Compares everything, prints a table, and fails if a value in f64 scores is off by more than 1e-9.
fn papers(data: &Path, refs: &Path) -> Result<()> {
    let mut table = Comparison::default();
    println!(
        "{:<46} {:>20} {:>20} {:>10} {:>20}",
        "", "reference", "ours (f64 scores)", "difference", "ours (f32 scores)"
    );
    theory(&mut table, &json(refs, "theory_tables.json")?)?;
    credit(&mut table, data, &json(refs, "credit_fixed_cases.json")?)?;
    let (scores, labels) = credit_scores(data)?;
    validity::fixed_cases(&mut table, &scores, &labels, &json(refs, "credit_fixed_cases.json")?)?;
    validity::validity(&mut table, &scores, &labels, &json(refs, "credit_validity_plattprob.json")?)?;
    let cifar_refs = json(refs, "cifar10_resnet50.json")?;
    cifar(&mut table, data, &cifar_refs)?;
    scaling::scaling(&mut table, data, &cifar_refs)?;
    assessment::equal_width(&mut table, data, &cifar_refs)?;
    println!("{} values compared, {} off by more than their tolerance", table.compared, table.failed);
    ensure!(table.failed == 0, "{} values differ from the reference", table.failed);
    decide::decide()?;
    simplex::simplex()?;
    assessment::estimators()?;
    histogram::histogram()?;
    imbalance::imbalance()?;
    guarantees::guarantees()
}

impl Comparison {
    /// Prints a line for a single value.
    fn value(&mut self, name: &str, reference: f64, ours: f64, device: Option<f64>) {
        let difference = ours - reference;
        self.count(difference.abs(), TOLERANCE);
        let device = device.map_or(String::new(), |value| format!("{value:.12}"));
        println!("{name:<46} {reference:>20.12} {ours:>20.12} {difference:>10.1e} {device:>20}");
    }

    /// Prints a line for the largest difference of many values.
    fn values(&mut self, name: &str, pairs: impl IntoIterator<Item = (f64, f64)>) {
        self.values_within(TOLERANCE, name, pairs);
    }

    /// The same with another tolerance.
    fn values_within(&mut self, tolerance: f64, name: &str, pairs: impl IntoIterator<Item = (f64, f64)>) {
        let (mut count, mut worst) = (0, 0.0f64);
        for (reference, ours) in pairs {
            count += 1;
            worst = worst.max((ours - reference).abs());
            self.count((ours - reference).abs(), tolerance);
        }
        println!("{name:<46} {:>20} {:>20} {worst:>10.1e}", format!("{count} values"), "");
    }

    fn count(&mut self, difference: f64, tolerance: f64) {
        self.compared += 1;
        self.failed += usize::from(difference > tolerance || difference.is_nan());
    }
}

fn theory(table: &mut Comparison, refs: &Value) -> Result<()> {
    let mut thm3 = Vec::new();
    for row in array(&refs["seed000"])? {
        let per_bin = integer(&row["floor_n_over_B"])?;
        if let (Some(reference), 2..) = (row["thm3_eps"].as_f64(), per_bin) {
            thm3.push((reference, gr21_theorem3(per_bin, integer(&row["B"])?, float(&row["alpha"])?)));
        }
    }
    table.values("GR21 Theorem 3", thm3);
    let mut thm1 = Vec::new();
    for row in array(&refs["seed003"])? {
        let ours = gr22_theorem1(integer(&row["n"])?, integer(&row["k"])?, float(&row["alpha"])?);
        thm1.push((float(&row["thm1_eps2_delta0"])?, ours));
    }
    table.values("GR22 Theorem 1, conditional", thm1);
    let smallest = float(&refs["smallest_n"]["thm3_eps_le_0p1_alpha0p1_B10"])?;
    table.value(
        "smallest n, B = 10, alpha = epsilon = 0.1",
        smallest,
        gr21_theorem3_smallest_n(10, 0.1, 0.1) as f64,
        None,
    );
    Ok(())
}

fn credit_scores(data: &Path) -> Result<(Vec<f64>, Vec<i64>)> {
    let csv = Table::read(&Source::read(&data.join("credit_scores.csv"), &|_| ())?)?;
    Ok((csv.numbers("score")?.values, csv.labels("label")?.values))
}

/// UMD on fixed subsets of the credit scores: the first n rows of NumPy's permutation of seed 10000 + r, judged on the
/// last 5000.
fn credit(table: &mut Comparison, data: &Path, refs: &Value) -> Result<()> {
    let (scores, labels) = credit_scores(data)?;
    for (n, r) in [(500, 0), (500, 1), (1000, 0), (1000, 1), (3000, 0), (3000, 1)] {
        let rows = numpy_permutation(10_000 + r, scores.len());
        let subset = |rows: &[usize]| {
            BinaryData::new(
                rows.iter().map(|&i| scores[i]).collect(),
                rows.iter().map(|&i| labels[i] == 1).collect(),
            )
        };
        let calibration = subset(&rows[..n])?;
        let test = &rows[rows.len() - 5000..];
        use BoundaryPoints::{Kept, LeftOut};
        for (name, boundary, boundary_points) in [
            ("UMD_ceil", Boundary::Ceil, LeftOut),
            ("UMD_floor", Boundary::Floor, LeftOut),
            ("UMD_cor1_authors", Boundary::Floor, Kept),
        ] {
            let reference = &refs[format!("n{n}_r{r}")][name];
            let method = BinaryMethod::Umd(Umd { bins: 10, boundary, boundary_points });
            let fit = fit_binary(&calibration, &method, 0.1)?;
            let model = steps(&fit, 0)?;
            let title = |what| format!("credit n = {n}, subset {r}, {name}: {what}");
            table.values(
                &title("edges"),
                floats(&reference["edges"])?.into_iter().zip(model.edges.iter().copied()),
            );
            let values = model.bins.iter().map(|bin| bin.value);
            table.values(&title("values"), floats(&reference["values"])?.into_iter().zip(values));

            let mut counts = vec![0.0; model.bins.len()];
            let mut positives = counts.clone();
            for &row in test {
                let bin = model.bin(scores[row]);
                counts[bin] += 1.0;
                positives[bin] += labels[row] as f64;
            }
            table.values(&title("test counts"), floats(&reference["test_counts"])?.into_iter().zip(counts));
            table.values(
                &title("test positives"),
                floats(&reference["test_positives"])?.into_iter().zip(positives),
            );
            let predictions: Vec<Prediction> = test
                .iter()
                .map(|&row| {
                    let bin = model.bin(scores[row]);
                    Prediction {
                        class: 1,
                        prob: model.bins[bin].value,
                        bin: bin as u32,
                        hit: labels[row] == 1,
                    }
                })
                .collect();
            let ours = assess(&predictions, PredictionKind::Binary, &by_bin()).conf_ece.value;

            let device = fit_binary(&calibration.clone().on_device(), &method, 0.1)?;
            let device = steps(&device, 0)?;
            let rounded = test.iter().map(|&row| f64::from(scores[row] as f32)).zip(test);
            let predictions: Vec<Prediction> = rounded
                .map(|(score, &row)| {
                    let bin = device.bin(score);
                    Prediction {
                        class: 1,
                        prob: device.bins[bin].value,
                        bin: bin as u32,
                        hit: labels[row] == 1,
                    }
                })
                .collect();
            let device = assess(&predictions, PredictionKind::Binary, &by_bin()).conf_ece.value;
            table.value(&title("l1-ECE"), float(&reference["l1_ECE"])?, ours, Some(device));
        }
    }
    Ok(())
}

/// The step function of a table.
fn steps(fit: &Fit, table: usize) -> Result<&BinnedModel> {
    let fitted = fit.tables()[table].as_ref().context("the class is calibrated")?;
    fitted.model().steps().context("the method fits a step function")
}

/// `numpy.random.RandomState(seed).permutation(len)`.
fn numpy_permutation(seed: u32, len: usize) -> Vec<usize> {
    let mut rng = Mt::new(seed);
    let mut rows: Vec<usize> = (0..len).collect();
    for i in (1..len).rev() {
        let mask = (i as u32 + 1).next_power_of_two() - 1;
        let j = std::iter::repeat_with(|| rng.next_u32() & mask).find(|&j| j <= i as u32).expect("endless");
        rows.swap(i, j as usize);
    }
    rows
}

fn cifar(table: &mut Comparison, data: &Path, refs: &Value) -> Result<()> {
    let part = |name: &str| -> Result<(Vectors, Vec<i64>)> {
        let file = |what| Source::read(&data.join(format!("cifar10_resnet50_{name}_{what}.npy")), &|_| ());
        let labels = Table::read(&file("labels")?)?.labels("label")?.values;
        Ok((input::vectors(&file("logits")?, VectorKind::Logits)?, labels))
    };
    let ((cal, cal_labels), (test, test_labels)) = (part("val")?, part("test")?);
    let parts = reductions::Parts { cal: (&cal, &cal_labels), test: (&test, &test_labels) };
    let class_wise = reductions::class_wise(table, &parts, refs)?;
    let (predicted, scores): (Vec<u16>, Vec<f64>) = cal.top_labels_f64().unzip();
    let in_f64 = Problems::of_predictions(&predicted, &scores, &cal_labels, cal.classes())?;
    let cal = [in_f64, Problems::new(&cal, &cal_labels, Reduction::TopLabel)?];
    let with_hits = |tops: &mut dyn Iterator<Item = (u16, f64)>| -> Vec<Top> {
        tops.zip(&test_labels)
            .map(|((class, prob), label)| (class, prob, i64::from(class) == *label))
            .collect()
    };
    let in_f32 = test.top_labels().iter().map(|top| (top.class, f64::from(top.score.get())));
    let test = [with_hits(&mut test.top_labels_f64()), with_hits(&mut { in_f32 })];

    let base = test.each_ref().map(|test| {
        let rows: Vec<Prediction> =
            test.iter().map(|&(class, prob, hit)| Prediction { class, prob, bin: 0, hit }).collect();
        assess(&rows, PredictionKind::TopLabel, &AssessOptions::default())
    });
    let reference = &refs["equal_width"]["base"]["B15_left_closed"];
    let keys = [
        ("accuracy", "accuracy"),
        ("conf_ece", "conf_ECE"),
        ("tl_ece", "TL_ECE"),
        ("tl_mce", "TL_MCE_definition17"),
        ("tl_mce_bin", "TL_MCE_max_b_weighted_Delta_b"),
    ];
    compare_metrics(table, "CIFAR-10 base", &keys, reference, &base)?;

    let options = |bins, rows_per_bin, boundary| {
        let method = BinaryMethod::Umd(Umd { boundary, ..Umd::new(bins) });
        ReductionOptions::new(method).rows_per_bin(rows_per_bin)
    };
    for (suffix, boundary) in [("ceil", Boundary::Ceil), ("floor", Boundary::Floor)] {
        for (name, options) in [
            ("B15", options(15, None, boundary)),
            ("k50", options(1, Some(50), boundary)),
            ("k100", options(1, Some(100), boundary)),
        ] {
            let reference = &refs["TL_HB"][format!("{name}_alg1_{suffix}")];
            let title = format!("CIFAR-10 top-label UMD {name} {suffix}");
            let [f64_fit, f32_fit] = [&cal[0], &cal[1]].map(|cal| fit_reduction(cal, &options, 0.1));
            let (f64_fit, f32_fit) = (f64_fit?, f32_fit?);
            compare_tables(table, &title, &reference["per_class"], &f64_fit)?;
            let metrics = [binned(&f64_fit, &test[0])?, binned(&f32_fit, &test[1])?];
            let keys = [
                ("tl_ece", "TL_ECE_unbinned"),
                ("tl_mce", "TL_MCE_definition17"),
                ("tl_mce_bin", "TL_MCE_max_b_weighted_Delta_b"),
            ];
            compare_metrics(table, &title, &keys, reference, &metrics)?;
            if title.ends_with("B15 ceil") {
                let [tl_ece, tl_mce_bin] =
                    [metrics[0].tl_ece, metrics[0].tl_mce_bin].map(|estimate| estimate.map(|e| e.value));
                class_wise.top_label_beats_temperature(tl_ece, tl_mce_bin)?;
            }
        }
    }
    Ok(())
}

fn compare_tables(table: &mut Comparison, title: &str, reference: &Value, fit: &Fit) -> Result<()> {
    let (mut edges, mut values) = (Vec::new(), Vec::new());
    for class in 0..fit.tables().len() {
        let model = steps(fit, class)?;
        let reference = &reference[class.to_string()];
        let (their_edges, their_values) = (floats(&reference["edges"])?, floats(&reference["means"])?);
        ensure!(
            their_edges.len() == model.edges.len() && their_values.len() == model.bins.len(),
            "{title}: bins"
        );
        edges.extend(their_edges.into_iter().zip(model.edges.iter().copied()));
        values.extend(their_values.into_iter().zip(model.bins.iter().map(|bin| bin.value)));
    }
    table.values(&format!("{title}: edges"), edges);
    table.values(&format!("{title}: values"), values);
    Ok(())
}

/// A predicted class, its score, and whether it is right.
type Top = (u16, f64, bool);

/// Metrics of a fit, grouped by its own bins.
fn binned(fit: &Fit, test: &[Top]) -> Result<Assessment> {
    let mut rows = Vec::with_capacity(test.len());
    for &(class, score, hit) in test {
        let model = steps(fit, class.into())?;
        let bin = model.bin(score);
        rows.push(Prediction { class, prob: model.bins[bin].value, bin: bin as u32, hit });
    }
    Ok(assess(&rows, PredictionKind::TopLabel, &by_bin()))
}

fn compare_metrics(
    table: &mut Comparison,
    title: &str,
    keys: &[(&str, &str)],
    reference: &Value,
    ours: &[Assessment; 2],
) -> Result<()> {
    for (name, key) in keys {
        let [f64_value, f32_value] = ours.each_ref().map(|a| match *name {
            "accuracy" => Some(a.accuracy.value),
            "conf_ece" => Some(a.conf_ece.value),
            "tl_ece" => a.tl_ece.map(|estimate| estimate.value),
            "tl_mce" => a.tl_mce.map(|estimate| estimate.value),
            "tl_mce_bin" => a.tl_mce_bin.map(|estimate| estimate.value),
            _ => None,
        });
        let ours = f64_value.context("an assessment of top-label predictions has every metric")?;
        table.value(&format!("{title}: {name}"), float(&reference[key])?, ours, f32_value);
    }
    Ok(())
}

fn json(folder: &Path, name: &str) -> Result<Value> {
    let path = folder.join(name);
    let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is not JSON", path.display()))
}

fn float(value: &Value) -> Result<f64> {
    value.as_f64().with_context(|| format!("{value} is not a number"))
}

fn integer(value: &Value) -> Result<u64> {
    value.as_u64().with_context(|| format!("{value} is not a whole number"))
}

fn array(value: &Value) -> Result<&Vec<Value>> {
    match value {
        Value::Array(values) => Ok(values),
        _ => bail!("{value} is not an array"),
    }
}

fn floats(value: &Value) -> Result<Vec<f64>> {
    array(value)?.iter().map(float).collect()
}
