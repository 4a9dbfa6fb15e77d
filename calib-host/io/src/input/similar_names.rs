//! Names that look the same, or stand for no name.

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

/// A name of more than half of the rows, and how many they are, if it is one of ten or more and ten times as frequent as any other: it may
/// stand for rows without a name.
///
/// ```
/// use calib_io::input::stand_in;
///
/// let names = |unknown: usize| (0..20).map(|row| format!("P{row}")).chain(vec!["unknown".to_owned(); unknown]);
/// assert_eq!(stand_in(names(30)), Some(("unknown".to_owned(), 30)));
/// assert_eq!((stand_in(names(9)), stand_in(vec!["A"; 30])), (None, None));
/// ```
pub fn stand_in<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Option<(String, usize)> {
    const FEWEST: usize = 10;
    let (mut counts, mut rows) = (BTreeMap::new(), 0);
    for name in names {
        *counts.entry(name.as_ref().to_owned()).or_insert(0_usize) += 1;
        rows += 1;
    }
    let (name, most) = counts.iter().max_by_key(|(_, count)| **count)?;
    let second = counts.iter().filter(|(other, _)| *other != name).map(|(_, count)| *count).max()?;
    (counts.len() >= FEWEST && 2 * most > rows && *most >= FEWEST * second).then(|| (name.clone(), *most))
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
