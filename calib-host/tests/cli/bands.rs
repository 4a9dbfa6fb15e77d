//! A band around the calibration curve, through all commands that show one.

use crate::data::scored;
use crate::workplace::Workplace;

/// 600 rows whose label is 1 about as often as the square of the score says.
fn place() -> Workplace {
    let hash = |row: u32| f64::from(row.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
    let score = move |row: u32| f64::from(row % 600) / 600.0;
    let rows =
        move |salt: u32| scored(600, move |row| (score(row), hash(row + salt) < score(row) * score(row)));
    Workplace::new().with("cal.csv", rows(1)).with("test.csv", rows(1000))
}

#[test]
fn every_score_has_a_band() {
    let place = place();
    place.says("calib fit --method beta --no-intervals --band --scores cal.csv -o beta.bin");
    place.says("calib inspect beta.bin");
    place.says("calib apply beta.bin --scores test.csv -o out.csv");
    let out = place.text("out.csv");
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("score,label,prob,bin,epsilon,flags,band_lo,band_hi"));
    let mut before = (0.0, 0.0);
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let band: (f64, f64) = (cells[6].parse().unwrap(), cells[7].parse().unwrap());
        assert!(before.0 <= band.0 && before.1 <= band.1 && band.0 < band.1, "{line}");
        before = band;
    }
    assert!(before.0 > 0.5);
    place.says("calib adjust beta.bin --prevalence 0.1 --counter 1 -o rare.bin");
    place.says("calib fit --method umd --bins 5 --band --scores cal.csv -o umd.bin");
    let inspected = place.inspect("umd.bin");
    assert!(inspected["band"]["steps"].as_array().unwrap().len() > 5);
    // Beside intervals it is there unasked from 500 rows on, unless it is left out, and then there is no word of it.
    place.ok("calib fit --method beta --scores cal.csv -o both.bin");
    assert!(place.inspect("both.bin")["band"].is_object());
    for options in ["--no-band", "--no-intervals"] {
        place.ok(&format!("calib fit --method beta {options} --scores cal.csv -o plain.bin --force"));
        assert_eq!(place.inspect("plain.bin").get("band"), None);
    }
    said!();
}

#[test]
fn a_band_that_would_not_hold_is_refused() {
    let turned = scored(600, |row| (f64::from(row) / 600.0, row * 7 % 600 > row));
    let place = place().with("turned.csv", turned);
    assert_ne!(place.says("calib fit --method beta --band --scores turned.csv -o no.bin").code, 0);
    assert!(!place.path().join("no.bin").exists());
    // Unasked it is told and left out.
    place.says("calib fit --method beta --scores turned.csv -o no.bin");
    assert_eq!(place.inspect("no.bin").get("band"), None);
    said!();
}
