//! Matrices whose columns are called as the classes are, and labels that are their names or count from 1.

use serde_json::{Value, json};

use crate::npy::{f64s, i64s, texts};
use crate::workplace::Workplace;

const ROWS: usize = 90;
const FIT: &str = "calib fit --method umd --bins 3 --reduction top-label -o out.cal --force --json";

/// The probabilities of a row, and its class.
fn row(row: usize) -> ([f64; 3], usize) {
    let class = row * 7 % 3;
    let top = 0.5 + (row * 37 % 90) as f64 / 256.0;
    let mut probs = [(1.0 - top) / 2.0; 3];
    probs[if row.is_multiple_of(5) { (class + 1) % 3 } else { class }] = top;
    (probs, class)
}

fn table(columns: [&str; 3], label: impl Fn(usize) -> String) -> String {
    let rows = (0..ROWS).map(row).map(|([a, b, c], class)| format!("{},{a},{b},{c}\n", label(class)));
    format!("label,{}\n{}", columns.join(","), rows.collect::<String>())
}

fn fitted(place: &Workplace, files: &str) -> Value {
    let got = place.json(&format!("{FIT} {files}"));
    json!([got["n"], got["tables"]])
}

#[test]
fn labels_are_matched_with_the_columns_of_the_classes() {
    let plain = Workplace::new().with("t.csv", table(["p0", "p1", "p2"], |class| class.to_string()));
    let expected = fitted(&plain, "--probs t.csv");
    assert_eq!(expected[0], ROWS);
    plain.says(&format!("{FIT} --probs t.csv"));
    let animals = ["cat", "dog", "bird"];
    for (columns, option, label) in [
        (animals, "cat,dog,bird", animals),
        (["prob_cat", "prob_dog", "prob_bird"], "prob_cat,prob_dog,prob_bird", animals),
        (["p1", "p2", "p3"], "p1..p3", ["1", "2", "3"]),
        (["1", "2", "3"], "1..3", ["1", "2", "3"]),
        // Indices are none of the names.
        (["p1", "p2", "p3"], "p1..p3", ["0", "1", "2"]),
        (animals, "cat,dog,bird", ["0", "1", "2"]),
    ] {
        let place = Workplace::new().with("t.csv", table(columns, |class| label[class].into()));
        let files = format!("--probs t.csv --score-column {option}");
        assert_eq!(fitted(&place, &files), expected, "{columns:?} {label:?}");
        let told = place
            .ok(&format!("{FIT} {files}"))
            .stderr
            .contains("note: t.csv: labels name the classes' columns");
        assert_eq!(told, label[0] != "0", "{columns:?}");
        place.ok("calib assess out.cal --probs t.csv --same-rows --score-column COLUMNS"
            .replace("COLUMNS", option)
            .as_str());
    }
    // The names are printed, and are in the JSON.
    let place =
        Workplace::new().with("t.csv", table(["p_cat", "p_dog", "p_bird"], |class| animals[class].into()));
    let columns = "--score-column p_cat,p_dog,p_bird";
    place.ok(&format!("{FIT} --probs t.csv {columns}"));
    let assess = format!("calib assess out.cal --probs t.csv --same-rows {columns}");
    place.says(&assess);
    assert_eq!(place.json(&format!("{assess} --json"))["class_names"], json!(animals));
    let report = "calib report out.cal --calibration t.csv --test t.csv --probs --same-rows";
    let report = format!("{report} {columns} -o report.html --json");
    assert_eq!(place.json(&report)["class_names"], json!(animals));
    assert!(place.text("report.html").contains("Classes: 0 = cat, 1 = dog, 2 = bird"));
    // In a file of their own.
    let labels = |class: usize| animals[class];
    let words: Vec<&str> = (0..ROWS).map(|at| labels(row(at).1)).collect();
    let place = Workplace::new()
        .with("t.csv", table(animals, |_| "x".into()))
        .with("y.npy", texts('U', &words).bytes());
    assert_eq!(fitted(&place, "--probs t.csv --score-column cat,dog,bird --labels y.npy"), expected);
    said!();
}

#[test]
fn labels_that_count_from_1_or_name_no_column_are_refused_with_what_helps() {
    let probs = f64s(&[ROWS, 3], (0..ROWS).flat_map(|at| row(at).0)).bytes();
    let place = Workplace::new()
        .with("p.npy", probs)
        .with("one.npy", i64s((0..ROWS).map(|at| row(at).1 as i64 + 1)).bytes())
        .with("words.npy", texts('U', &vec!["cat"; ROWS]).bytes())
        .with("t.csv", table(["cat", "dog", "bird"], |class| ["cat", "dog", "cow"][class].into()));
    for files in [
        "--probs p.npy --labels one.npy",
        "--probs p.npy --labels words.npy",
        "--probs t.csv --score-column cat,dog,bird",
    ] {
        place.says(&format!("{FIT} {files}"));
    }
    said!();
}
