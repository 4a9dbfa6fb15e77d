//! Columns by name, whatever the format.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use calib_fit::data::ScoreKind;

use super::cell::{Span, TableCell, word};
use super::column::Column;
use super::column_kind::ColumnKind;
use super::rows::Rows;
use super::similar_names::{similar_names, stand_in};
use super::sniff::column_aliases::{self, NotFound};
use super::sniff::dialect::FirstLine;
use super::sniff::labels::labels_of_two;
use super::sniff::options::{TableOptions, TableRemark};
use super::sniff::points::{ColumnPoints, Points};
use super::values::Values;
use crate::files::{FileError, Location, Problem};

/// A table: columns with names, of numbers, labels or text.
///
/// An array that is alone in its file, as NPY or as the only member of an NPZ archive, is a table of one column that
/// answers to every name. It must have the right type for what it is asked for: floats for numbers; integers, booleans, texts or
/// whole floats for labels. The columns of all other tables are taken by their names, and by their values only.
#[derive(Clone, Debug)]
pub struct Table {
    file: Location,
    pub(super) columns: Vec<NamedColumn>,
    /// What the spans of the cells point into.
    text: String,
    /// Where its rows are.
    rows: Rows,
    /// The dtype of an array that is alone.
    lone_dtype: Option<String>,
    reading: Reading,
}

/// How a table is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) options: Arc<TableOptions>,
    /// The label that is not class 1, once one was read, where someone said which label is.
    pub(super) other_label: Arc<OnceLock<String>>,
    /// Whether these are all rows of the file.
    pub(super) is_whole: bool,
    /// Whether the first of several columns without names cannot be the scores.
    no_score_first: bool,
    /// What the only column of a table was guessed to be: it is not something else besides.
    sole_use: Arc<OnceLock<String>>,
    /// What the points in the numbers of a text mean, as far as it was read.
    pub(super) points: Arc<Mutex<Points>>,
}

impl Reading {
    pub(super) fn new(options: &Arc<TableOptions>) -> Self {
        Self { options: options.clone(), ..Self::default() }
    }

    /// For all rows of a file, or for some.
    pub(super) fn of_whole(self, is_whole: bool) -> Self {
        Self { is_whole, ..self }
    }

    /// Takes notice of how a text table begins.
    pub(super) fn begins_with(&mut self, first_line: FirstLine) {
        self.no_score_first = matches!(first_line, FirstLine::NoScoreFirst(_));
    }

    /// Whether a column of a table of so many columns may be guessed to be what is asked for.
    fn allows(&self, name: &str, columns: usize) -> bool {
        match columns {
            1 => self.sole_use.get_or_init(|| name.to_owned()) == name,
            _ => !(self.no_score_first && name == "score"),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct NamedColumn {
    pub(super) name: String,
    pub(super) kind: ColumnKind,
    pub(super) content: ColumnContent,
}

#[derive(Clone, Debug)]
pub(super) enum ColumnContent {
    /// Numbers of one type, none missing.
    Typed(Values),
    /// Anything else.
    Cells(Vec<TableCell<Span>>),
    /// Nothing in it can be a number or text.
    Unusable(Problem),
    /// It was not asked for.
    NotRead,
}

impl Table {
    /// A column of numbers.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is not a number.
    ///
    /// # Panics
    ///
    /// If the column was left out by [`Table::read_only`], as for all columns below.
    pub fn numbers(&self, name: &str) -> Result<Column<f64>, FileError> {
        self.check_lone(Problem::FLOATS, is_float)?;
        self.look_at_points(name)?;
        self.column(name, Values::numbers, TableCell::number)
    }

    /// Looks at what the points in the numbers of a column of text mean, and refuses thousands if these are all rows of the file.
    fn look_at_points(&self, name: &str) -> Result<(), FileError> {
        let ColumnContent::Cells(cells) = self.content(name)?.1 else { return Ok(()) };
        let column = &self.find(name)?.name;
        let mut seen = ColumnPoints::default();
        let texts = cells.iter().enumerate().filter_map(|(row, &cell)| match self.resolve(cell) {
            TableCell::Raw(text) => Some((self.rows.at(row), text)),
            _ => None,
        });
        seen.see(texts);
        let mut points = self.reading.points.lock().unwrap_or_else(PoisonError::into_inner);
        points.add(column, seen);
        if self.is_whole() { points.check(&self.file, column, &self.reading.options) } else { Ok(()) }
    }

    /// A column of scores of this kind, as the device sees them: the same as [`Table::numbers`] followed by
    /// [`Column::device_scores`], and quicker.
    ///
    /// ```
    /// use calib_fit::ScoreKind;
    /// use calib_io::input::{Source, Table};
    ///
    /// let table = Table::read(&Source::from_bytes("scores.csv", b"score\n0.25\n1\n".to_vec())?)?;
    /// assert_eq!(table.device_scores("score", ScoreKind::Probability)?.values, [0.25, 1.0]);
    /// # Ok::<(), calib_io::files::FileError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As both.
    pub fn device_scores(&self, name: &str, kind: ScoreKind) -> Result<Column<f32>, FileError> {
        if let (place, ColumnContent::Typed(values)) = self.content(name)?
            && (!self.is_lone_array() || values.is_float())
            && let Some(values) = values.device_scores(kind)
        {
            return Ok(self.column_of(values, place));
        }
        let numbers = self.numbers(name)?;
        let values = numbers.device_scores(kind)?;
        Ok(numbers.with_values(values))
    }

    /// A column of labels of two classes, whether each is class 1: the same as [`Table::labels`] followed by
    /// [`Column::check_classes`], and quicker.
    ///
    /// # Errors
    ///
    /// As both.
    pub fn binary_labels(&self, name: &str) -> Result<Column<bool>, FileError> {
        if let (place, ColumnContent::Typed(values)) = self.content(name)?
            && self.reading.options.positive_label.is_none()
            && let Some(values) = values.binary_labels()
        {
            return Ok(self.column_of(values, place));
        }
        let labels = self.labels(name)?;
        labels.check_classes(2)?;
        labels.map(|&label| Ok(label == 1))
    }

    /// A column of numbers with gaps: an empty or missing cell is `None`.
    ///
    /// # Errors
    ///
    /// As [`Table::numbers`].
    pub fn optional_numbers(&self, name: &str) -> Result<Column<Option<f64>>, FileError> {
        self.check_lone(Problem::FLOATS, is_float)?;
        self.look_at_points(name)?;
        let typed = |values: &Values| Some(values.numbers()?.into_iter().map(Some).collect());
        self.column(name, typed, TableCell::optional_number)
    }

    /// A column of class indices: integers, booleans, or whole numbers written as decimals, such as `1.0`. With a
    /// [`TableOptions::positive_label`] that label is 1, and the other one 0.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is not a whole number; with a positive label, if there is a third one.
    pub fn labels(&self, name: &str) -> Result<Column<i64>, FileError> {
        if let Some(positive) = &self.reading.options.positive_label {
            let texts = self.column(name, |_| None, TableCell::label_text)?;
            return labels_of_two(texts, positive, &self.reading.other_label);
        }
        self.check_lone_labels()?;
        self.note_words(name)?;
        self.column(name, Values::integers, TableCell::label).map_err(|error| self.of_two_kinds(name, error))
    }

    /// Tells which words were taken for labels, except for true and false.
    fn note_words(&self, name: &str) -> Result<(), FileError> {
        let ColumnContent::Cells(cells) = self.content(name)?.1 else { return Ok(()) };
        let first = cells.first().and_then(|&cell| word(self.resolve(cell).text().trim()));
        if let Some((words, _)) = first.filter(|(words, _)| *words != ["false", "true"]) {
            self.options().note(&Location::file(&self.file.file), TableRemark::LabelWords(words));
        }
        Ok(())
    }

    /// A column of class indices, whatever label is class 1: as [`Table::labels`] without a positive label.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is not a whole number.
    pub fn classes(&self, name: &str) -> Result<Column<i64>, FileError> {
        self.check_lone_labels()?;
        self.column(name, Values::integers, TableCell::label)
    }

    /// A column of whole numbers.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is not a whole number.
    pub fn integers(&self, name: &str) -> Result<Column<i64>, FileError> {
        self.check_lone(Problem::CODES, is_integer)?;
        self.look_at_points(name)?;
        self.column(name, Values::integers, TableCell::code)
    }

    /// A column of bin indices; an empty or missing cell, of an uncalibrated row, is bin 0.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is not a whole number from 0 on.
    pub fn bins(&self, name: &str) -> Result<Column<u32>, FileError> {
        self.check_lone("integers", is_integer)?;
        self.column(name, |_| None, TableCell::bin)
    }

    /// A column of names, as their text without spaces around it.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is empty or stands for no value.
    pub fn names(&self, name: &str) -> Result<Column<String>, FileError> {
        self.check_lone("integers or texts", |cell| is_integer(cell) || is_text(cell))?;
        let names = self.column(name, |_| None, TableCell::name)?;
        if self.is_whole() {
            let place = Location::file(&self.file.file).column(name);
            if let Some(pair) = similar_names(&names.values) {
                self.options().note(&place, TableRemark::SimilarNames(pair));
            }
            if let Some((name, rows)) = stand_in(&names.values) {
                let rows = [rows, names.values.len()];
                self.options().note(&place, TableRemark::StandIn { name, rows });
            }
        }
        Ok(names)
    }

    /// Whether this is an array that is alone in its file, so that nothing else can be in it.
    pub fn is_lone_array(&self) -> bool {
        self.lone_dtype.is_some()
    }

    /// Refuses columns that an output would repeat.
    ///
    /// # Errors
    ///
    /// The first of `names` that exists.
    pub fn check_absent(&self, names: &[&str]) -> Result<(), FileError> {
        match names.iter().find(|name| self.columns.iter().any(|there| there.name.trim() == **name)) {
            None => Ok(()),
            Some(name) => Err(FileError::input(self.file.clone().column(name), Problem::ColumnExists)),
        }
    }

    /// A column of values, all at once if it is typed and has nothing to refuse, or else cell by cell.
    fn column<'t, T>(
        &'t self,
        name: &str,
        typed: impl Fn(&Values) -> Option<Vec<T>>,
        convert: fn(TableCell<&'t str>) -> Result<T, Problem>,
    ) -> Result<Column<T>, FileError> {
        let (place, content) = self.content(name)?;
        let of_cell = |row: usize, cell: TableCell<&'t str>| {
            convert(cell).map_err(|problem| {
                let problem = match cell.is_missing() {
                    true => self.counted(problem, content),
                    false => problem,
                };
                FileError::input(place.clone().row(self.rows.at(row)), problem)
            })
        };
        let values = match content {
            ColumnContent::Typed(values) => match typed(values) {
                Some(values) => values,
                None => {
                    (0..values.len()).map(|row| of_cell(row, values.cell(row))).collect::<Result<_, _>>()?
                }
            },
            ColumnContent::Cells(cells) => {
                let mut values = Vec::with_capacity(cells.len());
                for (row, &cell) in cells.iter().enumerate() {
                    values.push(of_cell(row, self.resolve(cell))?);
                }
                values
            }
            ColumnContent::Unusable(problem) => return Err(FileError::input(place, problem.clone())),
            ColumnContent::NotRead => panic!("the column {name} was not asked for when the table was read"),
        };
        Ok(self.column_of(values, place))
    }

    fn column_of<T>(&self, values: Vec<T>, place: Location) -> Column<T> {
        Column { values, place, rows: self.rows.clone(), is_whole: self.reading.is_whole }
    }

    /// A column and its place; that of an array that is alone, whatever the name.
    fn content(&self, name: &str) -> Result<(Location, &ColumnContent), FileError> {
        Ok(match &self.columns[..] {
            [column] if self.is_lone_array() => (self.file.clone(), &column.content),
            _ => {
                let column = self.find(name)?;
                (self.file.clone().column(column.name.trim()), &column.content)
            }
        })
    }

    /// The column of this name, or one that may be it.
    pub(super) fn find(&self, name: &str) -> Result<&NamedColumn, FileError> {
        let fail = |problem| FileError::input(self.file.clone().column(name), problem);
        let is_guess = |column: &NamedColumn| column.name.trim() != name && !self.is_lone_array();
        let found = match self.found(name) {
            Ok(column) if is_guess(column) && !self.reading.allows(name, self.columns.len()) => {
                Err(NotFound::Missing)
            }
            found => found,
        };
        match found {
            Ok(column) => {
                if is_guess(column) {
                    let (wanted, found) = (name.to_owned(), column.name.trim().to_owned());
                    let place = Location::file(&self.file.file);
                    self.options().note(&place, TableRemark::Column { wanted, found });
                }
                Ok(column)
            }
            Err(NotFound::Twice) => Err(fail(Problem::ColumnTwice)),
            Err(NotFound::Several(names)) => Err(fail(Problem::WhichColumn(names))),
            Err(NotFound::Missing) => {
                let there = self.column_names().map(|name| name.trim().to_owned()).collect();
                Err(fail(Problem::MissingColumn(there)))
            }
        }
    }

    /// The same without a word about it.
    pub(super) fn found(&self, name: &str) -> Result<&NamedColumn, NotFound> {
        if self.is_lone_array() {
            return self.columns.first().ok_or(NotFound::Missing);
        }
        let number = column_aliases::find(name, self.column_names(), self.reading.options.guess)?;
        Ok(&self.columns[number])
    }

    /// The names of the columns, in the order of the file.
    pub fn column_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The kinds of labels instead of what is wrong with the first of them, if there are two kinds.
    fn of_two_kinds(&self, name: &str, error: FileError) -> FileError {
        let FileError::Input {
            problem: Problem::LabelNotInteger(_) | Problem::Huge(_) | Problem::Text(_),
            ..
        } = &error
        else {
            return error;
        };
        let Ok(texts) = self.column(name, |_| None, TableCell::label_text) else { return error };
        let mut kinds: Vec<&str> = Vec::new();
        for text in &texts.values {
            if !kinds.contains(&&**text) {
                kinds.push(text);
            }
            if kinds.len() > 2 {
                return error;
            }
        }
        match kinds[..] {
            [first, second] => {
                FileError::input(texts.place.clone(), Problem::TwoLabels([first.into(), second.into()]))
            }
            _ => error,
        }
    }

    /// Refuses an array that is alone of another type than what it is asked for.
    fn check_lone(
        &self,
        expected: &'static str,
        is_expected: fn(TableCell<Span>) -> bool,
    ) -> Result<(), FileError> {
        let (Some(dtype), [column]) = (&self.lone_dtype, &self.columns[..]) else { return Ok(()) };
        match column.content.first() {
            Some(cell) if !is_expected(cell) => {
                Err(FileError::input(self.file.clone(), Problem::Dtype { got: dtype.clone(), expected }))
            }
            _ => Ok(()),
        }
    }

    /// Refuses an array that is alone and has floats that are no labels, such as scores: a label is a whole number.
    fn check_lone_labels(&self) -> Result<(), FileError> {
        let are_whole = match &self.columns[..] {
            [column] if self.is_lone_array() => match &column.content {
                ColumnContent::Typed(values) => values.are_whole(),
                _ => true,
            },
            _ => true,
        };
        match are_whole {
            true => Ok(()),
            false => self.check_lone("integers or booleans", is_integer),
        }
    }

    pub(super) fn resolve(&self, cell: TableCell<Span>) -> TableCell<&str> {
        cell.map_text(|span| &self.text[span.start..span.end])
    }
}

impl ColumnContent {
    /// The number of cells, if it was read.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::Typed(values) => Some(values.len()),
            Self::Cells(cells) => Some(cells.len()),
            Self::Unusable(_) | Self::NotRead => None,
        }
    }

    /// What the cells take in memory.
    fn len_bytes(&self) -> usize {
        match self {
            Self::Typed(values) => values.len() * size_of::<f64>(),
            Self::Cells(cells) => size_of_val(&cells[..]),
            Self::Unusable(_) | Self::NotRead => 0,
        }
    }

    /// Adds the cells of the next chunk, whose text stands from `offset` on.
    fn append(&mut self, next: Self, offset: usize) {
        let shifted = |cell: TableCell<Span>| {
            cell.map_text(|span| Span { start: span.start + offset, end: span.end + offset })
        };
        match (&mut *self, next) {
            (Self::Typed(values), Self::Typed(others)) => {
                if let Err(others) = values.append(others) {
                    self.cells().extend((0..others.len()).map(|row| others.cell(row)));
                }
            }
            (Self::Cells(_), Self::Typed(others)) => {
                self.cells().extend((0..others.len()).map(|row| others.cell(row)));
            }
            (Self::Typed(_) | Self::Cells(_), Self::Cells(others)) => {
                self.cells().extend(others.into_iter().map(shifted));
            }
            (Self::Typed(_) | Self::Cells(_), unusable @ Self::Unusable(_)) => *self = unusable,
            _ => {}
        }
    }

    /// The cells of a column that was read, typed or not before.
    fn cells(&mut self) -> &mut Vec<TableCell<Span>> {
        if let Self::Typed(values) = self {
            *self = Self::Cells((0..values.len()).map(|row| values.cell(row)).collect());
        }
        match self {
            Self::Cells(cells) => cells,
            _ => unreachable!("only a column that is read has cells"),
        }
    }

    fn first(&self) -> Option<TableCell<Span>> {
        match self {
            Self::Typed(values) if values.len() > 0 => Some(values.cell(0)),
            Self::Cells(cells) => cells.first().copied(),
            _ => None,
        }
    }
}

fn is_float(cell: TableCell<Span>) -> bool {
    matches!(cell, TableCell::F32(_) | TableCell::F64(_))
}

fn is_integer(cell: TableCell<Span>) -> bool {
    matches!(cell, TableCell::Integer(_) | TableCell::Unsigned(_) | TableCell::Bool(_))
}

fn is_text(cell: TableCell<Span>) -> bool {
    matches!(cell, TableCell::Raw(_))
}

/// What the readers of the formats fill a table with.
impl Table {
    /// A table of these rows of a file.
    pub(super) fn at(file: Location, rows: Rows) -> Self {
        let reading = Reading::default();
        Self { file, columns: Vec::new(), text: String::new(), rows, lone_dtype: None, reading }
    }

    /// The same table, read so.
    #[must_use]
    pub(super) fn read_as(self, reading: Reading) -> Self {
        Self { reading, ..self }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.reading.is_whole
    }

    /// Says that these are all rows of the file.
    pub(super) fn make_whole(&mut self) {
        self.reading.is_whole = true;
    }

    /// What the cells and their text take in memory.
    pub(super) fn len_bytes(&self) -> u64 {
        let cells: usize = self.columns.iter().map(|column| column.content.len_bytes()).sum();
        cells as u64 + self.text.len() as u64
    }

    /// The number of rows of the columns that were read.
    fn row_count(&self) -> usize {
        self.columns.iter().filter_map(|column| column.content.len()).max().unwrap_or(0)
    }

    /// Adds the rows of the next chunk of the same file, which has the same columns, or more behind them.
    pub(super) fn append(&mut self, next: Self) {
        let (len, next_len, offset) = (self.row_count(), next.row_count(), self.text.len());
        self.rows.append(len, &next.rows, next_len);
        self.text.push_str(&next.text);
        for (number, mut column) in next.columns.into_iter().enumerate() {
            let Some(before) = self.columns.get_mut(number) else {
                if let ColumnContent::Typed(_) | ColumnContent::Cells(_) = column.content {
                    let gap = std::mem::replace(
                        &mut column.content,
                        ColumnContent::Cells(vec![TableCell::Missing; len]),
                    );
                    column.content.append(gap, offset);
                }
                self.columns.push(column);
                continue;
            };
            before.content.append(column.content, offset);
        }
    }

    /// Takes these rows away.
    pub(super) fn leave_out(&mut self, left_out: &HashSet<usize>) {
        let longest = self.row_count();
        let kept: Vec<usize> = (0..longest).filter(|row| !left_out.contains(row)).collect();
        for column in &mut self.columns {
            match &mut column.content {
                ColumnContent::Typed(values) if values.len() == longest => *values = values.part(&kept),
                ColumnContent::Cells(cells) if cells.len() == longest => {
                    *cells = kept.iter().map(|&row| cells[row]).collect();
                }
                _ => {}
            }
        }
        self.rows = self.rows.part(&kept);
    }

    pub(super) fn options(&self) -> &TableOptions {
        &self.reading.options
    }

    /// Adds a column to be filled; `wanted` or not.
    pub(super) fn add_column(&mut self, name: &str, wanted: bool) -> usize {
        let content = if wanted { ColumnContent::Cells(Vec::new()) } else { ColumnContent::NotRead };
        self.columns.push(NamedColumn { name: name.into(), kind: ColumnKind::Text, content });
        self.columns.len() - 1
    }

    pub(super) fn add_unusable(&mut self, name: &str, problem: Problem) {
        let content = ColumnContent::Unusable(problem);
        self.columns.push(NamedColumn { name: name.into(), kind: ColumnKind::Text, content });
    }

    /// Says what the cells of a column are.
    pub(super) fn set_kind(&mut self, column: usize, kind: ColumnKind) {
        self.columns[column].kind = kind;
    }

    /// Turns a column, once and for all, into one that cannot be used.
    pub(super) fn spoil(&mut self, column: usize, problem: Problem) {
        self.columns[column].content = ColumnContent::Unusable(problem);
    }

    /// Appends typed values to a column; nothing happens if it is not read.
    pub(super) fn extend(&mut self, column: usize, values: Values) {
        match &mut self.columns[column].content {
            content @ ColumnContent::Cells(_) if content.len() == Some(0) => {
                *content = ColumnContent::Typed(values);
            }
            content => content.append(ColumnContent::Typed(values), 0),
        }
    }

    /// Appends a cell to a column; nothing happens if it is not read.
    pub(super) fn push(&mut self, column: usize, cell: TableCell<&str>) {
        if self.is_wanted(column) {
            let cell = cell.map_text(|text| kept(&mut self.text, text));
            self.columns[column].content.cells().push(cell);
        }
    }

    /// Appends cells of text to a column as [`Table::push`] does one.
    pub(super) fn push_texts<'t>(&mut self, column: usize, texts: impl Iterator<Item = &'t str>) {
        if self.is_wanted(column) {
            let cells = self.columns[column].content.cells();
            cells.extend(texts.map(|text| TableCell::Raw(kept(&mut self.text, text))));
        }
    }

    /// Whether there are no columns, or one that was read has no cells.
    pub(super) fn has_no_rows(&self) -> bool {
        let empty = |column: &NamedColumn| column.content.len() == Some(0);
        self.columns.iter().any(empty) || self.columns.is_empty()
    }

    pub(super) fn push_line(&mut self, line: u64) {
        self.rows.push_line(line);
    }

    pub(super) fn set_lone(&mut self, dtype: String) {
        self.lone_dtype = Some(dtype);
    }

    /// The number of cells in a column.
    #[cfg(any(feature = "arrow", test))]
    pub(super) fn cells(&self, column: usize) -> usize {
        self.columns[column].content.len().unwrap_or(0)
    }

    /// The number of columns, wanted or not.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn is_wanted(&self, column: usize) -> bool {
        self.columns[column].content.len().is_some()
    }
}

/// Appends a text to those of a table.
fn kept(all: &mut String, text: &str) -> Span {
    let start = all.len();
    all.push_str(text);
    Span { start, end: all.len() }
}

/// What only record batches need.
#[cfg(feature = "arrow")]
impl Table {
    /// Appends a cell whose text the table has already.
    pub(super) fn push_again(&mut self, column: usize, cell: TableCell<Span>) {
        if self.is_wanted(column) {
            self.columns[column].content.cells().push(cell);
        }
    }

    /// Takes the cells of a column from number `from` on away.
    pub(super) fn take_from(&mut self, column: usize, from: usize) -> Vec<TableCell<Span>> {
        if !self.is_wanted(column) {
            return Vec::new();
        }
        let cells = self.columns[column].content.cells();
        cells.split_off(from.min(cells.len()))
    }

    pub(super) fn text_len(&self) -> usize {
        self.text.len()
    }
}
