//! The options of a table that is aggregated by score.

use clap::Args;

use super::headings::ROWS;

/// Which columns count points.
#[derive(Args)]
#[command(next_help_heading = ROWS)]
pub(crate) struct CountedRows {
    /// Column with the number of observations of each row, for a table aggregated by score or probability.
    ///
    /// --positives-column then replaces the column of labels. The result is as if the table had a row for every
    /// observation.
    #[arg(long, value_name = "NAME", requires = "positives_column", conflicts_with_all = ["labels", "label_column"], hide_short_help = true)]
    count_column: Option<String>,
    /// Column with the number of observations of each row that have label 1, with --count-column.
    #[arg(long, value_name = "NAME", requires = "count_column", conflicts_with_all = ["labels", "label_column"], hide_short_help = true)]
    positives_column: Option<String>,
}

impl CountedRows {
    /// The columns of points and of positives.
    pub(crate) fn columns(&self) -> Option<(&str, &str)> {
        self.count_column.as_deref().zip(self.positives_column.as_deref())
    }
}
