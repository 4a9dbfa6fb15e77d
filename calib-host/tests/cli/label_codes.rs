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
    for (labels, option, problem, help) in [
        (
            &["1", "2", "9", "1"][..],
            "",
            "column label: the labels are 1, 2 and 9, which may stand for a missing value",
            "leave out the rows with 9, as pandas does with table[table.label != 9], and say which label is class 1: --positive-label 1 \
             or --positive-label 2",
        ),
        (
            &["0", "1", "-99"],
            "",
            "column label: the labels are 0, 1 and -99, which may stand for a missing value",
            "or write an empty cell for -99, and add --drop-missing",
        ),
        (
            &["1", "2", "9", "1"],
            " --positive-label 2",
            "the label 9 is neither 2, which is class 1, nor 1",
            "if 9 stands for a missing value, leave out these rows",
        ),
        (
            &["0", "1", "2"],
            "",
            "line 4, column label: the label 2 is out of range",
            "labels of binary data are 0 and 1; of several classes give all scores",
        ),
    ] {
        let run = Workplace::new().with("table.csv", table(labels)).run(&format!("{FIT}{option}"));
        assert_eq!(run.code, 3, "{}", run.stderr);
        assert!(run.stderr.contains(problem) && run.stderr.contains(help), "{}", run.stderr);
    }
}

#[test]
fn a_positive_label_that_does_not_occur_is_refused_with_those_that_do() {
    let many: Vec<String> = (0..20).map(|label| format!("k{label:02}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (labels, positive, problem, help) in [
        (
            &["0", "1"][..],
            "2",
            "error: table.csv, column label: no label is 2, which is said to be class 1: they are 0 and 1\n",
            "leave --positive-label out where labels are 0 and 1",
        ),
        (
            &["case", "control"],
            "Case",
            "no label is \"Case\", which is said to be class 1: they are \"case\" and \"control\"\n",
            "--positive-label case or --positive-label control",
        ),
        (&["a", "b", "c"], "d", "they are \"a\", \"b\" and \"c\"\n", "upper and lower case count"),
        (
            &many,
            "d",
            "they are \"k00\", \"k01\", \"k02\", \"k03\", \"k04\", \"k05\" and others\n",
            "a label that occurs",
        ),
    ] {
        let place = Workplace::new().with("table.csv", table(labels));
        for line in [FIT, "calib compare --scores table.csv", "calib assess --scores table.csv"] {
            let run = place.run(&format!("{line} --positive-label {positive}"));
            assert_eq!(run.code, 3, "{}", run.stderr);
            assert!(run.stderr.contains(problem) && run.stderr.contains(help), "{}", run.stderr);
        }
    }
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
        let run = place.run(line);
        let told = run.stderr.contains(
            "hint: if these are percent, divide them by 100, as pandas does with table[\"score\"] / 100",
        );
        assert!(run.code == 3 && told, "{line}: {}", run.stderr);
    }
}
