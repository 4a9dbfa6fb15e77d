//! A sample of what `cargo xtask faults --only lives` runs.

use calib_campaigns::faults::Scale;
use calib_campaigns::lives::{Switch, lives};

#[test]
fn whoever_switches_devices_off_few_ever_have_a_false_alarm() {
    let report = lives(Scale::Sample);
    assert_eq!(report.violations(), [""; 0], "{report}");
    // And a shift is noticed nearly as soon.
    let found = |switch| report.rows.iter().find(|row| row.switch == switch).unwrap().detected;
    assert!(found(Switch::Never) > 0.9 && found(Switch::Every(60)) > 0.6, "{report}");
    // A bound that no opponent could break would say nothing of the others.
    assert!(report.rows.last().unwrap().alarms > 0.3, "{report}");
}
