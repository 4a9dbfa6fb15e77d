//! Text in the comments of source code.

use std::fmt::Write;

/// A line for a comment in C, C++ or Rust. It escapes everything that could end or begin a comment, continue a line, form a trigraph or
/// reorder what a reader sees.
///
/// Names in an artifact are whatever a table had in its cells, and whatever the maker of a foreign artifact put there. So every line of every
/// comment passes through here: what comes out is printable ASCII, without `\`, `*/`, `/*` and `??`. An escape is that of Rust, `\u{2f}`; its last
/// character joins with no other.
pub(super) fn comment_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        let is_plain = matches!(c, ' '..='~') && c != '\\';
        let joins =
            matches!((line.chars().next_back(), c), (Some('*'), '/') | (Some('/'), '*') | (Some('?'), '?'));
        match is_plain && !joins {
            true => line.push(c),
            // Writing to a string does not fail.
            false => drop(write!(line, "\\u{{{:x}}}", u32::from(c))),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_ends_begins_or_continues_a_comment() {
        for (text, line) in [
            ("0 F, 1 M*/int x=1;/*", "0 F, 1 M*\\u{2f}int x=1;/\\u{2a}"),
            ("*??/\n/", "*?\\u{3f}/\\u{a}/"),
            ("???/", "?\\u{3f}?/"),
            ("ends\\", "ends\\u{5c}"),
            (
                "a\u{202e}b\u{2066}\u{e9}\r\0\u{7f}\u{2028}",
                "a\\u{202e}b\\u{2066}\\u{e9}\\u{d}\\u{0}\\u{7f}\\u{2028}",
            ),
            ("**//**/", "**\\u{2f}/\\u{2a}*\\u{2f}"),
            ("\"it's\" plain ? / * 100 %", "\"it's\" plain ? / * 100 %"),
        ] {
            assert_eq!(comment_line(text), line);
        }
    }

    /// The text that a line was made from.
    fn unescaped(line: &str) -> String {
        let mut parts = line.split("\\u{");
        let mut text = parts.next().unwrap().to_owned();
        for part in parts {
            let (code, rest) = part.split_once('}').unwrap();
            text.extend(char::from_u32(u32::from_str_radix(code, 16).unwrap()));
            text += rest;
        }
        text
    }

    proptest! {
        #[test]
        fn any_text_is_a_line_of_plain_characters_that_can_be_read_back(
            text in prop_oneof![any::<String>(), "[*/?\\\\\n\r u{}2fa-c]{0,40}"],
        ) {
            let line = comment_line(&text);
            prop_assert!(line.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{line}");
            for pair in ["*/", "/*", "??"] {
                prop_assert!(!line.contains(pair), "{line}");
            }
            prop_assert!(!line.ends_with('\\'), "{line}");
            prop_assert_eq!(unescaped(&line), text);
        }
    }
}
