//! A table that stands alone on the command line, without an option before it.

use crate::data::{binary, csv};
use crate::workplace::Workplace;

fn workplace() -> Workplace {
    let place = Workplace::new().with("data.csv", csv(&binary(300))).with("test.csv", csv(&binary(200)));
    place.ok("calib fit data.csv -o cal.bin");
    place
}

#[test]
fn a_table_alone_is_the_table_of_scores() {
    let place = workplace();
    for (alone, option) in [
        (
            "calib compare data.csv --methods umd,isotonic --bins 4 --folds 2 --repeats 1 --json",
            "calib compare --scores data.csv --methods umd,isotonic --bins 4 --folds 2 --repeats 1 --json",
        ),
        ("calib bins data.csv --bins 2,3 --json", "calib bins --scores data.csv --bins 2,3 --json"),
        ("calib assess data.csv --json", "calib assess --scores data.csv --json"),
        ("calib assess cal.bin test.csv --json", "calib assess cal.bin --scores test.csv --json"),
        (
            "calib apply cal.bin test.csv -o a.csv --force --json",
            "calib apply cal.bin --scores test.csv -o a.csv --force --json",
        ),
    ] {
        assert_eq!(place.json(alone), place.json(option), "{alone}");
    }
    let run = place.ok("calib compare data.csv --methods umd,isotonic --bins 4 --folds 2 --repeats 1");
    let next = run.stderr.lines().find_map(|line| line.strip_prefix("next: ")).expect("a command");
    place.ok(next);
    place.says("calib assess cal.bin test.csv");
    place.says("calib apply cal.bin test.csv -o b.csv");
    said!();
}

#[test]
fn what_stands_alone_is_one_table_and_is_there() {
    let place = workplace();
    for line in [
        "calib assess",
        "calib assess cal.bin",
        "calib assess cal.bin test.csv --scores data.csv",
        "calib assess nothing.csv",
        "calib compare data.csv --probs data.csv",
        "calib compare",
        "calib bins data.csv --scores data.csv",
        "calib bins",
        "calib apply cal.bin -o a.csv",
        "calib apply cal.bin test.csv --margins data.csv -o a.csv",
    ] {
        place.says(line);
    }
    said!();
}
