//! The options of a table that is aggregated by score.

use clap::Args;

use super::headings::ROWS;
use super::parse::parse_pair;

/// Which columns count points.
#[derive(Args)]
#[command(next_help_heading = ROWS)]
pub(crate) struct CountedRows {
    /// Columns with the number of observations of each row, and of those with label 1.
    ///
    /// For a table aggregated by score or probability. They replace the column of labels. The result is as if the table
    /// had a row for every observation.
    #[arg(long, value_name = "N,POSITIVES", value_parser = parse_pair, conflicts_with_all = ["labels", "label_column"], hide_short_help = true)]
    count_columns: Option<(String, String)>,
}

impl CountedRows {
    /// The columns of points and of positives.
    pub(crate) fn columns(&self) -> Option<(&str, &str)> {
        self.count_columns.as_ref().map(|(counts, positives)| (counts.as_str(), positives.as_str()))
    }
}
