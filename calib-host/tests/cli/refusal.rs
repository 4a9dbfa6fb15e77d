//! How a command refuses: the sentence, the exit code, and that nothing was written.

use std::sync::OnceLock;

use crate::npy::{f32s, i64s};
use crate::workplace::Workplace;

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

pub(crate) const TOP: &str = "--method umd --reduction top-label";
pub(crate) const MATRIX: &str = "--method umd --reduction top-label --points-per-bin 10 --labels labels.npy";

pub(crate) const ROW: &str = "  hint: remove or repair the row\n";
/// Of a row that has one field.
pub(crate) const SHORT_ROW: &str =
    "  hint: remove the line, if it is a title or a footer, such as the number of rows; or repair the row\n";
/// Of a row that has a field too many.
pub(crate) const LONG_ROW: &str = "  hint: repair the row; if all are so, name every column in the first line; where numbers have decimal \
     commas, separate the fields by ;\n";
/// Of a row that lacks a value.
pub(crate) const GAP: &str = "  hint: remove or repair the row; --drop-missing leaves out all rows that lack a value, and tells how many\n";
pub(crate) const DATA: &str = "  hint: give a file with at least one row of data\n";
pub(crate) const TWO_CLASSES: &str = "  hint: labels of binary data are 0 and 1; of several classes give all scores with --probs or --logits: an \
    array of shape (n, classes), or a table with a column for each, such as p0 to p9\n";
pub(crate) const CLASSES: &str = "  hint: labels are class indices from 0 on; for binary data 0 and 1\n";
/// Of a label that is a word.
pub(crate) const WORDS: &str = "  hint: labels are class indices from 0 on; for binary data 0 and 1; with several classes also the names of the \
     classes' columns in a table (--score-column cat,dog); words become indices with numpy.searchsorted(model.classes_, labels)\n";
pub(crate) const LOGIT: &str = "  hint: a score is the classifier's output for class 1 in [0, 1]; a logit z becomes 1 / (1 + exp(-z)), and \
     scores of any other size are margins: use --margins instead of --scores\n";
/// Of a number above 1, which percent may have, too.
pub(crate) const LOGIT_OR_PERCENT: &str = "  hint: a score is the classifier's output for class 1 in [0, 1]; percent are to be divided by 100, a \
     logit z becomes 1 / (1 + exp(-z)), and scores of any other size are margins: use --margins instead of --scores\n";
pub(crate) const TO_LOGITS: &str = "  hint: if these are logits, use --logits instead of --probs\n";
/// Of a number that logits and percent may have.
pub(crate) const TO_LOGITS_OR_FRACTIONS: &str =
    "  hint: if these are logits, use --logits instead of --probs; if they are percent, divide them by 100\n";
pub(crate) const EVERY_ROW: &str = "  hint: every row needs one score and one label\n";
pub(crate) const DTYPE: &str = "  hint: convert it with NumPy's astype\n";
pub(crate) const INTEGERS: &str = "  hint: for the codes of a quantised classifier fit with --score-encoding; else convert it with NumPy's astype\n";
/// Of an array that is a pickle inside.
pub(crate) const OBJECTS: &str = "  hint: the elements are Python objects: write scores with astype(float), and labels with astype(str) or astype(int)\n";
pub(crate) const SHAPE: &str =
    "  hint: --scores and --labels take arrays of shape (rows,), --logits and --probs of (rows, classes)\n";
pub(crate) const ONE_OF_TWO: &str = "  hint: give one number a row: of what predict_proba gives for two classes the column of class 1, `p[:, 1]`\n";
pub(crate) const NUMPY: &str = "  hint: write it with numpy.save\n";
pub(crate) const AGAIN: &str = "  hint: write the artefact again with `calib fit`\n";
pub(crate) const ANOTHER: &str = "  hint: give a file that `calib fit` wrote\n";
pub(crate) const MORE: &str = "\nFor more information, try '--help'.\n";

pub(crate) fn text(content: &str) -> Vec<u8> {
    content.into()
}

/// A fit to `bad.csv`.
#[track_caller]
pub(crate) fn csv_refused(content: impl AsRef<[u8]>, stderr: &str) {
    let line = "calib fit --method umd --bins 2 --scores bad.csv -o out";
    refused(&[("bad.csv", content.as_ref().to_vec())], line, 3, stderr);
}

/// A fit to the array `bad.npy`, as scores, labels, logits or probs.
#[track_caller]
pub(crate) fn npy_refused(kind: &str, content: impl AsRef<[u8]>, stderr: &str) {
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
