//! CIFAR-10: scaling of whole vectors, the temperature against reference values.

use std::path::Path;

use anyhow::{Context, Result};
use calib_host::io::input::{self, Source, Table};
use calib_host::joint::{Odir, VectorScalingMethod};
use calib_host::{VectorData, VectorKind, Vectors};
use serde_json::Value;

use super::{Comparison, float};

/// Vectors of logits with their labels.
struct Set {
    vectors: Vectors,
    labels: Vec<i64>,
}

impl Set {
    fn read(data: &Path, name: &str) -> Result<Self> {
        let file = |what| Source::read(&data.join(format!("cifar10_resnet50_{name}_{what}.npy")), &|_| ());
        let labels = Table::read(&file("labels")?)?.labels("label")?.values;
        Ok(Self { vectors: input::vectors(&file("logits")?, VectorKind::Logits)?, labels })
    }

    /// Every row's softmax in f64 at a temperature, with its label.
    fn probs(&self, temperature: f64) -> Vec<(Vec<f64>, usize)> {
        let softmax = |row: &[f32]| {
            let max = row.iter().copied().fold(f32::MIN, f32::max);
            let exp = |&z: &f32| ((f64::from(z) - f64::from(max)) / temperature).exp();
            let sum: f64 = row.iter().map(exp).sum();
            row.iter().map(|z| exp(z) / sum).collect()
        };
        self.vectors.rows().map(softmax).zip(self.labels.iter().map(|&label| label as usize)).collect()
    }
}

/// Compares the fitted temperature and its log-loss, and prints the log-loss of the other functions on the test set.
pub(super) fn scaling(table: &mut Comparison, data: &Path, refs: &Value) -> Result<()> {
    let (cal, test) = (Set::read(data, "val")?, Set::read(data, "test")?);
    let reference = &refs["temperature"];
    let calibration = VectorData::new(&cal.vectors, &cal.labels)?;
    let fit = |method: VectorScalingMethod| method.fit(&calibration, false);
    let temperature = 1.0 / fit(VectorScalingMethod::Temperature)?.weights[0];
    let mut value = |name: &str, reference: &Value, ours: f64| -> Result<()> {
        table.value(&format!("CIFAR-10 temperature: {name}"), float(reference)?, ours, None);
        Ok(())
    };
    value("T", &reference["T_opt_NLL_continuous"], temperature)?;
    value("log-loss at T", &reference["val_NLL_at_opt"], log_loss(&cal.probs(temperature)))?;
    value("log-loss at 1", &reference["val_NLL_T1"], log_loss(&cal.probs(1.0)))?;
    value("log-loss at 1.1", &reference["val_NLL_T1p1"], log_loss(&cal.probs(1.1)))?;
    let tenths = (5..30).map(|tenth| f64::from(tenth) / 10.0);
    let best = tenths.min_by(|&a, &b| log_loss(&cal.probs(a)).total_cmp(&log_loss(&cal.probs(b))));
    value("T among tenths", &reference["T_opt_NLL_grid0p1"], best.context("there are tenths")?)?;
    println!("\nCIFAR-10, log-loss of the test set: uncalibrated {:.6}", log_loss(&test.probs(1.0)));
    let held_out = VectorData::new(&test.vectors, &test.labels)?;
    let odir = Odir { lambda: 0.1, mu: 0.1 };
    for (name, method) in [
        ("temperature", VectorScalingMethod::Temperature),
        ("vector", VectorScalingMethod::Vector),
        ("matrix", VectorScalingMethod::Matrix(Odir::default())),
        ("matrix, lambda = mu = 0.1", VectorScalingMethod::Matrix(odir)),
        ("dirichlet, lambda = mu = 0.1", VectorScalingMethod::Dirichlet(odir)),
        ("svs", VectorScalingMethod::StructuredVector),
        ("sms", VectorScalingMethod::StructuredMatrix),
    ] {
        let model = fit(method)?;
        let features = model.features(&held_out);
        let rows = features.chunks_exact(held_out.classes()).map(|row| model.probs(row));
        let rows: Vec<_> = rows.zip(held_out.labels().iter().map(|&label| label.into())).collect();
        println!("  {name:<30} {:.6}", log_loss(&rows));
    }
    Ok(())
}

fn log_loss(rows: &[(Vec<f64>, usize)]) -> f64 {
    rows.iter().map(|(probs, label)| -probs[*label].ln()).sum::<f64>() / rows.len() as f64
}
