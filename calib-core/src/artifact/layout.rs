//! Where things lie in an artifact, and the numbers of its sections.

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

/// The kinds of section that this version of calib knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u16)]
#[non_exhaustive]
pub enum SectionKind {
    /// What was fitted and how.
    Header = 1,
    /// Step tables over scores.
    Tables = 2,
    /// A byte of flags per bin.
    BinFlags = 3,
    /// Step tables that divide equal scores at random.
    RandomizedSteps = 4,
    /// Knots to interpolate between.
    Interpolated = 5,
    /// Scaling functions.
    Scaling = 6,
    /// Step tables with two probabilities per bin.
    VennAbers = 7,
    /// An interval per bin.
    Intervals = 8,
    /// Step tables over integer codes.
    IntegerSteps = 9,
    /// The bin of every 8-bit code.
    DirectTable = 10,
    /// Step tables in 16-bit numbers.
    CompactSteps = 11,
    /// A scaling function of whole vectors.
    VectorScaling = 12,
    /// Cells of Sierpinski binning.
    Sierpinski = 13,
    /// Cells of a grid on the simplex.
    Grid = 14,
    /// Cells between hyperplanes.
    Projection = 15,
    /// Cells of a tree of splits of the simplex.
    SplitTree = 16,
    /// Which action to take at which probability.
    Decision = 32,
    /// How new the artifact is.
    Counter = 64,
    /// Who made it.
    Signature = 65,
    /// The least and the greatest score of the calibration points.
    // From here on in the order in which they came, because the protocol counts kinds in this order.
    ScoreRanges = 17,
    /// Thresholds of the score whose accuracy is guaranteed.
    OperatingPoints = 33,
    /// The names of groups.
    Groups = 34,
    /// Which classes are in the set of a vector of scores.
    PredictionSets = 35,
    /// What monitors compare with.
    Monitors = 36,
    /// What is done on an alarm of the monitors.
    MonitorAction = 37,
    /// Intervals of ranges of the score, beside any tables.
    ScoreIntervals = 38,
    /// A band around the calibration curve, beside any tables.
    Band = 39,
}

impl SectionKind {
    /// Every kind.
    pub(super) const ALL: [Self; 27] = [
        Self::Header,
        Self::Tables,
        Self::BinFlags,
        Self::RandomizedSteps,
        Self::Interpolated,
        Self::Scaling,
        Self::VennAbers,
        Self::Intervals,
        Self::IntegerSteps,
        Self::DirectTable,
        Self::CompactSteps,
        Self::VectorScaling,
        Self::Sierpinski,
        Self::Grid,
        Self::Projection,
        Self::SplitTree,
        Self::Decision,
        Self::Counter,
        Self::Signature,
        Self::ScoreRanges,
        Self::OperatingPoints,
        Self::Groups,
        Self::PredictionSets,
        Self::Monitors,
        Self::MonitorAction,
        Self::ScoreIntervals,
        Self::Band,
    ];

    /// Returns the index in [`SectionKind::ALL`] of the kind with this number.
    pub(super) fn position(number: u16) -> Option<usize> {
        Self::ALL.iter().position(|&kind| kind as u16 == number)
    }
}

/// Returns the `N` bytes at `offset`, if there are as many.
pub(super) fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}
