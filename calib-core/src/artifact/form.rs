//! The forms that a table can have, and how each lies in words.

use super::error::TableFault;
use super::layout::SectionKind;
use super::pool::{HalfWriter, WordWriter};
use crate::score::{FloatScore, ScoreEncoding};
use crate::table::{
    CodeTable, CompactTable, InterpolatedMarginTable, InterpolatedTable, InterpolatedTableOf, MarginFunction,
    MarginScaling, MarginTable, MarginVennAbersTable, RandomizedMarginTable, RandomizedTable,
    RandomizedTableOf, Scaling, ScalingFunction, StepTable, StepTableOf, VennAbersTable, VennAbersTableOf,
};

/// A table of an artifact in one of its forms. All tables of an artifact have the same form.
///
/// A form knows edges and values alone: which of its bins hold no calibration point, so that their values are no probabilities,
/// is for [`Tables::bin_flags`](super::Tables::bin_flags) to say. A [calibrator](crate::calibrator) heeds it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TableForm<'a> {
    /// A probability per bin.
    Steps(StepTable<'a>),
    /// A probability per bin, with equal scores divided at random.
    Randomized(RandomizedTable<'a>),
    /// A line between every two knots.
    Interpolated(InterpolatedTable<'a>),
    /// A function with a few parameters.
    Scaling(ScalingFunction),
    /// Two probabilities per bin.
    VennAbers(VennAbersTable<'a>),
    /// A probability per bin of integer codes.
    Codes(CodeTable<'a>),
    /// A probability per bin, in 16-bit numbers.
    Compact(CompactTable<'a>),
    /// A probability per bin of margins.
    MarginSteps(MarginTable<'a>),
    /// A probability per bin of margins, with equal ones divided at random.
    MarginRandomized(RandomizedMarginTable<'a>),
    /// A line between every two knots over margins.
    MarginInterpolated(InterpolatedMarginTable<'a>),
    /// A function of a margin with a few parameters.
    MarginScaling(MarginFunction),
    /// Two probabilities per bin of margins.
    MarginVennAbers(MarginVennAbersTable<'a>),
}

/// A table's words after its epsilon, divided into parts.
pub(super) enum Parts<'a> {
    Steps {
        edges: &'a [f32],
        values: &'a [f32],
    },
    Randomized {
        edges: &'a [f32],
        ties: &'a [u32],
        values: &'a [f32],
    },
    Interpolated {
        x: &'a [f32],
        y: &'a [f32],
        slopes: &'a [f32],
    },
    /// A kind of function and its parameters.
    Scaling(&'a [u32]),
    VennAbers {
        edges: &'a [f32],
        p0: &'a [f32],
        p1: &'a [f32],
    },
    Codes {
        edges: &'a [u32],
        values: &'a [f32],
    },
}

impl<'a> Parts<'a> {
    /// Divides the words; `None` if no table of this kind has this number of words.
    fn checked(kind: SectionKind, words: &'a [u32]) -> Option<Self> {
        match kind {
            SectionKind::Tables | SectionKind::IntegerSteps if !has_one_value_more(words) => None,
            _ => Self::of(kind, words),
        }
    }

    /// Divides words that [`Parts::checked`] divided before.
    #[inline(always)]
    pub(super) fn of(kind: SectionKind, words: &'a [u32]) -> Option<Self> {
        match kind {
            SectionKind::Tables => {
                // 2 B - 1 words.
                let (edges, values) = edges_and_values(words);
                Some(Self::Steps { edges: floats(edges), values: floats(values) })
            }
            SectionKind::IntegerSteps => {
                let (edges, values) = edges_and_values(words);
                Some(Self::Codes { edges, values: floats(values) })
            }
            SectionKind::RandomizedSteps => {
                // 3 B - 2 words.
                let edges = third(words.len().checked_sub(1)?)?;
                let (scores, rest) = words.split_at_checked(edges)?;
                let (ties, values) = rest.split_at_checked(edges)?;
                Some(Self::Randomized { edges: floats(scores), ties, values: floats(values) })
            }
            SectionKind::Interpolated => {
                // 3 K - 1 words.
                let knots = third(words.len() + 1)?;
                let (x, rest) = words.split_at_checked(knots)?;
                let (y, slopes) = rest.split_at_checked(knots)?;
                Some(Self::Interpolated { x: floats(x), y: floats(y), slopes: floats(slopes) })
            }
            SectionKind::VennAbers => {
                // 3 B - 1 words.
                let bins = third(words.len() + 1)?;
                let (edges, rest) = words.split_at_checked(bins.checked_sub(1)?)?;
                let (p0, p1) = rest.split_at_checked(bins)?;
                Some(Self::VennAbers { edges: floats(edges), p0: floats(p0), p1: floats(p1) })
            }
            SectionKind::Scaling => Some(Self::Scaling(words)),
            _ => None,
        }
    }
}

impl<'a> TableForm<'a> {
    /// Reads and checks a table of a section of this kind.
    pub(super) fn parse(
        kind: SectionKind,
        encoding: ScoreEncoding,
        words: &'a [u32],
    ) -> Result<Self, TableFault> {
        let parts = Parts::checked(kind, words).ok_or(TableFault::Extent)?;
        let form = match parts {
            _ if encoding.is_margin() => return Self::of_margins(parts),
            Parts::Steps { edges, values } => StepTable::new(edges, values).map(Self::Steps).ok(),
            Parts::Randomized { edges, ties, values } => {
                RandomizedTable::new(edges, ties, values).map(Self::Randomized).ok()
            }
            Parts::Interpolated { x, y, slopes } => {
                InterpolatedTable::new(x, y, slopes).map(Self::Interpolated).ok()
            }
            Parts::Scaling(words) => {
                let parameters = scaling(words).ok_or(TableFault::Extent)?;
                ScalingFunction::new(parameters).map(Self::Scaling).ok()
            }
            Parts::VennAbers { edges, p0, p1 } => {
                VennAbersTable::new(edges, p0, p1).map(Self::VennAbers).ok()
            }
            Parts::Codes { edges, values } => CodeTable::new(edges, values, encoding).map(Self::Codes).ok(),
        };
        form.ok_or(TableFault::Content)
    }

    /// Checks a table over margins.
    fn of_margins(parts: Parts<'a>) -> Result<Self, TableFault> {
        let form = match parts {
            Parts::Steps { edges, values } => MarginTable::new(edges, values).map(Self::MarginSteps).ok(),
            Parts::Randomized { edges, ties, values } => {
                RandomizedMarginTable::new(edges, ties, values).map(Self::MarginRandomized).ok()
            }
            Parts::Interpolated { x, y, slopes } => {
                InterpolatedMarginTable::new(x, y, slopes).map(Self::MarginInterpolated).ok()
            }
            Parts::Scaling(words) => {
                let parameters = margin_scaling(words).ok_or(TableFault::Extent)?;
                MarginFunction::new(parameters).map(Self::MarginScaling).ok()
            }
            Parts::VennAbers { edges, p0, p1 } => {
                MarginVennAbersTable::new(edges, p0, p1).map(Self::MarginVennAbers).ok()
            }
            Parts::Codes { .. } => None,
        };
        form.ok_or(TableFault::Content)
    }

    /// Reads a table over margins that was checked before.
    pub(super) fn trusted_margins(kind: SectionKind, words: &'a [u32]) -> Option<Self> {
        match Parts::of(kind, words)? {
            Parts::Steps { edges, values } => MarginTable::trusted(edges, values).map(Self::MarginSteps),
            Parts::Randomized { edges, ties, values } => {
                RandomizedMarginTable::trusted(edges, ties, values).map(Self::MarginRandomized)
            }
            Parts::Interpolated { x, y, slopes } => {
                Some(Self::MarginInterpolated(InterpolatedMarginTable::trusted(x, y, slopes)))
            }
            Parts::Scaling(words) => {
                Some(Self::MarginScaling(MarginFunction::trusted(margin_scaling(words)?)))
            }
            Parts::VennAbers { edges, p0, p1 } => {
                MarginVennAbersTable::trusted(edges, p0, p1).map(Self::MarginVennAbers)
            }
            Parts::Codes { .. } => None,
        }
    }

    /// Reads a table over scores or codes that was checked before.
    #[inline(always)]
    pub(super) fn trusted(kind: SectionKind, words: &'a [u32]) -> Option<Self> {
        match Parts::of(kind, words)? {
            Parts::Steps { edges, values } => StepTable::trusted(edges, values).map(Self::Steps),
            Parts::Randomized { edges, ties, values } => {
                RandomizedTable::trusted(edges, ties, values).map(Self::Randomized)
            }
            Parts::Interpolated { x, y, slopes } => {
                Some(Self::Interpolated(InterpolatedTable::trusted(x, y, slopes)))
            }
            Parts::Scaling(words) => Some(Self::Scaling(ScalingFunction::trusted(scaling(words)?))),
            Parts::VennAbers { edges, p0, p1 } => VennAbersTable::trusted(edges, p0, p1).map(Self::VennAbers),
            Parts::Codes { edges, values } => CodeTable::trusted(edges, values).map(Self::Codes),
        }
    }

    /// Reads and checks a table in 16-bit numbers.
    pub(super) fn parse_halves(encoding: ScoreEncoding, halves: &'a [u16]) -> Result<Self, TableFault> {
        if !has_one_value_more(halves) {
            return Err(TableFault::Extent);
        }
        let (edges, values) = edges_and_values(halves);
        CompactTable::new(edges, values, encoding).map(Self::Compact).map_err(|_| TableFault::Content)
    }

    /// Reads a table in 16-bit numbers that was checked before.
    #[inline(always)]
    pub(super) fn trusted_halves(halves: &'a [u16]) -> Option<Self> {
        let (edges, values) = edges_and_values(halves);
        CompactTable::trusted(edges, values).map(Self::Compact)
    }

    /// Returns the kind of section that holds tables of this form.
    pub const fn section(&self) -> SectionKind {
        match self {
            Self::Steps(_) | Self::MarginSteps(_) => SectionKind::Tables,
            Self::Randomized(_) | Self::MarginRandomized(_) => SectionKind::RandomizedSteps,
            Self::Interpolated(_) | Self::MarginInterpolated(_) => SectionKind::Interpolated,
            Self::Scaling(_) | Self::MarginScaling(_) => SectionKind::Scaling,
            Self::VennAbers(_) | Self::MarginVennAbers(_) => SectionKind::VennAbers,
            Self::Codes(_) => SectionKind::IntegerSteps,
            Self::Compact(_) => SectionKind::CompactSteps,
        }
    }

    /// Tells whether the table is over margins; not one in 16-bit numbers, whose keys may be of any score.
    pub(super) const fn is_of_margins(&self) -> bool {
        matches!(
            self,
            Self::MarginSteps(_)
                | Self::MarginRandomized(_)
                | Self::MarginInterpolated(_)
                | Self::MarginScaling(_)
                | Self::MarginVennAbers(_)
        )
    }

    /// Returns the number of bins, or of segments between knots; 0 for a function.
    pub const fn bins(&self) -> usize {
        match self {
            Self::Steps(table) => table.bins(),
            Self::Randomized(table) => table.bins(),
            Self::Interpolated(table) => table.segments(),
            Self::Scaling(_) | Self::MarginScaling(_) => 0,
            Self::MarginSteps(table) => table.bins(),
            Self::MarginRandomized(table) => table.bins(),
            Self::MarginInterpolated(table) => table.segments(),
            Self::MarginVennAbers(table) => table.bins(),
            Self::VennAbers(table) => table.bins(),
            Self::Codes(table) => table.bins(),
            Self::Compact(table) => table.bins(),
        }
    }

    /// Returns the scores where bins or segments meet, ascending; none for a function, and for a table over keys.
    pub const fn edges(&self) -> &'a [f32] {
        match self {
            Self::Steps(table) => table.edges(),
            Self::Randomized(table) => table.edges(),
            Self::Interpolated(table) => table.x(),
            Self::VennAbers(table) => table.edges(),
            Self::MarginSteps(table) => table.edges(),
            Self::MarginRandomized(table) => table.edges(),
            Self::MarginInterpolated(table) => table.x(),
            Self::MarginVennAbers(table) => table.edges(),
            Self::Scaling(_) | Self::MarginScaling(_) | Self::Codes(_) | Self::Compact(_) => &[],
        }
    }

    /// Returns the probability of a bin of steps, 0 beyond the last. `None` for another form: its bins have no separate one.
    pub fn step(&self, bin: usize) -> Option<f32> {
        match self {
            Self::Steps(table) => Some(table.value(bin)),
            Self::Randomized(table) => Some(table.value(bin)),
            Self::Codes(table) => Some(table.value(bin)),
            Self::Compact(table) => Some(table.value(bin)),
            Self::MarginSteps(table) => Some(table.value(bin)),
            Self::MarginRandomized(table) => Some(table.value(bin)),
            _ => None,
        }
    }

    /// Writes the words that [`TableForm::parse`] reads.
    pub(super) fn write(&self, out: &mut WordWriter<'_>) -> Option<()> {
        match self {
            Self::Steps(table) => write_steps(table, out),
            Self::MarginSteps(table) => write_steps(table, out),
            Self::Randomized(table) => write_randomized(table, out),
            Self::MarginRandomized(table) => write_randomized(table, out),
            Self::Interpolated(table) => write_interpolated(table, out),
            Self::MarginInterpolated(table) => write_interpolated(table, out),
            Self::Scaling(function) => {
                let mut words = [0; SCALING_WORDS];
                out.words(scaling_words(function.parameters(), &mut words))
            }
            Self::MarginScaling(function) => write_margin_scaling(function.parameters(), out),
            Self::VennAbers(table) => write_venn_abers(table, out),
            Self::MarginVennAbers(table) => write_venn_abers(table, out),
            Self::Codes(table) => {
                out.words(table.edges())?;
                out.floats(table.values())
            }
            // Never in words.
            Self::Compact(_) => None,
        }
    }

    /// Writes the halves that [`TableForm::parse_halves`] reads; `None` for another form.
    pub(super) fn write_halves(&self, out: &mut HalfWriter<'_>) -> Option<()> {
        let Self::Compact(table) = self else { return None };
        table.edges().iter().try_for_each(|&edge| out.half(edge))?;
        table.raw_values().try_for_each(|value| out.half(value))
    }
}

fn write_steps<S: FloatScore>(table: &StepTableOf<'_, S>, out: &mut WordWriter<'_>) -> Option<()> {
    out.floats(table.edges().iter().copied())?;
    out.floats(table.values())
}

fn write_randomized<S: FloatScore>(table: &RandomizedTableOf<'_, S>, out: &mut WordWriter<'_>) -> Option<()> {
    out.floats(table.edges().iter().copied())?;
    out.words(table.ties())?;
    out.floats(table.values())
}

fn write_interpolated<S: FloatScore>(
    table: &InterpolatedTableOf<'_, S>,
    out: &mut WordWriter<'_>,
) -> Option<()> {
    [table.x(), table.y(), table.slopes()].iter().try_for_each(|part| out.floats(part.iter().copied()))
}

fn write_venn_abers<S: FloatScore>(table: &VennAbersTableOf<'_, S>, out: &mut WordWriter<'_>) -> Option<()> {
    out.floats(table.edges().iter().copied())?;
    out.floats(table.p0())?;
    out.floats(table.p1())
}

/// Tells whether so many words are one value more than edges.
const fn has_one_value_more<W>(words: &[W]) -> bool {
    !words.len().is_multiple_of(2)
}

/// Returns the edges and the values behind them.
#[inline(always)]
fn edges_and_values<W>(words: &[W]) -> (&[W], &[W]) {
    words.split_at_checked(words.len() / 2).unwrap_or_default()
}

fn floats(words: &[u32]) -> &[f32] {
    bytemuck::must_cast_slice(words)
}

const fn third(number: usize) -> Option<usize> {
    if number.is_multiple_of(3) { Some(number / 3) } else { None }
}

/// The number of words of the longest scaling function: its kind and four parameters.
const SCALING_WORDS: usize = 5;
const PLATT_LOGIT: u32 = 0;
const PLATT_PROB: u32 = 1;
const BETA: u32 = 2;
const TEMPERATURE: u32 = 3;
const MARGIN_PLATT: u32 = 4;
const MARGIN_TEMPERATURE: u32 = 5;
const QUADRATIC: u32 = 6;
const UNCHANGED: u32 = 7;
const MARGIN_QUADRATIC: u32 = 8;

#[inline(always)]
pub(super) fn margin_scaling(words: &[u32]) -> Option<MarginScaling> {
    match *words {
        [MARGIN_PLATT, a, b] => Some(MarginScaling::Platt { a: f32::from_bits(a), b: f32::from_bits(b) }),
        [MARGIN_TEMPERATURE, inverse_t] => {
            Some(MarginScaling::Temperature { inverse_t: f32::from_bits(inverse_t) })
        }
        [MARGIN_QUADRATIC, a, b, c, scale, shift] => {
            let [a, b, c, scale, shift] = [a, b, c, scale, shift].map(f32::from_bits);
            Some(MarginScaling::Quadratic { a, b, c, scale, shift })
        }
        _ => None,
    }
}

fn write_margin_scaling(scaling: MarginScaling, out: &mut WordWriter<'_>) -> Option<()> {
    match scaling {
        MarginScaling::Platt { a, b } => {
            out.word(MARGIN_PLATT)?;
            out.floats([a, b])
        }
        MarginScaling::Temperature { inverse_t } => {
            out.word(MARGIN_TEMPERATURE)?;
            out.floats([inverse_t])
        }
        MarginScaling::Quadratic { a, b, c, scale, shift } => {
            out.word(MARGIN_QUADRATIC)?;
            out.floats([a, b, c, scale, shift])
        }
    }
}

#[inline(always)]
pub(super) fn scaling(words: &[u32]) -> Option<Scaling> {
    let float = f32::from_bits;
    match *words {
        [PLATT_LOGIT, a, b, clip] => {
            Some(Scaling::PlattLogit { a: float(a), b: float(b), clip: float(clip) })
        }
        [PLATT_PROB, a, b] => Some(Scaling::PlattProb { a: float(a), b: float(b) }),
        [BETA, a, b, c, clip] => {
            Some(Scaling::Beta { a: float(a), b: float(b), c: float(c), clip: float(clip) })
        }
        [TEMPERATURE, inverse_t, clip] => {
            Some(Scaling::Temperature { inverse_t: float(inverse_t), clip: float(clip) })
        }
        [QUADRATIC, a, b, c, clip] => {
            Some(Scaling::Quadratic { a: float(a), b: float(b), c: float(c), clip: float(clip) })
        }
        [UNCHANGED] => Some(Scaling::Unchanged),
        _ => None,
    }
}

fn scaling_words(scaling: Scaling, words: &mut [u32; SCALING_WORDS]) -> &[u32] {
    let (kind, parameters): (u32, &[f32]) = match scaling {
        Scaling::PlattLogit { a, b, clip } => (PLATT_LOGIT, &[a, b, clip]),
        Scaling::PlattProb { a, b } => (PLATT_PROB, &[a, b]),
        Scaling::Beta { a, b, c, clip } => (BETA, &[a, b, c, clip]),
        Scaling::Temperature { inverse_t, clip } => (TEMPERATURE, &[inverse_t, clip]),
        Scaling::Quadratic { a, b, c, clip } => (QUADRATIC, &[a, b, c, clip]),
        Scaling::Unchanged => (UNCHANGED, &[]),
    };
    let [first, rest @ ..] = words;
    *first = kind;
    for (word, parameter) in rest.iter_mut().zip(parameters) {
        *word = parameter.to_bits();
    }
    words.get(..=parameters.len()).unwrap_or_default()
}
