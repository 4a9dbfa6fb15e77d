//! From a fit to the bytes that a device reads.

use calib_core::artifact::{ArtifactWriter, Header, HeaderFlags, Provenance, Table, TableForm, WriteError};
use calib_core::table::{
    CodeTable, CompactTable, InterpolatedTable, RandomizedTable, Scaling, ScalingFunction, VennAbersTable,
};
use calib_core::{Artifact, BinFlags, ClassifierId, Identity, ProbInterval, Score, ScoreEncoding, StepTable};
use sha2::{Digest, Sha256};

use crate::codes::CodesError;
use crate::compact::{edge_key, in_compact_table};
use crate::fit::{Fit, FittedTable};
use crate::method::Model;
use crate::scaling::{CLIP, ScalingModel};

/// What goes into an artefact besides the fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArtifactOptions {
    /// The SHA-256 of the calibration data files, in the order they were given.
    pub data_sha256: [u8; 32],
    /// The classifier the scores come from.
    pub classifier: Option<ClassifierId>,
    /// Whether the exact interval of every bin goes to the device, at 8 bytes a bin, where the fit has any.
    pub intervals: bool,
    /// How new the artefact is: a device refuses one with a lower counter than its own.
    pub counter: u32,
    /// Whether the bin of every 8-bit code goes to the device, at 256 bytes a table and 8 more, so that it need not search.
    pub direct_table: bool,
}

/// Why a fit has no form that a device can run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// An edge is not an `f32`: the fit was made on scores that no device produces.
    #[error("edge {0} is not an f32: fit on scores as the device sees them")]
    Edge(f64),
    /// A parameter is not an `f32`, or out of the device's range: the fit is degenerate.
    #[error("a fitted parameter is too large for the device: the fit is degenerate")]
    Parameter,
    /// A table is no step function, and only those have a form in 16-bit numbers.
    #[error("only step functions have tables of 16-bit numbers")]
    NotSteps,
    /// Two edges are too near to each other, or one to 0, for a table of 16-bit numbers.
    #[error("edge {0} is not told from its neighbour in 16 bits: use a table of f32")]
    TooFine(f64),
    /// The fit has no table over integer codes.
    #[error(transparent)]
    Codes(#[from] CodesError),
    /// A direct table was asked for, and scores are not 8-bit codes.
    #[error("scores in {0} have no direct table: only 8-bit codes have one")]
    NoDirectTable(ScoreEncoding),
    /// The tables or the header do not fit the format.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The numbers of a table as the device has them, to be borrowed by its form.
#[derive(Default)]
struct Numbers {
    /// Inner edges, or knots.
    edges: Vec<f32>,
    /// The words of ties, or edges that are codes.
    words: Vec<u32>,
    /// Values per bin or knot; for Venn-Abers those with label 0.
    values: Vec<f32>,
    /// Slopes between knots; for Venn-Abers values with label 1.
    more: Vec<f32>,
    /// Edges and values in 16 bits.
    halves: (Vec<u16>, Vec<u16>),
}

/// Compiles a fit into an artefact of format 1.
///
/// Values are rounded to the nearest `f32`, epsilons upwards, intervals outwards; edges are `f32` already. The same fit
/// and options give the same bytes.
///
/// # Errors
///
/// If a number has no `f32`, or the artefact would be larger than the format allows.
pub fn artifact_bytes(fit: &Fit, options: &ArtifactOptions) -> Result<Vec<u8>, CompileError> {
    let numbers: Vec<Option<Numbers>> = fit
        .tables
        .iter()
        .map(|table| table.as_ref().map(|table| Numbers::of(&table.model, fit.compact)).transpose())
        .collect::<Result<_, _>>()?;
    let tables: Vec<Option<Table<'_>>> = numbers
        .iter()
        .zip(&fit.tables)
        .map(|(numbers, fitted)| match (numbers, fitted) {
            (Some(numbers), Some(fitted)) => {
                let form = numbers.form(&fitted.model, fit.compact)?;
                Ok(Some(Table { form, epsilon: fitted.epsilon.map(round_up) }))
            }
            _ => Ok(None),
        })
        .collect::<Result<_, CompileError>>()?;

    let encoding = device_encoding(fit);
    if options.direct_table && !matches!(encoding, ScoreEncoding::U8 { .. } | ScoreEncoding::I8 { .. }) {
        return Err(CompileError::NoDirectTable(encoding));
    }
    let mut flags = HeaderFlags::NONE;
    if fit.tied_tables().next().is_some() {
        flags = flags.with(HeaderFlags::TIES_MERGED);
    }
    if fit.weighted {
        flags = flags.with(HeaderFlags::WEIGHTED);
    }
    if !fit.unfitted.is_empty() {
        flags = flags.with(HeaderFlags::CLASS_UNCALIBRATED);
    }
    if fit.compact {
        flags = flags.with(HeaderFlags::COMPACT);
    }
    let header = Header {
        method: fit.method,
        reduction: fit.reduction,
        encoding,
        classes: u16::try_from(fit.classes).map_err(|_| WriteError::TooLarge)?,
        bins: u32::try_from(tables.iter().flatten().map(|table| table.form.bins()).sum::<usize>())
            .map_err(|_| WriteError::TooLarge)?,
        n: fit.n,
        guarantee: fit.guarantee.map(|g| calib_core::artifact::Guarantee {
            theorem: g.theorem,
            alpha: g.alpha as f32,
            epsilon: round_up(g.epsilon),
        }),
        flags,
        provenance: Provenance {
            data_sha256: options.data_sha256,
            tool_version: env!("CARGO_PKG_VERSION"),
            parameters: &fit.parameters,
            classifier: options.classifier,
        },
    };

    let longest =
        |n: &Numbers| 80 + 3 * (n.edges.len() + n.values.len()) + 3 * n.values.len() + 4 * n.halves.1.len();
    let words: usize = numbers.iter().flatten().map(longest).sum();
    let mut buf = vec![0u32; 256 + fit.parameters.len() + 4 * tables.len() + words];
    let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut buf));
    writer.header(&header)?;
    writer.tables(&tables)?;
    let empty: Vec<BinFlags> = fit.tables.iter().flatten().flat_map(bin_flags).collect();
    if empty.contains(&BinFlags::EMPTY) {
        writer.bin_flags(&empty)?;
    }
    if options.intervals {
        let intervals: Vec<Option<Vec<Option<ProbInterval>>>> =
            fit.tables.iter().map(|table| table.as_ref().map(intervals)).collect();
        if intervals.iter().flatten().flatten().any(Option::is_some) {
            writer.intervals(&intervals.iter().map(Option::as_deref).collect::<Vec<_>>())?;
        }
    }
    if options.direct_table {
        writer.direct_table(&tables)?;
    }
    if options.counter > 0 {
        writer.counter(options.counter)?;
    }
    let bytes = writer.finish(identity)?;
    debug_assert!(Artifact::parse(bytes).is_ok());
    Ok(bytes.to_vec())
}

/// What kind of number a score is for the compiled fit.
fn device_encoding(fit: &Fit) -> ScoreEncoding {
    match fit.encoding() {
        ScoreEncoding::F32 if fit.compact => ScoreEncoding::RoundedF32,
        encoding => encoding,
    }
}

impl Numbers {
    fn of(model: &Model, compact: bool) -> Result<Self, CompileError> {
        let exact = |edges: &[f64]| edges.iter().map(|&edge| exact_f32(edge)).collect::<Result<Vec<_>, _>>();
        let nearest = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<_>>();
        let values = || model.bins().iter().map(|bin| bin.value as f32).collect::<Vec<_>>();
        let none = Self::default();
        Ok(match model {
            Model::Steps(steps) if compact => {
                let edges = steps.edges.iter().map(|&e| edge_key(e).ok_or(CompileError::TooFine(e)));
                let edges: Vec<u16> = edges.collect::<Result<_, _>>()?;
                if let Some(same) = edges.windows(2).position(|pair| pair[0] == pair[1]) {
                    return Err(CompileError::TooFine(steps.edges[same + 1]));
                }
                let values = steps.bins.iter().map(|bin| CompactTable::nearest(bin.value)).collect();
                Self { halves: (edges, values), ..none }
            }
            Model::Codes(codes) if compact => {
                let edges = codes.edges.iter().map(|&edge| u16::try_from(edge).ok());
                let edges = edges.collect::<Option<_>>().ok_or(CompileError::Parameter)?;
                let values = codes.values.iter().map(|&value| CompactTable::nearest(value)).collect();
                Self { halves: (edges, values), ..none }
            }
            _ if compact => return Err(CompileError::NotSteps),
            Model::Steps(steps) => Self { edges: exact(&steps.edges)?, values: values(), ..none },
            Model::Randomized(steps) => {
                Self { edges: exact(&steps.edges)?, words: steps.words.clone(), values: values(), ..none }
            }
            Model::Interpolated(line) => {
                let (edges, values) = (exact(&line.scores)?, nearest(&line.values));
                let more = InterpolatedTable::slopes_between(&edges, &values).collect();
                Self { edges, values, more, ..none }
            }
            Model::VennAbers(table) => Self {
                edges: exact(&table.edges)?,
                values: nearest(&table.p0),
                more: nearest(&table.p1),
                ..none
            },
            Model::Codes(codes) => {
                Self { words: codes.edges.clone(), values: nearest(&codes.values), ..none }
            }
            Model::Scaling(_) => none,
        })
    }

    /// The form that the device reads, checked as the device checks it.
    fn form(&self, model: &Model, compact: bool) -> Result<TableForm<'_>, CompileError> {
        let Self { edges, words, values, more, halves } = self;
        let form = match model {
            _ if compact => {
                let encoding = in_compact_table(model.encoding());
                CompactTable::new(&halves.0, &halves.1, encoding).map(TableForm::Compact).ok()
            }
            Model::Steps(_) => StepTable::new(edges, values).map(TableForm::Steps).ok(),
            Model::Randomized(_) => {
                RandomizedTable::new(edges, words, values).map(TableForm::Randomized).ok()
            }
            Model::Interpolated(_) => {
                InterpolatedTable::new(edges, values, more).map(TableForm::Interpolated).ok()
            }
            Model::VennAbers(_) => VennAbersTable::new(edges, values, more).map(TableForm::VennAbers).ok(),
            Model::Codes(codes) => CodeTable::new(words, values, codes.encoding).map(TableForm::Codes).ok(),
            Model::Scaling(scaling) => ScalingFunction::new(parameters(scaling)).map(TableForm::Scaling).ok(),
        };
        form.ok_or(CompileError::Parameter)
    }
}

/// The probabilities that the device computes for scores with a function that is none of steps.
pub(crate) fn prob_on_device(model: &Model, scores: &[Score]) -> Result<Vec<f32>, CompileError> {
    let numbers = Numbers::of(model, false)?;
    match numbers.form(model, false)? {
        TableForm::Interpolated(table) => Ok(scores.iter().map(|&score| table.lookup(score).1).collect()),
        TableForm::Scaling(function) => Ok(scores.iter().map(|&score| function.prob(score)).collect()),
        _ => Err(CompileError::Parameter),
    }
}

/// The parameters of a scaling function in `f32`.
fn parameters(model: &ScalingModel) -> Scaling {
    let clip = CLIP as f32;
    match *model {
        ScalingModel::PlattLogit { a, b } => Scaling::PlattLogit { a: a as f32, b: b as f32, clip },
        ScalingModel::PlattProb { a, b } => Scaling::PlattProb { a: a as f32, b: b as f32 },
        ScalingModel::Beta { a, b, c } => Scaling::Beta { a: a as f32, b: b as f32, c: c as f32, clip },
        ScalingModel::Temperature { inverse_t } => Scaling::Temperature { inverse_t: inverse_t as f32, clip },
    }
}

/// A flag per bin of a table.
fn bin_flags(table: &FittedTable) -> impl Iterator<Item = BinFlags> {
    table.model.bins().iter().map(|bin| if bin.n == 0 { BinFlags::EMPTY } else { BinFlags::NONE })
}

/// The intervals of a table's bins, rounded outwards; none for a bin without points, or without a guarantee.
fn intervals(table: &FittedTable) -> Vec<Option<ProbInterval>> {
    if table.intervals.is_empty() {
        return vec![None; table.model.bins().len()];
    }
    let outwards = |(bin, interval): (&crate::Bin, &crate::Interval)| {
        let hi = if interval.hi > 0.0 { round_up(interval.hi) } else { 0.0 };
        let nearest = interval.lo as f32;
        let lo = if f64::from(nearest) > interval.lo { nearest.next_down() } else { nearest };
        (bin.n > 0).then(|| ProbInterval::new(lo, hi)).flatten()
    };
    table.model.bins().iter().zip(&table.intervals).map(outwards).collect()
}

/// The identity of an artefact with these sections.
pub(crate) fn identity(sections: &[u8]) -> Identity {
    let hash = Sha256::digest(sections);
    Identity(*hash.first_chunk().expect("a SHA-256 has 32 bytes"))
}

fn exact_f32(edge: f64) -> Result<f32, CompileError> {
    let single = edge as f32;
    if f64::from(single) == edge { Ok(single) } else { Err(CompileError::Edge(edge)) }
}

/// The smallest `f32` not below a positive number.
fn round_up(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) < value { nearest.next_up() } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epsilon_is_never_rounded_down() {
        for value in [0.1, 0.100_263_616_852_151_99, 1.0 / 3.0, 2.0] {
            let single = f64::from(round_up(value));
            assert!(single >= value && single - value < 1e-7);
        }
    }
}
