//! From a file of held-out rows to the file that a device reads, and back: what `calib fit` and `calib inspect` do, in a program.
//!
//! ```sh
//! cargo run -p calib-host --example file_to_artifact -- rows.csv calibrator.cal
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};

use calib_host::ScoreKind;
use calib_host::artifact::guarantee_text;
use calib_host::io::files::{read_artifact, write_file};
use calib_host::io::input::{Source, Table, binary_data, sha256};
use calib_host::job::{FitOptions, fit};

/// Fits to the columns `score` and `label` of a table of any format, and writes the artifact.
fn run(rows: &Path, calibrator: &Path) -> Result<String, Box<dyn Error>> {
    let source = Source::read(rows, &|_| ())?;
    let table = Table::read(&source)?;
    let data =
        binary_data(&table.numbers("score")?, &table.labels("label")?, ScoreKind::Probability)?.on_device();
    let mut options = FitOptions::default();
    options.data_sha256 = Some(sha256(&[&source]));
    let fitted = fit(&data.into(), &options)?;
    write_file(calibrator, true, |out| out.write_all(fitted.artifact.as_bytes()))?;
    Ok(guarantee_text(&read_artifact(calibrator)?).statement)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [rows, calibrator] = &arguments[..] else {
        return Err("usage: file_to_artifact ROWS CALIBRATOR".into());
    };
    println!("{}", run(rows, calibrator)?);
    Ok(())
}

#[test]
fn a_file_becomes_an_artifact() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let rows = folder.path().join("rows.csv");
    let lines =
        (0..1_000).map(|row| format!("{},{}\n", f64::from(row) / 1e3, u32::from(row * 61 % 1000 < row)));
    std::fs::write(&rows, "score,label\n".to_owned() + &lines.collect::<String>())?;
    let statement = run(&rows, &folder.path().join("calibrator.cal"))?;
    assert!(!statement.is_empty());
    Ok(())
}
