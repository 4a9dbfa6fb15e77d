//! Words for a missing value.

/// Whether a text stands for no value, as pandas reads it, in any case.
///
/// ```
/// use calib_io::files::is_missing;
///
/// assert!(["", "NaN", "NA", "NULL", "#N/A", "<NA>"].into_iter().all(is_missing));
/// assert!(!["0", "0.5", "-", "no", "."].into_iter().any(is_missing));
/// ```
pub fn is_missing(text: &str) -> bool {
    /// The default of `na_values` of `pandas.read_csv`.
    const WORDS: [&str; 14] = [
        "#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>", "n/a", "na",
        "nan", "none", "null",
    ];
    let text = text.trim();
    text.is_empty() || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a number is one that questionnaires and statistics programs have for a missing answer.
pub(crate) fn is_missing_code(number: i64) -> bool {
    matches!(number.unsigned_abs(), 9 | 99 | 999 | 9999)
}
