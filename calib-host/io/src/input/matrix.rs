//! Matrices of logits and probabilities.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use calib_core::ScoreEncoding;
use calib_fit::data::{DataError, VectorKind, Vectors};

use super::chunk_reader::Input;
use super::column::Column;
use super::guard::guarded;
use super::npy::{self, NpyArray};
use super::npz::Npz;
use super::projection::Projection;
use super::sniff::column_aliases::{self, NotFound};
use super::sniff::options::{TableOptions, TableRemark};
use super::source::Source;
use super::table::{Reading, Table};
use crate::files::{Fault, FileError, Format, Location, Problem, Row};

/// Reads a matrix of logits or probabilities: a NumPy array of two dimensions, or one in an NPZ archive. There it is the only one
/// of two dimensions, or has the name `logits` or `probs`, as `kind` specifies. Of a table [`vectors_named`] takes the columns.
///
/// ```
/// use calib_fit::VectorKind;
/// use calib_io::input::{Source, vectors};
/// use npyz::WriterBuilder;
///
/// let mut npy = Vec::new();
/// let mut writer = npyz::WriteOptions::new().default_dtype().shape(&[2, 3]).writer(&mut npy).begin_nd()?;
/// writer.extend([0.2f32, 0.5, 0.3, 0.8, 0.1, 0.1])?;
/// writer.finish()?;
/// let probs = vectors(&Source::from_bytes("probs.npy", npy)?, VectorKind::Probs)?;
/// assert_eq!((probs.len(), probs.classes()), (2, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If there is no such array of floats, or a row is not of its kind.
pub fn vectors(source: &Source, kind: VectorKind) -> Result<Vectors, FileError> {
    vectors_named(source, kind, None)
}

/// As [`vectors`], but in an archive with the array of this name. Of a table with the columns that it lists in the order of the classes,
/// separated by commas, and `p0..p9` for all from `p0` to `p9`.
///
/// ```
/// use calib_fit::VectorKind;
/// use calib_io::input::{Source, vectors_named};
///
/// let csv = b"label,p0,p1,p2\n2,0.25,0.25,0.5\n".to_vec();
/// let probs = vectors_named(&Source::from_bytes("probs.csv", csv)?, VectorKind::Probs, Some("p0..p2"))?;
/// assert_eq!((probs.len(), probs.classes()), (1, 3));
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
///
/// # Errors
///
/// As [`vectors`].
pub fn vectors_named(source: &Source, kind: VectorKind, name: Option<&str>) -> Result<Vectors, FileError> {
    let rows = match is_table(source) && (name.is_some() || source.options().guess) {
        true => MatrixRows::of_table(source, name, |table, name| {
            table.numbers(name)?.map(|&value| Ok(value as f32))
        })?,
        false => {
            let (array, place) = array(source, kind, name)?;
            MatrixRows::of_array(array.matrix()?, place, 0)
        }
    };
    rows.checked(ScoreEncoding::F32, |values, classes| Vectors::new(values, classes, kind))
}

/// The rows of a matrix, one after the other, and where they are.
pub(super) struct MatrixRows<T> {
    values: Vec<T>,
    classes: usize,
    /// The place of the matrix.
    place: Location,
    /// The number of the first row.
    first_row: usize,
    /// The columns of a table.
    columns: Vec<Column<T>>,
}

impl<T: Copy> MatrixRows<T> {
    /// The values of an array, and the number of its columns.
    pub(super) fn of_array((values, classes): (Vec<T>, usize), place: Location, first_row: usize) -> Self {
        Self { values, classes, place, first_row, columns: Vec::new() }
    }

    /// The columns of a table, one a class: those that `list` names, or those that look like classes.
    ///
    /// # Errors
    ///
    /// If there are none, or as `column`.
    pub(super) fn of_table(
        source: &Source,
        list: Option<&str>,
        column: impl Fn(&Table, &str) -> Result<Column<T>, FileError>,
    ) -> Result<Self, FileError> {
        let names = class_columns(source, list)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let table = Table::read_only(source, &names)?;
        let columns: Vec<Column<T>> =
            names.iter().map(|name| column(&table, name)).collect::<Result<_, _>>()?;
        let row = |row: usize| columns.iter().map(move |column| column.values[row]);
        let values = (0..columns[0].len()).flat_map(row).collect();
        let (classes, place) = (columns.len(), Location::file(source.path()));
        Ok(Self { values, classes, place, first_row: 0, columns })
    }

    /// What is made of the rows.
    ///
    /// # Errors
    ///
    /// What is wrong with them, at its place.
    pub(super) fn checked<V>(
        self,
        encoding: ScoreEncoding,
        make: impl FnOnce(Vec<T>, usize) -> Result<V, DataError>,
    ) -> Result<V, FileError> {
        let Self { values, classes, place, first_row, columns } = self;
        make(values, classes).map_err(|cause| {
            let Fault { row, class, problem } = Fault::new(cause, encoding);
            let place = match (row, class, columns.first()) {
                (None, ..) => place,
                (Some(row), _, None) => entry(&place, first_row + row, class),
                (Some(row), Some(class), _) => columns[class].at(row),
                (Some(row), None, Some(first)) => Location { column: None, ..first.at(row) },
            };
            FileError::input(place, problem)
        })
    }
}

/// Whether a file has columns with names.
pub(super) fn is_table(source: &Source) -> bool {
    !matches!(source.format(), Format::NPY | Format::NPZ)
}

/// The names of the columns that hold the classes, in their order, as [`vectors_named`] takes them; none of a matrix that is an array.
///
/// # Errors
///
/// If no columns of a table look like classes, and none are named.
pub fn columns_of_classes(source: &Source, name: Option<&str>) -> Result<Vec<String>, FileError> {
    if is_table(source) { class_columns(source, name) } else { Ok(Vec::new()) }
}

/// The names of the columns of a table that hold the classes, in their order: those that `list` names, separated by commas, with `p0..p9`
/// for all from `p0` to `p9`. Without a list those that are numbered from 0 or 1 on behind the same word, if this may be guessed.
fn class_columns(source: &Source, list: Option<&str>) -> Result<Vec<String>, FileError> {
    if let Some(list) = list {
        return Ok(column_aliases::listed(list));
    }
    if !source.options().guess {
        return Err(FileError::NoClassColumns);
    }
    let place = Location::file(source.path());
    let table = Table::read_projected(source, &Projection::NONE)?;
    match column_aliases::classes(table.column_names()) {
        Ok(names) => {
            let ends = [&names[0], &names[names.len() - 1]].map(Clone::clone);
            source.options().note(&place, TableRemark::Classes { ends, classes: names.len() });
            Ok(names)
        }
        Err(NotFound::Several(lists)) => Err(FileError::input(place, Problem::WhichClasses(lists))),
        Err(_) => {
            let there = table.column_names().map(|name| name.trim().to_owned()).collect();
            Err(FileError::input(place, Problem::NoClasses(there)))
        }
    }
}

/// The array that is the matrix, and where it is.
pub(super) fn array(
    source: &Source,
    kind: VectorKind,
    name: Option<&str>,
) -> Result<(NpyArray, Location), FileError> {
    let place = Location::file(source.path());
    let (array, place) = guarded(&place, source.format(), || match source.format() {
        Format::NPZ => in_archive(source, kind, name),
        _ => Ok((npy::parse(place.clone(), source.bytes())?, place.clone())),
    })?;
    Ok((array.without_rows(source.left_out()), place))
}

/// Whether each row of a matrix that is alone in its file has an entry that is NaN; `None` of anything else.
pub(super) fn incomplete_rows(source: &Source) -> Option<Vec<bool>> {
    let place = Location::file(source.path());
    let array = guarded(&place, Format::NPY, || npy::parse(place.clone(), source.bytes())).ok()?;
    array.incomplete_rows()
}

/// The place of a row of a matrix, or of an entry of it.
fn entry(matrix: &Location, row: usize, class: Option<usize>) -> Location {
    let place = matrix.clone().row(Row::Index(row));
    match (class, &place.column) {
        (None, _) => place,
        (Some(class), None) => place.column(class),
        (Some(class), Some(array)) => {
            let column = format!("{class} of {array}");
            place.column(column)
        }
    }
}

/// Whether a file holds a matrix rather than a column of this name: a NumPy array of two dimensions, or an archive with such
/// an array and none of the name. If columns may be guessed also a table without the column that has columns of classes. The start of a
/// file decides.
///
/// # Errors
///
/// If the start of the file cannot be read.
pub fn is_matrix(source: &Source, column: &str) -> Result<bool, FileError> {
    begins_a_matrix(&Input::Memory(source.clone()), column, source.options())
}

/// Whether a file holds a matrix as [`is_matrix`] finds it, and not the two probabilities of two classes, which are scores. Nothing is
/// reported as guessed.
///
/// # Errors
///
/// As [`is_matrix`].
pub fn holds_classes(path: &Path, column: &str, options: &TableOptions) -> Result<bool, FileError> {
    let options = Arc::new(TableOptions { complete: Vec::new(), tell: None, ..options.clone() });
    let input = Input::of(path, &options, &|_| ())?;
    let reading = Reading::new(&options);
    let is_column = input.format() == Format::NPY
        && input.chunks(&Projection::NONE, &reading).and_then(|mut chunks| chunks.next()).is_ok();
    Ok(!is_column && begins_a_matrix(&input, column, &options)?)
}

fn begins_a_matrix(input: &Input, column: &str, options: &Arc<TableOptions>) -> Result<bool, FileError> {
    let two_dimensions = |shape: &[u64]| matches!(shape, [_, columns] if *columns != 1);
    guarded(&input.place(), input.format(), || match input {
        _ if input.format() == Format::NPY => {
            let mut start = Vec::new();
            let read = input.open()?.0.take(npy::MAX_HEADER_LEN_BYTES).read_to_end(&mut start);
            read.map_err(|source| FileError::Read { path: input.path().into(), source })?;
            Ok(npy::shape(&start).is_some_and(|shape| two_dimensions(&shape)))
        }
        Input::Memory(source) if input.format() == Format::NPZ => {
            let mut npz = Npz::open(source)?;
            let names: Vec<String> = npz.names().map(str::to_owned).collect();
            if names.iter().any(|name| name == column) {
                return Ok(false);
            }
            for index in 0..names.len() {
                if npz.shape(index)?.is_some_and(|shape| two_dimensions(&shape)) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ if options.guess => {
            let quiet = Arc::new(TableOptions { tell: None, ..(**options).clone() });
            let Some(table) = input.chunks(&Projection::NONE, &Reading::new(&quiet))?.next()? else {
                return Ok(false);
            };
            let is_there = !matches!(table.found(column), Err(NotFound::Missing | NotFound::Several(_)));
            Ok(!is_there && column_aliases::classes(table.column_names()) != Err(NotFound::Missing))
        }
        _ => Ok(false),
    })
}

fn in_archive(
    source: &Source,
    kind: VectorKind,
    name: Option<&str>,
) -> Result<(NpyArray, Location), FileError> {
    let mut npz = Npz::open(source)?;
    let names: Vec<String> = npz.names().map(str::to_owned).collect();
    let of_name = |name: &str| names.iter().position(|there| there == name);
    let index = match name {
        Some(name) => of_name(name).ok_or_else(|| {
            FileError::input(
                Location::file(source.path()).column(name),
                Problem::MissingColumn(names.clone()),
            )
        })?,
        None => {
            let conventional = match kind {
                VectorKind::Logits => "logits",
                VectorKind::Probs => "probs",
            };
            match of_name(conventional) {
                Some(index) => index,
                None => only_matrix(&mut npz, &names, source)?,
            }
        }
    };
    Ok((npz.array(index)?, npz.place(index)))
}

/// The only array of two dimensions; one of shape `(n, 1)` is a column.
fn only_matrix(npz: &mut Npz<'_>, names: &[String], source: &Source) -> Result<usize, FileError> {
    if names.len() == 1 {
        return Ok(0);
    }
    let mut matrices = Vec::new();
    for index in 0..names.len() {
        if npz.shape(index)?.is_some_and(|shape| matches!(shape[..], [_, columns] if columns != 1)) {
            matrices.push(index);
        }
    }
    match matrices[..] {
        [index] => Ok(index),
        _ => {
            let there = matrices.into_iter().map(|index| names[index].clone()).collect();
            Err(FileError::input(Location::file(source.path()), Problem::WhichMatrix(there)))
        }
    }
}
