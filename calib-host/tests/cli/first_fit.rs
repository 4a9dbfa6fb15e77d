//! A fit without a method, bins or an output: what is chosen, and that it is told.

use serde_json::json;

use crate::data::{Json, binary, csv};
use crate::transcript::quote;
use crate::workplace::Workplace;

fn place(n: usize) -> Workplace {
    Workplace::new().with("data.csv", csv(&binary(n)))
}

#[test]
fn a_file_is_enough() {
    let place = place(5000);
    place.says("calib fit data.csv");
    let got = place.inspect("data.cal");
    assert_eq!((&got["method"], &got["guarantee"]), (&json!("blend"), &json!(null)));
    // An interval for each range of the score.
    assert_eq!(got["tables"][0]["score_intervals"].list().len(), 15);
    // The same as when it is named.
    place.ok("calib fit --method blend --scores data.csv -o said.bin");
    assert_eq!(place.bytes("data.cal"), place.bytes("said.bin"));
    // Nothing is replaced unasked.
    place.says("calib fit data.csv");
    let json = place.json("calib fit data.csv --force --json");
    quote(&json["chosen"]);
    assert_eq!(
        place.json("calib fit --method blend data.csv --force --json")["chosen"],
        serde_json::Value::Null
    );
    said!();
}

#[test]
fn few_points_get_few_ranges() {
    let place = place(250);
    place.says("calib fit data.csv");
    let ranges = |place: &Workplace| place.inspect("data.cal")["tables"][0]["score_intervals"].list().len();
    assert_eq!(ranges(&place), 6);
    // One range is nobody's wish.
    let tiny = Workplace::new().with("data.csv", csv(&binary(20)));
    tiny.says("calib fit data.csv");
    assert_eq!(ranges(&tiny), 2);
    // Monitors count in bins of their own, or in those of the calibrator, which has some then.
    place.says("calib fit data.csv --monitor --force");
    assert_eq!(place.inspect("data.cal")["method"], "umd");
    place.ok("calib fit data.csv --monitor=5 --force");
    assert_eq!(place.inspect("data.cal")["method"], "blend");
    said!();
}

#[test]
fn an_epsilon_is_kept_or_refused_with_what_it_takes() {
    let place = place(5000);
    for (epsilon, options) in [(0.05, ""), (0.2, ""), (0.07, "--method umd ")] {
        place.ok(&format!("calib fit data.csv {options}--epsilon {epsilon} --force"));
        let got = place.inspect("data.cal")["guarantee"]["epsilon"].number();
        assert!(got <= epsilon, "{got} {epsilon}");
    }
    let run = place.says("calib fit data.csv --epsilon 0.01 --force");
    let needed =
        run.stderr.split("two bins need ").nth(1).unwrap().split(';').next().unwrap().replace(',', "");
    let planned = place.json(&format!("calib plan --n {needed} --epsilon 0.01 --json"));
    let kept = run.stderr.split("or use ").nth(1).unwrap().split(" or more").next().unwrap();
    place.ok(&format!("calib fit data.csv --epsilon {kept} --force"));
    assert!(planned.to_string().contains("\"bins\":2"), "{planned}");
    for options in [
        "--epsilon 500%",
        "--epsilon 0.1 --bins 5",
        "--epsilon 0.1 --method isotonic",
        "--epsilon 0.1 --alpha 0",
    ] {
        place.says(&format!("calib fit data.csv --force {options}"));
    }
    said!();
}

/// A forest's scores: tenths, so that every edge has a tie.
#[test]
fn where_scores_tie_a_method_is_taken_that_keeps_its_guarantee() {
    let rows = binary(5000);
    let tied: Vec<(f32, u8)> =
        rows.iter().map(|(score, label)| ((score * 10.0).round() / 10.0, *label)).collect();
    let place = Workplace::new().with("data.csv", csv(&tied));
    place.says("calib fit data.csv");
    let got = place.inspect("data.cal");
    assert!(got["tables"][0]["score_intervals"].list().len() > 5, "{got}");
    let bins = |options: &str| {
        place
            .ok(&format!("calib fit --method umd --bins 15 {options} --scores data.csv -o said.bin --force"));
        place.inspect("said.bin")["guarantee"].clone()
    };
    assert!(bins("")["epsilon"].number() < 0.2);
    // Hoeffding's inequality has no guarantee where scores tie.
    assert_eq!(bins("--bound hoeffding"), json!(null));
    place.says("calib fit data.csv --method umd --bins 15 --bound hoeffding --force");
    // What cannot be kept is refused with what can.
    let tries =
        |epsilon: u32| format!("calib fit data.csv --epsilon {} --force", f64::from(epsilon) / 1000.0);
    let is_refused =
        |epsilon: &u32| place.run(&tries(*epsilon)).stderr.contains("(the smallest possible is ");
    let refused = (15..100).step_by(5).rev().find(is_refused).expect("ties make bins of unequal sizes");
    let refused = place.says(&tries(refused));
    let least = refused.stderr.split("(the smallest possible is ").nth(1).unwrap().split(')').next().unwrap();
    place.ok(&format!("calib fit data.csv --epsilon {least} --force"));
    let below = least.parse::<f64>().unwrap() - 0.001;
    place.says(&format!("calib fit data.csv --epsilon {below} --force"));
    // Whoever names umd is told that bins went.
    place.says("calib fit data.csv --method umd --bins 30 --force");
    said!();
}

/// Saturated ends, where some numbers of bins have a tie at an edge, and others do not.
#[test]
fn an_epsilon_that_is_kept_is_kept_by_every_larger_one() {
    let pile = |score: f32| {
        if score < 0.07 {
            0.0
        } else if score > 0.93 {
            1.0
        } else {
            score
        }
    };
    let rows: Vec<(f32, u8)> = binary(5000).iter().map(|(score, label)| (pile(*score), *label)).collect();
    let place = Workplace::new().with("data.csv", csv(&rows));
    let mut kept = 0;
    for epsilon in ["0.03", "0.04", "0.05", "0.07", "0.09", "0.1", "0.12", "0.15", "0.2"] {
        let run = place.run(&format!("calib fit data.csv --epsilon {epsilon} --force"));
        assert!(run.code == 0 || kept == 0 && run.code == 2, "{epsilon}: {run:?}");
        kept += usize::from(run.code == 0);
    }
    assert!(kept >= 6, "{kept}");
    place.says("calib fit data.csv --method umd --bins 15 --force");
    assert!(place.inspect("data.cal")["guarantee"]["epsilon"].number() <= 0.1);
    said!();
}

#[test]
fn the_case_of_a_method_does_not_matter() {
    let place = place(1000);
    let bytes = |options: &str| {
        place.ok(&format!("calib fit data.csv --force {options}"));
        place.bytes("data.cal")
    };
    assert_eq!(bytes("--method UMD --bins 5"), bytes("--method umd --bins 5"));
}

#[test]
fn the_default_output_never_is_an_input() {
    let place = Workplace::new().with("data.cal", csv(&binary(500)));
    place.says("calib fit data.cal --force");
    assert!(place.bytes("data.cal").starts_with(b"score,label\n"));
    said!();
}
