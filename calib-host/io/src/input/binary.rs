//! Binary scores and labels, chunk by chunk.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use calib_fit::data::{BinaryCollector, BinaryData, ScoreKind};

use super::chunk_reader::Input;
use super::chunks::Chunks;
use super::column::{Column, check_same_len};
use super::hash::sha256;
use super::projection::{ColumnType, Projection};
use super::sniff::options::TableOptions;
use super::source::Source;
use super::table::Table;
use crate::files::{FileError, Location, Watch};

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
            let data = collected(&mut chunks);
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
        let (score, label) =
            ((self.score_column, ColumnType::Numbers), (self.label_column, ColumnType::Labels));
        let of_scores = if self.labels.is_some() { &[score][..] } else { &[score, label] };
        let (scores, labels) = match options.leaves_out() {
            true => {
                let mut sources = Source::read_all_with(&paths, options, watch)?.into_iter();
                let first = sources.next().expect("there are scores");
                let labels = sources.next();
                let of = |source, columns| {
                    Chunks::of(Input::Memory(source), Projection::of(columns, options), options, watch)
                };
                let of_labels = &[label][..];
                (of(first, of_scores)?, labels.map(|labels| of(labels, of_labels)).transpose()?)
            }
            false => {
                let open = |path| Chunks::open(path, &[label], options, &|_| ());
                let labels = self.labels.map(open).transpose()?;
                (Chunks::open(self.scores, of_scores, options, watch)?, labels)
            }
        };
        Ok(BinaryChunks { files: *self, kind, scores, labels, waiting: Waiting::default() })
    }
}

/// All points of a file.
fn collected(chunks: &mut BinaryChunks<'_, f32>) -> Result<BinaryData, FileError> {
    let mut points = BinaryCollector::new(IN_MEMORY_POINTS);
    while let Some(BinaryChunk { scores, labels }) = chunks.read_next()? {
        points.extend_device_scores(&scores, &labels).map_err(FileError::spill)?;
    }
    Ok(points.finish().map_err(FileError::spill)?.expect("a table has rows"))
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
    waiting: Waiting<S>,
}

/// Scores and their labels.
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryChunk<S> {
    /// The scores, at least one.
    pub scores: Vec<S>,
    /// As many labels: whether each is class 1.
    pub labels: Vec<bool>,
}

/// Scores and labels of which the other half is still to come.
struct Waiting<S> {
    scores: Vec<S>,
    labels: Vec<bool>,
    /// How many there were of each, and where.
    seen: [usize; 2],
    places: [Option<Location>; 2],
    /// Whether no more will come.
    over: [bool; 2],
}

impl<S: ScoreNumber> BinaryChunks<'_, S> {
    /// The next scores and labels, side by side; `None` at the end of both.
    ///
    /// # Errors
    ///
    /// As [`BinaryFiles::read`].
    pub fn read_next(&mut self) -> Result<Option<BinaryChunk<S>>, FileError> {
        self.advance().map_err(|fault| self.first_fault(fault))
    }

    fn advance(&mut self) -> Result<Option<BinaryChunk<S>>, FileError> {
        let Self { files, kind, scores: score_chunks, labels: label_chunks, waiting } = self;
        let Some(label_chunks) = label_chunks else {
            let Some(table) = score_chunks.read_next()? else {
                waiting.check()?;
                return Ok(None);
            };
            waiting.add_labels(labels_beside(&table, files.label_column)?);
            waiting.add_scores(S::column(&table, files.score_column, *kind)?);
            return waiting.take(false);
        };
        while waiting.over != [true; 2] {
            if !waiting.over[0] && (waiting.scores.is_empty() || waiting.over[1]) {
                match score_chunks.read_next()? {
                    Some(table) => waiting.add_scores(S::column(&table, files.score_column, *kind)?),
                    None => waiting.over[0] = true,
                }
            }
            if !waiting.over[1] && (waiting.labels.is_empty() || waiting.over[0]) {
                match label_chunks.read_next()? {
                    Some(table) => waiting.add_labels(table.binary_labels(files.label_column)?),
                    None => waiting.over[1] = true,
                }
            }
            if let Some(chunk) = waiting.take(waiting.over[0] || waiting.over[1])? {
                return Ok(Some(chunk));
            }
        }
        waiting.check()?;
        Ok(None)
    }

    /// Begins again, for another pass.
    ///
    /// # Errors
    ///
    /// As [`Chunks::rewind`].
    pub fn rewind(&mut self) -> Result<(), FileError> {
        self.waiting = Waiting::default();
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
            let (files, kind) = (self.files, self.kind);
            let mut chunks = BinaryChunks::<S> { files, kind, scores, labels, waiting: Waiting::default() };
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
        self.waiting.places[1].clone().unwrap_or_else(|| self.scores.place())
    }
}

fn labels_beside(table: &Table, column: &str) -> Result<Column<bool>, FileError> {
    if table.is_lone_array() { Err(FileError::NoLabels) } else { table.binary_labels(column) }
}

impl<S> Default for Waiting<S> {
    fn default() -> Self {
        Self { scores: Vec::new(), labels: Vec::new(), seen: [0; 2], places: [None, None], over: [false; 2] }
    }
}

impl<S> Waiting<S> {
    fn add_scores(&mut self, column: Column<S>) {
        self.seen[0] += column.len();
        self.places[0].get_or_insert(column.place);
        append(&mut self.scores, column.values);
    }

    fn add_labels(&mut self, column: Column<bool>) {
        self.seen[1] += column.len();
        self.places[1].get_or_insert(column.place);
        append(&mut self.labels, column.values);
    }

    /// What has both halves; the rest is forgotten if its other half will never come.
    fn take(&mut self, alone: bool) -> Result<Option<BinaryChunk<S>>, FileError> {
        let both = self.scores.len().min(self.labels.len());
        let chunk =
            BinaryChunk { scores: front(&mut self.scores, both), labels: front(&mut self.labels, both) };
        if alone {
            self.scores.clear();
            self.labels.clear();
        }
        Ok((both > 0).then_some(chunk))
    }

    /// Checks, at the end, that there were as many labels as scores.
    fn check(&self) -> Result<(), FileError> {
        let [Some(scores), Some(labels)] = &self.places else { return Ok(()) };
        check_same_len(labels, self.seen[1], scores, self.seen[0])
    }
}

fn append<T>(all: &mut Vec<T>, mut more: Vec<T>) {
    match all.is_empty() {
        true => *all = more,
        false => all.append(&mut more),
    }
}

/// Takes the first values away.
fn front<T>(values: &mut Vec<T>, len: usize) -> Vec<T> {
    let rest = values.split_off(len);
    std::mem::replace(values, rest)
}
