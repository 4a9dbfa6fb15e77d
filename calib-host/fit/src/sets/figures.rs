//! How prediction sets do on rows whose classes are known.

use super::conformity::ConformityScores;
use super::fit::{PredictionSets, SetError};
use crate::data::check_labels;
use crate::stats::{Interval, Share, clopper_pearson};

/// How prediction sets do on test rows. Every interval is exact, at the same alpha, and holds by itself.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct SetFigures {
    /// The failure probability of each interval.
    pub alpha: f64,
    /// The rows whose set has the true class.
    pub covered: Share,
    /// The same by true class.
    pub by_class: Vec<Share>,
    /// The same by the size of the set, from 0 to all classes.
    pub by_size: Vec<Share>,
    /// The mean size of the sets.
    pub mean_size: f64,
    /// An interval of the true mean size.
    pub mean_size_interval: Interval,
}

impl SetFigures {
    /// Judges sets by rows that they were not fitted to. With `never_empty` the predicted class is in every set.
    ///
    /// The interval of the mean size adds the exact intervals of the shares of sets with more than 0, 1, 2, ... classes, each at alpha
    /// divided by their number.
    ///
    /// ```
    /// use calib_fit::sets::{ConformityScores, ConformityScore, PredictionSets, SetAim, SetFigures};
    /// use calib_fit::{VectorKind, Vectors};
    ///
    /// let probs = Vectors::new([[0.75, 0.25], [0.5, 0.5]].repeat(20).concat(), 2, VectorKind::Probs)?;
    /// let rows = ConformityScores::of_vectors(&probs, ConformityScore::Softmax)?;
    /// let aim = SetAim { alpha: 0.1, by_class: false, confidence: None };
    /// let sets = PredictionSets::fit(&rows, &[0; 40], aim)?;
    /// let figures = SetFigures::of(&sets, &rows, &[0; 40], false, 0.05)?;
    /// assert_eq!((figures.covered.count, figures.mean_size), (40, 1.5));
    /// assert_eq!((figures.by_size[1].n, figures.by_size[2].n), (20, 20));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Rows of other classes or conformities than the sets', or labels that do not fit them.
    ///
    /// # Panics
    ///
    /// If alpha is not in `(0, 1)`.
    pub fn of(
        sets: &PredictionSets,
        rows: &ConformityScores,
        labels: &[i64],
        never_empty: bool,
        alpha: f64,
    ) -> Result<Self, SetError> {
        if (rows.classes(), rows.score()) != (sets.classes, sets.score) {
            return Err(SetError::Other { classes: sets.classes, score: sets.score });
        }
        let labels = check_labels(labels, rows.len(), sets.classes)?;
        let mut by_class = vec![(0, 0); sets.classes];
        let mut by_size = vec![(0, 0); sets.classes + 1];
        for ((row, &label), &predicted) in rows.rows().zip(&labels).zip(rows.predicted()) {
            let has = |class: usize, is_in: bool| is_in || never_empty && class == usize::from(predicted);
            let (mut size, mut hit) = (0, 0);
            for (class, is_in) in sets.set(row).enumerate() {
                size += usize::from(has(class, is_in));
                hit |= u64::from(class == usize::from(label) && has(class, is_in));
            }
            for counts in [&mut by_class[usize::from(label)], &mut by_size[size]] {
                *counts = (counts.0 + hit, counts.1 + 1);
            }
        }
        Ok(Self::of_counts(&by_class, &by_size, alpha))
    }

    /// From (covered, all) by class and by size.
    fn of_counts(by_class: &[(u64, u64)], by_size: &[(u64, u64)], alpha: f64) -> Self {
        let shares =
            |counts: &[(u64, u64)]| counts.iter().map(|&(count, n)| Share::new(count, n, alpha)).collect();
        let covered = by_size.iter().fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        let larger = |size: usize| by_size[size + 1..].iter().map(|size| size.1).sum::<u64>();
        let sizes = by_size.len() - 1;
        let (mut total, mut interval) = (0, Interval { lo: 0.0, hi: 0.0 });
        for size in 0..sizes {
            total += larger(size);
            let share = clopper_pearson(larger(size), covered.1, alpha / sizes as f64);
            interval = Interval { lo: interval.lo + share.lo, hi: interval.hi + share.hi };
        }
        Self {
            alpha,
            covered: Share::new(covered.0, covered.1, alpha),
            by_class: shares(by_class),
            by_size: shares(by_size),
            mean_size: total as f64 / covered.1 as f64,
            mean_size_interval: interval,
        }
    }

    /// Returns the rows with a single class in the set, and how many of those are of it. What is guaranteed for all sets is
    /// not guaranteed for these alone.
    pub fn alone(&self) -> Share {
        self.by_size[1]
    }

    /// Returns the number of rows with an empty set.
    pub fn empty(&self) -> u64 {
        self.by_size[0].n
    }
}
