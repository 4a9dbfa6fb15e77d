//! Grouping predictions for an estimate of calibration error.

use serde::Serialize;

use crate::names::names;

/// How predictions are grouped. Never guessed from the number of distinct values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "scheme", content = "bins", rename_all = "kebab-case")]
pub enum Binning {
    /// This many bins `[a, b)` of equal width, the last one closed. The default elsewhere is 15.
    EqualWidth(usize),
    /// At most this many bins `[a, b)` of about equal numbers of predictions: of `n` in ascending order, edge `b` of `B` is
    /// the one after `floor(b n / B)`. Where several edges coincide, because probabilities tie, there are fewer bins.
    EqualMass(usize),
    /// The same as Kumar et al. (2019) cut in their package `uncertainty-calibration`: bins `(a, b]`, of which the first `n mod
    /// B` hold one prediction more than the others, with edges midway between the neighbors.
    EqualMassKumar(usize),
    /// By the bin that the calibrator put each prediction in.
    ByBin,
    /// By the value of the probability: for a model that is known to have few.
    ByValue,
}

/// A [`Binning`] by its name, without the number of its bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinningScheme {
    /// Bins of equal width.
    EqualWidth,
    /// Bins of about equal numbers of predictions.
    EqualMass,
    /// The same as the package of Kumar et al. 2019 cuts.
    EqualMassKumar,
    /// By the value of the probability.
    ByValue,
    /// By the bin of the calibrator.
    ByBin,
}

names!(BinningScheme, "binning":
    EqualWidth "equal-width" "Bins of equal width",
    EqualMass "equal-mass" "Bins of about equal numbers of predictions: edge b of B is the prediction after floor(b n / B) of them; ties are never split",
    EqualMassKumar "equal-mass-kumar" "The same as the package of Kumar et al. 2019 cuts: the first n mod B bins hold one prediction more than the others, and edges are midway between neighboring predictions",
    ByValue "by-value" "Equal probabilities together",
    ByBin "by-bin" "The bins of the artifact",
);

impl BinningScheme {
    /// Returns the binning with this many bins, if it has a separate number.
    pub fn with_bins(self, bins: usize) -> Binning {
        match self {
            Self::EqualWidth => Binning::EqualWidth(bins),
            Self::EqualMass => Binning::EqualMass(bins),
            Self::EqualMassKumar => Binning::EqualMassKumar(bins),
            Self::ByValue => Binning::ByValue,
            Self::ByBin => Binning::ByBin,
        }
    }
}

/// A binning, with the edges that it has for certain predictions.
#[derive(Clone, Debug)]
pub(crate) enum Cutter {
    EqualWidth(usize),
    Edges(Vec<f64>),
    ByBin,
}

impl Binning {
    /// How this binning cuts the probabilities `prob(0) <= prob(1) <= ... < prob(n)`, with `n >= 1`.
    pub(crate) fn cutter(self, n: usize, prob: impl Fn(usize) -> f64) -> Cutter {
        match self {
            Self::EqualWidth(bins) => Cutter::EqualWidth(bins),
            Self::ByBin => Cutter::ByBin,
            Self::EqualMass(bins) => {
                let edges = (1..bins).map(|b| (b as u128 * n as u128 / bins as u128) as usize);
                Cutter::Edges(ascending(edges.map(&prob), prob(0)))
            }
            Self::EqualMassKumar(bins) => {
                let (size, larger) = (n / bins, n % bins);
                let cuts = (1..bins.min(n)).map(|b| if size > 0 { b * size + b.min(larger) } else { b });
                // What equals an edge is below it.
                let edges = cuts.map(|cut| prob(cut - 1).midpoint(prob(cut)).next_up());
                Cutter::Edges(ascending(edges.filter(|&edge| edge <= prob(n - 1)), prob(0)))
            }
            Self::ByValue => Cutter::Edges(ascending((0..n).map(&prob), prob(0))),
        }
    }
}

/// The distinct values above the lowest one, of ascending ones.
fn ascending(values: impl Iterator<Item = f64>, lowest: f64) -> Vec<f64> {
    let mut edges: Vec<f64> = values.filter(|&value| value > lowest).collect();
    edges.dedup();
    edges
}

impl Cutter {
    /// The bin of a prediction: its probability in `[0, 1]`, and the bin of the calibrator.
    pub(crate) fn bin(&self, prob: f64, bin: u32) -> u32 {
        match self {
            Self::EqualWidth(bins) => equal_width(prob, *bins),
            Self::Edges(edges) => edges.partition_point(|&edge| edge <= prob) as u32,
            Self::ByBin => bin,
        }
    }

    /// The interval of probabilities that a bin holds; `None` for the bins of a calibrator.
    pub(crate) fn ends(&self, bin: u32) -> Option<(f64, f64)> {
        let bin = bin as usize;
        match self {
            Self::EqualWidth(bins) => Some((bin as f64 / *bins as f64, (bin + 1) as f64 / *bins as f64)),
            Self::Edges(edges) => {
                let below = bin.checked_sub(1).and_then(|below| edges.get(below));
                Some((below.copied().unwrap_or(0.0), edges.get(bin).copied().unwrap_or(1.0)))
            }
            Self::ByBin => None,
        }
    }
}

fn equal_width(prob: f64, bins: usize) -> u32 {
    // The product is exact or off by an ulp; edges are the multiples of 1/bins as f64.
    let mut bin = ((prob * bins as f64) as usize).min(bins - 1);
    if bin + 1 < bins && prob >= (bin + 1) as f64 / bins as f64 {
        bin += 1;
    } else if prob < bin as f64 / bins as f64 {
        bin -= 1;
    }
    bin as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_width_bins_are_closed_below_and_the_last_one_also_above() {
        for bins in [1usize, 3, 10, 15, 49] {
            for b in 0..bins {
                let edge = b as f64 / bins as f64;
                assert_eq!(equal_width(edge, bins), b as u32, "{b}/{bins}");
                if b > 0 {
                    assert_eq!(equal_width(edge.next_down(), bins), b as u32 - 1);
                }
            }
            assert_eq!(equal_width(1.0, bins), bins as u32 - 1);
        }
    }

    #[test]
    fn equal_mass_bins_hold_equal_numbers_and_never_split_a_tie() {
        let probs: Vec<f64> = (0..100).map(|i| f64::from(i) / 100.0).collect();
        let cutter = Binning::EqualMass(7).cutter(100, |i| probs[i]);
        let mut counts = [0; 7];
        probs.iter().for_each(|&prob| counts[cutter.bin(prob, 0) as usize] += 1);
        assert!(counts.iter().all(|n| (14..=15).contains(n)), "{counts:?}");

        // 14.29 predictions a bin: floors of multiples, or two bins of 15 first.
        assert_eq!(counts, [14, 14, 14, 15, 14, 14, 15]);
        let cutter = Binning::EqualMassKumar(7).cutter(100, |i| probs[i]);
        let mut counts = [0; 7];
        probs.iter().for_each(|&prob| counts[cutter.bin(prob, 0) as usize] += 1);
        assert_eq!(counts, [15, 15, 14, 14, 14, 14, 14]);
        assert_eq!(cutter.bin(0.1449, 0), 0);
        let cutter = Binning::EqualMassKumar(7).cutter(3, |i| probs[i]);
        assert_eq!([0, 1, 2].map(|i| cutter.bin(probs[i], 0)), [0, 1, 2]);
        let tied = [0.1, 0.3, 0.3, 0.3, 0.9, 0.9];
        let cutter = Binning::EqualMassKumar(3).cutter(tied.len(), |i| tied[i]);
        assert_eq!(tied.map(|prob| cutter.bin(prob, 0)), [0, 0, 0, 0, 2, 2]);
        assert_eq!([0.300_001, 0.599_999, 0.600_001].map(|prob| cutter.bin(prob, 0)), [1, 1, 2]);

        let tied = [0.1, 0.1, 0.1, 0.5, 0.5, 0.9];
        let cutter = Binning::EqualMass(5).cutter(tied.len(), |i| tied[i]);
        assert_eq!(tied.map(|prob| cutter.bin(prob, 0)), [0, 0, 0, 1, 1, 1]);
        let cutter = Binning::ByValue.cutter(tied.len(), |i| tied[i]);
        assert_eq!(tied.map(|prob| cutter.bin(prob, 0)), [0, 0, 0, 1, 1, 2]);
        assert_eq!((cutter.ends(1), cutter.ends(2)), (Some((0.5, 0.9)), Some((0.9, 1.0))));
        let same = Binning::EqualMass(5).cutter(3, |_| 0.4);
        assert_eq!((same.bin(0.4, 9), same.ends(0)), (0, Some((0.0, 1.0))));
    }
}
