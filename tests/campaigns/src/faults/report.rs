//! What all reports have in common.

/// How many violations a part of a report keeps.
const KEPT: usize = 5;

/// Counts, and what should not have happened.
pub(crate) trait Report: Default {
    /// Adds the counts of another.
    fn add_counts(&mut self, part: &Self);

    fn violations(&mut self) -> &mut Vec<String>;

    /// Keeps a violation if it is among the first few.
    fn note(&mut self, problem: String) {
        let violations = self.violations();
        if violations.len() < KEPT {
            violations.push(problem);
        }
    }

    /// The report of all parts, which keeps every part's violations.
    fn sum(parts: Vec<Self>) -> Self {
        parts.into_iter().fold(Self::default(), |mut all, mut part| {
            all.add_counts(&part);
            all.violations().append(part.violations());
            all
        })
    }
}
