//! Files of any bytes, read in every way that commands do.

use std::panic;
use std::process;
use std::sync::{Once, OnceLock};

use calib_fit::{BinaryData, ScoreKind, VectorKind};
use calib_io::files::FileError;
use calib_io::input::{Chunks, ColumnType, Source, Table, binary_data, code_vectors, is_matrix, vectors};

static READY: Once = Once::new();

/// In how many ways a file is read.
const WAYS: usize = 4;

/// Reads a file of these bytes in every way. The reader rejects it with a message, or its content passes the checks.
///
/// # Panics
///
/// If a reader hands on what it should have refused.
pub fn read(name: &str, bytes: &[u8]) {
    READY.call_once(get_ready);
    let Some(source) = told(Source::from_bytes(name, bytes.to_vec())) else { return };
    (0..WAYS).for_each(|way| read_as(&source, way));
}

/// Reads a file of these bytes in one way of four, which takes a quarter of the time; in every way if `EVERY_WAY` is set, as it is where seeds
/// alone are run.
///
/// # Panics
///
/// As [`read`].
pub fn read_one_way(name: &str, bytes: &[u8], way: u8) {
    static IS_EVERY: OnceLock<bool> = OnceLock::new();
    READY.call_once(get_ready);
    if *IS_EVERY.get_or_init(|| std::env::var_os("EVERY_WAY").is_some()) {
        return read(name, bytes);
    }
    if let Some(source) = told(Source::from_bytes(name, bytes.to_vec())) {
        read_as(&source, usize::from(way) % WAYS);
    }
}

fn read_as(source: &Source, way: usize) {
    match way {
        0 => in_chunks(source),
        1 => tables(source),
        2 => matrices(source),
        _ => matrices_of_codes(source),
    }
}

fn tables(source: &Source) {
    if let Some(table) = told(Table::read(source)) {
        look_at(&table);
    }
    if let Some(table) = told(Table::read_only(source, &["score", "label"])) {
        columns(&table, "score", "label");
    }
}

fn matrices(source: &Source) {
    let _ = told(is_matrix(source, "score"));
    for kind in [VectorKind::Logits, VectorKind::Probs] {
        let Some(vectors) = told(vectors(source, kind)) else { continue };
        assert!(vectors.len() > 0 && vectors.classes() >= 2);
        assert!(vectors.probs_f64().iter().all(|prob| (0.0..=1.0).contains(prob)));
        assert!(vectors.top_labels().iter().all(|top| usize::from(top.class) < vectors.classes()));
    }
}

fn matrices_of_codes(source: &Source) {
    let encoding = calib_core::ScoreEncoding::U8 { scale: 1.0 / 256.0, zero_point: 0 };
    for (name, kind) in [None, Some("score,label")]
        .into_iter()
        .flat_map(|name| [(name, VectorKind::Probs), (name, VectorKind::Logits)])
    {
        let Some(codes) = told(code_vectors(source, encoding, kind, name)) else { continue };
        assert!(codes.len() > 0 && codes.classes() >= 2 && codes.kind() == kind);
    }
}

/// A file read in chunks, which are short here, has the points or the fault that it has as a whole.
///
/// # Panics
///
/// If it has others.
fn in_chunks(source: &Source) {
    let collected = || {
        let columns = [("score", ColumnType::Numbers), ("label", ColumnType::Labels)];
        let mut chunks = Chunks::of_source(source, &columns)?;
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        while let Some(table) = chunks.read_next()? {
            if table.is_lone_array() {
                return Err(FileError::NoLabels);
            }
            labels.extend(table.binary_labels("label")?.values);
            scores.extend(table.device_scores("score", ScoreKind::Probability)?.values);
        }
        Ok(BinaryData::from_device_scores(&scores, &labels)
            .expect("as many scores as labels, and at least one"))
    };
    let whole = || {
        let table = Table::read_only(source, &["score", "label"])?;
        if table.is_lone_array() {
            return Err(FileError::NoLabels);
        }
        let labels = table.labels("label")?;
        labels.check_classes(2)?;
        binary_data(&table.numbers("score")?, &labels, ScoreKind::Probability)
    };
    match (told(collected()), told(whole())) {
        (Some(chunks), Some(whole)) => {
            assert_eq!(chunks.len(), whole.len());
            assert_eq!(chunks.rows_digest(), whole.rows_digest());
        }
        (chunks, whole) => assert_eq!(chunks.is_some(), whole.is_some(), "in chunks, and as a whole"),
    }
}

fn get_ready() {
    stay_on_this_thread();
    end_at_own_panics();
}

/// Lets nothing be handed to another thread, which takes longer than to read a file as short as these.
fn stay_on_this_thread() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("nobody else makes the pool");
}

/// Lets a panic in calib's own code end the program. Readers catch panics, those of the crates that they use: so none of
/// calib's own would be seen.
fn end_at_own_panics() {
    // The first reader puts its hook in front of others, so it comes before this one.
    let _ = told(Source::from_bytes("scores.npy", Vec::new()).and_then(|source| is_matrix(&source, "score")));
    let readers = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let own = |file: &str| ["/calib-core/", "/calib-host/"].iter().any(|folder| file.contains(folder));
        if info.location().is_some_and(|place| own(place.file())) {
            eprintln!("{info}");
            process::abort();
        }
        readers(info);
    }));
}

/// Everything of a table, as it is shown and as every kind of column.
fn look_at(table: &Table) {
    columns(table, "score", "label");
    columns(table, "label", "score");
    let rows = told(table.optional_numbers("score")).map_or(0, |column| column.len());
    let shown = table.shown(rows);
    let width = shown.header().count();
    for row in 0..rows {
        assert_eq!(shown.record(row).count(), width);
    }
}

/// Two columns as scores and labels, and as codes.
fn columns(table: &Table, scores: &str, labels: &str) {
    let encoding = calib_core::ScoreEncoding::I8 { scale: 0.5, zero_point: 3 };
    if let Some((integers, codes)) = told(table.integers(scores)).zip(told(table.codes(scores, encoding))) {
        assert_eq!(codes.len(), integers.len());
    }
    let _ = told(table.bins(scores));
    let Some((scores, labels)) = told(table.numbers(scores)).zip(told(table.labels(labels))) else { return };
    if let Some(data) = told(binary_data(&scores, &labels, ScoreKind::Probability)) {
        assert!(scores.len() == labels.len() && data.len() == scores.len() as u64);
        assert!(told(scores.scores()).is_some_and(|checked| checked.len() == scores.len()));
    }
}

/// What was read; a fault has words.
fn told<T>(read: Result<T, FileError>) -> Option<T> {
    read.inspect_err(|error| assert!(!error.to_string().is_empty())).ok()
}
