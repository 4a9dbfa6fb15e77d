//! Why nothing was fitted.

use crate::artifact::CompileError;
use crate::data::DataError;
use crate::error::FitError;
use crate::options_error::OptionsError;
use crate::stats::thousands;

/// Why nothing was fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotFitted {
    /// The options make no sense, or not for these data.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The data do not go with the reduction.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The data are in order, but nothing can be fitted to them.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Monitors have no bins of the scores that they are to compare with.
    #[error(transparent)]
    ReferenceScores(FitError),
    /// The fit has no form that a device can run.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Not even two bins of so many points keep the epsilon that is asked for.
    #[error("{}", no_bins_keep(*n, *epsilon, *needed, *least))]
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
    #[error("{}", ties_at_edges(*epsilon, *least))]
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
        match *self {
            Self::Options(ref error) => Some(error.clone()),
            Self::NoBinsKeep { n, epsilon, needed, least } => Some(no_bins_keep(n, epsilon, needed, least)),
            Self::TiesAtEdges { epsilon, least } => Some(ties_at_edges(epsilon, least)),
            Self::Data(_) | Self::Fit(_) | Self::ReferenceScores(_) | Self::Compile(_) => None,
        }
    }
}

fn no_bins_keep(n: u64, epsilon: f64, needed: Option<u64>, least: Option<f64>) -> OptionsError {
    let needed = needed.map_or(String::new(), |n| format!(": two bins need {}", thousands(n)));
    let larger = least.map_or("a larger one".into(), |least| format!("{least} or more"));
    OptionsError::new(format!(
        "no bins of {} observations keep a guarantee within {epsilon}{needed}; leave out `epsilon`, or use {larger}",
        thousands(n)
    ))
}

fn ties_at_edges(epsilon: f64, least: Option<f64>) -> OptionsError {
    let least = least.map_or(String::new(), |least| format!(" (the smallest possible is {least})"));
    OptionsError::new(format!(
        "scores tie at the edges of bins, and no bins keep a guarantee within {epsilon}{least}; leave out \
         `epsilon`, use a larger one, or use `method=umd-randomized` with `bins`"
    ))
}
