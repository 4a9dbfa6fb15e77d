//! A scaling function in C is a table of steps, within what the header states.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use calib_core::artifact::TableForm;
use calib_core::{Artifact, Margin, Score};
use calib_host::artifact::FunctionSteps;

use super::asked::scores;

const PROGRAM: &str = r#"
#include <stdio.h>
#include "calib.h"

int main(void)
{
    union calib_word word;
    uint32_t answer[2];
    float score;

    while (fread(&score, sizeof score, 1, stdin) == 1) {
        struct calib_result result = {0};
        answer[0] = (uint32_t)calib_calibrate(0, score, &result);
        word.number = answer[0] == CALIB_OK ? result.prob : -1.0f;
        answer[1] = word.bits;
        if (fwrite(answer, sizeof answer, 1, stdout) != 1)
            return 1;
    }
    return 0;
}
"#;
const FLAGS: [&str; 7] = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

/// The form of an artifact of functions.
pub(crate) fn function<'a>(artifact: &Artifact<'a>) -> Option<TableForm<'a>> {
    let form = artifact.tables().get(0)?.form;
    matches!(form, TableForm::Scaling(_) | TableForm::MarginScaling(_)).then_some(form)
}

/// What the header should answer: a status, the bits of the step's value, and the function's probability.
fn expected(steps: &TableForm<'_>, function: &TableForm<'_>, score: f32) -> (u32, f32, f32) {
    const BAD_SCORE: (u32, f32, f32) = (1, -1.0, -1.0);
    match (steps, function) {
        (TableForm::Steps(steps), TableForm::Scaling(function)) => {
            Score::new(score).map_or(BAD_SCORE, |score| (0, steps.lookup(score).1, function.prob(score)))
        }
        (TableForm::MarginSteps(steps), TableForm::MarginScaling(function)) => {
            Margin::new(score).map_or(BAD_SCORE, |margin| (0, steps.lookup(margin).1, function.prob(margin)))
        }
        _ => panic!("{steps:?} do not stand for {function:?}"),
    }
}

/// Compiles a header, and compares it with the steps bit for bit, and with the function.
pub(crate) fn check(name: &str, artifact: &Artifact<'_>, function: TableForm<'_>, header: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("calib.h"), header).unwrap();
    fs::write(folder.path().join("main.c"), PROGRAM).unwrap();
    let built =
        Command::new("cc").current_dir(folder.path()).args(FLAGS).args(["main.c", "-o", "main"]).output();
    let built = built.unwrap();
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));

    let steps = FunctionSteps::of(&function).unwrap();
    let stated = format!("differs from `calib apply` by at most {:.4}", steps.within);
    let words = header.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&stated), "{name}: {stated}\n{header}");
    let form = steps.form().unwrap();
    let around = form.edges().iter().flat_map(|edge| [edge.next_down(), *edge, edge.next_up()]);
    let asked: Vec<f32> = scores(artifact).into_iter().chain(around).collect();
    let mut run = Command::new(folder.path().join("main"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let bytes: Vec<u8> = asked.iter().flat_map(|score| score.to_le_bytes()).collect();
    let mut stdin = run.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
    let got = run.wait_with_output().unwrap().stdout;
    writer.join().unwrap();
    assert_eq!(got.len(), 8 * asked.len(), "{name}");
    let mut calibrated = 0;
    for (&score, answer) in asked.iter().zip(got.as_chunks::<8>().0) {
        let (status, value, prob) = expected(&form, &function, score);
        let words =
            [answer[..4].try_into().unwrap(), answer[4..].try_into().unwrap()].map(u32::from_le_bytes);
        assert_eq!(words, [status, value.to_bits()], "{name} at {score}");
        assert!(
            (f64::from(value) - f64::from(prob)).abs() <= steps.within,
            "{name} at {score}: {value} for {prob}"
        );
        calibrated += usize::from(status == 0);
    }
    assert!(calibrated > 1000, "{name}: {calibrated} scores");
}
