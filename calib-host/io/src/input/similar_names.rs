//! Names that look the same.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization;

/// The first two names, in their order, that differ in nothing but case, spaces, the form of their letters in Unicode, or invisible signs.
///
/// ```
/// use calib_io::input::similar_names;
///
/// assert_eq!(similar_names(["b", "A", "a", "A"]), Some(["A", "a"].map(str::to_owned)));
/// assert!(similar_names(["ward\u{a0}3", "Ward 3"]).is_some() && similar_names(["e\u{301}", "\u{e9}"]).is_some());
/// assert!(similar_names(["x\u{200b}", "x"]).is_some() && similar_names(["ward 3", "ward 4"]).is_none());
/// ```
pub fn similar_names<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Option<[String; 2]> {
    let names: BTreeSet<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
    let mut seen = BTreeMap::new();
    names.iter().find_map(|name| Some([seen.insert(folded(name), name)?.clone(), name.clone()]))
}

/// A name as it looks, in lower case.
fn folded(name: &str) -> String {
    /// Signs that are not seen, of which those that join letters are none: soft hyphens, spaces without width, marks of direction.
    const INVISIBLE: [std::ops::RangeInclusive<char>; 5] = [
        '\u{ad}'..='\u{ad}',
        '\u{200b}'..='\u{200f}',
        '\u{202a}'..='\u{202e}',
        '\u{2060}'..='\u{206f}',
        '\u{feff}'..='\u{feff}',
    ];
    let is_seen = |c: &char| !c.is_whitespace() && !INVISIBLE.iter().any(|range| range.contains(c));
    name.nfkc().filter(is_seen).flat_map(char::to_lowercase).nfkc().collect()
}
