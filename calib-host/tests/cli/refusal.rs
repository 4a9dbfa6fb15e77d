//! A folder with good files, beside which a case has a bad one.

use std::sync::OnceLock;

use crate::data::scored;
use crate::npy::{f32s, i64s};
use crate::workplace::Workplace;

/// A file of a case: its name and its bytes.
pub(crate) type File = (&'static str, Vec<u8>);

/// A folder with files in which nothing is wrong: `cal.csv` with 40 rows, `scores.npy` and `labels.npy`, `logits.npy`
/// and `probs.npy` with 40 rows of three classes, and the artifacts `cal.bin` and `top.bin`.
pub(crate) fn good() -> Workplace {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let files = FILES.get_or_init(|| {
        let score = |row: usize| (row as f32 + 0.5) / 40.0;
        let logits = (0..40).flat_map(|row| [score(row), 0.0, -1.0]);
        let probs = (0..40).flat_map(|row| [0.5 + score(row) / 4.0, 0.5 - score(row) / 4.0, 0.0]);
        let place = Workplace::new()
            .with("cal.csv", scored(40, |row| (score(row as usize), row % 2 == 1)))
            .with("scores.npy", f32s(&[40], (0..40).map(score)).bytes())
            .with("labels.npy", i64s((0..40).map(|row| row % 2)).bytes())
            .with("logits.npy", f32s(&[40, 3], logits).bytes())
            .with("probs.npy", f32s(&[40, 3], probs).bytes());
        place.ok("calib fit --method umd --bins 4 --scores cal.csv -o cal.bin");
        place.ok(&format!(
            "calib fit {TOP} --rows-per-bin 10 --logits logits.npy --labels labels.npy -o top.bin"
        ));
        place.everything().into_iter().map(|(name, content)| (name, content.unwrap())).collect()
    });
    files.iter().fold(Workplace::new(), |place, (name, content)| place.with(name, content))
}

pub(crate) const TOP: &str = "--method umd --reduction top-label";
pub(crate) const MATRIX: &str = "--method umd --reduction top-label --rows-per-bin 10 --labels labels.npy";

pub(crate) fn text(content: &str) -> Vec<u8> {
    content.into()
}
