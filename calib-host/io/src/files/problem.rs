//! What can be wrong at a place in a file.

use calib_core::artifact::KeyId;
use calib_core::{ParseError, ScoreEncoding};

use super::chain_error::ChainError;
use super::costs_error::CostsError;
use super::format::Format;
use super::location::Location;
use super::missing::is_missing;
use super::protocol_error::{LogError, ProtocolError};
use super::unsupported::UnsupportedFormat;

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file has no bytes.
    #[error("the file is empty")]
    EmptyFile,
    /// The file or array has no rows.
    #[error("there are no rows")]
    Empty,
    /// The text is not a number.
    #[error("{}", not_a_number(.0))]
    NotANumber(String),
    /// The number is not 0, and nearer to 0 than any float.
    #[error("{0} is not 0, and smaller than the smallest 64-bit float")]
    TooSmall(String),
    /// The whole number is beyond those of 64 bits.
    #[error("{0} is beyond the whole numbers of 64 bits")]
    Huge(String),
    /// The number is NaN.
    #[error("the value is NaN")]
    NaN,
    /// The number is infinite.
    #[error("the value is infinite")]
    Infinite,
    /// The logit is infinite.
    #[error("the logit is infinite")]
    InfiniteLogit,
    /// The score is outside `[0, 1]`.
    #[error("the score {0} is outside [0, 1]")]
    ScoreOutOfRange(f64),
    /// The score is a number, but too large for an `f32`.
    #[error("the score {0} is beyond the largest 32-bit float")]
    TooLarge32(f64),
    /// The probability is outside `[0, 1]`.
    #[error("the probability {0} is outside [0, 1]")]
    ProbOutOfRange(f64),
    /// Every row is uncalibrated.
    #[error("no row has a probability: all are uncalibrated")]
    AllUncalibrated,
    /// The number of bins is not an integer from 0 on.
    #[error("{} is not a bin number", quoted(.0))]
    BinNumber(String),
    /// The label is not a whole number.
    #[error("{} is not a whole number", quoted(.0))]
    LabelNotInteger(String),
    /// The label is not one of the classes `0..classes`.
    #[error("the label {label} is out of range: the {classes} classes are 0 to {}", classes - 1)]
    LabelOutOfRange {
        /// The label.
        label: i64,
        /// The number of classes.
        classes: usize,
    },
    /// The labels are those of the classes, counted from 1.
    #[error("the labels are 1 to {classes}: they count from 1, and the {classes} classes are 0 to {}", classes - 1)]
    LabelsFrom1 {
        /// The number of classes.
        classes: usize,
    },
    /// The labels are of two kinds, but not 0 and 1.
    #[error("the labels are {} and {}, not 0 and 1", shown_label(&.0[0]), shown_label(&.0[1]))]
    TwoLabels([String; 2]),
    /// The labels are of two kinds, and a third number that may stand for a missing value.
    #[error("the labels are {}, {} and {code}, which may stand for a missing value", labels[0], labels[1])]
    MissingCode {
        /// The labels.
        labels: [String; 2],
        /// The number.
        code: i64,
    },
    /// No label is the one that was set as class 1.
    #[error("no label is {}, which you specified as class 1: {}", shown_label(positive), those(labels))]
    NoPositive {
        /// The label that was set as class 1.
        positive: String,
        /// The first labels that occur.
        labels: Vec<String>,
    },
    /// The label is neither of the two that a binary classifier tells apart.
    #[error("the label {} is neither {}, which is class 1, nor {}, which came before", shown_label(label), shown_label(&labels[0]), shown_label(&labels[1]))]
    ThirdLabel {
        /// The label.
        label: String,
        /// That of class 1, and that of class 0.
        labels: [String; 2],
    },
    /// The same is wrong in several rows.
    #[error("{problem}; {rows} of {of} rows {} a value in this column", if *rows == 1 { "lacks" } else { "lack" })]
    Gaps {
        /// What is wrong.
        problem: Box<Problem>,
        /// In so many rows.
        rows: usize,
        /// Of so many.
        of: usize,
    },
    /// The weight is below 0.
    #[error("the weight {0} is below 0")]
    NegativeWeight(f64),
    /// All weights are 0.
    #[error("all weights are 0")]
    NoWeight,
    /// The number of points is not a whole number from 0 on.
    #[error("{0} is not a whole number of observations")]
    Count(f64),
    /// There are more positives than points.
    #[error("{positives} positives of {n} observations")]
    Positives {
        /// The number of positives.
        positives: f64,
        /// The number of points.
        n: f64,
    },
    /// The counts add up to more than 2^53.
    #[error("the counts add up to more than 2^53 observations")]
    TooManyPoints,
    /// The code of a score is not a whole number.
    #[error("{} is not a whole number", quoted(.0))]
    CodeNotInteger(String),
    /// The number is not a code of the encoding.
    #[error("{code} is not a code: {encoding} has those from {} to {}", code_range(*encoding).0, code_range(*encoding).1)]
    CodeOutOfRange {
        /// The number.
        code: i64,
        /// The encoding.
        encoding: ScoreEncoding,
    },
    /// The code stands for a score outside `[0, 1]`.
    #[error("the code {code} stands for the score {score}, which is outside [0, 1]")]
    CodeScore {
        /// The code.
        code: i64,
        /// The score.
        score: f32,
    },
    /// The code of one of several classes stands for a score outside `[0, 1]`.
    #[error("the code {code} stands for the score {score}, which is outside [0, 1]")]
    CodeProb {
        /// The code.
        code: i64,
        /// The score.
        score: f32,
    },
    /// The scores that a row of codes stands for do not sum to one.
    #[error("the codes stand for probabilities that sum to {0}, not to 1")]
    CodeSum(f32),
    /// The column is not there; these are.
    #[error("there is no such column")]
    MissingColumn(Vec<String>),
    /// The column is not there; each of these may be it.
    #[error("there is no such column, and several that may be it: {}", .0.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))]
    WhichColumn(Vec<String>),
    /// The column is there already, so it cannot be added.
    #[error("the column to be added already exists")]
    ColumnExists,
    /// The column is there twice.
    #[error("the column occurs twice")]
    ColumnTwice,
    /// The row has another number of fields than the header.
    #[error("the number of fields is {got}, the header has {expected}")]
    Ragged {
        /// The header's number.
        expected: u64,
        /// The row's.
        got: u64,
    },
    /// The text is not UTF-8.
    #[error("the text is not UTF-8, and may be Latin-1 or Windows-1252")]
    NotUtf8,
    /// The text is UTF-16, of which a character is damaged or cut off.
    #[error("the text is UTF-16, and a character is damaged or cut off here")]
    NotUtf16,
    /// A field begins with a quote, and no other quote ends it.
    #[error("a quote opens a field here, and no quote closes it")]
    OpenQuote,
    /// A field begins with a quote, and there is text between the quote that ends it and the next separator.
    #[error("a quote opens a field here, and text follows the quote that closes it, on line {line}")]
    TextAfterQuote {
        /// The line of that text.
        line: u64,
    },
    /// The number has a comma or a point that may separate thousands, and no number of the column tells that it is decimal.
    #[error("the {sign} in {} may separate thousands or be a decimal {sign}", quoted(.0), sign = sign_of(.0))]
    Thousands(String),
    /// The file is an artifact, where data are wanted.
    #[error("this is a calib artifact, not data")]
    IsArtifact,
    /// The file is a pickle.
    #[error("this is a pickle, which is not read: reading one may run any program")]
    Pickle,
    /// The file is a spreadsheet.
    #[error("this is a spreadsheet, which is not read")]
    Spreadsheet,
    /// The file is of a format that is not read.
    #[error("this is {0}, which is not read")]
    Unsupported(UnsupportedFormat),
    /// The file is not what its name says.
    #[error("{0}")]
    Format(String),
    /// The file is not of the format that its first bytes or its name state, or is damaged.
    #[error("not {}: {}", .0, start_of(.1))]
    NotA(Format, String),
    /// The format is one that this build does not read.
    #[error("this is {0}, and this calib was built without the feature that reads it")]
    NotBuilt(Format),
    /// The line is not a JSON object.
    #[error("not a JSON object: {}", start_of(.0))]
    NotJson(String),
    /// The data are compressed with this, which is not read.
    #[error("the data are compressed with {}, which is not read", start_of(.0))]
    Codec(String),
    /// Unpacked, the file is larger than this number of bytes.
    #[error("unpacked, the data are larger than {}", size(*max))]
    TooLarge {
        /// The limit.
        max: u64,
    },
    /// The file, which has to be read as a whole, is larger than this number of bytes.
    #[error("larger than {}, which is the most that is read as a whole", size(*max))]
    FileTooLarge {
        /// The limit.
        max: u64,
    },
    /// In memory the rows take more than this number of bytes.
    #[error("in memory its rows take more than {}", size(*max))]
    TableTooLarge {
        /// The limit.
        max: u64,
    },
    /// A record is longer than this number of bytes.
    #[error("a row is longer than {}", size(*max))]
    RowTooLong {
        /// The limit.
        max: u64,
    },
    /// The header has more names than this.
    #[error("there are more than {max} columns")]
    TooManyColumns {
        /// The limit.
        max: usize,
    },
    /// The file states more rows than this.
    #[error("more than {max} rows")]
    TooManyRows {
        /// The limit.
        max: u64,
    },
    /// The value is null, or the field is not in the object.
    #[error("the value is missing")]
    Missing,
    /// The name is a sign that stands for no value in many tables.
    #[error("{} may stand for a missing value, and is no name", quoted(.0))]
    NotAName(String),
    /// The value is text in a format that tells numbers from text.
    #[error("{} is text, not a number", quoted(.0))]
    Text(String),
    /// The column holds this, of which none is a number.
    #[error("the column holds {}, not numbers", start_of(.0))]
    NotScalar(String),
    /// The object is a whole table, or holds no value that a row has.
    #[error("the values of the object are lists or objects, and not those of one row")]
    NestedRow,
    /// Not exactly one array of the archive can be the matrix; these can.
    #[error("there is {} array of two dimensions", if .0.is_empty() { "no" } else { "more than one" })]
    WhichMatrix(Vec<String>),
    /// Not exactly one group of the table's columns can be the classes; these can.
    #[error("several groups of columns may be the classes")]
    WhichClasses(Vec<String>),
    /// No columns of the table look like classes; these are there.
    #[error("no columns are numbered as classes are")]
    NoClasses(Vec<String>),
    /// The array's elements are of this type, not of one of those.
    #[error("the dtype is {}, expected {expected}", start_of(got))]
    Dtype {
        /// The type found.
        got: String,
        /// The types that would do.
        expected: &'static str,
    },
    /// The array has this shape.
    #[error("the shape is {}, expected {expected}", tuple(got))]
    Shape {
        /// The shape found.
        got: Vec<u64>,
        /// What would do.
        expected: &'static str,
    },
    /// The file ends too early.
    #[error("the file is cut off: {got} of {expected} bytes are there")]
    Truncated {
        /// The length in bytes that the header states.
        expected: u64,
        /// The length found.
        got: u64,
    },
    /// The file goes on after the data.
    #[error("the file has {got} bytes, and its header states {expected}")]
    TrailingBytes {
        /// The length in bytes that the header states.
        expected: u64,
        /// The length found.
        got: u64,
    },
    /// A row of probabilities does not sum to one.
    #[error("the probabilities sum to {0}, not to 1")]
    Sum(f32),
    /// The number of classes is out of range.
    #[error("the number of classes is {0}, a classifier has 2 to {max}", max = calib_core::score::MAX_CLASSES)]
    ClassCount(usize),
    /// There is another number of rows than in the other file.
    #[error("{got} rows, but {other} has {expected}")]
    RowCount {
        /// The number here.
        got: usize,
        /// The other file or column.
        other: Box<Location>,
        /// The number there.
        expected: usize,
    },
    /// The file is larger than any artifact.
    #[error("the file is larger than any artifact, which has at most {}", size(*max))]
    ArtifactTooLarge {
        /// The limit.
        max: u64,
    },
    /// The file is not an artifact.
    #[error("{}", no_artifact(.0))]
    Artifact(ParseError),
    /// The artifact's identity is not the hash of its content.
    #[error("the identity is not the hash of the content: the artifact was altered")]
    Identity,
    /// The private key is encrypted.
    #[error("the private key is encrypted")]
    EncryptedKey,
    /// The key is in DER.
    #[error("a key in DER, where one in PEM is read")]
    DerKey {
        /// Whether a private key was looked for.
        private: bool,
    },
    /// The file holds no key of this kind.
    #[error("not a {} Ed25519 key in PEM", if *private { "private" } else { "public" })]
    Key {
        /// Whether the key should be private.
        private: bool,
    },
    /// The file is no chain of keys, or does not go with the key or the artifact.
    #[error(transparent)]
    Chain(ChainError),
    /// The artifact is signed already, with this key.
    #[error("the artifact is signed already, with key {0}")]
    Signed(KeyId),
    /// The artifact has no counter, or the counter 0.
    #[error(
        "the artifact has no rollback counter: anyone who has an older signed artifact could replace this one with it"
    )]
    NoCounter,
    /// The costs file is not one.
    #[error(transparent)]
    Costs(CostsError),
    /// The protocol is not one.
    #[error(transparent)]
    Protocol(ProtocolError),
    /// The log of decisions is not whole.
    #[error(transparent)]
    Log(LogError),
}

impl Problem {
    /// The type of an array of codes, in a [`Problem::Dtype`].
    pub const CODES: &'static str = "integer codes";
    /// The types of an array of scores, logits or probabilities, in a [`Problem::Dtype`].
    pub const FLOATS: &'static str = "float16, float32 or float64";

    /// The same problem, if several rows of a column have it.
    pub(crate) fn of_rows(self, rows: usize, of: usize) -> Self {
        match rows {
            0 | 1 => self,
            _ => Self::Gaps { problem: Box::new(self), rows, of },
        }
    }

    /// Whether a value is not there.
    pub(crate) fn is_missing(&self) -> bool {
        match self {
            Self::Missing | Self::NaN => true,
            Self::NotANumber(text) => is_missing(text),
            _ => false,
        }
    }
}

/// Text from a file, in quotes, with control characters escaped, and short.
///
/// ```
/// assert_eq!(calib_io::files::quoted("a\tb"), r#""a\tb""#);
/// ```
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// The start of what a parser says.
fn start_of(text: &str) -> String {
    text.chars().take_while(|c| !c.is_control()).take(100).collect()
}

/// The sign of a number that may separate thousands.
fn sign_of(number: &str) -> &'static str {
    if number.contains(',') { "comma" } else { "point" }
}

fn not_a_number(text: &str) -> String {
    if text.is_empty() { "the field is empty".into() } else { format!("{} is not a number", quoted(text)) }
}

/// A label: a number as it is, a word in quotes.
fn shown_label(label: &str) -> String {
    if label.parse::<f64>().is_ok() { label.into() } else { quoted(label) }
}

/// The labels that occur, of which a few are shown.
fn those(labels: &[String]) -> String {
    /// More are not shown.
    const SHOWN: usize = 6;
    let shown: Vec<String> = labels.iter().take(SHOWN).map(|label| shown_label(label)).collect();
    match shown.split_last() {
        Some((only, [])) => format!("all are {only}"),
        Some((last, others)) if labels.len() == shown.len() => {
            format!("they are {} and {last}", others.join(", "))
        }
        _ => format!("they are {} and others", shown.join(", ")),
    }
}

fn code_range(encoding: ScoreEncoding) -> (i32, i32) {
    encoding.code_range().unwrap_or_default()
}

/// A limit in the largest unit of which it is a multiple.
fn size(len_bytes: u64) -> String {
    if len_bytes >= 1 << 30 { format!("{} GiB", len_bytes >> 30) } else { format!("{} MiB", len_bytes >> 20) }
}

/// A shape as Python writes it.
fn tuple(sizes: &[u64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    format!("({}{comma})", sizes.join(", "))
}

fn no_artifact(cause: &ParseError) -> String {
    match cause {
        ParseError::Blank => "there is no artifact: the file is empty or blank".into(),
        cause => cause.to_string(),
    }
}
