//! Words for a missing value.

/// Whether a text stands for no value, as pandas or MySQL write it, in any case.
///
/// ```
/// use calib_io::files::is_missing;
///
/// assert!(["", "NaN", "NA", "NULL", "#N/A", "<NA>", "NaT", r"\N"].into_iter().all(is_missing));
/// assert!(!["0", "0.5", "-", "no", "."].into_iter().any(is_missing));
/// ```
pub fn is_missing(text: &str) -> bool {
    /// The default of `na_values` of `pandas.read_csv`, its missing time, and what MySQL writes.
    const WORDS: [&str; 16] = [
        "#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>", "\\n", "n/a",
        "na", "nan", "nat", "none", "null",
    ];
    let text = text.trim();
    text.is_empty() || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a text is a sign that many tables have for no value, and that is a name in others: `.`, `?`, `-`.
pub(crate) fn may_be_missing(name: &str) -> bool {
    let mut signs = name.trim().chars();
    let first = signs.next();
    first.is_some_and(|first| ".?-*_/\u{2013}\u{2014}".contains(first))
        && signs.all(|sign| Some(sign) == first)
}

/// Whether a number is one that questionnaires and statistics programs have for a missing answer.
pub(crate) fn is_missing_code(number: i64) -> bool {
    matches!(number.unsigned_abs(), 9 | 99 | 999 | 9999)
}
