//! Asks whether a calibrator makes predictions better, on rows that it was not fitted to.
//!
//! ```sh
//! cargo run -p calib-fit --example assess_before_after
//! ```

use std::error::Error;

use calib_fit::ScoreKind;
use calib_fit::dataset::{Dataset, Rows, Scores};
use calib_fit::job::{AssessOptions, AssessedBeforeAfter, AssessedFigures, FitOptions, assess, fit};

/// Scores of an overconfident classifier: a score of s is right in s^2 of the cases. `step` draws other rows.
fn rows(step: usize) -> Result<Dataset, Box<dyn Error>> {
    let score = |row: usize| ((row * step % 5_000) as f32 + step as f32 / 100.0) / 5_000.0;
    let scores: Vec<f32> = (0..5_000).map(score).collect();
    let is_right = |(row, &score): (usize, &f32)| (row * 61 % 5_000) as f32 / 5_000.0 < score * score;
    let labels: Vec<i64> = scores.iter().enumerate().map(|row| i64::from(is_right(row))).collect();
    Ok(Dataset::new(Scores::Binary(ScoreKind::Probability, scores.into()), Rows::new(&labels))?)
}

fn assessed() -> Result<AssessedBeforeAfter, Box<dyn Error>> {
    let artifact = fit(&rows(37)?, &FitOptions::default())?.artifact;
    let found = assess(&rows(39)?, Some(&artifact), &AssessOptions::default().resamples(50).seed(1))?;
    match found.figures {
        Some(AssessedFigures::BeforeAfter(found)) => Ok(found),
        _ => Err("a binary calibrator has figures before and after".into()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let found = assessed()?;
    let [before, after] = [&found.metrics.both.before, &found.metrics.both.after];
    println!(
        "expected calibration error: {:.3} before, {:.3} after",
        before.conf_ece.value, after.conf_ece.value
    );
    println!("Brier score: {:.3} before, {:.3} after", before.brier.value, after.brier.value);
    Ok(())
}

#[test]
fn calibrating_helps() -> Result<(), Box<dyn Error>> {
    main()?;
    let found = assessed()?;
    let [before, after] = [&found.metrics.both.before, &found.metrics.both.after];
    assert!(after.conf_ece.value < before.conf_ece.value && after.brier.value < before.brier.value);
    Ok(())
}
