//! The warnings of a report: data that make each appear, and data that do not.

use crate::data::{Json, TOP_FIT, matrix_place, scored};
use crate::report::place;
use crate::transcript::{note, quote};
use crate::workplace::Workplace;

/// Writes the warnings of a report on a binary artifact.
fn warnings(place: &Workplace, artifact: &str, calibration: &str, test: &str) {
    let line = format!(
        "calib report {artifact} --same-rows --calibration {calibration} --test {test} --bootstrap 5 --json"
    );
    quote(&place.says(&line).json()["warnings"]);
}

/// Rows of scores with labels of both kinds, more of them 1 where the score is higher.
fn rows(n: u32) -> String {
    scored(n, |row| ((f64::from(row) + 0.3) / f64::from(n), row * 7 % 9 < row * 9 / n))
}

#[test]
fn equal_data_are_found_by_their_bytes_and_by_their_rows() {
    let place = place();
    warnings(&place, "cal.bin", "cal.csv", "cal.csv");
    warnings(&place, "cal.bin", "cal.csv", "test.csv");
    // The same rows in another order are the same data.
    let mut lines: Vec<String> = place.text("cal.csv").lines().skip(1).map(str::to_owned).collect();
    lines.reverse();
    let place = place.with("turned.csv", format!("score,label\n{}\n", lines.join("\n")));
    warnings(&place, "cal.bin", "cal.csv", "turned.csv");
    said!();
}

#[test]
fn other_calibration_data_than_the_artifacts_are_found() {
    let place = place();
    warnings(&place, "cal.bin", "test.csv", "cal.csv");
    warnings(&place, "cal.bin", "cal.csv", "test.csv");
    // The same rows under other names of columns are the same data, and with one row less they are not.
    let renamed = place.text("cal.csv").replacen("score,label", "y_prob,y_true", 1);
    let place = place.with("short.csv", &renamed[..renamed.trim_end().rfind('\n').unwrap() + 1]);
    let place = place.with("renamed.csv", renamed);
    warnings(&place, "cal.bin", "renamed.csv", "test.csv");
    warnings(&place, "cal.bin", "short.csv", "test.csv");
    said!();
}

#[test]
fn tied_scores_are_found() {
    let place = place().with("tied.csv", "score,label\n".to_owned() + &"0.5,1\n0.5,0\n0.25,0\n".repeat(9));
    warnings(&place, "cal.bin", "cal.csv", "tied.csv");
    warnings(&place, "cal.bin", "cal.csv", "test.csv");
    said!();
}

#[test]
fn few_points_are_found() {
    let place = place().with("few.csv", rows(8)).with("many.csv", rows(2000));
    warnings(&place, "cal.bin", "cal.csv", "few.csv");
    warnings(&place, "cal.bin", "cal.csv", "many.csv");
    said!();
}

#[test]
fn bins_that_rest_on_few_points_are_found() {
    let place = place();
    place.ok("calib fit --method umd --bins 50 --scores cal.csv -o fine.bin");
    warnings(&place, "fine.bin", "cal.csv", "test.csv");
    warnings(&place, "cal.bin", "cal.csv", "test.csv");
    said!();
}

#[test]
fn empty_bins_are_found() {
    // Nothing between 0.25 and 0.75.
    let gap =
        scored(400, |row| (f64::from(row % 200) / 800.0 + if row < 200 { 0.0 } else { 0.75 }, row % 2 == 1));
    let place = place().with("gap.csv", gap);
    place.ok("calib fit --method fixed-width --bins 8 --scores gap.csv -o gap.bin");
    warnings(&place, "gap.bin", "gap.csv", "test.csv");
    place.ok("calib fit --method fixed-width --bins 8 --scores cal.csv -o full.bin");
    warnings(&place, "full.bin", "cal.csv", "test.csv");
    said!();
}

#[test]
fn uncalibrated_classes_are_found() {
    let (place, _) = matrix_place(400);
    place.ok(TOP_FIT);
    let files = "--same-rows --calibration val_logits.npy --calibration-labels val_labels.npy --test val_logits.npy --test-labels \
                 val_labels.npy --bootstrap 5";
    let got = place.json(&format!("calib report top.bin {files} --json"));
    assert_eq!(got["uncalibrated"], 10);
    quote(&got["warnings"]);
    let ids: Vec<_> = got["plots"].list().iter().map(|plot| plot["id"].text()).collect();
    assert!(ids.contains(&"class-0") && ids.contains(&"class-1") && !ids.contains(&"class-2"), "{ids:?}");

    place.ok(&format!("{TOP_FIT} --force").replace("--rows-per-bin 50", "--rows-per-bin 5"));
    note("\nand with 5 observations a bin");
    quote(&place.json(&format!("calib report top.bin {files} --json"))["warnings"]);
    said!();
}

#[test]
fn bins_in_which_next_to_nothing_happened_are_found() {
    let rows = |label: fn(u32) -> bool| scored(200, |row| (f64::from(row) / 200.0, label(row)));
    let place = place()
        .with("rare.csv", rows(|row| row == 5 || row > 100 && row % 2 == 0))
        .with("even.csv", rows(|row| row % 3 == 0));
    for name in ["rare.csv", "even.csv"] {
        place.ok(&format!("calib fit --method fixed-width --bins 2 --scores {name} -o few.bin --force"));
        warnings(&place, "few.bin", name, "test.csv");
    }
    said!();
}
