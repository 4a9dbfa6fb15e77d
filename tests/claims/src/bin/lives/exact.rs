//! The evidence of a shift after every prediction, in doubles.

use crate::calibrated::Calibrated;

/// What the bet on another distribution begins with in every bin.
const PRIOR: f64 = 5.0;

/// The counts of a life, and the evidence against the calibration scores.
pub(crate) struct Exact<'c> {
    calibrated: &'c Calibrated,
    counts: Vec<f64>,
    total: f64,
    all: f64,
    log: f64,
}

impl<'c> Exact<'c> {
    pub(crate) fn new(calibrated: &'c Calibrated) -> Self {
        let all = calibrated.gaps.iter().map(|&gaps| f64::from(gaps)).sum();
        Self { calibrated, counts: vec![0.0; calibrated.bins()], total: 0.0, all, log: 0.0 }
    }

    /// Counts a prediction, and returns the logarithm of the evidence.
    pub(crate) fn count(&mut self, bin: usize) -> f64 {
        let count = self.counts[bin];
        let bet = (PRIOR + count) / (PRIOR * self.counts.len() as f64 + self.total);
        let urn = (f64::from(self.calibrated.gaps[bin]) + count) / (self.all + self.total);
        self.log += (bet / urn).ln();
        self.counts[bin] += 1.0;
        self.total += 1.0;
        self.log
    }
}

#[cfg(test)]
mod tests {
    use calib_fit::fleet::shift_evidence;

    use super::*;
    use crate::calibrated::{of_life, uniform};

    /// Step by step it is what the counts say.
    #[test]
    fn is_the_evidence_of_its_counts() {
        let mut random = of_life(1, 1);
        let calibrated = Calibrated::draw(200, 5, &mut random);
        let mut exact = Exact::new(&calibrated);
        let mut counts = vec![0; 5];
        for _ in 0..2000 {
            let bin = calibrated.bin(uniform(&mut random).powf(1.1));
            counts[bin] += 1;
            let log = exact.count(bin);
            assert!((log - shift_evidence(&calibrated.gaps, &counts)).abs() < 1e-8);
        }
    }
}
