//! Thresholds on conformity, so that sets of classes have a stated coverage.

use calib_core::decision::{Conformity, PredictionSets as StoredSets};

use super::conformity::{ConformityScore, ConformityScores};
use crate::accessors::getters;
use crate::data::{DataError, check_labels};
use crate::operating::Aim;
use crate::stats::{complement, floor_of_product};

/// What prediction sets are to guarantee.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SetAim {
    /// The probability that the true class is not in the set, in `(0, 1)`; a decimal, as it is printed.
    pub alpha: f64,
    /// Whether the coverage holds for the rows of every class, rather than for all rows taken together.
    pub by_class: bool,
    /// The confidence that the sets cover so much whatever calibration rows were drawn, in `(0, 1)`; `None` for coverage on average
    /// over the draw.
    pub confidence: Option<f64>,
}

/// Why there are no prediction sets.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// Alpha or the confidence is not between 0 and 1.
    #[error("the {name} is {value:?}: it must lie between 0 and 1")]
    Share {
        /// What it is.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// The labels are not those of the rows.
    #[error(transparent)]
    Labels(#[from] DataError),
    /// The rows are of another number of classes, or of another conformity.
    #[error("the sets are of {classes} classes by {score:?}, and the rows are not")]
    Other {
        /// The number of classes of the sets.
        classes: usize,
        /// The conformity of the sets.
        score: ConformityScore,
    },
}

/// Prediction sets: a class is in the set if its conformity is at or above a threshold.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PredictionSets {
    pub(crate) aim: SetAim,
    pub(crate) score: ConformityScore,
    pub(crate) classes: usize,
    pub(crate) n: u64,
    pub(crate) thresholds: Vec<SetThreshold>,
}

getters! {
    PredictionSets {
        /// What is guaranteed.
        aim: SetAim,
        /// What the thresholds are compared with.
        score: ConformityScore,
        /// The number of classes.
        classes: usize,
        /// The number of calibration rows.
        n: u64,
        ;
        /// The only threshold, or one a class.
        thresholds: [SetThreshold],
    }
}

/// A threshold on conformity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SetThreshold {
    /// The least key with which a class is in the set; `None` if it always is, for there are too few rows to leave it out.
    pub key: Option<u32>,
    /// The number of calibration rows that the threshold is from: 0 for a class that no label is of.
    pub n: u64,
}

impl PredictionSets {
    /// Finds the thresholds by the conformity of each row's true class (split conformal prediction; Vovk, Gammerman and Shafer 2005;
    /// Angelopoulos and Bates 2021).
    ///
    /// Of n rows the threshold is the `floor(alpha (n + 1))`-th smallest conformity, and with a confidence the `k + 1`-th, where
    /// [`Aim::rank`] says `k`. By class, that confidence holds for all classes at once. If there is none, the class is in every set,
    /// which is an answer and no error. Nothing inside the scores may have been fitted to these rows.
    ///
    /// ```
    /// use calib_fit::sets::{ConformityScores, ConformityScore, PredictionSets, SetAim};
    /// use calib_fit::{VectorKind, Vectors};
    ///
    /// // The probability of the true class 0 is 0.60 to 0.69.
    /// let row = |i: u8| [0.6 + f32::from(i) / 100.0, 0.4 - f32::from(i) / 100.0];
    /// let probs = Vectors::new((0..10).flat_map(row).collect(), 2, VectorKind::Probs)?;
    /// let rows = ConformityScores::of_vectors(&probs, ConformityScore::Softmax)?;
    /// let aim = SetAim { alpha: 0.2, by_class: false, confidence: None };
    /// let sets = PredictionSets::fit(&rows, &[0; 10], aim)?;
    /// // The second smallest of ten: .2 (10 + 1) is 2.2.
    /// assert_eq!(sets.thresholds()[0].key.map(f32::from_bits), Some(0.61));
    /// assert_eq!(sets.set(&[0.7f32.to_bits(), 0.3f32.to_bits()]).collect::<Vec<_>>(), [true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Labels that are no classes or not as many as rows, or an alpha or a confidence that is not in `(0, 1)`.
    pub fn fit(rows: &ConformityScores, labels: &[i64], aim: SetAim) -> Result<Self, SetError> {
        aim.check()?;
        let classes = rows.classes();
        let labels = check_labels(labels, rows.len(), classes)?;
        let mut of_parts = vec![Vec::new(); if aim.by_class { classes } else { 1 }];
        for (row, &label) in rows.rows().zip(&labels) {
            let part = if aim.by_class { label.into() } else { 0 };
            of_parts[part].push(row[usize::from(label)]);
        }
        let among = of_parts.len() as u64;
        let threshold = |mut keys: Vec<u32>| {
            keys.sort_unstable();
            let n = keys.len() as u64;
            let key = aim.place(n, among).and_then(|place| keys.get(place as usize)).copied();
            SetThreshold { key, n }
        };
        let thresholds = of_parts.into_iter().map(threshold).collect();
        Ok(Self { aim, score: rows.score(), classes, n: rows.len() as u64, thresholds })
    }

    /// Reads the sets of an artifact; alpha and the confidence are the decimals that it states.
    pub fn stored(sets: &StoredSets<'_>) -> Self {
        let decimal = |value: f32| value.to_string().parse().expect("a printed number is a number");
        let threshold = |class| {
            sets.quantile(class)
                .map(|of| SetThreshold { key: (of.key > 0).then_some(of.key), n: of.rows.into() })
        };
        let own = if sets.is_by_class() { sets.classes() } else { 1 };
        let thresholds: Vec<SetThreshold> = (0..own).filter_map(threshold).collect();
        Self {
            aim: SetAim {
                alpha: decimal(sets.alpha()),
                by_class: sets.is_by_class(),
                confidence: sets.confidence().map(decimal),
            },
            score: match sets.conformity() {
                Conformity::Score => ConformityScore::Softmax,
                Conformity::Margin => ConformityScore::Margin,
            },
            classes: sets.classes().into(),
            n: thresholds.iter().map(|threshold| threshold.n).sum(),
            thresholds,
        }
    }

    /// Returns the threshold of a class.
    ///
    /// # Panics
    ///
    /// If there is no such class.
    pub fn threshold(&self, class: usize) -> SetThreshold {
        assert!(class < self.classes, "{class} of {}", self.classes);
        self.thresholds[if self.aim.by_class { class } else { 0 }]
    }

    /// Returns for each class of a row of keys whether it is in the set.
    ///
    /// # Panics
    ///
    /// If the row has more entries than there are classes.
    pub fn set(&self, row: &[u32]) -> impl Iterator<Item = bool> {
        row.iter().enumerate().map(|(class, &key)| self.threshold(class).key.is_none_or(|least| key >= least))
    }

    /// Returns the classes that are in every set, for no calibration row is of them.
    pub fn unseen(&self) -> impl Iterator<Item = usize> {
        (0..self.classes).filter(|&class| self.aim.by_class && self.threshold(class).n == 0)
    }
}

impl SetAim {
    fn check(&self) -> Result<(), SetError> {
        let named = [("alpha", Some(self.alpha)), ("confidence", self.confidence)];
        match named.into_iter().find(|(_, share)| share.is_some_and(|share| !(share > 0.0 && share < 1.0))) {
            Some((name, value)) => Err(SetError::Share { name, value: value.unwrap_or(f64::NAN) }),
            None => Ok(()),
        }
    }

    /// The place of the threshold among n ascending conformities, from 0 on.
    fn place(&self, n: u64, among: u64) -> Option<u64> {
        match self.confidence {
            None => floor_of_product(self.alpha, n + 1).checked_sub(1),
            Some(confidence) => Aim { level: complement(self.alpha), confidence }.rank(n, among),
        }
    }

    /// Returns the fewest rows, by class of a class, from which a class can be left out of a set; `None` beyond 2^53.
    ///
    /// ```
    /// use calib_fit::sets::SetAim;
    ///
    /// let aim = SetAim { alpha: 0.1, by_class: false, confidence: None };
    /// assert_eq!(aim.points_needed(10), Some(9));
    /// assert_eq!(SetAim { confidence: Some(0.95), ..aim }.points_needed(10), Some(29));
    /// ```
    ///
    /// # Errors
    ///
    /// `None` also if alpha or the confidence is not in `(0, 1)`.
    pub fn points_needed(&self, classes: u64) -> Option<u64> {
        self.check().ok()?;
        match self.confidence {
            None => {
                // Within one of 1 / alpha.
                let near = (1.0 / self.alpha) as u64;
                (near.saturating_sub(3)..near.saturating_add(3)).find(|&n| self.place(n, 1).is_some())
            }
            Some(confidence) => Aim { level: complement(self.alpha), confidence }
                .points_needed(0, if self.by_class { classes } else { 1 }),
        }
    }
}
