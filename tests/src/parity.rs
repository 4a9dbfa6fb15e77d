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

/// Sends features to the device and compares class, score, probability, bin, epsilon, flags, alarm and action with what the
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
    let mut questions = Vec::with_capacity(features.len());
    for row in features {
        let refused = |refusal| anyhow::anyhow!("the classifier refuses a row: {refusal:?}");
        let top = match model.kind() {
            Kind::Binary => TopLabel { class: 1, score: model.score(row).map_err(refused)? },
            Kind::TopLabel { .. } => Logits::new(&model.logits(row).map_err(refused)?)?.top_label(),
        };
        questions.push((RequestBody::Classify(values(row)), top));
    }
    compare(emulator, model.parameters().alarm, artifact, questions)
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

    let mut questions = Vec::with_capacity(cases.len());
    for (table, value) in cases {
        questions.push(match artifact.calibrator() {
            Calibrator::Binary(_) => {
                let top = TopLabel { class: 1, score: Score::new(value)? };
                let score = value;
                match artifact.is_randomized() {
                    true => (RequestBody::ScoreWithWord { score, word: rng.random() }, top),
                    false => (RequestBody::Score(score), top),
                }
            }
            Calibrator::TopLabel(calibrator) => {
                let row = vector(table, value, calibrator.classes());
                (RequestBody::Probs(values(&row)), Probs::new(&row)?.top_label())
            }
            _ => bail!("the artefact does not take scores that are floats"),
        });
    }
    compare(emulator, rule, artifact, questions)
}

/// A vector that gives `score` to `class` and shares out the rest.
fn vector(class: usize, score: f32, classes: usize) -> Vec<f32> {
    let other = (1.0 - score) / (classes - 1) as f32;
    (0..classes).map(|c| if c == class { score } else { other }).collect()
}

/// What the host computes for a prediction and the random word that the device was given or drew.
fn prediction(
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    top: TopLabel,
    word: Option<u32>,
) -> Result<Prediction> {
    let outcome = match (artifact.calibrator(), word) {
        (Calibrator::Binary(c), None) => Outcome::Calibrated(c.calibrate(top.score)),
        (Calibrator::Binary(c), Some(word)) => Outcome::Calibrated(c.calibrate_with(top.score, word)),
        (Calibrator::TopLabel(c), None) => c.calibrate(top),
        (Calibrator::TopLabel(c), Some(word)) => c.calibrate_with(top, word),
        _ => bail!("the artefact does not take scores that are floats"),
    };
    // The artefact's own rule goes before the built-in one.
    let alarm = match (artifact.decision(), outcome) {
        (Some(decision), outcome) => decision.is_raised_by(&outcome),
        (None, Outcome::Calibrated(calibrated)) => rule.is_raised_by(calibrated.prob),
        (None, Outcome::Uncalibrated(_)) => true,
    };
    let action = artifact.decision().map(|decision| decision.decide(&outcome));
    Ok(Prediction { class: top.class, score: RawScore::F32(top.score), outcome, alarm, word, action })
}

fn values(row: &[f32]) -> Values {
    row.iter().copied().collect()
}

fn compare(
    emulator: &mut Emulator,
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    questions: Vec<(RequestBody, TopLabel)>,
) -> Result<Parity> {
    let (requests, tops): (Vec<_>, Vec<_>) = questions.into_iter().unzip();
    let replies = emulator.pipeline(requests.iter().cloned())?;
    if replies.len() != requests.len() {
        bail!("{} replies to {} requests", replies.len(), requests.len());
    }
    let (mut predictions, mut differences) = (Vec::new(), Vec::new());
    for (row, ((reply, request), top)) in replies.iter().zip(&requests).zip(tops).enumerate() {
        let word = match (request, reply) {
            (RequestBody::ScoreWithWord { word, .. }, _) => Some(*word),
            // A word that the device drew itself is its to tell.
            (_, ReplyBody::Prediction(got)) if artifact.is_randomized() => got.word,
            _ => None,
        };
        let expected = prediction(rule, artifact, top, word)?;
        // Frames are the same bytes exactly if every number has the same bits.
        let same = matches!(reply, ReplyBody::Prediction(got) if bits(got) == bits(&expected));
        if !same {
            differences.push(format!("row {row}: host {expected:?}, device {reply:?}"));
        }
        predictions.push(expected);
    }
    Ok(Parity { predictions, differences })
}

fn bits(prediction: &Prediction) -> Vec<u8> {
    let mut buf = [0; calib_core::wire::MAX_FRAME];
    calib_core::wire::encode(prediction, &mut buf).expect("a prediction fits a frame").to_vec()
}
