//! Prediction sets of a classifier of several classes: what they guarantee, and what they hold on the test rows.

use std::path::Path;

use anyhow::{Result, bail};
use calib_host::artifact::rule_sentences;
use calib_host::io::files::read_artifact;
use calib_host::sets::{ConformityScore, ConformityScores, PredictionSets};
use calib_host::{VectorKind, Vectors};
use calib_tests::Emulator;
use calib_tests::classifier::{CodedRows, NetworkCase};

use crate::operating::answers;
use crate::share::Share;
use crate::{BOARD, calib, print_agreement, relative};

/// Finds sets that miss the true class with a probability of 5 %, deploys them alone, and judges them on the test rows.
///
/// The class's logit less the largest other one is compared, so the device needs no exponential.
pub(crate) fn show(case: &NetworkCase, data: &[String], output: &Path, elf: &Path) -> Result<()> {
    let id = case.network.id.to_string();
    let options = ["--class-score", "margin", "--alpha", "0.05", "--classifier-id", &id, "--force", "-o"];
    let output_name = relative(output);
    let arguments: Vec<&str> =
        data.iter().map(String::as_str).chain(options).chain([output_name.as_str()]).collect();
    calib("sets", &arguments)?;
    let stored = read_artifact(output)?;
    let artifact = stored.artifact();
    for (at, sentence) in rule_sentences(&artifact).iter().enumerate() {
        println!("  {:<12} {sentence}", if at == 0 { "sets" } else { "" });
    }
    let Some(sets) = artifact.prediction_sets() else { bail!("the artifact has no sets") };
    let sets = PredictionSets::stored(sets);
    judge(&case.test, &sets, &mut Emulator::start_fast(BOARD, elf, Some(output))?)
}

fn judge(test: &CodedRows, sets: &PredictionSets, device: &mut Emulator) -> Result<()> {
    let answers = answers(device, &test.rows.features)?;
    let conformities = conformities(test)?;
    let (mut differences, mut sizes) = (Vec::new(), [0u64; 11]);
    let (mut covered, mut alone, mut alone_right) = (Share::default(), Share::default(), Share::default());
    for (row, ((answer, keys), &label)) in
        answers.iter().zip(conformities.rows()).zip(&test.rows.labels).enumerate()
    {
        let Some(set) = answer.set else { bail!("row {row}: the device has no set: {answer:?}") };
        let expected = (0..).zip(sets.set(keys)).filter(|(_, is_in)| *is_in).map(|(class, _)| class);
        if set != expected.collect() || answer.alarm == set.alone().is_some() {
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
        "               the device decides in {alone}, and is correct in {alone_right} of them; someone else decides the others"
    );
    let verdict = match covered.interval().hi < 1.0 - sets.aim().alpha {
        true => "the test rows contradict the guarantee",
        false => "the test rows agree with the guarantee",
    };
    println!(
        "  verdict      {verdict}: exact 95 % intervals in brackets; a set of one class has no separate guarantee"
    );
    Ok(())
}

/// How well every class conforms to every row.
fn conformities(rows: &CodedRows) -> Result<ConformityScores> {
    let logits = rows.floats();
    let classes = logits[0].len();
    Ok(ConformityScores::of_vectors(
        &Vectors::new(logits.concat(), classes, VectorKind::Logits)?,
        ConformityScore::Margin,
    )?)
}
