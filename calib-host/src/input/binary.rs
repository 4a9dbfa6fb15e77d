//! Binary scores and labels, read piece by piece.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use calib_core::Score;
use calib_fit::data::{BinaryCollector, BinaryData};

use super::chunks::{Chunks, sha256_chunks};
use super::column::{Column, check_same_len};
use super::source::Source;
use super::table::{Table, Wanted};
use crate::files::{FileError, Place, Watch};

/// So many points are kept in memory; the more of them, the others too, go to a temporary file.
const IN_MEMORY_POINTS: usize = 1 << 25;

/// Scores and labels of a binary problem, and where they come from.
#[derive(Debug)]
pub struct BinaryInput {
    /// The points, their scores as the device sees them.
    pub data: BinaryData,
    /// The SHA-256 of the files, one after the other.
    pub sha256: [u8; 32],
    /// The file of scores.
    pub scores: Place,
    /// The column of labels.
    pub labels: Place,
}

/// Where scores and labels are.
#[derive(Clone, Copy, Debug)]
pub struct BinaryFiles<'a> {
    /// The file of scores, or `-` for standard input.
    pub scores: &'a Path,
    /// The file of labels, if they are not in the table of scores.
    pub labels: Option<&'a Path>,
    /// The column of scores.
    pub score_column: &'a str,
    /// The column of labels.
    pub label_column: &'a str,
}

impl BinaryFiles<'_> {
    /// Reads scores and labels; `watch` is told how far it is with the scores.
    ///
    /// ```
    /// use calib_host::input::BinaryFiles;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("held_out.csv");
    /// std::fs::write(&path, "score,label\n0.2,0\n0.9,1\n0.7,1\n")?;
    /// let files = BinaryFiles { scores: &path, labels: None, score_column: "score", label_column: "label" };
    /// let input = files.read(&|progress| eprintln!("{} of {}", progress.done, progress.total))?;
    /// assert_eq!(input.data.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Of NumPy arrays and Parquet only a piece is in memory at a time, and of the points 4 bytes each, up to 128 MiB;
    /// more of them are kept in a temporary file. All other formats are read as a whole.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or is not of its format, a column is missing, a cell is not a score in `[0, 1]` or a label 0
    /// or 1, or there are not as many labels as scores. The row is the first that has the fault.
    pub fn read(&self, watch: Watch<'_>) -> Result<BinaryInput, FileError> {
        let paths: Vec<&Path> = std::iter::once(self.scores).chain(self.labels).collect();
        let names: &[&str] = match self.labels {
            Some(_) => &[self.score_column],
            None => &[self.score_column, self.label_column],
        };
        Source::check_paths(&paths)?;
        let mut scores = Chunks::open(self.scores, Wanted::Only(names), watch)?;
        let mut labels = match self.labels {
            Some(path) => Some(Chunks::open(path, Wanted::Only(&[self.label_column]), &|_| ())?),
            None => None,
        };
        // A hash takes the files one after the other, and Parquet is not read in the order of its bytes.
        let contents: Vec<_> = std::iter::once(&scores).chain(&labels).map(Chunks::content).collect();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let hash = scope.spawn(|| sha256_chunks(&contents, &stop));
            let read = self.pair(&mut scores, labels.as_mut());
            stop.store(read.is_err(), Ordering::Relaxed);
            let hash = hash.join().expect("hashing does not panic");
            let (data, labels) = read?;
            Ok(BinaryInput { data, sha256: hash?, scores: scores.place(), labels })
        })
    }

    /// Reads both columns side by side, to the end of both.
    fn pair(
        &self,
        scores: &mut Chunks<'_>,
        mut labels: Option<&mut Chunks<'_>>,
    ) -> Result<(BinaryData, Place), FileError> {
        let mut pairs = Pairs::new();
        let (mut no_more_scores, mut no_more_labels) = (false, false);
        while !(no_more_scores && no_more_labels) {
            // The columns of one table go together, but the arrays of an archive may differ in length.
            let wanted = labels.is_none() || pairs.scores.is_empty() || no_more_labels;
            if !no_more_scores && wanted {
                match scores.next()? {
                    Some(table) if labels.is_none() => {
                        pairs.add_labels(&self.labels_beside(&table)?)?;
                        pairs.add_scores(&table.numbers(self.score_column)?)?;
                    }
                    Some(table) => pairs.add_scores(&table.numbers(self.score_column)?)?,
                    None => no_more_scores = true,
                }
            }
            match &mut labels {
                None => no_more_labels = no_more_scores,
                Some(labels) if !no_more_labels && (pairs.labels.is_empty() || no_more_scores) => {
                    match labels.next()? {
                        Some(table) => pairs.add_labels(&table.labels(self.label_column)?)?,
                        None => no_more_labels = true,
                    }
                }
                Some(_) => {}
            }
            pairs.join(no_more_scores || no_more_labels)?;
        }
        pairs.finish()
    }

    fn labels_beside(&self, table: &Table) -> Result<Column<i64>, FileError> {
        if table.is_lone_array() { Err(FileError::NoLabels) } else { table.labels(self.label_column) }
    }
}

/// Scores and labels of which the other half is still to come, and the points so far.
struct Pairs {
    scores: Vec<Score>,
    labels: Vec<bool>,
    /// How many there were of each, and where.
    seen: [usize; 2],
    places: [Option<Place>; 2],
    points: BinaryCollector,
}

impl Pairs {
    fn new() -> Self {
        let points = BinaryCollector::new(IN_MEMORY_POINTS);
        Self { scores: Vec::new(), labels: Vec::new(), seen: [0; 2], places: [None, None], points }
    }

    fn add_scores(&mut self, column: &Column<f64>) -> Result<(), FileError> {
        self.scores.extend(column.scores()?);
        self.seen[0] += column.len();
        self.places[0].get_or_insert_with(|| column.place().clone());
        Ok(())
    }

    fn add_labels(&mut self, column: &Column<i64>) -> Result<(), FileError> {
        column.check_classes(2)?;
        self.labels.extend(column.values.iter().map(|&label| label == 1));
        self.seen[1] += column.len();
        self.places[1].get_or_insert_with(|| column.place().clone());
        Ok(())
    }

    /// Makes points of what has both halves, and forgets the other half if it is `alone` for good.
    fn join(&mut self, alone: bool) -> Result<(), FileError> {
        let both = self.scores.len().min(self.labels.len());
        let points = self.scores.drain(..both).zip(self.labels.drain(..both));
        self.points.extend(points).map_err(FileError::spill)?;
        if alone {
            self.scores.clear();
            self.labels.clear();
        }
        Ok(())
    }

    fn finish(self) -> Result<(BinaryData, Place), FileError> {
        let [scores, labels] = self.places.map(|place| place.expect("a table has rows"));
        check_same_len(&labels, self.seen[1], &scores, self.seen[0])?;
        let data = self.points.finish().map_err(FileError::spill)?.expect("a table has rows");
        Ok((data, labels))
    }
}
