//! Scores that are assessed without all rows in memory.

use std::io;
use std::path::Path;

use calib_core::artifact::Reduction;
use calib_core::{Artifact, Calibrator, Score};
use calib_fit::apply::{Applied, Words, apply_scores_from};
use calib_fit::artifact::score_kind;
use calib_fit::assess::{ChangedRows, Prediction};
use calib_fit::data::{ExactCollector, RowsHash};
use calib_fit::{BinaryData, ScoreKind, StoredArtifact, stop};
use calib_io::files::{FileError, Place, Problem};
use calib_io::input::{self, BinaryChunk, BinaryFiles, Source};
use calib_io::report::SAME_ROWS;
use rayon::prelude::*;

use super::files::open_binary;
use super::rows::{NamedArtifact, is_fitted_to};
use crate::context::Context;
use crate::error::Error;
use crate::options::AssessedOptions;

/// So many points of 4 bytes are kept in memory, as by a fit; the more of them, the others too, go to a temporary file.
const IN_MEMORY_POINTS: usize = 1 << 25;

/// Threads share out so many rows.
const PART_ROWS: usize = 1 << 13;

/// So many rows in memory are calibrated at a time.
const PIECE_ROWS: usize = 1 << 20;

/// Binary scores, as they are or before and after an artefact.
pub(crate) struct Surveyed {
    pub(crate) before: BinaryData,
    pub(crate) after: Option<After>,
}

/// The same rows after an artefact, without those that it does not calibrate.
pub(crate) struct After {
    pub(crate) stored: StoredArtifact,
    pub(crate) data: BinaryData,
    pub(crate) changed: ChangedRows,
    pub(crate) uncalibrated: u64,
}

/// Rows so far.
struct Collected {
    /// The random words of the next row.
    words: Words,
    before: ExactCollector,
    after: ExactCollector,
    changed: ChangedRows,
    hash: RowsHash,
    rows: u64,
}

/// Calibrated rows, before they are collected.
#[derive(Default)]
struct Part {
    before: Vec<f64>,
    after: Vec<f64>,
    labels: Vec<bool>,
    changed: ChangedRows,
    hash: RowsHash,
}

impl Surveyed {
    /// Reads scores that need nothing but their own columns, and an artefact that calibrates them and does nothing else; `None`
    /// for everything else, of which all rows are read.
    pub(crate) fn read(options: &AssessedOptions, seed: u64, cx: &Context) -> Result<Option<Self>, Error> {
        let Some(scores) = options.source.scores.as_deref() else { return Ok(None) };
        let needs_rows = options.cluster_column.source(options.clusters.as_ref()).is_some()
            || options.group_column.name().is_some()
            || options.class_column.is_some();
        if needs_rows {
            return Ok(None);
        }
        let files = BinaryFiles {
            scores,
            labels: options.labels.as_deref(),
            score_column: &options.score_column,
            label_column: &options.label_column,
        };
        let Some(path) = &options.artifact else {
            return read_scores(&files, cx).map(|before| Some(Self { before, after: None }));
        };
        let named = NamedArtifact::read(path, seed)?;
        match calibrates_alone(&named.stored) {
            true => read_calibrated(options, &files, &named, cx).map(Some),
            false => Ok(None),
        }
    }

    /// Scores in memory before and after an artefact that [`calibrates_alone`], and the hash of all; `None` if no row is calibrated.
    pub(crate) fn of_scores(
        stored: &StoredArtifact,
        scores: &[f32],
        labels: &[bool],
        seed: u64,
    ) -> io::Result<Option<(Self, RowsHash)>> {
        let artifact = stored.artifact();
        let mut all = Collected::new(Words::new(&artifact, seed));
        for (scores, labels) in scores.chunks(PIECE_ROWS).zip(labels.chunks(PIECE_ROWS)) {
            stop::check();
            let scores: Vec<f64> = scores.iter().copied().map(f64::from).collect();
            all.extend(&artifact, &scores, labels)?;
        }
        all.finish(stored)
    }
}

/// Whether an artefact calibrates binary scores, and has no rule beside.
pub(crate) fn calibrates_alone(stored: &StoredArtifact) -> bool {
    let artifact = stored.artifact();
    artifact.header().reduction == Reduction::Binary
        && score_kind(&artifact) == ScoreKind::Probability
        && matches!(artifact.calibrator(), Calibrator::Binary(_))
        && artifact.operating_points().is_none()
        && artifact.prediction_sets().is_none()
        && artifact.decision().is_none()
}

fn read_scores(files: &BinaryFiles<'_>, cx: &Context) -> Result<BinaryData, Error> {
    let mut points = ExactCollector::new(IN_MEMORY_POINTS);
    let watch = cx.reading();
    let mut pieces = open_binary::<f64>(files, ScoreKind::Probability, (&watch, cx))?;
    while let Some(piece) = pieces.read_next()? {
        points.extend(&piece.scores, &piece.labels).map_err(FileError::spill)?;
    }
    Ok(points.finish().map_err(FileError::spill)?.expect("a table has rows"))
}

fn read_calibrated(
    options: &AssessedOptions,
    files: &BinaryFiles<'_>,
    named: &NamedArtifact<'_>,
    cx: &Context,
) -> Result<Surveyed, Error> {
    let artifact = named.stored.artifact();
    let mut all = Collected::new(Words::new(&artifact, named.seed));
    let watch = cx.reading();
    let mut pieces = open_binary::<f64>(files, ScoreKind::Probability, (&watch, cx))?;
    let place = pieces.place();
    while let Some(BinaryChunk { scores, labels }) = pieces.read_next()? {
        all.extend(&artifact, &scores, &labels).map_err(FileError::spill)?;
    }
    let found = all.finish(&named.stored).map_err(FileError::spill)?;
    let Some((surveyed, hash)) = found else {
        return Err(Error::input(Place::file(&place.file), Problem::AllUncalibrated));
    };
    let same = is_fitted_to(&named.stored, hash, || files_sha256(files));
    options.same_rows.allow(same, &place.file, "the artefact was")?;
    cx.warn(same.then_some(SAME_ROWS).as_slice())?;
    Ok(surveyed)
}

/// The SHA-256 of the files, for an artefact that knows no other hash of its rows; of none if one cannot be read again.
fn files_sha256(files: &BinaryFiles<'_>) -> [u8; 32] {
    let paths: Vec<&Path> = std::iter::once(files.scores).chain(files.labels).collect();
    let sources = Source::read_all(&paths, &|_| ()).unwrap_or_default();
    input::sha256(&sources.iter().collect::<Vec<_>>())
}

impl Part {
    fn new(applied: &[Applied], labels: &[bool]) -> Self {
        let mut part = Self::default();
        let mut hash = RowsHash::default();
        for (row, &hit) in applied.iter().zip(labels) {
            hash += RowsHash::of_score(row.score, hit);
            let Some(calibrated) = row.outcome.calibrated() else { continue };
            let (before, prob) = (f64::from(row.score), f64::from(calibrated.prob));
            part.changed.add(before, &Prediction { class: row.class, prob, bin: calibrated.bin.into(), hit });
            part.before.push(before);
            part.after.push(prob);
            part.labels.push(hit);
        }
        Self { hash, ..part }
    }
}

impl Collected {
    fn new(words: Words) -> Self {
        Self {
            words,
            before: ExactCollector::new(IN_MEMORY_POINTS),
            after: ExactCollector::new(IN_MEMORY_POINTS),
            changed: ChangedRows::default(),
            hash: RowsHash::default(),
            rows: 0,
        }
    }

    /// Calibrates more rows, whose scores were checked.
    fn extend(&mut self, artifact: &Artifact<'_>, scores: &[f64], labels: &[bool]) -> io::Result<()> {
        let words = &self.words;
        let parts = scores.par_chunks(PART_ROWS).zip(labels.par_chunks(PART_ROWS)).enumerate();
        let parts: Vec<Part> = parts
            .map(|(number, (scores, labels))| {
                let mut words = words.clone();
                words.skip_rows(number * PART_ROWS);
                let scores: Vec<Score> =
                    scores.iter().map(|&score| Score::try_from(score).expect("it was checked")).collect();
                let applied = apply_scores_from(artifact, &scores, words);
                Part::new(&applied.expect("the artefact is for such"), labels)
            })
            .collect();
        self.words.skip_rows(scores.len());
        self.rows += scores.len() as u64;
        parts.into_iter().try_for_each(|part| self.add(part))
    }

    fn add(&mut self, part: Part) -> io::Result<()> {
        self.before.extend(&part.before, &part.labels)?;
        self.after.extend(&part.after, &part.labels)?;
        self.changed = std::mem::take(&mut self.changed).and(part.changed);
        self.hash += part.hash;
        Ok(())
    }

    /// The rows before and after, and the hash of all; `None` if no row is calibrated.
    fn finish(self, stored: &StoredArtifact) -> io::Result<Option<(Surveyed, RowsHash)>> {
        let (Some(before), Some(after)) = (self.before.finish()?, self.after.finish()?) else {
            return Ok(None);
        };
        let uncalibrated = self.rows - after.len();
        let after = After { stored: stored.clone(), data: after, changed: self.changed, uncalibrated };
        Ok(Some((Surveyed { before, after: Some(after) }, self.hash)))
    }
}
