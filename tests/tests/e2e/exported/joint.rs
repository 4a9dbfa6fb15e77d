//! Calibrators of whole vectors as C: compiled for the host and the cores, and compared with calib-core bit for bit.

use std::fmt::Write;

use calib_core::predict::{OtherClasses, Output};
use calib_core::{Calibrator, Logits, Outcome, Probs};
use calib_host::StoredArtifact;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rules::agrees;
use crate::joint::{artifacts, of_ten_classes, of_three_classes};

const BAD_SCORE: u32 = 1;
const UNCALIBRATED: u32 = 2;

/// Logits, or probabilities: some are at an edge, some are none.
fn vectors(classes: usize, are_logits: bool) -> Vec<Vec<f32>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(classes as u64);
    let vector = |i: usize| {
        let spread = [1.0, 4.0, 30.0, 200.0][i % 4];
        let mut logits: Vec<f32> = (0..classes).map(|_| rng.random_range(-spread..=spread)).collect();
        match i {
            0 => logits.fill(1.0),
            1 => (logits[0], logits[1]) = (f32::MAX, f32::MIN),
            2 => logits[1] = f32::NAN,
            3 => logits[2] = f32::INFINITY,
            4 => logits.fill(f32::MIN),
            5 => logits[0] = -1e-40,
            _ => {}
        }
        if are_logits {
            return logits;
        }
        let mut probs = vec![0.25; classes];
        // What is no logit stays what is no probability.
        let _ = Logits::new(&logits).map(|logits| logits.write_softmax(&mut probs));
        match i {
            6 => probs[0] += 0.2,
            7 => (probs[0], probs[1]) = (-1e-6, probs[1] + probs[0]),
            8 => {
                probs.fill(0.0);
                probs[1] = 1.000_000_4;
            }
            // In the middle of an edge.
            9..50 => {
                let steps: Vec<u32> = (0..classes).map(|_| rng.random_range(0..4)).collect();
                let sum = steps.iter().sum::<u32>().max(1) as f32;
                probs.iter_mut().zip(steps).for_each(|(prob, steps)| *prob = steps as f32 / sum);
            }
            _ => {}
        }
        probs
    };
    (0..400).map(vector).collect()
}

/// What calib-core answers, as words.
fn expected(stored: &StoredArtifact, vectors: &[Vec<f32>], are_logits: bool) -> Vec<u32> {
    let artifact = stored.artifact();
    let has_intervals = artifact.score_intervals().is_some();
    let predictor = calib_core::predict::Predictor::new(artifact);
    let mut words = Vec::new();
    for vector in vectors {
        let output = match are_logits {
            true => Logits::new(vector).ok().map(Output::Logits),
            false => Probs::new(vector).ok().map(Output::Probs),
        };
        let Some(output) = output else {
            words.push(BAD_SCORE);
            continue;
        };
        let mut space = vec![0.0; predictor.space()];
        let (prediction, others) = predictor.predict_classes(&output.into(), &mut space).unwrap();
        let OtherClasses::Probs(probs) = others else { panic!("{others:?}") };
        let Outcome::Calibrated(first) = prediction.first.outcome else {
            words.push(UNCALIBRATED);
            continue;
        };
        words.extend([0, u32::from(prediction.first.class), first.prob.to_bits()]);
        let interval = first.interval.map_or([f32::NAN; 2], |interval| [interval.lo, interval.hi]);
        if has_intervals {
            words.extend(interval.map(f32::to_bits));
            words.push(first.bin.into());
        }
        words.extend(probs.iter().map(|prob| prob.unwrap().to_bits()));
    }
    words
}

fn probe(vectors: &[Vec<f32>], has_intervals: bool) -> String {
    let words: Vec<String> =
        vectors.iter().flatten().map(|score| format!("{:#x}u", score.to_bits())).collect();
    let mut text = format!("static const uint32_t asked[] = {{{}}};\n", words.join(", "));
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "
static uint32_t bits(float number)
{{
    union calib_word word;
    word.number = number;
    return word.bits;
}}

int main(void)
{{
    struct calib_result result;
    float scores[CALIB_CLASSES], calibrated[CALIB_CLASSES];
    union calib_word word;
    uint32_t i, c, predicted;
    int status;

    for (i = 0; i < {}u; i++) {{
        for (c = 0; c < CALIB_CLASSES; c++) {{
            word.bits = asked[i * CALIB_CLASSES + c];
            scores[c] = word.number;
        }}
        status = calib_all_classes(scores, calibrated, &predicted, &result);
        put((uint32_t)status);
        if (status != CALIB_OK)
            continue;
        put(predicted);
        put(bits(result.prob));
{}        for (c = 0; c < CALIB_CLASSES; c++)
            put(bits(calibrated[c]));
    }}
    finish();
    return 0;
}}
",
        vectors.len(),
        if has_intervals {
            "        put(bits(result.lo));\n        put(bits(result.hi));\n        put(result.bin);\n"
        } else {
            ""
        }
    );
    text
}

fn whole_vectors_agree(classes: usize, artifacts: Vec<(calib_core::artifact::Method, Vec<u8>)>) {
    for (method, bytes) in artifacts {
        let stored = StoredArtifact::from_bytes(&bytes).unwrap();
        let Calibrator::Vector(calibrator) = stored.artifact().calibrator() else { panic!("{method}") };
        let are_logits = calibrator.needs_logits();
        let vectors = vectors(classes, are_logits);
        let expected = expected(&stored, &vectors, are_logits);
        let ok = expected.len() / (classes + 6);
        assert!(ok > 150, "{method}: {ok} vectors are calibrated");
        agrees(
            &format!("{method} of {classes} classes"),
            &stored,
            &probe(&vectors, stored.artifact().score_intervals().is_some()),
            &expected,
        );
    }
}

#[test]
fn three_classes_in_c_are_those_of_calib_core() {
    whole_vectors_agree(3, artifacts((3, 3000), &of_three_classes(), true));
    whole_vectors_agree(3, artifacts((3, 3000), &of_three_classes(), false));
}

#[test]
fn ten_classes_in_c_are_those_of_calib_core() {
    whole_vectors_agree(10, artifacts((10, 2000), &of_ten_classes(), true));
}
