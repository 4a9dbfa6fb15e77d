//! Text tables that were drawn for the eye: with lines of signs, and spaces around fields.

use std::borrow::Cow;

/// Whether a text begins as one that [`plainer`] changes: a drawn table, or one with a space before a field in quotes.
pub(super) fn is_drawn(start: &[u8]) -> bool {
    is_aligned(start) || has_spaced_quotes(start)
}

/// The same table, each record on its line, as others write it: without the line below the names and the number of rows at the end that
/// PostgreSQL's `psql` draws, and without spaces before fields in quotes.
pub(super) fn plainer(text: &[u8]) -> Cow<'_, [u8]> {
    let text = if is_aligned(text) { without_lines(text).into() } else { Cow::Borrowed(text) };
    if has_spaced_quotes(&text) { without_spaces(&text).into() } else { text }
}

/// Whether the second line is a line of `-` and `+`, as long as the first or longer, between whose `|` it has `+`.
fn is_aligned(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let (Some(names), Some(line)) = (lines.next(), lines.next()) else { return false };
    let count = |line: &[u8], sign: u8| line.iter().filter(|&&byte| byte == sign).count();
    count(line, b'-') > 2
        && line.iter().all(|byte| matches!(byte, b'-' | b'+'))
        && count(line, b'+') == count(names, b'|')
        && !names.is_empty()
}

/// The same without its second line and its last one, which says how many rows there are, if it does.
fn without_lines(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let trimmed = line.trim_ascii();
        if trimmed.starts_with(b"(") && (trimmed.ends_with(b" rows)") || trimmed.ends_with(b" row)")) {
            break;
        }
        out.extend(if number == 1 { b"\n" } else { line });
    }
    out
}

/// What separates fields.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// Whether a field in the first lines begins with a space and a quote.
fn has_spaced_quotes(text: &[u8]) -> bool {
    let start = &text[..text.len().min(1 << 12)];
    start.windows(3).any(|bytes| SEPARATORS.contains(&bytes[0]) && bytes[1] == b' ' && bytes[2] == b'"')
}

/// The same without the spaces between a separator and a quote, but for those within quotes.
fn without_spaces(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut is_start, mut is_quoted, mut was_quoted) = (true, false, false);
    let mut rest = text;
    while let Some((&byte, others)) = rest.split_first() {
        if is_start && byte == b' ' {
            let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
            if rest.get(spaces) == Some(&b'"') {
                rest = &rest[spaces..];
                continue;
            }
        }
        // Of two quotes within quotes the first ends them, and the second begins them again.
        let begins = byte == b'"' && !is_quoted && (is_start || was_quoted);
        was_quoted = byte == b'"' && is_quoted;
        is_quoted = begins || is_quoted && !was_quoted;
        is_start = !is_quoted && (SEPARATORS.contains(&byte) || byte == b'\n');
        out.push(byte);
        rest = others;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        String::from_utf8(plainer(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn what_psql_draws_is_a_table() {
        let drawn = " score | label \n-------+-------\n   0.5 |     1\n  0.25 |     0\n(2 rows)\n\n";
        assert_eq!(plain(drawn), " score | label \n\n   0.5 |     1\n  0.25 |     0\n");
        assert_eq!(plain(" score \n-------\n   0.5\n(1 row)\n"), " score \n\n   0.5\n");
        for other in
            ["a|b\n1|2\n", "a|b\n-1|2\n", "a\n-\n", "a|b\n---\n", "\n---\n", "", "(a|b)\n(1 rows)|2\n"]
        {
            assert!(!is_drawn(other.as_bytes()) && plain(other) == other, "{other:?}");
        }
    }

    #[test]
    fn a_space_before_a_quote_is_no_part_of_a_field() {
        for (text, expected) in [
            ("a, \"b\"\n0.5, \"x, y\"\n", "a,\"b\"\n0.5,\"x, y\"\n"),
            ("a;  \"b\"; \"c\"\n1; \"2\";3\n", "a;\"b\";\"c\"\n1;\"2\";3\n"),
            ("\"a, \"\"b\", \"c\"\n", "\"a, \"\"b\",\"c\"\n"),
            (" \"a\", \"b\"\n \"1\", \"2\"\n", "\"a\",\"b\"\n\"1\",\"2\"\n"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
        assert!(!is_drawn(b"a, b\n\"x\", 2\n"));
    }
}
