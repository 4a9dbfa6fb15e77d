//! What commands say at their end: what they wrote, and what to run next.

use crate::data::{CLASSES, TOP_FIT, UMD_FIT, binary, csv, matrix_place};
use crate::npy::f32s;
use crate::workplace::Workplace;

const COSTS: &str = "[[action]]\nname = \"refer\"\npositive = 5\nnegative = 5\nalarm = false\nabstain = true\n\n[[action]]\nname = \"treat\"\n\
                     positive = 1\nnegative = 20\nalarm = true\n";

/// The command that is proposed.
fn next(stderr: &str) -> &str {
    stderr.lines().find_map(|line| line.strip_prefix("next: ")).expect("a command that follows")
}

#[test]
fn each_command_proposes_the_next_and_that_runs() {
    let place = Workplace::new().with("cal.csv", csv(&binary(400))).with("costs.toml", COSTS);
    let fit = "calib fit --method umd --bins 5 --scores cal.csv --label-column label --counter 1 -o cal.bin";
    let mut line = next(&place.ok(fit).stderr).to_owned();
    assert_eq!(
        line,
        "calib report cal.bin --calibration cal.csv --test TEST --label-column label -o report.html"
    );
    std::fs::write(place.path().join("TEST"), csv(&binary(500))).unwrap();
    let report = place.ok(&line).stderr;
    let len = place.bytes("report.html").len();
    assert!(report.contains(&format!("wrote report.html, {len} bytes\n")), "{report}");
    for first in [
        "calib apply cal.bin --scores TEST -o out.csv",
        "calib threshold --scores cal.csv --sensitivity 0.9 -o point.bin",
        "calib decide cal.bin --actions costs.toml --scores TEST -o rule.bin",
        "calib adjust cal.bin --prevalence 0.1 --counter 2 -o here.bin",
    ] {
        line = next(&place.ok(first).stderr).to_owned();
        place.ok(&line);
    }
    line = next(&place.ok("calib assess cal.bin --scores TEST").stderr).replace("CALIBRATION", "cal.csv");
    place.ok(&format!("{line} --force"));
    line = next(&place.ok("calib keygen -o k.pem").stderr).replace("ARTIFACT", "cal.bin");
    line = next(&place.ok(&line).stderr).to_owned();
    assert_eq!(line, "calib verify signed.bin --key k.pem.pub");
    place.ok(&line);
}

#[test]
fn looking_at_an_artifact_or_at_numbers_proposes_what_to_do_with_them() {
    let rows = |n| csv(&binary(n));
    let place = Workplace::new().with("cal.csv", rows(1200)).with("TEST", rows(900)).with("NEW", rows(40));
    let place = place.with("CALIBRATION", rows(1200));
    place.ok("calib fit --method umd --bins 4 --scores cal.csv -o cal.bin");
    let report = "calib report cal.bin --calibration CALIBRATION --test TEST -o report.html";
    for (first, expected) in [
        ("calib inspect cal.bin", report),
        ("calib plot reliability cal.bin --test TEST -o plot.svg", report),
        ("calib export cal.bin -o cal.h", "calib apply cal.bin --scores TEST -o expected.csv"),
        ("calib plan --n 400 --bins 5", "calib fit CALIBRATION --method umd --bins 5"),
        ("calib plan --n 400 --epsilon 0.2", "calib fit CALIBRATION --method umd --bins 8"),
        (
            "calib plan --sensitivity 0.9",
            "calib threshold --scores CALIBRATION --sensitivity 0.9 -o point.bin",
        ),
        (
            "calib bins --scores cal.csv --bins 2,5 --bootstrap 20",
            "calib fit --method umd --bins BINS --candidates TRIED --scores cal.csv",
        ),
    ] {
        let line = next(&place.ok(first).stderr).to_owned();
        assert_eq!(line, expected, "{first}");
        let line = line.replace("BINS", "5").replace("TRIED", "2");
        place.ok(&if line.contains("CALIBRATION.cal") { line } else { format!("{line} --force") });
    }
    // Four bins lose order, which is warned of.
    place.ok("calib fit --method platt --scores cal.csv -o smooth.bin");
    let report = report.replace("cal.bin", "smooth.bin");
    let line = next(&place.ok(&format!("{report} --force")).stderr).to_owned();
    assert_eq!(line, "calib apply smooth.bin --scores NEW -o calibrated.csv");
    place.ok(&line);
    // Nobody is led to use what was warned of.
    place.says("calib report smooth.bin --calibration cal.csv --test cal.csv --same-rows -o w.html");
    said!();
}

#[test]
fn a_comparison_proposes_the_fit_of_what_it_recommends() {
    let quick = "--folds 2 --repeats 1 --bootstrap 50";
    let rows = csv(&binary(1500)).replace("score,label", "y_prob,y");
    let place = Workplace::new().with("cal.csv", rows);
    let columns = "--score-column y_prob --label-column y";
    let line =
        next(&place.ok(&format!("calib compare --scores cal.csv {columns} {quick}")).stderr).to_owned();
    assert!(line.contains("--scores cal.csv --score-column y_prob --label-column y"), "{line}");
    place.ok(&line);
    let unmet =
        format!("calib compare --scores cal.csv {columns} --methods umd,isotonic {quick} --epsilon 0.001");
    let run = place.says(&unmet);
    place.ok(&format!("{} --force", next(&run.stderr)));
    for method in ["umd", "isotonic", "scaling-binning", "isotonic-interpolated", "venn-abers"] {
        let run = place.ok(&format!("calib compare --scores cal.csv {columns} --methods {method} {quick}"));
        // Of a method that is not better than the scores nothing is proposed.
        if run.stdout.starts_with("Take ") {
            place.ok(&format!("{} --force", next(&run.stderr)));
        }
    }
    let (place, _) = matrix_place(900);
    for methods in ["umd", "sierpinski,grid,projection,multiclass-irp", "temperature"] {
        let form = format!(
            "calib compare --logits val_logits.npy --labels val_labels.npy --methods {methods} {quick}"
        );
        for claim in ["", " --claim top-label"] {
            let run = place.ok(&format!("{form}{claim}"));
            if run.stdout.starts_with("Take ") {
                place.ok(&format!("{} --force", next(&run.stderr)));
            }
        }
    }
    said!();
}

#[test]
fn names_with_spaces_are_quoted() {
    let place = Workplace::new().with("my rows.csv", csv(&binary(300)).replace("score", "the score"));
    let mut command = place.command("fit --method umd --bins 5 --label-column label -o my.bin --scores");
    let output = command.args(["my rows.csv", "--score-column", "the score"]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = "calib report my.bin --calibration 'my rows.csv' --test TEST --score-column 'the score' --label-column label -o \
                    report.html";
    assert_eq!(next(&stderr), expected);
}

#[test]
fn a_matrix_is_named_with_its_labels_and_its_kind() {
    let (place, data) = matrix_place(400);
    let expected = "calib report top.bin --calibration val_logits.npy --calibration-labels val_labels.npy --test TEST --test-labels \
                    TEST_LABELS --logits -o report.html";
    assert_eq!(next(&place.ok(TOP_FIT).stderr), expected);
    let place = place.with("p.npy", f32s(&[400, CLASSES], data.probs).bytes());
    let probs = TOP_FIT.replace("--logits val_logits.npy", "--probs p.npy") + " --force";
    let expected = expected.replace("val_logits.npy", "p.npy").replace("--logits", "--probs");
    assert_eq!(next(&place.ok(&probs).stderr), expected);
    let place = place.with("cal.csv", csv(&binary(400)));
    // Beside JSON, and to whom wants quiet, nothing is told.
    place.says(&format!("{UMD_FIT} --json"));
    place.says("calib apply cal.bin --scores cal.csv -o out.csv --quiet");
    said!();
}
