//! The `calib` command.

mod closed;

use std::process::ExitCode;

use calib_cli::{Stdout, run_from};

fn main() -> ExitCode {
    let stdout = if closed::stdout_was_closed() { Stdout::Closed } else { Stdout::Open };
    ExitCode::from(run_from(std::env::args_os(), stdout))
}
