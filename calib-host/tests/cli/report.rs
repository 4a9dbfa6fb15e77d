//! `calib report` and `calib plot`: what a page holds, and that it is the same each time.

use serde_json::json;

use crate::data::{CLASSES, Json, UMD_FIT, binary, binary_place, close, csv, matrix_place, scored};
use crate::npy::f32s;
use crate::transcript::quote;
use crate::workplace::Workplace;

const REPORT: &str = "calib report cal.bin --calibration cal.csv --test test.csv --bootstrap 20";

/// A calibrator and test data that differ from its calibration data.
pub(crate) fn place() -> Workplace {
    let place = binary_place();
    place.ok(UMD_FIT);
    place.with("test.csv", scored(300, |row| ((f64::from(row) + 0.25) / 300.0, row % 7 < row / 60)))
}

#[test]
fn a_report_is_one_page_and_the_same_each_time() {
    let place = place();
    place.ok(&format!("{REPORT} -o page.html --force"));
    let page = place.text("page.html");
    place.ok(&format!("{REPORT} -o page.html --force"));
    assert_eq!(place.bytes("page.html"), page.as_bytes());
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    // Nothing is fetched: no address but the name of SVG.
    assert!(!page.replace("http://www.w3.org/2000/svg", "").contains("http"));
    assert!(!page.contains("<script") && !page.contains("url("));
    // Numbers are numbers.
    assert!(page.contains("on 300 test rows") && !page.contains("$serde_json"));
    for part in [
        "With at least 90% probability over the draw of the 400 calibration observations",
        "There are only 300 test rows",
        "id=\"reliability-before\"",
        "id=\"reliability-after\"",
        "id=\"validity-marginal\"",
        "id=\"validity-conditional\"",
        "id=\"roc\"",
        "id=\"distribution\"",
        "id=\"occupancy\"",
        "id=\"corp-after\"",
        "id=\"decision-curve\"",
        "calib report cal.bin --calibration cal.csv",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Behind every plot is a table.
    let count = |part: &str| page.matches(part).count();
    assert_eq!((count("<figure"), count("-data\">"), count("role=\"img\"")), (12, 24, 12));
    // Whatever a page points to is there.
    for target in page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert_eq!(count(&format!("id=\"{target}\"")), 1, "{target}");
    }
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
    assert_eq!(got["origin"]["calibration_is_the_artifacts"], true);
    let files: Vec<_> = got["origin"]["files"].list().iter().map(|file| &file["name"]).collect();
    assert_eq!(json!(files), json!(["cal.bin", "cal.csv", "test.csv"]));
    let bins = got["occupancy"].list();
    let sum = |of: &str| bins.iter().map(|bin| bin[of].whole()).sum::<u64>();
    assert_eq!((bins.len(), sum("calibration"), sum("test")), (10, 400, 300));
    // Ten bins of 40 points: within 0.261 (Theorem 3), so the guaranteed curve passes through 0.9 there.
    let epsilon = inspected["guarantee"]["epsilon"].number();
    let within = calib_fit::stats::shown_bound(4, epsilon);
    assert!(got["guarantee"].text().contains(&format!("within {within}")));
}

#[test]
fn the_verdict_comes_first_in_words() {
    // Too sure of itself: the truth is the square of the score.
    let rows = binary(3000);
    let (cal, test) = rows.split_at(1500);
    let turned: Vec<(f32, u8)> = cal.iter().map(|(score, label)| (1.0 - score, *label)).collect();
    let place = Workplace::new()
        .with("cal.csv", csv(cal))
        .with("test.csv", csv(test))
        .with("turned.csv", csv(&turned));
    let verdict = |fit: &str, data: &str| {
        place.ok(&format!("calib fit {fit} --scores {data} -o v.bin --force"));
        let line = format!(
            "calib report v.bin --calibration {data} --test test.csv --bootstrap 200 -o v.html --force"
        );
        place.says(&line);
        let page = place.text("v.html");
        let json = place.json(&format!("{line} --json"))["verdict"].clone();
        let sentences: Vec<&str> = json["sentences"].list().iter().map(|sentence| sentence.text()).collect();
        // On the page before all else, and on the terminal.
        for sentence in &sentences {
            assert!(page.find(sentence) < page.find("id=\"guarantee\""), "{sentence}");
        }
        assert!(page.contains("id=\"before-and-after\""));
        [&json["probabilities"], &json["guarantee"]].map(|word| word.text().to_owned())
    };
    let umd = "--method umd --bins 10";
    assert_eq!(verdict(umd, "cal.csv"), ["better", "shown"]);
    assert_eq!(verdict(umd, "turned.csv"), ["worse", "contradicted"]);
    assert_eq!(verdict("--method platt --intervals none", "cal.csv"), ["better", "none"]);
    assert_eq!(verdict("--method platt", "cal.csv"), ["better", "not-refuted"]);
    // What is calibrated already.
    place.ok("calib apply v.bin --scores cal.csv -o cal2.csv");
    place.ok("calib apply v.bin --scores test.csv -o test2.csv");
    place.ok("calib fit --method platt --scores cal2.csv --score-column prob -o again.bin");
    let again = place.json(
        "calib report again.bin --calibration cal2.csv --test test2.csv --score-column prob --bootstrap 200 --json",
    );
    assert_eq!(again["verdict"]["probabilities"], "no-sure-difference");
    said!();
}

#[test]
fn the_head_of_the_page_is_the_users() {
    let place = place();
    let mut command = place.command(
        "report cal.bin --calibration cal.csv --test test.csv --bootstrap 5 -o page.html --date 2026-01-31 --title",
    );
    let output =
        command.args(["Sepsis <6 h>", "--model", "net & co", "--note", "For the ward."]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = place.text("page.html");
    assert!(page.contains("<h1>Sepsis &lt;6 h&gt;</h1>"));
    assert!(
        page.contains("net &amp; co. 2026-01-31. ") && page.contains("<p class=\"note\">For the ward.</p>")
    );
}

#[test]
fn a_report_on_a_function_has_no_bins() {
    let place = place();
    place.ok("calib fit --method platt --intervals none --scores cal.csv -o platt.bin");
    let got = place.json("calib report platt.bin --calibration cal.csv --test test.csv --bootstrap 5 --json");
    assert_eq!((&got["occupancy"], &got["calibrator"]["comparisons"]), (&json!([]), &json!(null)));
    assert!(got["guarantee"].text().starts_with("Nothing is guaranteed"));
    assert!(got["plots"].list().iter().all(|plot| plot["id"] != "occupancy"));
    close(&got["options"]["alpha"], 0.05);
}

#[test]
fn single_plots_are_files_of_their_own() {
    let place = place();
    let plots = [
        "reliability",
        "reliability-before",
        "validity",
        "validity-conditional",
        "roc",
        "distribution",
        "occupancy --calibration cal.csv",
    ];
    for line in plots {
        let plot = line.split(' ').next().unwrap();
        place.ok(&format!("calib plot {line} cal.bin --test test.csv -o {plot}.svg"));
        let svg = place.text(&format!("{plot}.svg"));
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{plot}");
        assert!(svg.contains("prefers-color-scheme:dark") && svg.contains("<title"), "{plot}");
    }
}

/// Normalizing voids the guarantee of a method that has one.
#[test]
fn a_report_says_why_nothing_is_guaranteed_for_normalized_probabilities() {
    let (place, _) = matrix_place(400);
    let files = "--logits val_logits.npy --labels val_labels.npy";
    let fitted = place
        .json(&format!("calib fit --method umd --bins 4 --reduction normalized {files} -o n.bin --json"));
    let report = "calib report n.bin --same-rows --calibration val_logits.npy --calibration-labels val_labels.npy --test val_logits.npy \
         --test-labels val_labels.npy --bootstrap 5 --json";
    let got = place.json(report);
    assert_eq!(got["guarantee"], fitted["statement"]);
    quote(&got["guarantee"]);
    said!();
}

/// Class 0 is tied, class 2 has too few points, and only class 1 has a guarantee.
#[test]
fn a_report_names_what_has_no_guarantee() {
    let (place, mut data) = matrix_place(400);
    for row in (0..400).filter(|&row| data.predicted[row] == 0) {
        data.logits[row * CLASSES] = if row % 2 == 0 { 1.0 } else { 2.0 };
    }
    let place = place.with("val_logits.npy", f32s(&[400, CLASSES], data.logits).bytes());
    let fitted = place.json(
        "calib fit --method umd --reduction top-label --rows-per-bin 40 --logits val_logits.npy --labels val_labels.npy -o top.bin --json",
    );
    let report = "calib report top.bin --same-rows --calibration val_logits.npy --calibration-labels val_labels.npy --test \
                  val_logits.npy --test-labels val_labels.npy --bootstrap 5 --json";
    let guarantee = place.json(report)["guarantee"].clone();
    assert!(fitted["statement"].text().starts_with(guarantee.text()));
    quote(&fitted["statement"]);
    quote(&guarantee);

    // A curve of the guarantee would stand beside curves of bins that have none.
    let curve = "guaranteed before any test data were seen";
    let page = |place: &Workplace, line: &str| {
        place.ok(&format!("calib report {line} --bootstrap 5 -o page.html --force"));
        place.text("page.html")
    };
    let files = "--same-rows --calibration val_logits.npy --calibration-labels val_labels.npy --test val_logits.npy --test-labels \
                 val_labels.npy";
    assert!(!page(&place, &format!("top.bin {files}")).contains(curve));
    // Nor is a guarantee for each class about the predictions of it.
    place.ok("calib fit --method umd --bins 4 --reduction class-wise --logits val_logits.npy --labels val_labels.npy -o each.bin");
    assert!(!page(&place, &format!("each.bin {files}")).contains(curve));
    let binary = self::place();
    assert!(page(&binary, "cal.bin --calibration cal.csv --test test.csv").contains(curve));
    said!();
}
