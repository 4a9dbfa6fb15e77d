//! The ratios of the last run that was kept: one that got worse is told.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use xtask::root;

/// A ratio that has lost more than this share has got worse: machines differ, and runs.
const MOST_LOST: f64 = 0.2;

/// How many times faster than its peer each case is, by name.
pub(crate) type Ratios = BTreeMap<String, f64>;

fn path() -> PathBuf {
    root().join("tests/claims/baseline.json")
}

/// Reads the ratios that were kept.
pub(crate) fn read() -> Result<Ratios> {
    let text = fs::read_to_string(path()).with_context(|| format!("cannot read {}", path().display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} holds something else", path().display()))
}

/// Keeps these ratios, and those of what was not measured.
pub(crate) fn write(measured: &Ratios) -> Result<()> {
    let mut ratios = read().unwrap_or_default();
    ratios.extend(measured.iter().map(|(name, ratio)| (name.clone(), (ratio * 10.0).round() / 10.0)));
    let text = serde_json::to_string_pretty(&ratios)? + "\n";
    fs::write(path(), text).with_context(|| format!("cannot write {}", path().display()))
}

/// Returns a sentence for every ratio that got worse, in order of name.
pub(crate) fn worse(kept: &Ratios, measured: &Ratios) -> Vec<String> {
    let is_worse = |name: &str, ratio: f64| {
        let before = *kept.get(name)?;
        let lost = 1.0 - ratio / before;
        let words = || {
            format!(
                "{name}: {ratio:.1} times as fast as its peer, {before:.1} times before ({:.0} % less)",
                100.0 * lost
            )
        };
        (lost > MOST_LOST).then(words)
    };
    measured.iter().filter_map(|(name, &ratio)| is_worse(name, ratio)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_of_more_than_a_fifth_is_told() {
        let ratios = |list: &[(&str, f64)]| {
            list.iter().map(|&(name, ratio)| (name.to_owned(), ratio)).collect::<Ratios>()
        };
        let kept = ratios(&[("umd", 10.0), ("isotonic", 12.0), ("gone", 3.0)]);
        assert_eq!(worse(&kept, &ratios(&[("umd", 8.0), ("isotonic", 30.0), ("new", 0.1)])), [""; 0]);
        let told = worse(&kept, &ratios(&[("umd", 7.9), ("isotonic", 9.0)]));
        assert_eq!(told.len(), 2);
        assert_eq!(told[1], "umd: 7.9 times as fast as its peer, 10.0 times before (21 % less)");
    }

    /// A name that no case has would never be compared.
    #[test]
    fn what_is_kept_is_measured() {
        let cases = crate::cases::all();
        let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
        for name in read().unwrap().keys() {
            let in_memory = name.strip_prefix("in memory: ").is_some();
            assert!(in_memory || names.contains(&&**name), "{name}");
        }
    }
}
