//! Reads scores and labels from a table, fits to them, and says where a value is wrong.
//!
//! ```sh
//! cargo run -p calib-io --example read_table
//! ```

use std::error::Error;

use calib_fit::ScoreKind;
use calib_fit::job::{FitOptions, fit};
use calib_io::files::FileError;
use calib_io::input::{Source, Table, binary_data};

/// A table as a program in Germany writes it: with semicolons, decimal commas and a column that nobody asks for.
fn rows() -> String {
    let row = |row: u32| format!("P{row};0,{:03};{}\n", row, u32::from(row * 61 % 1000 < row));
    "patient;score;label\n"
        .chars()
        .chain((0..1_000).flat_map(|n| row(n).chars().collect::<Vec<_>>()))
        .collect()
}

fn data(name: &str, text: String) -> Result<calib_fit::BinaryData, FileError> {
    let table = Table::read(&Source::from_bytes(name, text.into_bytes())?)?;
    let (scores, labels) = (table.numbers("score")?, table.labels("label")?);
    binary_data(&scores, &labels, ScoreKind::Probability)
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = data("rows.csv", rows())?;
    println!("{} rows", data.len());
    let fitted = fit(&data.into(), &FitOptions::default())?;
    println!("an artifact of {} bytes", fitted.artifact.as_bytes().len());

    let wrong = self::data("wrong.csv", rows().replace("0,500", "1,500")).expect_err("one score is above 1");
    println!("{wrong}");
    assert!(wrong.to_string().contains("line 502"));
    Ok(())
}

#[test]
fn a_wrong_value_has_a_line() -> Result<(), Box<dyn Error>> {
    main()
}
