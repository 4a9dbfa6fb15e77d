//! What is wrong in each format, where, and what to do; and that no damage is a crash.

use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
};
use arrow_ipc::CompressionType;
use calib_host::io::files::FileError;
use calib_host::io::input::Pieces;
use parquet::basic::Compression as Codec;
use zip::CompressionMethod;

use crate::npy::{Npy, f32s, f64s, i64s, labels};
use crate::refusal::{
    CLASSES, DATA, EVERY_ROW, GAP, INTEGERS, LOGIT_OR_PERCENT, OBJECTS, ONE_OF_TWO, ROW, SHAPE, TWO_CLASSES,
    good, refused,
};
use crate::workplace::Run;
use crate::written::{arrow_file, arrow_stream, batch, column, gz, npz, parquet, zip};

const FIT: &str = "calib fit --method umd --bins 2 --scores FILE -o out";
const WRITE: &str = "  hint: write or copy the file again; pandas does it with to_feather and to_parquet\n";
const SAVEZ: &str = "  hint: write it with numpy.savez\n";
const GZIP: &str = "  hint: compress or copy the file again\n";
const OBJECT: &str =
    "  hint: write one object a line; pandas does it with to_json(orient=\"records\", lines=True)\n";
const CHOOSE: &str = "  hint: choose another column with --score-column, --label-column or the like; of a table write one object a row, as \
     pandas does with to_json(orient=\"records\", lines=True)\n";

/// A fit to the scores in a file of this name.
#[track_caller]
fn fit_refused(name: &'static str, bytes: impl AsRef<[u8]>, problem: &str) {
    let stderr = format!("error: {name}{problem}");
    refused(&[(name, bytes.as_ref().to_vec())], &FIT.replace("FILE", name), 3, &stderr);
}

#[test]
fn what_is_no_file_of_its_name() {
    for (name, what, hint) in [
        ("bad.gz", "a gzip file", GZIP),
        ("bad.npz", "a NumPy archive", SAVEZ),
        ("bad.arrow", "an Arrow file", WRITE),
        ("bad.feather", "an Arrow file", WRITE),
        ("bad.arrows", "an Arrow stream", WRITE),
        ("bad.parquet", "a Parquet file", WRITE),
    ] {
        fit_refused(name, "", &format!(": the file is empty\n{DATA}"));
        fit_refused(
            name,
            "score,label\n0.1,1\n",
            &format!(": not {what}: it does not start like one\n{hint}"),
        );
    }
    fit_refused("bad.jsonl", "", &format!(": the file is empty\n{DATA}"));
    let feather1 = format!(": not an Arrow file: it is Feather version 1\n{WRITE}");
    fit_refused("bad.feather", b"FEA1\0\0\0\0", &feather1);
}

#[test]
fn what_is_no_data_is_named() {
    let artifact = crate::refusal::good().bytes("cal.bin");
    let named = ": this is a calib artefact, not data\n  hint: give the file with the scores\n";
    fit_refused("bad.csv", &artifact, named);
    fit_refused("bad.npy", &artifact, named);
    fit_refused("bad.csv.gz", gz(&artifact), named);
    // Of pickle.dumps({"score": [0.5]}, protocol) the first bytes, in the protocols of Python 3.0, 3.4 and 3.8.
    for start in [&b"\x80\x03}q\x00X"[..], b"\x80\x04\x95\x1d\x00", b"\x80\x05\x95\x1d\x00"] {
        fit_refused(
            "bad.pkl",
            start,
            ": this is a pickle, which is not read: reading one may run any program\n  \
             hint: write arrays with numpy.save, and tables with DataFrame.to_parquet or to_csv\n",
        );
    }
}

#[test]
fn gzip_that_is_broken() {
    let bytes = gz("score,label\n0.1,0\n0.2,1\n".repeat(20));
    for cut in [2, 10, bytes.len() / 2, bytes.len() - 1] {
        fit_refused("bad.csv.gz", &bytes[..cut], &format!(": not a gzip file: it is cut off\n{GZIP}"));
    }
    let mut wrong_crc = bytes.clone();
    let at = bytes.len() - 8;
    wrong_crc[at] ^= 1;
    let damaged = format!(
        ": not a gzip file: it is damaged (corrupt gzip stream does not have a matching checksum)\n{GZIP}"
    );
    fit_refused("bad.csv.gz", wrong_crc, &damaged);
    fit_refused("bad.csv.gz", gz(&bytes), &format!(": not a gzip file: it is compressed twice\n{GZIP}"));
    fit_refused("bad.csv.gz", gz(""), &format!(": the file is empty\n{DATA}"));
    // Lines are those of the text inside.
    let line = format!(", line 3, column score: \"x\" is not a number\n{ROW}");
    fit_refused("bad.csv.gz", gz("score,label\n0.1,0\nx,1\n"), &line);
}

#[test]
fn standard_input_is_one_input() {
    let error = "error: only one input can be -, which is standard input\n";
    for line in [
        "calib fit --method umd --bins 2 --scores - --labels - -o out",
        "calib fit --method umd --reduction top-label --points-per-bin 10 --logits - --labels - -o out",
        "calib assess --probs - --labels -",
    ] {
        refused(&[], line, 2, error);
    }
    let place = good().with("bad.csv", "score,label\n0.1,0\nx,1\n");
    for (file, stderr) in [
        ("bad.csv", format!("error: standard input, line 3, column score: \"x\" is not a number\n{ROW}")),
        ("/dev/null", format!("error: standard input: the file is empty\n{DATA}")),
    ] {
        let input = std::fs::File::open(place.path().join(file)).unwrap();
        let mut calib = place.command(FIT.replace("FILE", "-").strip_prefix("calib ").unwrap());
        let run: Run = calib.stdin(input).output().unwrap().into();
        assert_eq!((run.code, run.stderr), (3, stderr));
    }
}

#[test]
fn json_lines_that_are_wrong() {
    let line = |line: &str| {
        format!("{{\"score\": 0.1, \"label\": 0}}\n\n{line}\n{{\"score\": 0.3, \"label\": 1}}\n")
    };
    for (bad, problem, hint) in [
        ("{\"score\": 0.2,", "not a JSON object: EOF while parsing a value at character 14", OBJECT),
        ("{\"score\": NaN}", "not a JSON object: expected value at character 11", OBJECT),
        ("[0.2, 1]", "not a JSON object: it is another kind of value", OBJECT),
        ("0.2,1", "not a JSON object: it is another kind of value at character 3", OBJECT),
        ("{\"score\": 1} {}", "not a JSON object: trailing characters at character 14", OBJECT),
    ] {
        fit_refused("bad.jsonl", line(bad), &format!(", line 3: {problem}\n{hint}"));
    }
    let quotes = "  hint: write numbers as numbers, without quotes\n";
    for (bad, column, problem, hint) in [
        ("{\"score\": null, \"label\": 1}", "score", "the value is missing", GAP),
        ("{\"label\": 1}", "score", "the value is missing", GAP),
        ("{\"score\": 0.2}", "label", "the value is missing", GAP),
        ("{\"score\": \"0.2\", \"label\": 1}", "score", "\"0.2\" is text, not a number", quotes),
        ("{\"score\": \"a\\nb\", \"label\": 1}", "score", "\"a\\nb\" is text, not a number", quotes),
        ("{\"score\": true, \"label\": 1}", "score", "\"true\" is not a number", ROW),
        ("{\"score\": 1.5, \"label\": 1}", "score", "the score 1.5 is outside [0, 1]", LOGIT_OR_PERCENT),
        ("{\"score\": 1e999, \"label\": 1}", "score", "the value is infinite", ROW),
        ("{\"score\": 0.2, \"label\": 0.5}", "label", "\"0.5\" is not a whole number", CLASSES),
        (
            "{\"score\": 0.2, \"label\": 2}",
            "label",
            "the label 2 is out of range: the 2 classes are 0 to 1",
            TWO_CLASSES,
        ),
        (
            "{\"score\": 0.2, \"score\": 0.2, \"label\": 1}",
            "score",
            "the column is there twice",
            "  hint: rename one of the two\n",
        ),
    ] {
        fit_refused("bad.jsonl", line(bad), &format!(", line 3, column {column}: {problem}\n{hint}"));
    }
    let lists = format!(", column score: the column holds lists or objects, not numbers\n{CHOOSE}");
    fit_refused("bad.jsonl", line("{\"score\": [0.2], \"label\": 1}"), &lists);
    let there = "  hint: the columns are \"pred\", \"label\": try --score-column \"pred\"\n";
    fit_refused(
        "bad.jsonl",
        "{\"pred\": 1, \"label\": 1}",
        &format!(", column score: there is no such column\n{there}"),
    );
    let not_utf8 = ", line 2: the text is not UTF-8, and may be Latin-1 or Windows-1252\n  hint: save the file as UTF-8: in Excel as \"CSV UTF-8\", or with `iconv -f latin1 -t utf8`\n";
    fit_refused("bad.jsonl", b"{\"score\": 1, \"label\": 1}\n{\"a\": \"\xff\"}\n", not_utf8);
    let array = ", line 1: not a JSON object: it is another kind of value\n";
    fit_refused("bad.json", "[{\"score\": 1, \"label\": 1}]", &format!("{array}{OBJECT}"));
    for none in ["{}\n{}\n", "{}"] {
        fit_refused("bad.jsonl", none, &format!(": there are no rows\n{DATA}"));
    }
    fit_refused("bad.jsonl", "\n\n", &format!(": there are no rows\n{DATA}"));
    // A parser that calls itself for each of these would crash.
    let deep = format!("{{\"score\": 0.1, \"label\": 0, \"x\": {}", "[".repeat(1 << 20));
    let problem = ", line 1: not a JSON object: EOF while parsing a list at character 1048608\n";
    fit_refused("bad.jsonl", deep, &format!("{problem}{OBJECT}"));
}

#[test]
fn archives_that_are_wrong() {
    let table = |members: &[(&str, Npy)]| npz(members, CompressionMethod::Deflated);
    let scores = || ("score", f64s(&[40], (0..40).map(|row| f64::from(row) / 40.0)));
    let y = || ("label", labels("|u1", &[0, 1].repeat(20)));
    let whole = table(&[scores(), y()]);
    let not = |why: &str| format!("not a NumPy archive: {why}\n{SAVEZ}");

    for cut in [4, 30, whole.len() / 2, whole.len() - 1] {
        fit_refused(
            "bad.npz",
            &whole[..cut],
            &format!(": {}", not("its list of members is cut off or damaged")),
        );
    }
    let no_array = zip([("readme.txt", &b"hello"[..])], CompressionMethod::Stored);
    fit_refused("bad.npz", no_array, &format!(": {}", not("there is no array in it")));
    fit_refused(
        "bad.npz",
        zip([], CompressionMethod::Stored),
        &format!(": {}", not("there is no array in it")),
    );
    let text = zip([("score.npy", &b"hello"[..]), ("label.npy", b"x")], CompressionMethod::Stored);
    let not_npy =
        ", column score: not a NumPy array: it does not start like one\n  hint: write it with numpy.save\n";
    fit_refused("bad.npz", text, not_npy);

    // One bit of the first array's data.
    let mut wrong_crc = npz(&[scores(), y()], CompressionMethod::Stored);
    let at = wrong_crc.windows(6).position(|bytes| bytes == b"\x93NUMPY").unwrap() + 200;
    wrong_crc[at] ^= 1;
    fit_refused(
        "bad.npz",
        &wrong_crc,
        &format!(", column score: {}", not("it is damaged (Invalid checksum)")),
    );
    // A header that promises more than there is, behind which no checksum is right either: it is found before all is unpacked.
    let long = ("score", f64s(&[20_000], (0..20_000).map(|row| f64::from(row) / 20_000.0)));
    let mut short = npz(&[long, y()], CompressionMethod::Stored);
    let at = short.windows(9).position(|bytes| bytes == b"(20000, )").unwrap();
    short[at + 1] = b'9';
    let cut = ", column score: the file is cut off: 160128 of 720128 bytes are there\n  hint: save or copy the file again\n";
    fit_refused("bad.npz", &short, cut);
    // The size that the list of members gives for the first array.
    let mut liar = whole.clone();
    let entry = liar.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    liar[entry + 24..entry + 28].copy_from_slice(&0xFFFF_FFF0u32.to_le_bytes());
    let size = not("an array in it has 448 bytes, its list of members says 4294967280");
    fit_refused("bad.npz", &liar, &format!(", column score: {size}"));

    let there = "  hint: the columns are \"pred\", \"label\": try --score-column \"pred\"\n";
    let missing = format!(", column score: there is no such column\n{there}");
    fit_refused("bad.npz", table(&[("pred", scores().1), y()]), &missing);
    let shape = format!(", column score: the shape is (20, 2), expected (rows,)\n{ONE_OF_TWO}");
    fit_refused("bad.npz", table(&[("score", f32s(&[20, 2], [0.5, 0.25].repeat(20))), y()]), &shape);
    let expected = "expected float16, float32 or float64 scores, or integer labels";
    let dtype = format!(", column score: the dtype is |O, {expected}\n{OBJECTS}");
    fit_refused("bad.npz", table(&[("score", scores().1.descr("|O")), y()]), &dtype);
    let rows = format!(", column label: 2 rows, but bad.npz, column score has 40\n{EVERY_ROW}");
    fit_refused("bad.npz", table(&[scores(), ("label", i64s([0, 1]))]), &rows);
    let nan = format!(", row 7, column score: the value is NaN\n{GAP}");
    let with_nan = f32s(&[40], (0..40).map(|row| if row == 7 { f32::NAN } else { 0.5 }));
    fit_refused("bad.npz", table(&[("score", with_nan), y()]), &nan);

    refused(
        &[("bad.npz", table(&[scores()]))],
        &FIT.replace("FILE", "bad.npz"),
        2,
        "error: --labels is needed beside a NumPy array\n",
    );
    let line = "calib fit --method umd --bins 2 --scores bad.npz --labels labels.npy -o out";
    let lone = format!("error: bad.npz: the dtype is <i8, expected float16, float32 or float64\n{INTEGERS}");
    refused(&[("bad.npz", table(&[("p", i64s(0..40))]))], line, 3, &lone);
}

#[test]
fn matrices_that_cannot_be_found() {
    let matrix = || f32s(&[40, 3], [0.0, 1.0, 2.0].repeat(40));
    let refuse = |members: &[(&str, Npy)], options: &str, problem: &str| {
        let line = format!("calib apply top.bin --logits bad.npz {options} -o out");
        refused(
            &[("bad.npz", npz(members, CompressionMethod::Stored))],
            &line,
            3,
            &format!("error: bad.npz{problem}"),
        );
    };
    refuse(
        &[("a", matrix()), ("b", matrix()), ("c", i64s([1]))],
        "",
        ": there is more than one array of two dimensions\n  \
         hint: the arrays are \"a\", \"b\": choose with --score-column\n",
    );
    refuse(
        &[("a", i64s([1])), ("b", f32s(&[2, 1], [0.0; 2]))],
        "",
        ": there is no array of two dimensions\n  hint: give a matrix of shape (rows, classes)\n",
    );
    refuse(
        &[("a", matrix()), ("b", matrix())],
        "--score-column x",
        ", column x: there is no such column\n  \
         hint: the columns are \"a\", \"b\": choose with --score-column, --label-column or the like\n",
    );
    let shape = format!(", column b: the shape is (2,), expected (rows, classes)\n{SHAPE}");
    refuse(&[("a", matrix()), ("b", f64s(&[2], [0.0; 2]))], "--score-column b", &shape);
    let bad = f32s(&[2, 3], [0.0, 1.0, 0.0, 0.0, f32::NAN, 0.0]);
    let nan = format!(", row 1, column 1 of logits: the value is NaN\n{GAP}");
    refuse(&[("logits", bad.clone()), ("b", matrix())], "", &nan);
    refuse(&[("logits", bad)], "", &format!(", row 1, column 1: the value is NaN\n{GAP}"));
    let no_matrix = good().with("t.parquet", parquet(&table(0.5, Some(1)), Codec::SNAPPY));
    let run = no_matrix.run("calib apply top.bin --logits t.parquet -o out");
    let stderr = "error: t.parquet: no columns are numbered as classes are\n  hint: the columns are \"score\", \"label\": name those of the \
                  classes in their order, as in --score-column cat,dog or --score-column p0..p9\n";
    assert_eq!((run.code, run.stderr.as_str()), (3, stderr));
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
    for (batch, place, problem, hint) in [
        (table(None, Some(1)), ", row 7, column score", "the value is missing", GAP),
        (table(0.5, None), ", row 7, column label", "the value is missing", GAP),
        (table(f32::NAN, Some(1)), ", row 7, column score", "the value is NaN", GAP),
        (table(1.5, Some(1)), ", row 7, column score", "the score 1.5 is outside [0, 1]", LOGIT_OR_PERCENT),
        (
            table(0.5, Some(2)),
            ", row 7, column label",
            "the label 2 is out of range: the 2 classes are 0 to 1",
            TWO_CLASSES,
        ),
        (table(0.5, Some(1)).slice(0, 0), "", "there are no rows", DATA),
    ] {
        for (name, bytes) in columnar(&batch) {
            fit_refused(name, bytes, &format!("{place}: {problem}\n{hint}"));
        }
    }
    let labels = || column::<Int64Array>(vec![0, 1]);
    let texts: ArrayRef = column::<StringArray>(vec!["0.5", "0.5"]);
    let lists = [Some(vec![Some(0.5f32)]), None];
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists));
    let quotes = "  hint: write numbers as numbers, without quotes\n";
    for (scores, place, problem, hint) in [
        (texts, ", row 0, column score", "\"0.5\" is text, not a number", quotes),
        (column::<BooleanArray>(vec![true, false]), ", row 0, column score", "\"true\" is not a number", ROW),
    ] {
        for (name, bytes) in columnar(&batch(&[("score", scores), ("label", labels())])) {
            fit_refused(name, bytes, &format!("{place}: {problem}\n{hint}"));
        }
    }
    for (name, bytes) in columnar(&batch(&[("score", lists), ("label", labels())])) {
        let run = good().with(name, bytes).run(&FIT.replace("FILE", name));
        assert!(run.stderr.starts_with(&format!("error: {name}, column score: the column holds List(")));
        assert!(run.stderr.ends_with(&format!(", not numbers\n{CHOOSE}")), "{}", run.stderr);
    }
    let scores = column::<Float64Array>(vec![0.5, 0.5]);
    let there = "  hint: the columns are \"pred\", \"label\": try --score-column \"pred\"\n";
    for (name, bytes) in columnar(&batch(&[("pred", scores.clone()), ("label", labels())])) {
        fit_refused(name, bytes, &format!(", column score: there is no such column\n{there}"));
    }
    let twice = ", column score: the column is there twice\n  hint: rename one of the two\n";
    let same = batch(&[("score", scores.clone()), ("score", scores), ("label", labels())]);
    for (name, bytes) in columnar(&same) {
        fit_refused(name, bytes, twice);
    }
    for (name, bytes) in
        columnar(&batch(&[("score", column::<Float64Array>(vec![0.5])), ("bin", labels().slice(0, 1))]))
    {
        let line = format!("calib apply cal.bin --scores {name} -o out");
        let stderr = format!(
            "error: {name}, column bin: the column to be added is there already\n  \
             hint: {name} looks like an earlier output; apply to the original file\n"
        );
        refused(&[(name, bytes)], &line, 3, &stderr);
    }
}

#[test]
fn arrow_and_parquet_that_are_cut_off_or_promise_too_much() {
    let good_table = table(0.5, Some(1));
    for (name, bytes) in columnar(&good_table) {
        let what = match name {
            "bad.arrow" => "an Arrow file",
            "bad.arrows" => "an Arrow stream",
            _ => "a Parquet file",
        };
        for cut in [7, 11, bytes.len() / 2 + 1, bytes.len() - 3] {
            let stderr = format!(": not {what}: it is cut off\n{WRITE}");
            fit_refused(name, &bytes[..cut], &stderr);
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
        let too_large = ": unpacked, the data are larger than 4 GiB\n  \
                         hint: give fewer rows, or only the columns that are needed\n";
        fit_refused("bad.arrows", bytes, too_large);
    }
}

#[test]
fn arrow_with_lengths_that_are_wrong() {
    let mut file = arrow_file(&table(0.5, Some(1)), None);
    let footer_len = file.len() - 10;
    for (len, why) in [(i32::MAX, "its footer is longer than the file"), (-1, "a length is negative")] {
        file[footer_len..footer_len + 4].copy_from_slice(&len.to_le_bytes());
        fit_refused("bad.arrow", &file, &format!(": not an Arrow file: it is damaged ({why})\n{WRITE}"));
    }
    let stream = arrow_stream(&table(0.5, Some(1)), None);
    for (at, word, why) in [
        (4, -8i32, "it is damaged (a length is negative)"),
        (4, i32::MAX, "it is cut off"),
        (8, -1, "it is damaged (a message's header is not right)"),
    ] {
        let mut bad = stream.clone();
        bad[at..at + 4].copy_from_slice(&word.to_le_bytes());
        fit_refused("bad.arrows", &bad, &format!(": not an Arrow stream: {why}\n{WRITE}"));
    }
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
    let mut pieces = Pieces::open_all(path, &|_| ())?;
    while pieces.read_next()?.is_some() {}
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
                && (run.stderr.starts_with("wrote out, ") || run.stderr.starts_with("left out of out, "));
            assert!(is_sentence || is_fine, "{name}, byte {at}: {} {}", run.code, run.stderr);
        }
    }
}
