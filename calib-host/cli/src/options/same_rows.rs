//! The option that lets rows be judged which something was fitted to.

use std::path::Path;

use calib_fit::data::Overlap;
use calib_fit::job::Finding;
use clap::Args;

use super::headings::ROWS;
use crate::error::Error;

/// Whether rows that something was fitted to may be evaluated anyway.
#[derive(Args)]
pub(crate) struct SameRows {
    /// Continue although most of the rows are those of the fit.
    ///
    /// Every figure is then optimistically biased, and calib warns about it.
    #[arg(long, help_heading = ROWS, hide_short_help = true)]
    same_rows: bool,
}

impl SameRows {
    /// Whether such rows were asked for by name.
    pub(crate) fn are_allowed(&self) -> bool {
        self.same_rows
    }

    /// Refuses the rows of a file if most are those of the fit, unless such were asked for by name, and else returns what to say of them.
    pub(crate) fn allow(
        &self,
        overlap: Option<Overlap>,
        path: &Path,
        fitted: &'static str,
    ) -> Result<Option<Finding>, Error> {
        match overlap {
            Some(overlap) if overlap.is_most() && !self.same_rows => {
                Err(Error::SameRows { path: path.into(), overlap, fitted })
            }
            overlap => Ok(overlap.map(Finding::SameRows)),
        }
    }
}
