//! The threshold of a binary classifier: what it guarantees, and what it does on the test rows.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use calib_core::Score;
use calib_core::decision::Verdict;
use calib_core::wire::{Answer, ReplyBody, RequestBody, Scores};
use calib_firmware::Classifier;
use calib_host::artifact::rule_sentences;
use calib_host::io::files::read_artifact;
use calib_tests::classifier::Case;

use crate::share::Share;
use crate::{BOARD, calib, print_agreement, relative};
use calib_tests::Emulator;

/// Finds the threshold that keeps 95 % of class 1 with 95 % confidence, deploys it alone, and judges it on the test rows: the device the
/// first so many, the host all.
pub(crate) fn show(case: &Case, rows: &Path, elf: &Path, words: [&str; 2], on_device: usize) -> Result<()> {
    let output = rows.with_file_name("threshold.bin");
    let id = case.model.id().to_string();
    calib(
        "threshold",
        &[
            "--sensitivity",
            "0.95",
            "--confidence",
            "0.95",
            "--scores",
            &relative(rows),
            "--classifier-id",
            &id,
            "--force",
            "-o",
            &relative(&output),
        ],
    )?;
    let stored = read_artifact(&output)?;
    let artifact = stored.artifact();
    let mut device = Emulator::start_fast(BOARD, elf, Some(&output))?;
    let on_device = on_device.min(case.test.features.len());
    let answers = answers(&mut device, &case.test.features[..on_device])?;
    let Some(points) = artifact.operating_points() else { bail!("the artifact has no thresholds") };
    let Some(point) = points.point::<Score>(0) else { bail!("the thresholds are of other scores") };
    let (mut differences, mut counts) = (Vec::new(), [Share::default(); 2]);
    for ((row, features), &label) in case.test.features.iter().enumerate().zip(&case.test.labels) {
        let score =
            case.model.score(features).map_err(|refusal| anyhow::anyhow!("row {row}: {refusal:?}"))?;
        let verdict = point.verdict(score);
        let differs = |answer: &&Answer| {
            answer.verdict != Some(verdict) || answer.alarm != (verdict == Verdict::Positive)
        };
        if let Some(answer) = answers.get(row).filter(differs) {
            differences.push(format!("row {row}: host {verdict:?}, device {answer:?}"));
        }
        let is_right = (verdict == Verdict::Positive) == (label == 1);
        counts[usize::from(label == 1)].add(is_right);
    }
    print_agreement("verdicts on the test rows", &differences, answers.len())?;
    for (at, sentence) in rule_sentences(&artifact).iter().enumerate() {
        println!("  {:<12} {sentence}", if at == 0 { "threshold" } else { "" });
    }
    let [spared, raised] = counts;
    let [positives, negatives] = words;
    println!(
        "               on the test rows it raises {raised} {positives}, and spares {spared} {negatives}"
    );
    let verdict = match raised.interval().hi < 0.95 {
        true => "the test rows contradict the guarantee",
        false => "the test rows agree with the guarantee",
    };
    println!("  verdict      {verdict}: exact 95 % intervals in brackets");
    Ok(())
}

/// What the device makes of features.
pub(crate) fn answers(device: &mut Emulator, features: &[Vec<f32>]) -> Result<Vec<Answer>> {
    let ask = |row: &Vec<f32>| RequestBody::predict(Scores::Features(row.iter().copied().collect()));
    let replies = device.pipeline(features.iter().map(ask))?;
    ensure!(replies.len() == features.len(), "{} replies to {} rows", replies.len(), features.len());
    replies
        .into_iter()
        .map(|reply| match reply {
            ReplyBody::Answer(answer) => Ok(answer),
            other => bail!("the device does not answer: {other:?}"),
        })
        .collect()
}
