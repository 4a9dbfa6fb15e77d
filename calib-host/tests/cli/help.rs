//! The help: its examples run.

use std::path::Path;

use crate::data::{binary, csv, matrix};
use crate::npy::{f32s, labels};
use crate::sql::{pass1, pass2};
use crate::workplace::Workplace;

/// The commands that take a device, of which there is none here.
const DEVICE: [&str; 5] = ["flash", "push", "status", "monitor", "label"];
/// The exit code where there is none.
const NO_DEVICE: i32 = 5;

/// A folder with every file that the examples read.
fn examples_folder() -> Workplace {
    let (cal, test, matrix_rows) = (binary(600), binary(400), 900);
    let renamed = csv(&cal).replace("score,label", "y_prob,y_true");
    let with = |name: &str, cell: &dyn Fn(usize, f32) -> String| {
        let rows = cal.iter().enumerate();
        let rows = rows.map(|(row, (score, label))| format!("{},{label}\n", cell(row, *score)));
        format!("{name}\n{}", rows.collect::<String>())
    };
    let visits = with("patient,score,label", &|row, score| format!("{},{score}", row / 2));
    let codes = with("score,label", &|_, score| ((score * 256.0) as i32 - 128).to_string());
    let unlabeled: String = test.iter().map(|(score, _)| format!("{score}\n")).collect();
    let logits = matrix(matrix_rows);
    let scores: Vec<f32> = cal.iter().map(|(score, _)| *score).collect();
    let targets: Vec<u8> = cal.iter().map(|(_, label)| *label).collect();
    let other = matrix(matrix_rows - 1);
    let costs = "[[action]]\nname = \"refer\"\npositive = 5\nnegative = 5\nalarm = false\nabstain = true\n\n\
                 [[action]]\nname = \"treat\"\npositive = 1\nnegative = 20\nalarm = true\n";
    let place = Workplace::new()
        .with("cal.csv", csv(&cal))
        .with("test.csv", csv(&test))
        .with("new.csv", format!("score\n{unlabeled}"))
        .with("frame.csv", renamed)
        .with("visits.csv", visits)
        .with("codes.csv", codes)
        .with("s.npy", f32s(&[cal.len()], scores).bytes())
        .with("y.npy", labels("<i8", &targets).bytes())
        .with("val_logits.npy", f32s(&[matrix_rows, 3], logits.logits).bytes())
        .with("val_labels.npy", labels("<i8", &logits.labels).bytes())
        .with("test_logits.npy", f32s(&[matrix_rows - 1, 3], other.logits).bytes())
        .with("test_labels.npy", labels("<i8", &other.labels).bytes())
        .with("costs.toml", costs)
        .with("pass1.csv", pass1(&cal))
        .with("pass2.csv", pass2(&cal, |_| true))
        .with("outcomes.csv", "class,bin,label\n1,3,0\n1,9,1\n")
        .with("app.elf", "");
    // A log has the identity of the calibrator that the examples make.
    place.ok("calib fit --method umd --bins 10 --scores cal.csv --monitor -o before.cal");
    let identity = place.inspect("before.cal")["identity"].clone();
    let begin = serde_json::json!({"begin": {"calib_log": 1, "device": "ward-3", "calibrator": identity}});
    let table =
        serde_json::json!({"predictions": vec![90; 10], "labeled": vec![40; 10], "positives": vec![8; 10]});
    let counters = serde_json::json!({"calib_counters": 1, "device": "ward-3", "calibrator": identity, "tables": [table]});
    let place = place.with("counters.json", counters.to_string());
    place.with("ward-3.jsonl", format!("{begin}\n{{\"predictions\": {{\"bins\": [3, 9, 0]}}}}\n"))
}

/// The commands in the order in which the list has them.
pub(crate) fn commands(place: &Workplace) -> Vec<String> {
    let listing = place.ok("calib --help").stdout;
    let lines = listing.lines().skip_while(|line| !line.starts_with("Calibrate:"));
    let lines = lines.take_while(|line| !line.starts_with("Options") && !line.starts_with("Output"));
    let names = lines.filter(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// The examples at the end of a command's help.
fn examples(help: &str) -> Vec<String> {
    let part = help.split("\nExamples:\n").nth(1).expect("there are examples");
    let part = part.split("\nExit codes:").next().unwrap().replace("\\\n", " ");
    part.lines().filter(|line| line.starts_with("  calib ")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_example_of_the_help_runs() {
    let place = examples_folder();
    let mut ran = 0;
    for name in commands(&place) {
        if matches!(&*name, "help" | "methods") {
            continue;
        }
        for line in examples(&place.ok(&format!("calib {name} --help")).stdout) {
            let run = place.run(&line);
            let expected = if DEVICE.contains(&&*name) { NO_DEVICE } else { 0 };
            // What a doctor finds depends on the machine, and is no failure.
            assert_eq!(run.code, expected, "{line}\n{}", run.stderr);
            let mut words = line.split_whitespace().skip_while(|word| *word != "-o");
            if let Some(output) = words.nth(1).filter(|output| *output != "-") {
                assert!(Path::new(&place.path().join(output)).exists(), "{line}");
            }
            ran += 1;
        }
    }
    assert!(ran >= 40, "{ran}");
}

#[test]
fn which_method_is_answered_as_a_tree() {
    let place = Workplace::new();
    let tree = place.ok("calib help methods").stdout;
    assert_eq!(tree.trim_end(), place.ok("calib methods").stdout.trim_end());
    assert_eq!(tree.trim_end(), place.ok("calib methods --help").stdout.trim_end());
    // Every method that it names is one.
    let listing = place.ok("calib fit --help").stdout;
    for line in tree.lines().filter(|line| line.contains(" ... ") || line.contains("....")) {
        let answer = line.rsplit("... ").next().unwrap();
        let name = answer.split([' ', ',']).next().unwrap();
        assert!(name == "calib" || listing.contains(&format!("- {name}: ")), "{name}: {line}");
    }
    assert!(tree.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn completions_and_manual_pages_know_the_options() {
    let place = Workplace::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.ok(&format!("calib completions {shell}")).stdout;
        assert!(script.contains("rows-per-bin") && script.contains("scaling-binning"), "{shell}");
    }
    let page = place.ok("calib man fit").stdout;
    assert!([".ie", "calib\\-fit", "rows\\-per\\-bin"].iter().all(|part| page.contains(part)), "{page}");
    place.says("calib man");
    place.says("calib man nothing");
    said!();
}

#[test]
fn colors_are_where_they_are_asked_for() {
    let place = Workplace::new();
    let is_colored = |line: &str| place.run(line).stdout.contains('\u{1b}');
    assert!(is_colored("calib fit --help --color always"));
    assert!(is_colored("calib --color=always --help"));
    assert!(!is_colored("calib fit --help --color never"));
    assert!(!is_colored("calib fit --help"));
    place.says("calib doctor --color sometimes");
    said!();
}

#[test]
fn a_warning_is_a_failure_where_that_is_asked_for() {
    let rows = binary(400);
    let turned: Vec<(f32, u8)> = rows.iter().map(|(score, label)| (1.0 - score, *label)).collect();
    let place = Workplace::new().with("good.csv", csv(&rows)).with("bad.csv", csv(&turned));
    let fit = |data: &str, more: &str| {
        place.says(&format!("calib fit --method umd --bins 5 --scores {data} -o out.bin --force {more}"))
    };
    assert_eq!(fit("good.csv", "--fail-on-warning").code, 0);
    fit("bad.csv", "");
    std::fs::remove_file(place.path().join("out.bin")).unwrap();
    assert_eq!(fit("bad.csv", "--fail-on-warning").code, 6);
    // What was asked for is there.
    place.says("calib inspect out.bin");
    said!();
}
