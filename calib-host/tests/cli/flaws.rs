//! What is said first of a calibrator that was fitted the wrong way round, or that can never raise the alarm.

use serde_json::json;

use crate::data::{Json, csv};
use crate::decide::COSTS;
use crate::transcript::{note, quote};
use crate::workplace::Workplace;

/// Points in their order, the same with the labels turned round, and rare events.
fn place() -> Workplace {
    let noise = |i: u32| (i.wrapping_mul(i).wrapping_mul(2_654_435_761) >> 16) % 41;
    let rows: Vec<_> =
        (0..400u32).map(|i| ((i as f32 + 0.5) / 400.0, u8::from(noise(i + 8) < i / 10))).collect();
    let turned: Vec<_> = rows.iter().map(|&(score, label)| (score, 1 - label)).collect();
    let rare = |(row, &(score, label)): (usize, &(f32, u8))| (score, label * u8::from(row % 25 == 0));
    let rare: Vec<_> = rows.iter().enumerate().map(rare).collect();
    let other: Vec<_> = rare.iter().map(|&(score, label)| (score + 0.001, label)).collect();
    Workplace::new()
        .with("cal.csv", csv(&rows))
        .with("turned.csv", csv(&turned))
        .with("rare.csv", csv(&rare))
        .with("other.csv", csv(&other))
        .with("costs.toml", COSTS)
}

#[test]
fn scores_that_are_turned_round_are_said_first() {
    let place = place();
    for (method, flaw) in [
        ("platt", "falls"),
        ("platt --loss squared", "falls"),
        ("beta", "constant"),
        ("scaling-binning --bins 5", "falls"),
        ("umd --bins 5", "falls"),
        ("umd --bins 5 --table u16", "falls"),
        ("isotonic", "constant"),
        ("isotonic-interpolated", "constant"),
        ("isotonic --max-bins 65536", "constant"),
    ] {
        let fit = |file: &str| {
            place.ok(&format!("calib fit --method {method} --scores {file} -o a.bin --force --json"))
        };
        let (run, fine) = (fit("turned.csv"), fit("cal.csv"));
        note(&format!("{method}\n{}", run.stderr));
        let json = run.json();
        assert_eq!(json["evidence"][0]["kind"], "reversed", "{method}");
        assert_eq!(json["flaws"][0]["kind"], flaw, "{method}");
        let warnings =
            json["warnings"].list().iter().filter(|told| !told.text().contains("the method does not fit"));
        assert_eq!(warnings.count(), 2, "{method}: {}", json["warnings"]);
        assert_eq!((fine.stderr.as_str(), &fine.json()["warnings"]), ("", &json!([])), "{method}");
    }
    // The words are there without --json, too, and before all else.
    place.says("calib fit --method isotonic --scores turned.csv -o a.bin --force");
    // The file alone tells who looks at it later.
    place.says("calib inspect a.bin");
    assert_eq!(place.inspect("a.bin")["flaws"], json!([{"kind": "constant", "of": null}]));
    said!();
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
    let text = place.text("turned.csv");
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
    for options in
        ["--scores counts.csv --count-columns n,label", "--scores codes.csv --score-encoding u8,0.00390625,0"]
    {
        place.says(&format!("calib fit --method umd --bins 5 {options} -o a.bin --force"));
    }
    said!();
}

#[test]
fn an_alarm_that_nothing_raises_is_said_by_every_command() {
    let place = place();
    place.ok("calib fit --method umd --bins 5 --scores rare.csv -o rare.bin --quiet");
    place.says("calib fit --method umd --bins 5 --scores rare.csv --actions costs.toml -o ruled.bin");
    let inspected = place.says("calib inspect ruled.bin --json");
    let flaw = &inspected.json()["flaws"][0];
    assert_eq!(flaw["kind"], "silent-alarm");
    assert!(flaw["highest"].number() < 0.1);
    for line in [
        "calib decide rare.bin --actions costs.toml --json",
        "calib decide rare.bin --actions costs.toml --scores rare.csv -o decided.bin --json",
    ] {
        let decided = place.says(line);
        assert_eq!(decided.json()["flaws"][0], *flaw, "{line}");
    }
    for artifact in ["rare.bin", "ruled.bin"] {
        let report = format!(
            "calib report {artifact} --calibration rare.csv --test other.csv --actions costs.toml --bootstrap 5 --json"
        );
        let report = place.json(&report);
        assert_eq!(report["flaws"][0], *flaw, "{artifact}");
        quote(&report["warnings"][0]);
    }
    // Rows say it where there is no artifact.
    place.ok("calib apply rare.bin --scores rare.csv -o probs.csv");
    place.says("calib decide --actions costs.toml --probs probs.csv");
    said!();
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
    place.says("calib fit --method umd --bins 2 --scores high.csv --actions costs.toml -o high.bin");
    said!();
}

#[test]
fn a_built_in_alarm_at_one_half_may_stay_silent() {
    let place = place();
    place.says("calib fit --method umd --bins 5 --scores rare.csv -o rare.bin");
    place.says("calib inspect rare.bin");
    assert_eq!(place.inspect("rare.bin")["flaws"][0]["kind"], "below-one-half");
    said!();
}
