//! What is wrong in each format, where, and what to do; and that no damage is a crash.

use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
};
use arrow_ipc::CompressionType;
use calib_host::io::files::FileError;
use calib_host::io::input::Chunks;
use insta::assert_snapshot;
use parquet::basic::Compression as Codec;
use zip::CompressionMethod;

use crate::npy::{Npy, f32s, f64s, i64s, labels};
use crate::refusal::good;
use crate::transcript::{add, note, refused, said};
use crate::workplace::Run;
use crate::written::{arrow_file, arrow_stream, batch, column, gz, npz, parquet, zip};

const FIT: &str = "calib fit --method umd --bins 2 --scores FILE -o out";
const WRITE: &str = "  hint: write or copy the file again; pandas does it with to_feather and to_parquet\n";

/// A fit to the scores in a file of this name.
#[track_caller]
fn fit(name: &'static str, bytes: impl AsRef<[u8]>) {
    refused(&[(name, bytes.as_ref().to_vec())], &FIT.replace("FILE", name));
}

#[test]
fn what_is_no_file_of_its_name() {
    for name in ["bad.gz", "bad.npz", "bad.arrow", "bad.feather", "bad.arrows", "bad.parquet"] {
        fit(name, "");
        fit(name, "score,label\n0.1,1\n");
    }
    fit("bad.jsonl", "");
    fit("bad.feather", b"FEA1\0\0\0\0");
    said!();
}

#[test]
fn what_is_no_data_is_named() {
    let artifact = good().bytes("cal.bin");
    fit("bad.csv", &artifact);
    fit("bad.npy", &artifact);
    fit("bad.csv.gz", gz(&artifact));
    // Of pickle.dumps({"score": [0.5]}, protocol) the first bytes, in the protocols of Python 3.0, 3.4 and 3.8.
    for start in [&b"\x80\x03}q\x00X"[..], b"\x80\x04\x95\x1d\x00", b"\x80\x05\x95\x1d\x00"] {
        fit("bad.pkl", start);
    }
    said!();
}

#[test]
fn gzip_that_is_broken() {
    let bytes = gz("score,label\n0.1,0\n0.2,1\n".repeat(20));
    for cut in [2, 10, bytes.len() / 2, bytes.len() - 1] {
        fit("bad.csv.gz", &bytes[..cut]);
    }
    let mut wrong_crc = bytes.clone();
    let at = bytes.len() - 8;
    wrong_crc[at] ^= 1;
    // Lines are those of the text inside.
    for bytes in [wrong_crc, gz(&bytes), gz(""), gz("score,label\n0.1,0\nx,1\n")] {
        fit("bad.csv.gz", bytes);
    }
    said!();
}

#[test]
fn standard_input_is_one_input() {
    for line in [
        "calib fit --method umd --bins 2 --scores - --labels - -o out",
        "calib fit --method umd --reduction top-label --rows-per-bin 10 --logits - --labels - -o out",
        "calib assess --probs - --labels -",
    ] {
        refused(&[], line);
    }
    let place = good().with("bad.csv", "score,label\n0.1,0\nx,1\n");
    for file in ["bad.csv", "/dev/null"] {
        let input = std::fs::File::open(place.path().join(file)).unwrap();
        let line = FIT.replace("FILE", "-");
        let run = place.command(line.strip_prefix("calib ").unwrap()).stdin(input).output().unwrap();
        add(&format!("{line} < {file}"), &Run::from(run));
    }
    said!();
}

#[test]
fn json_lines_that_are_wrong() {
    for bad in [
        r#"{"score": 0.2,"#,
        r#"{"score": NaN}"#,
        "[0.2, 1]",
        "0.2,1",
        r#"{"score": 1} {}"#,
        r#"{"score": null, "label": 1}"#,
        r#"{"label": 1}"#,
        r#"{"score": 0.2}"#,
        r#"{"score": "0.2", "label": 1}"#,
        r#"{"score": "a\nb", "label": 1}"#,
        r#"{"score": true, "label": 1}"#,
        r#"{"score": 1.5, "label": 1}"#,
        r#"{"score": 1e999, "label": 1}"#,
        r#"{"score": 0.2, "label": 0.5}"#,
        r#"{"score": 0.2, "label": 2}"#,
        r#"{"score": 0.2, "score": 0.2, "label": 1}"#,
        r#"{"score": [0.2], "label": 1}"#,
    ] {
        let lines = [r#"{"score": 0.1, "label": 0}"#, "", bad, r#"{"score": 0.3, "label": 1}"#, ""];
        fit("bad.jsonl", lines.join("\n"));
    }
    for text in [r#"{"pred": 1, "label": 1}"#, "{}\n{}\n", "{}", "\n\n"] {
        fit("bad.jsonl", text);
    }
    fit("bad.jsonl", b"{\"score\": 1, \"label\": 1}\n{\"a\": \"\xff\"}\n");
    fit("bad.json", r#"[{"score": 1, "label": 1}]"#);
    // A parser that calls itself for each of these would crash.
    fit("bad.jsonl", format!("{{\"score\": 0.1, \"label\": 0, \"x\": {}", "[".repeat(1 << 20)));
    said!();
}

#[test]
fn archives_that_are_wrong() {
    let table = |members: &[(&str, Npy)]| npz(members, CompressionMethod::Deflated);
    let scores = || ("score", f64s(&[40], (0..40).map(|row| f64::from(row) / 40.0)));
    let y = || ("label", labels("|u1", &[0, 1].repeat(20)));
    let whole = table(&[scores(), y()]);
    for cut in [4, 30, whole.len() / 2, whole.len() - 1] {
        fit("bad.npz", &whole[..cut]);
    }
    fit("bad.npz", zip([("readme.txt", &b"hello"[..])], CompressionMethod::Stored));
    fit("bad.npz", zip([], CompressionMethod::Stored));
    fit("bad.npz", zip([("score.npy", &b"hello"[..]), ("label.npy", b"x")], CompressionMethod::Stored));

    // One bit of the first array's data.
    let mut wrong_crc = npz(&[scores(), y()], CompressionMethod::Stored);
    let at = wrong_crc.windows(6).position(|bytes| bytes == b"\x93NUMPY").unwrap() + 200;
    wrong_crc[at] ^= 1;
    fit("bad.npz", &wrong_crc);
    // A header that claims more than there is, behind which no checksum is right either: it is found before all is unpacked.
    let long = ("score", f64s(&[20_000], (0..20_000).map(|row| f64::from(row) / 20_000.0)));
    let mut short = npz(&[long, y()], CompressionMethod::Stored);
    let at = short.windows(9).position(|bytes| bytes == b"(20000, )").unwrap();
    short[at + 1] = b'9';
    fit("bad.npz", &short);
    // The size that the list of members gives for the first array.
    let mut liar = whole.clone();
    let entry = liar.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    liar[entry + 24..entry + 28].copy_from_slice(&0xFFFF_FFF0u32.to_le_bytes());
    fit("bad.npz", &liar);

    let with_nan = f32s(&[40], (0..40).map(|row| if row == 7 { f32::NAN } else { 0.5 }));
    for (what, members) in [
        ("no score", [("pred", scores().1), y()]),
        ("two columns", [("score", f32s(&[20, 2], [0.5, 0.25].repeat(20))), y()]),
        ("objects", [("score", scores().1.descr("|O")), y()]),
        ("two labels", [scores(), ("label", i64s([0, 1]))]),
        ("a NaN", [("score", with_nan), y()]),
    ] {
        note(&format!("bad.npz: {what}"));
        fit("bad.npz", table(&members));
    }
    fit("bad.npz", table(&[scores()]));
    let line = "calib fit --method umd --bins 2 --scores bad.npz --labels labels.npy -o out";
    refused(&[("bad.npz", table(&[("p", i64s(0..40))]))], line);
    said!();
}

#[test]
fn matrices_that_cannot_be_found() {
    let matrix = || f32s(&[40, 3], [0.0, 1.0, 2.0].repeat(40));
    let bad = f32s(&[2, 3], [0.0, 1.0, 0.0, 0.0, f32::NAN, 0.0]);
    for (members, options) in [
        (vec![("a", matrix()), ("b", matrix()), ("c", i64s([1]))], ""),
        (vec![("a", i64s([1])), ("b", f32s(&[2, 1], [0.0; 2]))], ""),
        (vec![("a", matrix()), ("b", matrix())], "--score-column x"),
        (vec![("a", matrix()), ("b", f64s(&[2], [0.0; 2]))], "--score-column b"),
        (vec![("logits", bad.clone()), ("b", matrix())], ""),
        (vec![("logits", bad)], ""),
    ] {
        let line = format!("calib apply top.bin --logits bad.npz {options} -o out");
        refused(&[("bad.npz", npz(&members, CompressionMethod::Stored))], &line);
    }
    let t = ("t.parquet", parquet(&table(0.5, Some(1)), Codec::SNAPPY));
    refused(&[t], "calib apply top.bin --logits t.parquet -o out");
    said!();
}

/// Forty rows, of which number 7 has this score and this label.
fn table(score: impl Into<Option<f32>>, label: Option<i64>) -> RecordBatch {
    let score = score.into();
    let scores: Float32Array =
        (0..40).map(|row| if row == 7 { score } else { Some(row as f32 / 40.0) }).collect();
    let labels: Int64Array = (0..40).map(|row| if row == 7 { label } else { Some(row % 2) }).collect();
    batch(&[("score", column::<Float32Array>(scores)), ("label", column::<Int64Array>(labels))])
}

/// An Arrow file, an Arrow stream and a Parquet file.
fn columnar(batch: &RecordBatch) -> [(&'static str, Vec<u8>); 3] {
    [
        ("bad.arrow", arrow_file(batch, Some(CompressionType::LZ4_FRAME))),
        ("bad.arrows", arrow_stream(batch, None)),
        ("bad.parquet", parquet(batch, Codec::SNAPPY)),
    ]
}

#[test]
fn arrow_and_parquet_with_wrong_values() {
    let labels = || column::<Int64Array>(vec![0, 1]);
    let lists = [Some(vec![Some(0.5f32)]), None];
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists));
    let scores = column::<Float64Array>(vec![0.5, 0.5]);
    for (what, batch) in [
        ("no score", table(None, Some(1))),
        ("no label", table(0.5, None)),
        ("a score that is NaN", table(f32::NAN, Some(1))),
        ("a score above 1", table(1.5, Some(1))),
        ("a third label", table(0.5, Some(2))),
        ("no rows", table(0.5, Some(1)).slice(0, 0)),
        ("text", batch(&[("score", column::<StringArray>(vec!["0.5", "0.5"])), ("label", labels())])),
        ("booleans", batch(&[("score", column::<BooleanArray>(vec![true, false])), ("label", labels())])),
        ("lists", batch(&[("score", lists), ("label", labels())])),
        ("no column of scores", batch(&[("pred", scores.clone()), ("label", labels())])),
        ("two", batch(&[("score", scores.clone()), ("score", scores), ("label", labels())])),
    ] {
        for (name, bytes) in columnar(&batch) {
            note(&format!("{name}: {what}"));
            fit(name, bytes);
        }
    }
    for (name, bytes) in
        columnar(&batch(&[("score", column::<Float64Array>(vec![0.5])), ("bin", labels().slice(0, 1))]))
    {
        refused(&[(name, bytes)], &format!("calib apply cal.bin --scores {name} -o out"));
    }
    // What is in a list is told in arrow's words.
    let said = said();
    let lines = said.lines().map(|line| line.split_once("List(").map_or(line, |(before, _)| before));
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn arrow_and_parquet_that_are_cut_off_or_claim_too_much() {
    for (name, bytes) in columnar(&table(0.5, Some(1))) {
        for cut in [7, 11, bytes.len() / 2 + 1, bytes.len() - 3] {
            fit(name, &bytes[..cut]);
        }
    }
    // The length in front of the first compressed buffer, which is the only such number in the file.
    let scores: Float32Array = (0..4000).map(|row| Some((row % 8) as f32 / 8.0)).collect();
    let labels: Int64Array = (0..4000).map(|row| Some(row % 2)).collect();
    let large = batch(&[("score", column::<Float32Array>(scores)), ("label", column::<Int64Array>(labels))]);
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let mut bytes = arrow_stream(&large, Some(codec));
        let len = 8000u64.to_le_bytes();
        let at = bytes.windows(8).position(|window| window == len).expect("half of the scores: 2000 floats");
        bytes[at..at + 8].copy_from_slice(&(1u64 << 50).to_le_bytes());
        fit("bad.arrows", bytes);
    }
    said!();
}

#[test]
fn arrow_with_lengths_that_are_wrong() {
    let mut file = arrow_file(&table(0.5, Some(1)), None);
    let footer_len = file.len() - 10;
    for len in [i32::MAX, -1] {
        file[footer_len..footer_len + 4].copy_from_slice(&len.to_le_bytes());
        fit("bad.arrow", &file);
    }
    let stream = arrow_stream(&table(0.5, Some(1)), None);
    for (at, word) in [(4, -8i32), (4, i32::MAX), (8, -1)] {
        let mut bad = stream.clone();
        bad[at..at + 4].copy_from_slice(&word.to_le_bytes());
        fit("bad.arrows", &bad);
    }
    said!();
}

/// The crate that reads Parquet asserts some of what it reads. The user gets a sentence, and nothing of the panic.
#[test]
fn an_assertion_of_the_parquet_reader_is_a_sentence() {
    let good_bytes = parquet(&table(0.5, Some(1)), Codec::UNCOMPRESSED);
    let metadata_len = good_bytes.len() - 8;
    let metadata_len = u32::from_le_bytes(good_bytes[metadata_len..metadata_len + 4].try_into().unwrap());
    let place = good();
    let path = place.path().join("bad.parquet");
    let problem =
        "bad.parquet: not a Parquet file: it is damaged (column start and length should not be negative)";
    let asserts = (9..8 + metadata_len as usize).filter(|back| {
        let mut bad = good_bytes.clone();
        let at = bad.len() - back;
        bad[at] ^= 1;
        std::fs::write(&path, bad).unwrap();
        let asserted = read_all(&path).is_err_and(|error| error.to_string().ends_with(problem));
        if asserted {
            let run = place.run("calib apply cal.bin --scores bad.parquet -o out --force");
            assert_eq!((run.code, run.stderr), (3, format!("error: {problem}\n{WRITE}")));
        }
        asserted
    });
    assert!(asserts.count() > 0, "the crate asserts no more, and the guard may go");
}

/// Reads all columns as the command does.
fn read_all(path: &Path) -> Result<(), FileError> {
    let mut chunks = Chunks::open_all(path, &std::sync::Arc::default(), &|_| ())?;
    while chunks.read_next()?.is_some() {}
    Ok(())
}

/// Whatever bit is wrong, the answer is a sentence or, where nothing checks it, other numbers; never a crash. The
/// sentence names the file.
#[test]
fn no_damage_is_a_crash() {
    let batch = table(0.5, Some(1));
    let arrays = [
        ("score", f32s(&[40], (0..40).map(|row| row as f32 / 40.0))),
        ("label", labels("|u1", &[0, 1].repeat(20))),
    ];
    let lines: String =
        (0..5).map(|row| format!("{{\"score\": 0.{row}, \"label\": {}}}\n", row % 2)).collect();
    let [file, stream, parquet] = columnar(&batch).map(|(_, bytes)| bytes);
    for (name, bytes, step) in [
        ("gz", gz(&lines), 1),
        ("jsonl", lines.into_bytes(), 1),
        ("npz", npz(&arrays, CompressionMethod::Deflated), 3),
        ("arrow", file, 3),
        ("arrows", stream, 3),
        ("parquet", parquet, 2),
    ] {
        let file = format!("bad.{name}");
        let place = good();
        for at in (0..bytes.len()).step_by(step) {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << (at / step % 8);
            let path = place.path().join(&file);
            std::fs::write(&path, bad).unwrap();
            if let Err(error) = read_all(&path) {
                assert!(error.to_string().contains(&file), "{name}, byte {at}: {error}");
            }
            // A process takes a hundred times as long as its reading: one damage in eight, of all bits in turn.
            if at / step % 8 != at / step / 8 % 8 {
                continue;
            }
            // All columns are read.
            let run = place.run(&format!("calib apply cal.bin --scores {file} -o out --force"));
            let is_sentence = run.stderr.starts_with(&format!("error: {file}")) && run.code == 3;
            // A column that is not the score's may have become none, and is then named.
            let is_fine = run.code == 0
                && run.stderr.contains(" read, ")
                && run.stderr.contains(" written\nwrote out, ");
            assert!(is_sentence || is_fine, "{name}, byte {at}: {} {}", run.code, run.stderr);
        }
    }
}
