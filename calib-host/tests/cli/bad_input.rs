//! Tables and options that are wrong: what is wrong, where, and what to do.

use crate::npy::{f32s, f64s, i64s};
use crate::refusal::{
    CLASSES, DATA, EVERY_ROW, GAP, LOGIT, LOGIT_OR_PERCENT, LONG_ROW, MORE, ROW, SHORT_ROW, TOP, TWO_CLASSES,
    WORDS, csv_refused, good, npy_refused, refused, text,
};

#[test]
fn tables_without_rows() {
    csv_refused("", &format!("error: bad.csv: the file is empty\n{DATA}"));
    for csv in ["score,label\n", "score,label", "\n\n"] {
        csv_refused(csv, &format!("error: bad.csv: there are no rows\n{DATA}"));
    }
}

#[test]
fn one_class_only() {
    for label in [0, 1] {
        let csv = format!("score,label\n0.1,{label}\n0.2,{label}\n0.3,{label}\n0.4,{label}\n");
        let nothing = "nothing can be learned about the other class\n  hint: calibration data must hold both labels, 0 and 1\n";
        let stderr = format!("error: bad.csv, column label: all 4 labels are {label}: {nothing}");
        refused(
            &[("bad.csv", text(&csv))],
            "calib fit --method isotonic --scores bad.csv -o out",
            3,
            &stderr,
        );
        let array = i64s([label; 40]).bytes();
        let stderr = format!("error: bad.npy: all 40 labels are {label}: {nothing}");
        let line = "calib fit --method platt --scores scores.npy --labels bad.npy -o out";
        refused(&[("bad.npy", array)], line, 3, &stderr);
    }
}

#[test]
fn scores_that_are_no_scores() {
    let long = "é".repeat(100);
    let shortened = format!("\"{}\"... is not a number", "é".repeat(40));
    for (score, problem, hint) in [
        ("NaN", "the value is NaN", GAP),
        ("nan", "the value is NaN", GAP),
        ("inf", "the value is infinite", ROW),
        ("-inf", "the score -inf is outside [0, 1]", LOGIT),
        ("-0.1", "the score -0.1 is outside [0, 1]", LOGIT),
        ("1.5", "the score 1.5 is outside [0, 1]", LOGIT_OR_PERCENT),
        // Rounds to 1 as an f32.
        ("1.000000000001", "the score 1.000000000001 is outside [0, 1]", LOGIT_OR_PERCENT),
        (
            "\"0,5\"",
            "\"0,5\" is not a number",
            "  hint: write 0.5 for 0,5; decimal commas are read where ; or a tab separates the fields, and no number has a point\n",
        ),
        ("high", "\"high\" is not a number", ROW),
        ("", "the field is empty", GAP),
        (" ", "the field is empty", GAP),
        // A message is one line of plain text, whatever the file holds.
        ("\"0\n.5\"", "\"0\\n.5\" is not a number", ROW),
        ("\u{1b}[31m", "\"\\u{1b}[31m\" is not a number", ROW),
        (&long, &shortened, ROW),
    ] {
        let csv = format!("score,label\n0.1,0\n0.2,1\n{score},1\n0.4,0\n");
        csv_refused(csv, &format!("error: bad.csv, line 4, column score: {problem}\n{hint}"));
    }
    for (score, problem, hint) in [
        (f64::NAN, "the value is NaN", GAP),
        (f64::INFINITY, "the value is infinite", ROW),
        (f64::NEG_INFINITY, "the score -inf is outside [0, 1]", LOGIT),
        (-0.1, "the score -0.1 is outside [0, 1]", LOGIT),
        (1.5, "the score 1.5 is outside [0, 1]", LOGIT_OR_PERCENT),
    ] {
        let array = f64s(&[40], (0..40).map(|row| if row == 7 { score } else { 0.5 })).bytes();
        npy_refused("scores", array, &format!("error: bad.npy, row 7: {problem}\n{hint}"));
    }
    let stderr =
        format!("error: bad.csv, line 3, column score: the score 2 is outside [0, 1]\n{LOGIT_OR_PERCENT}");
    refused(
        &[("bad.csv", text("score\n0.5\n2\n"))],
        "calib apply cal.bin --scores bad.csv -o out",
        3,
        &stderr,
    );
}

#[test]
fn labels_that_are_no_labels() {
    for (label, problem, hint) in [
        ("2", "the label 2 is out of range: the 2 classes are 0 to 1", TWO_CLASSES),
        ("-1", "the label -1 is out of range: the 2 classes are 0 to 1", CLASSES),
        ("1e3", "the label 1000 is out of range: the 2 classes are 0 to 1", TWO_CLASSES),
        ("0.5", "\"0.5\" is not a whole number", CLASSES),
        ("sick", "\"sick\" is not a whole number", WORDS),
        ("truth", "\"truth\" is not a whole number", WORDS),
    ] {
        let csv = format!("score,label\n0.1,0\n0.2,{label}\n0.3,1\n0.4,0\n");
        csv_refused(csv, &format!("error: bad.csv, line 3, column label: {problem}\n{hint}"));
    }
    let nan = format!("error: bad.csv, line 3, column label: \"NaN\" is not a whole number\n{GAP}");
    csv_refused("score,label\n0.1,0\n0.2,NaN\n0.3,1\n0.4,0\n", &nan);
    let empty = format!("error: bad.csv, line 3, column label: the field is empty\n{GAP}");
    csv_refused("score,label\n0.1,0\n0.2,\n0.3,1\n0.4,0\n", &empty);

    for (kind, first, row, label, classes) in [
        ("labels", 0, 2, 2, "2 classes are 0 to 1"),
        ("labels", -1, 0, -1, "2 classes are 0 to 1"),
        ("classes", 0, 3, 3, "3 classes are 0 to 2"),
        ("classes", -1, 0, -1, "3 classes are 0 to 2"),
    ] {
        let array = i64s((0..40).map(|row| first + row)).bytes();
        let hint = if label == 2 { TWO_CLASSES } else { CLASSES };
        let stderr =
            format!("error: bad.npy, row {row}: the label {label} is out of range: the {classes}\n{hint}");
        npy_refused(kind, array, &stderr);
    }
}

/// Lines are counted as an editor counts them, whatever the line ends, blank lines and quoted line breaks.
#[test]
fn lines_are_counted_as_an_editor_does() {
    for (csv, line) in [
        ("score,label\n0.1,0\n0.2,1\nx,1\n", 4),
        ("score,label\r\n0.1,0\r\n0.2,1\r\nx,1\r\n", 4),
        ("score,label\n0.1,0\n\n\n0.2,1\n\nx,1\n", 7),
        ("score,label\r\n0.1,0\r\n\r\n0.2,1\r\n\r\nx,1\r\n", 6),
        ("\n\nscore,label\n0.1,0\nx,1\n", 5),
        ("\u{feff}score,label\n0.1,0\nx,1\n", 3),
        ("note,score,label\n\"a\nb\r\nc\",0.1,0\n,x,1\n", 5),
        ("score,label\n0.1,0\nx,1", 3),
    ] {
        let expected = format!(
            "error: bad.csv, line {line}, column score: \"x\" is not a number\n  hint: remove or repair the row\n"
        );
        csv_refused(csv, &expected);
    }
    let ragged = format!("error: bad.csv, line 4: the number of fields is 3, the header has 2\n{LONG_ROW}");
    csv_refused("score,label\r\n0.1,0\r\n\r\n0.2,1,7\r\n", &ragged);
    let not_utf8 = "error: bad.csv, line 4: the text is not UTF-8, and may be Latin-1 or Windows-1252\n  hint: save the file as UTF-8: in Excel as \"CSV UTF-8\", or with `iconv -f latin1 -t utf8`\n";
    csv_refused(b"score,label\r\n0.1,0\r\n\r\n0.2,\xff\r\n", not_utf8);
}

#[test]
fn tables_of_another_form() {
    for (csv, fields, hint) in [
        ("score,label\n0.1,0\n0.2\n", 1, SHORT_ROW),
        ("score,label\n0.1,0\n0.2,1,2\n", 3, LONG_ROW),
        // The quote is never closed.
        ("score,label\n0.1,0\n\"0.2,1\n0.3,1\n", 1, SHORT_ROW),
    ] {
        csv_refused(
            csv,
            &format!("error: bad.csv, line 3: the number of fields is {fields}, the header has 2\n{hint}"),
        );
    }
    for (csv, column, hint) in [
        ("pred,label\n0.1,0\n", "score", "\"pred\", \"label\": try --score-column \"pred\""),
        ("score,class\n0.1,0\n", "label", "\"score\", \"class\": try --label-column \"class\""),
        (
            "score,z\n0.1,0\n",
            "label",
            "\"score\", \"z\": choose with --score-column, --label-column or the like",
        ),
    ] {
        let expected = format!(
            "error: bad.csv, column {column}: there is no such column\n  hint: the columns are {hint}\n"
        );
        csv_refused(csv, &expected);
    }
    csv_refused(
        "7,0.1,0\n8,0.2,1\n",
        "note: bad.csv: the first line is data, so the columns are called 0 to 2\nerror: bad.csv, column label: there is no such \
         column\n  hint: the columns have no names, and are called 0 to 2: choose with --score-column and --label-column, as in \
         --score-column 1 --label-column 2; where numbers have decimal commas, separate the fields by ;\n",
    );
    for (csv, column) in
        [("score,label,score\n0.1,0,0.1\n", "score"), ("score,label,label\n0.1,0,0\n", "label")]
    {
        let stderr = format!(
            "error: bad.csv, column {column}: the column is there twice\n  hint: rename one of the two\n"
        );
        csv_refused(csv, &stderr);
    }
    for (csv, line) in [(&b"score,label\n0.1,0\n0.2,\xff\n"[..], 3), (b"sc\xffore,label\n0.1,0\n", 1)] {
        csv_refused(
            csv,
            &format!(
                "error: bad.csv, line {line}: the text is not UTF-8, and may be Latin-1 or Windows-1252\n  hint: save the file as UTF-8: in Excel as \"CSV UTF-8\", or with `iconv -f latin1 -t utf8`\n"
            ),
        );
    }
}

#[test]
fn labels_that_do_not_match_the_scores() {
    let line = "calib fit --method umd --bins 2 --scores cal.csv --labels bad.csv -o out";
    let stderr = "error: bad.csv, column label: there is no such column\n  \
                  hint: the columns are \"class\": try --label-column \"class\"\n";
    refused(&[("bad.csv", text("class\n0\n1\n"))], line, 3, stderr);
    let stderr = format!("error: bad.csv: 2 rows, but cal.csv has 40\n{EVERY_ROW}");
    refused(&[("bad.csv", text("label\n0\n1\n"))], line, 3, &stderr);
    let stderr = format!("error: bad.npy: 2 rows, but cal.csv has 40\n{EVERY_ROW}");
    refused(&[("bad.npy", i64s([0, 1]).bytes())], &line.replace("bad.csv", "bad.npy"), 3, &stderr);
    for (kind, other) in [("labels", "scores.npy"), ("classes", "logits.npy")] {
        let stderr = format!("error: bad.npy: 2 rows, but {other} has 40\n{EVERY_ROW}");
        npy_refused(kind, i64s([0, 1]).bytes(), &stderr);
    }
    let stderr = format!("error: labels.npy: 40 rows, but bad.npy has 2\n{EVERY_ROW}");
    npy_refused("probs", f32s(&[2, 2], [0.5; 4]).bytes(), &stderr);
}

#[test]
fn too_few_points() {
    csv_refused(
        "score,label\n0.1,0\n0.2,1\n0.3,1\n",
        "error: bad.csv: 3 calibration points are too few for 2 bins: at least 4 are needed\n  \
         hint: add calibration data\n",
    );
    let binary = "calib fit --method umd --points-per-bin 9 --scores bad.csv -o out";
    // No hint proposes bins of so few points that nothing is known of them.
    for rows in ["0.1,0\n0.2,1\n0.3,1\n", "0.1,0\n"] {
        let n = rows.lines().count();
        let hint = "add calibration data";
        let stderr =
            format!("error: bad.csv: {n} calibration points are too few: 9 are needed\n  hint: {hint}\n");
        refused(&[("bad.csv", format!("score,label\n{rows}").into())], binary, 3, &stderr);
    }
    for (options, needed) in [("--points-per-bin 41", 41), ("--bins 21", 42), ("--bins 65536", 131_072)] {
        let line = format!("calib fit {TOP} {options} --logits logits.npy --labels labels.npy -o out");
        let stderr = format!(
            "error: logits.npy: no class was predicted often enough: the most frequent has 40 calibration points, \
             {needed} are needed\n  \
             hint: add calibration data\n"
        );
        refused(&[], &line, 3, &stderr);
    }
}

#[test]
fn options_out_of_range() {
    let fit = |options: &str, stderr: &str| {
        refused(&[], &format!("calib fit --method umd {options} --scores cal.csv -o out"), 2, stderr);
        let matrix = format!("calib fit {TOP} {options} --logits logits.npy --labels labels.npy -o out");
        refused(&[], &matrix, 2, stderr);
    };
    for bins in ["0", "65537", "18446744073709551615"] {
        fit(&format!("--bins {bins}"), &format!("error: {bins} bins: a table has 1 to 65536\n"));
    }
    for k in [0, 1] {
        let stderr = format!("error: {k} points per bin: at least 2 are needed\n");
        fit(&format!("--points-per-bin {k}"), &stderr);
    }
    let fraction = "  hint: alpha is a fraction such as 0.1, not a percentage\n";
    for (alpha, shown) in [("0", "0.0"), ("1", "1.0"), ("10", "10.0"), ("nan", "NaN"), ("-0.1", "-0.1")] {
        let stderr = format!("error: alpha is {shown}: it must lie between 0 and 1\n{fraction}");
        fit(&format!("--bins 2 --alpha={alpha}"), &stderr);
    }
    for alpha in ["1e-60", "0.99999999999"] {
        let stderr = format!("error: alpha is {alpha}: too near 0 or 1 for an f32\n{fraction}");
        fit(&format!("--bins 2 --alpha={alpha}"), &stderr);
    }
    refused(
        &[],
        "calib fit --method umd --scores cal.csv -o out",
        2,
        "error: umd needs --bins or --points-per-bin, such as --bins 10: `calib plan --n N --epsilon 0.1` says how many keep a guarantee within \
         0.1; --epsilon 0.1 in place of them chooses so many, and so does leaving --method out\n",
    );
    refused(
        &[],
        &format!("calib fit {TOP} --logits logits.npy --labels labels.npy -o out"),
        2,
        "error: umd needs --points-per-bin or --bins, such as --points-per-bin 50; without --method, umd is taken with 50 points a bin\n",
    );
    for (option, value, problem) in [
        ("--bins <B>", "two", "a whole number is expected, such as 25000 or 2.5e4"),
        ("--bins <B>", "5,000", "a whole number has no comma: 5000, if it parts thousands"),
        ("--alpha <ALPHA>", "ten", "a number is expected, such as 0.1 or 10%"),
        ("--classifier-id <HEX>", "12", "a classifier id has 16 hex digits"),
        ("--classifier-id <HEX>", "00112233445566zz", "a classifier id has 16 hex digits"),
    ] {
        let name = option.split(' ').next().unwrap();
        let stderr = format!("error: invalid value '{value}' for '{option}': {problem}\n{MORE}");
        fit(&format!("{name} {value}"), &stderr);
    }
    for (option, value, problem) in [
        ("--bins <B>", "0", "0 is not in 1..=1000000"),
        ("--alpha <ALPHA>", "5", "alpha is a fraction between 0 and 1, such as 0.05"),
        ("--bootstrap <N>", "0", "0 is not in 1.."),
    ] {
        let name = option.split(' ').next().unwrap();
        let stderr = format!("error: invalid value '{value}' for '{option}': {problem}\n{MORE}");
        refused(&[], &format!("calib assess --probs cal.csv --prob-column score {name} {value}"), 2, &stderr);
    }
}

#[test]
fn options_that_do_not_go_together() {
    let matrix = "--reduction top-label --logits logits.npy --labels labels.npy";
    for (options, problem) in [
        ("--method isotonic --bins 3 --scores cal.csv", "isotonic chooses its bins itself: leave out --bins"),
        (
            &format!("--method isotonic --bins 3 {matrix}"),
            "isotonic chooses its bins itself: leave out --bins",
        ),
        (
            "--method isotonic --points-per-bin 30 --scores cal.csv",
            "isotonic chooses its bins itself: leave out --points-per-bin",
        ),
        ("--method umd --bins 3 --scores scores.npy", "--labels is needed beside a NumPy array"),
        (
            "--method umd --bins 3 --reduction top-label --logits logits.npy",
            "--labels is needed beside a matrix",
        ),
        (
            "--method umd --bins 3 --logits logits.npy --labels labels.npy",
            "a matrix of scores needs a reduction, such as --reduction top-label; of two classes give class 1 with --scores",
        ),
        (
            "--method umd --bins 3 --reduction top-label --scores cal.csv",
            "--reduction needs a matrix: --logits or --probs instead of --scores",
        ),
    ] {
        refused(&[], &format!("calib fit {options} -o out"), 2, &format!("error: {problem}\n"));
    }
    // The words are clap's; its usage line is its own affair.
    for (options, problem) in [
        (
            "--method umd --bins 3 --points-per-bin 30 --scores cal.csv",
            "the argument '--bins <B>' cannot be used with '--points-per-bin <K>'",
        ),
        (
            &format!("--method umd --bins 3 --probs probs.npy {matrix}"),
            "the argument '--probs <FILE>' cannot be used with '--logits <FILE>'",
        ),
        (
            "--method umd --bins 3",
            "the following required arguments were not provided:\n  \
             <--scores <FILE>|--margins <FILE>|--logits <FILE>|--probs <FILE>|FILE|--pass1 <FILE>|\
             --from-counters <COUNTERS>...>",
        ),
        (
            "--epsilon 0.1 --bins 3 --scores cal.csv",
            "the argument '--epsilon <E>' cannot be used with '--bins <B>'",
        ),
        ("--method magic --scores cal.csv", "invalid value 'magic' for '--method <METHOD>'"),
    ] {
        let place = good();
        let before = place.everything();
        let run = place.run(&format!("calib fit {options} -o out"));
        assert!(run.stderr.starts_with(&format!("error: {problem}\n")), "{}", run.stderr);
        let example = "\nExample: calib fit cal.csv\n";
        let words = run.stderr.strip_suffix(example).unwrap_or(&run.stderr);
        assert_eq!(words != run.stderr, problem.contains("were not provided"), "{}", run.stderr);
        assert!(words.ends_with(MORE), "{}", run.stderr);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(place.everything() == before);
    }
}
