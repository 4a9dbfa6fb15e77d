//! Writes a calibrator as source code for a firmware: a header in C that needs no library, and tables in Rust.
//!
//! ```sh
//! cargo run -p calib-io --example export_source -- FOLDER
//! ```

use std::error::Error;
use std::path::Path;

use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
use calib_io::export::{export_c, export_rust};
use calib_io::files::write_file;

fn main() -> Result<(), Box<dyn Error>> {
    // 400 held-out scores; the classifier is overconfident: a score of s is right in s / 2 of the cases.
    let scores = (0..400).map(|row| f64::from(row) / 400.0).collect();
    let data = BinaryData::new(scores, (0..400).map(|row| row % 40 < row / 20).collect())?;
    let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
    let artifact = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;

    let (c, rust) = (export_c(&artifact, "cal")?, export_rust(&artifact, "CAL")?);
    assert!(c.contains("cal_calibrate") && rust.contains("CAL"));
    let Some(folder) = std::env::args().nth(1).filter(|_| !cfg!(test)) else {
        println!("name a folder to write cal.h ({} bytes) and cal.rs ({}) to", c.len(), rust.len());
        return Ok(());
    };
    for (name, source) in [("cal.h", c), ("cal.rs", rust)] {
        // Whole or not at all, and nothing is overwritten.
        write_file(&Path::new(&folder).join(name), false, |out| out.write_all(source.as_bytes()))?;
    }
    Ok(())
}

#[test]
fn both_forms_are_written() -> Result<(), Box<dyn Error>> {
    main()
}
