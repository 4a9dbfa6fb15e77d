//! The options that say where scores are.

use std::path::{Path, PathBuf};

use calib_fit::{ScoreKind, VectorKind};
use calib_io::files::Format;
use clap::Args;

use super::headings::DATA;
use crate::read::ScoresAre;

/// Where scores come from: exactly one of the four.
#[derive(Args)]
#[command(next_help_heading = DATA)]
#[group(required = true, multiple = false)]
pub(crate) struct ScoreSource {
    /// Scores of class 1 in [0, 1]: a table or array.
    #[arg(long, value_name = "FILE", long_help = scores_help())]
    scores: Option<PathBuf>,
    /// Raw scores of class 1, of any size.
    ///
    /// Raw scores of a binary classifier are logits, distances or values of a decision function. The file is as for
    /// --scores, and its column is also --score-column. With --score-encoding, the file has codes of raw scores.
    #[arg(long, value_name = "FILE")]
    margins: Option<PathBuf>,
    /// Logits of several classes: an array.
    ///
    /// Logits of a multi-class classifier: a NumPy array of shape (n, classes), or one in an NPZ archive. Or a table
    /// with a column for each class, such as p0 to p9.
    #[arg(long, value_name = "FILE")]
    logits: Option<PathBuf>,
    /// Probabilities of several classes: an array.
    ///
    /// Probabilities of a multi-class classifier: a NumPy array of shape (n, classes), or one in an NPZ archive. Or a
    /// table with a column for each class, such as p0 to p9.
    #[arg(long, value_name = "FILE")]
    probs: Option<PathBuf>,
}

fn scores_help() -> String {
    let formats: Vec<&str> =
        Format::ALL.iter().filter(|&&format| format != Format::GZIP).map(|format| format.name).collect();
    format!(
        "Scores of class 1 in [0, 1]: a table or array.\n\nScores of a binary classifier, in one of these formats, also \
         compressed with gzip: {}. An array has shape (n,), or (n, 2) as predict_proba returns it. For any one input, `-` is \
         standard input.",
        formats.join(", ")
    )
}

impl ScoreSource {
    /// Probabilities of several classes.
    pub(crate) fn of_probs(probs: Option<PathBuf>) -> Self {
        Self { scores: None, margins: None, logits: None, probs }
    }

    /// The file of scores and what these are, or a table of scores of class 1 that was named without an option.
    pub(crate) fn or<'a>(&'a self, data: Option<&'a Path>) -> (&'a Path, ScoresAre) {
        let of_binary = |(path, kind)| (path, ScoresAre::Binary(kind));
        let of_vectors = |(path, kind)| (path, ScoresAre::Vectors(Some(kind)));
        let data = data.map(|path| (path, ScoreKind::Probability)).or(self.binary()).map(of_binary);
        data.or(self.vectors().map(of_vectors)).expect("clap asks for one of the sources")
    }

    /// The file with binary scores and what these are; `None` if vectors were given.
    pub(crate) fn binary(&self) -> Option<(&Path, ScoreKind)> {
        binary_source(self.scores.as_deref(), self.margins.as_deref())
    }

    /// The file with vectors and what they are; `None` if binary scores were given.
    pub(crate) fn vectors(&self) -> Option<(&Path, VectorKind)> {
        let logits = self.logits.as_deref().map(|path| (path, VectorKind::Logits));
        logits.or(self.probs.as_deref().map(|path| (path, VectorKind::Probs)))
    }
}

/// Binary scores as `--scores` or `--margins` has them.
pub(crate) fn binary_source<'p>(
    scores: Option<&'p Path>,
    margins: Option<&'p Path>,
) -> Option<(&'p Path, ScoreKind)> {
    let scores = scores.map(|path| (path, ScoreKind::Probability));
    scores.or(margins.map(|path| (path, ScoreKind::Margin)))
}

/// The artifact of a table if nobody says where it goes: `data.cal` of `folder/data.csv`, in the current folder.
pub(crate) fn artifact_of(scores: &Path) -> PathBuf {
    let name =
        if scores == Path::new("-") { "calibrator".as_ref() } else { scores.file_stem().unwrap_or_default() };
    PathBuf::from(name).with_extension("cal")
}

/// The default of `--score-column`.
pub(crate) const SCORE_COLUMN: &str = "score";
