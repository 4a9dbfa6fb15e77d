//! Why nothing was fitted.

use std::fmt;

use crate::artifact::CompileError;
use crate::data::DataError;
use crate::error::FitError;
use crate::options_error::OptionsError;
use crate::stats::thousands;

/// Why nothing was fitted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NotFitted {
    /// The options make no sense, or not for these data.
    Options(OptionsError),
    /// The data do not go with the reduction.
    Data(DataError),
    /// The data are in order, but nothing can be fitted to them.
    Fit(FitError),
    /// Monitors have no bins of the scores that they are to compare with.
    ReferenceScores(FitError),
    /// The fit has no form that a device can run.
    Compile(CompileError),
    /// Not even two bins of so many points keep the epsilon that is asked for.
    NoBinsKeep {
        /// The number of points.
        n: u64,
        /// The epsilon.
        epsilon: f64,
        /// How many points two bins need, unless that is more than anybody has.
        needed: Option<u64>,
        /// The least epsilon that two bins keep, if there is one.
        least: Option<f64>,
    },
    /// Scores tie at the edges of bins, and no bins keep the epsilon that is asked for.
    TiesAtEdges {
        /// The epsilon.
        epsilon: f64,
        /// The least that is kept, if any is.
        least: Option<f64>,
    },
}

impl NotFitted {
    /// Returns whether an option is wrong, whatever the data.
    pub fn is_about_options(&self) -> bool {
        match self {
            Self::Options(_) | Self::NoBinsKeep { .. } | Self::TiesAtEdges { .. } => true,
            Self::Fit(cause) => cause.is_about_options(),
            Self::Compile(cause) => cause.is_about_options(),
            Self::Data(_) | Self::ReferenceScores(_) => false,
        }
    }

    /// Returns the sentence about options, which names them as fields; `None` if it is about something else.
    pub fn of_options(&self) -> Option<OptionsError> {
        let sentence = match self {
            Self::Options(error) => return Some(error.clone()),
            Self::NoBinsKeep { n, epsilon, needed, least } => {
                let needed = needed.map_or(String::new(), |n| format!(": two bins need {}", thousands(n)));
                let larger = least.map_or("a larger one".into(), |least| format!("{least} or more"));
                format!(
                    "no bins of {} observations keep a guarantee within {epsilon}{needed}; leave out `epsilon`, or use {larger}",
                    thousands(*n)
                )
            }
            Self::TiesAtEdges { epsilon, least } => {
                let least =
                    least.map_or(String::new(), |least| format!(" (the smallest possible is {least})"));
                format!(
                    "scores tie at the edges of bins, and no bins keep a guarantee within {epsilon}{least}; leave out \
                     `epsilon`, use a larger one, or use `method=umd-randomized` with `bins`"
                )
            }
            Self::Data(_) | Self::Fit(_) | Self::ReferenceScores(_) | Self::Compile(_) => return None,
        };
        Some(OptionsError::new(sentence))
    }
}

impl fmt::Display for NotFitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(cause) => cause.fmt(f),
            Self::Fit(cause) | Self::ReferenceScores(cause) => cause.fmt(f),
            Self::Compile(cause) => cause.fmt(f),
            other => other.of_options().expect("the others are about options").fmt(f),
        }
    }
}

impl std::error::Error for NotFitted {}

impl From<OptionsError> for NotFitted {
    fn from(cause: OptionsError) -> Self {
        Self::Options(cause)
    }
}

impl From<DataError> for NotFitted {
    fn from(cause: DataError) -> Self {
        Self::Data(cause)
    }
}

impl From<FitError> for NotFitted {
    fn from(cause: FitError) -> Self {
        Self::Fit(cause)
    }
}

impl From<CompileError> for NotFitted {
    fn from(cause: CompileError) -> Self {
        Self::Compile(cause)
    }
}
