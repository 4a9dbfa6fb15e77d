//! Within which interval a bin's probability was guaranteed to lie.

use super::tables::Tables;
use crate::outcome::{BinFlags, ProbInterval};

impl Tables<'_> {
    /// Returns the interval within which the probability of a table's bin was guaranteed to lie: the bin's own or that of the range of the score, or else as far from its
    /// probability as the table's epsilon, rounded outwards by less than 2^-22. `None` if nothing is guaranteed.
    ///
    /// ```
    /// use calib_core::Artifact;
    ///
    /// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
    /// # let bytes = sample::monitored();
    /// let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    /// let tables = artifact.tables();
    /// let (table, guaranteed) = (tables.get(0).unwrap(), tables.guaranteed(0, 1).unwrap());
    /// let half = f64::from(guaranteed.hi) - f64::from(table.form.step(1).unwrap());
    /// let epsilon = f64::from(table.epsilon.unwrap());
    /// assert!(half >= epsilon && half < epsilon + 1e-6 || guaranteed.hi == 1.0);
    /// assert_eq!(tables.guaranteed(0, 9), None);
    /// ```
    pub fn guaranteed(&self, table: usize, bin: u16) -> Option<ProbInterval> {
        if self.has_ranges() {
            return self.range_interval(table, bin);
        }
        if let Some(interval) = self.own_interval(table, bin) {
            return Some(interval);
        }
        let found = self.get(table)?;
        let is_empty = self.bin_flags(table, bin).contains(BinFlags::EMPTY);
        let epsilon = found.epsilon.filter(|_| !is_empty && usize::from(bin) < found.form.bins())?;
        let prob = found.form.step(bin.into())?;
        // What is guaranteed holds, the more so of a wider interval.
        ProbInterval::new((prob - epsilon).next_down().max(0.0), (prob + epsilon).next_up().min(1.0))
    }
}
