//! The cases, a file for each part of `calib`.
//!
//! A new one: a file here with a `pub(super) const CASES`, a script of its peers beside it, and a line in [`all`].

mod apply;
mod classes;
mod compare;
mod files;
mod fit;
mod report;

use crate::case::Case;

/// All cases, in the order of the table.
pub(crate) fn all() -> Vec<&'static Case> {
    [fit::CASES, classes::CASES, apply::CASES, report::CASES, compare::CASES].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own_and_says_what_it_reads() {
        let mut names: Vec<&str> = all().iter().map(|case| case.name).collect();
        names.sort_unstable();
        assert!(names.is_sorted_by(|a, b| a < b) && names.len() > 3);
        assert!(all().iter().all(|case| !case.reads.is_empty() && !case.ours.starts_with("calib")));
    }
}
