//! Bins about which a guarantee says nothing.

use calib_core::artifact::TableForm;
use calib_core::{Artifact, BinFlags};

/// The bins of an artifact with a guarantee, and of how many of them it says nothing, or almost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct VacuousBins {
    /// The number of bins with a guarantee that hold calibration points.
    pub guaranteed: usize,
    /// How many have an epsilon no less than the distance of their probability from both 0 and 1: every truth is within it.
    pub vacuous: usize,
    /// How many have an epsilon above their probability: it does not tell the event from one that never happens.
    pub wider_than_value: usize,
}

impl VacuousBins {
    /// Counts them.
    ///
    /// ```
    /// use calib_fit::artifact::VacuousBins;
    /// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
    /// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
    /// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
    /// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
    /// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
    ///
    /// // Epsilon is more than the probability of the lowest bin, but every bin is still told from 1.
    /// let expected = VacuousBins { guaranteed: 4, vacuous: 0, wider_than_value: 1 };
    /// assert_eq!(VacuousBins::of(&stored.artifact()), expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(artifact: &Artifact<'_>) -> Self {
        let mut counts = Self::default();
        if artifact.header().guarantee.is_none() {
            return counts;
        }
        let tables = artifact.tables();
        for index in 0..tables.count() {
            let Some(table) = tables.get(index) else { continue };
            let Some(epsilon) = table.epsilon else { continue };
            for (bin, value) in values(&table.form).into_iter().enumerate() {
                if tables.bin_flags(index, bin as u16).contains(BinFlags::EMPTY) {
                    continue;
                }
                counts.guaranteed += 1;
                counts.vacuous += usize::from(epsilon >= value.max(1.0 - value));
                counts.wider_than_value += usize::from(epsilon > value);
            }
        }
        counts
    }

    /// Says of how many bins the guarantee says nothing, if there are such.
    pub fn remark(&self) -> Option<String> {
        let Self { guaranteed, vacuous, .. } = *self;
        (vacuous > 0).then(|| {
            format!(
                "The guarantee says nothing about {vacuous} of {guaranteed} bins: epsilon reaches from their probability to \
                 both 0 and 1."
            )
        })
    }

    /// Whether epsilon is above the probability of every bin, as for rare events: what is known of them are exact intervals.
    pub fn are_rare_events(&self) -> bool {
        self.guaranteed > 0 && self.wider_than_value == self.guaranteed
    }
}

/// The probability of every bin of a form that may have a guarantee.
pub(crate) fn values(form: &TableForm<'_>) -> Vec<f32> {
    match form {
        TableForm::Steps(table) => table.values().collect(),
        TableForm::Randomized(table) => table.values().collect(),
        TableForm::Codes(table) => table.values().collect(),
        TableForm::Compact(table) => table.values().collect(),
        TableForm::MarginSteps(table) => table.values().collect(),
        TableForm::MarginRandomized(table) => table.values().collect(),
        _ => Vec::new(),
    }
}
