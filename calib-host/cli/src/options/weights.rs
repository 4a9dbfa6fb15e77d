//! The options that say what a row stands for.

use calib_fit::ScoreKind;
use calib_io::input::{self, Column, Sample, Table};
use clap::Args;

use super::headings::ROWS;
use super::parse::parse_pair;
use crate::error::Error;

/// The points of each row, and those of them with label 1.
type Counts = (Column<f64>, Column<f64>);

/// How many points a row is.
#[derive(Args)]
#[command(next_help_heading = ROWS)]
pub(crate) struct WeightArgs {
    /// Column of weights, beside the scores.
    ///
    /// Weights need not be whole numbers. Only their ratios count, down to a billionth of the largest for a million
    /// rows. For isotonic, platt, beta and temperature, without any guarantee.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    weight_column: Option<String>,
    /// Columns with the number of observations of each row, and of those with label 1, for a table aggregated by score.
    ///
    /// They replace the column of labels. The fit is exactly as if the table had a row for every observation, and
    /// guarantees hold.
    #[arg(long, value_name = "N,POSITIVES", value_parser = parse_pair, conflicts_with_all = ["labels", "label_column", "weight_column"], hide_short_help = true)]
    count_columns: Option<(String, String)>,
}

impl WeightArgs {
    /// The columns to read besides scores and labels.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        let counts = self.count_columns.iter().flat_map(|(counts, positives)| [counts, positives]);
        self.weight_column.iter().chain(counts).map(String::as_str)
    }

    /// Whether rows stand for more or less than a point.
    pub(crate) fn are_aggregated(&self) -> bool {
        self.columns().next().is_some()
    }

    /// Whether rows have weights.
    pub(crate) fn are_weighted(&self) -> bool {
        self.weight_column.is_some()
    }

    /// The number of points of each row of a table, and of those with label 1, if columns count them.
    pub(crate) fn counts(&self, table: &Table) -> Result<Option<Counts>, Error> {
        let Some((counts, positives)) = &self.count_columns else { return Ok(None) };
        Ok(Some((table.numbers(counts)?, table.numbers(positives)?)))
    }

    /// Whether a column of positives takes the place of labels.
    pub(crate) fn counts_positives(&self) -> bool {
        self.count_columns.is_some()
    }

    /// Refuses weights beside a matrix, whose rows have none.
    pub(crate) fn check_no_matrix(&self) -> Result<(), Error> {
        match self.are_aggregated() {
            true => Err(Error::Usage(
                "--weight-column and --count-columns go with --scores: a matrix has no columns to weigh by"
                    .into(),
            )),
            false => Ok(()),
        }
    }

    /// The points of a table, with scores of this kind. `labels` are there unless a column counts the positives.
    pub(crate) fn sample(
        &self,
        table: &Table,
        (scores, kind): (&Column<f64>, ScoreKind),
        labels: Option<&Column<i64>>,
    ) -> Result<Sample, Error> {
        if self.are_aggregated() && table.is_lone_array() {
            return Err(Error::Usage(
                "--weight-column and --count-columns need a table: a single array has no columns".into(),
            ));
        }
        let weights = self.weight_column.as_deref().map(|name| table.numbers(name)).transpose()?;
        let sample = match (labels, weights, self.counts(table)?) {
            (_, _, Some((counts, positives))) => {
                input::counted_data(scores, &counts, &positives, kind).map(Sample::Points)
            }
            (Some(labels), Some(weights), None) => {
                input::weighted_data(scores, &weights, labels, kind).map(Sample::Weighted)
            }
            (Some(labels), None, None) => input::binary_data(scores, labels, kind).map(Sample::Points),
            (None, _, None) => unreachable!("labels are read unless there are positives, which need counts"),
        };
        Ok(sample?)
    }
}
