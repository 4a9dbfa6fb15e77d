//! What can be wrong at a place in a file, and what to do about it.

use std::fmt;

use calib_core::artifact::KeyId;
use calib_core::{ParseError, ScoreEncoding};

use crate::decide::CostsError;
use crate::error::{Place, Row};
use crate::input::Format;

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// The file has no bytes.
    EmptyFile,
    /// The file or array has no rows.
    Empty,
    /// The text is not a number.
    NotANumber(String),
    /// The number is NaN.
    NaN,
    /// The number is infinite.
    Infinite,
    /// The score is outside `[0, 1]`.
    ScoreOutOfRange(f64),
    /// The probability is outside `[0, 1]`.
    ProbOutOfRange(f64),
    /// Every row is uncalibrated.
    AllUncalibrated,
    /// The number of bins is not an integer from 0 on.
    BinNumber(String),
    /// The label is not a whole number.
    LabelNotInteger(String),
    /// The label is not one of the classes `0..classes`.
    LabelOutOfRange {
        /// The label.
        label: i64,
        /// The number of classes.
        classes: usize,
    },
    /// The weight is below 0.
    NegativeWeight(f64),
    /// All weights are 0.
    NoWeight,
    /// The number of points is not a whole number from 0 on.
    Count(f64),
    /// There are more positives than points.
    Positives {
        /// The number of positives.
        positives: f64,
        /// The number of points.
        n: f64,
    },
    /// The counts add up to more than 2^53.
    TooManyPoints,
    /// The code of a score is not a whole number.
    CodeNotInteger(String),
    /// The number is not a code of the encoding.
    CodeOutOfRange {
        /// The number.
        code: i64,
        /// The encoding.
        encoding: ScoreEncoding,
    },
    /// The code stands for a score outside `[0, 1]`.
    CodeScore {
        /// The code.
        code: i64,
        /// The score.
        score: f32,
    },
    /// The scores that a row of codes stands for do not sum to one.
    CodeSum(f32),
    /// All labels are the same.
    OneClass(u8),
    /// The column is not there; these are.
    MissingColumn(Vec<String>),
    /// The column is there already, so it cannot be added.
    ColumnExists,
    /// The column is there twice.
    ColumnTwice,
    /// The row has another number of fields than the header.
    Ragged {
        /// The header's number.
        expected: u64,
        /// The row's.
        got: u64,
    },
    /// The text is not UTF-8.
    NotUtf8,
    /// The file is not what its name says.
    Format(String),
    /// The file is not of the format that its first bytes or its name promise, or is damaged.
    NotA(Format, String),
    /// The format is one that this build does not read.
    NotBuilt(Format),
    /// The line is not a JSON object.
    NotJson(String),
    /// The data are compressed with this, which is not read.
    Codec(String),
    /// Unpacked, the file is larger than this number of bytes.
    TooLarge {
        /// The limit.
        max: u64,
    },
    /// The file, which has to be read as a whole, is larger than this number of bytes.
    FileTooLarge {
        /// The limit.
        max: u64,
    },
    /// The file promises more rows than this.
    TooManyRows {
        /// The limit.
        max: u64,
    },
    /// The value is null, or the field is not in the object.
    Missing,
    /// The value is text in a format that tells numbers from text.
    Text(String),
    /// The column holds this, of which none is a number.
    NotScalar(String),
    /// Not exactly one array of the archive can be the matrix; these can.
    WhichMatrix(Vec<String>),
    /// The array's elements are of this type, not of one of those.
    Dtype {
        /// The type found.
        got: String,
        /// The types that would do.
        expected: &'static str,
    },
    /// The array has this shape.
    Shape {
        /// The shape found.
        got: Vec<u64>,
        /// What would do.
        expected: &'static str,
    },
    /// The file ends too early.
    Truncated {
        /// The length in bytes that the header promises.
        expected: u64,
        /// The length found.
        got: u64,
    },
    /// The file goes on after the data.
    TrailingBytes {
        /// The length in bytes that the header promises.
        expected: u64,
        /// The length found.
        got: u64,
    },
    /// A row of probabilities does not sum to one.
    Sum(f32),
    /// The number of classes is out of range.
    ClassCount(usize),
    /// There is another number of rows than in the other file.
    RowCount {
        /// The number here.
        got: usize,
        /// The other file or column.
        other: Box<Place>,
        /// The number there.
        expected: usize,
    },
    /// The file is larger than any artefact.
    ArtifactTooLarge {
        /// Its length.
        len_bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The file is not an artefact.
    Artifact(ParseError),
    /// The artefact's identity is not the hash of its content.
    Identity,
    /// The file holds no key of this kind.
    Key {
        /// Whether the key should be private.
        private: bool,
    },
    /// The artefact is signed already, with this key.
    Signed(KeyId),
    /// The costs file is not one.
    Costs(CostsError),
}

/// The type of an array of codes.
pub(crate) const CODES: &str = "integer codes";
/// The types of an array of scores, logits or probabilities.
pub(crate) const FLOATS: &str = "float16, float32 or float64";

/// Whether it is NumPy's name of a type of integers.
fn is_integer(dtype: &str) -> bool {
    dtype.trim_start_matches(['<', '>', '=', '|']).starts_with(['i', 'u'])
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyFile => f.write_str("the file is empty"),
            Self::Empty => f.write_str("there are no rows"),
            Self::NotANumber(text) if text.is_empty() => f.write_str("the field is empty"),
            Self::NotANumber(text) => write!(f, "{} is not a number", quoted(text)),
            Self::NaN => f.write_str("the value is NaN"),
            Self::Infinite => f.write_str("the value is infinite"),
            Self::ScoreOutOfRange(value) => write!(f, "the score {value} is outside [0, 1]"),
            Self::ProbOutOfRange(value) => write!(f, "the probability {value} is outside [0, 1]"),
            Self::AllUncalibrated => f.write_str("no row has a probability: all are uncalibrated"),
            Self::BinNumber(text) => write!(f, "{} is not a bin number", quoted(text)),
            Self::LabelNotInteger(text) => write!(f, "{} is not a whole number", quoted(text)),
            Self::LabelOutOfRange { label, classes } => {
                write!(f, "the label {label} is out of range: the {classes} classes are 0 to {}", classes - 1)
            }
            Self::NegativeWeight(weight) => write!(f, "the weight {weight} is below 0"),
            Self::NoWeight => f.write_str("all weights are 0"),
            Self::Count(count) => write!(f, "{count} is not a whole number of points"),
            Self::Positives { positives, n } => write!(f, "{positives} positives of {n} points"),
            Self::TooManyPoints => f.write_str("the counts add up to more than 2^53 points"),
            Self::CodeNotInteger(text) => write!(f, "{} is not a whole number", quoted(text)),
            Self::CodeOutOfRange { code, encoding } => {
                let (lowest, highest) = encoding.code_range().unwrap_or_default();
                write!(f, "{code} is not a code: {encoding} has those from {lowest} to {highest}")
            }
            Self::CodeScore { code, score } => {
                write!(f, "the code {code} stands for the score {score}, which is outside [0, 1]")
            }
            Self::CodeSum(sum) => write!(f, "the codes stand for probabilities that sum to {sum}, not to 1"),
            Self::OneClass(label) => write!(f, "all labels are {label}"),
            Self::MissingColumn(_) => f.write_str("there is no such column"),
            Self::ColumnExists => f.write_str("the column to be added is there already"),
            Self::ColumnTwice => f.write_str("the column is there twice"),
            Self::Ragged { expected, got } => {
                write!(f, "the number of fields is {got}, the header has {expected}")
            }
            Self::NotUtf8 => f.write_str("the text is not UTF-8"),
            Self::Format(why) => f.write_str(why),
            Self::NotA(format, why) => write!(f, "not {format}: {}", one_line(why)),
            Self::NotBuilt(format) => {
                write!(f, "this is {format}, and this calib was built without the feature that reads it")
            }
            Self::NotJson(why) => write!(f, "not a JSON object: {}", one_line(why)),
            Self::Codec(codec) => {
                write!(f, "the data are compressed with {}, which is not read", one_line(codec))
            }
            Self::FileTooLarge { max } => {
                write!(f, "larger than {} GiB, which is the most that is read as a whole", max >> 30)
            }
            Self::TooManyRows { max } => write!(f, "more than {max} rows"),
            Self::TooLarge { max } => {
                write!(f, "unpacked, the data are larger than {} GiB", max >> 30)
            }
            Self::Missing => f.write_str("the value is missing"),
            Self::Text(text) => write!(f, "{} is text, not a number", quoted(text)),
            Self::NotScalar(what) => write!(f, "the column holds {}, not numbers", one_line(what)),
            Self::WhichMatrix(there) if there.is_empty() => {
                f.write_str("there is no array of two dimensions")
            }
            Self::WhichMatrix(_) => f.write_str("there is more than one array of two dimensions"),
            Self::Dtype { got, expected } => {
                write!(f, "the dtype is {}, expected {expected}", one_line(got))
            }
            Self::Shape { got, expected } => {
                let sizes: Vec<String> = got.iter().map(u64::to_string).collect();
                let comma = if got.len() == 1 { "," } else { "" };
                write!(f, "the shape is ({}{comma}), expected {expected}", sizes.join(", "))
            }
            Self::Truncated { expected, got } => {
                write!(f, "the file is cut off: {got} of {expected} bytes are there")
            }
            Self::TrailingBytes { expected, got } => {
                write!(f, "the file has {got} bytes where its header promises {expected}")
            }
            Self::Sum(sum) => write!(f, "the probabilities sum to {sum}, not to 1"),
            Self::ClassCount(n) => {
                write!(
                    f,
                    "the number of classes is {n}, a classifier has 2 to {}",
                    calib_core::score::MAX_CLASSES
                )
            }
            Self::RowCount { got, other, expected } => {
                write!(f, "{got} rows, but {other} has {expected}")
            }
            Self::ArtifactTooLarge { len_bytes, max } => {
                write!(f, "{len_bytes} bytes are more than any artefact has ({max})")
            }
            Self::Artifact(ParseError::Blank) => {
                f.write_str("there is no artefact: the file is empty or blank")
            }
            Self::Artifact(cause) => cause.fmt(f),
            Self::Identity => {
                f.write_str("the identity is not the hash of the content: the artefact was altered")
            }
            Self::Key { private } => {
                write!(f, "not a {} Ed25519 key in PEM", if *private { "private" } else { "public" })
            }
            Self::Signed(key) => write!(f, "the artefact is signed already, with key {key}"),
            Self::Costs(cause) => cause.fmt(f),
        }
    }
}

impl Problem {
    /// What to do about it.
    pub(crate) fn hint(&self, place: &Place) -> Option<String> {
        Some(match self {
            Self::EmptyFile | Self::Empty => "give a file with at least one row of data".into(),
            Self::ScoreOutOfRange(_) => {
                "a score is the classifier's output for class 1 in [0, 1]; a logit z becomes 1 / (1 + exp(-z))".into()
            }
            Self::ProbOutOfRange(_) if matches!(place.row, Some(Row::Line(_))) => {
                "name the column of probabilities with --prob-column".into()
            }
            Self::ProbOutOfRange(_) | Self::Sum(_) => "if these are logits, use --logits instead of --probs".into(),
            Self::AllUncalibrated => "assess rows that a calibrated class was predicted for".into(),
            Self::NaN
            | Self::Infinite
            | Self::NotANumber(_)
            | Self::Missing
            | Self::BinNumber(_)
            | Self::Ragged { .. } => "remove or repair the row".into(),
            Self::Text(_) => "write numbers as numbers, without quotes".into(),
            Self::LabelNotInteger(_) | Self::LabelOutOfRange { .. } => {
                "labels are class indices from 0 on; for binary data 0 and 1".into()
            }
            Self::NegativeWeight(_) => "a weight is a number from 0 on".into(),
            Self::NoWeight => "give at least one row a weight above 0".into(),
            Self::Count(_) => {
                "beside --positives-column, --weight-column holds the number of points of each row".into()
            }
            Self::Positives { .. } => {
                "--weight-column is the number of points of a row, --positives-column how many of them have label 1".into()
            }
            Self::TooManyPoints => "divide the counts, or use a sample".into(),
            Self::CodeNotInteger(_) | Self::CodeOutOfRange { .. } | Self::Dtype { expected: CODES, .. } => {
                "codes are the classifier's integer outputs, before they are multiplied by the scale".into()
            }
            Self::CodeScore { .. } | Self::CodeSum(_) => {
                "a score is scale * (code - zero point): check --scale and --zero-point; for TFLite's int8 softmax they are 1/256 and -128".into()
            }
            Self::OneClass(_) => "the data must hold both labels, 0 and 1".into(),
            Self::MissingColumn(there) => {
                format!("the columns are {}: choose with --score-column, --label-column or the like", list(there))
            }
            Self::NotScalar(_) => "choose another column with --score-column, --label-column or the like".into(),
            Self::WhichMatrix(there) if there.is_empty() => "give a matrix of shape (rows, classes)".into(),
            Self::WhichMatrix(there) => {
                format!("the arrays are {}: choose with --score-column", list(there))
            }
            Self::ColumnTwice => "rename one of the two".into(),
            Self::NotUtf8 => "save the file as UTF-8".into(),
            Self::Shape { .. } => {
                "--scores and --labels take arrays of shape (rows,), --logits and --probs of (rows, classes)".into()
            }
            Self::ClassCount(1) => "for the scores of class 1 of a binary classifier use --scores".into(),
            Self::ColumnExists => {
                format!("{} looks like an earlier output; apply to the original file", place.file.display())
            }
            Self::Dtype { got, expected: FLOATS } if is_integer(got) => {
                "for the codes of a quantised classifier fit with --score-encoding; else convert it with NumPy's astype".into()
            }
            Self::Dtype { .. } => "convert it with NumPy's astype".into(),
            Self::Truncated { .. } | Self::TrailingBytes { .. } => "save or copy the file again".into(),
            Self::RowCount { .. } => "every row needs one score and one label".into(),
            Self::NotA(format, _) => match format {
                Format::Npy => "write it with numpy.save".into(),
                Format::Npz => "write it with numpy.savez".into(),
                Format::Gzip => "compress or copy the file again".into(),
                Format::ArrowFile | Format::ArrowStream | Format::Parquet => {
                    "write or copy the file again; pandas does it with to_feather and to_parquet".into()
                }
                Format::Csv | Format::JsonLines => "save or copy the file again".into(),
            },
            Self::NotBuilt(_) => "convert it to CSV, or install calib with its default features".into(),
            Self::NotJson(_) => {
                "write one object a line; pandas does it with to_json(orient=\"records\", lines=True)".into()
            }
            Self::Codec(_) => "compress them with snappy, lz4, zstd or gzip".into(),
            Self::FileTooLarge { .. } => {
                "write the scores and labels of a binary problem as Parquet or NumPy arrays: calib fit reads them piece by piece".into()
            }
            Self::TooManyRows { .. } => "aggregate the rows by score".into(),
            Self::TooLarge { .. } => "give fewer rows, or only the columns that are needed".into(),
            Self::Artifact(ParseError::Blank | ParseError::Magic) => "give a file that `calib fit` wrote".into(),
            Self::Artifact(ParseError::FormatVersion(_) | ParseError::UnknownSection(_)) => {
                "install a newer version of calib".into()
            }
            Self::Key { private: true } => "make a pair of keys with `calib keygen`, and give the one without .pub".into(),
            Self::Key { private: false } => "make a pair of keys with `calib keygen`, and give the .pub file".into(),
            Self::Signed(_) => "sign the artefact that `calib fit` wrote".into(),
            Self::Artifact(_) | Self::Identity | Self::ArtifactTooLarge { .. } => {
                "write the artefact again with `calib fit`".into()
            }
            Self::Costs(cause) => return cause.hint().map(str::to_owned),
            _ => return None,
        })
    }
}

/// Names from a file.
fn list(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

/// Text from a file, in quotes, with control characters escaped, and short.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// The start of what a parser says.
fn one_line(text: &str) -> String {
    text.chars().take_while(|c| !c.is_control()).take(100).collect()
}
