//! Where the evidence does not suffice for an action of a decision rule.

use calib_core::decision::SureBy;
use calib_core::{Artifact, BinFlags, Calibrated, Outcome};

/// The bins of an artifact in which its rule holds an action back, because the bin's evidence does not suffice for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Withheld {
    /// The number of bins in which another action is taken.
    pub(super) bins: u64,
    /// The number of bins with calibration points whose action asks for evidence.
    pub(super) of: u64,
}

/// Counts the bins in which an artifact's rule holds an action back; `None` if no action asks for evidence.
pub(super) fn withheld(artifact: &Artifact<'_>) -> Option<Withheld> {
    // Where ranges of the score have the intervals, a bin's evidence is not a separate one.
    let has_ranges = artifact.score_intervals().is_some();
    let rule = artifact.decision().filter(|rule| rule.unsure().is_some() && !has_ranges)?;
    let tables = artifact.tables();
    let mut counts = Withheld { bins: 0, of: 0 };
    for table in 0..tables.count() {
        let Some(found) = tables.get(table) else { continue };
        for bin in 0..found.form.bins() {
            let Some(prob) = found.form.step(bin) else { continue };
            let bin = bin as u16;
            if tables.bin_flags(table, bin).contains(BinFlags::EMPTY) {
                continue;
            }
            let asked = rule.action_at(prob);
            match rule.action(asked).and_then(|action| action.if_sure) {
                Some(SureBy::Interval) => {}
                // A band is evidence of a score, not of a bin.
                Some(SureBy::Band) if artifact.band().is_none() => {}
                _ => continue,
            }
            let (epsilon, interval) = (found.epsilon, tables.interval(table, bin));
            let flags = BinFlags::NONE;
            let outcome = Outcome::Calibrated(Calibrated { prob, bin, epsilon, flags, interval });
            counts.of += 1;
            counts.bins += u64::from(rule.decide(&outcome, || None) != asked);
        }
    }
    Some(counts)
}
