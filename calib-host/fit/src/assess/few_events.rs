//! Intervals where few rows are of one label, of which resamples know too little.

use statrs::distribution::{ContinuousCDF, Normal};

use super::cells::Cell;
use super::figures::Figures;
use crate::stats::{Interval, clopper_pearson};

/// With fewer rows of a label the Brier score and the log-loss have no interval: resamples then miss the rows that matter most.
pub const FEWEST_EVENTS: u64 = 10;

/// With fewer rows of a label nothing is said of where the area is.
const FEWEST_OF_AREA: u64 = 5;

/// From so many rows of either label on resamples tell where the area is.
const MANY: u64 = 50;

/// The numbers of positive and of negative outcomes, and one minus the coverage of the intervals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Events {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) alpha: f64,
    /// Whether rows are independent.
    pub(crate) are_rows: bool,
}

impl Events {
    fn fewer(self) -> u64 {
        self.hits.min(self.misses)
    }

    /// Takes away intervals that too few events cannot tell, and puts others in the place of those that few events make too narrow.
    pub(crate) fn heed(
        self,
        mut intervals: Figures<Option<Interval>>,
        figures: &Figures<f64>,
        [bins, groups]: [&[Cell]; 2],
    ) -> Figures<Option<Interval>> {
        if self.fewer() < FEWEST_EVENTS {
            (intervals.brier, intervals.brier_refinement, intervals.log_loss) = (None, None, None);
        }
        intervals.auc = match self.fewer() {
            0..FEWEST_OF_AREA => None,
            0..MANY if self.are_rows => intervals.auc.map(|_| self.area(figures.auc)),
            _ => intervals.auc,
        };
        for (interval, cells) in
            [(&mut intervals.l2_squared_debiased, bins), (&mut intervals.tl_l2_squared_debiased, groups)]
        {
            *interval = interval.map(|interval| self.with_pure_groups(interval, cells));
        }
        intervals.brier_calibration = intervals.l2_squared_debiased.map(Interval::not_below_zero);
        intervals
    }

    /// Where the area under the ROC curve is: all areas from which the observed area is no further than their standard error allows. The
    /// standard error is Hanley and McNeil's (1982), with either label as the positive one, whichever is larger. Unlike resamples, it has
    /// width where the
    /// labels are apart.
    fn area(self, found: f64) -> Interval {
        let quantile = Normal::standard().inverse_cdf(1.0 - self.alpha / 2.0);
        let (m, n) = (self.hits as f64, self.misses as f64);
        let error = |area: f64| {
            let square = area * area;
            let (two_above, two_below) = (area / (2.0 - area) - square, 2.0 * square / (1.0 + area) - square);
            let with = |m: f64, n: f64| (m - 1.0) * two_above + (n - 1.0) * two_below;
            ((area * (1.0 - area) + with(m, n).max(with(n, m))) / (m * n)).sqrt()
        };
        let is_near = |area: f64| (area - found).abs() <= quantile * error(area);
        let end = |mut outside: f64| {
            if is_near(outside) {
                return outside;
            }
            let mut inside = found;
            while (outside - inside).abs() > 1e-9 {
                let middle = outside.midpoint(inside);
                if is_near(middle) { inside = middle } else { outside = middle }
            }
            outside
        };
        Interval { lo: end(0.0), hi: end(1.0) }
    }

    /// The interval of a mean squared error, lower by what groups without a hit, or without a miss, add to it that may be chance: no resample
    /// shows them otherwise.
    fn with_pure_groups(self, interval: Interval, cells: &[Cell]) -> Interval {
        let n: u64 = cells.iter().map(|cell| cell.n).sum();
        let chance = |cell: &Cell| {
            let apart = cell.difference();
            // The rate that nothing refutes nearest to the mean probability.
            let rates = clopper_pearson(cell.hits, cell.n, self.alpha);
            let sure = cell.mean_prob() - cell.mean_prob().clamp(rates.lo, rates.hi);
            cell.n as f64 * (apart * apart - sure * sure)
        };
        let pure = cells.iter().filter(|cell| cell.n > 0 && (cell.hits == 0 || cell.hits == cell.n));
        Interval { lo: interval.lo - pure.map(chance).sum::<f64>() / n as f64, ..interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(hits: u64, misses: u64) -> Events {
        Events { hits, misses, alpha: 0.05, are_rows: true }
    }

    /// For 50 rows each, the ends have the standard errors of Hanley and McNeil's formula: .0524 at .6973 and .0363 at .8712. From both, .8
    /// is 1.96 standard errors away.
    #[test]
    fn an_area_is_within_its_standard_errors() {
        let interval = events(50, 50).area(0.8);
        let error = |area: f64| {
            let (q1, q2) = (area / (2.0 - area), 2.0 * area * area / (1.0 + area));
            ((area * (1.0 - area) + 49.0 * (q1 + q2 - 2.0 * area * area)) / 2500.0).sqrt()
        };
        assert!((error(0.6973) - 0.0524).abs() < 1e-4 && (error(0.8712) - 0.0363).abs() < 1e-4);
        for end in [interval.lo, interval.hi] {
            assert!(((end - 0.8).abs() / error(end) - 1.959_964).abs() < 1e-4, "{interval}");
        }
        // Labels that are apart say that the area is large, and not that it is 1.
        let apart = events(10, 90).area(1.0);
        assert!(apart.hi == 1.0 && (0.6..0.9).contains(&apart.lo), "{apart}");
        let turned = events(10, 90).area(0.0);
        assert!(turned.lo == 0.0 && (0.05..0.4).contains(&turned.hi), "{turned}");
    }

    #[test]
    fn groups_without_a_hit_may_be_chance() {
        let cells =
            [Cell::new((0..100).map(|_| (0.01, false))), Cell::new((0..100).map(|row| (0.5, row < 50)))];
        let interval = Interval { lo: 0.00004, hi: 0.0001 };
        // 0 of 100 does not refute .01.
        let wider = events(50, 150).with_pure_groups(interval, &cells);
        assert!(wider.lo < 0.0 && wider.hi == interval.hi, "{wider:?}");
        // It refutes .5, except for what is left of it.
        let sure = [Cell::new((0..100).map(|_| (0.5, false)))];
        let wider = events(50, 150).with_pure_groups(Interval { lo: 0.25, hi: 0.25 }, &sure);
        assert!((0.2..0.22).contains(&wider.lo), "{wider:?}");
    }
}
