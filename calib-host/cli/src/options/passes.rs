//! The options of a fit to what a database counted.

use std::path::{Path, PathBuf};

use clap::Args;

use super::headings::DATA;

/// The tables of two passes.
#[derive(Args)]
#[command(next_help_heading = DATA)]
pub(crate) struct PassOptions {
    /// What a database counted: the answer to pass 1.
    ///
    /// `calib sql` prints the queries of both passes. The fit is that of all rows.
    #[arg(long, value_name = "FILE", group = "ScoreSource", hide_short_help = true)]
    pass1: Option<PathBuf>,
    /// The answer to pass 2.
    #[arg(long, value_name = "FILE", requires = "pass1", hide_short_help = true)]
    pass2: Option<PathBuf>,
}

impl PassOptions {
    /// The table of the first pass.
    pub(crate) fn first(&self) -> Option<&Path> {
        self.pass1.as_deref()
    }

    /// The table of the second pass, which is not needed where the first left nothing open.
    pub(crate) fn second(&self) -> Option<&Path> {
        self.pass2.as_deref()
    }
}
