//! How tables are read that are not as they should be.

use std::fmt;
use std::sync::Arc;

use crate::files::{Location, quoted};

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableNote {
    /// The file, and the column if the note is about one.
    pub place: Location,
    /// What is to be said.
    pub remark: TableRemark,
}

impl fmt::Display for TableNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.remark)
    }
}

/// What is to be said of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableRemark {
    /// A column was found under a usual name.
    Column {
        /// What it is for: `score` or `label`.
        wanted: String,
        /// Its name.
        found: String,
    },
    /// A text table with this number of columns has no header; they are called by their numbers from 0 on.
    NoHeader(usize),
    /// The first line of a text table is used as the names of its columns, although it could be data: it is the numbers of this many columns
    /// from 0 on.
    NumberedColumns(usize),
    /// Of an array of two columns that sum to one the second was taken.
    SecondColumn,
    /// Columns were taken for those of the classes.
    Classes {
        /// The first and the last of them.
        ends: [String; 2],
        /// How many there are.
        classes: usize,
    },
    /// Labels were taken for the names of the classes' columns, or for what is behind the same word in these.
    LabelsOfColumns {
        /// The first of them.
        label: String,
        /// The column that it names.
        column: String,
    },
    /// Words were taken for labels: the word that is 0, and the word that is 1.
    LabelWords([&'static str; 2]),
    /// Two names differ in nothing but case, spaces, the form of their letters in Unicode, or invisible signs.
    SimilarNames([String; 2]),
    /// One of many names is in most rows, and may stand for rows without a name.
    StandIn {
        /// The name.
        name: String,
        /// How many rows have it, and how many there are.
        rows: [usize; 2],
    },
    /// Another sign than a comma separates the fields of a text table.
    Separator(char),
    /// Commas in numbers are decimal commas.
    DecimalCommas,
    /// The numbers of a column, of which this is the first, have points that separate thousands in other countries, and are read as decimals.
    Points(String),
    /// The header has one name fewer than the rows have fields, and the first field of each row is its name.
    RowNames,
    /// A field in quotes may have swallowed rows: a quote may be missing, or there may be one too many. These are the first and the last
    /// line of the first such field.
    LongField([u64; 2]),
    /// Rows were left out that lack a value.
    LeftOut {
        /// How many.
        rows: usize,
        /// Of how many.
        of: usize,
    },
}

impl fmt::Display for TableRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column { wanted, found } => {
                write!(f, "calib uses the column {} as {wanted}s", quoted(found))
            }
            Self::NoHeader(1) => f.write_str("the first line is data, so the column is called 0"),
            Self::NoHeader(columns) => {
                write!(f, "the first line is data, so the columns are called 0 to {}", columns - 1)
            }
            Self::NumberedColumns(1) => f.write_str(
                "the first line, 0, is used as the name of the column; if it is data, write a line with a name above it",
            ),
            Self::NumberedColumns(columns) => write!(
                f,
                "the first line, 0 to {}, is used as the names of the columns; if it is data, write a line with names above it",
                columns - 1
            ),
            Self::SecondColumn => f.write_str(
                "the second of two probabilities that sum to one is used, as the score of class 1",
            ),
            Self::Classes { ends: [first, last], classes } => {
                let (first, last) = (quoted(first), quoted(last));
                write!(f, "calib uses the columns {first} to {last} as {classes} classes")
            }
            Self::LabelsOfColumns { label, column } if label == column => {
                f.write_str("labels name the classes' columns")
            }
            Self::LabelsOfColumns { label, column } => {
                write!(f, "labels name the classes' columns: {} is {}", quoted(label), quoted(column))
            }
            Self::Separator(';') => f.write_str("semicolons separate the fields"),
            Self::Separator('\t') => f.write_str("tabs separate the fields"),
            Self::Separator(other) => {
                write!(f, "the character {} separates the fields", quoted(&other.to_string()))
            }
            Self::LabelWords([zero, one]) => {
                write!(f, "the label {zero} is read as 0, and {one} as 1")
            }
            Self::SimilarNames([one, other]) => write!(
                f,
                "{} and {} are two names, though they differ only in case, spaces or invisible characters",
                quoted(one),
                quoted(other)
            ),
            Self::StandIn { name, rows: [rows, of] } => write!(
                f,
                "{rows} of {of} rows have the name {}: does it stand for rows without a name? calib uses it as one name",
                quoted(name)
            ),
            Self::DecimalCommas => f.write_str("commas in numbers are read as decimal commas: 0,5 is 0.5"),
            Self::Points(number) => write!(
                f,
                "the point in {} is read as a decimal point; if it separates thousands, write {}",
                quoted(number),
                number.replace('.', "")
            ),
            Self::RowNames => f.write_str(
                "the header has one name fewer than the rows have fields, so the first field of each row is used as the row's name",
            ),
            Self::LongField([first, last]) => write!(
                f,
                "lines {first} to {last} are one field in quotes, and look like several rows: is a quote missing, or one too many?"
            ),
            Self::LeftOut { rows, of } => {
                let (lack, are) = if *rows == 1 { ("lacks", "is") } else { ("lack", "are") };
                write!(f, "{rows} of {of} rows {lack} a value and {are} skipped")
            }
        }
    }
}

impl TableOptions {
    /// Tells it to anyone who asked for that.
    pub(in crate::input) fn note(&self, place: &Location, remark: TableRemark) {
        if let Some(Tell(tell)) = &self.tell {
            tell(&TableNote { place: place.clone(), remark });
        }
    }

    /// Whether rows without values are left out.
    pub(in crate::input) fn leaves_out(&self) -> bool {
        !self.complete.is_empty()
    }
}
