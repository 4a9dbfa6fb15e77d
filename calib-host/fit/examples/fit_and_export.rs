//! Fits a calibrator to held-out scores, and writes the bytes that a device reads.
//!
//! ```sh
//! cargo run -p calib-fit --example fit_and_export -- calibrator.cal
//! ```

use std::error::Error;
use std::fs;

use calib_fit::ScoreKind;
use calib_fit::dataset::{Dataset, Rows, Scores};
use calib_fit::job::{FitOptions, fit};

fn main() -> Result<(), Box<dyn Error>> {
    // 5,000 held-out scores of an overconfident classifier: a score of s is right in s^2 of the cases.
    let scores: Vec<f32> = (0..5_000).map(|row| (row * 37 % 5_000) as f32 / 5_000.0).collect();
    let is_right = |(row, &score): (usize, &f32)| (row * 61 % 5_000) as f32 / 5_000.0 < score * score;
    let labels: Vec<i64> = scores.iter().enumerate().map(|row| i64::from(is_right(row))).collect();

    let scores = Scores::Binary(ScoreKind::Probability, scores.into());
    let data = Dataset::new(scores, Rows::new(&labels))?;
    let fitted = fit(&data, &FitOptions::default().alpha(0.05))?;

    if let Some(chosen) = &fitted.chosen {
        println!("{chosen}.");
    }
    for finding in &fitted.findings {
        println!("warning: {finding}");
    }
    let artifact = fitted.artifact.artifact();
    let header = artifact.header();
    println!("{} with {} bins, {} bytes", header.method, header.bins, fitted.artifact.as_bytes().len());
    match std::env::args().nth(1).filter(|_| !cfg!(test)) {
        Some(path) => fs::write(path, fitted.artifact.as_bytes())?,
        None => println!("name a file to write the bytes to"),
    }
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
