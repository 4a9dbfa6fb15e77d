//! A sample of what `cargo xtask faults --only c` runs.

use calib_campaigns::faults::{Geometry, Scale, cuts, half_erased, numbers, use_device};

#[test]
fn power_cuts_within_the_callbacks_leave_the_old_calibrator_or_the_new_one() {
    use_device(calib_campaigns::start_c);
    let report = cuts(Scale::Sample);
    assert_eq!(report.violations, [""; 0]);
    assert!(report.cuts.iter().all(|&cuts| cuts >= 4 * Geometry::all().len() as u64), "{report}");
    assert!(report.old > 1000 && report.new > 200, "{report}");
}

#[test]
fn half_erased_flash_is_never_taken_for_a_calibrator() {
    use_device(calib_campaigns::start_c);
    let report = half_erased(Scale::Sample);
    assert_eq!(report.violations, [""; 0]);
    assert!(report.images > 400 && report.none > 20 && report.accepted > 100, "{report}");
}

#[test]
fn no_number_is_given_twice_and_no_outcome_counts_twice() {
    let report = numbers(Scale::Sample);
    assert_eq!(report.violations, [""; 0]);
    assert!(report.cuts > 1000 && report.blind > 300 && report.turned > 300, "{report}");
    assert!(
        report.results[0] > 50_000 && report.outcomes.iter().all(|&outcomes| outcomes > 10_000),
        "{report}"
    );
    // Several cuts in a row, and then a first save of all.
    assert!(report.lost < 10, "{report}");
}
