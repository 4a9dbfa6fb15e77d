//! Scores with labels, a piece at a time.

use super::binary::BinaryFiles;
use super::chunks::Chunks;
use super::column::{Column, check_same_len};
use super::source::Source;
use super::table::{Table, Wanted};
use crate::files::{FileError, Place, Watch};

/// Scores and labels of which the other half is still to come.
#[derive(Default)]
struct Halves {
    scores: Vec<f64>,
    labels: Vec<bool>,
    /// How many there were of each, and where.
    seen: [usize; 2],
    places: [Option<Place>; 2],
}

impl BinaryFiles<'_> {
    /// Reads scores as they are and labels, and hands them out in pieces, in order; returns where the scores are. NumPy arrays and
    /// Parquet are read in pieces, anything else as a whole.
    ///
    /// ```
    /// use calib_host::files::FileError;
    /// use calib_host::input::BinaryFiles;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("held_out.csv");
    /// std::fs::write(&path, "score,label\n0.2,0\n0.9,1\n0.7,1\n")?;
    /// let files = BinaryFiles { scores: &path, labels: None, score_column: "score", label_column: "label" };
    /// let mut positives = 0;
    /// files.read_pieces(&|_| (), |_, labels| {
    ///     positives += labels.iter().filter(|&&label| label).count();
    ///     Ok::<(), FileError>(())
    /// })?;
    /// assert_eq!(positives, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`BinaryFiles::read`], or what `take` returns.
    pub fn read_pieces<E: From<FileError>>(
        &self,
        watch: Watch<'_>,
        mut take: impl FnMut(&[f64], &[bool]) -> Result<(), E>,
    ) -> Result<Place, E> {
        let paths: Vec<_> = std::iter::once(self.scores).chain(self.labels).collect();
        Source::check_paths(&paths)?;
        let names: &[&str] = match self.labels {
            Some(_) => &[self.score_column],
            None => &[self.score_column, self.label_column],
        };
        let mut scores = Chunks::open(self.scores, Wanted::Only(names), watch)?;
        let place = scores.place();
        let mut halves = Halves::default();
        let Some(labels) = self.labels else {
            while let Some(table) = scores.next()? {
                halves.add_scores(&table.numbers(self.score_column)?)?;
                halves.add_labels(&labels_beside(&table, self.label_column)?)?;
                halves.hand_out(&mut take)?;
            }
            halves.check()?;
            return Ok(place);
        };
        let mut labels = Chunks::open(labels, Wanted::Only(&[self.label_column]), &|_| ())?;
        let (mut more_scores, mut more_labels) = (true, true);
        while more_scores || more_labels {
            if more_scores && (halves.scores.is_empty() || !more_labels) {
                match scores.next()? {
                    Some(table) => halves.add_scores(&table.numbers(self.score_column)?)?,
                    None => more_scores = false,
                }
            }
            if more_labels && (halves.labels.is_empty() || !more_scores) {
                match labels.next()? {
                    Some(table) => halves.add_labels(&table.labels(self.label_column)?)?,
                    None => more_labels = false,
                }
            }
            halves.hand_out(&mut take)?;
            if !(more_scores && more_labels) {
                // What has no other half is counted, and nothing else.
                halves.scores.clear();
                halves.labels.clear();
            }
        }
        halves.check()?;
        Ok(place)
    }
}

fn labels_beside(table: &Table, column: &str) -> Result<Column<i64>, FileError> {
    if table.is_lone_array() { Err(FileError::NoLabels) } else { table.labels(column) }
}

impl Halves {
    fn add_scores(&mut self, column: &Column<f64>) -> Result<(), FileError> {
        column.scores()?;
        self.scores.extend(&column.values);
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

    /// Hands out what has both halves.
    fn hand_out<E>(&mut self, take: &mut impl FnMut(&[f64], &[bool]) -> Result<(), E>) -> Result<(), E> {
        let both = self.scores.len().min(self.labels.len());
        if both > 0 {
            take(&self.scores[..both], &self.labels[..both])?;
        }
        self.scores.drain(..both);
        self.labels.drain(..both);
        Ok(())
    }

    fn check(&self) -> Result<(), FileError> {
        let [scores, labels] =
            [0, 1].map(|half: usize| self.places[half].as_ref().expect("a table has rows"));
        check_same_len(labels, self.seen[1], scores, self.seen[0])
    }
}
