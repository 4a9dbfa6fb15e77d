//! A first fit of several classes: what is chosen where nobody says anything, and what helps whoever took them for one score.

use std::fmt::Write as _;

use crate::data::{CLASSES, Json, Matrix, binary, csv, matrix_place};
use crate::npy::f32s;
use crate::workplace::Workplace;

const SAID: &str = "--method blend";

/// The same rows as a table with a column for each class under these names.
fn table(data: &Matrix, names: [&str; CLASSES]) -> String {
    let mut text = format!("{},label\n", names.join(","));
    for (probs, label) in data.probs.chunks_exact(CLASSES).zip(&data.labels) {
        let _ = writeln!(text, "{},{},{},{label}", probs[0], probs[1], probs[2]);
    }
    text
}

fn place() -> (Workplace, Matrix) {
    let (place, data) = matrix_place(900);
    let place = place.with("probs.csv", table(&data, ["p0", "p1", "p2"]));
    (place.with("probs.npy", f32s(&[900, CLASSES], data.probs.clone()).bytes()), data)
}

#[test]
fn a_table_of_several_classes_is_enough() {
    let (place, data) = place();
    place.ok(&format!("calib fit --probs probs.csv {SAID} -o said.bin"));
    let said = place.bytes("said.bin");
    for line in ["calib fit probs.csv", "calib fit --probs probs.csv"] {
        let run = place.says(&format!("{line} --force"));
        assert_eq!(place.bytes("probs.cal"), said, "{line}");
        let next = run.stderr.lines().find_map(|line| line.strip_prefix("next: ")).unwrap();
        std::fs::write(place.path().join("TEST"), table(&data, ["p0", "p1", "p2"])).unwrap();
        place.ok(&format!("{next} --same-rows --force"));
    }
    let json = place.json("calib fit probs.csv --force --json");
    assert!(json["chosen"].text().starts_with("chosen: blend of whole vectors"), "{}", json["chosen"]);
    // Arrays, and logits, with their labels beside them.
    for scores in ["probs.npy", "--probs probs.npy", "--logits val_logits.npy"] {
        place.says(&format!("calib fit {scores} --labels val_labels.npy -o array.bin --force"));
        assert_eq!(place.inspect("array.bin")["reduction"], "joint");
    }
    said!();
}

#[test]
fn what_is_named_is_not_chosen() {
    let (place, _) = place();
    let fit =
        |options: &str| place.ok(&format!("calib fit --probs probs.csv {options} -o a.bin --force")).stderr;
    assert!(fit("--reduction class-wise").contains("\nChosen      blend"));
    assert_eq!(place.inspect("a.bin")["reduction"], "class-wise");
    // Monitors need bins, which is said.
    assert!(
        fit("--monitor")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("umd with 50 observations a bin (Gupta and Ramdas 2022): monitors count in these bins")
    );
    assert!(!fit(SAID).contains("Chosen "));
    assert!(!fit("--method temperature").contains("Chosen "));
    // One class against the other is a score.
    let two = place.with("two.csv", "p0,p1,label\n0.25,0.75,1\n0.5,0.5,0\n");
    two.says("calib fit --probs two.csv");
    said!();
}

#[test]
fn a_fit_of_one_score_to_several_classes_is_led_to_theirs() {
    let (place, data) = place();
    let place = place.with("named.csv", table(&data, ["cat", "dog", "owl"]));
    for line in ["calib fit probs.csv --score-column p1", "calib fit --scores probs.csv"] {
        place.says(line);
    }
    // Names that say nothing of classes are named.
    place.says("calib fit named.csv");
    place.ok("calib fit --probs named.csv --score-column cat,dog,owl");
    let binary = place.with("wide.csv", csv(&binary(300)).replace("score,label", "a,label"));
    binary.says("calib fit wide.csv");
    said!();
}

#[test]
fn who_names_a_method_is_told_what_it_needs() {
    let (place, _) = place();
    let place = place.with("cal.csv", csv(&binary(300)));
    place.says(&format!("calib fit --probs probs.csv {}", "--method umd --reduction top-label"));
    place.says("calib fit cal.csv --method umd");
    // What is said helps.
    for more in ["--method umd --bins 3", "--method umd --epsilon 0.3", ""] {
        place.ok(&format!("calib fit cal.csv {more} --force"));
    }
    said!();
}

#[test]
fn a_command_without_its_data_shows_an_example() {
    let place = Workplace::new();
    place.says("calib fit");
    place.says("calib report --force");
    // What is wrong in another way has other help.
    place.says("calib fit cal.csv --colour");
    said!();
}
