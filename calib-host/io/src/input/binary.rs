//! Binary scores and labels, chunk by chunk.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use calib_fit::data::{BinaryCollector, BinaryData, IN_MEMORY_POINTS, ScoreKind};

use super::chunk_reader::Input;
use super::chunks::Chunks;
use super::column::{Column, check_same_len};
use super::hash::sha256;
use super::projection::{ColumnType, Projection};
use super::sniff::options::TableOptions;
use super::source::Source;
use super::table::Table;
use crate::files::{FileError, Location, Watch};

/// Scores and labels of a binary problem, and where they come from.
#[derive(Debug)]
pub struct BinaryInput {
    /// The points, their scores as the device sees them.
    pub data: BinaryData,
    /// The SHA-256 of the files, one after the other.
    pub sha256: [u8; 32],
    /// The file of scores.
    pub scores: Location,
    /// The column of labels.
    pub labels: Location,
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

impl<'a> BinaryFiles<'a> {
    /// Reads scores and labels; `watch` receives the progress with the scores.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use calib_io::input::BinaryFiles;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("held_out.csv");
    /// std::fs::write(&path, "score,label\n0.2,0\n0.9,1\n0.7,1\n")?;
    /// let files = BinaryFiles { scores: &path, labels: None, score_column: "score", label_column: "label" };
    /// let input = files.read(&Arc::default(), &|progress| eprintln!("{} of {}", progress.done, progress.total))?;
    /// assert_eq!(input.data.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Of NumPy arrays, Parquet and CSV only some chunks are in memory at a time, and of the points 4 bytes each, up to 128 MiB.
    /// More of them are kept in a temporary file. All other formats, standard input and what is compressed are read as a whole.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or is not of its format, or a column is missing. If a cell is not a score in `[0, 1]` or a
    /// label 0 or 1, or there are not as many labels as scores. The row is the first that has the fault.
    pub fn read(&self, options: &Arc<TableOptions>, watch: Watch<'_>) -> Result<BinaryInput, FileError> {
        let mut chunks = self.chunks::<f32>(ScoreKind::Probability, options, watch)?;
        // A hash takes the files one after the other, and Parquet is not read in the order of its bytes.
        let inputs = chunks.inputs();
        let stop = AtomicBool::new(false);
        let hash = || sha256(&inputs, &stop);
        thread::scope(|scope| {
            let hashing = thread::Builder::new().spawn_scoped(scope, hash);
            let data = chunks.read_all();
            stop.store(data.is_err(), Ordering::Relaxed);
            // Where there are no threads, one comes after the other.
            let hash =
                hashing.map_or_else(|_| hash(), |hashing| hashing.join().expect("hashing does not panic"));
            let (data, labels) = (data?, chunks.label_place());
            Ok(BinaryInput { data, sha256: hash?, scores: chunks.place(), labels })
        })
    }

    /// Opens both columns, to be read chunk by chunk; `watch` receives the progress with the scores.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use calib_fit::ScoreKind;
    /// use calib_io::input::BinaryFiles;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("held_out.csv");
    /// std::fs::write(&path, "score,label\n0.2,0\n0.9,1\n0.7,1\n")?;
    /// let files = BinaryFiles { scores: &path, labels: None, score_column: "score", label_column: "label" };
    /// let mut chunks = files.chunks::<f64>(ScoreKind::Probability, &Arc::default(), &|_| ())?;
    /// let mut positives = 0;
    /// while let Some(chunk) = chunks.read_next()? {
    ///     positives += chunk.labels.iter().filter(|&&label| label).count();
    /// }
    /// assert_eq!(positives, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Chunks::open`], or if both are standard input.
    pub fn chunks<'w, S: ScoreNumber>(
        &self,
        kind: ScoreKind,
        options: &Arc<TableOptions>,
        watch: Watch<'w>,
    ) -> Result<BinaryChunks<'w, S>, FileError>
    where
        'a: 'w,
    {
        let paths: Vec<&Path> = std::iter::once(self.scores).chain(self.labels).collect();
        Source::check_paths(&paths)?;
        let inputs: Vec<Input> = match options.leaves_out() {
            true => {
                let sources = Source::read_all_with(&paths, options, watch)?;
                sources.into_iter().map(Input::Memory).collect()
            }
            false => paths.iter().map(|path| Input::of(path, options, watch)).collect::<Result<_, _>>()?,
        };
        let columns = [(self.score_column, ColumnType::Numbers), (self.label_column, ColumnType::Labels)];
        let (of_scores, of_labels) = columns.split_at(if self.labels.is_some() { 1 } else { 2 });
        let open =
            |input, columns, watch| Chunks::of(input, Projection::of(columns, options), options, watch);
        let mut inputs = inputs.into_iter();
        let scores = open(inputs.next().expect("there are scores"), of_scores, watch)?;
        let labels = inputs.next().map(|labels| open(labels, of_labels, &|_| ())).transpose()?;
        Ok(BinaryChunks::new(*self, kind, scores, labels))
    }
}

/// A number as which scores are read: `f32` as the device sees them, `f64` as they are.
pub trait ScoreNumber: Copy {
    /// A column of scores of this kind.
    ///
    /// # Errors
    ///
    /// As [`Table::device_scores`].
    fn column(table: &Table, name: &str, kind: ScoreKind) -> Result<Column<Self>, FileError>;
}

impl ScoreNumber for f32 {
    fn column(table: &Table, name: &str, kind: ScoreKind) -> Result<Column<Self>, FileError> {
        table.device_scores(name, kind)
    }
}

impl ScoreNumber for f64 {
    fn column(table: &Table, name: &str, kind: ScoreKind) -> Result<Column<Self>, FileError> {
        let scores = table.numbers(name)?;
        scores.check_scores(kind)?;
        Ok(scores)
    }
}

/// Scores and labels of a binary problem, chunk by chunk.
pub struct BinaryChunks<'w, S> {
    files: BinaryFiles<'w>,
    kind: ScoreKind,
    scores: Chunks<'w>,
    labels: Option<Chunks<'w>>,
    /// Labels whose scores are still to come.
    waiting: Vec<bool>,
    /// The columns of scores and labels, and how many rows of each there were.
    seen: [Option<(Location, usize)>; 2],
    number: PhantomData<S>,
}

/// Scores and their labels.
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryChunk<S> {
    /// The scores, at least one.
    pub scores: Vec<S>,
    /// As many labels: whether each is class 1.
    pub labels: Vec<bool>,
}

impl BinaryChunks<'_, f32> {
    /// Reads all points that were not read yet, with scores as the device sees them.
    ///
    /// # Errors
    ///
    /// As [`BinaryFiles::read`].
    ///
    /// # Panics
    ///
    /// If all points were read before.
    pub fn read_all(&mut self) -> Result<BinaryData, FileError> {
        let mut points = BinaryCollector::new(IN_MEMORY_POINTS);
        while let Some(BinaryChunk { scores, labels }) = self.read_next()? {
            points.extend_device_scores(&scores, &labels).map_err(FileError::spill)?;
        }
        Ok(points.finish().map_err(FileError::spill)?.expect("a table has rows"))
    }
}

impl<'w, S: ScoreNumber> BinaryChunks<'w, S> {
    fn new(files: BinaryFiles<'w>, kind: ScoreKind, scores: Chunks<'w>, labels: Option<Chunks<'w>>) -> Self {
        Self { files, kind, scores, labels, waiting: Vec::new(), seen: [None, None], number: PhantomData }
    }

    /// The next scores and labels, side by side; `None` at the end of both.
    ///
    /// # Errors
    ///
    /// As [`BinaryFiles::read`].
    pub fn read_next(&mut self) -> Result<Option<BinaryChunk<S>>, FileError> {
        self.advance().map_err(|fault| self.first_fault(fault))
    }

    fn advance(&mut self) -> Result<Option<BinaryChunk<S>>, FileError> {
        while let Some(table) = self.scores.read_next()? {
            if self.labels.is_none() {
                let labels = labels_beside(&table, self.files.label_column)?;
                self.add_labels(labels);
            }
            let scores = S::column(&table, self.files.score_column, self.kind)?;
            count(&mut self.seen[0], &scores);
            let mut scores = scores.values;
            while self.waiting.len() < scores.len()
                && let Some(labels) = self.more_labels()?
            {
                self.add_labels(labels);
            }
            scores.truncate(self.waiting.len());
            let rest = self.waiting.split_off(scores.len());
            let labels = std::mem::replace(&mut self.waiting, rest);
            if !scores.is_empty() {
                return Ok(Some(BinaryChunk { scores, labels }));
            }
        }
        while let Some(labels) = self.more_labels()? {
            count(&mut self.seen[1], &labels);
        }
        match &self.seen {
            [Some((scores, score_count)), Some((labels, label_count))] => {
                check_same_len(labels, *label_count, scores, *score_count).map(|()| None)
            }
            _ => Ok(None),
        }
    }

    /// The next labels of a separate file; `None` at its end.
    fn more_labels(&mut self) -> Result<Option<Column<bool>>, FileError> {
        let next = self.labels.as_mut().map_or(Ok(None), Chunks::read_next)?;
        next.map(|table| table.binary_labels(self.files.label_column)).transpose()
    }

    fn add_labels(&mut self, labels: Column<bool>) {
        count(&mut self.seen[1], &labels);
        self.waiting.extend(labels.values);
    }

    /// Begins again, for another pass.
    ///
    /// # Errors
    ///
    /// As [`Chunks::rewind`].
    pub fn rewind(&mut self) -> Result<(), FileError> {
        self.waiting.clear();
        self.seen = [None, None];
        self.scores.rewind()?;
        self.labels.as_mut().map_or(Ok(()), Chunks::rewind)
    }

    /// The SHA-256 of the files, one after the other. It takes about as long as reading them: on a separate thread, it may be
    /// done beside.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn sha256(&self) -> Result<[u8; 32], FileError> {
        sha256(&self.inputs(), &AtomicBool::new(false))
    }

    /// The fault to tell of texts that have one: the one that reading all at once finds, which looks at one kind of fault after the
    /// other. Of a text too long for that it is the fault itself, which is the first by row.
    fn first_fault(&self, fault: FileError) -> FileError {
        if let Some(counted) = self.counted(&fault) {
            return counted;
        }
        let mut files = std::iter::once(&self.scores).chain(&self.labels);
        if !files.any(Chunks::is_short_text) {
            return fault;
        }
        let whole = |file: &Chunks<'_>| match file.is_short_text() {
            true => file.as_a_whole(),
            false => file.again(),
        };
        let read = || {
            let scores = whole(&self.scores)?;
            let labels = self.labels.as_ref().map(whole).transpose()?;
            let mut chunks = BinaryChunks::<S>::new(self.files, self.kind, scores, labels);
            while chunks.advance()?.is_some() {}
            Ok(())
        };
        read().err().unwrap_or(fault)
    }

    /// The fault of a cell without a value in a file that is too long to be read at once, with how many cells of its column have none.
    fn counted(&self, fault: &FileError) -> Option<FileError> {
        let FileError::Input { place, problem } = fault else { return None };
        let mut files = std::iter::once(&self.scores).chain(&self.labels);
        let file = files.find(|chunks| chunks.place().file == place.file)?;
        if !problem.is_missing() || file.is_short_text() {
            return None;
        }
        let column = place.column.as_deref().unwrap_or(self.files.score_column);
        let (mut missing, mut rows) = (0, 0);
        let mut chunks = file.again().ok()?;
        // What is wrong further on was not found yet.
        while let Ok(Some(table)) = chunks.read_next() {
            let (more, of) = table.count_missing(column)?;
            (missing, rows) = (missing + more, rows + of);
        }
        Some(FileError::input((**place).clone(), problem.clone().of_rows(missing, rows)))
    }

    fn inputs(&self) -> Vec<Input> {
        std::iter::once(&self.scores).chain(&self.labels).map(|file| file.input().clone()).collect()
    }

    /// The file of scores.
    pub fn place(&self) -> Location {
        self.scores.place()
    }

    /// The column of labels, once some were read.
    fn label_place(&self) -> Location {
        self.seen[1].as_ref().map_or_else(|| self.scores.place(), |(place, _)| place.clone())
    }
}

fn labels_beside(table: &Table, column: &str) -> Result<Column<bool>, FileError> {
    if table.is_lone_array() { Err(FileError::NoLabels) } else { table.binary_labels(column) }
}

/// Adds the rows of a column to those that were seen of it.
fn count<T>(seen: &mut Option<(Location, usize)>, column: &Column<T>) {
    seen.get_or_insert_with(|| (column.place.clone(), 0)).1 += column.len();
}
