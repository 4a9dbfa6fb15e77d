//! Finds the threshold of a score that raises at least 95% of the positive cases, and asks the artifact as a device does.
//!
//! ```sh
//! cargo run -p calib-fit --example threshold
//! ```

use std::error::Error;

use calib_fit::BinaryData;
use calib_fit::calib_core::Score;
use calib_fit::calib_core::predict::{Output, Query};
use calib_fit::job::{Target, ThresholdOptions, threshold};

fn main() -> Result<(), Box<dyn Error>> {
    // 400 held-out scores; a score of s is right in s of the cases.
    let scores: Vec<f64> = (0..400).map(|row| f64::from(row) / 400.0).collect();
    let labels: Vec<bool> = (0..400).map(|row| row * 61 % 400 < row).collect();
    let data = BinaryData::new(scores, labels)?;

    let mut options = ThresholdOptions::default();
    options.sensitivity = Some(0.95);
    let found = threshold(&data.into(), &options, &Target::Alone(Default::default()))?;
    for sentence in &found.summary.sentences {
        println!("{sentence}");
    }

    let artifact = found.artifact.artifact();
    let raises = |score: f32| -> Result<bool, Box<dyn Error>> {
        let prediction = artifact.predict(&Query {
            output: Output::Score(Score::new(score)?),
            group: None,
            word: None,
        })?;
        prediction.alarm.ok_or_else(|| "the thresholds decide about the alarm".into())
    };
    for score in [0.05, 0.5, 0.95] {
        println!("a score of {score} raises the alarm: {}", raises(score)?);
    }
    assert!(!raises(0.01)? && raises(0.95)?);
    Ok(())
}

#[test]
fn low_scores_are_not_raised() -> Result<(), Box<dyn Error>> {
    main()
}
