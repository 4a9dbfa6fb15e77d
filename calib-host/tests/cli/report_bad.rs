//! Data that no report or plot can be made of, and data of which only some can.

use crate::npy::f32s;
use crate::report::place;
use crate::transcript::refused;

const REPORT: &str = "calib report cal.bin --calibration cal.csv --test test.csv --bootstrap 5";

#[test]
fn other_numbers_of_classes_and_other_lengths_are_refused() {
    let four = || ("four.npy", f32s(&[40, 4], (0..160).map(|i| i as f32)).bytes());
    let short = || ("short.npy", f32s(&[39, 3], (0..117).map(|i| i as f32)).bytes());
    let labels = "--calibration-labels labels.npy --test-labels labels.npy";
    for (file, name) in [(four(), "four.npy"), (short(), "short.npy")] {
        let line = format!("calib report top.bin --calibration logits.npy --test {name} {labels} -o out");
        refused(std::slice::from_ref(&file), &line);
        let line = format!("calib plot reliability top.bin --test {name} --test-labels labels.npy -o out");
        refused(&[file], &line);
    }
    said!();
}

#[test]
fn one_class_only_has_no_curve() {
    let place = place().with("ones.csv", "score,label\n0.25,1\n0.5,1\n0.75,1\n");
    place.ok("calib report cal.bin --calibration cal.csv --test ones.csv -o one.html");
    place.ok("calib report cal.bin --calibration ones.csv --test cal.csv --same-rows -o other.html");
    place.says("calib plot roc cal.bin --test ones.csv -o out");
    place.ok("calib plot reliability cal.bin --test ones.csv -o reliability.svg");
    said!();
}

#[test]
fn equal_scores_give_a_page_that_says_so() {
    let place = place().with("equal.csv", "score,label\n".to_owned() + &"0.5,1\n0.5,0\n".repeat(300));
    let got = place.json(&(REPORT.replace("test.csv", "equal.csv") + " -o page.html --json"));
    assert!(got["warnings"].to_string().contains("100.0% of the test rows have the score 0.5"));
    assert_eq!(got["metrics"]["before"]["auc"]["value"], 0.5);
    assert!(place.bytes("page.html").starts_with(b"<!DOCTYPE html>"));
}

#[test]
fn fewer_rows_than_bins_give_a_page_that_says_so() {
    let place = place().with("three.csv", "score,label\n0.25,1\n0.5,0\n0.75,1\n");
    let got = place.json(&(REPORT.replace("test.csv", "three.csv") + " -o page.html --json"));
    assert!(got["warnings"].to_string().contains("fewer test rows than bins of the calibrator: 3 for 10"));
    // No number on the page is missing.
    let page = place.text("page.html");
    assert!(!page.contains("NaN") && !page.contains(">inf"), "{page}");
}

#[test]
fn plots_that_an_artifact_does_not_have_are_refused() {
    let other = || ("other.csv", b"score,label\n0.25,1\n0.5,0\n0.75,1\n".to_vec());
    for plot in ["class-wise cal.bin --class 1", "simplex cal.bin", "class cal.bin --class 1"] {
        refused(&[other()], &format!("calib plot {plot} --test other.csv -o out"));
    }
    said!();
}

#[test]
fn a_costs_file_for_other_actions_is_refused() {
    let place = place().with("costs.toml", crate::decide::COSTS);
    place.ok("calib decide --actions costs.toml cal.bin -o rule.bin");
    let place = place.with("other.toml", crate::decide::COSTS.replace("\"ask\"", "\"phone\""));
    place.says(&(REPORT.replace("cal.bin", "rule.bin") + " --actions other.toml -o out"));
    assert!(!place.everything().contains_key("out"));
    said!();
}
