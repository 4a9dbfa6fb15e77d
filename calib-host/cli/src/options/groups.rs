//! The option that says of which group rows are.

use clap::Args;

use super::headings::ROWS;

/// Which group every row is of.
#[derive(Args)]
pub(crate) struct GroupColumn {
    /// Column of groups: report every metric by group.
    ///
    /// Examples are the sex, an age band or the site. calib reports every metric by group with intervals that hold
    /// simultaneously, the largest differences, and a test of "all groups are equally calibrated". For tables of binary
    /// scores and for probabilities.
    #[arg(long, value_name = "NAME", help_heading = ROWS, hide_short_help = true)]
    group_column: Option<String>,
}

impl GroupColumn {
    pub(crate) fn name(&self) -> Option<&str> {
        self.group_column.as_deref()
    }
}
