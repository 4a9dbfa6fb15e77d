//! How scores order the labels.

use super::Points;
use crate::error::FitError;

/// Pairs of a positive and a negative point, counted over groups in ascending order of score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Concordance {
    negatives: u64,
    positives: u64,
    /// Twice the pairs in which the positive point has the higher score, and once those of equal scores.
    twice: u128,
}

impl Concordance {
    /// Counts the pairs of all points.
    pub(crate) fn of(points: &(impl Points + ?Sized)) -> Result<Self, FitError> {
        let runs = points.map_runs(|groups| {
            let mut run = Self::default();
            groups.each(|group| run.pass(group.positives, group.n - group.positives));
            run
        })?;
        let mut all = Self::default();
        runs.iter().for_each(|run| all.then(run));
        Ok(all)
    }

    /// Goes on past all points of one score.
    #[inline]
    pub(crate) fn pass(&mut self, positives: u64, negatives: u64) {
        self.twice += u128::from(positives) * (2 * u128::from(self.negatives) + u128::from(negatives));
        self.positives += positives;
        self.negatives += negatives;
    }

    /// Goes on past points that are all above these.
    pub(crate) fn then(&mut self, above: &Self) {
        self.twice += above.twice + 2 * u128::from(self.negatives) * u128::from(above.positives);
        self.positives += above.positives;
        self.negatives += above.negatives;
    }

    /// The area under the ROC curve: the probability that a positive has a higher score than a negative, ties counting half. `None` if
    /// all labels are the same.
    pub(crate) fn auc(&self) -> Option<f64> {
        let pairs = u128::from(self.negatives) * u128::from(self.positives);
        (pairs > 0).then(|| self.twice as f64 / (2 * pairs) as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::{Counted, group, packed};

    proptest! {
        /// As every pair says by itself, wherever the groups are cut into runs, and never below the bound.
        #[test]
        fn pairs_are_counted(rows in proptest::collection::vec((0u32..40, any::<bool>()), 1..80)) {
            let score = |s: u32| f64::from(0.5 + s as f32 / 4096.0);
            let of = |label| rows.iter().filter(move |row| row.1 == label).map(|row| score(row.0));
            let pairs = of(true).flat_map(|p| of(false).map(move |n| match p.total_cmp(&n) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 1.0,
            }));
            let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), pair| (sum + pair, count + 1.0));
            let expected = (count > 0.0).then(|| sum / count);
            let groups = group(rows.iter().map(|&(s, y)| (score(s), 1, y.into())).collect());
            prop_assert_eq!(Concordance::of(&groups[..]).unwrap().auc(), expected);
            let pack = |&(s, y): &(u32, bool)| packed::pack(calib_core::Score::try_from(score(s)).unwrap(), y);
            let packed: Vec<_> = rows.iter().map(pack).collect();
            let counted = Counted::new(&packed[..]).unwrap();
            prop_assert_eq!(Concordance::of(&counted).unwrap().auc(), expected);
            if let Some(auc) = expected {
                prop_assert!(counted.auc_at_least() <= auc);
                let (low, high) = groups.split_at(groups.len() / 2);
                let [mut low, high] = [low, high].map(|groups| Concordance::of(groups).unwrap());
                low.then(&high);
                prop_assert_eq!(low.auc(), expected);
            }
        }
    }
}
