//! Predicted classes by the top-two margin of their logit, `--class-score margin`: fitted, applied, assessed and exported, from floats and from
//! integer codes of logits.

use crate::data::noise;
use crate::npy::{f32s, i8s, i64s};
use crate::transcript::refused;
use crate::workplace::Workplace;

const LOGITS: &str = "--score-encoding i8,0.125,10";
const ROWS: usize = 1500;
const CLASSES: usize = 4;

/// Codes of logits, whose largest is far ahead in some rows and ties in others.
fn codes() -> Vec<[i8; CLASSES]> {
    let row = |row: usize| {
        let mut codes = [0, 1, 2, 3].map(|class| -60 + (row * (31 + 12 * class) % 50) as i8);
        let first = if row % 40 == 39 { 3 } else { row * 7 % 3 };
        codes[first] = -12 + (row * 37 % 97) as i8;
        if row.is_multiple_of(25) {
            codes[(first + 1) % CLASSES] = codes[first];
        }
        codes
    };
    (0..ROWS).map(row).collect()
}

/// The first of the largest, and by how many codes it leads.
fn top2_margin(codes: &[i8]) -> (usize, i32) {
    let most = *codes.iter().max().unwrap();
    let class = codes.iter().position(|&code| code == most).unwrap();
    let others = codes.iter().enumerate().filter(|(other, _)| *other != class);
    let second = others.map(|(_, &code)| i32::from(code)).max().unwrap();
    (class, i32::from(most) - second)
}

/// The codes, the logits that they stand for, and labels that follow the top-two margin.
fn place() -> Workplace {
    let codes = codes();
    let logit = |code: &i8| 0.125 * (f32::from(*code) - 10.0);
    let label = |(row, codes): (usize, &[i8; CLASSES])| {
        let (class, top2_margin) = top2_margin(codes);
        let right = 1.0 / (1.0 + (-0.05 * f64::from(top2_margin)).exp());
        (if noise(row) < right { class } else { (class + 1) % CLASSES }) as i64
    };
    let table: String = codes
        .iter()
        .enumerate()
        .map(|row| format!("{},{}\n", row.1.map(|code| code.to_string()).join(","), label(row)))
        .collect();
    Workplace::new()
        .with("codes.npy", i8s(&[ROWS, CLASSES], codes.iter().flatten().copied()).bytes())
        .with("codes.csv", format!("c0,c1,c2,c3,label\n{table}"))
        .with("logits.npy", f32s(&[ROWS, CLASSES], codes.iter().flatten().map(logit)).bytes())
        .with("labels.npy", i64s(codes.iter().enumerate().map(label)).bytes())
}

fn column<'t>(table: &'t (Vec<String>, Vec<Vec<String>>), name: &str) -> Vec<&'t str> {
    let at =
        table.0.iter().position(|title| title == name).unwrap_or_else(|| panic!("no {name}: {:?}", table.0));
    table.1.iter().map(|row| &*row[at]).collect()
}

#[test]
fn codes_and_floats_get_the_same_probabilities_of_the_predicted_class() {
    let place = place();
    for reduction in ["top-label", "confidence"] {
        for method in
            ["umd --rows-per-bin 60", "ums --rows-per-bin 60 --seed 3", "isotonic", "isotonic --max-bins 6"]
        {
            let what =
                format!("--method {method} --reduction {reduction} --class-score margin --labels labels.npy");
            let floats =
                place.json(&format!("calib fit {what} --logits logits.npy -o floats.bin --force --json"));
            let coded = place
                .json(&format!("calib fit {what} --logits codes.npy {LOGITS} -o codes.bin --force --json"));
            for key in ["n", "reduction", "guarantee", "uncalibrated"] {
                assert_eq!(coded[key], floats[key], "{what}: {key}");
            }
            let inspected = place.inspect("codes.bin");
            assert_eq!(inspected["encoding"], "i8 (scale 0.125, zero point 10)");
            assert_eq!(
                (&inspected["class_score"], &place.inspect("floats.bin")["class_score"]),
                (&"margin".into(), &"margin".into())
            );
            place.ok("calib apply floats.bin --logits logits.npy -o floats.csv --force");
            place.ok("calib apply codes.bin --logits codes.npy -o codes-out.csv --force");
            place.ok(
                "calib apply codes.bin --logits codes.csv --score-column c0,c1,c2,c3 -o table.csv --force",
            );
            let (of_floats, of_codes) = (place.table("floats.csv"), place.table("codes-out.csv"));
            assert_eq!(of_codes, place.table("table.csv"));
            for name in ["class", "prob", "epsilon", "flags"] {
                assert_eq!(column(&of_codes, name), column(&of_floats, name), "{what}: {name}");
            }
            for (codes, class) in codes().iter().zip(column(&of_codes, "class")) {
                assert_eq!(top2_margin(codes).0.to_string(), class);
            }
        }
    }
}

#[test]
fn assessed_reported_and_exported_against_the_softmax() {
    let place = place();
    let what = "--method umd --rows-per-bin 60 --reduction top-label --labels labels.npy";
    place.ok(&format!("calib fit {what} --logits logits.npy -o softmax.bin"));
    place.ok(&format!("calib fit {what} --class-score margin --logits logits.npy -o floats.bin"));
    place.ok(&format!("calib fit {what} --class-score margin --logits codes.npy {LOGITS} -o codes.bin"));
    let assess = |artifact: &str, logits: &str| {
        place.json(&format!(
            "calib assess {artifact} --same-rows --logits {logits} --labels labels.npy --json"
        ))
    };
    let (softmax, floats, codes) = (
        assess("softmax.bin", "logits.npy"),
        assess("floats.bin", "logits.npy"),
        assess("codes.bin", "codes.npy"),
    );
    // Before is the softmax, whatever the score of the table.
    assert_eq!(floats["before"], codes["before"]);
    assert_eq!(floats["after"]["brier"], codes["after"]["brier"]);
    assert_eq!(floats["before"]["brier"], softmax["before"]["brier"]);
    assert_ne!(floats["after"]["brier"], softmax["after"]["brier"]);
    let page = place.json(
        "calib report codes.bin --same-rows --calibration codes.npy --test codes.npy --logits \
         --calibration-labels labels.npy --test-labels labels.npy --bootstrap 20 --json",
    );
    assert_eq!(page["metrics"]["after"]["brier"]["value"], codes["after"]["brier"]["value"]);
    place.ok("calib export codes.bin --format c -o cal.h");
    let header = place.text("cal.h");
    assert!(header.contains("int calib_top_label(const int8_t *logits, uint32_t *predicted"), "{header}");
    place.ok("calib export floats.bin --format rust -o cal.rs");
    assert!(place.text("cal.rs").contains("fixed_margin_table!"));
    place.says("calib inspect codes.bin");
    place.says("calib inspect floats.bin");
    said!();
}

#[test]
fn top2_margins_where_there_are_none_are_refused() {
    let what = "calib fit --method umd --rows-per-bin 10 --labels labels.npy -o out --class-score margin";
    let usage = |line: &str| refused(&[], &format!("{what} {line}"));
    usage("--reduction top-label --probs probs.npy");
    for line in ["--reduction class-wise --logits logits.npy", "--logits logits.npy", "--scores scores.npy"] {
        usage(line);
    }
    refused(
        &[],
        &format!(
            "calib fit --method umd --rows-per-bin 10 --labels labels.npy -o out --reduction top-label --logits logits.npy {LOGITS}"
        ),
    );
    let place = place().with("probs.npy", f32s(&[2, CLASSES], [0.25; 2 * CLASSES]).bytes());
    place.ok(&format!(
        "calib fit --method umd --rows-per-bin 60 --reduction top-label --class-score margin --labels labels.npy --logits codes.npy {LOGITS} -o codes.bin"
    ));
    place.ok("calib fit --method umd --rows-per-bin 60 --reduction top-label --class-score margin --labels labels.npy --logits logits.npy -o floats.bin");
    for line in ["codes.bin --probs codes.npy", "floats.bin --probs probs.npy"] {
        place.says(&format!("calib apply {line} -o out.csv"));
    }
    said!();
}
