//! Grouping predictions for an estimate of calibration error.

/// How predictions are grouped. Never guessed from the number of distinct values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binning {
    /// This many bins `[a, b)` of equal width, the last one closed. The default elsewhere is 15.
    EqualWidth(usize),
    /// By the bin that the calibrator put each prediction in.
    ByBin,
}

/// A group of predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// How many predictions are in it.
    pub n: u64,
    /// How many of them came true.
    pub hits: u64,
    /// The sum of their probabilities.
    pub prob_sum: f64,
}

impl Binning {
    /// The group of a prediction: its probability in `[0, 1]`, and the bin of the calibrator.
    pub(crate) fn cell(self, prob: f64, bin: u32) -> u32 {
        match self {
            // The product is exact or off by an ulp; edges are the multiples of 1/bins as f64.
            Self::EqualWidth(bins) => {
                let mut cell = ((prob * bins as f64) as usize).min(bins - 1);
                if cell + 1 < bins && prob >= (cell + 1) as f64 / bins as f64 {
                    cell += 1;
                } else if prob < cell as f64 / bins as f64 {
                    cell -= 1;
                }
                cell as u32
            }
            Self::ByBin => bin,
        }
    }
}

impl Cell {
    pub(crate) fn add(&mut self, prob: f64, hit: bool) {
        self.n += 1;
        self.hits += u64::from(hit);
        self.prob_sum += prob;
    }

    /// `|mean probability - fraction of hits|`, at least one prediction given.
    pub fn deviation(&self) -> f64 {
        self.weighted_deviation() / self.n as f64
    }

    /// `n` times the deviation.
    pub(crate) fn weighted_deviation(&self) -> f64 {
        (self.prob_sum - self.hits as f64).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_width_bins_are_closed_below_and_the_last_one_also_above() {
        for bins in [1usize, 3, 10, 15, 49] {
            let binning = Binning::EqualWidth(bins);
            for b in 0..bins {
                let edge = b as f64 / bins as f64;
                assert_eq!(binning.cell(edge, 0), b as u32, "{b}/{bins}");
                if b > 0 {
                    assert_eq!(binning.cell(edge.next_down(), 0), b as u32 - 1);
                }
            }
            assert_eq!(binning.cell(1.0, 0), bins as u32 - 1);
        }
    }
}
