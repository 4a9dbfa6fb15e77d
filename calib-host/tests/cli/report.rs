//! `calib report` and `calib plot`: what a page holds, and that it is the same each time.

use serde_json::json;

use crate::bad_input::refused;
use crate::forms::{TOP_FIT, UMD_FIT, binary_place, close, matrix_place};
use crate::workplace::Workplace;

const REPORT: &str = "calib report cal.bin --calibration cal.csv --test test.csv --bootstrap 20";

/// A calibrator and test data that differ from its calibration data.
fn place() -> Workplace {
    let place = binary_place();
    place.ok(UMD_FIT);
    let line = |row: u32| format!("{},{}\n", (f64::from(row) + 0.25) / 300.0, u8::from(row % 7 < row / 60));
    let test: String = (0..300).map(line).collect();
    place.with("test.csv", format!("score,label\n{test}"))
}

#[test]
fn a_report_is_one_page_and_the_same_each_time() {
    let place = place();
    place.ok(&format!("{REPORT} -o page.html --force"));
    let page = String::from_utf8(place.bytes("page.html")).unwrap();
    place.ok(&format!("{REPORT} -o page.html --force"));
    assert_eq!(place.bytes("page.html"), page.as_bytes());
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    // Nothing is fetched: no address but the name of SVG.
    assert!(!page.replace("http://www.w3.org/2000/svg", "").contains("http"));
    assert!(!page.contains("<script") && !page.contains("url("));
    for part in [
        "With probability 0.9 over the draw of the 400 calibration points",
        "There are only 300 test rows",
        "id=\"reliability-before\"",
        "id=\"reliability-after\"",
        "id=\"validity-marginal\"",
        "id=\"validity-conditional\"",
        "id=\"roc\"",
        "id=\"distribution\"",
        "id=\"occupancy\"",
        "calib report cal.bin --calibration cal.csv",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Behind every plot is a table.
    let count = |part: &str| page.matches(part).count();
    assert_eq!((count("<figure"), count("<details>"), count("role=\"img\"")), (7, 7, 7));
}

#[test]
fn the_json_of_a_report_holds_what_the_page_shows() {
    let place = place();
    let got = place.json(&format!("{REPORT} --json"));
    assert_eq!((&got["schema"], &got["calibrator"]["bins"]), (&json!(1), &json!(10)));
    let assessed = place.json("calib assess cal.bin --scores test.csv --bootstrap 20 --json");
    for side in ["before", "after"] {
        assert_eq!(got["metrics"][side]["brier"], assessed[side]["brier"]);
        assert_eq!(got["metrics"][side]["conf_ece"], assessed[side]["conf_ece"]);
    }
    let inspected = place.inspect("cal.bin");
    assert_eq!(got["calibrator"]["identity"], inspected["identity"]);
    assert_eq!(got["origin"]["calibration_is_the_artefacts"], true);
    let files: Vec<_> = got["origin"]["files"].as_array().unwrap().iter().map(|file| &file["name"]).collect();
    assert_eq!(json!(files), json!(["cal.bin", "cal.csv", "test.csv"]));
    let bins = got["occupancy"].as_array().unwrap();
    let sum = |of: &str| bins.iter().map(|bin| bin[of].as_u64().unwrap()).sum::<u64>();
    assert_eq!((bins.len(), sum("calibration"), sum("test")), (10, 400, 300));
    // Ten bins of 40 points: within 0.261 (Theorem 3), so the guaranteed curve passes through 0.9 there.
    let epsilon = inspected["guarantee"]["epsilon"].as_f64().unwrap();
    assert!(got["guarantee"].as_str().unwrap().contains(&format!("within {epsilon:.4}")));
}

#[test]
fn a_report_warns() {
    let place = place();
    let warnings = |line: &str| place.json(line)["warnings"].to_string();
    let same = warnings("calib report cal.bin --calibration cal.csv --test cal.csv --bootstrap 5 --json");
    assert!(same.contains("The test data are the calibration data"), "{same}");
    let swapped = warnings("calib report cal.bin --calibration test.csv --test cal.csv --bootstrap 5 --json");
    assert!(swapped.contains("not those that the artefact was fitted to"), "{swapped}");
    // The same rows in another order are the same data.
    let mut lines: Vec<String> =
        String::from_utf8(place.bytes("cal.csv")).unwrap().lines().skip(1).map(str::to_owned).collect();
    lines.reverse();
    let place = place.with("turned.csv", format!("score,label\n{}\n", lines.join("\n")));
    let turned =
        place.json("calib report cal.bin --calibration cal.csv --test turned.csv --bootstrap 5 --json");
    assert!(turned["warnings"].to_string().contains("The test data are the calibration data"));
    let place = place.with("tied.csv", "score,label\n".to_owned() + &"0.5,1\n0.5,0\n0.25,0\n".repeat(9));
    let tied = place.json("calib report cal.bin --calibration cal.csv --test tied.csv --bootstrap 5 --json");
    assert!(tied["warnings"].to_string().contains("66.7 % of the test rows have the score 0.5"), "{tied}");

    let (place, _) = matrix_place(400);
    place.ok(TOP_FIT);
    let files = "--calibration val_logits.npy --calibration-labels val_labels.npy --test val_logits.npy --test-labels \
                 val_labels.npy --bootstrap 5";
    let got = place.json(&format!("calib report top.bin {files} --json"));
    assert_eq!(got["uncalibrated"], 10);
    assert!(got["warnings"].to_string().contains("10 of 400 test rows are uncalibrated"));
    let ids: Vec<_> =
        got["plots"].as_array().unwrap().iter().map(|plot| plot["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"class-0") && ids.contains(&"class-1") && !ids.contains(&"class-2"), "{ids:?}");
}

#[test]
fn a_report_on_a_function_has_no_bins() {
    let place = place();
    place.ok("calib fit --method platt --scores cal.csv -o platt.bin");
    let got = place.json("calib report platt.bin --calibration cal.csv --test test.csv --bootstrap 5 --json");
    assert_eq!((&got["occupancy"], &got["calibrator"]["comparisons"]), (&json!([]), &json!(null)));
    assert!(got["guarantee"].as_str().unwrap().starts_with("Nothing is guaranteed"));
    assert!(got["plots"].as_array().unwrap().iter().all(|plot| plot["id"] != "occupancy"));
    close(&got["options"]["alpha"], 0.05);
}

#[test]
fn single_plots_are_files_of_their_own() {
    let place = place();
    let plots =
        ["reliability", "reliability-before", "validity", "validity-conditional", "roc", "distribution"];
    for plot in plots {
        place.ok(&format!("calib plot {plot} cal.bin --test test.csv -o {plot}.svg"));
        let svg = String::from_utf8(place.bytes(&format!("{plot}.svg"))).unwrap();
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{plot}");
        assert!(svg.contains("prefers-color-scheme:dark") && svg.contains("<title"), "{plot}");
    }
}

#[test]
fn a_report_on_other_data_is_refused() {
    let mismatch = "error: the artefact does not fit the scores\n  artefact  top.bin: takes vectors of 3 classes: use --logits \
                    or --probs\n  scores    vectors of 4 classes\n";
    let four = ("four.npy", crate::npy::f32s(&[40, 4], (0..160).map(|i| i as f32)).bytes());
    let labels = "--calibration-labels labels.npy --test-labels labels.npy";
    let line = format!("calib report top.bin --calibration logits.npy --test four.npy {labels} -o out");
    refused(&[four], &line, 1, mismatch);
    let stderr = "error: this class has no diagram: it is not among the twelve most frequent predictions\n";
    refused(&[], "calib plot class cal.bin --class 1 --test cal.csv -o out", 2, stderr);
}
