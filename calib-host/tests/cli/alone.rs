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
    let run = place.ok("calib assess cal.bin test.csv");
    assert!(
        run.stderr.contains("next: calib report cal.bin --calibration CALIBRATION --test test.csv"),
        "{}",
        run.stderr
    );
    let run = place.ok("calib apply cal.bin test.csv -o b.csv");
    assert!(run.stderr.contains("wrote b.csv"), "{}", run.stderr);
}

#[test]
fn what_stands_alone_is_one_table_and_is_there() {
    let place = workplace();
    for (line, code, message) in [
        ("calib assess", 2, "there are no rows to assess: calib assess ARTEFACT FILE"),
        ("calib assess cal.bin", 2, "there are no rows to assess: calib assess cal.bin FILE"),
        ("calib assess cal.bin test.csv --scores data.csv", 2, "cannot be used with"),
        ("calib assess nothing.csv", 3, "cannot read nothing.csv"),
        ("calib compare data.csv --probs data.csv", 2, "cannot be used with"),
        ("calib compare", 2, "the following required arguments were not provided"),
        ("calib bins data.csv --scores data.csv", 2, "cannot be used with"),
        ("calib bins", 2, "the following required arguments were not provided"),
        ("calib apply cal.bin -o a.csv", 2, "the following required arguments were not provided"),
        ("calib apply cal.bin test.csv --margins data.csv -o a.csv", 2, "cannot be used with"),
    ] {
        let run = place.run(line);
        assert!(run.code == code && run.stderr.contains(message), "{line}: {}", run.stderr);
    }
}
