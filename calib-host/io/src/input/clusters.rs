//! Which rows belong together.

use std::path::Path;

use calib_fit::stats::Clusters;

use super::column::check_rows;
use super::source::Source;
use super::table::Table;
use crate::files::FileError;

/// Reads a column of names of clusters, such as the patients that rows are of: rows with the same text belong together. A
/// NumPy array is one of integers. `rows` is how many rows `other` has.
///
/// ```
/// use calib_io::input::{Source, clusters};
///
/// let csv = Source::from_bytes("scores.csv", b"score,label,patient\n0.2,0,ann\n0.9,1,bob\n0.1,0,ann\n".to_vec())?;
/// assert_eq!(clusters(&csv, "patient", 3, csv.path())?.count(), 2);
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
///
/// # Errors
///
/// If the column is missing or ambiguous, a cell is empty, or there is another number of rows.
pub fn clusters(source: &Source, column: &str, rows: usize, other: &Path) -> Result<Clusters, FileError> {
    let table = Table::read_only(source, &[column])?;
    let names = table.names(column)?;
    check_rows(&names, rows, other)?;
    Ok(Clusters::new(names.values))
}
