//! What commands print.

use std::fmt::Display;
use std::io::{self, Write};

use crate::cli::error::Error;

/// The number of decimals that a number is printed with, so that what is computed from it shows no more.
pub(crate) fn decimals(number: impl Display) -> usize {
    number.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// `1 - alpha` in percent, with as many digits as alpha has.
pub(crate) fn percent_of_success(alpha: f64) -> String {
    format!("{:.*} %", decimals(alpha).saturating_sub(2), 100.0 * (1.0 - alpha))
}

/// Prints a value as JSON on standard output.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, value).map_err(io::Error::from)?;
    writeln!(stdout)?;
    Ok(())
}
