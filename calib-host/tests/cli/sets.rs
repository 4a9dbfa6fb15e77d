//! Prediction sets: from the rows to the device's answer.

use crate::data::{Json, scored};
use crate::npy::{f32s, i64s};
use crate::refusal::good;
use crate::workplace::Workplace;

/// Logits of three classes: the true class leads by 0 to 9.9 tenths, and class 2 is rare.
fn logits(rows: usize) -> (Vec<f32>, Vec<i64>) {
    let row = |row: usize| {
        let label = if row % 10 == 9 { 2 } else { row % 2 };
        let mut logits = [0.0f32; 3];
        logits[label] = (row * 37 % 100) as f32 / 10.0 - 2.0;
        (logits, label as i64)
    };
    let (logits, labels): (Vec<[f32; 3]>, Vec<i64>) = (0..rows).map(row).unzip();
    (logits.concat(), labels)
}

fn place() -> Workplace {
    let (values, labels) = logits(200);
    let codes: String = values
        .chunks(3)
        .zip(&labels)
        .map(|(row, label)| {
            format!(
                "{},{},{},{label}\n",
                (row[0] * 10.0).round(),
                (row[1] * 10.0).round(),
                (row[2] * 10.0).round()
            )
        })
        .collect();
    let binary: String = (0..200)
        .map(|row| format!("{},{}\n", (row as f64 + 0.5) / 200.0, u8::from(row % 200 > 80 + row % 40)))
        .collect();
    Workplace::new()
        .with("logits.npy", f32s(&[200, 3], values).bytes())
        .with("labels.npy", i64s(labels).bytes())
        .with("codes.csv", format!("a,b,c,label\n{codes}"))
        .with("binary.csv", format!("score,label\n{binary}"))
}

const LOGITS: &str = "--logits logits.npy --labels labels.npy";

#[test]
fn sets_have_the_stated_coverage() {
    let place = place();
    for (options, conformity) in [("", "softmax"), ("--class-score margin", "margin")] {
        let line = format!("calib sets {LOGITS} {options} --alpha 0.1 -o s.bin --force");
        let found = place.json(&format!("{line} --json"));
        let sets = &found["prediction_sets"];
        assert_eq!(
            (&sets["conformity"], &sets["by_class"], &found["n"]),
            (&conformity.into(), &false.into(), &200.into())
        );
        assert_eq!(found["rows_needed"], 9);
        let sentence = "the set of classes contains the true one for at least 90% of all rows together (not of each class), on \
                        average over the draw of the calibration set";
        assert_eq!(found["sentences"][0], sentence);
        place.says(&line);
        place.says("calib inspect s.bin");
    }
    // The 20th smallest margin of 200: two rows have each of -2, -1.9, ...
    let found =
        place.json(&format!("calib sets {LOGITS} --class-score margin --alpha 0.1 -o s.bin --force --json"));
    let key = calib_core::Margin::new(9.0 / 10.0 - 2.0).unwrap().key();
    assert_eq!(found["prediction_sets"]["quantiles"][0]["key"], key);
    said!();
}

#[test]
fn coverage_is_of_every_class_or_with_confidence() {
    let place = place();
    let found =
        place.json(&format!("calib sets {LOGITS} --by-class --alpha 0.1 --confidence 0.95 -o s.bin --json"));
    let quantiles = found["prediction_sets"]["quantiles"].list();
    let rows: Vec<_> = quantiles.iter().map(|quantile| quantile["rows"].whole()).collect();
    assert_eq!(rows, [100, 80, 20]);
    // Of 20 rows no class can be left out with a failure probability of .05 / 3.
    assert_eq!((&quantiles[2]["key"], quantiles[0]["key"].whole() > 0), (&0.into(), true));
    assert_eq!(found["rows_needed"], 39);
    place.says("calib inspect s.bin");
    said!();
}

/// Too few rows for a tiny alpha, and classes that nobody has seen, are answers.
#[test]
fn what_cannot_be_left_out_is_in_the_set() {
    let place = place();
    place.says(&format!("calib sets {LOGITS} --alpha 0.001 -o s.bin"));
    let (values, labels) = logits(200);
    let two: Vec<i64> = labels.into_iter().map(|label| label.min(1)).collect();
    let place = place.with("two.npy", i64s(two).bytes()).with("three.npy", f32s(&[200, 3], values).bytes());
    let line = "calib sets --logits three.npy --labels two.npy --by-class -o s.bin --force";
    let found = place.json(&format!("{line} --json"));
    assert_eq!(found["unseen_classes"], serde_json::json!([2]));
    place.says(line);
    said!();
}

#[test]
fn codes_and_binary_scores_have_sets_too() {
    let place = place();
    let codes = "--score-encoding i8,0.1,0 --score-column a,b,c";
    let found = place.json(&format!("calib sets --logits codes.csv {codes} -o s.bin --json"));
    assert_eq!(found["prediction_sets"]["conformity"], "margin");
    // -1.1 in tenths, of which the key is 65 536 higher.
    assert_eq!(found["prediction_sets"]["quantiles"][0]["key"], 65_536 - 11);
    for line in ["--scores binary.csv", "--margins binary.csv"] {
        let found = place.json(&format!("calib sets {line} --never-empty -o s.bin --force --json"));
        assert_eq!(found["prediction_sets"]["never_empty"], true);
        let inspected = place.json("calib inspect s.bin --json");
        assert_eq!(
            (&inspected["method"], &inspected["reduction"]),
            (&"prediction-set".into(), &"binary".into())
        );
    }
    let whole = "--score-encoding u8,1/255,0";
    let place = place.with("u8.csv", scored(100, |row| (2 * row, row > 40)));
    let found = place.json(&format!("calib sets --scores u8.csv {whole} -o s.bin --force --json"));
    assert!(found["prediction_sets"]["quantiles"][0]["key"].whole() < 256);
}

#[test]
fn sets_stand_beside_a_calibrator() {
    let place = good();
    let line = "calib sets --logits logits.npy --labels labels.npy --calibrator top.bin -o s.bin --force";
    place.says(line);
    let found = place.json(&format!("{line} --counter 1 --json"));
    assert_eq!(found["parent"], place.json("calib inspect top.bin --json")["identity"]);
    let inspected = place.json("calib inspect s.bin --json");
    assert_eq!(inspected["method"], "umd");
    assert!(!inspected["prediction_sets"].is_null());
    place.says("calib sets --scores cal.csv --calibrator top.bin --counter 1 -o t.bin");
    said!();
}

#[test]
fn what_is_no_question_is_refused() {
    let place = place();
    let refused = |options: &str| {
        place.says(&format!("calib sets {options} -o out"));
        assert!(!place.path().join("out").exists());
    };
    for alpha in ["0", "1", "nan"] {
        refused(&format!("{LOGITS} --alpha {alpha}"));
        refused(&format!("{LOGITS} --confidence {alpha}"));
    }
    refused("--scores binary.csv --class-score margin");
    let codes = "--score-encoding i8,0.1,0 --score-column a,b,c";
    refused(&format!("--logits codes.csv {codes} --class-score softmax"));
    refused("--logits logits.npy");
    let place = place.with("bad.npy", i64s((0..200).map(|row| row % 4)).bytes());
    place.says("calib sets --logits logits.npy --labels bad.npy -o out");
    said!();
}

/// What the device would say of each row, and how often that is right.
#[test]
fn sets_are_applied_and_judged() {
    let place = place();
    let codes = "--score-encoding i8,0.1,0";
    let cases = [
        (LOGITS, "", LOGITS),
        (LOGITS, "--class-score margin --by-class", LOGITS),
        ("--scores binary.csv", "", "--scores binary.csv"),
        ("--margins binary.csv", "--never-empty", "--margins binary.csv"),
        ("--logits codes.csv --score-column a,b,c", codes, "--logits codes.csv --score-column a,b,c"),
    ];
    for (source, options, test) in cases {
        place.ok(&format!("calib sets {source} {options} -o s.bin --force"));
        let apply = test.replace(" --labels labels.npy", "");
        place.ok(&format!("calib apply s.bin {apply} -o out.csv --force"));
        let (header, rows) = place.table("out.csv");
        let at = |name: &str| header.iter().position(|there| there == name).unwrap();
        let sizes: usize = rows.iter().map(|row| row[at("set_size")].parse::<usize>().unwrap()).sum();
        for row in &rows {
            assert_eq!(row[at("set")].split_whitespace().count().to_string(), row[at("set_size")]);
        }
        let line = format!("calib assess s.bin {test} --same-rows");
        let judged = &place.json(&format!("{line} --json"))["prediction_sets"];
        assert_eq!(judged["mean_size"].number(), sizes as f64 / 200.0, "{source} {options}");
        let covered = judged["covered"]["count"].whole();
        assert!(covered >= 180 && judged["covered"]["n"] == 200, "{source} {options}: {covered}");
        let alone = rows.iter().filter(|row| row[at("set_size")] == "1").count();
        assert_eq!(judged["alone"]["n"], alone);
        place.says(&line);
        place.says(&format!("calib assess s.bin {test}"));
    }
    said!();
}

#[test]
fn beside_a_calibrator_both_are_said() {
    let place = good();
    place.ok("calib sets --logits logits.npy --labels labels.npy --calibrator top.bin --counter 1 -o s.bin");
    place.ok("calib apply s.bin --logits logits.npy -o out.csv");
    let (header, rows) = place.table("out.csv");
    assert_eq!(header, ["class", "prob", "bin", "epsilon", "flags", "lo", "hi", "set", "set_size"]);
    assert_eq!(rows.len(), 40);
    let both = place.json("calib assess s.bin --logits logits.npy --labels labels.npy --same-rows --json");
    assert!(both["after"].is_object() && both["prediction_sets"]["covered"]["n"] == 40, "{both}");
}
