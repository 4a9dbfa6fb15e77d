//! Labels of the rows of a matrix.

use calib_io::files::Format;
use calib_io::input::{self, Column, Source, Table};

use super::columns::class_list;
use super::rows::ColumnNames;
use crate::error::Error;

/// The labels of a matrix's rows, and the names of the classes if labels are text: in the second file, or beside the rows if these are a table's.
pub(crate) fn row_labels(
    sources: &[Source],
    columns: ColumnNames<'_>,
    rows: usize,
    classes: usize,
) -> Result<(Column<i64>, Option<Vec<String>>), Error> {
    let matrix = &sources[0];
    let is_array = matches!(matrix.format(), Format::NPY | Format::NPZ);
    let Some(file) = sources.get(1).or(Some(matrix).filter(|_| !is_array)) else {
        return Err(Error::Usage("--labels is needed beside a matrix".into()));
    };
    if classes > 2 && matrix.options().positive_label.is_some() {
        return Err(Error::Usage(format!(
            "--positive-label is for two classes, and here are {classes}: leave it out"
        )));
    }
    let names = input::columns_of_classes(matrix, class_list(columns.score))?;
    let (labels, class_names) =
        Table::read_only(file, &[columns.label])?.labels_of_columns(columns.label, &names)?;
    input::check_rows(&labels, rows, matrix.path())?;
    labels.check_classes(classes)?;
    Ok((labels, class_names))
}
