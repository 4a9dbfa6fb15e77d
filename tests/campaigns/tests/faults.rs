//! A sample of what `cargo xtask faults` runs.

use calib_campaigns::faults::{
    Geometry, Scale, counters, cuts, forgeries, half_erased, pairs, rest, rotations, sequences, worn,
};

#[test]
fn a_power_cut_leaves_the_old_calibrator_or_the_new_one() {
    let report = cuts(Scale::Sample);
    assert_eq!(report.violations, [""; 0]);
    assert_eq!(report.geometries, Geometry::all().len());
    assert!(report.cuts.iter().all(|&cuts| cuts >= 4 * report.geometries as u64), "{report}");
    assert!(report.old > 1000 && report.new > 200, "{report}");
}

#[test]
fn two_power_cuts_leave_a_calibrator() {
    let report = pairs(Scale::Sample);
    assert_eq!(report.violations, [""; 0]);
    assert!(report.pairs > 500, "{report}");
}

#[test]
fn half_erased_flash_is_never_taken_for_a_calibrator() {
    let report = half_erased(Scale::Sample);
    assert_eq!(report.violations, [""; 0]);
    assert!(report.images > 400 && report.none > 20 && report.accepted > 100, "{report}");
}

#[test]
fn what_flash_does_not_hold_is_not_acknowledged() {
    let report = worn(Scale::Sample);
    assert_eq!(report.violations, [""; 0]);
    assert!(report.refused > 200, "{report}");
}

#[test]
fn no_bit_at_rest_brings_an_older_calibrator_without_a_word() {
    let report = rest(Scale::Sample);
    assert_eq!(report.violations, [""; 0]);
    assert!(report.newest > 500 && report.told > 100 && report.blind > 100, "{report}");
}

#[test]
fn a_key_in_whose_place_another_one_came_is_refused_whatever_the_power_does() {
    let report = rotations(Scale::Sample);
    assert_eq!(report.violations, [""; 0]);
    assert!(report.cuts.iter().all(|&cuts| cuts > 1000), "{report}");
    assert!(report.refused > 10_000 && report.before > 500, "{report}");
}

#[test]
fn no_forgery_is_accepted() {
    let report = forgeries(Scale::Sample);
    assert!(report.is_clean(), "{report}\n{:?}", report.accepted);
    assert!(report.signature > 200 && report.malformed > 200 && report.classifier == 64, "{report}");
    // Those too short to have a signature are not compared.
    assert!(report.forgeries - report.compared < 60, "{report}");
}

#[test]
fn whatever_is_pushed_and_cut_what_was_acknowledged_stays() {
    let report = sequences(Scale::Sample, 0);
    assert_eq!(report.violations, [""; 0]);
    assert!(report.cuts > 3000 && report.acknowledged > 2000 && report.again > 500, "{report}");
    assert!(report.blind > 500 && report.reloads > 20, "{report}");
}

#[test]
fn a_device_never_goes_on_with_more_than_it_counted_nor_with_what_another_calibrator_did() {
    let report = counters(Scale::Sample);
    assert_eq!(report.violations, [""; 0]);
    assert!(report.cuts.iter().all(|&cuts| cuts > 1000) && report.in_sequences > 1000, "{report}");
    assert!(report.newest > 1000 && report.earlier > 1000 && report.anew > 100, "{report}");
    assert!(report.worn.iter().all(|&saves| saves > 1000), "{report}");
}
