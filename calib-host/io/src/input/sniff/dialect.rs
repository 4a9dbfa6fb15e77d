//! Text tables as spreadsheets, statistics programs and locales write them, turned into the one dialect that is read.
//!
//! Only the start of a file decides, so that a table in that dialect costs no more than a look at it.

use std::collections::HashSet;

use ::csv::{ByteRecord, ReaderBuilder};

use super::options::TableRemark;
use crate::input::quotes;

/// This much of a file decides its dialect: less than a chunk.
const START_LEN_BYTES: usize = if cfg!(fuzzing) { 48 } else { 1 << 16 };

/// At most this many records of that.
const START_RECORDS: usize = 100;

/// What separates fields, the one that is read first.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// What Excel writes before a text in UTF-8: no part of the first field.
pub(in crate::input) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct Dialect {
    pub(in crate::input) separator: u8,
    /// Whether numbers are written as `0,5`.
    has_decimal_commas: bool,
    /// Which column the header leaves out, so that it is one field shorter than the rows.
    unnamed: Option<Unnamed>,
}

/// The column that a header leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unnamed {
    /// The names of the rows, as R's `write.table` writes them.
    First,
    /// An empty one behind a separator at the end of every row.
    Last,
}

/// The one that is read.
pub(in crate::input) const PLAIN: Dialect =
    Dialect { separator: b',', has_decimal_commas: false, unnamed: None };

/// How a unit of UTF-16 is read.
type Unit = fn([u8; 2]) -> u16;

/// How the units of a text in UTF-16 are read, and how long its byte order mark is. Without one, every other byte of the letters that
/// tables begin with is zero.
fn utf16(bytes: &[u8]) -> Option<(Unit, usize)> {
    Some(match bytes {
        [0xff, 0xfe, ..] => (u16::from_le_bytes, 2),
        [0xfe, 0xff, ..] => (u16::from_be_bytes, 2),
        [1..=u8::MAX, 0, 1..=u8::MAX, 0, ..] => (u16::from_le_bytes, 0),
        [0, 1..=u8::MAX, 0, 1..=u8::MAX, ..] => (u16::from_be_bytes, 0),
        _ => return None,
    })
}

/// Whether a text is in UTF-16.
pub(in crate::input) fn is_utf16(bytes: &[u8]) -> bool {
    utf16(bytes).is_some()
}

/// Whether a text that starts so is read as what [`decoded`] makes of it.
pub(in crate::input) fn is_encoded(start: &[u8]) -> bool {
    is_utf16(start) || has_spaced_quotes(start)
}

/// Text in UTF-8 instead of UTF-16, without spaces before fields in quotes; `None` for text that is so.
///
/// # Errors
///
/// The line on which a character of UTF-16 is damaged or cut off.
pub(in crate::input) fn decoded(bytes: &[u8]) -> Result<Option<Vec<u8>>, u64> {
    let text = utf16(bytes).map(|(of_pair, mark)| of_utf16(&bytes[mark..], of_pair)).transpose()?;
    let is_spaced = has_spaced_quotes(text.as_deref().unwrap_or(bytes));
    Ok(if is_spaced { Some(without_spaces(text.as_deref().unwrap_or(bytes))) } else { text })
}

fn of_utf16(bytes: &[u8], of_pair: Unit) -> Result<Vec<u8>, u64> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(pairs.len());
    let line = |text: &str| 1 + line_feeds(text.as_bytes()) as u64;
    for c in char::decode_utf16(pairs.iter().map(|&pair| of_pair(pair))) {
        text.push(c.map_err(|_| line(&text))?);
    }
    if rest.is_empty() { Ok(text.into_bytes()) } else { Err(line(&text)) }
}

/// Whether a field in the first lines begins with a space and a quote.
fn has_spaced_quotes(text: &[u8]) -> bool {
    let start = &text[..text.len().min(1 << 12)];
    start.windows(3).any(|bytes| SEPARATORS.contains(&bytes[0]) && bytes[1] == b' ' && bytes[2] == b'"')
}

/// The same without the spaces between a separator and a quote, except for those within quotes.
fn without_spaces(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut is_start, mut is_quoted, mut was_quoted) = (true, false, false);
    let mut rest = text;
    while let Some((&byte, others)) = rest.split_first() {
        if is_start && byte == b' ' {
            let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
            if rest.get(spaces) == Some(&b'"') {
                rest = &rest[spaces..];
                continue;
            }
        }
        // Of two quotes within quotes the first ends them, and the second begins them again.
        let begins = byte == b'"' && !is_quoted && (is_start || was_quoted);
        was_quoted = byte == b'"' && is_quoted;
        is_quoted = begins || is_quoted && !was_quoted;
        is_start = !is_quoted && (SEPARATORS.contains(&byte) || byte == b'\n');
        out.push(byte);
        rest = others;
    }
    out
}

/// The records of a text, without what stands above them, and the separator that is named there.
fn body(text: &[u8]) -> (&[u8], Option<u8>) {
    let (body, named) = separator_line(text);
    (without_comments(body), named)
}

/// Takes off a first line such as `sep=;`, which Excel understands, and what it says.
fn separator_line(text: &[u8]) -> (&[u8], Option<u8>) {
    let start = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    match start {
        [b's', b'e', b'p', b'=', separator, rest @ ..]
            if rest.starts_with(b"\n") || rest.starts_with(b"\r\n") =>
        {
            (rest, Some(*separator))
        }
        _ => (text, None),
    }
}

/// Takes off comments above a table: lines that begin with `#`. The last of them holds the names if it has as many fields as the row of
/// numbers below it, as NumPy's `savetxt` writes it. Of that one the `#` is taken off. A column called `#` is no comment.
fn without_comments(text: &[u8]) -> &[u8] {
    let mut rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let separators = |line: &[u8]| SEPARATORS.map(|one| line.iter().filter(|&&byte| byte == one).count());
    while let Some(names) = rest.strip_prefix(b"#") {
        let names = names.trim_ascii_start();
        if names.first().is_none_or(|first| SEPARATORS.contains(first)) {
            break;
        }
        let below = &rest[rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| at + 1)..];
        let next = below.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let has_numbers =
            next.split(|byte| SEPARATORS.contains(byte)).any(|field| is_number(field.trim_ascii()));
        let fields = [separators(&rest[..rest.len() - below.len()]), separators(next)];
        let is_like_next = match fields[0] == [0; SEPARATORS.len()] {
            true => fields[1] == fields[0],
            false => (0..SEPARATORS.len()).any(|one| fields[0][one] > 0 && fields[0][one] == fields[1][one]),
        };
        if has_numbers && is_like_next {
            return names;
        }
        rest = below;
    }
    // A byte order mark alone is nothing to take off.
    if rest.len() + BYTE_ORDER_MARK.len() == text.len() { text } else { rest }
}

/// What the first line of a text table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) enum FirstLine {
    /// The names of the columns.
    Names,
    /// The names of so many columns, which are their numbers from 0 on, as pandas writes them where there are no others.
    Numbers(usize),
    /// Data of so many columns.
    Data(usize),
    /// Data of so many columns, of which the first one is 0 or 1 and the second one has more values than a label: the first one has labels,
    /// or what is before the decimal commas of one column.
    NoScoreFirst(usize),
}

impl FirstLine {
    /// What the first line of a table in the dialect that is read is, by the lines that follow.
    ///
    /// `0,1` may be the numbers of the columns, or a score of 0 and a label of 1. It is data where each of its columns has another whole
    /// number: pandas writes floats with a point, so that above a column of these `0` is a name.
    pub(in crate::input) fn of(text: &[u8]) -> Self {
        let records: Vec<ByteRecord> = reader(start_of(text), b',')
            .into_byte_records()
            .take(START_RECORDS)
            .map_while(Result::ok)
            .collect();
        let Some((first, others)) = records.split_first().filter(|(first, others)| is_data(first, others))
        else {
            return Self::Names;
        };
        let numbers_columns = first
            .iter()
            .enumerate()
            .all(|(number, field)| field.trim_ascii() == number.to_string().as_bytes());
        let is_like_others = (0..first.len())
            .all(|column| others.iter().any(|record| record.get(column).is_some_and(is_whole_number)));
        let column = |number: usize| {
            records.iter().filter_map(move |record| record.get(number)).map(<[u8]>::trim_ascii)
        };
        match numbers_columns && !is_like_others {
            true => Self::Numbers(first.len()),
            false
                if first.len() > 1
                    && column(0).all(|field| matches!(field, b"0" | b"1"))
                    && column(1).collect::<HashSet<_>>().len() > 2 =>
            {
                Self::NoScoreFirst(first.len())
            }
            false => Self::Data(first.len()),
        }
    }

    /// How many columns there are, if the line is data.
    pub(in crate::input) fn columns_without_names(self) -> Option<usize> {
        match self {
            Self::Data(columns) | Self::NoScoreFirst(columns) => Some(columns),
            Self::Names | Self::Numbers(_) => None,
        }
    }

    /// What is to be told of a file that begins so.
    pub(in crate::input) fn remark(self) -> Option<TableRemark> {
        match self {
            Self::Names => None,
            Self::Numbers(columns) => Some(TableRemark::NumberedColumns(columns)),
            Self::Data(columns) | Self::NoScoreFirst(columns) => Some(TableRemark::NoHeader(columns)),
        }
    }
}

impl Dialect {
    /// The dialect of a text that starts so, and how many bytes stand above its records.
    pub(in crate::input) fn sniff(start: &[u8]) -> (Self, usize) {
        let (body, named) = body(start);
        (Self::of(body, named), start.len() - body.len())
    }

    /// By the start of a text: the first separator that divides the header, and most records as it does.
    fn of(text: &[u8], named: Option<u8>) -> Self {
        let start = start_of(text);
        let mut found =
            candidates(start, named).filter_map(|separator| Some((separator, records(start, separator)?)));
        let Some(first) = found.next() else { return Self::of_shorter_header(start, named) };
        // A table without a header has decimal commas in its first line, too, which divide it.
        let has_no_header = |(_, records): &(u8, Vec<ByteRecord>)| is_data(&records[0], &records[1..]);
        let (separator, records) = match has_no_header(&first) {
            true => first,
            false => found.find(has_no_header).unwrap_or(first),
        };
        Self { separator, has_decimal_commas: has_decimal_commas(separator, &records[1..]), unnamed: None }
    }

    /// What is to be told of a table that is written so.
    pub(in crate::input) fn remarks(self) -> impl Iterator<Item = TableRemark> {
        let separator = (self.separator != b',').then(|| TableRemark::Separator(self.separator.into()));
        let names = (self.unnamed == Some(Unnamed::First)).then_some(TableRemark::RowNames);
        separator.into_iter().chain(names)
    }

    /// By a start of which every row has one field more than the header.
    fn of_shorter_header(start: &[u8], named: Option<u8>) -> Self {
        let mut refused = PLAIN;
        for separator in candidates(start, named) {
            let Some(records) = first_records(start, separator) else { continue };
            let Some((header, rows)) = records.split_first() else { continue };
            if header.len() < 2 || rows.len() < 2 || rows.iter().any(|row| row.len() != header.len() + 1) {
                continue;
            }
            // Between commas, numbers with decimal commas have a field too many, too.
            let has_points = || separator != b',' || rows.iter().flat_map(ByteRecord::iter).any(has_point);
            let unnamed = if rows.iter().all(|row| row[header.len()].is_empty()) {
                Unnamed::Last
            } else if are_row_names(rows, start) && has_points() {
                Unnamed::First
            } else {
                refused = Self { separator, ..PLAIN };
                continue;
            };
            let has_decimal_commas = has_decimal_commas(separator, rows);
            return Self { separator, has_decimal_commas, unnamed: Some(unnamed) };
        }
        refused
    }

    /// The records of a text in the dialect that is read, each on its line. The first record may be the header. Where numbers have decimal
    /// commas, `see` is given the column, the text and the line, from 0 on, of every number with a comma or a point.
    pub(in crate::input) fn rewritten(
        self,
        text: &[u8],
        has_header: bool,
        mut see: impl FnMut(usize, &[u8], u64),
    ) -> Vec<u8> {
        let mut reader = reader(text, self.separator);
        let mut out = Vec::with_capacity(text.len());
        let mut record = ByteRecord::new();
        let (mut at, mut lines, mut written) = (0, 0, 0);
        let mut unnamed = self.unnamed.filter(|_| has_header);
        // Text in memory can be read, and records of any length are right here.
        while reader.read_byte_record(&mut record).unwrap_or(false) {
            let blank = text[at..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            lines += line_feeds(&text[at..at + blank]);
            out.resize(out.len() + lines.saturating_sub(written), b'\n');
            written = written.max(lines);
            let begin = out.len();
            let unnamed = unnamed.take();
            for (place, field) in record.iter().enumerate() {
                if place > 0 || unnamed == Some(Unnamed::First) {
                    out.push(b',');
                }
                match with_point(field).filter(|_| self.has_decimal_commas) {
                    Some(number) => {
                        see(place, field, lines as u64);
                        out.extend(number);
                    }
                    None => {
                        if self.has_decimal_commas && has_point(field) {
                            see(place, field, lines as u64);
                        }
                        push_field(&mut out, field, record.len() == 1);
                    }
                }
            }
            if unnamed == Some(Unnamed::Last) {
                out.push(b',');
            }
            out.push(b'\n');
            written += line_feeds(&out[begin..]);
            let end = reader.position().byte() as usize;
            lines += line_feeds(&text[at + blank..end]);
            at = end;
        }
        out
    }
}

/// The whole records at the start of a text, by which it is judged.
fn start_of(text: &[u8]) -> &[u8] {
    let start = &text[..text.len().min(START_LEN_BYTES)];
    // The last record may go on.
    match start.len() == START_LEN_BYTES {
        true => &start[..start.iter().rposition(|&byte| byte == b'\n').map_or(start.len(), |at| at + 1)],
        false => start,
    }
}

/// Whether the first fields of rows are their names: R writes texts, or whole numbers that count the rows or are in quotes.
fn are_row_names(rows: &[ByteRecord], start: &[u8]) -> bool {
    let firsts = || rows.iter().map(|row| row[0].trim_ascii());
    let is_quoted = |row: &ByteRecord| {
        let at = row.position().map_or(0, |at| at.byte() as usize);
        start[at..].trim_ascii_start().starts_with(b"\"")
    };
    let whole = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<i64>().ok();
    let count_rows = || firsts().zip(firsts().skip(1)).all(|(a, b)| whole(a).map(|a| a + 1) == whole(b));
    firsts().collect::<HashSet<_>>().len() == rows.len()
        && (!firsts().any(|first| is_number(first) || with_point(first).is_some())
            || firsts().all(|first| whole(first).is_some()) && (count_rows() || rows.iter().all(is_quoted)))
}

/// Whether a first record is data, by those that follow: numbers, and texts that come again in their columns, as labels do and names do not.
fn is_data(first: &ByteRecord, others: &[ByteRecord]) -> bool {
    let is_number = |field: &[u8]| is_number(field.trim_ascii()) || with_point(field).is_some();
    // A field with a separator in it may be several, of which one comes again.
    let is_text = |field: &[u8]| !field.is_empty() && !field.iter().any(|byte| SEPARATORS.contains(byte));
    let comes_again =
        |column: usize, field: &[u8]| others.iter().any(|record| record.get(column) == Some(field));
    let mut fields = first.iter().enumerate();
    first.iter().any(is_number)
        && fields.all(|(column, field)| is_number(field) || is_text(field) && comes_again(column, field))
}

/// The separators that may divide a text that starts so: those that are there.
fn candidates(start: &[u8], named: Option<u8>) -> impl Iterator<Item = u8> {
    let is_there = |separator: &u8| start.contains(separator);
    SEPARATORS.into_iter().filter(move |_| named.is_none()).chain(named).filter(is_there)
}

fn reader(bytes: &[u8], separator: u8) -> ::csv::Reader<&[u8]> {
    ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(bytes)
}

/// The first records; `None` if they have a fault.
fn first_records(start: &[u8], separator: u8) -> Option<Vec<ByteRecord>> {
    let start = quotes::sound(start, separator);
    reader(start, separator).into_byte_records().take(START_RECORDS).collect::<Result<_, _>>().ok()
}

/// Whether numbers have decimal commas, as far as these records tell: between commas a number has none, or is a text. Where none of
/// them has a point, those that follow may have commas.
fn has_decimal_commas(separator: u8, records: &[ByteRecord]) -> bool {
    separator != b',' && !records.iter().flat_map(ByteRecord::iter).any(has_point)
}

/// The first records, if the separator divides the header, and most records as it does.
fn records(start: &[u8], separator: u8) -> Option<Vec<ByteRecord>> {
    let records = first_records(start, separator)?;
    let width = records.first()?.len();
    let like_header = records.iter().filter(|record| record.len() == width).count();
    (width > 1 && 2 * like_header > records.len()).then_some(records)
}

/// A number with a decimal comma, with a point.
fn with_point(field: &[u8]) -> Option<Vec<u8>> {
    let field = field.trim_ascii();
    let comma = field.iter().position(|&byte| byte == b',').filter(|_| !field.contains(&b'.'))?;
    let mut number = field.to_vec();
    number[comma] = b'.';
    is_number(&number).then_some(number)
}

/// Whether a field is a number with a decimal point.
fn has_point(field: &[u8]) -> bool {
    field.contains(&b'.') && is_number(field.trim_ascii())
}

fn is_number(field: &[u8]) -> bool {
    std::str::from_utf8(field).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Whether a field is a number without a point or an exponent.
fn is_whole_number(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// A field, in quotes where it needs them; one that is alone and empty would be a blank line.
fn push_field(out: &mut Vec<u8>, field: &[u8], is_alone: bool) {
    let is_plain = !field.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n'));
    if is_plain && !(field.is_empty() && is_alone) {
        out.extend(field);
        return;
    }
    out.push(b'"');
    for &byte in field {
        out.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
    }
    out.push(b'"');
}

fn line_feeds(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text in the dialect that is read, after the lines above its records; `None` if it is written so.
    fn read(bytes: &[u8]) -> Option<String> {
        let decoded = decoded(bytes).unwrap();
        let text = decoded.as_deref().unwrap_or(bytes);
        let (dialect, skipped) = Dialect::sniff(text);
        if dialect == PLAIN && skipped == 0 {
            return decoded.map(|text| String::from_utf8(text).unwrap());
        }
        let above = "\n".repeat(line_feeds(&text[..skipped]));
        Some(above + &String::from_utf8(dialect.rewritten(&text[skipped..], true, |_, _, _| ())).unwrap())
    }

    #[test]
    fn what_is_plain_is_left_alone() {
        for text in [
            "score,label\n0.5,1\n",
            "score\n0.5\n",
            "",
            "\n",
            "a,b\n\"0,5\",1\n",
            "name,note\nx,\"a;b;c\"\n",
            // Ragged rows are told by anyone who reads them.
            "score,label\n0.5\n0.5,1\n0.25,0\n",
            "\u{feff}score,label\n0.5,1\n",
            // Decimal commas, which are no names of rows, and fields too many in some rows alone.
            "score,label\n0,5,1\n1,0,0\n",
            "score,label\n5,5,1\n1,0,0\n",
            "score,label\na,0.5,1\n0.25,0\n",
            // The names of rows differ.
            "score,label\nx,0.5,1\nx,0.25,0\n",
            "#,score\n1,0.5\n",
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn separators_and_decimal_commas_become_the_usual_ones() {
        for (text, expected) in [
            ("score;label\n0.5;1\n", "score,label\n0.5,1\n"),
            ("score;label\n0,5;1\n1;0\n", "score,label\n0.5,1\n1,0\n"),
            ("score\tlabel\n0,5\t1\n", "score,label\n0.5,1\n"),
            ("score|label\n,5|1\n1,2E-3|0", "score,label\n.5,1\n1.2E-3,0\n"),
            // Points are decimal points, so the commas are none.
            ("s;pair;label\n0.5;1,2;1\n", "s,pair,label\n0.5,\"1,2\",1\n"),
            ("a;b\n\"x;\"\"y\";1\n", "a,b\n\"x;\"\"y\",1\n"),
            ("\u{feff}a;b\n1;2\n", "a,b\n1,2\n"),
            ("sep=;\na;b\n0,5;2\n", "\na,b\n0.5,2\n"),
            // Without a header.
            ("0,125;0\n0,25;1\n", "0.125,0\n0.25,1\n"),
            ("0,5\t1,5\t0\n1\t2,5\t1\n", "0.5,1.5,0\n1,2.5,1\n"),
            ("0,5;no\n0,25;yes\n0,5;no\n", "0.5,no\n0.25,yes\n0.5,no\n"),
            ("sep=,\r\na,b\r\n1,2\r\n", "\na,b\n1,2\n"),
            // A header that is one field shorter than the rows.
            ("a,b\nx,0.5,1\ny,0.25,0\n", ",a,b\nx,0.5,1\ny,0.25,0\n"),
            ("a;b\nx;0,5;1\ny;1;0\n", ",a,b\nx,0.5,1\ny,1,0\n"),
            ("a,b\n0.5,1,\n0.25,0,\n", "a,b,\n0.5,1,\n0.25,0,\n"),
            // Comments, of which the last one may be the header.
            ("# of 2024\na;b\n0,5;1\n", "\na,b\n0.5,1\n"),
            ("# of 2024\n# a,b\n0.5,1\n", "\na,b\n0.5,1\n"),
            ("\u{feff}#a,b\n0.5,1\n", "a,b\n0.5,1\n"),
            ("# x, y\na,b\n0.5,1\n", "\na,b\n0.5,1\n"),
            ("# scores\n0.5\n0.25\n", "scores\n0.5\n0.25\n"),
        ] {
            assert_eq!(read(text.as_bytes()).as_deref(), Some(expected), "{text:?}");
        }
    }

    #[test]
    fn a_first_line_is_data_if_it_is_written_as_the_lines_below() {
        use FirstLine::{Data, Names, NoScoreFirst, Numbers};
        for (text, expected) in [
            ("0.5,1\n0.25,0\n", Data(2)),
            ("\"0.5\", 1\n", Data(2)),
            ("0.5\n", Data(1)),
            ("1,0\n", Data(2)),
            ("1,0\n0.5,1\n", Data(2)),
            ("nan,1e-3,-1\n", Data(3)),
            // Labels, or what is before decimal commas.
            ("0,0.5\n1,0.25\n1,0.75\n", NoScoreFirst(2)),
            ("0,5,1\n0,25,0\n1,0,1\n", NoScoreFirst(3)),
            ("0,1\n1,2\n0,1\n", Data(2)),
            ("0.0,5\n1,25\n1,0\n", Data(2)),
            // The numbers of the columns, above floats.
            ("0,1\n0.5,1\n0.0,0\n", Numbers(2)),
            ("0,1\n", Numbers(2)),
            ("0\n0.5\n", Numbers(1)),
            ("0,1,2\n4,0.5,1\n", Numbers(3)),
            // A score of 0, among others that are whole.
            ("0,1\n1,0\n", Data(2)),
            ("0,1\n0.5,1\n1,0\n", Data(2)),
            (" 0,1\n-0.5,1\n -2 ,0\n", Data(2)),
            ("0\n1\n", Data(1)),
            ("0,1,2\n4,5,1\n", Data(3)),
            // Labels come again, and names do not.
            ("0.5,case\n0.25,control\n0.75,case\n", Data(2)),
            ("0.5,case\n0.25,control\n", Names),
            ("0,y\n0.5,1\n", Names),
            ("0.5,\n0.25,\n", Names),
            (",0,1\n0,0.5,1\n", Names),
            ("score,1\n", Names),
            ("score,label\n0.5,1\nscore,label\n", Names),
            ("", Names),
        ] {
            assert_eq!(FirstLine::of(text.as_bytes()), expected, "{text:?}");
        }
    }

    /// The record at which the start ends is no whole one: of 0.5 there may be a 0.
    #[test]
    fn a_record_that_goes_on_does_not_tell_what_the_first_line_is() {
        let wide = format!("0.5,1,{}\n", "9".repeat(START_LEN_BYTES / 8 - 7));
        let there = "0,1,2\n".len() + 7 * wide.len() + "0.5,1,\n".len();
        let padding = "9".repeat(START_LEN_BYTES - 1 - there);
        let text = format!("0,1,2\n{}0.5,1,{padding}\n{wide}", wide.repeat(7));
        assert_eq!(text.as_bytes()[START_LEN_BYTES - 1..START_LEN_BYTES + 1], *b"0.");
        assert_eq!(FirstLine::of(text.as_bytes()), FirstLine::Numbers(3));
    }

    #[test]
    fn a_space_before_a_quote_is_no_part_of_a_field() {
        for (text, expected) in [
            ("a, \"b\"\n0.5, \"x, y\"\n", "a,\"b\"\n0.5,\"x, y\"\n"),
            ("a;  \"b\"; \"c\"\n1; \"2\";3\n", "a;\"b\";\"c\"\n1;\"2\";3\n"),
            ("\"a, \"\"b\", \"c\"\n", "\"a, \"\"b\",\"c\"\n"),
            (" \"a\", \"b\"\n \"1\", \"2\"\n", "\"a\",\"b\"\n\"1\",\"2\"\n"),
        ] {
            assert_eq!(decoded(text.as_bytes()).unwrap().as_deref(), Some(expected.as_bytes()), "{text:?}");
        }
        assert!(!is_encoded(b"a, b\n\"x\", 2\n"));
    }

    #[test]
    fn utf_16_is_read() {
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let text = "\u{feff}Größe\tlabel\r\n0,5\t1\r\n";
            let bytes: Vec<u8> = text.encode_utf16().flat_map(to_bytes).collect();
            assert_eq!(read(&bytes).as_deref(), Some("Größe,label\n0.5,1\n"));
            let plain: Vec<u8> = "\u{feff}a,b\n1,2\n".encode_utf16().flat_map(to_bytes).collect();
            assert_eq!(read(&plain).as_deref(), Some("a,b\n1,2\n"));
        }
    }

    #[test]
    fn utf_16_that_is_cut_or_damaged_is_refused_with_its_line() {
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let text = "\u{feff}score,label\n0.5,1\n0.25,0\n";
            let mut bytes: Vec<u8> = text.encode_utf16().flat_map(to_bytes).collect();
            assert!(decoded(&bytes).is_ok());
            assert_eq!(decoded(&bytes[..bytes.len() - 1]), Err(3));
            bytes[30..32].copy_from_slice(&to_bytes(0xD801));
            assert_eq!(decoded(&bytes), Err(2));
        }
    }

    #[test]
    fn numbers_that_are_scores_are_no_names_of_rows() {
        for text in [
            "score,label\n0.91,1,0\n0.12,0,1\n0.83,1,0\n",
            "score;label\n0,91;1;0\n0,12;0;1\n0,83;1;0\n",
            "score\tlabel\n0.91\t1\t0\n0.12\t0\t1\n",
            "score,label\n3,1.5,0\n1,0.5,1\n",
        ] {
            assert_eq!(Dialect::of(text.as_bytes(), None).unnamed, None, "{text:?}");
        }
        for text in [
            "score,label\n1,0.5,1\n2,0.25,0\n",
            "score,label\n\"7\",0.5,1\n\"3\",0.25,0\n",
            "score;label\nann;0,5;1\nbob;0,25;0\n",
        ] {
            assert_eq!(Dialect::of(text.as_bytes(), None).unnamed, Some(Unnamed::First), "{text:?}");
        }
    }

    /// Errors name lines of the file.
    #[test]
    fn every_record_keeps_its_line() {
        for ends in ["\n", "\r\n"] {
            let text = ["a;b", "", "1;x", "\"2\n2\";y", "", "", "3;z", ""].join(ends);
            let expected = "a,b\n\n1,x\n\"2\n2\",y\n\n\n3,z\n";
            assert_eq!(read(text.as_bytes()).as_deref(), Some(expected), "{ends:?}");
        }
    }

    #[test]
    fn the_start_decides_for_a_long_table() {
        let rows = "0,25;1\n".repeat(20_000);
        let text = read(format!("score;label\n{rows}").as_bytes()).unwrap();
        assert_eq!(text, format!("score,label\n{}", "0.25,1\n".repeat(20_000)));
        let late = format!("a,b\n{}x;y\n", "1,2\n".repeat(40_000));
        assert_eq!(read(late.as_bytes()), None);
    }
}
