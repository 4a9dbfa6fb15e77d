//! Logistic regression of counted labels on a few predictors, with profile likelihoods.

use std::sync::atomic::{AtomicBool, Ordering};

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rayon::prelude::*;

use super::condensed::{NODES, Point};
use super::logit_row::LogitRow;
use super::logits::Logits;
use crate::stats::Interval;
use crate::stop;

/// Threads share out chunks of so many rows; the sums over chunks are added in order.
const CHUNK: usize = 1 << 14;

/// Within a bin of condensed rows the regression's own logit moves by no more: sums over them are then those over all rows but
/// for 10^-14.
const GENTLE: f64 = 1.0 / 16.0;

/// A maximum is reached where the next step would raise the log-likelihood by half of this: the estimates are then off by
/// 10^-10 of their standard errors.
const DECREMENT: f64 = 1e-20;

/// How far the next step may move a logit there. A maximum at infinity is approached by a logit a step.
const REACH: f64 = 1e-3;

const MAX_STEPS: usize = 200;

/// Where the others are maximised well enough for a profile: its value is then off by half of this.
const NUISANCE_DECREMENT: f64 = 1e-10;

/// How close Newton's step makes the others' maximum known without another one.
const NEAR: f64 = 1e-2;

/// Counted labels with `W` predictors a row.
pub(super) struct Logistic<'r, const W: usize, F> {
    rows: Rows<'r, W, F>,
    /// The largest size of each predictor.
    sizes: [f64; W],
    /// The same in short, for starting values.
    coarse: Option<Box<Self>>,
}

enum Rows<'r, const W: usize, F> {
    /// All of them, with what makes the predictors of a row of its logit.
    All(&'r Logits<'r>, &'r F),
    /// Points in place of them.
    Condensed(Condensed<'r, W>),
}

/// Condensed rows with their predictors.
struct Condensed<'r, const W: usize> {
    points: Vec<Row<W>>,
    /// Where the points of each bin start.
    bins: &'r [usize],
    /// Whether something was found that these rows are too short for.
    are_too_short: AtomicBool,
}

/// Predictors, with how many rows these stand for, and how many of them have label 1.
type Row<const W: usize> = ([f64; W], f64, f64);

/// The log-likelihood at some coefficients, with its derivatives.
#[derive(Clone, Copy, Debug)]
struct Likelihood<const W: usize> {
    value: f64,
    gradient: [f64; W],
    /// The negative of the matrix of second derivatives, of which the lower triangle is kept.
    information: [[f64; W]; W],
}

/// Where the log-likelihood is largest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Maximum<const W: usize> {
    pub(super) coefficients: [f64; W],
    likelihood: Likelihood<W>,
}

impl<'r, const W: usize, F: Fn(f64) -> [f64; W] + Sync> Logistic<'r, W, F> {
    /// Solves a question about the regression of the labels on the predictors, which are made of a row's logit: on condensed rows
    /// if these are enough for it, on all rows if not.
    pub(super) fn solve<T>(
        logits: &'r Logits<'r>,
        predictors: &'r F,
        question: impl Fn(&Self) -> Option<T>,
    ) -> Option<T> {
        let short = Self::condensed(logits, predictors);
        let found = question(&short);
        if found.is_some() && short.is_enough() || logits.condensed.bins.is_empty() {
            return found;
        }
        question(&Self::of(Rows::All(logits, predictors), Some(short.into())))
    }

    fn condensed(logits: &'r Logits<'r>, predictors: &'r F) -> Self {
        let row = |point: &Point| (predictors(point.logit), point.n, point.positives);
        let points = logits.condensed.points.iter().map(row).collect();
        let are_too_short = AtomicBool::new(false);
        Self::of(Rows::Condensed(Condensed { points, bins: &logits.condensed.bins, are_too_short }), None)
    }

    fn of(rows: Rows<'r, W, F>, coarse: Option<Box<Self>>) -> Self {
        let largest = |a: [f64; W], b: [f64; W]| std::array::from_fn(|place| a[place].max(b[place]));
        let add = |sizes, (predictors, ..): Row<W>| largest(sizes, predictors.map(f64::abs));
        let sizes = rows.fold([0.0; W], add);
        Self { rows, sizes: sizes.into_iter().fold([0.0; W], largest), coarse }
    }

    /// Whether all that was found is what all rows would have given.
    fn is_enough(&self) -> bool {
        match &self.rows {
            Rows::All(..) => true,
            Rows::Condensed(rows) => !rows.are_too_short.load(Ordering::Relaxed),
        }
    }

    /// Looks whether condensed rows are enough for what was found with these coefficients; for nothing found they are not.
    fn question(&self, found: Option<&[f64; W]>) {
        if let Rows::Condensed(rows) = &self.rows
            && !found.is_some_and(|coefficients| rows.are_gentle(coefficients))
        {
            rows.are_too_short.store(true, Ordering::Relaxed);
        }
    }

    fn at(&self, coefficients: &[f64; W]) -> Likelihood<W> {
        let add = |likelihood: Likelihood<W>, row| likelihood.with(coefficients, row);
        let chunks = self.rows.fold(Likelihood::ZERO, add);
        chunks.iter().fold(Likelihood::ZERO, Likelihood::plus)
    }

    /// Finds where the log-likelihood is largest if only the coefficients in places `free` move from the start; `None` if
    /// that is at infinity, or more than one place. The largest value at infinity is not always noticed with one predictor
    /// besides a constant: who has such checks for separation first.
    pub(super) fn maximise(&self, start: &[f64; W], free: &[usize]) -> Option<Maximum<W>> {
        let coarse = self.coarse.as_ref().and_then(|coarse| coarse.maximise(start, free));
        let found = self.climb(coarse.map_or(*start, |coarse| coarse.coefficients), free, DECREMENT);
        self.question(found.as_ref().map(|found| &found.coefficients));
        found
    }

    fn climb(&self, mut at: [f64; W], free: &[usize], until: f64) -> Option<Maximum<W>> {
        let mut here = self.at(&at);
        for _ in 0..MAX_STEPS {
            let Newton { step, decrement, .. } = here.newton(free)?;
            if decrement <= until {
                let reach: f64 = step.iter().zip(&self.sizes).map(|(step, size)| step.abs() * size).sum();
                let is_finite = reach <= REACH || until > DECREMENT;
                return is_finite.then_some(Maximum { coefficients: at, likelihood: here });
            }
            let mut length = 1.0;
            loop {
                let mut next = at;
                next.iter_mut().zip(&step).for_each(|(next, step)| *next += length * step);
                let there = self.at(&next);
                // Near the maximum the function is flat to its last bits, and the full step is the right one.
                if there.value >= here.value - 1e-13 * (1.0 + here.value.abs()) {
                    (at, here) = (next, there);
                    break;
                }
                length /= 2.0;
                if length < 1e-9 {
                    return None;
                }
            }
        }
        None
    }

    /// Finds where the log-likelihood, maximised over the coefficients in places `others`, is below its maximum by `drop` on
    /// both sides of a coefficient; `None` if that is nowhere.
    ///
    /// The profile is concave, so that Newton's method comes from outside without passing the end, whatever the start.
    pub(super) fn profile_interval(
        &self,
        maximum: &Maximum<W>,
        place: usize,
        others: &[usize],
        drop: f64,
    ) -> Option<Interval> {
        let free: Vec<usize> = std::iter::once(place).chain(others.iter().copied()).collect();
        let variance = maximum.likelihood.part(&free)?.inverse()[(0, 0)];
        let coarse = self.coarse.as_ref().and_then(|coarse| {
            let maximum = coarse.maximise(&maximum.coefficients, &free)?;
            let interval = coarse.profile_interval(&maximum, place, others, drop)?;
            let centre = maximum.coefficients[place];
            Some((interval.lo - centre, interval.hi - centre))
        });
        let deviation = (2.0 * drop * variance).sqrt();
        let (below, above) = coarse.unwrap_or((-deviation, deviation));
        let end = |distance: f64| {
            let found = self.profile_end(maximum, (place, others), drop, distance);
            self.question(found.as_ref());
            found.map(|coefficients| coefficients[place])
        };
        Some(Interval { lo: end(below)?, hi: end(above)? })
    }

    /// Finds the coefficients at one end from a guess of its distance.
    fn profile_end(
        &self,
        maximum: &Maximum<W>,
        (place, others): (usize, &[usize]),
        drop: f64,
        mut distance: f64,
    ) -> Option<[f64; W]> {
        let centre = maximum.coefficients[place];
        let target = maximum.likelihood.value - drop;
        let mut at = maximum.coefficients;
        maximum.likelihood.follow(&mut at, place, others, distance)?;
        for _ in 0..MAX_STEPS {
            let mut there = self.at(&at);
            if there.newton(others)?.decrement > NEAR {
                let climbed = self.climb(at, others, NUISANCE_DECREMENT)?;
                (at, there) = (climbed.coefficients, climbed.likelihood);
            }
            // The others' maximum, to second order.
            let Newton { step, decrement, .. } = there.newton(others)?;
            let excess = there.value + decrement / 2.0 - target;
            let coupled: f64 =
                others.iter().map(|&other| there.information(place, other) * step[other]).sum();
            let slope = there.gradient[place] - coupled;
            at.iter_mut().zip(&step).for_each(|(at, step)| *at += step);
            // Inside of the maximum's own neighbourhood the slope tells nothing.
            let change = if slope * distance >= 0.0 { distance } else { -excess / slope };
            there.follow(&mut at, place, others, change)?;
            distance += change;
            // The next error is about the square of this one.
            if change.abs() <= 1e-6 * distance.abs() {
                at[place] = centre + distance;
                return Some(at);
            }
        }
        None
    }
}

impl<const W: usize> Condensed<'_, W> {
    /// Whether the logit with these coefficients moves little within every bin.
    fn are_gentle(&self, coefficients: &[f64; W]) -> bool {
        self.bins.iter().all(|&start| {
            let logits = self.points[start..start + NODES].iter().map(|(row, ..)| logit(row, coefficients));
            let (lo, hi) =
                logits.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), z| (lo.min(z), hi.max(z)));
            hi - lo <= GENTLE
        })
    }
}

impl<const W: usize, F: Fn(f64) -> [f64; W] + Sync> Rows<'_, W, F> {
    /// Adds up the rows of every chunk, which follow each other.
    fn fold<T: Copy + Send + Sync>(&self, zero: T, add: impl Fn(T, Row<W>) -> T + Sync) -> Vec<T> {
        match self {
            Self::All(logits, predictors) => {
                let to_logit = logits.to_logit();
                let row = |LogitRow { logit, n, positives }| (predictors(logit), n as f64, positives as f64);
                logits
                    .distinct
                    .map(|groups| groups.filter_map(|group| to_logit.row(group)).map(row).fold(zero, &add))
            }
            Self::Condensed(rows) => {
                let sum = |rows: &[Row<W>]| {
                    stop::check();
                    rows.iter().copied().fold(zero, &add)
                };
                rows.points.par_chunks(CHUNK).map(sum).collect()
            }
        }
    }
}

fn logit<const W: usize>(row: &[f64; W], coefficients: &[f64; W]) -> f64 {
    row.iter().zip(coefficients).map(|(value, by)| value * by).sum()
}

/// Newton's step of some coefficients, and twice by how much it raises the log-likelihood.
struct Newton<const W: usize> {
    step: [f64; W],
    decrement: f64,
}

impl<const W: usize> Likelihood<W> {
    const ZERO: Self = Self { value: 0.0, gradient: [0.0; W], information: [[0.0; W]; W] };

    /// With a row's part of it.
    #[inline]
    fn with(mut self, coefficients: &[f64; W], (row, n, positives): Row<W>) -> Self {
        let logit = logit(&row, coefficients);
        let e = (-logit.abs()).exp();
        let prob = if logit >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
        self.value += positives * logit - n * (logit.max(0.0) + e.ln_1p());
        let (residual, weight) = (positives - n * prob, n * e / ((1.0 + e) * (1.0 + e)));
        for j in 0..W {
            self.gradient[j] += residual * row[j];
            for k in 0..=j {
                self.information[j][k] += weight * row[j] * row[k];
            }
        }
        self
    }

    fn plus(mut self, other: &Self) -> Self {
        self.value += other.value;
        for j in 0..W {
            self.gradient[j] += other.gradient[j];
            for k in 0..=j {
                self.information[j][k] += other.information[j][k];
            }
        }
        self
    }

    fn information(&self, j: usize, k: usize) -> f64 {
        self.information[j.max(k)][j.min(k)]
    }

    /// The information of some coefficients, decomposed; `None` if it has no inverse.
    fn part(&self, places: &[usize]) -> Option<Cholesky<f64, Dyn>> {
        let len = places.len();
        Cholesky::new(DMatrix::from_fn(len, len, |j, k| self.information(places[j], places[k])))
    }

    /// Newton's step of the free coefficients; `None` if it is not determined.
    fn newton(&self, free: &[usize]) -> Option<Newton<W>> {
        let mut newton = Newton { step: [0.0; W], decrement: 0.0 };
        if free.is_empty() {
            return Some(newton);
        }
        let gradient = DVector::from_iterator(free.len(), free.iter().map(|&j| self.gradient[j]));
        let solved = self.part(free)?.solve(&gradient);
        newton.decrement = gradient.dot(&solved);
        free.iter().zip(solved.iter()).for_each(|(&j, &step)| newton.step[j] = step);
        newton.decrement.is_finite().then_some(newton)
    }

    /// Moves a coefficient, and the others as their maximum moves with it.
    fn follow(&self, at: &mut [f64; W], place: usize, others: &[usize], by: f64) -> Option<()> {
        at[place] += by;
        if !others.is_empty() {
            let column = others.iter().map(|&other| self.information(place, other));
            let moved = self.part(others)?.solve(&DVector::from_iterator(others.len(), column));
            others.iter().zip(moved.iter()).for_each(|(&other, moved)| at[other] -= moved * by);
        }
        Some(())
    }
}
