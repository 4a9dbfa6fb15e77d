//! What a binary score is.

use std::fmt;

use calib_core::ScoreEncoding;

/// What a binary classifier's score is. The higher it is, the likelier is class 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreKind {
    /// A number in `[0, 1]`.
    #[default]
    Probability,
    /// Any finite number, such as a logit, a distance or the value of a decision function.
    Margin,
}

impl ScoreKind {
    /// Returns what kind of number a float is on the device, in a table of 16-bit numbers if it is `compact`.
    pub(crate) const fn encoding(self, compact: bool) -> ScoreEncoding {
        match (self, compact) {
            (Self::Probability, false) => ScoreEncoding::F32,
            (Self::Probability, true) => ScoreEncoding::RoundedF32,
            (Self::Margin, false) => ScoreEncoding::Margin,
            (Self::Margin, true) => ScoreEncoding::RoundedMargin,
        }
    }

    /// Returns the ends of the scale: no score is beyond them.
    pub(crate) const fn ends(self) -> (f64, f64) {
        match self {
            Self::Probability => (0.0, 1.0),
            Self::Margin => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Tells whether a table can have an edge at this score: one at the least score of all would have nothing below.
    pub(crate) const fn is_edge(self, score: f64) -> bool {
        match self {
            Self::Probability => score > 0.0,
            Self::Margin => true,
        }
    }
}

impl fmt::Display for ScoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Probability => "probabilities",
            Self::Margin => "margins",
        })
    }
}
