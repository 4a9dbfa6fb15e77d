//! A calibration set, and streams of scores.

use calib_core::monitor::Reference;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The most bins of a monitor here.
pub(crate) const MOST: usize = 15;

/// The generator of a life: its own, so that lives do not depend on their order.
pub(crate) fn of_life(kind: u64, life: u32) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(kind << 32 | u64::from(life))
}

/// A uniform number in [0, 1).
pub(crate) fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    random.random()
}

/// A calibration set's edges, and how many of its gaps are between them.
pub(crate) struct Calibrated {
    edges: Vec<f64>,
    pub(crate) gaps: Vec<u32>,
}

impl Calibrated {
    /// Bins of uniform mass of so many uniform scores: those of any other distribution differ from them by a function that keeps the
    /// order.
    pub(crate) fn draw(n: usize, bins: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        Self::of((0..n).map(|_| uniform(random)).collect(), bins)
    }

    /// Bins of uniform mass of these scores.
    pub(crate) fn of(mut scores: Vec<f64>, bins: usize) -> Self {
        scores.sort_by(f64::total_cmp);
        let rank = |bin: usize| (bin * (scores.len() + 1)).div_ceil(bins);
        Self {
            edges: (1..bins).map(|bin| scores[rank(bin) - 1]).collect(),
            gaps: (0..bins).map(|bin| (rank(bin + 1) - rank(bin)) as u32).collect(),
        }
    }

    pub(crate) fn bins(&self) -> usize {
        self.gaps.len()
    }

    pub(crate) fn bin(&self, score: f64) -> usize {
        self.edges.partition_point(|&edge| edge <= score)
    }

    pub(crate) fn reference(&self) -> Reference<'_> {
        Reference::new(&self.gaps).expect("every bin has a gap")
    }
}
