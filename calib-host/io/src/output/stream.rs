//! A table that is made while it is read and written.

use std::io;
use std::ops::Range;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use rayon::prelude::*;

use super::format::TableFormat;
use super::writer::{Part, write_table};
use crate::files::{OutputError, OutputPlace};

/// So many rows make a part of the output.
const PART_ROWS: usize = 1 << 14;

/// What is read at a time.
pub trait RowChunk: Sync + Send {
    /// The number of rows.
    fn rows(&self) -> usize;
}

/// Parts, in the order of their rows.
type Sent = Vec<Part>;

/// Writes a table completely or not at all: reads piece after piece, makes parts of them on all cores, and writes these in
/// order. So reading, making and writing go on at a time, and no more than a few pieces are in memory.
///
/// # Errors
///
/// The first error of reading or making, in the order of the rows, or of writing; no file is left then, and nothing is sent on.
pub fn write_stream<P: RowChunk, E: From<OutputError> + Send>(
    place: OutputPlace<'_>,
    format: TableFormat,
    mut read: impl FnMut() -> Result<Option<P>, E> + Send,
    make: impl Fn(&P, Range<usize>) -> Result<Part, E> + Sync,
) -> Result<(), E> {
    let mut made = Ok(());
    let written = write_table(place, format, |out| {
        let mut write = |parts: Sent| parts.into_iter().try_for_each(|part| out.write_part(part));
        let written = thread::scope(|scope| {
            let (sender, parts) = sync_channel(1);
            let making = || make_all(&mut read, &make, &move |parts| sender.send(parts).is_ok());
            let making = thread::Builder::new().spawn_scoped(scope, making).ok()?;
            let written = parts.into_iter().try_for_each(&mut write);
            made = making.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Some(written)
        });
        // Where there are no threads, all is made before it is written.
        let written = written.unwrap_or_else(|| {
            let (sender, parts) = channel();
            made = make_all(&mut read, &make, &move |parts| sender.send(parts).is_ok());
            parts.into_iter().try_for_each(&mut write)
        });
        // What was written is of no use if the rest cannot be made.
        written.and_then(|()| made.as_ref().map_err(|_| io::Error::other("not all was made")).copied())
    });
    made?;
    Ok(written?)
}

/// Sends the parts of all pieces until `send` says that there is no one to take them.
fn make_all<P: RowChunk, E: Send>(
    read: &mut (impl FnMut() -> Result<Option<P>, E> + Send),
    make: &(impl Fn(&P, Range<usize>) -> Result<Part, E> + Sync),
    send: &(impl Fn(Sent) -> bool + Sync),
) -> Result<(), E> {
    let pieces = rayon::current_num_threads();
    let mut read_some = || {
        let mut some = Vec::with_capacity(pieces);
        while some.len() < pieces {
            match read() {
                Ok(Some(piece)) => some.push(piece),
                Ok(None) => break,
                Err(error) => return (some, Some(error)),
            }
        }
        (some, None)
    };
    let (mut present, mut fault) = read_some();
    while !present.is_empty() {
        let is_last = fault.is_some();
        let next = || if is_last { (Vec::new(), None) } else { read_some() };
        let (next, sent) = rayon::join(next, || send_all(&present, make, send));
        if !sent? {
            return Ok(());
        }
        present = next.0;
        fault = fault.or(next.1);
    }
    fault.map_or(Ok(()), Err)
}

/// Makes and sends the parts of some pieces; false if nobody takes them.
fn send_all<P: RowChunk, E: Send>(
    pieces: &[P],
    make: &(impl Fn(&P, Range<usize>) -> Result<Part, E> + Sync),
    send: &(impl Fn(Sent) -> bool + Sync),
) -> Result<bool, E> {
    let ranges = |piece: &P| {
        let rows = piece.rows();
        (0..rows).step_by(PART_ROWS).map(move |start| start..rows.min(start + PART_ROWS))
    };
    let parts: Vec<(&P, Range<usize>)> =
        pieces.iter().flat_map(|piece| ranges(piece).map(move |range| (piece, range))).collect();
    for some in parts.chunks(4 * rayon::current_num_threads()) {
        let made = some.par_iter().map(|(piece, range)| make(piece, range.clone()));
        if !send(made.collect::<Result<_, E>>()?) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::files::FileError;
    use crate::input::{Source, Table};
    use crate::output::{Block, NewColumn, Values};

    /// Rows as they could come of a file: names, scores, and what is said of these.
    #[derive(Clone, Debug)]
    struct Row {
        name: String,
        score: f32,
        prob: Option<f32>,
        bin: Option<u32>,
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let name =
            prop_oneof![Just("a,b"), Just("say \"x\""), Just(" b\u{e9} "), Just(""), Just("two\nlines")];
        let prob = prop_oneof![
            Just(None),
            Just(Some(0.25f32)),
            (0u32..=0x3F80_0000).prop_map(|b| Some(f32::from_bits(b)))
        ];
        let row = (name, 0.0f32..=1.0, prob, proptest::option::of(0u32..70_000));
        let row = row.prop_map(|(name, score, prob, bin)| Row { name: name.into(), score, prob, bin });
        proptest::collection::vec(row, 1..40)
    }

    /// So many of the rows, or a fault after them.
    struct Rows(Vec<Row>);

    impl RowChunk for Rows {
        fn rows(&self) -> usize {
            self.0.len()
        }
    }

    #[derive(Debug)]
    enum Fault {
        Reading(usize),
        Output,
    }

    impl From<OutputError> for Fault {
        fn from(_: OutputError) -> Self {
            Self::Output
        }
    }

    fn block(rows: &[Row]) -> Block<'static> {
        let text = rows.iter().map(|row| row.name.clone().into()).collect();
        Block::new(vec![
            NewColumn::new("a name", Values::Text(text)),
            NewColumn::new("score", Values::F32(rows.iter().map(|row| Some(row.score)).collect())),
            NewColumn::probs("prob", rows.iter().map(|row| row.prob).collect()),
            NewColumn::new("bin", Values::U32(rows.iter().map(|row| row.bin).collect())),
        ])
    }

    /// Writes the rows in pieces, up to a fault in a row.
    fn written(path: &Path, rows: &[Row], piece_rows: usize, fault: Option<usize>) -> Result<Vec<u8>, Fault> {
        let format = TableFormat::of(path).unwrap();
        let mut pieces = rows.chunks(piece_rows).scan(0, |done, rows| {
            *done += rows.len();
            Some((*done, rows.to_vec()))
        });
        let read = || match pieces.next() {
            Some((done, _)) if fault.is_some_and(|fault| fault < done) => Err(Fault::Reading(fault.unwrap())),
            piece => Ok(piece.map(|(_, rows)| Rows(rows))),
        };
        let place = OutputPlace::File { path, overwrite: true };
        write_stream(place, format, read, |piece: &Rows, range| {
            Ok(Part::new(format, &block(&piece.0[range])))
        })?;
        Ok(fs::read(path).unwrap())
    }

    /// The plain way: every row by the csv crate.
    fn plain_csv(rows: &[Row]) -> Vec<u8> {
        let shown = |value: Option<String>| value.unwrap_or_default();
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(["a name", "score", "prob", "bin"]).unwrap();
        for row in rows {
            let [prob, bin] =
                [row.prob.map(|p| p.to_string()), row.bin.map(|bin| bin.to_string())].map(shown);
            writer.write_record([row.name.clone(), row.score.to_string(), prob, bin]).unwrap();
        }
        writer.into_inner().unwrap()
    }

    /// A row's name, score, probability and bin.
    type ReadRow = (String, f64, Option<f64>, Option<f64>);

    /// What a table of our own formats holds, by our own readers.
    fn read_back(path: &Path) -> Result<Vec<ReadRow>, FileError> {
        let table = Table::read(&Source::read(path, &|_| ())?)?;
        let names = table.shown(table.numbers("score")?.len());
        let columns = ["prob", "bin"].map(|name| table.optional_numbers(name).unwrap().values);
        let scores = table.numbers("score")?.values;
        let name = |row| names.record(row).next().unwrap().into_owned();
        Ok((0..scores.len()).map(|row| (name(row), scores[row], columns[0][row], columns[1][row])).collect())
    }

    #[cfg(feature = "arrow")]
    const TABLES: [&str; 4] = ["csv", "jsonl", "parquet", "arrow"];
    #[cfg(not(feature = "arrow"))]
    const TABLES: [&str; 2] = ["csv", "jsonl"];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn pieces_of_any_size_give_the_bytes_of_the_plain_way(rows in rows()) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out.csv");
            for piece_rows in [1, 2, 7, 65_536] {
                prop_assert_eq!(written(&path, &rows, piece_rows, None).unwrap(), plain_csv(&rows));
            }
        }

        #[test]
        fn every_format_holds_the_same_bits(rows in rows()) {
            let folder = tempfile::tempdir().unwrap();
            for name in TABLES {
                let path = folder.path().join("out").with_extension(name);
                for piece_rows in [1, 2, 7, 65_536] {
                    written(&path, &rows, piece_rows, None).unwrap();
                    for (row, (name, score, prob, bin)) in rows.iter().zip(read_back(&path).unwrap()) {
                        // Text of either end has the fewest digits that give the f32 back.
                        let bits = |value: f64| (value as f32).to_bits();
                        prop_assert_eq!((&name, bits(score)), (&row.name, row.score.to_bits()));
                        prop_assert_eq!(prob.map(bits), row.prob.map(f32::to_bits));
                        prop_assert_eq!(bin, row.bin.map(f64::from));
                    }
                }
            }
            let path = folder.path().join("out.npy");
            for piece_rows in [1, 2, 7, 65_536] {
                let bytes = written(&path, &rows, piece_rows, None).unwrap();
                let floats: Vec<f32> = npyz::NpyFile::new(&bytes[..]).unwrap().into_vec().unwrap();
                let is_of = |(got, row): (&f32, &Row)| match row.prob {
                    Some(prob) => prob.to_bits() == got.to_bits(),
                    None => got.is_nan(),
                };
                let are_of = floats.len() == rows.len() && floats.iter().zip(&rows).all(is_of);
                prop_assert!(are_of, "pieces of {piece_rows} rows");
            }
        }

        #[test]
        fn a_fault_anywhere_leaves_what_there_was(rows in rows(), fault in any::<proptest::sample::Index>()) {
            let fault = fault.index(rows.len());
            let folder = tempfile::tempdir().unwrap();
            for name in TABLES.into_iter().chain(["npy"]) {
                let path = folder.path().join("out").with_extension(name);
                fs::write(&path, b"old").unwrap();
                for piece_rows in [1, 2, 7, 65_536] {
                    let failed = written(&path, &rows, piece_rows, Some(fault));
                    prop_assert!(matches!(failed, Err(Fault::Reading(row)) if row == fault), "{failed:?}");
                    prop_assert_eq!(fs::read(&path).unwrap(), b"old");
                }
                fs::remove_file(&path).unwrap();
            }
            prop_assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        }
    }

    #[test]
    fn pieces_of_many_parts_stay_in_order() {
        let row = |i: usize| Row { name: i.to_string(), score: 0.5, prob: None, bin: Some(i as u32) };
        let rows: Vec<Row> = (0..3 * PART_ROWS + 1).map(row).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        for piece_rows in [PART_ROWS / 2 + 1, PART_ROWS, rows.len()] {
            assert_eq!(written(&path, &rows, piece_rows, None).unwrap(), plain_csv(&rows));
        }
    }
}
