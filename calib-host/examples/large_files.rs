//! Writes scores and labels of any number of rows, for measurements: `large_files FOLDER ROWS arrays` makes `scores.npy` of
//! f32, `labels.npy` of u8, and both in `rows.parquet`; with `texts` in place of `arrays`, both in `rows.csv` and `rows.jsonl`;
//! with a number of classes, logits of so many classes in `logits.npy` and the true ones in `labels.npy`.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, RecordBatch, UInt8Array};
use parquet::arrow::ArrowWriter;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const BATCH_ROWS: u64 = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rows, what] = &arguments[..] else {
        return Err("usage: large_files FOLDER ROWS arrays|texts|CLASSES".into());
    };
    let (folder, rows) = (Path::new(folder), rows.parse::<u64>()?);
    match &**what {
        "arrays" => arrays(folder, rows),
        "texts" => texts(folder, rows),
        other => match other.parse() {
            Ok(classes @ 2..) => logits(folder, rows, classes),
            _ => Err(format!("neither arrays, nor texts, nor a number of classes: {other}").into()),
        },
    }
}

/// The rows in batches: an overconfident classifier, with uniform scores and a truth of s^1.5.
fn batches(rows: u64) -> impl Iterator<Item = (Vec<f32>, Vec<u8>)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut left = rows;
    std::iter::from_fn(move || {
        let batch_rows = left.min(BATCH_ROWS);
        left -= batch_rows;
        let mut row = |_| {
            let score: f32 = rng.random();
            (score, u8::from(rng.random::<f32>() < score.powf(1.5)))
        };
        (batch_rows > 0).then(|| (0..batch_rows).map(&mut row).unzip())
    })
}

fn arrays(folder: &Path, rows: u64) -> Result<(), Box<dyn Error>> {
    let mut scores_npy = npy(&folder.join("scores.npy"), "<f4", &format!("{rows},"))?;
    let mut labels_npy = npy(&folder.join("labels.npy"), "|u1", &format!("{rows},"))?;
    let mut parquet: Option<ArrowWriter<File>> = None;
    for (scores, labels) in batches(rows) {
        scores_npy.write_all(bytemuck::cast_slice(&scores))?;
        labels_npy.write_all(&labels)?;
        let score: ArrayRef = Arc::new(Float32Array::from(scores));
        let label: ArrayRef = Arc::new(UInt8Array::from(labels));
        let batch = RecordBatch::try_from_iter([("score", score), ("label", label)])?;
        if parquet.is_none() {
            let file = File::create(folder.join("rows.parquet"))?;
            parquet = Some(ArrowWriter::try_new(file, batch.schema(), None)?);
        }
        parquet.as_mut().ok_or("made above")?.write(&batch)?;
    }
    parquet.ok_or("no rows")?.close()?;
    scores_npy.flush()?;
    labels_npy.flush()?;
    Ok(())
}

fn texts(folder: &Path, rows: u64) -> Result<(), Box<dyn Error>> {
    let [mut csv, mut json] =
        [File::create(folder.join("rows.csv"))?, File::create(folder.join("rows.jsonl"))?]
            .map(BufWriter::new);
    writeln!(csv, "score,label")?;
    for (scores, labels) in batches(rows) {
        for (score, label) in scores.into_iter().zip(labels) {
            writeln!(csv, "{score},{label}")?;
            writeln!(json, "{{\"score\": {score}, \"label\": {label}}}")?;
        }
    }
    csv.flush()?;
    json.flush()?;
    Ok(())
}

/// An overconfident classifier: logits three times as large as those that the labels are drawn from.
fn logits(folder: &Path, rows: u64, classes: usize) -> Result<(), Box<dyn Error>> {
    let mut logits_npy = npy(&folder.join("logits.npy"), "<f4", &format!("{rows}, {classes}"))?;
    let mut labels_npy = npy(&folder.join("labels.npy"), "|u1", &format!("{rows},"))?;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut row = vec![0.0f32; classes];
    for _ in 0..rows {
        row.fill_with(|| 2.0 * rng.random::<f32>() - 1.0);
        let exps = || row.iter().map(|logit| logit.exp());
        let mut below = rng.random::<f32>() * exps().sum::<f32>();
        let label = exps().position(|exp| {
            below -= exp;
            below < 0.0
        });
        row.iter_mut().for_each(|logit| *logit *= 3.0);
        logits_npy.write_all(bytemuck::cast_slice(&row))?;
        labels_npy.write_all(&[label.unwrap_or(classes - 1) as u8])?;
    }
    logits_npy.flush()?;
    labels_npy.flush()?;
    Ok(())
}

/// A file that begins with the header of an array of this shape; the elements, little-endian, are still to come.
fn npy(path: &Path, dtype: &str, shape: &str) -> std::io::Result<BufWriter<File>> {
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length take 10 bytes; the whole header is a multiple of 64 and ends with a line feed.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&(header.len() as u16).to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    Ok(file)
}
