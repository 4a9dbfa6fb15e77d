//! Labels that are codes: of missing answers, and of classes that somebody named and that do not occur.

use crate::workplace::Workplace;

const FIT: &str = "calib fit --method umd --bins 4 --scores table.csv -o out.cal";

/// A table with these labels in turn.
fn table(labels: &[&str]) -> String {
    let rows = (0..40).map(|row| {
        format!("{},{}\n", f64::from(row * 37 % 40) / 64.0 + 0.125, labels[row as usize % labels.len()])
    });
    format!("score,label\n{}", rows.collect::<String>())
}

#[test]
fn codes_of_missing_answers_are_named() {
    for (labels, option) in [
        (&["1", "2", "9", "1"][..], ""),
        (&["0", "1", "-99"], ""),
        (&["1", "2", "9", "1"], " --positive-label 2"),
        (&["0", "1", "2"], ""),
    ] {
        Workplace::new().with("table.csv", table(labels)).says(&format!("{FIT}{option}"));
    }
    said!();
}

#[test]
fn a_positive_label_that_does_not_occur_is_refused_with_those_that_do() {
    let many: Vec<String> = (0..20).map(|label| format!("k{label:02}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (labels, positive) in
        [(&["0", "1"][..], "2"), (&["case", "control"], "Case"), (&["a", "b", "c"], "d"), (&many, "d")]
    {
        let place = Workplace::new().with("table.csv", table(labels));
        for line in [FIT, "calib compare --scores table.csv", "calib assess --scores table.csv"] {
            place.says(&format!("{line} --positive-label {positive}"));
        }
    }
    said!();
}

/// Percent are told wherever probabilities are read.
#[test]
fn percent_are_told_everywhere() {
    let rows = (0..40).map(|row| format!("{},{},{}\n", 2 * row + 5, 95 - 2 * row, row % 2));
    let place = Workplace::new().with("table.csv", format!("p1,p0,label\n{}", rows.collect::<String>()));
    for line in [
        "calib fit table.csv --score-column p1",
        "calib compare --scores table.csv --score-column p1",
        "calib assess --scores table.csv --score-column p1",
        "calib bins --scores table.csv --score-column p1",
        "calib assess --probs table.csv --prob-column p1",
        "calib assess --probs table.csv --score-column p0,p1",
        "calib fit --method umd --bins 2 --reduction top-label --probs table.csv --score-column p0,p1 -o out.cal",
    ] {
        place.says(line);
    }
    said!();
}
