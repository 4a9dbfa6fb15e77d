//! `cargo xtask mutants`

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail, ensure};
use xtask::{cargo, root};

use crate::flags;
use crate::setup::{Needs, Setup};

/// The accepted survivors: paragraphs of a reason (lines that begin with `#`) and the mutants that it holds for.
const SURVIVORS: &str = "tests/survivors.txt";

/// Runs cargo-mutants, and fails if a mutant survives that is not accepted.
pub(crate) fn mutants(setup: Setup, flags::Mutants { package, file }: &flags::Mutants) -> Result<()> {
    setup.provide(&Needs { cargo: &["cargo-mutants"], ..Needs::default() })?;
    let package = package.as_deref().unwrap_or("calib-core");
    let folder = root().join("target/mutants");
    fs::create_dir_all(&folder)?;
    let files: Vec<&str> = file.iter().flat_map(|glob| ["--file", glob]).collect();
    let run = |options: &[&str], tests: &[&str]| {
        let mut command = cargo(&root());
        command.args(["mutants", "--package", package, "--test-package", package, "--no-shuffle"]);
        command.arg("--output").arg(&folder).args(&files).args(options).args(tests);
        let status = command.status().context("cannot run cargo-mutants")?;
        // 0: all were noticed; 2: some were not; 3: some took too long, which is noticed, too.
        ensure!(matches!(status.code(), Some(0 | 2 | 3)), "cargo-mutants failed ({status})");
        Ok(())
    };
    // Nearly all die by the package's own tests. Only what is left meets examples in the documentation, which take longer to build than to
    // run, and for calib-core power cuts and every float.
    run(&["--all-features"], &["--", "--lib", "--tests"])?;
    let others = if package == "calib-core" { "--test-package=calib-campaigns" } else { "--all-features" };
    run(&["--iterate", others], &[])?;
    let missed = fs::read_to_string(folder.join("mutants.out/missed.txt")).context("no list of survivors")?;
    let accepted = fs::read_to_string(root().join(SURVIVORS)).with_context(|| format!("no {SURVIVORS}"))?;
    let new = new_survivors(&missed, &accepted);
    if new.is_empty() {
        println!("mutants: every survivor is accepted in {SURVIVORS}");
        return Ok(());
    }
    bail!("no test notices these, and {SURVIVORS} does not accept them:\n{}", new.join("\n"))
}

/// What is missed and not accepted. A mutant is named by its file and its change, as lines move, and is accepted as often as it is listed.
fn new_survivors(missed: &str, accepted: &str) -> Vec<String> {
    let named = |line: &str| {
        let (place, change) = line.split_once(": ")?;
        Some(format!("{}: {change}", place.split(':').next()?))
    };
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for mutant in accepted.lines().filter(|line| !line.starts_with('#')) {
        *left.entry(mutant).or_default() += 1;
    }
    let is_new = |mutant: &String| match left.get_mut(&**mutant) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    missed.lines().filter_map(named).filter(is_new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survivor_is_accepted_wherever_it_has_moved() {
        let missed =
            "calib-core/src/a.rs:7:13: replace < with <= in f\ncalib-core/src/b.rs:1:1: replace g with ()\n";
        let accepted = "# Why.\ncalib-core/src/a.rs: replace < with <= in f\n";
        assert_eq!(new_survivors(missed, accepted), ["calib-core/src/b.rs: replace g with ()"]);
        assert_eq!(new_survivors("", accepted), [""; 0]);
        // Another one of the same name is another one.
        let two = "calib-core/src/a.rs:7:13: replace < with <= in f\ncalib-core/src/a.rs:8:13: replace < with <= in f\n";
        assert_eq!(new_survivors(two, accepted), ["calib-core/src/a.rs: replace < with <= in f"]);
        assert_eq!(new_survivors(two, &format!("{accepted}{accepted}")), [""; 0]);
    }

    #[test]
    fn every_accepted_survivor_has_a_reason_and_its_file() {
        let accepted = fs::read_to_string(root().join(SURVIVORS)).unwrap();
        for paragraph in accepted.split("\n\n") {
            assert!(paragraph.starts_with('#'), "{paragraph}");
            for line in paragraph.lines().filter(|line| !line.starts_with('#')) {
                let file = line.split(": ").next().unwrap();
                assert!(root().join(file).exists(), "{line}");
            }
        }
    }
}
