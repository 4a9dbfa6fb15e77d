//! How tables are read that are not as they should be.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::quoted;

/// How tables are read. By default a file is what it says: nothing is guessed, and nothing left out.
///
/// ```
/// use std::sync::Arc;
/// use calib_io::input::{Source, Table, TableOptions};
///
/// let options = TableOptions { guess: true, positive_label: Some("case".into()), ..TableOptions::default() };
/// let csv = b"y_prob,y_true\n0.2,control\n0.9,case\n".to_vec();
/// let source = Source::from_bytes("frame.csv", csv)?.with_options(&Arc::new(options));
/// let table = Table::read_only(&source, &["score", "label"])?;
/// assert_eq!(table.labels("label")?.values, [0, 1]);
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// Whether missing columns `score` and `label` are looked for under their usual names, and text tables may have no header. Also, of two
    /// probabilities that sum to one, the second is used.
    pub guess: bool,
    /// The label that is class 1; the other one is class 0. Without it labels are 0 and 1, or words for them.
    pub positive_label: Option<String>,
    /// Rows are left out in which one of these columns has no value. A list stands for its columns, as for [`class_columns`].
    ///
    /// [`class_columns`]: crate::input::vectors_named
    pub complete: Vec<String>,
    /// Receives what was guessed, and what was left out. It may receive the same about one file several times.
    pub tell: Option<Tell>,
}

/// A function that takes notes.
#[derive(Clone)]
pub struct Tell(Arc<dyn Fn(&TableNote) + Send + Sync>);

impl Tell {
    /// Notes go to this function, from any thread.
    pub fn new(tell: impl Fn(&TableNote) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }
}

impl fmt::Debug for Tell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tell")
    }
}

/// What was guessed about a table, or left out of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TableNote {
    /// A column was found under a usual name.
    Column {
        /// The file.
        file: PathBuf,
        /// What it is for: `score` or `label`.
        wanted: String,
        /// Its name.
        found: String,
    },
    /// A text table has no header.
    NoHeader {
        /// The file.
        file: PathBuf,
        /// The number of columns, which are called by their numbers from 0 on.
        columns: usize,
    },
    /// The first line of a text table is used as the names of its columns, although it could be data: it is their numbers from 0 on.
    NumberedColumns {
        /// The file.
        file: PathBuf,
        /// The number of columns.
        columns: usize,
    },
    /// Of an array of two columns that sum to one the second was taken.
    SecondColumn {
        /// The file.
        file: PathBuf,
    },
    /// Columns were taken for those of the classes.
    Classes {
        /// The file.
        file: PathBuf,
        /// The first and the last of them.
        ends: [String; 2],
        /// How many there are.
        classes: usize,
    },
    /// Labels were taken for the names of the classes' columns, or for what is behind the same word in these.
    LabelsOfColumns {
        /// The file of the labels.
        file: PathBuf,
        /// The first of them.
        label: String,
        /// The column that it names.
        column: String,
    },
    /// Words were taken for labels.
    LabelWords {
        /// The file.
        file: PathBuf,
        /// The word that is 0, and the word that is 1.
        words: [String; 2],
    },
    /// Two names differ in nothing but case, spaces, the form of their letters in Unicode, or invisible signs.
    SimilarNames {
        /// The file.
        file: PathBuf,
        /// Their column.
        column: String,
        /// The names.
        names: [String; 2],
    },
    /// One of many names is in most rows, and may stand for rows without a name.
    StandIn {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// The name.
        name: String,
        /// How many rows have it, and how many there are.
        rows: [usize; 2],
    },
    /// Another sign than a comma separates the fields of a text table.
    Separator {
        /// The file.
        file: PathBuf,
        /// The sign.
        separator: char,
    },
    /// Commas in numbers are decimal commas.
    DecimalCommas {
        /// The file.
        file: PathBuf,
    },
    /// The numbers of a column have points that separate thousands in other countries, and are read as decimals.
    Points {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// The first of these numbers.
        number: String,
    },
    /// The header has one name fewer than the rows have fields, and the first field of each row is its name.
    RowNames {
        /// The file.
        file: PathBuf,
    },
    /// A field in quotes may have swallowed rows: a quote may be missing, or there may be one too many.
    LongField {
        /// The file.
        file: PathBuf,
        /// The first and the last line of the first such field.
        lines: [u64; 2],
    },
    /// Rows were left out that lack a value.
    LeftOut {
        /// The file.
        file: PathBuf,
        /// How many.
        rows: usize,
        /// Of how many.
        of: usize,
    },
}

impl fmt::Display for TableNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column { file, wanted, found } => {
                write!(f, "{}: calib uses the column {} as {wanted}s", file.display(), quoted(found))
            }
            Self::NoHeader { file, columns: 1 } => {
                write!(f, "{}: the first line is data, so the column is called 0", file.display())
            }
            Self::NoHeader { file, columns } => {
                let last = columns.saturating_sub(1);
                write!(f, "{}: the first line is data, so the columns are called 0 to {last}", file.display())
            }
            Self::NumberedColumns { file, columns: 1 } => {
                write!(
                    f,
                    "{}: the first line, 0, is used as the name of the column; if it is data, write a line with a name above it",
                    file.display()
                )
            }
            Self::NumberedColumns { file, columns } => {
                let last = columns.saturating_sub(1);
                write!(
                    f,
                    "{}: the first line, 0 to {last}, is used as the names of the columns; if it is data, write a line with names \
                     above it",
                    file.display()
                )
            }
            Self::SecondColumn { file } => {
                write!(
                    f,
                    "{}: the second of two probabilities that sum to one is used, as the score of class 1",
                    file.display()
                )
            }
            Self::Classes { file, ends: [first, last], classes } => {
                let (first, last) = (quoted(first), quoted(last));
                write!(f, "{}: calib uses the columns {first} to {last} as {classes} classes", file.display())
            }
            Self::LabelsOfColumns { file, label, column } if label == column => {
                write!(f, "{}: labels name the classes' columns", file.display())
            }
            Self::LabelsOfColumns { file, label, column } => {
                let (label, column) = (quoted(label), quoted(column));
                write!(f, "{}: labels name the classes' columns: {label} is {column}", file.display())
            }
            Self::Separator { file, separator } => {
                let sign = match separator {
                    ';' => "semicolons".into(),
                    '\t' => "tabs".into(),
                    other => format!("the character {}", quoted(&other.to_string())),
                };
                write!(f, "{}: {sign} separate the fields", file.display())
            }
            Self::LabelWords { file, words: [zero, one] } => {
                write!(f, "{}: the label {zero} is read as 0, and {one} as 1", file.display())
            }
            Self::SimilarNames { file, column, names: [one, other] } => write!(
                f,
                "{}, column {column}: {} and {} are two names, though they differ only in case, spaces or invisible characters",
                file.display(),
                quoted(one),
                quoted(other)
            ),
            Self::StandIn { file, column, name, rows: [rows, of] } => write!(
                f,
                "{}, column {column}: {rows} of {of} rows have the name {}: does it stand for rows without a name? calib uses it as one name",
                file.display(),
                quoted(name)
            ),
            Self::DecimalCommas { file } => {
                write!(f, "{}: commas in numbers are read as decimal commas: 0,5 is 0.5", file.display())
            }
            Self::Points { file, column, number } => write!(
                f,
                "{}, column {column}: the point in {} is read as a decimal point; if it separates thousands, write {}",
                file.display(),
                quoted(number),
                number.replace('.', "")
            ),
            Self::RowNames { file } => write!(
                f,
                "{}: the header has one name fewer than the rows have fields, so the first field of each row is used as the row's name",
                file.display()
            ),
            Self::LongField { file, lines: [first, last] } => write!(
                f,
                "{}: lines {first} to {last} are one field in quotes, and look like several rows: is a quote missing, or one too many?",
                file.display()
            ),
            Self::LeftOut { file, rows, of } => {
                let (lack, are) = if *rows == 1 { ("lacks", "is") } else { ("lack", "are") };
                write!(f, "{}: {rows} of {of} rows {lack} a value and {are} skipped", file.display())
            }
        }
    }
}

impl TableOptions {
    /// Tells it to anyone who asked for that.
    pub(in crate::input) fn note(&self, note: &TableNote) {
        if let Some(Tell(tell)) = &self.tell {
            tell(note);
        }
    }

    /// Tells that a column was found under a usual name.
    pub(in crate::input) fn note_column(&self, file: &Path, wanted: &str, found: &str) {
        self.note(&TableNote::Column {
            file: file.into(),
            wanted: wanted.into(),
            found: found.trim().into(),
        });
    }

    /// Whether rows without values are left out.
    pub(in crate::input) fn leaves_out(&self) -> bool {
        !self.complete.is_empty()
    }
}
