//! Scores that nobody ever saw: bins without calibration points, in every command.

use crate::data::Json;
use crate::transcript::quote;
use crate::workplace::Workplace;

/// Discharging a patient is right below about 0.42; without a probability somebody looks.
const COSTS: &str = "
uncalibrated = \"look\"

[[action]]
name = \"discharge\"
positive = 58
negative = 0
alarm = false

[[action]]
name = \"look\"
positive = 21
negative = 27
alarm = true
";

/// Scores in [0, 0.2) and [0.8, 1], and a risk of 97 % for everybody; new scores lie between, too.
fn place() -> Workplace {
    let score = |i: u32| if i < 200 { f64::from(i) / 1000.0 } else { 0.6 + f64::from(i) / 1000.0 };
    let rows: String = (0..400).map(|i| format!("{},{}\n", score(i), u8::from(i % 33 != 0))).collect();
    let new = "0.05,1\n0.25,1\n0.45,1\n0.75,0\n0.95,1\n0.15,0\n";
    Workplace::new()
        .with("cal.csv", "score,label\n".to_owned() + &rows)
        .with("new.csv", "score,label\n".to_owned() + new)
        .with("between.csv", "score,label\n0.21,1\n0.79,0\n")
        .with("costs.toml", COSTS)
}

fn fitted() -> Workplace {
    let place = place();
    place.ok(
        "calib fit --method fixed-width --bins 10 --actions costs.toml --scores cal.csv -o cal.bin --quiet",
    );
    place
}

#[test]
fn a_score_in_an_empty_bin_is_neither_calibrated_nor_discharged() {
    let place = fitted();
    place.ok("calib apply cal.bin --scores new.csv -o out.csv");
    let (header, rows) = place.table("out.csv");
    let column = |name: &str| header.iter().position(|there| there == name).unwrap();
    let (prob, bin) = (column("prob"), column("bin"));
    for (row, is_empty) in rows.iter().zip([false, true, true, true, false, false]) {
        assert_eq!(row[prob].is_empty() && row[bin].is_empty(), is_empty, "{row:?}");
        assert_eq!(row[column("flags")], if is_empty { "empty-bin" } else { "" });
        // Everybody's risk is 97 %.
        assert_eq!(row[column("action")], "look");
    }
}

#[test]
fn no_command_counts_such_rows_as_calibrated() {
    let place = fitted();
    let assessed = place.json("calib assess cal.bin --scores new.csv --json");
    assert_eq!((&assessed["uncalibrated"], &assessed["after"]["n"]), (&3.into(), &3.into()), "{assessed}");
    let decided = place.json("calib decide cal.bin --actions costs.toml --scores new.csv --json");
    assert_eq!(decided["uncalibrated_rows"], 3, "{decided}");

    place.says("calib assess cal.bin --scores between.csv");
    said!();
}

/// What stays uncalibrated counts with its score: a comparison that took midpoints for probabilities would find another loss.
#[test]
fn a_comparison_takes_the_score_of_such_rows() {
    let place = place();
    let compared = place.json(
        "calib compare --methods fixed-width --bins 10 --scores cal.csv --test between.csv --bootstrap 50 --json",
    );
    let method = &compared["methods"][0];
    assert_eq!(method["name"], "fixed-width");
    assert!((method["loss"]["value"].number() - 0.79f64.powi(2)).abs() < 1e-6, "{compared}");
    assert_eq!(method["change"]["value"], 0.0, "{compared}");
}

#[test]
fn inspect_names_them_and_a_table_in_rust_is_refused() {
    let place = fitted();
    let inspected = place.inspect("cal.bin");
    assert_eq!(inspected["tables"][0]["empty_bins"], serde_json::json!([2, 3, 4, 5, 6, 7]));
    quote(&inspected["statement"]);
    place.says("calib inspect cal.bin");

    place.says("calib export cal.bin --format rust --name cal -o cal.rs");
    place.ok("calib export cal.bin --format c --name cal -o cal.h");
    said!();
}
