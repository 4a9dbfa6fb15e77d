//! The committed numbers of `tests/rooms.toml`, above which a test fails.

use std::collections::BTreeMap;
use std::{env, fs};

use xtask::root;

/// Numbers by section and name.
pub(crate) type Numbers = BTreeMap<&'static str, BTreeMap<String, usize>>;

const HEAD: &str = "# These numbers may only fall: a test fails above them. `UPDATE_RATCHET=1 cargo test -p xtask --test rules` writes them again.
# A number that rises is a line that a reviewer sees.
";

/// Reads the lines of a section: `"name" = number`.
pub(crate) fn section(text: &str, name: &str) -> BTreeMap<String, usize> {
    let lines = text.lines().skip_while(|line| *line != format!("[{name}]")).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let number = |line: &str| {
        let (name, number) = line.split_once(" = ")?;
        Some((name.trim_matches('"').to_owned(), number.parse().ok()?))
    };
    lines.filter_map(number).collect()
}

/// What is above its number; what has none may be 0.
pub(crate) fn above(
    name: &str,
    found: &BTreeMap<String, usize>,
    kept: &BTreeMap<String, usize>,
) -> Vec<String> {
    let most = |of: &String| kept.get(of).copied().unwrap_or(0);
    let above = found.iter().filter(|(of, found)| **found > most(of));
    above
        .map(|(of, found)| format!("{name} of {of}: {found}, and tests/rooms.toml allows {}", most(of)))
        .collect()
}

/// Compares with the committed numbers, or writes them if that is asked for.
pub(crate) fn compare(numbers: &Numbers) -> Vec<String> {
    let path = root().join("tests/rooms.toml");
    if env::var_os("UPDATE_RATCHET").is_some() {
        let mut text = HEAD.to_owned();
        for (name, numbers) in numbers {
            text += &format!("\n[{name}]\n");
            text.extend(numbers.iter().filter(|(_, n)| **n > 0).map(|(of, n)| format!("{of:?} = {n}\n")));
        }
        fs::write(&path, text).expect("tests/rooms.toml can be written");
    }
    let kept = fs::read_to_string(path).expect("tests/rooms.toml is there");
    numbers.iter().flat_map(|(name, found)| above(name, found, &section(&kept, name))).collect()
}
