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
/// Of a row that lacks a value.
pub(crate) const GAP: &str = "  hint: remove or repair the row; --drop-missing leaves out all rows that lack a value, and tells how many\n";
pub(crate) const DATA: &str = "  hint: give a file with at least one row of data\n";
pub(crate) const TWO_CLASSES: &str = "  hint: labels of binary data are 0 and 1; of several classes give all scores with --probs or --logits: an \
    array of shape (n, classes), or a table with a column for each, such as p0 to p9\n";
pub(crate) const CLASSES: &str = "  hint: labels are class indices from 0 on; for binary data 0 and 1\n";
/// Of a label that is a word.
pub(crate) const WORDS: &str = "  hint: labels are class indices from 0 on; for binary data 0 and 1; with several classes also the names of the \
     classes' columns in a table (--score-column cat,dog); words become indices with numpy.searchsorted(model.classes_, labels)\n";
pub(crate) const EVERY_ROW: &str = "  hint: every row needs one score and one label\n";
pub(crate) const INTEGERS: &str = "  hint: for the codes of a quantised classifier fit with --score-encoding; else convert it with NumPy's astype\n";
pub(crate) const AGAIN: &str = "  hint: write the artefact again with `calib fit`\n";
pub(crate) const MORE: &str = "\nFor more information, try '--help'.\n";

pub(crate) fn text(content: &str) -> Vec<u8> {
    content.into()
}
