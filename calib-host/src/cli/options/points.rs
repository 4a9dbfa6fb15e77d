//! The options that say what a row stands for.

use calib_host::input::{self, Column, Sample, Table};
use clap::Args;

use crate::cli::error::Error;

/// How many points a row is.
#[derive(Args)]
pub(crate) struct PointOptions {
    /// The column of weights, beside the scores. If all are whole numbers, a row stands for so many points with its label,
    /// exactly as if it were repeated, and guarantees hold. Otherwise they are real weights, of which only the ratios
    /// count, down to a billionth of the largest for a million rows: for isotonic, irp, platt, beta and temperature,
    /// without any guarantee.
    #[arg(long, value_name = "NAME")]
    weight_column: Option<String>,
    /// The column that says how many of a row's points have label 1, for a table aggregated by score: --weight-column is
    /// then the number of points, and there is no column of labels.
    #[arg(long, value_name = "NAME", requires = "weight_column", conflicts_with_all = ["labels", "label_column"])]
    positives_column: Option<String>,
}

impl PointOptions {
    /// The columns to read besides scores and labels.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.weight_column.iter().chain(&self.positives_column).map(String::as_str)
    }

    /// Whether rows stand for more or less than a point.
    pub(crate) fn are_weighted(&self) -> bool {
        self.weight_column.is_some()
    }

    /// Whether a column of positives takes the place of labels.
    pub(crate) fn counts_positives(&self) -> bool {
        self.positives_column.is_some()
    }

    /// Refuses weights beside a matrix, whose rows have none.
    pub(crate) fn check_no_matrix(&self) -> Result<(), Error> {
        match self.weight_column {
            Some(_) => Err(Error::Usage(
                "--weight-column goes with --scores: a matrix has no columns to weigh by".into(),
            )),
            None => Ok(()),
        }
    }

    /// The points of a table. `labels` are there unless a column counts the positives.
    pub(crate) fn sample(
        &self,
        table: &Table,
        scores: &Column<f64>,
        labels: Option<&Column<i64>>,
    ) -> Result<Sample, Error> {
        if self.weight_column.is_some() && table.is_lone_array() {
            return Err(Error::Usage(
                "--weight-column needs a table: an array that is alone has no columns".into(),
            ));
        }
        let weights = self.weight_column.as_deref().map(|name| table.numbers(name)).transpose()?;
        let positives = self.positives_column.as_deref().map(|name| table.numbers(name)).transpose()?;
        let sample = match (labels, weights, positives) {
            (_, Some(counts), Some(positives)) => {
                input::counted_data(scores, &counts, &positives).map(Sample::Points)
            }
            (Some(labels), Some(weights), None) => input::weighted_data(scores, &weights, labels),
            (Some(labels), None, _) => input::binary_data(scores, labels).map(Sample::Points),
            (None, ..) => unreachable!("labels are read unless there are positives, which need weights"),
        };
        Ok(sample?)
    }
}
