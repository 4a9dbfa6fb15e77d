//! Interpolation between knots.

use core::marker::PhantomData;

use super::error::TableError;
use super::search::count_floats_at_or_below;
use super::values::{check_probs, check_rising, is_margin_edge, within};
use crate::score::{FloatScore, Margin, ONE_BITS, Ordered, Score};

/// Linear interpolation over scores in `[0, 1]`.
pub type InterpolatedTable<'a> = InterpolatedTableOf<'a, Score>;

/// Linear interpolation over margins.
pub type InterpolatedMarginTable<'a> = InterpolatedTableOf<'a, Margin>;

/// Linear interpolation between `K` knots `(x, y)`, constant below the first knot and above the last.
///
/// Between two knots the probability is `y + (score - x) * slope` in f32. Where rounding takes it beyond the `y` of a knot, the
/// probability is that `y`: it never falls as the score rises, and stays in `[0, 1]`. The slopes are stored, so a device never
/// divides. A segment's index is the number of knots at or below the score, from 0 below the first knot to `K` above the last.
///
/// ```
/// use calib_core::Score;
/// use calib_core::table::InterpolatedTable;
///
/// let (x, y) = ([0.25, 0.75], [0.1, 0.5]);
/// let slopes: Vec<f32> = InterpolatedTable::slopes_between(&x, &y).collect();
/// let table = InterpolatedTable::new(&x, &y, &slopes).unwrap();
/// assert_eq!(table.lookup(Score::new(0.5)?), (1, 0.3));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct InterpolatedTableOf<'a, S> {
    x: &'a [f32],
    y: &'a [f32],
    slopes: &'a [f32],
    scores: PhantomData<S>,
}

impl<'a, S: FloatScore> InterpolatedTableOf<'a, S> {
    /// The largest number of knots: segment indices are `u16`.
    pub const MAX_KNOTS: usize = u16::MAX as usize;

    /// Makes a table from its knots, at least one, and the slopes between them.
    ///
    /// `x` ascends strictly, of scores in `[0, 1]`, of margins among the finite floats; none is `-0.0`. `y` never falls, in `[0, 1]`. The slopes are exactly the ones that
    /// [`InterpolatedTable::slopes_between`] gives.
    ///
    /// # Errors
    ///
    /// The first cause found, with its index.
    pub const fn new(x: &'a [f32], y: &'a [f32], slopes: &'a [f32]) -> Result<Self, TableError> {
        if x.is_empty() || x.len() != y.len() || x.len() != slopes.len() + 1 {
            return Err(TableError::Length);
        }
        if x.len() > Self::MAX_KNOTS {
            return Err(TableError::TooManyBins);
        }
        if let Err(error) = check_probs(y) {
            return Err(error);
        }
        if let Err(error) = check_rising(y) {
            return Err(error);
        }
        match check_knots::<S>(x, y, slopes) {
            Ok(()) => Ok(Self { x, y, slopes, scores: PhantomData }),
            Err(error) => Err(error),
        }
    }

    /// Makes a table of numbers that [`InterpolatedTable::new`] accepted before.
    #[inline]
    pub(crate) const fn trusted(x: &'a [f32], y: &'a [f32], slopes: &'a [f32]) -> Self {
        Self { x, y, slopes, scores: PhantomData }
    }

    /// Returns the slopes between knots in f32: `(y[i + 1] - y[i]) / (x[i + 1] - x[i])`.
    ///
    /// A slope is infinite if its knots are closer than about 3e-39; scores between them have the upper knot's `y`. A slope is 0 if
    /// its knots are farther apart than the largest float; margins between them have the lower knot's `y`.
    pub fn slopes_between(x: &[f32], y: &[f32]) -> impl Iterator<Item = f32> {
        let knots = x.iter().copied().zip(y.iter().copied());
        knots.clone().zip(knots.skip(1)).map(|(below, above)| slope(below, above))
    }

    /// Returns the number of segments, with the constant ones at both ends: one more than knots.
    pub const fn segments(&self) -> usize {
        self.x.len() + 1
    }

    /// Returns the segment's index and the probability, in O(log K).
    #[inline]
    pub fn lookup(&self, score: S) -> (u16, f32) {
        let segment = count_floats_at_or_below::<S>(self.x, score.key());
        (segment as u16, self.prob(segment, score))
    }

    #[inline]
    fn prob(&self, segment: usize, score: S) -> f32 {
        let Some(&hi) = self.y.get(segment).or(self.y.last()) else { return 0.0 };
        let Some(below) = segment.checked_sub(1) else { return hi };
        let (Some(&x), Some(&lo), Some(&slope)) =
            (self.x.get(below), self.y.get(below), self.slopes.get(below))
        else {
            return hi;
        };
        // At a knot, an infinite slope gives 0 * inf = NaN, for which `within` returns `lo`, and so does an infinite distance
        // times a slope of 0.
        within(lo + (score.value() - x) * slope, lo, hi)
    }

    /// Returns the knots' scores, strictly ascending.
    pub const fn x(&self) -> &'a [f32] {
        self.x
    }

    /// Returns the knots' probabilities, which never fall.
    pub const fn y(&self) -> &'a [f32] {
        self.y
    }

    /// Returns the slopes between the knots; one less than knots.
    pub const fn slopes(&self) -> &'a [f32] {
        self.slopes
    }
}

const fn slope(below: (f32, f32), above: (f32, f32)) -> f32 {
    (above.1 - below.1) / (above.0 - below.0)
}

/// Checks that every `x` is in `[0, 1]`, or for margins finite and not `-0.0`, and above the one before it. Also checks that the slopes are exactly those between the
/// knots.
const fn check_knots<S: Ordered>(x: &[f32], y: &[f32], slopes: &[f32]) -> Result<(), TableError> {
    let mut before = None;
    let mut rest = (x, y, slopes);
    while let (Some((&x0, x_tail)), Some((&y0, y_tail))) = (rest.0.split_first(), rest.1.split_first()) {
        let index = x.len() - rest.0.len();
        if !(if S::IS_MARGIN { is_margin_edge(x0) } else { x0.to_bits() <= ONE_BITS }) {
            return Err(TableError::EdgeRange(index));
        }
        if let Some((x1, y1)) = before {
            if x0 <= x1 {
                return Err(TableError::EdgeOrder(index));
            }
            let Some((&stored, slopes_tail)) = rest.2.split_first() else { return Err(TableError::Length) };
            if stored.to_bits() != slope((x1, y1), (x0, y0)).to_bits() {
                return Err(TableError::Slope(index - 1));
            }
            rest.2 = slopes_tail;
        }
        before = Some((x0, y0));
        rest = (x_tail, y_tail, rest.2);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn slopes(x: &[f32], y: &[f32]) -> Vec<f32> {
        InterpolatedTable::slopes_between(x, y).collect()
    }

    /// In f64, without slopes.
    fn oracle(x: &[f32], y: &[f32], score: f32) -> (u16, f64) {
        let segment = x.iter().filter(|&&x| x <= score).count();
        let at = |values: &[f32], i: usize| f64::from(values[i]);
        let prob = if segment == 0 {
            at(y, 0)
        } else if segment == x.len() {
            at(y, segment - 1)
        } else {
            let share = (f64::from(score) - at(x, segment - 1)) / (at(x, segment) - at(x, segment - 1));
            at(y, segment - 1) + share * (at(y, segment) - at(y, segment - 1))
        };
        (segment as u16, prob)
    }

    #[test]
    fn refuses_what_is_no_table() {
        let new = InterpolatedTable::new;
        assert_eq!(new(&[], &[], &[]), Err(TableError::Length));
        assert_eq!(new(&[0.5], &[0.1, 0.2], &[]), Err(TableError::Length));
        assert_eq!(new(&[0.5, 0.6], &[0.1, 0.2], &[]), Err(TableError::Length));
        assert_eq!(new(&[-0.0], &[0.1], &[]), Err(TableError::EdgeRange(0)));
        assert_eq!(new(&[0.5, 1.5], &[0.1, 0.2], &[0.1]), Err(TableError::EdgeRange(1)));
        assert_eq!(new(&[0.5, 0.5], &[0.1, 0.2], &[f32::INFINITY]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[0.5, 0.4], &[0.1, 0.2], &[0.1]), Err(TableError::EdgeOrder(1)));
        assert_eq!(new(&[0.5], &[-0.0], &[]), Err(TableError::ValueRange(0)));
        assert_eq!(new(&[0.25, 0.75], &[0.5, 0.25], &[-0.5]), Err(TableError::ValueOrder(1)));
        assert_eq!(new(&[0.25, 0.75], &[0.25, 0.5], &[f32::NAN]), Err(TableError::Slope(0)));
        assert_eq!(new(&[0.25, 0.75], &[0.5, 0.5], &[-0.0]), Err(TableError::Slope(0)));
        let off = [0.5f32.next_up()];
        assert_eq!(new(&[0.25, 0.75], &[0.25, 0.5], &off), Err(TableError::Slope(0)));
        assert!(new(&[0.0, 0.5, 1.0], &[0.0, 0.25, 0.25], &[0.5, 0.0]).is_ok());
        assert!(new(&[0.5], &[0.5], &[]).is_ok());
    }

    #[test]
    fn knots_next_to_each_other_make_a_step() {
        let x = [f32::from_bits(1), f32::from_bits(3)];
        let y = [0.25, 0.75];
        let slopes = slopes(&x, &y);
        assert_eq!(slopes, [f32::INFINITY]);
        let table = InterpolatedTable::new(&x, &y, &slopes).unwrap();
        let at = |bits| table.lookup(Score::new(f32::from_bits(bits)).unwrap());
        assert_eq!([at(0), at(1), at(2), at(3)], [(0, 0.25), (1, 0.25), (1, 0.75), (2, 0.75)]);
    }

    fn knots() -> impl Strategy<Value = (Vec<f32>, Vec<f32>)> {
        // From 2^-40 up, where no slope overflows.
        let x = proptest::collection::btree_set(0x2B80_0000..=ONE_BITS, 1..60 / crate::test_size::step(6));
        (x, proptest::collection::vec(0..=ONE_BITS, 60), any::<bool>()).prop_map(|(x, mut y, from_zero)| {
            let mut x: Vec<f32> = x.into_iter().map(f32::from_bits).collect();
            if from_zero {
                x[0] = 0.0;
            }
            y.truncate(x.len());
            y.sort_unstable();
            (x, y.into_iter().map(f32::from_bits).collect())
        })
    }

    proptest! {
        #[test]
        fn interpolates_within_1e_6_and_never_falls(
            (x, y) in knots(),
            probes in proptest::collection::vec(0..=ONE_BITS, 0..100 / crate::test_size::step(10)),
            shares in proptest::collection::vec(0.0f32..1.0, 0..100 / crate::test_size::step(10)),
        ) {
            let slopes = slopes(&x, &y);
            let table = InterpolatedTable::new(&x, &y, &slopes).unwrap();
            let mut probes: Vec<f32> = probes.into_iter().map(f32::from_bits).chain(shares).collect();
            probes.extend(x.iter().flat_map(|&x| [x.next_down().max(0.0), x, x.next_up().min(1.0)]));
            probes.extend([0.0, 1.0]);
            probes.sort_by(f32::total_cmp);
            let mut before = 0.0;
            for probe in probes {
                let (segment, prob) = table.lookup(Score::new(probe).unwrap());
                let (expected_segment, exact) = oracle(&x, &y, probe);
                prop_assert_eq!(segment, expected_segment);
                prop_assert!((f64::from(prob) - exact).abs() <= 1e-6, "{} {} {}", probe, prob, exact);
                prop_assert!((y[0]..=y[y.len() - 1]).contains(&prob));
                prop_assert!(prob >= before, "{} {} {}", probe, prob, before);
                before = prob;
            }
        }
    }
}
