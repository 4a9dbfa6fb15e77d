//! What commands print.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, StderrLock, StdoutLock, Write};

use crate::cli::error::Error;

/// The number of decimals that a number is printed with, so that what is computed from it shows no more.
pub(crate) fn decimals(number: impl Display) -> usize {
    number.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// Standard output, safe for a terminal.
pub(crate) fn stdout() -> Plain<StdoutLock<'static>> {
    Plain(io::stdout().lock())
}

/// Standard error, safe for a terminal.
pub(crate) fn stderr() -> Plain<StderrLock<'static>> {
    Plain(io::stderr().lock())
}

/// Writes text without control characters but for the ends of lines: names in artefacts, of files and of devices may hold
/// such as change a terminal's title or rewrite what stands on it. They are written as in `\x1b`.
pub(crate) struct Plain<W>(W);

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|&byte| byte.is_ascii_control() && byte != b'\n') {
            self.0.write_all(&rest[..at])?;
            write!(self.0, "\\x{:02x}", rest[at])?;
            rest = &rest[at + 1..];
        }
        self.0.write_all(rest)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Prints warnings on standard error, a line each, also where there is no summary.
pub(crate) fn warn(warnings: &[impl Display]) -> io::Result<()> {
    let mut err = stderr();
    warnings.iter().try_for_each(|warning| writeln!(err, "warning: {warning}"))
}

/// Text from an artefact or a device on a line of its own: ends of lines in it are escaped, too.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    match text.contains(char::is_control) {
        true => text.escape_debug().to_string().into(),
        false => text.into(),
    }
}

/// `1 - alpha` in percent, with as many digits as alpha has.
pub(crate) fn percent_of_success(alpha: f64) -> String {
    format!("{:.*} %", decimals(alpha).saturating_sub(2), 100.0 * (1.0 - alpha))
}

/// Prints a value as JSON on standard output.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    // JSON escapes for itself.
    let mut stdout = io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, value).map_err(io::Error::from)?;
    writeln!(stdout)?;
    Ok(())
}
