//! A prediction and what came of it.

/// A prediction and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The class that the probability is of: 1 for binary predictions, otherwise the predicted class.
    pub class: u16,
    /// The probability of that class, in `[0, 1]`.
    pub prob: f64,
    /// The calibrator's bin, for [`Binning::ByBin`](crate::assess::Binning::ByBin); 0 elsewhere.
    pub bin: u32,
    /// Whether the true class is that class.
    pub hit: bool,
}

/// Rows with one score that get one prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TiedRows {
    /// The class that the probability is of, as in a [`Prediction`].
    pub class: u16,
    /// The probability of that class, in `[0, 1]`.
    pub prob: f64,
    /// The calibrator's bin.
    pub bin: u32,
    /// How many rows are of another true class, and how many are of that class; not both 0.
    pub by_label: [u64; 2],
}

/// What predictions are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictionKind {
    /// One event: the decision is "yes" from a probability of 0.5 on.
    Binary,
    /// The predicted class being right.
    TopLabel,
}

impl Prediction {
    /// A number that orders predictions by probability, and tells any two different ones apart.
    pub fn key(&self) -> u128 {
        // The bits of non-negative floats ascend with their values; -0.0 is the one exception.
        let prob = (self.prob + 0.0).to_bits();
        let rest = u64::from(self.class) << 33 | u64::from(self.bin) << 1 | u64::from(self.hit);
        u128::from(prob) << 64 | u128::from(rest)
    }

    /// The prediction with this key.
    pub(crate) fn from_key(key: u128) -> Self {
        let rest = key as u64;
        Self {
            class: (rest >> 33) as u16,
            prob: f64::from_bits((key >> 64) as u64),
            bin: (rest >> 1) as u32,
            hit: rest & 1 == 1,
        }
    }
}

/// As one row.
impl From<Prediction> for TiedRows {
    fn from(Prediction { class, prob, bin, hit }: Prediction) -> Self {
        Self { class, prob, bin, by_label: [u64::from(!hit), u64::from(hit)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_the_prediction_back_and_ascends_with_the_probability() {
        let of = |prob, class, bin, hit| Prediction { class, prob, bin, hit };
        for prediction in [of(0.0, 0, 0, false), of(0.3, u16::MAX, u32::MAX, true), of(1.0, 1, 2, false)] {
            assert_eq!(Prediction::from_key(prediction.key()), prediction);
        }
        assert_eq!(of(-0.0, 1, 2, true).key(), of(0.0, 1, 2, true).key());
        assert!(of(0.3, u16::MAX, u32::MAX, true).key() < of(0.3f64.next_up(), 0, 0, false).key());
    }
}
