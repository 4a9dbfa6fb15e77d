//! What commands print.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal, StderrLock, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use calib_io::files::write_file;

use crate::asked::stdout_was_closed;
use crate::error::Error;
use crate::notes;
use crate::working::give_way;

/// Standard output, safe for a terminal.
pub(crate) fn stdout() -> Plain<Stdout> {
    give_way();
    Plain(Stdout(io::stdout().lock()))
}

/// What stands for standard output in place of a file's name.
pub(crate) const STANDARD_OUTPUT: &str = "-";

/// Whether what is written goes to standard output.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    path == Path::new(STANDARD_OUTPUT)
}

/// The name of an output, for people.
pub(crate) fn shown_path(path: &Path) -> impl Display + '_ {
    if is_standard_output(path) { Path::new("standard output") } else { path }.display()
}

/// Writes a file completely or not at all, or what it would hold on standard output if it is called `-`.
pub(crate) fn write_output(path: &Path, overwrite: bool, bytes: &[u8]) -> Result<(), Error> {
    if !is_standard_output(path) {
        return Ok(write_file(path, overwrite, |out| out.write_all(bytes))?);
    }
    let mut out = raw_stdout(std::str::from_utf8(bytes).is_ok())?;
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Standard output for what goes into a file elsewhere, byte for byte; a terminal gets text alone, and that escaped.
pub(crate) fn raw_stdout(is_text: bool) -> Result<Box<dyn Write>, Error> {
    match (io::stdout().is_terminal(), is_text) {
        (false, _) => {
            give_way();
            Ok(Box::new(Stdout(io::stdout().lock())))
        }
        (true, true) => Ok(Box::new(stdout())),
        (true, false) => Err(Error::Usage(
            "this is no text, and standard output is a terminal: send it to a file or a program, or name a file with -o".into(),
        )),
    }
}

/// Standard output, which fails where it is closed.
pub(crate) struct Stdout(StdoutLock<'static>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if stdout_was_closed() {
            return Err(io::Error::other("it is closed"));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Standard error, safe for a terminal.
pub(crate) fn stderr() -> Plain<StderrLock<'static>> {
    give_way();
    Plain(io::stderr().lock())
}

/// Writes text [`escaped`] but for the ends of lines: names in artefacts, of files and of devices may hold control characters
/// that change a terminal's title or rewrite what stands on it.
pub(crate) struct Plain<W>(W);

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let whole = match std::str::from_utf8(bytes) {
            Ok(_) => bytes.len(),
            Err(error) => error.valid_up_to(),
        };
        if whole == 0 && !bytes.is_empty() {
            // No text: nothing tells what a terminal makes of it.
            write!(self.0, "\\x{:02x}", bytes[0])?;
            return Ok(1);
        }
        let text = std::str::from_utf8(&bytes[..whole]).expect("checked above");
        for line in text.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            self.0.write_all(escaped(line).as_bytes())?;
            self.0.write_all(end.as_bytes())?;
        }
        Ok(whole)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Prints warnings on standard error, a line each, also where there is no summary.
pub(crate) fn warn(warnings: &[impl Display]) -> io::Result<()> {
    WARNED.fetch_or(!warnings.is_empty(), Ordering::Relaxed);
    let mut err = stderr();
    warnings.iter().try_for_each(|warning| writeln!(err, "warning: {warning}"))
}

/// Whether there was a warning.
static WARNED: AtomicBool = AtomicBool::new(false);

/// Tells whether anything was warned of.
pub(crate) fn has_warned() -> bool {
    WARNED.load(Ordering::Relaxed)
}

/// Text with its control characters written as in `\u{1b}` or `\n`, those of ISO 6429 above the ASCII ones, too: on a line of its
/// own, whatever an artefact or a device says.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c.is_control() {
            true => plain.extend(c.escape_debug()),
            false => plain.push(c),
        }
    }
    plain.into()
}

/// Prints a value as JSON on standard output, with what was told of tables.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    give_way();
    if notes::has_told() {
        let mut value = serde_json::to_value(value).map_err(io::Error::from)?;
        notes::add_to(&mut value);
        return write_json(&value);
    }
    write_json(value)
}

/// Prints what was made as JSON: where it is, what is said of it, and what is doubtful, if that is looked for.
pub(crate) fn print_made(
    output: &Path,
    made: &impl serde::Serialize,
    warnings: Option<&[String]>,
) -> Result<(), Error> {
    #[derive(serde::Serialize)]
    struct Made<'a, T> {
        output: &'a Path,
        #[serde(flatten)]
        made: &'a T,
        #[serde(skip_serializing_if = "Option::is_none")]
        warnings: Option<&'a [String]>,
    }
    // A value holds every number as an f64.
    print_json(&serde_json::to_value(Made { output, made, warnings }).map_err(io::Error::from)?)
}

fn write_json(value: &impl serde::Serialize) -> Result<(), Error> {
    // JSON escapes for itself.
    let mut stdout = Stdout(io::stdout().lock());
    serde_json::to_writer_pretty(&mut stdout, value).map_err(io::Error::from)?;
    writeln!(stdout)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a terminal would obey, and what it should show.
    const CASES: [(&str, &str); 6] = [
        ("a\u{1b}]0;title\u{7}b", "a\\u{1b}]0;title\\u{7}b"),
        // The control sequence introducer and the string terminator of eight bits.
        ("\u{9b}2J \u{80} \u{9f}", "\\u{9b}2J \\u{80} \\u{9f}"),
        ("tab\tbell\u{7f}\r", "tab\\tbell\\u{7f}\\r"),
        ("null \0", "null \\0"),
        (
            "caf\u{e9} \u{a0} \u{3b5} \"quoted\" back\\slash",
            "caf\u{e9} \u{a0} \u{3b5} \"quoted\" back\\slash",
        ),
        ("", ""),
    ];

    #[test]
    fn control_characters_are_escaped_in_a_line_and_in_what_is_printed() {
        for (text, shown) in CASES {
            assert_eq!(escaped(text), shown);
            let mut out = Plain(Vec::new());
            write!(out, "{text}\n{text}").unwrap();
            assert_eq!(String::from_utf8(out.0).unwrap(), format!("{shown}\n{shown}"));
        }
        assert_eq!(escaped("two\nlines"), "two\\nlines");
    }

    #[test]
    fn bytes_that_are_no_text_are_escaped_one_by_one() {
        let mut out = Plain(Vec::new());
        out.write_all(b"a\xc2").unwrap();
        out.write_all(b"\x9bz\xff").unwrap();
        assert_eq!(String::from_utf8(out.0).unwrap(), "a\\xc2\\x9bz\\xff");
    }
}
