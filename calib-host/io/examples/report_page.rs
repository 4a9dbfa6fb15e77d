//! Judges a calibrator on rows that it was not fitted to, as a page of HTML without any request.
//!
//! ```sh
//! cargo run -p calib-io --example report_page -- report.html
//! ```

use std::error::Error;
use std::path::Path;

use calib_fit::job::{FitOptions, fit};
use calib_fit::{BinaryData, Dataset};
use calib_io::files::write_file;
use calib_io::report::{Origin, ReportRequest, report_of};

/// Scores of an overconfident classifier: a score of s is right in s^2 of the cases. `step` draws other rows.
fn rows(n: u64, step: u64) -> Result<Dataset, Box<dyn Error>> {
    let scores: Vec<f64> = (0..n).map(|row| (row * step % n) as f64 / n as f64).collect();
    let is_right = |(row, score): (u64, &f64)| (row * 61 % n) as f64 / (n as f64) < score * score;
    let labels = (0..n).zip(&scores).map(is_right).collect();
    Ok(BinaryData::new(scores, labels)?.on_device().into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (calibration, test) = (rows(4_000, 37)?, rows(3_000, 41)?);
    let fitted = fit(&calibration, &FitOptions::default())?;
    let mut how = ReportRequest::default();
    how.bootstrap = Some(100);
    let page = report_of(&fitted.artifact, [&calibration, &test], Origin::default(), &how)?.html()?;
    assert!(page.contains("<svg") && !page.contains("https://"));
    match std::env::args().nth(1).filter(|_| !cfg!(test)) {
        Some(path) => write_file(Path::new(&path), true, |out| out.write_all(page.as_bytes()))?,
        None => println!("name a file to write the page of {} bytes to", page.len()),
    }
    Ok(())
}

#[test]
fn a_page_stands_alone() -> Result<(), Box<dyn Error>> {
    main()
}
