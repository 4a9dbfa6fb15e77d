//! The options of a table that is aggregated by score.

use clap::Args;

use super::headings::ROWS;

/// Which columns count points.
#[derive(Args)]
#[command(next_help_heading = ROWS)]
pub(crate) struct CountedRows {
    /// The column that says how many points a row is, for a table aggregated by score or probability, with --positives-column in place of a
    /// column of labels: as if there were a row for every point.
    #[arg(long, value_name = "NAME", requires = "positives_column", conflicts_with_all = ["labels", "label_column"], hide_short_help = true)]
    count_column: Option<String>,
    /// The column that says how many of a row's points have label 1, beside --count-column.
    #[arg(long, value_name = "NAME", requires = "count_column", conflicts_with_all = ["labels", "label_column"], hide_short_help = true)]
    positives_column: Option<String>,
}

impl CountedRows {
    /// The columns of points and of positives.
    pub(crate) fn columns(&self) -> Option<(&str, &str)> {
        self.count_column.as_deref().zip(self.positives_column.as_deref())
    }
}
