//! Scores and labels to work with, what is made of them in another way, and how results are compared.

use std::fmt::Display;

use serde_json::Value;

use crate::npy::{f32s, labels};
use crate::workplace::Workplace;

pub(crate) const UMD_FIT: &str = "calib fit --method umd --bins 10 --scores cal.csv --score-column score --label-column label \
                       --alpha 0.1 -o cal.bin";
pub(crate) const TOP_FIT: &str = "calib fit --method umd --reduction top-label --rows-per-bin 50 --logits val_logits.npy \
                       --labels val_labels.npy -o top.bin";

/// The classes of the multi-class data; the last one is rarely predicted.
pub(crate) const CLASSES: usize = 3;

/// A fraction in `[0, 1)` that differs from row to row and has nothing to do with the score.
pub(crate) fn noise(row: usize) -> f64 {
    f64::from((row as u32).wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24)
}

/// `n` distinct scores in no order, and labels: a classifier that is too sure of itself.
pub(crate) fn binary(n: usize) -> Vec<(f32, u8)> {
    let score = |row: usize| ((row * 7919 % n) as f32 + 0.5) / n as f32;
    (0..n).map(|row| (score(row), u8::from(noise(row) < f64::from(score(row)).powi(2)))).collect()
}

pub(crate) fn csv(rows: &[(f32, u8)]) -> String {
    let lines = rows.iter().map(|(score, label)| format!("{score},{label}\n"));
    "score,label\n".chars().chain(lines.collect::<String>().chars()).collect()
}

/// A table of `n` rows, each with its score and whether its label is 1.
pub(crate) fn scored<S: Display>(n: u32, row: impl Fn(u32) -> (S, bool)) -> String {
    let lines = (0..n).map(row).map(|(score, label)| format!("{score},{}\n", u8::from(label)));
    "score,label\n".chars().chain(lines.collect::<String>().chars()).collect()
}

/// `n` rows of logits, and what comes of them. No two rows of a class have the same score.
pub(crate) struct Matrix {
    pub(crate) predicted: Vec<usize>,
    pub(crate) scores: Vec<f64>,
    pub(crate) labels: Vec<u8>,
    pub(crate) logits: Vec<f32>,
    pub(crate) probs: Vec<f32>,
}

pub(crate) fn matrix(n: usize) -> Matrix {
    let mut all = Matrix { predicted: vec![], scores: vec![], labels: vec![], logits: vec![], probs: vec![] };
    for row in 0..n {
        let class = if row % 40 == 39 { 2 } else { usize::from(row % 5 > 2) };
        let mut logits = [0.0, -0.25, 0.125];
        logits[class] = 0.25 + 3.0 * (row * 7919 % n) as f32 / n as f32;
        let exps = logits.map(|logit| f64::from(logit).exp());
        let probs = exps.map(|exp| exp / exps.iter().sum::<f64>());
        let right = noise(row) < probs[class];
        all.predicted.push(class);
        all.scores.push(probs[class]);
        all.labels.push((if right { class } else { (class + 1) % CLASSES }) as u8);
        all.logits.extend(logits);
        all.probs.extend(probs.map(|prob| prob as f32));
    }
    all
}

/// A table as Algorithm 1 of Gupta and Ramdas 2021 prints it, without ties: inner edges, and each bin's count and
/// positives.
pub(crate) fn algorithm1(mut points: Vec<(f64, bool)>, bins: usize) -> (Vec<f64>, Vec<(u64, u64)>) {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = points.len();
    let bound = |b: usize| (b * (n + 1)).div_ceil(bins).min(n + 1);
    let edges = (1..bins).map(|b| points[bound(b) - 1].0).collect();
    let bin = |b: usize| {
        let inside = &points[bound(b - 1)..bound(b) - 1];
        (inside.len() as u64, inside.iter().filter(|point| point.1).count() as u64)
    };
    (edges, (1..=bins).map(bin).collect())
}

/// A value of a document that is of one kind.
pub(crate) trait Json {
    fn number(&self) -> f64;
    fn whole(&self) -> u64;
    fn text(&self) -> &str;
    fn list(&self) -> &Vec<Value>;
}

impl Json for Value {
    #[track_caller]
    fn number(&self) -> f64 {
        self.as_f64().unwrap()
    }

    #[track_caller]
    fn whole(&self) -> u64 {
        self.as_u64().unwrap()
    }

    #[track_caller]
    fn text(&self) -> &str {
        self.as_str().unwrap()
    }

    #[track_caller]
    fn list(&self) -> &Vec<Value> {
        self.as_array().unwrap()
    }
}

pub(crate) fn numbers(array: &Value) -> Vec<f64> {
    array.list().iter().map(Json::number).collect()
}

pub(crate) fn singles(array: &Value) -> Vec<f32> {
    numbers(array).into_iter().map(|number| number as f32).collect()
}

#[track_caller]
pub(crate) fn close(got: &Value, expected: f64) {
    let got = got.as_f64().expect("a number");
    assert!((got - expected).abs() < 1e-12, "{got} instead of {expected}");
}

/// Everything that depends on the data only, not on the file that held them.
pub(crate) fn without_origin(mut inspected: Value) -> Value {
    inspected["identity"].take();
    inspected["provenance"]["data_sha256"].take();
    inspected
}

pub(crate) fn binary_place() -> Workplace {
    Workplace::new().with("cal.csv", csv(&binary(400)))
}

pub(crate) fn matrix_place(n: usize) -> (Workplace, Matrix) {
    let data = matrix(n);
    let place = Workplace::new()
        .with("val_logits.npy", f32s(&[n, CLASSES], data.logits.clone()).bytes())
        .with("val_labels.npy", labels("<i8", &data.labels).bytes());
    (place, data)
}
