//! The device against the host, bit for bit.

use anyhow::{Result, bail};
use calib_core::wire::{Prediction, RawScore, ReplyBody, RequestBody, Values};
use calib_core::{Artifact, Calibrator, Logits, Outcome, Probs, Score, TopLabel};
use calib_firmware::{AlarmRule, Classifier, Kind, LinearModel};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Emulator;

/// How many predictions were compared, and where they differ.
#[derive(Debug)]
pub struct Parity {
    /// The host's predictions, in order.
    pub predictions: Vec<Prediction>,
    /// A line for each that the device answered differently.
    pub differences: Vec<String>,
}

/// Sends features to the device and compares class, score, probability, bin, epsilon, flags and alarm with what the
/// host computes, bit for bit.
///
/// # Errors
///
/// If the device does not answer, or the model refuses a row.
pub fn classified_rows(
    emulator: &mut Emulator,
    model: &LinearModel,
    artifact: &Artifact<'_>,
    features: &[Vec<f32>],
) -> Result<Parity> {
    let mut requests = Vec::with_capacity(features.len());
    let mut expected = Vec::with_capacity(features.len());
    for row in features {
        let logits = model.logits(row).map_err(|refusal| anyhow::anyhow!("{refusal:?}"))?;
        let (top, outcome) = match (artifact.calibrator(), model.kind()) {
            (Calibrator::Binary(calibrator), Kind::Binary) => {
                let score = model.score(row).map_err(|refusal| anyhow::anyhow!("{refusal:?}"))?;
                (TopLabel { class: 1, score }, Outcome::Calibrated(calibrator.calibrate(score)))
            }
            (Calibrator::TopLabel(calibrator), Kind::TopLabel { .. }) => {
                calibrator.calibrate_logits(Logits::new(&logits)?)?
            }
            _ => bail!("the artefact does not fit the classifier"),
        };
        expected.push(prediction(model.parameters().alarm, top, outcome));
        requests.push(RequestBody::Classify(values(row)));
    }
    compare(emulator, requests, expected)
}

/// Sends `count` bare scores, among them 0, 1, every edge of every table and its neighbours one ulp away, and compares
/// the answers with the host's, bit for bit. For a top-label artefact the scores are those of a class in a vector of
/// probabilities.
///
/// # Errors
///
/// If the device does not answer.
pub fn bare_scores(
    emulator: &mut Emulator,
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    count: usize,
    seed: u64,
) -> Result<Parity> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut cases: Vec<(usize, f32)> = Vec::new();
    let tables = artifact.tables();
    for table in 0..tables.count() {
        cases.extend([(table, 0.0), (table, 1.0)]);
        for &edge in tables.get(table).iter().flat_map(|table| table.form.edges()) {
            cases.extend([edge.next_down(), edge, edge.next_up().min(1.0)].map(|score| (table, score)));
        }
    }
    while cases.len() < count {
        cases.push((rng.random_range(0..tables.count()), rng.random_range(0.0..=1.0)));
    }

    let mut requests = Vec::with_capacity(cases.len());
    let mut expected = Vec::with_capacity(cases.len());
    for (table, value) in cases {
        let (request, top, outcome) = match artifact.calibrator() {
            Calibrator::Binary(calibrator) => {
                let score = Score::new(value)?;
                let outcome = Outcome::Calibrated(calibrator.calibrate(score));
                (RequestBody::Score(value), TopLabel { class: 1, score }, outcome)
            }
            Calibrator::TopLabel(calibrator) => {
                let row = vector(table, value, calibrator.classes());
                let (top, outcome) = calibrator.calibrate_probs(Probs::new(&row)?)?;
                (RequestBody::Probs(values(&row)), top, outcome)
            }
            _ => bail!("the artefact is of an unknown kind"),
        };
        requests.push(request);
        expected.push(prediction(rule, top, outcome));
    }
    compare(emulator, requests, expected)
}

/// A vector that gives `score` to `class` and shares out the rest.
fn vector(class: usize, score: f32, classes: usize) -> Vec<f32> {
    let other = (1.0 - score) / (classes - 1) as f32;
    (0..classes).map(|c| if c == class { score } else { other }).collect()
}

fn prediction(rule: AlarmRule, top: TopLabel, outcome: Outcome) -> Prediction {
    let alarm = match outcome {
        Outcome::Calibrated(calibrated) => rule.is_raised_by(calibrated.prob),
        Outcome::Uncalibrated(_) => true,
    };
    Prediction { class: top.class, score: RawScore::F32(top.score), outcome, alarm, word: None }
}

fn values(row: &[f32]) -> Values {
    row.iter().copied().collect()
}

fn compare(emulator: &mut Emulator, requests: Vec<RequestBody>, expected: Vec<Prediction>) -> Result<Parity> {
    let replies = emulator.pipeline(requests)?;
    let mut differences = Vec::new();
    for (row, (reply, expected)) in replies.iter().zip(&expected).enumerate() {
        // Frames are the same bytes exactly if every number has the same bits.
        let same = matches!(reply, ReplyBody::Prediction(got) if bits(got) == bits(expected));
        if !same {
            differences.push(format!("row {row}: host {expected:?}, device {reply:?}"));
        }
    }
    if replies.len() != expected.len() {
        bail!("{} replies to {} requests", replies.len(), expected.len());
    }
    Ok(Parity { predictions: expected, differences })
}

fn bits(prediction: &Prediction) -> Vec<u8> {
    let mut buf = [0; calib_core::wire::MAX_FRAME];
    calib_core::wire::encode(prediction, &mut buf).expect("a prediction fits a frame").to_vec()
}
