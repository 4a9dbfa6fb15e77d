//! Where things lie in an artifact, and the numbers of its sections.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The format that this version of calib writes and reads.
pub const FORMAT_VERSION: u16 = 1;
/// The length of the prefix in bytes.
pub const PREFIX_LEN: usize = 32;
/// The length of the head in front of a section's payload, in bytes.
pub(super) const SECTION_HEAD_LEN: usize = 8;
/// The length of a counter in bytes.
pub(super) const COUNTER_LEN: usize = 4;
/// The length of a signature's payload in bytes: the key's name and the signature.
pub(super) const SIGNATURE_LEN: usize = 8 + 64;
/// The flag of a section whose kind a reader must know.
pub(super) const MANDATORY: u16 = 1;

/// Declares the kinds of section in the order in which they came, because the protocol counts kinds in this order: each with its number,
/// and its name for people. The numbers 66 to 68 are of sections that hosts and the start of a device read themselves.
macro_rules! sections {
    ($($(#[$doc:meta])+ $kind:ident = $number:literal $name:literal,)+) => {
        /// The kinds of section that this version of calib knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[repr(u16)]
        #[non_exhaustive]
        pub enum SectionKind {
            $($(#[$doc])+ $kind = $number,)+
        }

        impl SectionKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),+];
        }

        impl fmt::Display for SectionKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$kind => $name,)+
                })
            }
        }
    };
}

sections! {
    /// What was fitted and how.
    Header = 1 "header",
    /// Step tables over scores.
    Tables = 2 "tables",
    /// A byte of flags per bin.
    BinFlags = 3 "flags of the bins",
    /// Step tables that divide equal scores at random.
    RandomizedSteps = 4 "tables with random words",
    /// Knots to interpolate between.
    Interpolated = 5 "knots and slopes",
    /// Scaling functions.
    Scaling = 6 "parameters",
    /// Step tables with two probabilities per bin.
    VennAbers = 7 "tables with two values per bin",
    /// An interval per bin.
    Intervals = 8 "intervals of the bins",
    /// Step tables over integer codes.
    IntegerSteps = 9 "tables over codes",
    /// The bin of every 8-bit code.
    DirectTable = 10 "the bin of every code",
    /// Step tables in 16-bit numbers.
    CompactSteps = 11 "tables of 16-bit numbers",
    /// A scaling function of whole vectors.
    VectorScaling = 12 "parameters of a function of the vector",
    /// Cells of Sierpinski binning.
    Sierpinski = 13 "cells and their values",
    /// Cells of a grid on the simplex.
    Grid = 14 "cells and their values",
    /// Cells between hyperplanes.
    Projection = 15 "cells and their values",
    /// Cells of a tree of splits of the simplex.
    SplitTree = 16 "splits, cells and their values",
    /// Which action to take at which probability.
    Decision = 32 "decision rule",
    /// How new the artifact is.
    Counter = 64 "counter",
    /// Who made it.
    Signature = 65 "signature",
    /// The least and the greatest score of the calibration points.
    ScoreRanges = 17 "range of the calibration scores",
    /// Thresholds of the score whose accuracy is guaranteed.
    OperatingPoints = 33 "operating points",
    /// The names of groups.
    Groups = 34 "names of groups",
    /// Which classes are in the set of a vector of scores.
    PredictionSets = 35 "prediction sets",
    /// What monitors compare with.
    Monitors = 36 "what monitors compare with",
    /// What is done on an alarm of the monitors.
    MonitorAction = 37 "the action on an alarm of the monitors",
    /// Intervals of ranges of the score, beside any tables.
    ScoreIntervals = 38 "intervals of ranges of the score",
    /// A band around the calibration curve, beside any tables.
    Band = 39 "band around the calibration curve",
}

impl SectionKind {
    /// Tells whether every artifact may have such a section.
    pub(super) const fn is_of_any(self) -> bool {
        matches!(self, Self::Header | Self::Counter | Self::Signature)
    }

    /// Returns the index in [`SectionKind::ALL`] of the kind with this number.
    pub(super) fn position(number: u16) -> Option<usize> {
        Self::ALL.iter().position(|&kind| kind as u16 == number)
    }
}

/// Returns the `N` bytes at `offset`, if there are as many.
pub(super) fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}
