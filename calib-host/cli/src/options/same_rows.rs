//! The option that lets rows be judged which something was fitted to.

use std::path::Path;

use clap::Args;

use super::headings::ROWS;
use crate::error::Error;

/// Whether rows that something was fitted to may be judged all the same.
#[derive(Args)]
pub(crate) struct SameRows {
    /// Continue although the rows are those of the fit. Every figure is then optimistically biased, and calib warns about it.
    #[arg(long, help_heading = ROWS, hide_short_help = true)]
    same_rows: bool,
}

impl SameRows {
    /// Whether such rows were asked for by name.
    pub(crate) fn are_allowed(&self) -> bool {
        self.same_rows
    }

    /// Refuses the rows of a file if they are the `same` as those of the fit, unless such were asked for by name.
    pub(crate) fn allow(&self, same: bool, path: &Path, fitted: &'static str) -> Result<(), Error> {
        match same && !self.same_rows {
            true => Err(Error::SameRows { path: path.into(), fitted }),
            false => Ok(()),
        }
    }
}
