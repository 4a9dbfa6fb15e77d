//! Fields in quotes: each has an end, and nothing follows it.

/// What is wrong with the quotes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuoteFault {
    /// Where the record with the fault begins, in bytes.
    pub(super) record: usize,
    /// Where its field opens.
    pub(super) opens: usize,
    /// Where the text goes on behind the closing quote; `None` if there is no closing quote.
    pub(super) goes_on: Option<usize>,
}

/// The first fault of whole records with this separator. `look` is given the start and the end of every field in quotes.
///
/// A quote within a field that does not begin with one is a letter like others.
pub(super) fn fault(bytes: &[u8], separator: u8, mut look: impl FnMut(usize, usize)) -> Option<QuoteFault> {
    let (mut at, mut record) = (0, 0);
    while at < bytes.len() {
        if bytes[at] == b'"' {
            let opens = at;
            let fault = |goes_on| Some(QuoteFault { record, opens, goes_on });
            at += 1;
            loop {
                let Some(len) = memchr::memchr(b'"', &bytes[at..]) else { return fault(None) };
                at += len + 1;
                // Two quotes stand for one.
                if bytes.get(at) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
            look(opens, at);
            at += bytes[at..].iter().take_while(|&&byte| byte == b' ').count();
            if bytes.get(at).is_some_and(|byte| ![separator, b'\r', b'\n'].contains(byte)) {
                return fault(Some(at));
            }
        } else {
            at = memchr::memchr3(separator, b'\r', b'\n', &bytes[at..]).map_or(bytes.len(), |len| at + len);
        }
        if bytes.get(at).is_some_and(|&byte| byte != separator) {
            record = at + 1;
        }
        at += 1;
    }
    None
}

/// The records in front of the first fault.
pub(super) fn sound(bytes: &[u8], separator: u8) -> &[u8] {
    match memchr::memchr(b'"', bytes).and_then(|_| fault(bytes, separator, |_, _| ())) {
        Some(QuoteFault { record, .. }) => &bytes[..record],
        None => bytes,
    }
}

/// Whether a field in quotes may have swallowed rows: it goes over very many lines, or one of its lines has as many fields as a row, one of
/// them a number.
pub(super) fn swallows_rows(field: &[u8], separator: u8, columns: usize) -> bool {
    /// No note is as long.
    const MOST_LINES: usize = 100;
    let is_row = |line: &[u8]| {
        let fields = line.split(|&byte| byte == separator);
        let is_number = |field: &[u8]| {
            std::str::from_utf8(field.trim_ascii()).is_ok_and(|text| text.parse::<f64>().is_ok())
        };
        columns > 1 && fields.clone().count() == columns && fields.clone().any(is_number)
    };
    let inner = field.strip_suffix(b"\"").unwrap_or(field);
    let mut lines = inner.split(|&byte| byte == b'\n').skip(1);
    lines.clone().count() > MOST_LINES || lines.any(is_row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_that_opens_a_field_closes_it() {
        for sound in [
            "",
            "a,b\n",
            "\"a\",b\n",
            "\"a\" ,\"b\"\r\n",
            "\"a,\"\"b\"\"\nc\",d",
            "5\" pipe,x\n",
            "\"\"\r\"\"\n",
            "a,\"\"",
        ] {
            assert_eq!(fault(sound.as_bytes(), b',', |_, _| ()), None, "{sound:?}");
        }
        for (text, record, opens, goes_on) in [
            ("a,b\n1,\"x\n2,y\n", 4, 6, None),
            ("a\n\"x\"\"\nb", 2, 2, None),
            ("a\n\"x\"y\n", 2, 2, Some(5)),
            ("a,\"b\nc,\"d\"\n", 0, 2, Some(8)),
            ("\"a\"\"b\"c", 0, 0, Some(6)),
        ] {
            let expected = QuoteFault { record, opens, goes_on };
            assert_eq!(fault(text.as_bytes(), b',', |_, _| ()), Some(expected), "{text:?}");
            assert_eq!(sound(text.as_bytes(), b','), &text.as_bytes()[..record]);
        }
        assert_eq!(fault(b"1;\"a\"\n", b',', |_, _| ()), None);
    }

    #[test]
    fn a_field_that_looks_like_rows_is_found() {
        assert!(swallows_rows(b"\"b\n0.5,1,c\n0.25,0,\"", b',', 3));
        assert!(!swallows_rows(b"\"came late, went home\nno fever, no cough, well\"", b',', 3));
        assert!(!swallows_rows(b"\"0.5,1,c\"", b',', 3));
        assert!(swallows_rows(&b"x\n".repeat(102), b',', 1));
    }
}
