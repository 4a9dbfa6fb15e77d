//! One distribution and number of rows.

use anyhow::Result;
use calib_host::BinaryData;
use calib_host::stats::clopper_pearson;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::tables::{FAMILIES, fails};
use crate::truths::Case;
use crate::{ALPHAS, SEED, beside};

/// A score and whether its label is 1.
pub(crate) type Point = (f64, bool);

/// There are hundreds of cells: this rare is a failure of one of them by chance.
const CHANCE: f64 = 1e-5;
/// The number of sets of a cell that every method is fitted to.
const FITTED: u64 = 2;
/// With fewer rows, counts are too coarse for exact intervals to come near their level.
const FINE: usize = 1000;

/// The counts of all guarantees.
pub(crate) struct Cell {
    /// For each alpha, those of [`guarantees`].
    pub(crate) tallies: [Vec<Tally>; ALPHAS.len()],
    /// The artifacts that hold the intervals and bands that are counted.
    pub(crate) artifacts: usize,
}

/// A guarantee that is counted.
pub(crate) struct Guarantee {
    pub(crate) name: String,
    /// Nothing is claimed of the others, which are shown.
    is_claimed: bool,
    /// It is not expected to fail less often than a third of alpha where the truth is flat.
    is_sharp: bool,
}

/// The guarantees in order.
pub(crate) fn guarantees() -> impl Iterator<Item = Guarantee> {
    let of = |name: &str, is_claimed, is_sharp| Guarantee { name: name.to_owned(), is_claimed, is_sharp };
    let tables = FAMILIES.into_iter().flat_map(|(method, bound, _)| {
        [format!("{method}: epsilon ({bound})"), format!("{method}: exact intervals of bins")]
            .map(|name| Guarantee { name, is_claimed: true, is_sharp: false })
    });
    [
        of("intervals beside any method", true, true),
        of("  of tied scores: rate of the range, not claimed", false, false),
        of("band beside any method", true, false),
    ]
    .into_iter()
    .chain(tables)
}

/// How often a guarantee was stated, and how often it failed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    stated: u64,
    failed: u64,
    rows: usize,
}

impl Cell {
    /// Draws this number of calibration sets.
    pub(crate) fn of(case: &Case, rows: usize, sets: u64) -> Result<Self> {
        let outcomes =
            (0..sets).into_par_iter().map(|set| outcome(case, rows, set)).collect::<Result<Vec<_>>>()?;
        let mut tallies = ALPHAS.map(|_| vec![Tally { rows, ..Tally::default() }; guarantees().count()]);
        let mut artifacts = 0;
        for (outcome, compared) in outcomes {
            artifacts += compared;
            for (tallies, outcome) in tallies.iter_mut().zip(outcome) {
                for (tally, fails) in tallies.iter_mut().zip(outcome) {
                    tally.stated += u64::from(fails.is_some());
                    tally.failed += u64::from(fails == Some(true));
                }
            }
        }
        Ok(Self { tallies, artifacts })
    }
}

/// Which guarantees fail on a calibration set, `None` for those that are not stated; and the number of artifacts that were compared.
fn outcome(case: &Case, rows: usize, set: u64) -> Result<([Vec<Option<bool>>; ALPHAS.len()], usize)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED + set + ((rows as u64) << 32));
    let points = case.truth.points(rows, &mut rng);
    let (scores, labels) = points.iter().copied().unzip();
    // All fits need them in order.
    let data = BinaryData::new(scores, labels)?.on_device().sorted();
    let (mut outcomes, mut compared) = (ALPHAS.map(|_| Vec::new()), 0);
    for (outcome, alpha) in outcomes.iter_mut().zip(ALPHAS) {
        outcome.extend(beside::intervals_fail(&case.truth, &points, &data, alpha)?);
        outcome.push(case.rises.then(|| beside::band_fails(&case.truth, &data, alpha)).transpose()?);
        for family in FAMILIES {
            outcome.extend(fails(family, &case.truth, &data, alpha, set)?);
        }
        if set < FITTED && rows <= 5000 {
            compared += beside::are_in_artifacts(&points, &data, alpha)?;
        }
    }
    Ok((outcomes, compared))
}

impl Tally {
    /// The share of failures in percent, with what is wrong with it.
    pub(crate) fn shown(&self, alpha: f64, case: &Case, guarantee: &Guarantee) -> String {
        if self.stated == 0 {
            return "–".to_owned();
        }
        let mark = match self.finding(alpha, case, guarantee) {
            None => "",
            Some("fails more often than alpha") => "*",
            Some(_) => "<",
        };
        format!("{:.1}{mark}", 100.0 * self.failed as f64 / self.stated as f64)
    }

    /// What is wrong with the share of failures.
    pub(crate) fn finding(&self, alpha: f64, case: &Case, guarantee: &Guarantee) -> Option<&'static str> {
        if self.stated == 0 || !guarantee.is_claimed {
            return None;
        }
        let interval = clopper_pearson(self.failed, self.stated, CHANCE);
        if interval.lo > alpha {
            return Some("fails more often than alpha");
        }
        let is_sharp = guarantee.is_sharp && case.is_flat && self.rows >= FINE;
        (is_sharp && interval.hi < alpha / 3.0).then_some("holds far more often than necessary")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truths::cases;

    /// What is said of this number of failures of 10,000 at alpha = 0.1, of the intervals beside any method and of the band.
    fn findings(failed: u64, is_flat: bool, rows: usize) -> [Option<&'static str>; 2] {
        let case = cases().into_iter().find(|case| case.is_flat == is_flat).unwrap();
        let all: Vec<_> = guarantees().collect();
        [0, 2].map(|at| Tally { stated: 10_000, failed, rows }.finding(0.1, &case, &all[at]))
    }

    #[test]
    fn too_many_failures_are_found_and_too_few_where_the_truth_is_flat() {
        let (often, rarely) =
            (Some("fails more often than alpha"), Some("holds far more often than necessary"));
        assert_eq!(findings(1200, false, 1000), [often, often]);
        assert_eq!(findings(1050, false, 1000), [None, None]);
        assert_eq!(findings(200, true, 1000), [rarely, None]);
        assert_eq!(findings(200, true, 300), [None, None]);
        assert_eq!(findings(200, false, 1000), [None, None]);
    }
}
