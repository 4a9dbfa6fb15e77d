//! What is wrong, where, and what to do: every sentence, its exit code, and that nothing was written.

use std::sync::OnceLock;

use crate::npy::{f32s, f64s, i64s, labels};
use crate::workplace::{Run, Workplace};

/// A file of a case: its name and its bytes.
pub(crate) type File = (&'static str, Vec<u8>);

/// Runs a command line, whose output is `out`, in a folder with `good` files and some of the case's own. Twice:
/// there must be no output after it, and an output that was there must be as it was.
#[track_caller]
pub(crate) fn refused(files: &[File], line: &str, code: i32, stderr: &str) {
    let place = || files.iter().fold(good(), |place, (name, content)| place.with(name, content));
    let check = |place: Workplace, line: &str| {
        let before = place.everything();
        let run = place.run(line);
        assert_eq!(run.stderr, stderr, "{line}");
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{line}");
        assert!(place.everything() == before, "{line}: files were made or changed");
    };
    check(place(), line);
    if line.contains(" -o out") {
        check(place().with("out", "old"), &format!("{line} --force"));
    }
}

/// A folder with files in which nothing is wrong: `cal.csv` with 40 rows, `scores.npy` and `labels.npy`, `logits.npy`
/// and `probs.npy` with 40 rows of three classes, and the artefacts `cal.bin` and `top.bin`.
pub(crate) fn good() -> Workplace {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let files = FILES.get_or_init(|| {
        let score = |row: usize| (row as f32 + 0.5) / 40.0;
        let lines: String = (0..40).map(|row| format!("{},{}\n", score(row), row % 2)).collect();
        let logits = (0..40).flat_map(|row| [score(row), 0.0, -1.0]);
        let probs = (0..40).flat_map(|row| [0.5 + score(row) / 4.0, 0.5 - score(row) / 4.0, 0.0]);
        let place = Workplace::new()
            .with("cal.csv", format!("score,label\n{lines}"))
            .with("scores.npy", f32s(&[40], (0..40).map(score)).bytes())
            .with("labels.npy", i64s((0..40).map(|row| row % 2)).bytes())
            .with("logits.npy", f32s(&[40, 3], logits).bytes())
            .with("probs.npy", f32s(&[40, 3], probs).bytes());
        place.ok("calib fit --method umd --bins 4 --scores cal.csv -o cal.bin");
        place.ok(&format!(
            "calib fit {TOP} --points-per-bin 10 --logits logits.npy --labels labels.npy -o top.bin"
        ));
        place.everything().into_iter().map(|(name, content)| (name, content.unwrap())).collect()
    });
    files.iter().fold(Workplace::new(), |place, (name, content)| place.with(name, content))
}

const TOP: &str = "--method umd --reduction top-label";
const MATRIX: &str = "--method umd --reduction top-label --points-per-bin 10 --labels labels.npy";

pub(crate) const ROW: &str = "  hint: remove or repair the row\n";
pub(crate) const DATA: &str = "  hint: give a file with at least one row of data\n";
pub(crate) const CLASSES: &str = "  hint: labels are class indices from 0 on; for binary data 0 and 1\n";
pub(crate) const LOGIT: &str =
    "  hint: a score is the classifier's output for class 1 in [0, 1]; a logit z becomes 1 / (1 + exp(-z))\n";
const TO_LOGITS: &str = "  hint: if these are logits, use --logits instead of --probs\n";
pub(crate) const EVERY_ROW: &str = "  hint: every row needs one score and one label\n";
pub(crate) const DTYPE: &str = "  hint: convert it with NumPy's astype\n";
pub(crate) const SHAPE: &str =
    "  hint: --scores and --labels take arrays of shape (rows,), --logits and --probs of (rows, classes)\n";
pub(crate) const NUMPY: &str = "  hint: write it with numpy.save\n";
const AGAIN: &str = "  hint: write the artefact again with `calib fit`\n";
const ANOTHER: &str = "  hint: give a file that `calib fit` wrote\n";
pub(crate) const MORE: &str = "\nFor more information, try '--help'.\n";

pub(crate) fn text(content: &str) -> Vec<u8> {
    content.into()
}

/// A fit to `bad.csv`.
#[track_caller]
fn csv_refused(content: impl AsRef<[u8]>, stderr: &str) {
    let line = "calib fit --method umd --bins 2 --scores bad.csv -o out";
    refused(&[("bad.csv", content.as_ref().to_vec())], line, 3, stderr);
}

/// A fit to the array `bad.npy`, as scores, labels, logits or probs.
#[track_caller]
fn npy_refused(kind: &str, content: impl AsRef<[u8]>, stderr: &str) {
    let line = match kind {
        "scores" => "calib fit --method umd --bins 2 --scores bad.npy --labels labels.npy -o out".into(),
        "labels" => "calib fit --method umd --bins 2 --scores scores.npy --labels bad.npy -o out".into(),
        "classes" => {
            format!("calib fit {TOP} --points-per-bin 10 --logits logits.npy --labels bad.npy -o out")
        }
        matrix => format!("calib fit {MATRIX} --{matrix} bad.npy -o out"),
    };
    refused(&[("bad.npy", content.as_ref().to_vec())], &line, 3, stderr);
}

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
        csv_refused(&csv, &format!("error: bad.csv, column label: all 4 labels are {label}: {nothing}"));
        let array = i64s([label; 40]).bytes();
        npy_refused("labels", &array, &format!("error: bad.npy: all 40 labels are {label}: {nothing}"));

        let both = "  hint: the data must hold both labels, 0 and 1\n";
        let line = "calib assess --probs bad.csv --prob-column score";
        let stderr = format!("error: bad.csv, column label: all labels are {label}\n{both}");
        refused(&[("bad.csv", text(&csv))], line, 3, &stderr);
        let line = "calib assess --probs cal.csv --prob-column score --labels bad.npy";
        refused(&[("bad.npy", array)], line, 3, &format!("error: bad.npy: all labels are {label}\n{both}"));
    }
}

#[test]
fn scores_that_are_no_scores() {
    let long = "é".repeat(100);
    let shortened = format!("\"{}\"... is not a number", "é".repeat(40));
    for (score, problem, hint) in [
        ("NaN", "the value is NaN", ROW),
        ("nan", "the value is NaN", ROW),
        ("inf", "the value is infinite", ROW),
        ("-inf", "the score -inf is outside [0, 1]", LOGIT),
        ("-0.1", "the score -0.1 is outside [0, 1]", LOGIT),
        ("1.5", "the score 1.5 is outside [0, 1]", LOGIT),
        // Rounds to 1 as an f32.
        ("1.000000000001", "the score 1.000000000001 is outside [0, 1]", LOGIT),
        ("\"0,5\"", "\"0,5\" is not a number", ROW),
        ("high", "\"high\" is not a number", ROW),
        ("", "the field is empty", ROW),
        (" ", "the field is empty", ROW),
        // A message is one line of plain text, whatever the file holds.
        ("\"0\n.5\"", "\"0\\n.5\" is not a number", ROW),
        ("\u{1b}[31m", "\"\\u{1b}[31m\" is not a number", ROW),
        (&long, &shortened, ROW),
    ] {
        let csv = format!("score,label\n0.1,0\n0.2,1\n{score},1\n0.4,0\n");
        csv_refused(csv, &format!("error: bad.csv, line 4, column score: {problem}\n{hint}"));
    }
    for (score, problem, hint) in [
        (f64::NAN, "the value is NaN", ROW),
        (f64::INFINITY, "the value is infinite", ROW),
        (f64::NEG_INFINITY, "the score -inf is outside [0, 1]", LOGIT),
        (-0.1, "the score -0.1 is outside [0, 1]", LOGIT),
        (1.5, "the score 1.5 is outside [0, 1]", LOGIT),
    ] {
        let array = f64s(&[40], (0..40).map(|row| if row == 7 { score } else { 0.5 })).bytes();
        npy_refused("scores", array, &format!("error: bad.npy, row 7: {problem}\n{hint}"));
    }
    let stderr = format!("error: bad.csv, line 3, column score: the score 2 is outside [0, 1]\n{LOGIT}");
    refused(
        &[("bad.csv", text("score\n0.5\n2\n"))],
        "calib apply cal.bin --scores bad.csv -o out",
        3,
        &stderr,
    );
}

#[test]
fn labels_that_are_no_labels() {
    for (label, problem) in [
        ("2", "the label 2 is out of range: the 2 classes are 0 to 1"),
        ("-1", "the label -1 is out of range: the 2 classes are 0 to 1"),
        ("1e3", "the label 1000 is out of range: the 2 classes are 0 to 1"),
        ("0.5", "\"0.5\" is not a whole number"),
        ("yes", "\"yes\" is not a whole number"),
        ("True", "\"True\" is not a whole number"),
        ("NaN", "\"NaN\" is not a whole number"),
    ] {
        let csv = format!("score,label\n0.1,0\n0.2,{label}\n0.3,1\n0.4,0\n");
        csv_refused(csv, &format!("error: bad.csv, line 3, column label: {problem}\n{CLASSES}"));
    }
    let empty = format!("error: bad.csv, line 3, column label: the field is empty\n{ROW}");
    csv_refused("score,label\n0.1,0\n0.2,\n0.3,1\n0.4,0\n", &empty);

    for (kind, first, row, label, classes) in [
        ("labels", 0, 2, 2, "2 classes are 0 to 1"),
        ("labels", -1, 0, -1, "2 classes are 0 to 1"),
        ("classes", 0, 3, 3, "3 classes are 0 to 2"),
        ("classes", -1, 0, -1, "3 classes are 0 to 2"),
    ] {
        let array = i64s((0..40).map(|row| first + row)).bytes();
        let stderr =
            format!("error: bad.npy, row {row}: the label {label} is out of range: the {classes}\n{CLASSES}");
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
    let ragged = format!("error: bad.csv, line 4: the number of fields is 3, the header has 2\n{ROW}");
    csv_refused("score,label\r\n0.1,0\r\n\r\n0.2,1,7\r\n", &ragged);
    let not_utf8 = "error: bad.csv, line 4: the text is not UTF-8\n  hint: save the file as UTF-8\n";
    csv_refused(b"score,label\r\n0.1,0\r\n\r\n0.2,\xff\r\n", not_utf8);
}

#[test]
fn tables_of_another_form() {
    for (csv, fields) in [
        ("score,label\n0.1,0\n0.2\n", 1),
        ("score,label\n0.1,0\n0.2,1,2\n", 3),
        // The quote is never closed.
        ("score,label\n0.1,0\n\"0.2,1\n0.3,1\n", 1),
    ] {
        csv_refused(
            csv,
            &format!("error: bad.csv, line 3: the number of fields is {fields}, the header has 2\n{ROW}"),
        );
    }
    for (csv, column, there) in [
        ("p,label\n0.1,0\n", "score", "\"p\", \"label\""),
        ("score,y\n0.1,0\n", "label", "\"score\", \"y\""),
        ("score;label\n0.1;0\n", "label", "\"score;label\""),
    ] {
        csv_refused(
            csv,
            &format!(
                "error: bad.csv, column {column}: there is no such column\n  \
             hint: the columns are {there}: choose with --score-column, --label-column or the like\n"
            ),
        );
    }
    for (csv, column) in
        [("score,label,score\n0.1,0,0.1\n", "score"), ("score,label,label\n0.1,0,0\n", "label")]
    {
        let stderr = format!(
            "error: bad.csv, column {column}: the column is there twice\n  hint: rename one of the two\n"
        );
        csv_refused(csv, &stderr);
    }
    for (csv, line) in [
        (&b"score,label\n0.1,0\n0.2,\xff\n"[..], 3),
        (b"sc\xffore,label\n0.1,0\n", 1),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 1),
    ] {
        csv_refused(
            csv,
            &format!("error: bad.csv, line {line}: the text is not UTF-8\n  hint: save the file as UTF-8\n"),
        );
    }
}

#[test]
fn labels_that_do_not_match_the_scores() {
    let line = "calib fit --method umd --bins 2 --scores cal.csv --labels bad.csv -o out";
    let stderr = "error: bad.csv, column label: there is no such column\n  \
                  hint: the columns are \"y\": choose with --score-column, --label-column or the like\n";
    refused(&[("bad.csv", text("y\n0\n1\n"))], line, 3, stderr);
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
         hint: use --bins 1 or fewer, or add calibration data\n",
    );
    let binary = "calib fit --method umd --points-per-bin 9 --scores bad.csv -o out";
    for (rows, hint) in [
        ("0.1,0\n0.2,1\n0.3,1\n", "use --points-per-bin 3 or less, or fewer --bins, or add calibration data"),
        ("0.1,0\n", "add calibration data"),
    ] {
        let n = rows.lines().count();
        let stderr =
            format!("error: bad.csv: {n} calibration points are too few: 9 are needed\n  hint: {hint}\n");
        refused(&[("bad.csv", format!("score,label\n{rows}").into())], binary, 3, &stderr);
    }
    for (options, needed) in [("--points-per-bin 41", 41), ("--bins 21", 42), ("--bins 65536", 131_072)] {
        let line = format!("calib fit {TOP} {options} --logits logits.npy --labels labels.npy -o out");
        let stderr = format!(
            "error: logits.npy: no class was predicted often enough: the most frequent has 40 calibration points, \
             {needed} are needed\n  \
             hint: use --points-per-bin 40 or less, or fewer --bins, or add calibration data\n"
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
    fit("", "error: umd needs --bins or --points-per-bin\n");
    for (option, value, problem) in [
        ("--bins <B>", "two", "invalid digit found in string"),
        ("--alpha <ALPHA>", "10%", "invalid float literal"),
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
        ("--bootstrap <N>", "0", "0 is not in 1..=4294967295"),
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
            "a matrix of scores needs a reduction, such as --reduction top-label",
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
             <--scores <FILE>|--logits <FILE>|--probs <FILE>>",
        ),
        ("--scores cal.csv", "the following required arguments were not provided:\n  --method <METHOD>"),
        ("--method magic --scores cal.csv", "invalid value 'magic' for '--method <METHOD>'"),
    ] {
        let place = good();
        let before = place.everything();
        let run = place.run(&format!("calib fit {options} -o out"));
        assert!(run.stderr.starts_with(&format!("error: {problem}\n")), "{}", run.stderr);
        assert!(run.stderr.ends_with(MORE), "{}", run.stderr);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(place.everything() == before);
    }
}

#[test]
fn arrays_of_another_type_or_shape() {
    let integers = labels("<i4", &[0; 40]);
    let floats = f64s(&[40], [0.5; 40]);
    let any = "float16, float32 or float64 scores, or integer labels";
    let floating = "float16, float32 or float64";
    for (kind, array, dtype, expected) in [
        ("scores", integers.clone(), "<i4", floating),
        ("scores", labels("|b1", &[1; 40]), "|b1", floating),
        ("labels", floats.clone(), "<f8", "integers or booleans"),
        ("logits", labels("|u1", &[0; 80]).shape(&[40, 2]), "|u1", floating),
        ("scores", floats.clone().descr("<c8"), "<c8", any),
        ("scores", floats.clone().descr("<U2"), "<U2", any),
        ("scores", floats.clone().descr("|S8"), "|S8", any),
        ("scores", floats.clone().descr("<M8[s]"), "<M8[s]", any),
        ("scores", floats.clone().descr("|O"), "|O", any),
        ("scores", f64s(&[40], [0.5; 40]).descr("<f16").shape(&[20]), "<f16", any),
        ("labels", integers.clone().descr("|O"), "|O", any),
    ] {
        let stderr = format!("error: bad.npy: the dtype is {dtype}, expected {expected}\n{DTYPE}");
        npy_refused(kind, array.bytes(), &stderr);
    }
    for (kind, array, shape, expected) in [
        ("scores", floats.clone().shape(&[20, 2]), "(20, 2)", "(rows,)"),
        ("scores", floats.clone().shape(&[1, 40]), "(1, 40)", "(rows,)"),
        ("scores", f64s(&[], [0.5]), "()", "(rows,)"),
        ("labels", integers.shape(&[20, 2]), "(20, 2)", "(rows,)"),
        ("logits", floats.clone(), "(40,)", "(rows, classes)"),
        ("probs", floats.clone().shape(&[10, 2, 2]), "(10, 2, 2)", "(rows, classes)"),
    ] {
        let stderr = format!("error: bad.npy: the shape is {shape}, expected {expected}\n{SHAPE}");
        npy_refused(kind, array.bytes(), &stderr);
    }
    npy_refused(
        "logits",
        floats.shape(&[40, 1]).bytes(),
        "error: bad.npy: the number of classes is 1, a classifier has 2 to 65535\n  \
         hint: for the scores of class 1 of a binary classifier use --scores\n",
    );
    let no_rows = format!("error: bad.npy: there are no rows\n{DATA}");
    npy_refused("logits", f64s(&[0, 3], []).bytes(), &no_rows);
    npy_refused("scores", f64s(&[0], []).bytes(), &no_rows);
}

#[test]
fn arrays_that_are_broken() {
    let good = f64s(&[40], [0.5; 40]);
    let bytes = good.bytes();
    let again = "  hint: save or copy the file again\n";
    npy_refused("scores", "", &format!("error: bad.npy: the file is empty\n{DATA}"));
    for len in [447, 440, 128] {
        let stderr = format!("error: bad.npy: the file is cut off: {len} of 448 bytes are there\n{again}");
        npy_refused("scores", &bytes[..len], &stderr);
    }
    let longer = format!("error: bad.npy: the file has 449 bytes where its header promises 448\n{again}");
    npy_refused("scores", [&bytes[..], b"\0"].concat(), &longer);
    let endless =
        format!("error: bad.npy: the file is cut off: 128 of 8796093022336 bytes are there\n{again}");
    npy_refused("scores", f64s(&[1 << 40], []).bytes(), &endless);
    let endless = format!("error: bad.npy: the shape is (4611686018427387904,), expected less data\n{SHAPE}");
    npy_refused("scores", f64s(&[1 << 62], []).bytes(), &endless);

    let not_npy = |content: &[u8], why: &str| {
        for kind in ["scores", "labels", "logits"] {
            npy_refused(kind, content, &format!("error: bad.npy: not a NumPy array: {why}\n{NUMPY}"));
        }
    };
    not_npy(b"score,label\n0.1,0\n", "it does not start like one");
    not_npy(&bytes[..60], "its header is cut off");
    not_npy(&bytes[..9], "its header is cut off");
    not_npy(&[b"\x93NUMPY\x09\x00", &bytes[8..]].concat(), "unsupported version: (9, 0)");
    not_npy(&good.clone().descr("<x8").bytes(), "invalid type string: Invalid type-string");
    not_npy(&f64s(&[1 << 40, 1 << 40], []).bytes(), "no memory holds an array of its shape");
}

/// Whatever byte of a header is wrong, the answer is a sentence or, rarely, still an array; never a crash.
#[test]
fn no_damage_to_a_header_is_a_crash() {
    let place = good();
    let array = f64s(&[40], (0..40).map(|row| f64::from(row) / 40.0)).bytes();
    for at in 0..array.len().min(128) {
        for bit in [0, 3, 6] {
            let mut bad = array.clone();
            bad[at] ^= 1 << bit;
            std::fs::write(place.path().join("bad.npy"), bad).unwrap();
            let run = place
                .run("calib fit --method umd --bins 2 --scores bad.npy --labels labels.npy -o out --force");
            let is_sentence = run.stderr.starts_with("error: bad.npy") && run.code == 3;
            assert!(is_sentence || run.code == 0, "byte {at}, bit {bit}: {}", run.stderr);
        }
    }
}

#[test]
fn matrices_that_are_no_logits_or_probabilities() {
    let with = |at: usize, row: [f32; 3]| {
        let rows = (0..40).flat_map(move |i| if i == at { row } else { [0.25, 0.25, 0.5] });
        f32s(&[40, 3], rows).bytes()
    };
    for (kind, at, row, problem, hint) in [
        ("logits", 7, [1.0, f32::NAN, 0.0], "row 7, column 1: the value is NaN", ROW),
        ("logits", 39, [1.0, 0.0, f32::NEG_INFINITY], "row 39, column 2: the value is infinite", ROW),
        ("probs", 0, [f32::NAN, 0.0, 0.0], "row 0, column 0: the value is NaN", ROW),
        ("probs", 5, [0.5, 3.0, -1.0], "row 5, column 1: the probability 3 is outside [0, 1]", TO_LOGITS),
        ("probs", 5, [0.5, 0.5, -1.0], "row 5, column 2: the probability -1 is outside [0, 1]", TO_LOGITS),
        ("probs", 5, [0.25, 0.25, 0.25], "row 5: the probabilities sum to 0.75, not to 1", TO_LOGITS),
    ] {
        npy_refused(kind, with(at, row), &format!("error: bad.npy, {problem}\n{hint}"));
        let line = format!("calib apply top.bin --{kind} bad.npy -o out");
        refused(&[("bad.npy", with(at, row))], &line, 3, &format!("error: bad.npy, {problem}\n{hint}"));
    }
}

#[cfg(unix)]
#[test]
fn files_that_cannot_be_read() {
    for (line, file) in [
        ("calib fit --method isotonic --scores FILE -o out", "no.csv"),
        ("calib fit --method isotonic --scores cal.csv --labels FILE -o out", "no.csv"),
        ("calib fit --method umd --bins 2 --scores FILE --labels labels.npy -o out", "no.npy"),
        ("calib apply FILE --scores cal.csv -o out", "no.bin"),
        ("calib apply cal.bin --scores FILE -o out", "no.csv"),
        ("calib apply top.bin --logits FILE -o out", "no.npy"),
        ("calib assess --probs FILE", "no.csv"),
        ("calib inspect FILE", "no.bin"),
    ] {
        let missing = format!("error: cannot read {file}: No such file or directory (os error 2)\n");
        refused(&[], &line.replace("FILE", file), 3, &missing);
        let folder = "error: cannot read .: Is a directory (os error 21)\n";
        refused(&[], &line.replace("FILE", "."), 3, folder);
    }
}

#[cfg(unix)]
#[test]
fn outputs_that_cannot_be_written() {
    for line in [
        "calib fit --method isotonic --scores cal.csv",
        "calib apply cal.bin --scores cal.csv",
        "calib apply top.bin --logits logits.npy",
    ] {
        let refuse = |output: &str, stderr: &str| refused(&[], &format!("{line} -o {output}"), 4, stderr);
        for file in ["labels.npy", "cal.csv"] {
            refuse(file, &format!("error: {file} exists already\n  hint: add --force to replace it\n"));
        }
        let no_folder = "error: cannot write no/file: No such file or directory (os error 2)\n  \
                         hint: create the folder of no/file first\n";
        refuse("no/file", no_folder);
        refuse("no/file --force", no_folder);
        refuse("cal.csv/file", "error: cannot write cal.csv/file: Not a directory (os error 20)\n");
        let folder =
            "error: cannot write .: it is not a regular file\n  hint: give the name of a file with -o\n";
        refuse(".", folder);
        refuse(". --force", folder);
    }
}

#[test]
fn artefacts_that_are_none() {
    let place = good();
    let cal = place.bytes("cal.bin");
    let check = |bytes: &[u8], stderr: &str| {
        for line in ["calib inspect bad.bin", "calib apply bad.bin --scores cal.csv -o out"] {
            refused(&[("bad.bin", bytes.to_vec())], line, 3, stderr);
        }
    };
    let altered = |at: usize, change: fn(u8) -> u8| {
        let mut bytes = cal.clone();
        bytes[at] = change(bytes[at]);
        bytes
    };
    for blank in [&[][..], &[0xFF; 4096], &[0; 4096]] {
        check(blank, &format!("error: bad.bin: there is no artefact: the file is empty or blank\n{ANOTHER}"));
    }
    let magic = format!("error: bad.bin: not a calib artefact: it does not start with \"CALB\"\n{ANOTHER}");
    check(&place.bytes("cal.csv"), &magic);
    for (kept, of) in [(3, 32), (20, 32), (100, cal.len()), (cal.len() - 1, cal.len())] {
        let cut = format!("error: bad.bin: the artefact is cut off: {kept} of {of} bytes are there\n{AGAIN}");
        check(&cal[..kept], &cut);
    }
    let longer =
        format!("error: bad.bin: there are bytes after the artefact's end at offset {}\n{AGAIN}", cal.len());
    check(&[&cal[..], b"\0"].concat(), &longer);
    check(
        &altered(4, |b| b + 1),
        "error: bad.bin: the artefact has format 2, this version of calib reads format 1\n  \
         hint: install a newer version of calib\n",
    );
    // One bit of the CRC, and one of the content: what was computed differs from artefact to artefact.
    for at in [12, cal.len() - 3] {
        let bad = altered(at, |b| b ^ 1);
        let stored = u32::from_le_bytes(bad[12..16].try_into().unwrap());
        let stderr = format!(
            "error: bad.bin: the artefact is damaged: its CRC-32C is {:08x}, {stored:08x} was written\n{AGAIN}",
            crc32c(&bad)
        );
        check(&bad, &stderr);
    }
    // A forged content with a right CRC.
    let mut forged = altered(cal.len() - 3, |b| b ^ 1);
    let crc = crc32c(&forged);
    forged[12..16].copy_from_slice(&crc.to_le_bytes());
    let stderr = format!(
        "error: bad.bin: the identity is not the hash of the content: the artefact was altered\n{AGAIN}"
    );
    check(&forged, &stderr);
}

/// The CRC-32C of an artefact, without its own four bytes.
fn crc32c(artifact: &[u8]) -> u32 {
    let bytes = artifact[..12].iter().chain(&artifact[16..]);
    !bytes.fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0x82F6_3B78 } else { 0 })
    })
}

#[test]
fn a_huge_file_is_no_artefact_and_is_not_read() {
    let place = good();
    let file = std::fs::File::create(place.path().join("huge.bin")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    for line in ["calib inspect huge.bin", "calib apply huge.bin --scores cal.csv -o out"] {
        let run = place.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (3, ""));
        assert_eq!(
            run.stderr,
            format!("error: huge.bin: 67108865 bytes are more than any artefact has (67108864)\n{AGAIN}")
        );
    }
    assert!(!place.path().join("out").exists());
}

#[test]
fn artefacts_and_scores_that_do_not_belong_together() {
    let binary = "cal.bin: takes binary scores: use --scores";
    let top_label = "top.bin: takes vectors of 3 classes: use --logits or --probs";
    for (form, artefact, scores) in [
        ("cal.bin --logits logits.npy", binary, "vectors of 3 classes"),
        ("cal.bin --probs probs.npy", binary, "vectors of 3 classes"),
        ("top.bin --scores cal.csv", top_label, "binary scores"),
        ("top.bin --scores scores.npy", top_label, "binary scores"),
        ("top.bin --logits two.npy", top_label, "vectors of 2 classes"),
        ("top.bin --probs two.npy", top_label, "vectors of 2 classes"),
    ] {
        let two = f32s(&[2, 2], [0.5; 4]).bytes();
        let stderr = format!(
            "error: the artefact does not fit the scores\n  artefact  {artefact}\n  scores    {scores}\n"
        );
        refused(&[("two.npy", two)], &format!("calib apply {form} -o out"), 1, &stderr);
    }
}

#[test]
fn apply_adds_no_column_twice() {
    for column in ["prob", "bin", "epsilon", "flags", " prob "] {
        let csv = format!("score,{column}\n0.5,1\n");
        let stderr = format!(
            "error: bad.csv, column {}: the column to be added is there already\n  \
             hint: bad.csv looks like an earlier output; apply to the original file\n",
            column.trim()
        );
        let line = "calib apply cal.bin --scores bad.csv -o out";
        refused(&[("bad.csv", text(&csv))], line, 3, &stderr);
    }
}

/// The limit on a file's size makes a write fail half-way, as a full disk does.
#[cfg(unix)]
#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let rows: String = (0..2000).map(|row| format!("{},{}\n", f64::from(row) / 2000.0, row % 2)).collect();
    let logits = f32s(&[2000, 3], (0..6000).map(|i| (i % 7) as f32)).bytes();
    for line in [
        "fit --method umd --bins 500 --scores many.csv",
        "apply cal.bin --scores many.csv",
        "apply top.bin --logits many.npy",
    ] {
        for (output, force) in [("out", ""), ("there", "--force")] {
            let place = good()
                .with("many.csv", format!("score,label\n{rows}"))
                .with("many.npy", &logits)
                .with("there", "old");
            let before = place.everything();
            let calib = place.command(&format!("{line} -o {output} {force}"));
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", "ulimit -f 1; trap '' XFSZ; exec \"$0\" \"$@\""]).current_dir(place.path());
            let run: Run = shell.arg(calib.get_program()).args(calib.get_args()).output().unwrap().into();
            assert_eq!(run.stderr, format!("error: cannot write {output}: File too large (os error 27)\n"));
            assert_eq!((run.code, run.stdout.as_str()), (4, ""));
            assert!(place.everything() == before, "{line}: files were made or changed");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_told() {
    let place = good();
    for line in ["inspect cal.bin", "inspect cal.bin --json", "assess --probs cal.csv --prob-column score"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run: Run = place.command(line).stdout(full).output().unwrap().into();
        let expected = "error: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!((run.code, run.stderr.as_str()), (4, expected));
    }
}

#[cfg(not(feature = "arrow"))]
#[test]
fn formats_that_are_not_built_in() {
    let hint = "  hint: convert it to CSV, or install calib with its default features\n";
    for (content, what) in [
        (&b"PAR1"[..], "a Parquet file"),
        (b"ARROW1\0\0", "an Arrow file"),
        (b"\xff\xff\xff\xff", "an Arrow stream"),
    ] {
        let problem = format!("this is {what}, and this calib was built without the feature that reads it");
        csv_refused(content, &format!("error: bad.csv: {problem}\n{hint}"));
    }
}
