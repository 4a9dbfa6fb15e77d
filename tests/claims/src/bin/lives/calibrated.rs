//! A calibration set, and streams of scores.

use std::collections::BTreeSet;

use calib_core::monitor::Reference;
use calib_fit::artifact::{ArtifactOptions, Monitoring, StoredArtifact, artifact_bytes};
use calib_fit::{BinaryData, BinaryMethod, Umd, fit_binary};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The most bins of a monitor here.
pub(crate) const MOST: usize = 15;

/// Tables of a device with several, one for each class, and the points and bins of each.
pub(crate) const TABLES: usize = 10;
pub(crate) const POINTS_OF_TABLE: usize = 200;
const BINS_OF_TABLE: usize = 5;

/// The generator of a life: its own, so that lives do not depend on their order.
pub(crate) fn of_life(kind: u64, life: u32) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(kind << 32 | u64::from(life))
}

/// A uniform number in [0, 1).
pub(crate) fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    random.random()
}

/// The probability with which a calibrator's own guarantee fails.
pub(crate) const ALPHA: f64 = 0.1;
/// Scores of 24 bits: a score is in f32 what it is here, and none comes twice.
const GRID: u32 = 1 << 24;

/// A calibrator with monitors, whose scores are probabilities; with exact intervals or with an epsilon.
pub(crate) fn calibrator(
    n: usize,
    bins: usize,
    intervals: bool,
    random: &mut Xoshiro256PlusPlus,
) -> StoredArtifact {
    let mut drawn = BTreeSet::new();
    while drawn.len() < n {
        drawn.insert(random.random_range(0..GRID));
    }
    let scores: Vec<f64> = drawn.into_iter().map(|score| f64::from(score) / f64::from(GRID)).collect();
    let labels = scores.iter().map(|&score| uniform(random) < score).collect();
    let data = BinaryData::new(scores, labels).expect("scores are in [0, 1]").on_device();
    let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(bins)), ALPHA).expect("there are points enough");
    let monitors = Some(Monitoring::default());
    let options = ArtifactOptions::default().monitors(monitors).intervals(intervals);
    let bytes = artifact_bytes(&fit, &options).expect("scores do not tie");
    StoredArtifact::from_bytes(&bytes).expect("just written")
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

    /// Those of every table of a device with several.
    pub(crate) fn draw_tables(random: &mut Xoshiro256PlusPlus) -> Vec<Self> {
        (0..TABLES).map(|_| Self::draw(POINTS_OF_TABLE, BINS_OF_TABLE, random)).collect()
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

/// Into which table of such a device the next prediction falls.
pub(crate) fn any_table(random: &mut Xoshiro256PlusPlus) -> usize {
    (uniform(random) * TABLES as f64) as usize
}
