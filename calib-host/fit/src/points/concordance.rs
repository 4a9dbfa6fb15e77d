//! How scores order the labels.

use super::{Group, Points};
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
        let runs = points.map_runs(|groups| groups.fold(Self::default(), Self::with))?;
        Ok(runs.into_iter().fold(Self::default(), Self::then))
    }

    /// Adds a group above all that was counted.
    #[must_use]
    pub(crate) fn with(self, group: Group) -> Self {
        let negatives = group.n - group.positives;
        self.then(Self {
            negatives,
            positives: group.positives,
            twice: u128::from(negatives) * u128::from(group.positives),
        })
    }

    /// Adds points above all that was counted.
    #[must_use]
    pub(crate) fn then(self, above: Self) -> Self {
        let across = 2 * u128::from(self.negatives) * u128::from(above.positives);
        Self {
            negatives: self.negatives + above.negatives,
            positives: self.positives + above.positives,
            twice: self.twice + above.twice + across,
        }
    }

    /// The area under the ROC curve; `None` if all labels are the same.
    pub(crate) fn auc(&self) -> Option<f64> {
        let pairs = u128::from(self.negatives) * u128::from(self.positives);
        (pairs > 0).then(|| self.twice as f64 / (2.0 * pairs as f64))
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
                let part = |groups: &[Group]| Concordance::of(groups).unwrap();
                prop_assert_eq!(part(low).then(part(high)).auc(), expected);
            }
        }
    }
}
