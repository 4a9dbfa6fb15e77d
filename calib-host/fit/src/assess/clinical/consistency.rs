//! Where the CORP curve of a calibrated model would be.

use rand::RngExt;
use rand_distr::{Binomial, Distribution};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use super::distinct::Distinct;
use crate::assess::Bootstrap;
use crate::parallel;
use crate::points::{Group, isotonic_blocks};

/// Labels are drawn for at most so many probabilities: above that number neighbors are pooled, for the band alone.
const DRAWN: usize = 1 << 12;

/// The band is given at so many probabilities at most.
const PLACES: usize = 200;

/// The band at one probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BandPoint {
    /// The probability.
    pub prob: f64,
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
}

/// The consistency band (Broecker and Smith 2007; Dimitriadis et al. 2021): the quantiles of isotonic fits to labels that are
/// drawn with the probabilities themselves, which are kept. It covers each point of the curve of a calibrated model on its own.
pub(super) fn consistency_band(distinct: &Distinct<'_>, resampling: &Bootstrap) -> Vec<BandPoint> {
    let groups = distinct.pooled(DRAWN);
    let wanted = groups.len().min(PLACES);
    let places: Vec<usize> = (0..wanted).map(|i| i * (groups.len() - 1) / (wanted - 1).max(1)).collect();
    let draw = |mut rng: Xoshiro256PlusPlus| -> Vec<f64> {
        let drawn: Vec<Group> = groups
            .iter()
            .map(|group| Group { positives: positives(group.n, group.score, &mut rng), ..*group })
            .collect();
        let blocks = isotonic_blocks(&drawn);
        let at = |&place: &usize| {
            let block = &blocks[blocks.partition_point(|block| block.hi < groups[place].score)];
            block.positives as f64 / block.n as f64
        };
        places.iter().map(at).collect()
    };
    let curves: Vec<Vec<f64>> = parallel::map(resampling.generators(), draw);
    let band = |(i, &place): (usize, &usize)| {
        let at = curves.iter().map(|curve| curve[i]).collect();
        let interval = resampling.percentiles(at).expect("every curve has a value everywhere");
        BandPoint { prob: groups[place].score, lo: interval.lo, hi: interval.hi }
    };
    places.iter().enumerate().map(band).collect()
}

/// The number of events among `n` rows, each with this probability.
pub(super) fn positives(n: u64, prob: f64, rng: &mut Xoshiro256PlusPlus) -> u64 {
    match n {
        1 => u64::from(rng.random::<f64>() < prob),
        n => Binomial::new(n, prob.clamp(0.0, 1.0)).expect("it is a probability").sample(rng),
    }
}
