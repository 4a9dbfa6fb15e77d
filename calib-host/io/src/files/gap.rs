//! Words for a value that is not there.

/// Whether a text stands for no value, as pandas, R, SAS, Stata, databases and spreadsheets write it.
///
/// ```
/// use calib_io::files::is_gap;
///
/// assert!(["", "NaN", "NA", "NULL", ".", ".A", "#DIV/0!", "#NV"].into_iter().all(is_gap));
/// assert!(!["0", "0.5", "-", "no", ".5"].into_iter().any(is_gap));
/// ```
pub fn is_gap(text: &str) -> bool {
    const WORDS: [&str; 10] = ["na", "n/a", "<na>", "nan", "-nan", "nat", "null", "none", "?", "\\N"];
    /// What Excel writes for an error, in English, German and French.
    const ERRORS: [&str; 21] = [
        "#n/a",
        "#div/0!",
        "#value!",
        "#ref!",
        "#name?",
        "#num!",
        "#null!",
        "#getting_data",
        "#spill!",
        "#calc!",
        "#nv",
        "#wert!",
        "#bezug!",
        "#zahl!",
        "#ÜBERLAUF!",
        "#valeur!",
        "#nom?",
        "#nombre!",
        "#nul!",
        "#n/d",
        "#leer!",
    ];
    let text = text.trim();
    match text.as_bytes() {
        [] | [b'.'] => true,
        // Missing values of 27 kinds in SAS, and of 26 in Stata.
        [b'.', kind] => kind.is_ascii_alphabetic() || *kind == b'_',
        [b'#', ..] => ERRORS.iter().any(|word| text.eq_ignore_ascii_case(word)),
        _ => WORDS.iter().any(|word| text.eq_ignore_ascii_case(word)),
    }
}

/// Whether a number is one that questionnaires and statistics programs have for a missing answer.
pub(crate) fn is_missing_code(number: i64) -> bool {
    matches!(number.unsigned_abs(), 9 | 99 | 999 | 9999)
}
