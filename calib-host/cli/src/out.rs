//! What is printed is safe for a terminal.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

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

/// How wide the lines of a text are at most, where spaces allow that.
pub(crate) const COLUMNS: usize = 100;

/// How wide a label is, with the space behind it.
const LABEL: usize = 12;

/// A text under a label, in lines: the label in front of the first one.
pub(crate) fn labeled(label: &str, text: &str) -> Vec<String> {
    let label = |line: usize| if line == 0 { label } else { "" };
    wrapped(text, COLUMNS - LABEL)
        .iter()
        .enumerate()
        .map(|(at, line)| format!("{:<LABEL$}{line}", label(at)))
        .collect()
}

/// A text in lines of at most so many characters, unless a word has more.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Writes text [`escaped`], except for the ends of lines. Names in artifacts, of files and of devices may hold control characters
/// that change a terminal's title or rewrite what is on it.
pub(crate) struct Plain<W>(pub(crate) W);

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

/// Text with its control characters written as in `\u{1b}` or `\n`, those of ISO 6429 above the ASCII ones, too, and so are characters
/// that nobody sees: on a separate line and in its order, whatever an artifact or a device says.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            // The standard library takes some of these for printable.
            _ if is_invisible(c) => plain.extend(c.escape_unicode()),
            _ if c.is_control() => plain.extend(c.escape_debug()),
            _ => plain.push(c),
        }
    }
    plain.into()
}

/// JSON, in which the same characters are escapes of JSON: serde_json writes those above the ASCII ones as they are.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
    // Between strings there are ends of lines alone.
    let is_unescaped = |c: char| c != '\n' && is_unseen(c);
    if !json.contains(is_unescaped) {
        return json.into();
    }
    let mut plain = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        if !is_unescaped(c) {
            plain.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            plain += &format!("\\u{unit:04x}");
        }
    }
    plain.into()
}

fn is_unseen(c: char) -> bool {
    c.is_control() || is_invisible(c)
}

/// Whether a character has no width, and joins, hides, breaks or reorders others.
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// What was made as JSON: where it is, and what is said of it.
pub(crate) fn made(output: Option<&Path>, made: &impl Serialize) -> io::Result<Value> {
    #[derive(Serialize)]
    struct Made<'a, T> {
        output: Option<&'a Path>,
        #[serde(flatten)]
        made: &'a T,
    }
    // A value holds every number as an f64.
    Ok(serde_json::to_value(Made { output, made })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a terminal would obey, and what it should show.
    const CASES: [(&str, &str); 8] = [
        ("a\u{1b}]0;title\u{7}b", "a\\u{1b}]0;title\\u{7}b"),
        // The control sequence introducer and the string terminator of eight bits.
        ("\u{9b}2J \u{80} \u{9f}", "\\u{9b}2J \\u{80} \\u{9f}"),
        ("tab\tbell\u{7f}\r", "tab\\tbell\\u{7f}\\r"),
        ("null \0", "null \\0"),
        (
            "caf\u{e9} \u{a0} \u{3b5} \"quoted\" back\\slash",
            "caf\u{e9} \u{a0} \u{3b5} \"quoted\" back\\slash",
        ),
        // What turns a line round, hides in it, or ends it for some.
        ("x\u{202e}vsc.y \u{2066}\u{2069}\u{61c}", "x\\u{202e}vsc.y \\u{2066}\\u{2069}\\u{61c}"),
        ("a\u{200b}b\u{feff}\u{2028}\u{e0041}\u{ad}", "a\\u{200b}b\\u{feff}\\u{2028}\\u{e0041}\\u{ad}"),
        ("", ""),
    ];

    #[test]
    fn a_text_is_broken_between_words() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a longword b", 4), ["a", "longword", "b"]);
        assert_eq!(wrapped("", 4), [""; 0]);
        let lines = labeled("Limits", &"word ".repeat(40));
        assert!(
            lines[0].starts_with("Limits      word") && lines[1].starts_with("            word"),
            "{lines:?}"
        );
        assert!(lines.iter().all(|line| line.len() <= COLUMNS), "{lines:?}");
    }

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
    fn json_holds_the_same_text_without_what_nobody_sees() {
        for (text, _) in CASES {
            let json = serde_json::to_string_pretty(&[text]).unwrap();
            let plain = escaped_json(&json);
            assert!(!plain.chars().any(|c| c != '\n' && is_unseen(c)), "{plain}");
            assert_eq!(serde_json::from_str::<[String; 1]>(&plain).unwrap(), [text]);
        }
        assert_eq!(escaped_json("\"\u{9b}\u{e0041}\u{e9}\""), "\"\\u009b\\udb40\\udc41\u{e9}\"");
    }

    #[test]
    fn bytes_that_are_no_text_are_escaped_one_by_one() {
        let mut out = Plain(Vec::new());
        out.write_all(b"a\xc2").unwrap();
        out.write_all(b"\x9bz\xff").unwrap();
        assert_eq!(String::from_utf8(out.0).unwrap(), "a\\xc2\\x9bz\\xff");
    }
}
