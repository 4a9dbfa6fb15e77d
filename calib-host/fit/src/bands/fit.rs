//! Fitting a band.

use std::ops::Range;

use super::family::family;
use super::steps::{Step, Steps};
use crate::accessors::getters;
use crate::data::{BinaryData, with_points};
use crate::error::FitError;
use crate::fit::{check_alpha, stated_alpha};
use crate::guarantee::exact_interval;
use crate::intervals::{LARGEST_LEVEL, nearest_edges};
use crate::parallel;
use crate::points::Points;
use crate::stats::Interval;

/// A band around the calibration curve.
///
/// With probability at least `1 - alpha` over the labels of the calibration set: if a higher score never means a lower probability, the
/// probability of an event lies in the band for **every** score simultaneously. This holds given the scores, with ties and without. The
/// band depends on no calibrator, bin or threshold, so these may be chosen by the same rows.
///
/// ```
/// use calib_fit::BinaryData;
/// use calib_fit::bands::Band;
///
/// let scores: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
/// let labels: Vec<bool> = (0..1000).map(|i| i % 40 < i / 25).collect();
/// let band = Band::fit(&BinaryData::new(scores, labels)?, 0.1)?;
/// let middle = band.at(0.5);
/// assert!(middle.lo > 0.25 && middle.hi < 0.7);
/// assert_eq!(band.at(0.0).lo, 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    alpha: f64,
    rows: u64,
    mean_width: f64,
    lower: Steps,
    upper: Steps,
}

getters! {
    Band {
        /// The failure probability of the band, for all scores together.
        alpha: f64,
        /// The rows that it was fitted to.
        rows: u64,
        /// The width on average over the calibration scores.
        mean_width: f64,
        ;
        /// The lower side.
        lower: Steps,
        /// The upper side.
        upper: Steps,
    }
}

/// Neighboring scores that are not divided.
#[derive(Clone, Copy, Debug)]
struct Cell {
    first: f64,
    last: f64,
    rows: u64,
    positives: u64,
    /// The rows up to and with those of the first score.
    through_first: u64,
    /// The rows below the last score.
    below_last: u64,
}

/// A union of cells with the interval of its average rate.
#[derive(Clone, Debug)]
struct Union {
    cells: Range<usize>,
    interval: Interval,
}

impl Band {
    /// The largest number of steps of a side. If there are more, neighbors are joined, which widens the band.
    pub const MOST_STEPS: usize = 32;

    /// Fits a band to one score.
    ///
    /// Only the order of the scores counts, and it must be that of the device: see [`BinaryData::on_device`] and [`BinaryData::rounded`].
    ///
    /// # Errors
    ///
    /// [`FitError::NotMonotone`] if the labels contradict that the curve does not fall: under this condition, that happens with probability
    /// alpha at most. Also if alpha is not in `(0, 1)`, or points on a disk cannot be read.
    pub fn fit(data: &BinaryData, alpha: f64) -> Result<Self, FitError> {
        Self::with_steps(data, alpha, Self::MOST_STEPS)
    }

    fn with_steps(data: &BinaryData, alpha: f64, most: usize) -> Result<Self, FitError> {
        check_alpha(alpha)?;
        let cells = with_points!(data, |points| cells(points))?;
        Self::of(&cells, alpha, most)
    }

    fn of(cells: &[Cell], alpha: f64, most: usize) -> Result<Self, FitError> {
        let unions = intervals(cells, stated_alpha(alpha));
        let lower = best(&unions, cells.len(), |union| (union.cells.end - 1, union.interval.lo));
        // From the last cell down, and with the sign turned, the upper side is the same.
        let from_last = |union: &Union| (cells.len() - 1 - union.cells.start, -union.interval.hi);
        let upper: Vec<_> = best(&unions, cells.len(), from_last).into_iter().rev().collect();
        check_monotone(cells, &lower, &upper)?;

        let rows: u64 = cells.iter().map(|cell| cell.rows).sum();
        let ends = cells.iter().skip(1).map(|cell| cell.below_last).chain([rows]);
        let lower = cells.iter().zip(&lower).zip(ends).filter_map(|((cell, best), end)| {
            let rows = end - cell.below_last;
            best.map(|union| Step { score: cell.last, value: union.interval.lo, rows })
        });
        let mut start = 0;
        let upper = cells.iter().zip(&upper).filter_map(|(cell, best)| {
            let rows = cell.through_first - std::mem::replace(&mut start, cell.through_first);
            best.map(|union| Step { score: cell.first, value: union.interval.hi, rows })
        });
        let (lower, upper) = (Steps::lower(lower, most), Steps::upper(upper, most));
        Ok(Self { alpha, rows, mean_width: mean_width(cells, &lower, &upper), lower, upper })
    }

    /// Returns the band at a score.
    pub fn at(&self, score: f64) -> Interval {
        Interval { lo: self.lower.from(score), hi: self.upper.up_to(score) }
    }
}

/// Divides the scores into cells of about equal mass, without a look at labels. A score is never divided.
fn cells(points: &(impl Points + ?Sized)) -> Result<Vec<Cell>, FitError> {
    let totals = points.totals();
    let parts = (2.25 * totals.0 as f64).sqrt().floor().clamp(5.0, 400.0);
    let starts = [(0, 0)].into_iter().chain(points.below(&nearest_edges(points, parts as u64)?)?);
    let starts: Vec<(u64, u64)> = starts.collect();
    let ends = starts.iter().skip(1).chain([&totals]);
    let ranks: Vec<u64> =
        starts.iter().zip(ends.clone()).flat_map(|(start, end)| [start.0 + 1, end.0]).collect();
    let found = points.at_ranks(&ranks)?;
    let cells = starts.iter().zip(ends).zip(found.as_chunks().0).map(|((start, end), [first, last])| Cell {
        first: first.group.score,
        last: last.group.score,
        rows: end.0 - start.0,
        positives: end.1 - start.1,
        through_first: first.through().0,
        below_last: last.below.0,
    });
    Ok(cells.collect())
}

/// Returns the unions of cells with the intervals of their rates, all of which hold simultaneously with probability at least `1 - alpha`.
fn intervals(cells: &[Cell], alpha: f64) -> Vec<Union> {
    let unions = family(cells.len());
    let level = (alpha / unions.len() as f64).min(LARGEST_LEVEL);
    let union = |union: Range<usize>| {
        let (rows, positives) =
            cells[union.clone()].iter().fold((0, 0), |sum, cell| (sum.0 + cell.rows, sum.1 + cell.positives));
        Union { cells: union, interval: exact_interval(positives, rows, level) }
    };
    parallel::map(unions, union)
}

/// Returns for each cell the union with the highest value among those whose place is that cell or one before it; `None` if there is none.
fn best(unions: &[Union], cells: usize, place: impl Fn(&Union) -> (usize, f64)) -> Vec<Option<&Union>> {
    let mut best: Vec<Option<&Union>> = vec![None; cells];
    let higher = |a: Option<&Union>, b: &Union| a.is_none_or(|a| place(a).1 < place(b).1);
    for union in unions {
        let at = place(union).0;
        if higher(best[at], union) {
            best[at] = Some(union);
        }
    }
    for at in 1..cells {
        if let Some(before) = best[at - 1]
            && higher(best[at], before)
        {
            best[at] = Some(before);
        }
    }
    best
}

/// Refuses a band whose lower side is above its upper side at some score, with the two unions that are the furthest apart.
fn check_monotone(
    cells: &[Cell],
    lower: &[Option<&Union>],
    upper: &[Option<&Union>],
) -> Result<(), FitError> {
    let crossed = cells.iter().zip(lower).filter_map(|(cell, lower)| {
        let at = cells.partition_point(|other| other.first < cell.last);
        let (lower, upper) = ((*lower)?, (*upper.get(at)?)?);
        (lower.interval.lo > upper.interval.hi).then_some((lower, upper))
    });
    let apart = |(lower, upper): &(&Union, &Union)| lower.interval.lo - upper.interval.hi;
    let scores = |union: &Union| [cells[union.cells.start].first, cells[union.cells.end - 1].last];
    match crossed.max_by(|a, b| apart(a).total_cmp(&apart(b))) {
        None => Ok(()),
        Some((lower, upper)) => Err(FitError::NotMonotone {
            lower: scores(lower),
            at_least: lower.interval.lo,
            higher: scores(upper),
            at_most: upper.interval.hi,
        }),
    }
}

/// The width on average over the calibration scores.
fn mean_width(cells: &[Cell], lower: &Steps, upper: &Steps) -> f64 {
    let rows: u64 = cells.iter().map(|cell| cell.rows).sum();
    let (mut sum, mut start) = (0.0, 0);
    for cell in cells {
        sum += upper.up_to(cell.first) * (cell.through_first - start) as f64;
        start = cell.through_first;
    }
    sum += (rows - start) as f64;
    let mut end = rows;
    for cell in cells.iter().rev() {
        sum -= lower.from(cell.last) * (end - cell.below_last) as f64;
        end = cell.below_last;
    }
    sum / rows as f64
}

#[cfg(test)]
mod tests;
