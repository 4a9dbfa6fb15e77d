//! Arrow IPC, as files and as streams.
//!
//! The reader allocates as much as a length in the file says, so every length is checked first: that messages are inside
//! of the file, buffers inside of their messages, and that compressed buffers do not claim too much.
//!
//! <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>

use std::io::Cursor;

use arrow_array::RecordBatchReader;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::{Schema, root_as_footer, root_as_message};
use arrow_schema::ArrowError;

use super::chunk_reader::{ChunkReader, Input, Once};
use super::limit::MAX_UNPACKED_BYTES;
use super::projection::Projection;
use super::record_batch::{add_columns, append, columns};
use super::rows::Rows;
use super::source::Source;
use super::table::{Reading, Table};
use crate::files::{FileError, Format, Location, Problem};

/// What an Arrow file begins and ends with.
const MAGIC: &[u8] = b"ARROW1";
/// What is in front of the length of a message.
const CONTINUATION: [u8; 4] = [0xFF; 4];

/// Reads the record batches of a file or a stream.
pub(super) fn open(
    input: &Input,
    projection: &Projection,
    reading: Reading,
) -> Result<Box<dyn ChunkReader>, FileError> {
    Once::open(input, reading, |source| table(source, projection))
}

fn table(source: &Source, projection: &Projection) -> Result<Table, FileError> {
    let format = source.format();
    let bytes = source.bytes();
    let fail = |problem| FileError::input(Location::file(source.path()), problem);
    let table = match format {
        Format::ARROW_FILE => check_file(bytes).and_then(|()| {
            fill(source, projection, FileReader::try_new(Cursor::new(bytes), None).map_err(damaged)?)
        }),
        _ => check_stream(bytes)
            .and_then(|()| fill(source, projection, StreamReader::try_new(bytes, None).map_err(damaged)?)),
    };
    table.map_err(|broken| match broken {
        Broken::Because(why) => fail(Problem::NotA(format, why)),
        Broken::Problem(problem) => fail(problem),
    })
}

fn fill(source: &Source, projection: &Projection, reader: impl RecordBatchReader) -> Result<Table, Broken> {
    let mut table = Table::at(Location::file(source.path()), Rows::From(0));
    let filled = add_columns(&mut table, reader.schema().fields(), projection);
    for batch in reader {
        let batch = batch.and_then(|batch| batch.project(&filled)).map_err(damaged)?;
        append(&mut table, columns(&batch, &filled)).map_err(Broken::Problem)?;
    }
    Ok(table)
}

enum Broken {
    /// Why it is not of its format.
    Because(String),
    Problem(Problem),
}

const CUT_OFF: &str = "it is cut off";
const NO_START: &str = "it does not start like one";
const NEGATIVE: &str = "it is damaged (a length is negative)";

impl From<&str> for Broken {
    fn from(why: &str) -> Self {
        Self::Because(why.into())
    }
}

fn damaged(cause: ArrowError) -> Broken {
    Broken::Because(format!("it is damaged ({cause})"))
}

/// Checks the messages that the footer of a file lists.
fn check_file(bytes: &[u8]) -> Result<(), Broken> {
    if bytes.starts_with(b"FEA1") {
        return Err("it is Feather version 1".into());
    }
    let rest = bytes.strip_prefix(MAGIC).ok_or(NO_START)?.strip_suffix(MAGIC).ok_or(CUT_OFF)?;
    let (rest, footer_len) = rest.split_last_chunk().ok_or(CUT_OFF)?;
    let footer_len = usize::try_from(i32::from_le_bytes(*footer_len)).map_err(|_| NEGATIVE)?;
    let footer =
        rest.len().checked_sub(footer_len).ok_or("it is damaged (its footer is longer than the file)")?;
    let footer = root_as_footer(&rest[footer..]).map_err(|_| "it is damaged (its footer is not right)")?;
    check_schema(footer.schema())?;
    let mut unpacked = 0;
    for block in footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten() {
        let lengths =
            (block.offset().try_into(), block.metaDataLength().try_into(), block.bodyLength().try_into());
        let (Ok(start), Ok(metadata_len), Ok(body_len)) = lengths else { return Err(NEGATIVE.into()) };
        let mut message = bytes.get(start..).ok_or("it is damaged (a message is outside of the file)")?;
        let mut metadata = take(&mut message, metadata_len)?;
        let body = take(&mut message, body_len)?;
        if take(&mut metadata, 4)? == CONTINUATION {
            take(&mut metadata, 4)?;
        }
        check_message(metadata, body, &mut unpacked)?;
    }
    Ok(())
}

/// Checks the messages of a stream, which may end with a mark or without.
fn check_stream(bytes: &[u8]) -> Result<(), Broken> {
    if !bytes.starts_with(&CONTINUATION) {
        return Err(NO_START.into());
    }
    let mut rest = bytes;
    let mut unpacked = 0;
    while !rest.is_empty() {
        let mut len = take(&mut rest, 4)?;
        if len == CONTINUATION {
            len = take(&mut rest, 4)?;
        }
        let len = i32::from_le_bytes(len.try_into().expect("four bytes"));
        if len == 0 {
            return Ok(());
        }
        let metadata = take(&mut rest, usize::try_from(len).map_err(|_| NEGATIVE)?)?;
        let message =
            root_as_message(metadata).map_err(|_| "it is damaged (a message's header is not right)")?;
        let body = take(&mut rest, usize::try_from(message.bodyLength()).map_err(|_| NEGATIVE)?)?;
        if let Some(schema) = message.header_as_schema() {
            check_schema(Some(schema))?;
        }
        check_message(metadata, body, &mut unpacked)?;
    }
    Ok(())
}

/// Refuses another byte order: the reader of streams would swap the bytes of every number.
fn check_schema(schema: Option<Schema<'_>>) -> Result<(), Broken> {
    match schema {
        None => Err("it is damaged (there is no schema)".into()),
        Some(schema) if !schema.endianness().equals_to_target_endianness() => {
            Err("its byte order is not that of this machine".into())
        }
        Some(_) => Ok(()),
    }
}

fn check_message(metadata: &[u8], body: &[u8], unpacked: &mut u64) -> Result<(), Broken> {
    let message = root_as_message(metadata).map_err(|_| "it is damaged (a message's header is not right)")?;
    let dictionary = message.header_as_dictionary_batch();
    let Some(batch) = message.header_as_record_batch().or_else(|| dictionary?.data()) else { return Ok(()) };
    for buffer in batch.buffers().into_iter().flatten() {
        let (Ok(start), Ok(len)) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()))
        else {
            return Err(NEGATIVE.into());
        };
        let buffer = start.checked_add(len).and_then(|end| body.get(start..end));
        let buffer = buffer.ok_or("it is damaged (a buffer is outside of its message)")?;
        // The length of a compressed buffer is in front of it.
        if let (Some(_), Some(prefix)) = (batch.compression(), buffer.first_chunk()) {
            *unpacked = unpacked.saturating_add(i64::from_le_bytes(*prefix).try_into().unwrap_or(0));
        }
    }
    if *unpacked > MAX_UNPACKED_BYTES {
        return Err(Broken::Problem(Problem::TooLarge { max: MAX_UNPACKED_BYTES }));
    }
    Ok(())
}

fn take<'b>(rest: &mut &'b [u8], len: usize) -> Result<&'b [u8], Broken> {
    rest.split_off(..len).ok_or_else(|| CUT_OFF.into())
}
