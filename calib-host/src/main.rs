//! The `calib` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(calib_cli::run_from(std::env::args_os()))
}
