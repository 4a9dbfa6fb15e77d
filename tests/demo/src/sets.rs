//! Prediction sets of a classifier of several classes: what they promise, and what they hold on the test rows.

use std::fs;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use calib_classifier::{Case, Rows};
use calib_core::ScoreEncoding;
use calib_firmware::Classifier;
use calib_host::artifact::{SetsOnDevice, rule_sentences};
use calib_host::sets::{Conformities, ConformityScore, PredictionSets, SetAim};
use calib_host::{ArtifactOptions, StoredArtifact, VectorKind, Vectors};
use calib_tests::Emulator;

use crate::operating::answers;
use crate::share::Share;
use crate::{BOARD, print_agreement, relative};

/// The probability that the true class is missed.
const ALPHA: f64 = 0.05;

/// Finds the sets on the calibration rows, deploys them alone, and judges them on the test rows.
///
/// The class's logit less the largest other one is compared, so the device needs no exponential.
pub(crate) fn show(case: &Case, folder: &Path, elf: &Path) -> Result<()> {
    let labels: Vec<i64> = case.calibration.labels.iter().map(|&label| label.into()).collect();
    let aim = SetAim { alpha: ALPHA, by_class: false, confidence: None };
    let sets = PredictionSets::fit(&conformities(case, &case.calibration)?, &labels, aim)?;
    let device =
        SetsOnDevice { sets: &sets, encoding: ScoreEncoding::F32, binary: false, never_empty: false };
    let options = ArtifactOptions { classifier: Some(case.model.id()), ..ArtifactOptions::default() };
    let bytes = device.alone(&format!("alpha={ALPHA}"), &options)?;
    let output = folder.join("sets.bin");
    fs::write(&output, &bytes)?;
    let stored = StoredArtifact::from_bytes(&bytes)?;
    println!("  sets         {} bytes in {}", bytes.len(), relative(&output));
    for sentence in rule_sentences(&stored.artifact()) {
        println!("               {sentence}");
    }
    judge(case, &sets, &mut Emulator::start_fast(BOARD, elf, Some(&output))?)
}

fn judge(case: &Case, sets: &PredictionSets, device: &mut Emulator) -> Result<()> {
    let Rows { features, labels } = &case.test;
    let answers = answers(device, features)?;
    let test = conformities(case, &case.test)?;
    let (mut differences, mut sizes) = (Vec::new(), [0u64; 11]);
    let (mut covered, mut alone, mut alone_right) = (Share::default(), Share::default(), Share::default());
    for (row, ((answer, keys), &label)) in answers.iter().zip(test.rows()).zip(labels).enumerate() {
        let Some(set) = answer.set else { bail!("row {row}: the device has no set: {answer:?}") };
        let expected = (0..).zip(sets.set(keys)).filter(|(_, is_in)| *is_in).map(|(class, _)| class);
        if set != expected.collect() || answer.prediction.alarm == set.alone().is_some() {
            differences.push(format!("row {row}: device {answer:?}"));
        }
        covered.add(set.contains(label));
        alone.add(set.len() == 1);
        if let Some(class) = set.alone() {
            alone_right.add(class == label);
        }
        sizes[set.len().min(10)] += 1;
    }
    print_agreement("sets of the test rows", &differences, answers.len())?;
    let mean = (0u64..).zip(&sizes).map(|(size, rows)| size * rows).sum::<u64>() as f64 / covered.n as f64;
    println!(
        "               on the test rows the true class is in {covered} of the sets, which have {mean:.2} classes on average; \
         {} are empty",
        sizes[0]
    );
    println!(
        "               the device decides alone in {alone}, and is right in {alone_right} of them; of the others somebody else decides"
    );
    let verdict = match covered.interval().hi < 1.0 - ALPHA {
        true => "the test rows contradict the promise",
        false => "the test rows agree with the promise",
    };
    println!(
        "  verdict      {verdict}: exact 95 % intervals in brackets; a set of one class has no promise of its own"
    );
    Ok(())
}

/// How well every class conforms to every row.
fn conformities(case: &Case, rows: &Rows) -> Result<Conformities> {
    let logits = rows.features.iter().map(|row| case.model.logits(row));
    let logits: Vec<Vec<f32>> =
        logits.collect::<Result<_, _>>().map_err(|refusal| anyhow!("the classifier refuses: {refusal:?}"))?;
    let classes = logits[0].len();
    Ok(Conformities::of_vectors(
        &Vectors::new(logits.concat(), classes, VectorKind::Logits)?,
        ConformityScore::Margin,
    )?)
}
