//! What is said first of a calibrator that was fitted the wrong way round, or that can never raise the alarm.

use serde_json::json;

use crate::data::csv;
use crate::decide::COSTS;
use crate::workplace::Workplace;

/// Points in their order, the same with the labels turned round, and rare events.
fn place() -> Workplace {
    let noise = |i: u32| (i.wrapping_mul(i).wrapping_mul(2_654_435_761) >> 16) % 41;
    let rows: Vec<_> =
        (0..400u32).map(|i| ((i as f32 + 0.5) / 400.0, u8::from(noise(i + 8) < i / 10))).collect();
    let turned: Vec<_> = rows.iter().map(|&(score, label)| (score, 1 - label)).collect();
    let rare = |(row, &(score, label)): (usize, &(f32, u8))| (score, label * u8::from(row % 25 == 0));
    let rare: Vec<_> = rows.iter().enumerate().map(rare).collect();
    let mut other = rare.clone();
    other[0].1 = 1 - other[0].1;
    Workplace::new()
        .with("cal.csv", csv(&rows))
        .with("turned.csv", csv(&turned))
        .with("rare.csv", csv(&rare))
        .with("other.csv", csv(&other))
        .with("costs.toml", COSTS)
}

const REVERSED: &str = "High scores are rather of class 0: the area under the ROC curve is 0.";
const FALLS: &str = "The calibrator falls: the higher the score, the lower the probability.";
const CONSTANT: &str = "The calibrator makes one probability of all scores";

#[test]
fn scores_that_are_turned_round_are_said_first() {
    let place = place();
    for (method, flaw) in [
        ("platt", FALLS),
        ("platt --loss squared", FALLS),
        ("beta", CONSTANT),
        ("scaling-binning --bins 5", FALLS),
        ("umd --bins 5", FALLS),
        ("umd --bins 5 --table u16", FALLS),
        ("isotonic", CONSTANT),
        ("isotonic-interpolated", CONSTANT),
        ("isotonic --max-bins 65536", CONSTANT),
    ] {
        let fit = |file: &str| {
            place.ok(&format!("calib fit --method {method} --scores {file} -o a.bin --force --json"))
        };
        let (run, fine) = (fit("turned.csv"), fit("cal.csv"));
        let (first, second) = run.stderr.split_once('\n').expect("a line");
        assert!(first.starts_with(&format!("warning: {REVERSED}")), "{method}: {}", run.stderr);
        assert!(second.starts_with(&format!("warning: {flaw}")), "{method}: {}", run.stderr);
        let json = run.json();
        assert_eq!(json["evidence"][0]["kind"], "reversed", "{method}");
        let kind = if flaw == FALLS { "falls" } else { "constant" };
        assert_eq!(json["flaws"][0]["kind"], kind, "{method}");
        assert_eq!(json["warnings"].as_array().unwrap().len(), 2, "{method}: {}", json["warnings"]);
        assert_eq!((fine.stderr.as_str(), &fine.json()["warnings"]), ("", &json!([])), "{method}");
    }
    // The words are there without --json, too, and before all else.
    let run = place.ok("calib fit --method isotonic --scores turned.csv -o a.bin --force");
    assert!(run.stderr.starts_with(&format!("warning: {REVERSED}")), "{}", run.stderr);
    // The file alone tells who looks at it later.
    let shown = place.ok("calib inspect a.bin");
    assert!(shown.stderr.starts_with(&format!("warning: {CONSTANT}")), "{}", shown.stderr);
    assert_eq!(place.inspect("a.bin")["flaws"], json!([{"kind": "constant", "of": null}]));
}

#[test]
fn the_same_is_said_of_counts_and_codes() {
    let place = place();
    // A count of one point a row, and codes of 8 bits.
    let line = |row: &str, scale: f64| {
        let (score, label) = row.split_once(',').unwrap();
        let code = (score.parse::<f64>().unwrap() * scale).floor();
        format!("{code},1,{label}\n")
    };
    let text = String::from_utf8(place.bytes("turned.csv")).unwrap();
    let rows = |scale: f64| text.lines().skip(1).map(|row| line(row, scale)).collect::<String>();
    let place = place
        .with(
            "counts.csv",
            format!(
                "score,n,label\n{}",
                text.lines().skip(1).map(|r| r.replace(',', ",1,") + "\n").collect::<String>()
            ),
        )
        .with("codes.csv", format!("score,n,label\n{}", rows(256.0)));
    for options in [
        "--scores counts.csv --count-column n --positives-column label",
        "--scores codes.csv --score-encoding u8,0.00390625,0",
    ] {
        let run = place.ok(&format!("calib fit --method umd --bins 5 {options} -o a.bin --force"));
        assert!(run.stderr.starts_with(&format!("warning: {REVERSED}")), "{options}: {}", run.stderr);
    }
}

#[test]
fn an_alarm_that_nothing_raises_is_said_by_every_command() {
    let place = place();
    place.ok("calib fit --method umd --bins 5 --scores rare.csv -o rare.bin --quiet");
    let silent = "warning: No calibrated probability raises the alarm: the probabilities lie from 0.0";
    let fit = place.ok("calib fit --method umd --bins 5 --scores rare.csv --actions costs.toml -o ruled.bin");
    assert!(fit.stderr.starts_with(silent), "{}", fit.stderr);
    let inspected = place.ok("calib inspect ruled.bin --json");
    assert!(inspected.stderr.starts_with(silent), "{}", inspected.stderr);
    let flaw = &inspected.json()["flaws"][0];
    assert_eq!(flaw["kind"], "silent-alarm");
    assert!(flaw["highest"].as_f64().unwrap() < 0.1);
    for line in [
        "calib decide rare.bin --actions costs.toml --json",
        "calib decide rare.bin --actions costs.toml --scores rare.csv -o decided.bin --json",
    ] {
        let decided = place.ok(line);
        assert!(decided.stderr.starts_with(silent), "{line}: {}", decided.stderr);
        assert_eq!(decided.json()["flaws"][0], *flaw, "{line}");
    }
    for artefact in ["rare.bin", "ruled.bin"] {
        let report = format!(
            "calib report {artefact} --calibration rare.csv --test other.csv --actions costs.toml --bootstrap 5 --json"
        );
        let report = place.json(&report);
        assert_eq!(report["flaws"][0], *flaw, "{artefact}");
        assert!(
            report["warnings"][0].as_str().unwrap().starts_with(silent.strip_prefix("warning: ").unwrap())
        );
    }
    // Rows say it where there is no artefact.
    place.ok("calib apply rare.bin --scores rare.csv -o probs.csv");
    let decided = place.ok("calib decide --actions costs.toml --probs probs.csv");
    assert!(decided.stderr.starts_with(silent), "{}", decided.stderr);
}

#[test]
fn what_every_action_can_reach_needs_no_word() {
    let place = place();
    let fit = place
        .ok("calib fit --method umd --bins 10 --scores cal.csv --actions costs.toml -o ruled.bin --json");
    assert_eq!((fit.stderr.as_str(), &fit.json()["flaws"]), ("", &json!([])));
    // Never below 0.1: then there is no waiting.
    let high: String =
        (0..400).map(|row| format!("{},{}\n", f64::from(row) / 400.0, u8::from(row % 3 == 0))).collect();
    let place = place.with("high.csv", format!("score,label\n{high}"));
    let run = place.ok("calib fit --method umd --bins 2 --scores high.csv --actions costs.toml -o high.bin");
    assert!(
        run.stderr
            .starts_with("warning: The actions wait, ask are never taken for a calibrated probability: the "),
        "{}",
        run.stderr
    );
}

#[test]
fn a_built_in_alarm_at_one_half_may_stay_silent() {
    let place = place();
    let run = place.ok("calib fit --method umd --bins 5 --scores rare.csv -o rare.bin");
    let words = "warning: No calibrated probability is above 0.0";
    assert!(run.stderr.starts_with(words), "{}", run.stderr);
    assert!(place.ok("calib inspect rare.bin").stderr.starts_with(words));
    assert_eq!(place.inspect("rare.bin")["flaws"][0]["kind"], "below-one-half");
}
