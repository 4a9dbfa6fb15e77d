//! Calibrators for another prevalence.

use std::fmt::Write;

use crate::data::Json;
use crate::workplace::Workplace;

/// A number in [0, 1) for each place, as if drawn at random (splitmix64).
fn draw(place: usize) -> f64 {
    let mut word = (place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((word ^ word >> 31) >> 11) as f64 / (1u64 << 53) as f64
}

/// Rows with the share of class 1 as stated, whose scores lie alike within each class.
fn csv(rows: usize, prevalence: f64) -> String {
    let mut text = "score,margin,label\n".to_owned();
    for row in 0..rows {
        let label = draw(2 * row) < prevalence;
        let side = draw(2 * row + 1).sqrt();
        let score = if label { side } else { 1.0 - side };
        writeln!(text, "{score},{},{}", 8.0 * score - 4.0, u8::from(label)).unwrap();
    }
    text
}

fn place() -> Workplace {
    let place = Workplace::new().with("rows.csv", csv(2000, 0.5)).with("new.csv", csv(4000, 0.1));
    place.ok("calib fit --method umd --bins 8 --scores rows.csv --counter 1 -o cal.bin");
    place
}

#[test]
fn probabilities_are_those_at_the_new_prevalence() {
    let place = place();
    let run = place.says("calib adjust cal.bin --prevalence 0.1 -o new.bin --counter 2 --json");
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let before = place.json("calib inspect cal.bin --json");
    assert_eq!(
        (&json["prevalence"], &json["parent"], &json["estimate"]),
        (&0.1.into(), &before["identity"], &serde_json::Value::Null)
    );
    // The share among the points was counted, so the guarantee fails with that probability, too.
    assert_eq!(
        (json["prevalence_alpha"].as_f64(), json["guarantee"]["alpha"].as_f64().map(|a| a as f32)),
        (Some(0.05), Some(0.15))
    );
    let from = json["calibration_prevalence"].number();
    assert_eq!(from, before["sample"]["positives"].number() / 2000.0);

    // Calibrated at the new place, as it was not before.
    let error = |artifact: &str| {
        let assessed = place.json(&format!("calib assess {artifact} --scores new.csv --json"));
        assessed["after"]["conf_ece"]["value"].number()
    };
    let (before, after) = (error("cal.bin"), error("new.bin"));
    assert!(before > 0.15 && after < 0.03, "{before} {after}");
    place.says("calib inspect new.bin");
    said!();
}

/// What is stated is certain, and from one change to the next nothing is counted again.
#[test]
fn a_stated_prevalence_takes_no_alpha() {
    let place = place();
    let line =
        "calib adjust cal.bin --calibration-prevalence 0.5 --prevalence 0.1 --counter 2 -o new.bin --json";
    let json = place.json(line);
    assert_eq!(json["guarantee"]["alpha"].as_f64().map(|alpha| alpha as f32), Some(0.1));
    assert!(json["prevalence_alpha"].is_null());
    let again = place.json("calib adjust new.bin --prevalence 0.5 --counter 3 -o back.bin --json");
    assert_eq!(
        (again["calibration_prevalence"].as_f64(), &again["prevalence_alpha"]),
        (Some(0.1), &serde_json::Value::Null)
    );
    // Back where it was, up to rounding.
    let probs = |artifact: &str| {
        place.ok(&format!("calib apply {artifact} --scores rows.csv -o out.csv --force"));
        let (header, rows) = place.table("out.csv");
        let prob = header.iter().position(|name| name == "prob").unwrap();
        rows.into_iter().map(|row| row[prob].parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    for (old, new) in probs("cal.bin").into_iter().zip(probs("back.bin")) {
        assert!((old - new).abs() < 1e-6, "{old} {new}");
    }
}

#[test]
fn the_prevalence_is_estimated_without_labels() {
    let place = place();
    let line = "calib adjust cal.bin --estimate-from new.csv --counter 2 -o new.bin";
    let json = place.json(&format!("{line} --json"));
    let (found, ends) = (json["prevalence"].number(), &json["estimate"]["interval"]);
    assert!((found - 0.1).abs() < 0.02, "{found}");
    assert!(ends["lo"].number() < 0.1 && ends["hi"].number() > 0.1, "{ends}");
    assert!(json["guarantee"].is_null());
    place.says(&format!("{line} --force"));

    place.ok("calib fit --method platt --margins rows.csv --score-column margin -o m.bin");
    let json = place
        .json("calib adjust m.bin --estimate-from new.csv --score-column margin --counter 1 -o n.bin --json");
    assert!((json["prevalence"].number() - 0.1).abs() < 0.02);
    said!();
}

#[test]
fn what_has_no_other_prevalence_is_refused() {
    let place = place().with("logits.csv", "");
    let refused = |line: &str| {
        let before = place.everything();
        place.says(line);
        assert!(place.everything() == before);
    };
    for prevalence in ["0", "1", "-0.1", "nan"] {
        refused(&format!("calib adjust cal.bin --prevalence={prevalence} --counter 2 -o out"));
        let line = format!(
            "calib adjust cal.bin --prevalence 0.1 --calibration-prevalence={prevalence} --counter 2 -o out"
        );
        refused(&line);
    }
    refused("calib adjust cal.bin --prevalence 0.1 -o out");
    refused("calib adjust cal.bin --counter 2 -o out");
    place.ok("calib fit --method isotonic-interpolated --scores rows.csv -o line.bin");
    refused("calib adjust line.bin --prevalence 0.1 --counter 1 -o out");
    refused("calib adjust cal.bin --prevalence 0.1 --prevalence-alpha 0.95 --counter 2 -o out");
    place.ok("calib threshold --scores rows.csv --sensitivity 0.9 -o t.bin");
    refused("calib adjust t.bin --prevalence 0.1 --counter 1 -o out");
    let sexes = csv(800, 0.5).replace("score,margin,label", "score,margin,sex,label");
    let sexes: String = sexes
        .lines()
        .enumerate()
        .map(|(row, line)| match (row, line.rsplit_once(',')) {
            (0, _) | (_, None) => format!("{line}\n"),
            (row, Some((rest, label))) => format!("{rest},{},{label}\n", ["f", "m"][row % 2]),
        })
        .collect();
    let place = place.with("sexes.csv", sexes);
    place.ok("calib fit --method umd --bins 4 --scores sexes.csv --group-column sex -o g.bin");
    place.says("calib adjust g.bin --prevalence 0.1 --counter 1 -o out");
    let one = crate::refusal::good();
    one.says("calib adjust top.bin --prevalence 0.1 --calibration-prevalence 0.5 --counter 1 -o out");
    one.says("calib adjust top.bin --prevalence 0.1 --counter 1 -o out");
    // The weights of the rows leave no count of the points with label 1.
    let one = one.with("weighted.csv", "score,label,weight\n0.2,0,0.5\n0.4,1,0.5\n0.7,1,0.5\n");
    one.ok("calib fit --method isotonic --scores weighted.csv --weight-column weight -o weighted.bin");
    one.says("calib adjust weighted.bin --prevalence 0.1 --counter 1 -o out");
    said!();
}

#[test]
fn a_signature_is_told_and_dropped() {
    let place = place();
    place.ok("calib keygen -o key.pem");
    place.ok("calib sign cal.bin --key key.pem -o signed.bin");
    place.says("calib adjust signed.bin --prevalence 0.1 --counter 2 -o new.bin");
    place.says("calib inspect new.bin");
    said!();
}

/// A plan answers what a threshold takes.
#[test]
fn a_plan_inverts_thresholds() {
    let place = Workplace::new();
    let json = place.json("calib plan --sensitivity 0.95 --confidence 0.95 --prevalence 0.1 --json");
    let lines = json["thresholds"][0]["points"].list();
    let points: Vec<_> = lines.iter().map(|line| line["points"].whole()).collect();
    assert_eq!(points, [59, 93, 124, 153]);
    assert_eq!((&lines[0]["rows"], &lines[0]["mean_rows"]), (&715.into(), &590.0.into()));
    place.says("calib plan --sensitivity 0.9 --specificity 0.95 --prevalence 0.2 --groups 2");
    for line in [
        "--sensitivity 1",
        "--sensitivity 0",
        "--sensitivity 0.9 --n 50",
        "--prevalence 0.1 --n 50",
        "--sensitivity 0.9 --prevalence 1",
    ] {
        place.says(&format!("calib plan {line}"));
    }
    place.says("calib plan --sensitivity 0.9999999999999999");
    said!();
}
