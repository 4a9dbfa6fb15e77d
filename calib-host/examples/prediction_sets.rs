//! Finds sets of classes that hold the true one for 90% of all rows, beside a calibrator of the predicted class.
//!
//! ```sh
//! cargo run -p calib-host --example prediction_sets
//! ```

use std::error::Error;

use calib_host::VectorKind;
use calib_host::calib_core::Probs;
use calib_host::calib_core::predict::{Output, Query};
use calib_host::dataset::{Dataset, Rows, Scores};
use calib_host::job::{FitOptions, SetOptions, Target, fit, sets};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const CLASSES: usize = 3;

/// Rows of three classes, of which the true one mostly has the largest probability.
fn rows(n: usize) -> Result<Dataset, Box<dyn Error>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let labels: Vec<i64> = (0..n).map(|row| (row % CLASSES) as i64).collect();
    let mut probs = Vec::with_capacity(CLASSES * n);
    for &label in &labels {
        let mut row: [f32; CLASSES] = std::array::from_fn(|_| rng.random::<f32>() + 0.1);
        row[label as usize] += 1.0;
        let sum: f32 = row.iter().sum();
        probs.extend(row.map(|prob| prob / sum));
    }
    Ok(Dataset::new(Scores::Vectors(VectorKind::Probs, probs, CLASSES), Rows::new(&labels))?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = rows(3_000)?;
    let calibrator = fit(&data, &FitOptions::default())?.artifact;
    let mut options = SetOptions::default();
    (options.by_class, options.never_empty) = (Some(true), true);
    let found = sets(&data, &options, &Target::Beside(&calibrator, 1))?;
    for sentence in &found.summary.sentences {
        println!("{sentence}");
    }

    let artifact = found.artifact.artifact();
    for row in [[0.9, 0.05, 0.05], [0.4, 0.35, 0.25]] {
        let probs = Probs::new(&row)?;
        let output = Output::Probs(probs);
        let prediction = artifact.predict(&Query { output, group: None, word: None })?;
        let set = prediction.set.ok_or("the artifact has prediction sets")?;
        println!("{row:?}: {} of {CLASSES} classes may be true", set.len());
        assert!(!set.is_empty());
    }
    Ok(())
}

#[test]
fn sets_are_found() -> Result<(), Box<dyn Error>> {
    main()
}
