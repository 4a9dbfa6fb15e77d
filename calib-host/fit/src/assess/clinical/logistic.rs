//! Logistic regression of counted labels on a few predictors, with profile likelihoods.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::logit_row::LogitRow;
use super::logits::Logits;
use super::quadrature::{NODES, Quadrature};
use crate::parallel;
use crate::stats::Interval;

/// Threads share out chunks of so many points; the sums over chunks are added in order.
const CHUNK: usize = 1 << 14;

/// Within a bin of condensed rows the regression's own logit moves by no more: sums over them are then those over all rows, except
/// for 10^-14.
const MAX_LOGIT_SPAN: f64 = 1.0 / 16.0;

/// Bins in which no maximum was found, or one where a bin spans more, are cut into so many.
const NARROWER: f64 = 64.0;

/// A maximum is reached where the next step would raise the log-likelihood by half of this: the estimates are then off by
/// 10^-10 of their standard errors.
const DECREMENT: f64 = 1e-20;

/// How far the next step may move a logit there. A maximum at infinity is approached by a logit a step.
const MAX_LOGIT_STEP: f64 = 1e-3;

const MAX_STEPS: usize = 200;

/// Where the others are maximized well enough for a profile: its value is then off by half of this.
const NUISANCE_DECREMENT: f64 = 1e-10;

/// How close Newton's step makes the others' maximum known without another one.
const NEAR_MAXIMUM_DECREMENT: f64 = 1e-2;

/// Where the likelihood of the labels, with `W` predictors a row, is largest.
pub(super) struct Estimate<const W: usize> {
    pub(super) coefficients: [f64; W],
    /// The profile interval of the first free coefficient, if that is asked for and has two ends.
    pub(super) interval: Option<Interval>,
}

/// Which coefficients move, and from where.
pub(super) struct Question<'q, const W: usize> {
    pub(super) start: [f64; W],
    pub(super) free: &'q [usize],
    /// By how much the log-likelihood is below its maximum at the ends of the interval.
    pub(super) drop: Option<f64>,
}

/// Predictors, with how many rows these stand for, and how many of them have label 1.
type Row<const W: usize> = ([f64; W], f64, f64);

/// A log-likelihood.
struct Logistic<'r, const W: usize> {
    at: &'r dyn Fn(&[f64; W]) -> Likelihood<W>,
    /// The largest size of each predictor.
    sizes: [f64; W],
}

/// What is found, with all coefficients that it rests on: of the maximum, and of both ends.
type Solution<const W: usize> = (Estimate<W>, Vec<Option<[f64; W]>>);

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
struct Maximum<const W: usize> {
    coefficients: [f64; W],
    likelihood: Likelihood<W>,
}

/// Fits the regression of the labels on the predictors, which are made of a row's logit: to condensed rows if these are enough
/// for all that is found, to all rows if not. `None` if the likelihood is largest at infinity, or in more than one place; with
/// one predictor besides a constant that is not always noticed: who has such checks for separation first.
pub(super) fn estimate<const W: usize>(
    logits: &Logits<'_>,
    predictors: impl Fn(f64) -> [f64; W] + Sync,
    question: &Question<'_, W>,
) -> Option<Estimate<W>> {
    let (mut found, mut is_enough) = estimate_of(&logits.quadrature, &predictors, question);
    if !is_enough {
        // Where there is no maximum even in narrow bins, all rows have none.
        (found, is_enough) = estimate_of(&logits.quadrature_of(NARROWER), &predictors, question);
    }
    let found = found?;
    if is_enough {
        return Some(found);
    }
    let to_logit = logits.to_logit();
    let of_all = |coefficients: &[f64; W]| {
        let row = |LogitRow { logit, n, positives }| (predictors(logit), n as f64, positives as f64);
        let rows = logits.distinct.map(|groups| {
            let rows = groups.filter_map(|group| to_logit.row(group)).map(row);
            rows.fold(Likelihood::ZERO, |sum, row| sum.with(coefficients, &row))
        });
        Likelihood::sum(rows)
    };
    let from_there = Question { start: found.coefficients, ..*question };
    let sizes = sizes(&rows(&logits.quadrature, &predictors));
    Logistic { at: &of_all, sizes }.answer(&from_there).map(|found| found.0)
}

/// Fits to condensed rows; also whether all rows would have given the same.
fn estimate_of<const W: usize>(
    quadrature: &Quadrature,
    predictors: &impl Fn(f64) -> [f64; W],
    question: &Question<'_, W>,
) -> (Option<Estimate<W>>, bool) {
    let rows = rows(quadrature, predictors);
    let at = |coefficients: &[f64; W]| {
        let sum =
            |rows: &[Row<W>]| rows.iter().fold(Likelihood::ZERO, |sum, row| sum.with(coefficients, row));
        Likelihood::sum(parallel::map(rows.chunks(CHUNK), sum))
    };
    let found = Logistic { at: &at, sizes: sizes(&rows) }.answer(question);
    // Whether the logit with these coefficients moves little within every bin.
    let is_resolved = |coefficients: &Option<[f64; W]>| {
        coefficients.is_some_and(|coefficients| {
            quadrature.bins.iter().all(|&start| {
                let logits = rows[start..start + NODES].iter().map(|(row, ..)| logit(row, &coefficients));
                let (lo, hi) =
                    logits.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), z| (lo.min(z), hi.max(z)));
                hi - lo <= MAX_LOGIT_SPAN
            })
        })
    };
    let is_enough =
        quadrature.bins.is_empty() || found.as_ref().is_some_and(|(_, at)| at.iter().all(is_resolved));
    (found.map(|found| found.0), is_enough)
}

fn rows<const W: usize>(quadrature: &Quadrature, predictors: &impl Fn(f64) -> [f64; W]) -> Vec<Row<W>> {
    quadrature.points.iter().map(|point| (predictors(point.logit), point.n, point.positives)).collect()
}

fn sizes<const W: usize>(rows: &[Row<W>]) -> [f64; W] {
    rows.iter().fold([0.0; W], |sizes, row| std::array::from_fn(|place| sizes[place].max(row.0[place].abs())))
}

impl<const W: usize> Logistic<'_, W> {
    fn answer(&self, &Question { start, free, drop }: &Question<'_, W>) -> Option<Solution<W>> {
        let mut places = free.to_vec();
        places.sort_unstable();
        let maximum = self.climb(start, &places, DECREMENT)?;
        let coefficients = maximum.coefficients;
        let Some(drop) = drop else {
            return Some((Estimate { coefficients, interval: None }, vec![Some(coefficients)]));
        };
        let [lo, hi] = self.profile_ends(&maximum, free, drop);
        let interval = lo.zip(hi).map(|(lo, hi)| Interval { lo: lo[free[0]], hi: hi[free[0]] });
        Some((Estimate { coefficients, interval }, vec![Some(coefficients), lo, hi]))
    }

    fn at(&self, coefficients: &[f64; W]) -> Likelihood<W> {
        (self.at)(coefficients)
    }

    /// Finds where the log-likelihood is largest if only the coefficients in places `free` move from the start.
    fn climb(&self, mut at: [f64; W], free: &[usize], until: f64) -> Option<Maximum<W>> {
        let mut here = self.at(&at);
        for _ in 0..MAX_STEPS {
            let Newton { step, decrement, .. } = here.newton(free)?;
            if decrement <= until {
                let logit_step: f64 =
                    step.iter().zip(&self.sizes).map(|(step, size)| step.abs() * size).sum();
                let is_finite = logit_step <= MAX_LOGIT_STEP || until > DECREMENT;
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

    /// Finds where the log-likelihood, maximized over the other free coefficients, is below its maximum by `drop` on both sides of
    /// the first; `None` where that is nowhere.
    ///
    /// The profile is concave, so that Newton's method comes from outside without passing the end, whatever the start.
    fn profile_ends(&self, maximum: &Maximum<W>, free: &[usize], drop: f64) -> [Option<[f64; W]>; 2] {
        let Some(inverse) = maximum.likelihood.part(free).map(|part| part.inverse()) else {
            return [None; 2];
        };
        let deviation = (2.0 * drop * inverse[(0, 0)]).sqrt();
        [-deviation, deviation]
            .map(|distance| self.profile_end(maximum, (free[0], &free[1..]), drop, distance))
    }

    /// Finds the coefficients at one end from a guess of its distance.
    fn profile_end(
        &self,
        maximum: &Maximum<W>,
        (place, others): (usize, &[usize]),
        drop: f64,
        mut distance: f64,
    ) -> Option<[f64; W]> {
        let center = maximum.coefficients[place];
        let target = maximum.likelihood.value - drop;
        let mut at = maximum.coefficients;
        maximum.likelihood.follow(&mut at, place, others, distance)?;
        for _ in 0..MAX_STEPS {
            let mut there = self.at(&at);
            if there.newton(others)?.decrement > NEAR_MAXIMUM_DECREMENT {
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
            // Inside of the maximum's own neighborhood the slope tells nothing.
            let change = if slope * distance >= 0.0 { distance } else { -excess / slope };
            there.follow(&mut at, place, others, change)?;
            distance += change;
            // The next error is about the square of this one.
            if change.abs() <= 1e-6 * distance.abs() {
                at[place] = center + distance;
                return Some(at);
            }
        }
        None
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
    fn with(mut self, coefficients: &[f64; W], &(ref row, n, positives): &Row<W>) -> Self {
        let logit = logit(row, coefficients);
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

    /// In the order of the parts.
    fn sum(parts: Vec<Self>) -> Self {
        parts.iter().fold(Self::ZERO, Self::plus)
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
