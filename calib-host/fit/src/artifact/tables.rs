//! From a fit to the bytes that a device reads.

use calib_core::artifact::{Header, HeaderFlags, Table, TableForm, WriteError};
use calib_core::table::{
    CodeTable, CompactTable, InterpolatedTable, RandomizedTable, Scaling, ScalingFunction, VennAbersTable,
};
use calib_core::{BinFlags, ProbInterval, Score, ScoreEncoding, StepTable};

use super::compact::edge_key;
use super::error::CompileError;
use super::options::ArtifactOptions;
use super::write::written;
use crate::binary::{Model, ScalingModel, in_compact_table};
use crate::fit::{Fit, FittedTable};
use crate::stats::CLIP;

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
/// ```
/// use calib_core::Artifact;
/// use calib_fit::{ArtifactOptions, BinaryData, BinaryMethod, Isotonic, artifact_bytes, fit_binary};
///
/// let data = BinaryData::new(vec![0.25, 0.5, 0.5, 0.75], vec![false, true, false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let bytes = artifact_bytes(&fit, &ArtifactOptions { counter: 7, ..Default::default() })?;
/// assert_eq!(Artifact::parse(&bytes).unwrap().counter(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    let tables = tables(fit, &numbers)?;
    let encoding = fit.encoding();
    if options.direct_table && !matches!(encoding, ScoreEncoding::U8 { .. } | ScoreEncoding::I8 { .. }) {
        return Err(CompileError::NoDirectTable(encoding));
    }
    let header = header(fit, &tables, options)?;
    let empty: Vec<BinFlags> = fit.tables.iter().flatten().flat_map(bin_flags).collect();
    let intervals: Vec<Option<Vec<Option<ProbInterval>>>> =
        fit.tables.iter().map(|table| table.as_ref().map(intervals)).collect();
    // A probability of 0 or 1 that nothing contradicted is no answer without its bound.
    let wants_intervals = options.intervals || fit.one_label().is_some();
    let has_intervals = wants_intervals && intervals.iter().flatten().flatten().any(Option::is_some);
    Ok(written(|writer| {
        writer.header(&header)?;
        writer.tables(&tables)?;
        if empty.contains(&BinFlags::EMPTY) {
            writer.bin_flags(&empty)?;
        }
        if has_intervals {
            writer.intervals(&intervals.iter().map(Option::as_deref).collect::<Vec<_>>())?;
        }
        if options.direct_table {
            writer.direct_table(&tables)?;
        }
        if options.counter > 0 {
            writer.counter(options.counter)?;
        }
        Ok(())
    })?)
}

/// The tables as the device reads them.
fn tables<'n>(fit: &Fit, numbers: &'n [Option<Numbers>]) -> Result<Vec<Option<Table<'n>>>, CompileError> {
    let table = |(numbers, fitted): (&'n Option<Numbers>, &Option<FittedTable>)| {
        let (Some(numbers), Some(fitted)) = (numbers, fitted) else { return Ok(None) };
        let form = numbers.form(&fitted.model, fit.compact)?;
        Ok(Some(Table { form, epsilon: fitted.epsilon.map(round_up) }))
    };
    numbers.iter().zip(&fit.tables).map(table).collect()
}

fn header<'f>(
    fit: &'f Fit,
    tables: &[Option<Table<'_>>],
    options: &ArtifactOptions,
) -> Result<Header<'f>, WriteError> {
    let flags = [
        (fit.tied_tables().next().is_some(), HeaderFlags::TIES_MERGED),
        (fit.weighted, HeaderFlags::WEIGHTED),
        (!fit.unfitted.is_empty(), HeaderFlags::CLASS_UNCALIBRATED),
        (fit.compact, HeaderFlags::COMPACT),
    ];
    let set = flags.into_iter().filter(|(is_set, _)| *is_set);
    let bins: usize = tables.iter().flatten().map(|table| table.form.bins()).sum();
    Ok(Header {
        method: fit.method,
        reduction: fit.reduction,
        encoding: fit.encoding(),
        classes: u16::try_from(fit.classes).map_err(|_| WriteError::TooLarge)?,
        bins: u32::try_from(bins).map_err(|_| WriteError::TooLarge)?,
        n: fit.n,
        guarantee: fit.guarantee.map(|g| calib_core::artifact::Guarantee {
            theorem: g.theorem,
            alpha: g.alpha as f32,
            epsilon: round_up(g.epsilon),
        }),
        flags: set.fold(HeaderFlags::NONE, |flags, (_, flag)| flags.with(flag)),
        provenance: options.provenance(&fit.parameters),
    })
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
    let outwards = |(bin, interval): (&crate::binary::Bin, &crate::stats::Interval)| {
        let hi = if interval.hi > 0.0 { round_up(interval.hi) } else { 0.0 };
        let nearest = interval.lo as f32;
        let lo = if f64::from(nearest) > interval.lo { nearest.next_down() } else { nearest };
        (bin.n > 0).then(|| ProbInterval::new(lo, hi)).flatten()
    };
    table.model.bins().iter().zip(&table.intervals).map(outwards).collect()
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
