//! Why bytes are not an artifact.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::groups::GroupsError;
use super::layout::{FORMAT_VERSION, SectionKind};
use crate::decision::{DecisionError, OperatingPointError, SetError};

/// Why bytes are not an artifact. Offsets are from the start of the artifact, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ParseError {
    /// There is nothing: no bytes, or memory that is erased (`0xFF`) or was never programmed (`0x00`).
    Blank,
    /// The bytes do not start at a multiple of 4 in memory.
    Misaligned,
    /// The bytes do not start with the magic number.
    Magic,
    /// The artifact has this format, which this version of calib does not read.
    FormatVersion(u16),
    /// A reserved field is not zero.
    Reserved,
    /// The artifact is cut off.
    Truncated {
        /// The stated length.
        needed: usize,
        /// The number of bytes there are.
        available: usize,
    },
    /// The stated total length is impossible.
    TotalLength(u32),
    /// The bytes were altered after they were written.
    Crc {
        /// The CRC-32C stored in the artifact.
        stored: u32,
        /// The CRC-32C of the bytes.
        computed: u32,
    },
    /// The section at this offset does not fit into the artifact, has the wrong length for its kind, follows the signature, or is
    /// not padded with zeros.
    Section(usize),
    /// The number of sections is not the stated one.
    SectionCount {
        /// The number in the prefix.
        stated: u16,
        /// The number of sections found.
        found: usize,
    },
    /// A mandatory section has this unknown kind: the artifact needs a newer version of calib.
    UnknownSection(u16),
    /// There are two sections of this kind.
    DuplicateSection(u16),
    /// The section of this kind is missing, or the header is not the first section.
    MissingSection(SectionKind),
    /// The header does not decode, or contradicts itself.
    Header,
    /// A table contradicts the header or itself.
    Table {
        /// The table, 0-based.
        table: usize,
        /// What is wrong with the table.
        fault: TableFault,
    },
    /// There are bytes after the artifact's end.
    TrailingBytes {
        /// The offset of the first byte that does not belong there.
        offset: usize,
    },
    /// There is a section of this kind, which does not go with the header's method and score encoding.
    UnexpectedSection(SectionKind),
    /// The decision rule contradicts itself.
    Decision(DecisionError),
    /// The operating points contradict themselves or the header.
    OperatingPoints(OperatingPointError),
    /// The prediction sets contradict themselves or the header.
    PredictionSets(SetError),
    /// The groups contradict themselves or the sections that have a part for each.
    Groups(GroupsError),
    /// What the monitors compare with contradicts itself or the tables.
    Monitors(MonitorsError),
    /// The band is not one: edges do not ascend or are no scores, or values decrease or lie outside `[0, 1]`. Or the lower side is above
    /// the upper one, or alpha is not in `(0, 1)`.
    Band,
    /// The numbers of calibration points in different sections contradict each other. Hosts check this; a device uses none of them.
    Counts,
}

/// What is wrong with a table of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TableFault {
    /// The number of tables is not the one of the reduction.
    Count,
    /// The table's words lie outside the section or overlap, or their number is impossible.
    Extent,
    /// The table's edges, values or parameters are out of range or out of order.
    Content,
    /// The numbers of bins do not add up to the header's number.
    Bins,
    /// The table is empty, although the header has no uncalibrated class; or no table is, although the header has one.
    Missing,
    /// The table's epsilon is not a positive number, is above the header's, or stands without a guarantee.
    Epsilon,
    /// The bin flags are not one per bin, or one is unknown.
    Flags,
    /// The intervals are not one per bin; or one is upside down, does not contain the bin's value, or belongs to a bin without a
    /// guarantee.
    Intervals,
    /// The direct table gives another bin than the edges.
    Direct,
    /// The score ranges are not one per table, upside down or not of scores, or one belongs to a table without words.
    Ranges,
    /// The intervals of ranges of the score are not of this table: edges that do not ascend or are no scores, an interval upside down or outside
    /// of `[0, 1]`, too few of them; or their alpha or rate is unknown.
    ScoreIntervals,
}

/// Why bytes are not the monitors of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MonitorsError {
    /// There are too few or too many words, or not as many tables as the artifact has.
    Length,
    /// An alarm would be raised by no evidence.
    Alarm,
    /// The gaps of this table are no reference, or not one for each bin.
    Gaps(usize),
    /// The edges of this table are not in ascending order.
    Edges(usize),
    /// The action on an alarm is none, or no monitor can raise the alarm.
    Action,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("there is no artifact: the memory is blank"),
            Self::Misaligned => f.write_str("the artifact does not start at a multiple of 4 bytes in memory"),
            Self::Magic => f.write_str("not a calib artifact: it does not start with \"CALB\""),
            Self::FormatVersion(v) => {
                write!(f, "the artifact has format {v}, this version of calib reads format {FORMAT_VERSION}")
            }
            Self::Reserved => f.write_str("a reserved field is not zero"),
            Self::Truncated { needed, available } => {
                write!(f, "the artifact is cut off: {available} of {needed} bytes are there")
            }
            Self::TotalLength(len) => write!(f, "the stated length of {len} bytes is impossible"),
            Self::Crc { stored, computed } => {
                write!(f, "the artifact is damaged: its CRC-32C is {computed:08x}, {stored:08x} was written")
            }
            Self::Section(offset) => write!(f, "the section at offset {offset} is malformed"),
            Self::SectionCount { stated, found } => write!(f, "{found} sections, {stated} were written"),
            Self::UnknownSection(kind) => {
                write!(f, "the artifact needs a newer version of calib: section kind {kind} is unknown")
            }
            Self::DuplicateSection(kind) => write!(f, "section kind {kind} is there twice"),
            Self::MissingSection(kind) => write!(f, "the {kind:?} section is missing or out of place"),
            Self::Header => f.write_str("the header does not decode"),
            Self::Table { table, fault } => write!(f, "table {table}: {fault}"),
            Self::TrailingBytes { offset } => {
                write!(f, "there are bytes after the artifact's end at offset {offset}")
            }
            Self::UnexpectedSection(kind) => {
                write!(f, "the {kind:?} section does not go with the header's method and score encoding")
            }
            Self::Decision(cause) => write!(f, "the decision rule: {cause}"),
            Self::OperatingPoints(cause) => write!(f, "the operating points: {cause}"),
            Self::PredictionSets(cause) => write!(f, "the prediction sets: {cause}"),
            Self::Groups(cause) => write!(f, "the groups: {cause}"),
            Self::Monitors(cause) => write!(f, "the monitors: {cause}"),
            Self::Band => f.write_str("the band is not in order, or not of these scores"),
            Self::Counts => f.write_str("its numbers of calibration observations contradict each other"),
        }
    }
}

impl fmt::Display for TableFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Count => "not the number of tables the reduction needs",
            Self::Extent => "its words lie outside the section",
            Self::Content => "its edges, values or parameters are out of range or out of order",
            Self::Bins => "the bins do not add up to the header's number",
            Self::Missing => "it has no bins, or the header tells of an uncalibrated class and there is none",
            Self::Epsilon => "its epsilon is out of range or without a guarantee",
            Self::Flags => "the bin flags are not one per bin, or unknown",
            Self::Intervals => "the intervals are not one per bin, or do not go with it",
            Self::Direct => "the direct table contradicts the edges",
            Self::Ranges => "the score ranges are not one per table, or not of scores",
            Self::ScoreIntervals => "the intervals of score ranges are not in order, or not of this table",
        })
    }
}

impl core::error::Error for ParseError {}

impl fmt::Display for MonitorsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("their number of words or of tables is not the artifact's"),
            Self::Alarm => f.write_str("an alarm would take no evidence"),
            Self::Gaps(table) => write!(f, "the gaps of table {table} are not one or more for each bin"),
            Self::Edges(table) => write!(f, "the edges of table {table} are not in ascending order"),
            Self::Action => {
                f.write_str("the action on an alarm is unknown, or no monitor can raise the alarm")
            }
        }
    }
}

impl core::error::Error for MonitorsError {}
