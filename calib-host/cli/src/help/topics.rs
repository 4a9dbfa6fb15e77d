//! What is explained beside the commands.

use clap::Args;
use std::io::Write;

use crate::context::Context;
use crate::error::Error;
use crate::run::Run;

/// What a command ends with.
pub(super) const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 the inputs do not match; 2 usage; 3 input;
4 output; 5 the device; 6 a warning, with --fail-on-warning";

/// What `calib` alone ends with.
pub(super) const FIRST_STEPS: &str = "\
First steps:
  calib fit cal.csv     fit a calibrator to scores and labels
  calib help methods    which method?
  calib help fit        every option of a command, with examples
";

/// Which method?
const METHODS: &str = include_str!("methods.txt").trim_ascii_end();

/// Whether a command explains something and has no options.
pub(super) fn is_one(name: &str) -> bool {
    name == "methods"
}

/// Which method? A tree of questions
#[derive(Args)]
#[command(long_about = METHODS, help_template = "{about-with-newline}")]
pub(crate) struct Methods {}

impl Run for Methods {
    fn run(self, cx: &Context) -> Result<(), Error> {
        Ok(writeln!(cx.stdout(), "{METHODS}")?)
    }
}
