//! What to do about an error: the next command, or the option that fixes it.

mod columns;
mod device;

use std::io;

use calib_core::ParseError;
use calib_fit::decide::{ActionsError, CostError};
use calib_fit::fleet::{FleetError, LogError, RecalibrateError};
use calib_fit::operating::OperatingError;
use calib_fit::passes::PassError;
use calib_io::bundle::BundleError;
use calib_io::export::ExportError;
use calib_io::files::{
    ChainError, CostsError, FileError, Location, OutputError, Problem, ProtocolError, Row, UnsupportedFormat,
    is_missing,
};
use calib_io::input::are_thousands;

use self::columns::{list, missing_column};
use crate::dash::no_option;
use crate::error::{Error, GuaranteeError, option};

/// What to do about an error.
pub(crate) fn hint(error: &Error) -> Option<String> {
    match error {
        Error::SameRows { .. } => Some(
            "evaluate on rows used for neither training nor calibration; --same-rows continues anyway".into(),
        ),
        Error::File(error) => of_file(error),
        Error::Fit { cause, .. } => cause.hint().map(|hint| hint.with_names(option)),
        Error::Compile(cause) => cause.hint().map(|hint| hint.with_names(option)),
        Error::Guarantee { cause: GuaranteeError::Operating(cause), .. } => of_operating(cause),
        Error::Recalibrate { cause: RecalibrateError::NoOutcome, .. } => Some(
            "`calib label` reports outcomes to a device; `calib status --counters` reads what it counted"
                .into(),
        ),
        Error::Fleet { cause: FleetError::NoMonitors, .. }
        | Error::Log { cause: LogError::NoMonitors, .. } => {
            Some("fit it with --monitor: this stores what devices and this command compare with".into())
        }
        Error::Pass { cause, .. } => of_pass(cause),
        Error::Bundle { path, cause: BundleError::Unsigned } => {
            let artifact = no_option(path.display().to_string());
            let artifact = shlex::try_quote(&artifact).unwrap_or_default();
            Some(format!("sign it: `calib sign {artifact} --key KEY -o signed.bin`"))
        }
        Error::Export(cause) => of_export(cause),
        Error::Output(error) => of_output(error),
        Error::Device(error) => device::of_device(error),
        #[cfg(feature = "serial")]
        Error::Outcome { cause, .. } => device::of_device(cause),
        Error::Flash(error) => device::of_flash(error),
        _ => None,
    }
}

/// What to do where counts do not stand for all rows.
fn of_pass(error: &PassError) -> Option<String> {
    Some(match error {
        PassError::Draws(_) => "give `calib fit` a row for every observation".into(),
        PassError::EveryScore(_) => {
            "count rows by score, each as a 32-bit float, and fit the counts: --scores and --count-columns"
                .into()
        }
        PassError::Missing { .. } => {
            "run the query that `calib sql --pass1` prints with the method and options of this fit".into()
        }
        PassError::Group { cause, .. } => return of_pass(cause),
        PassError::Differs { .. } | PassError::Unknown { .. } | PassError::UnknownGroup(_) => {
            "run both queries again, on rows that do not change in between".into()
        }
        _ => return None,
    })
}

/// What to do where points are too few.
fn of_operating(error: &OperatingError) -> Option<String> {
    match error {
        OperatingError::NoAim => Some("give --sensitivity, --specificity or both".into()),
        OperatingError::TooFew { group: None, .. } => Some(
            "a lower level or confidence needs fewer; `calib plan --sensitivity` or `--specificity` prints how many, and with \
             --prevalence how many rows"
                .into(),
        ),
        OperatingError::TooFew { .. } => Some(
            "leave out the group's rows, or the groups; --common-threshold has one threshold for all, which needs fewer in each"
                .into(),
        ),
        _ => None,
    }
}

fn of_output(error: &OutputError) -> Option<String> {
    Some(match error {
        OutputError::FolderExists(_) => "give another name with -o, or remove the folder first".into(),
        OutputError::Exists(_) => "add --force to replace it".into(),
        OutputError::IsInput(_) => {
            "give another name with -o: calib never replaces an input, not even with --force".into()
        }
        OutputError::DiskFull(path) => {
            format!("free some space, or write elsewhere than {}", path.display())
        }
        OutputError::OnlyPrivateKey { path, .. } => {
            // No path holds a zero, which is all that cannot be quoted.
            let [key, public] = ["", ".pub"].map(|end| no_option(format!("{}{end}", path.display())));
            let [key, public] = [&key, &public].map(|path| shlex::try_quote(path).unwrap_or_default());
            format!("make it with `openssl pkey -in {key} -pubout -out {public}`")
        }
        OutputError::NotAFile(_) => "give the name of a file with -o".into(),
        OutputError::Io { path, source } if source.kind() == io::ErrorKind::NotFound => {
            format!("create the folder of {} first", path.display())
        }
        _ => return None,
    })
}

/// What to do about a file.
fn of_file(error: &FileError) -> Option<String> {
    match error {
        FileError::Input { problem, place } => of_problem(problem, place),
        FileError::Read { path, .. } if path.is_dir() => Some(
            "give the name of one file; of a folder of parts make one, as pandas does with read_parquet(folder).to_parquet(file)".into(),
        ),
        FileError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Some("check the name; a relative path starts in the current folder".into())
        }
        FileError::Spill { .. } => {
            Some("set TMPDIR to a folder on a disk with 4 bytes a row to spare".into())
        }
        _ => None,
    }
}

/// What codes are.
const CHECK_SCALE: &str = "a score is scale * (code - zero point): check the scale and the zero point of --score-encoding; for \
                           TFLite's int8 softmax it is i8,1/256,-128";

/// What to do about a row that lacks a value.
const DROP: &str = "fix the row, or add --drop-missing to skip incomplete rows (calib reports how many)";

/// What to do about percent.
const PERCENT: &str =
    "if these are percentages, divide them by 100, as pandas does with table[\"score\"] / 100";

/// Whether a number that is no probability is one of those that percent are; logits are mostly smaller.
fn is_percent(number: f64) -> bool {
    number > 2.0 && number <= 100.0
}

/// What labels are.
const INDICES: &str = "labels are class indices from 0 on; for binary data 0 and 1";

/// The option that makes a label class 1.
fn positive(label: &str) -> String {
    // No label holds a zero, which is all that cannot be quoted.
    let sign = if label.starts_with('-') { '=' } else { ' ' };
    format!("--positive-label{sign}{}", shlex::try_quote(label).unwrap_or_default())
}

/// What to do about a value, or what values add up to.
fn of_problem(problem: &Problem, place: &Location) -> Option<String> {
    Some(match problem {
        Problem::EmptyFile | Problem::Empty => "give a file with at least one row of data".into(),
        Problem::ScoreOutOfRange(score) if is_percent(*score) => {
            format!("{PERCENT}; for raw scores use --margins instead of --scores")
        }
        Problem::ProbOutOfRange(prob) if is_percent(*prob) && matches!(place.row, Some(Row::Line(_))) => {
            format!("{PERCENT}; else name the column of probabilities with --prob-column")
        }
        Problem::ProbOutOfRange(prob) if is_percent(*prob) => {
            "if these are logits, use --logits instead of --probs; if they are percentages, divide them by 100".into()
        }
        Problem::Sum(sum) if (99.0..=101.0).contains(sum) => PERCENT.into(),
        Problem::NotANumber(text) if text.ends_with('%') => {
            "write percent as fractions: 87.3% is 0.873".into()
        }
        Problem::NotAName(_) => "write an empty cell where nobody knows the name; or another name, if this is one".into(),
        Problem::Thousands(text) => of_thousands(text),
        Problem::NotANumber(text) if are_thousands(text) => of_thousands(text),
        Problem::NotANumber(text) if with_commas(text).is_some_and(|text| are_thousands(&text)) => {
            let number = with_commas(text).unwrap_or_default().replace(',', "");
            format!("write {number} for {text}: no sign separates thousands")
        }
        Problem::TextAfterQuote { .. } if place.row == Some(Row::Line(1)) => {
            "separate fields by a comma, a semicolon, a tab or | (R: write.csv; NumPy: delimiter=\",\"); or write each quote in a field twice"
                .into()
        }
        Problem::OpenQuote | Problem::TextAfterQuote { .. } => {
            "remove the quote; or write the whole field in quotes, and each quote in it twice: \"5\"\" pipe\"".into()
        }
        Problem::NotANumber(text) if text.replacen(',', ".", 1).parse::<f64>().is_ok() => format!(
            "write {} for {text}; decimal commas are read where ; or a tab separates the fields, and no number has a point",
            text.replacen(',', ".", 1)
        ),
        Problem::ScoreOutOfRange(score) if (-1e-6..=1.000_001).contains(score) => {
            "rounding took the score out of [0, 1]: clip it, as NumPy does with scores.clip(0, 1)".into()
        }
        Problem::ScoreOutOfRange(score) => {
            // Percent may begin with one that is as small as a logit.
            let percent = if *score > 1.0 { "divide percentages by 100; " } else { "" };
            format!(
                "a score is the classifier's output for class 1 in [0, 1]; {percent}for logits and other raw scores use --margins \
                 instead of --scores"
            )
        }
        Problem::ProbOutOfRange(_) if matches!(place.row, Some(Row::Line(_))) => {
            "name the column of probabilities with --prob-column".into()
        }
        // Of two decimals each, or of codes of 8 bits.
        Problem::Sum(sum) if (0.79..=1.21).contains(sum) => {
            "if rounding did it, write more decimals, or divide each row by its sum; if these are logits, use --logits instead of --probs"
                .into()
        }
        Problem::ProbOutOfRange(_) | Problem::Sum(_) => "if these are logits, use --logits instead of --probs".into(),
        Problem::AllUncalibrated => {
            "assess rows whose class is calibrated, and whose bins hold calibration observations".into()
        }
        // A row without a probability is uncalibrated, which is no reason to leave it out.
        Problem::NaN if place.column.as_deref() == Some("prob") => "remove or repair the row".into(),
        Problem::NaN | Problem::Missing | Problem::Gaps { .. } => DROP.into(),
        Problem::NotANumber(text) | Problem::LabelNotInteger(text) if is_missing(text) => DROP.into(),
        Problem::TooSmall(_) => "write 0, if it is as good as that; else repair the row".into(),
        Problem::InfiniteLogit => {
            "to mask a class, write a finite logit such as -1e9 for -inf, as NumPy does with `numpy.maximum(logits, -1e9)`".into()
        }
        Problem::TooLarge32(value) if *value < 0.0 => {
            "remove or repair the row; to mask a class, write a logit such as -1e9".into()
        }
        Problem::Infinite
        | Problem::TooLarge32(_)
        | Problem::NotANumber(_)
        | Problem::BinNumber(_) => "remove or repair the row".into(),
        Problem::Ragged { expected, got } => ragged(*expected, *got),
        Problem::Text(_) => "write numbers as numbers, without quotes".into(),
        Problem::TwoLabels(labels) => {
            let [first, second] = labels.each_ref().map(|label| positive(label));
            format!("specify which of them is class 1: {first} or {second}")
        }
        Problem::MissingCode { labels: [first, second], code } => {
            let kept = format!("leave out the rows with {code}, as pandas does with table[table.label != {code}]");
            match first == "0" && second == "1" {
                true => format!("{kept}; or write an empty cell for {code}, and add --drop-missing"),
                false => format!("{kept}, and specify which label is class 1: {} or {}", positive(first), positive(second)),
            }
        }
        Problem::NoPositive { labels, .. } => match &labels[..] {
            [zero, one] if zero == "0" && one == "1" => {
                "leave out --positive-label if labels are 0 and 1: 1 is class 1".into()
            }
            [first, second] => format!("specify which of them is class 1: {} or {}", positive(first), positive(second)),
            _ => "give a label that occurs, in the same upper and lower case".into(),
        },
        Problem::ThirdLabel { label, .. } if is_missing(label) || ["9", "99", "999", "-9", "-99", "-999"].contains(&label.as_str()) => {
            format!("if {label} stands for a missing value, leave out these rows; or write an empty cell for it, and add --drop-missing")
        }
        Problem::ThirdLabel { .. } => {
            "a binary classifier has two labels: repair the others, or write 1 for one class and 0 for the rest; \
             for several classes, use labels from 0 on, and --probs or --logits"
                .into()
        }
        Problem::LabelsFrom1 { .. } => {
            "subtract 1 from every label, as NumPy does with `labels - 1`; with columns that are called p1, p2 and so on, calib reads \
             the labels unchanged"
                .into()
        }
        // The first of two columns without names is taken for the scores.
        Problem::LabelNotInteger(_) if place.column.as_deref() == Some("1") => {
            "labels are whole numbers; if they are in the first column: --score-column 1 --label-column 0".into()
        }
        Problem::LabelNotInteger(text) if text.starts_with(char::is_alphabetic) => {
            format!(
                "{INDICES}; with several classes also the names of the classes' columns in a table (--score-column cat,dog); words become indices \
                 with numpy.searchsorted(model.classes_, labels)"
            )
        }
        Problem::LabelOutOfRange { classes: 2, label: 2.. } => {
            "labels of binary data are 0 and 1; of several classes give all scores with --probs or --logits: an array of shape (n, classes), \
             or a table with a column for each, such as p0 to p9"
                .into()
        }
        Problem::LabelNotInteger(_) | Problem::LabelOutOfRange { .. } | Problem::Huge(_) => INDICES.into(),
        Problem::NegativeWeight(_) => "a weight is a number from 0 on".into(),
        Problem::NoWeight => "give at least one row a weight above 0".into(),
        Problem::Count(_) => {
            "the first column of --count-columns holds the number of observations of each row".into()
        }
        Problem::Positives { .. } => {
            "--count-columns N,POSITIVES: N is the number of observations of a row, and POSITIVES how many of them have label 1".into()
        }
        Problem::TooManyPoints => "divide the counts, or use a sample".into(),
        Problem::CodeNotInteger(_) | Problem::CodeOutOfRange { .. } | Problem::Dtype { expected: Problem::CODES, .. } => {
            "codes are the classifier's integer outputs, before they are multiplied by the scale".into()
        }
        Problem::CodeProb { .. } | Problem::CodeSum(_) => CHECK_SCALE.into(),
        Problem::CodeScore { .. } => {
            format!("{CHECK_SCALE}; codes of scores of any other size go with --margins")
        }
        _ => return of_table(problem, place).or_else(|| of_format(problem)),
    })
}

/// What to do about columns, and about the shapes and types of arrays.
fn of_table(problem: &Problem, place: &Location) -> Option<String> {
    Some(match problem {
        Problem::MissingColumn(there) => missing_column(place, there),
        Problem::NotScalar(held) if held.to_lowercase().contains("list") => {
            "choose another column with --score-column, --label-column or the like; of a column of lists make a column for each class, as \
             pandas does with pandas.DataFrame(table[\"p\"].tolist()).add_prefix(\"p\").assign(label=table[\"label\"])"
                .into()
        }
        Problem::NotScalar(_) => "choose another column with --score-column, --label-column or the like".into(),
        Problem::WhichColumn(there) => {
            let option = if place.column.as_deref() == Some("label") { "--label-column" } else { "--score-column" };
            format!("choose one of them: {option} {:?}", there.first().map_or("", String::as_str))
        }
        Problem::WhichClasses(lists) => {
            format!("choose with --score-column: {}", lists.join(" or "))
        }
        Problem::NoClasses(there) => format!(
            "the columns are {}: name those of the classes in their order, as in --score-column cat,dog or --score-column p0..p9",
            list(there)
        ),
        Problem::WhichMatrix(there) if there.is_empty() => "give a matrix of shape (rows, classes)".into(),
        Problem::WhichMatrix(there) => {
            format!("the arrays are {}: choose with --score-column", list(there))
        }
        Problem::ColumnTwice => "rename one of the two".into(),
        Problem::NotUtf16 => "copy or write the file again; its end may be missing".into(),
        Problem::NotUtf8 => "save the file as UTF-8: in Excel as \"CSV UTF-8\", or with `iconv -f latin1 -t utf8`".into(),
        Problem::Spreadsheet => {
            "save the sheet as \"CSV UTF-8\", or in Python with pandas.read_excel(FILE).to_csv(\"scores.csv\", index=False)".into()
        }
        Problem::Unsupported(UnsupportedFormat::Archive(_)) => {
            "unpack it, or compress the file in it with gzip, which is read: pandas does it with to_csv(\"scores.csv.gz\")".into()
        }
        Problem::Unsupported(_) => {
            "give a table as CSV, Parquet, Arrow or JSON lines, or arrays as numpy.save and numpy.savez write them".into()
        }
        Problem::IsArtifact => "give the file with the scores".into(),
        Problem::Pickle => "write arrays with numpy.save, and tables with DataFrame.to_parquet or to_csv".into(),
        Problem::DerKey { private: true } => "convert it with `openssl pkey -inform DER -in FILE -out KEY`, and protect that file".into(),
        Problem::DerKey { private: false } => "convert it with `openssl pkey -pubin -inform DER -in FILE -out KEY.pub`".into(),
        Problem::EncryptedKey => "decrypt it with `openssl pkey -in FILE -out PLAIN`, and protect that file".into(),
        Problem::Shape { got, expected: "(rows,)" } if matches!(got[..], [_, 2]) => {
            "give one number a row: of what predict_proba gives for two classes the column of class 1, `p[:, 1]`".into()
        }
        Problem::Shape { .. } => {
            "--scores and --labels take arrays of shape (rows,), --logits and --probs of (rows, classes)".into()
        }
        Problem::ClassCount(1) => "for the scores of class 1 of a binary classifier use --scores".into(),
        Problem::ColumnExists => {
            format!("{} looks like an earlier output; apply to the original file", place.file.display())
        }
        Problem::Dtype { got, expected: Problem::FLOATS } if is_integer(got) => {
            "for the codes of a quantized classifier fit with --score-encoding; otherwise convert the array with NumPy's astype".into()
        }
        Problem::Dtype { got, .. } if got.ends_with('O') => {
            "the elements are Python objects: write scores with astype(float), and labels with astype(str) or astype(int)".into()
        }
        Problem::Dtype { .. } => "convert it with NumPy's astype".into(),
        _ => return None,
    })
}

/// What to do about a file that is damaged, or not what it should be.
fn of_format(problem: &Problem) -> Option<String> {
    Some(match problem {
        Problem::Truncated { .. } | Problem::TrailingBytes { .. } => "save or copy the file again".into(),
        Problem::RowCount { .. } => "every row needs one score and one label".into(),
        Problem::NotA(format, _) => format.remedy.into(),
        Problem::NotBuilt(_) => "convert it to CSV, or install calib with its default features".into(),
        Problem::NotJson(_) | Problem::NestedRow => {
            "write one object a line; pandas does it with to_json(orient=\"records\", lines=True)".into()
        }
        Problem::Codec(_) => "compress them with snappy, lz4, zstd or gzip".into(),
        // No table is refused below.
        Problem::FileTooLarge { max } if *max < 1 << 30 => {
            "is this the file that is meant? No file of this kind is as large".into()
        }
        Problem::FileTooLarge { .. } => {
            "write the scores and labels of a binary problem as Parquet or NumPy arrays: calib fit reads them piece by piece".into()
        }
        Problem::TooManyRows { .. } => "aggregate the rows by score".into(),
        // Rows of tables may be longer.
        Problem::RowTooLong { max } if *max < 1 << 26 => {
            "is this the file that is meant? No line of a log is as long".into()
        }
        Problem::RowTooLong { .. } | Problem::TooManyColumns { .. } => {
            "give a table with a line for each row, and only the columns that are needed".into()
        }
        Problem::TooLarge { .. } | Problem::TableTooLarge { .. } => "give fewer rows, or only the columns that are needed".into(),
        Problem::Artifact(ParseError::Blank | ParseError::Magic) => "give a file that `calib fit` wrote".into(),
        Problem::Artifact(ParseError::FormatVersion(_) | ParseError::UnknownSection(_)) => {
            "install a newer version of calib".into()
        }
        Problem::Key { private: true } => "make a pair of keys with `calib keygen`, and give the one without .pub".into(),
        Problem::Key { private: false } => "make a pair of keys with `calib keygen`, and give the .pub file".into(),
        Problem::Chain(cause) => of_chain(cause).into(),
        Problem::Signed(_) => "sign the artifact that `calib fit` wrote".into(),
        Problem::NoCounter => {
            "fit again with --counter 1, or a higher number than in every calibrator that was signed before".into()
        }
        Problem::Artifact(_) | Problem::Identity | Problem::ArtifactTooLarge { .. } => {
            "write the artifact again with `calib fit`".into()
        }
        Problem::Costs(cause) => return of_costs(cause).map(str::to_owned),
        Problem::Protocol(cause) => of_protocol(cause).into(),
        Problem::Log(_) => {
            "compare with a copy of the log that someone else keeps: calib adds no entry to a log that is not whole".into()
        }
        _ => return None,
    })
}

/// Whether it is NumPy's name of a type of integers.
fn is_integer(dtype: &str) -> bool {
    dtype.trim_start_matches(['<', '>', '=', '|']).starts_with(['i', 'u'])
}

/// The same number with commas for the other signs that separate thousands, points if there are no others; `None` if it has none of these.
fn with_commas(text: &str) -> Option<String> {
    const SIGNS: [char; 7] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '\u{2019}', '_'];
    match text.contains(SIGNS) {
        true => Some(text.replace(',', ".").replace(SIGNS, ",")),
        false if text.contains('.') => {
            let parts: Vec<_> = text.split(',').map(|part| part.replace('.', ",")).collect();
            Some(parts.join("."))
        }
        false => None,
    }
}

/// What to do about a number whose comma or point may separate thousands.
fn of_thousands(text: &str) -> String {
    let thousands = text.replace(if text.contains(',') { ',' } else { '.' }, "");
    match text.matches([',', '.']).count() {
        1 if !text.contains('.') => {
            format!("write {thousands} for {text}; or {}, if it is a decimal comma", text.replace(',', "."))
        }
        1 if !text.contains(',') => {
            // With three digits behind the point it would be doubtful again.
            let digits = text.trim_end_matches('0');
            let decimal = match digits.len() {
                len if len == text.len() => format!("{text}0"),
                _ if digits.ends_with('.') => format!("{digits}0"),
                _ => digits.to_owned(),
            };
            format!("write {thousands} for {text}; or {decimal}, if it is a decimal point")
        }
        _ => format!("write {thousands} for {text}: no sign separates thousands"),
    }
}

/// What to do about a row of another number of fields than the header.
fn ragged(expected: u64, got: u64) -> String {
    const COMMAS: &str = "where numbers have decimal commas, separate the fields by ;";
    match got {
        _ if expected == 1 => {
            format!(
                "the names of the columns stand in the first line, and a separator between them; {COMMAS}"
            )
        }
        got if got == expected + 1 => {
            format!("repair the row; if all are so, name every column in the first line; {COMMAS}")
        }
        1 => "remove the line, if it is a title or a footer, such as the number of rows; or repair the row"
            .into(),
        _ => "remove or repair the row".into(),
    }
}

fn of_chain(error: &ChainError) -> &'static str {
    match error {
        ChainError::Json(_) | ChainError::Length(0) | ChainError::Key(_) | ChainError::Signature(_) => {
            "give the file that `calib rotate-key` wrote"
        }
        ChainError::Length(_) | ChainError::TooLong => {
            "build new firmware with the last key: its chain begins again"
        }
        ChainError::Counter { .. } => "give a higher --counter",
        ChainError::Repeated(_) => "make a new key with `calib keygen`",
        ChainError::End { .. } => "give the private key that the chain ends with",
        ChainError::Early { .. } => "fit again with a higher --counter",
    }
}

fn of_protocol(error: &ProtocolError) -> &'static str {
    match error {
        ProtocolError::AcceptsAll => {
            "state epsilon, interval_width, sensitivity or not_worse_by under [accept]"
        }
        ProtocolError::Key | ProtocolError::KeyTwice => {
            "write the middle line of a .pub file of `calib keygen`, each key once"
        }
        ProtocolError::Needed { .. } => "state as many keys as must sign, or more",
        ProtocolError::Number { .. } | ProtocolError::Order { .. } => "correct the number",
        _ => "the sections are [change], [accept], [rows], [sign] and [rollback]",
    }
}

fn of_costs(error: &CostsError) -> Option<&'static str> {
    Some(match error {
        CostsError::Toml(_) => {
            "an [[action]] has name, positive, negative and alarm, and may have abstain, if_sure, start_up, above and up_to"
        }
        CostsError::Cost { cause: CostError::Negative(_), .. } => {
            "add the same amount to every action's cost: the thresholds stay unchanged"
        }
        CostsError::Cost { cause: CostError::TooLarge(_) | CostError::TooFine(_), .. } => {
            "use another unit: costs are from 0 to 1e9 with up to six decimals"
        }
        CostsError::Cost { .. } => "write a number from 0 to 1e9",
        CostsError::Cases(_) => "leave cases out to take the number of rows",
        CostsError::Actions(ActionsError::None | ActionsError::Single) => "state two or more [[action]]s",
        CostsError::Actions(ActionsError::Uncalibrated) => {
            "add uncalibrated = \"NAME\" before the first [[action]], or give exactly one action abstain = true"
        }
        CostsError::Actions(ActionsError::Unsure) => {
            "add unsure = \"NAME\" before the first [[action]]: an action without if_sure = true"
        }
        CostsError::Actions(ActionsError::UnknownUnsure(_)) => {
            "name an action without if_sure = true, and give another one if_sure = true"
        }
        CostsError::Actions(ActionsError::UnknownUncalibrated(_)) => "name one of the actions",
        CostsError::Actions(ActionsError::DuplicateName { .. }) => "rename one of the two",
        CostsError::IntervalMissing { .. } | CostsError::Overlap { .. } | CostsError::Rule { .. } => {
            "the intervals (above, up_to] cover 0 to 1 once; without any, they follow from the costs"
        }
        _ => return None,
    })
}

fn of_export(error: &ExportError) -> Option<String> {
    match error {
        ExportError::Vectors(_) => {
            Some("use --format c; or put the artifact itself into flash, and parse it with Artifact::parse of calib-core".into())
        }
        ExportError::EmptyBins { .. } => Some(
            "fit fewer bins, or umd, whose bins follow the observations; or use --format c, whose lookup returns a status".into(),
        ),
        ExportError::MonitorAction => Some(
            "put the artifact itself into the flash of a firmware with monitors; or fit without --monitor-action: an alert is then only \
             reported"
                .into(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use calib_core::ClassifierId;
    use calib_core::artifact::KeyId;
    use calib_core::slot::InstallError;
    use calib_io::device::probe::{FlashError, Rejection};

    use super::*;

    #[test]
    fn what_a_device_refuses_has_a_hint_and_an_exit_code() {
        let [device, artifact] = [ClassifierId(*b"the-chip"), ClassifierId([9; 8])];
        let rejected = |rejection| FlashError::Rejected(rejection).into();
        let silent = FlashError::NoReport { addr: 0x2000_0000, patience: Duration::from_secs(1) };
        let cases: [(Error, String); 3] = [
            (rejected(Rejection::Classifier { device, artifact }), device.to_string()),
            (rejected(Rejection::Key { device: KeyId([1; 8]), artifact: None }), "calib sign".into()),
            (silent.into(), "--no-verdict".into()),
        ];
        for (error, expected) in cases {
            assert_eq!(error.exit_code(), 5, "{error}");
            let hint = hint(&error).unwrap();
            assert!(hint.contains(&expected), "{error}: {hint}");
        }
        let downgrade = Error::from(FlashError::Refused(InstallError::Downgrade { held: 2, offered: 1 }));
        assert_eq!((downgrade.exit_code(), hint(&downgrade)), (1, None));
        assert!(downgrade.to_string().starts_with("the device would reject the calibrator: "));
    }

    /// A path that begins with a dash is an option to OpenSSL, too.
    #[test]
    fn a_hint_can_be_run_whatever_the_path() {
        for (path, line) in [
            ("k.pem", "-in k.pem -pubout -out k.pem.pub"),
            ("-k.pem", "-in ./-k.pem -pubout -out ./-k.pem.pub"),
            ("a k", "-in 'a k' -pubout -out 'a k.pub'"),
        ] {
            let cause = Box::new(OutputError::Exists("k.pem.pub".into()));
            let error = OutputError::OnlyPrivateKey { path: path.into(), cause };
            assert_eq!(of_output(&error).unwrap(), format!("make it with `openssl pkey {line}`"));
        }
    }

    #[test]
    fn an_option_is_named_where_it_takes_one() {
        let of = |error: FileError| (error.to_string(), Error::from(error));
        for (error, option) in
            [(FileError::NoLabels, "--labels"), (FileError::NoClassColumns, "--score-column")]
        {
            let (library, command) = of(error);
            assert!(!library.contains("--"), "{library}");
            assert!(command.to_string().contains(option) && command.exit_code() == 2, "{command}");
        }
    }
}
