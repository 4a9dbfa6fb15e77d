//! The warnings of a report: data that make each appear, and data that do not.

use crate::data::{TOP_FIT, matrix_place};
use crate::report::place;
use crate::workplace::Workplace;

/// The warnings of a report on a binary artefact.
fn warnings(place: &Workplace, artefact: &str, calibration: &str, test: &str) -> String {
    let line = format!(
        "calib report {artefact} --same-rows --calibration {calibration} --test {test} --bootstrap 5 --json"
    );
    place.json(&line)["warnings"].to_string()
}

/// Rows of scores with labels of both kinds, more of them 1 where the score is higher.
fn rows(n: u32) -> String {
    let line = |row: u32| {
        format!("{},{}\n", (f64::from(row) + 0.3) / f64::from(n), u8::from(row * 7 % 9 < row * 9 / n))
    };
    format!("score,label\n{}", (0..n).map(line).collect::<String>())
}

#[test]
fn equal_data_are_found_by_their_bytes_and_by_their_rows() {
    let place = place();
    let what = "The test data are the calibration data";
    assert!(warnings(&place, "cal.bin", "cal.csv", "cal.csv").contains(what));
    assert!(!warnings(&place, "cal.bin", "cal.csv", "test.csv").contains(what));
    // The same rows in another order are the same data.
    let mut lines: Vec<String> =
        String::from_utf8(place.bytes("cal.csv")).unwrap().lines().skip(1).map(str::to_owned).collect();
    lines.reverse();
    let place = place.with("turned.csv", format!("score,label\n{}\n", lines.join("\n")));
    assert!(warnings(&place, "cal.bin", "cal.csv", "turned.csv").contains(what));
}

#[test]
fn other_calibration_data_than_the_artefacts_are_found() {
    let place = place();
    let what = "not those that the artefact was fitted to";
    assert!(warnings(&place, "cal.bin", "test.csv", "cal.csv").contains(what));
    assert!(!warnings(&place, "cal.bin", "cal.csv", "test.csv").contains(what));
    // The same rows under other names of columns are the same data, and with one row less they are not.
    let text = String::from_utf8(place.bytes("cal.csv")).unwrap();
    let renamed = text.replacen("score,label", "y_prob,y_true", 1);
    let place = place.with("short.csv", &renamed[..renamed.trim_end().rfind('\n').unwrap() + 1]);
    let place = place.with("renamed.csv", renamed);
    assert!(!warnings(&place, "cal.bin", "renamed.csv", "test.csv").contains(what));
    assert!(warnings(&place, "cal.bin", "short.csv", "test.csv").contains(what));
}

#[test]
fn tied_scores_are_found() {
    let place = place().with("tied.csv", "score,label\n".to_owned() + &"0.5,1\n0.5,0\n0.25,0\n".repeat(9));
    let tied = warnings(&place, "cal.bin", "cal.csv", "tied.csv");
    assert!(tied.contains("66.7 % of the test rows have the score 0.5"), "{tied}");
    assert!(!warnings(&place, "cal.bin", "cal.csv", "test.csv").contains("Scores are tied"));
}

#[test]
fn few_points_are_found() {
    let place = place().with("few.csv", rows(8)).with("many.csv", rows(2000));
    let few = warnings(&place, "cal.bin", "cal.csv", "few.csv");
    assert!(few.contains("There are only 8 test rows"), "{few}");
    assert!(few.contains("There are fewer test rows than bins of the calibrator: 8 for 10."), "{few}");
    assert!(
        few.contains("bins of the reliability diagram after calibration hold fewer than 10 test rows"),
        "{few}"
    );
    assert!(few.contains("2 of 10 bins of the calibrator hold no test row"), "{few}");
    let many = warnings(&place, "cal.bin", "cal.csv", "many.csv");
    for what in ["There are only", "fewer test rows than bins", "hold fewer than 10", "hold no test row"] {
        assert!(!many.contains(what), "{what}: {many}");
    }
}

#[test]
fn bins_that_rest_on_few_points_are_found() {
    let place = place();
    place.ok("calib fit --method umd --bins 50 --scores cal.csv -o fine.bin");
    let fine = warnings(&place, "fine.bin", "cal.csv", "test.csv");
    assert!(
        fine.contains("50 of 50 bins of the calibrator rest on fewer than 10 calibration rows"),
        "{fine}"
    );
    assert!(!warnings(&place, "cal.bin", "cal.csv", "test.csv").contains("calibration rows"));
}

#[test]
fn empty_bins_are_found() {
    // Nothing between 0.25 and 0.75.
    let line = |row: u32| {
        let score = f64::from(row % 200) / 800.0 + if row < 200 { 0.0 } else { 0.75 };
        format!("{score},{}\n", row % 2)
    };
    let gap = format!("score,label\n{}", (0..400).map(line).collect::<String>());
    let place = place().with("gap.csv", gap);
    place.ok("calib fit --method fixed-width --bins 8 --scores gap.csv -o gap.bin");
    let empty = warnings(&place, "gap.bin", "gap.csv", "test.csv");
    assert!(empty.contains("4 of 8 bins of the calibrator are empty"), "{empty}");
    place.ok("calib fit --method fixed-width --bins 8 --scores cal.csv -o full.bin");
    assert!(!warnings(&place, "full.bin", "cal.csv", "test.csv").contains("are empty"));
}

#[test]
fn uncalibrated_classes_are_found() {
    let (place, _) = matrix_place(400);
    place.ok(TOP_FIT);
    let files = "--same-rows --calibration val_logits.npy --calibration-labels val_labels.npy --test val_logits.npy --test-labels \
                 val_labels.npy --bootstrap 5";
    let got = place.json(&format!("calib report top.bin {files} --json"));
    assert_eq!(got["uncalibrated"], 10);
    assert!(got["warnings"].to_string().contains("10 of 400 test rows are uncalibrated"));
    let ids: Vec<_> =
        got["plots"].as_array().unwrap().iter().map(|plot| plot["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"class-0") && ids.contains(&"class-1") && !ids.contains(&"class-2"), "{ids:?}");

    place.ok(&format!("{TOP_FIT} --force").replace("--points-per-bin 50", "--points-per-bin 5"));
    let all = place.json(&format!("calib report top.bin {files} --json"));
    assert!(!all["warnings"].to_string().contains("uncalibrated"), "{}", all["warnings"]);
}

#[test]
fn bins_in_which_next_to_nothing_happened_are_found() {
    let rows = |label: fn(u32) -> bool| {
        let line = |row: u32| format!("{},{}\n", f64::from(row) / 200.0, u8::from(label(row)));
        format!("score,label\n{}", (0..200).map(line).collect::<String>())
    };
    let place = place()
        .with("rare.csv", rows(|row| row == 5 || row > 100 && row % 2 == 0))
        .with("even.csv", rows(|row| row % 3 == 0));
    let of = |name: &str| {
        place.ok(&format!("calib fit --method fixed-width --bins 2 --scores {name} -o few.bin --force"));
        warnings(&place, "few.bin", name, "test.csv")
    };
    let rare = of("rare.csv");
    assert!(
        rare.contains("At most two positives or two negatives in all are in 1 of 2 bins of the calibrator"),
        "{rare}"
    );
    assert!(!of("even.csv").contains("At most two"));
}
