//! Writes scores and labels of any number of rows, for measurements: `large_files FOLDER ROWS` makes `scores.npy` of f32,
//! `labels.npy` of u8, and both in `rows.parquet`.

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
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(rows)) = (arguments.next(), arguments.next()) else {
        return Err("usage: large_files FOLDER ROWS".into());
    };
    let (folder, rows) = (Path::new(&folder), rows.parse::<u64>()?);
    let mut scores_npy = npy(&folder.join("scores.npy"), "<f4", rows)?;
    let mut labels_npy = npy(&folder.join("labels.npy"), "|u1", rows)?;
    let mut parquet: Option<ArrowWriter<File>> = None;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut left = rows;
    while left > 0 {
        let batch_rows = left.min(BATCH_ROWS);
        left -= batch_rows;
        // An overconfident classifier: uniform scores, with a truth of s^1.5.
        let (scores, labels): (Vec<f32>, Vec<u8>) = (0..batch_rows)
            .map(|_| {
                let score: f32 = rng.random();
                (score, u8::from(rng.random::<f32>() < score.powf(1.5)))
            })
            .unzip();
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

/// A file that begins with the header of an array of one dimension; the elements, little-endian, are still to come.
fn npy(path: &Path, dtype: &str, rows: u64) -> std::io::Result<BufWriter<File>> {
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({rows},), }}");
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
