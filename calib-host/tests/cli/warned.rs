//! `--fail-on-warning` of the commands that judge: they write what they were asked for, and say by their exit code that something is
//! wrong.

use crate::data::{binary, csv};
use crate::workplace::Workplace;

/// What a command exits with after a warning.
const WARNED: i32 = 6;

/// A calibrator, rows like those that it was fitted to, and rows with the labels turned round.
fn place() -> Workplace {
    let (rows, test) = (binary(1200), binary(900));
    let turned: Vec<(f32, u8)> = test.iter().map(|&(score, label)| (score, 1 - label)).collect();
    let twice: Vec<(f32, u8)> = test.iter().flat_map(|&row| [row; 4]).collect();
    let place = Workplace::new().with("cal.csv", csv(&rows)).with("good.csv", csv(&test));
    let place = place.with("bad.csv", csv(&turned)).with("twice.csv", csv(&twice));
    place.ok("calib fit --method umd --bins 4 --scores cal.csv -o cal.bin");
    place
}

#[test]
fn commands_that_judge_fail_on_a_warning_where_that_is_asked_for() {
    let place = place();
    for (good, bad, output) in [
        (
            "calib report cal.bin --calibration cal.csv --test good.csv -o page.html",
            "calib report cal.bin --calibration cal.csv --test bad.csv -o page.html",
            Some("page.html"),
        ),
        ("calib assess cal.bin --scores good.csv", "calib assess cal.bin --scores bad.csv", None),
        (
            "calib plot reliability cal.bin --test good.csv -o plot.svg",
            "calib plot reliability cal.bin --test cal.csv --same-rows -o plot.svg",
            Some("plot.svg"),
        ),
        (
            "calib compare --scores cal.csv --methods platt --folds 2 --repeats 1 --bootstrap 20",
            "calib compare --scores twice.csv --methods platt --folds 2 --repeats 1 --bootstrap 20",
            None,
        ),
    ] {
        let force = if output.is_some() { " --force" } else { "" };
        place.says(&format!("{good}{force} --fail-on-warning"));
        let run = place.says(&format!("{bad}{force}"));
        if let Some(output) = output {
            std::fs::remove_file(place.path().join(output)).unwrap();
        }
        let failed = place.run(&format!("{bad}{force} --fail-on-warning"));
        assert_eq!((failed.code, &failed.stdout), (WARNED, &run.stdout), "{bad}: {}", failed.stderr);
        // What was asked for is there.
        assert!(output.is_none_or(|output| !place.bytes(output).is_empty()), "{bad}");
        place.says(&format!("{bad}{force} --fail-on-warning --quiet"));
    }
    said!();
}
