//! A device counts its predictions by bin, and notices that scores are no longer like those of the calibration.
//!
//! ```sh
//! cargo run -p calib-core --example watch_for_a_shift
//! ```

use calib_core::monitor::{LogEvidence, Reference, ReferenceError, ShiftMonitor};
use calib_core::{Score, StepTable, step_table};

/// Four bins with a quarter of 1000 calibration scores each.
const TABLE: StepTable<'static> = step_table!(&[0.25, 0.5, 0.75], &[0.05, 0.2, 0.45, 0.8]);
const ROWS_BY_BIN: [u32; 4] = [250; 4];

/// After how many of these scores there is an alarm that has a false one in at most 1 of 20 devices.
fn alarm_at(scores: impl Iterator<Item = f32>) -> Result<Option<u32>, ReferenceError> {
    let reference = Reference::new(&ROWS_BY_BIN)?;
    let mut monitor = ShiftMonitor::<4>::new();
    for score in scores.filter_map(|score| Score::new(score).ok()) {
        let (bin, _) = TABLE.lookup(score);
        monitor.count(bin.into());
        monitor.look(&reference, LogEvidence::of_one_in(20));
    }
    Ok(monitor.alarm_at())
}

fn main() -> Result<(), ReferenceError> {
    // Multiples of the golden ratio are spread evenly.
    let even = |row: u32| (f64::from(row) * 0.618_033_988_749_895).fract() as f32;
    let like_before = alarm_at((0..2_000).map(even))?;
    let shifted = alarm_at((0..2_000).map(|row| even(row).sqrt()))?;
    println!("scores as in the calibration: {like_before:?}");
    println!("higher scores: an alarm at prediction {shifted:?}");
    assert!(like_before.is_none() && shifted.is_some());
    Ok(())
}

#[test]
fn a_shift_is_noticed_and_none_is_not() -> Result<(), ReferenceError> {
    main()
}
