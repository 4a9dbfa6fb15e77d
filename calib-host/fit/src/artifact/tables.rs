//! From a fit to the bytes that a device reads.

use calib_core::artifact::{Header, HeaderFlags, Provenance, Table, TableForm, WriteError};
use calib_core::table::{
    CodeTable, CompactTable, InterpolatedMarginTable, InterpolatedTable, MarginFunction, MarginScaling,
    MarginTable, MarginVennAbersTable, RandomizedMarginTable, RandomizedTable, Scaling, ScalingFunction,
    VennAbersTable,
};
use calib_core::{BinFlags, Margin, ProbInterval, StepTable};

use super::band::DeviceBand;
use super::compact::edge_key;
use super::error::CompileError;
use super::options::ArtifactOptions;
use super::rules::check_names;
use super::sample::{SampleFacts, write_rows};
use super::score_intervals::{self, of_tables};
use super::score_range::device_range;
use super::write::written;
use crate::binary::{Model, ScalingModel};
use crate::fit::{Fit, FittedTable};
use crate::stats::{CLIP, ScoreKind, f32_ceil};

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

/// Compiles a fit into an artifact of format 1.
///
/// Values are rounded to the nearest `f32`, epsilons upwards, by as much as a value of the table moved, too, and intervals
/// outwards; edges are `f32` already. The same fit and options give the same bytes.
///
/// ```
/// use calib_core::Artifact;
/// use calib_fit::{ArtifactOptions, BinaryData, BinaryMethod, Isotonic, artifact_bytes, fit_binary};
///
/// let data = BinaryData::new(vec![0.25, 0.5, 0.5, 0.75], vec![false, true, false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let bytes = artifact_bytes(&fit, &ArtifactOptions::default().counter(7))?;
/// assert_eq!(Artifact::parse(&bytes).unwrap().counter(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If a number has no `f32`, or the artifact would be larger than the format allows.
pub fn artifact_bytes(fit: &Fit, options: &ArtifactOptions) -> Result<Vec<u8>, CompileError> {
    let names: Vec<&str> = fit.groups.iter().map(String::as_str).collect();
    check_names(&names).map_err(CompileError::Groups)?;
    let numbers: Vec<Option<Numbers>> = fit
        .tables
        .iter()
        .map(|table| {
            table.as_ref().map(|table| Numbers::of(&table.model, fit.scores, fit.compact)).transpose()
        })
        .collect::<Result<_, _>>()?;
    let tables = tables(fit, &numbers)?;
    let encoding = fit.encoding();
    if options.direct_table && !encoding.is_byte() {
        return Err(CompileError::NoDirectTable(encoding));
    }
    let parameters = options.parameters(&fit.parameters);
    let header = header(fit, &tables, options.provenance(&parameters))?;
    let empty: Vec<BinFlags> = fit.tables.iter().flatten().flat_map(bin_flags).collect();
    let intervals: Vec<Option<Vec<Option<ProbInterval>>>> =
        fit.tables.iter().map(|table| table.as_ref().map(intervals)).collect();
    let of_keys = if fit.is_by_top2_margin() { encoding.of_top2_margins() } else { encoding };
    let range = |table: &FittedTable| {
        table.score_summary.map(|score_summary| device_range(&score_summary, fit.scores, of_keys))
    };
    let ranges: Vec<_> = fit.tables.iter().map(|table| table.as_ref().and_then(range)).collect();
    let has_ranges = fit.tables.iter().flatten().all(|table| table.score_summary.is_some());
    // A probability of 0 or 1 that nothing contradicted is no answer without its bound.
    let wants_intervals = options.intervals || fit.one_label().is_some();
    let has_intervals = wants_intervals && intervals.iter().flatten().flatten().any(Option::is_some);
    let monitored = options.monitors.as_ref().map(|monitors| monitors.of_tables(fit)).transpose()?;
    let beside = options.score_intervals.as_ref().filter(|_| !has_intervals);
    let beside = beside.map(|found| Ok::<_, CompileError>((found, of_tables(found, fit)?))).transpose()?;
    let band = options.band.as_ref().map(|band| DeviceBand::of(band, fit)).transpose()?;
    Ok(written(|writer| {
        writer.header(&header)?;
        writer.tables(&tables)?;
        if empty.contains(&BinFlags::EMPTY) {
            writer.bin_flags(&empty)?;
        }
        if has_intervals {
            writer.intervals(&intervals.iter().map(Option::as_deref).collect::<Vec<_>>())?;
        }
        if has_ranges {
            writer.score_ranges(&ranges)?;
        }
        if let Some((found, tables)) = &beside {
            score_intervals::write(found, tables, writer)?;
        }
        if let Some(band) = &band {
            band.write(writer)?;
        }
        if options.direct_table {
            writer.direct_table(&tables)?;
        }
        if !fit.groups.is_empty() {
            writer.groups(&names)?;
        }
        if let Some((monitors, tables)) = options.monitors.as_ref().zip(monitored.as_ref()) {
            monitors.write(tables, writer)?;
        }
        if let Some(rows) = &options.rows {
            let found = beside.as_ref().map(|(found, _)| *found);
            write_rows(SampleFacts::of(fit, rows.hash, found), rows, writer)?;
        }
        options.write_about(writer)
    })?)
}

/// The tables as the device reads them.
fn tables<'n>(fit: &Fit, numbers: &'n [Option<Numbers>]) -> Result<Vec<Option<Table<'n>>>, CompileError> {
    let table = |(numbers, fitted): (&'n Option<Numbers>, &Option<FittedTable>)| {
        let (Some(numbers), Some(fitted)) = (numbers, fitted) else { return Ok(None) };
        let form = numbers.form(&fitted.model, fit.scores, fit.compact)?;
        let epsilon = fitted.epsilon.map(|epsilon| f32_ceil(epsilon + rounding(&fitted.model)));
        Ok(Some(Table { form, epsilon }))
    };
    numbers.iter().zip(&fit.tables).map(table).collect()
}

fn header<'f>(
    fit: &Fit,
    tables: &[Option<Table<'_>>],
    provenance: Provenance<'f>,
) -> Result<Header<'f>, WriteError> {
    let flags = [
        (fit.tied_tables().next().is_some(), HeaderFlags::TIES_MERGED),
        (fit.weighted, HeaderFlags::WEIGHTED),
        (!fit.unfitted.is_empty(), HeaderFlags::CLASS_UNCALIBRATED),
        (fit.compact, HeaderFlags::COMPACT),
        (fit.is_by_top2_margin(), HeaderFlags::TOP2_MARGIN),
        (!fit.groups.is_empty(), HeaderFlags::GROUPED),
        (fit.is_tabulated(), HeaderFlags::STEPS),
    ];
    let set = flags.into_iter().filter(|(is_set, _)| *is_set);
    let bins: usize = tables.iter().flatten().map(|table| table.form.bins()).sum();
    let epsilon = tables.iter().flatten().filter_map(|table| table.epsilon).reduce(f32::max);
    Ok(Header {
        method: fit.method,
        reduction: fit.reduction,
        encoding: fit.encoding(),
        classes: u16::try_from(fit.classes).map_err(|_| WriteError::TooLarge)?,
        bins: u32::try_from(bins).map_err(|_| WriteError::TooLarge)?,
        n: fit.n,
        guarantee: fit.guarantee.zip(epsilon).map(|(g, epsilon)| calib_core::artifact::Guarantee {
            theorem: g.theorem,
            alpha: g.alpha as f32,
            epsilon,
        }),
        flags: set.fold(HeaderFlags::NONE, |flags, (_, flag)| flags.with(flag)),
        provenance,
    })
}

impl Numbers {
    fn of(model: &Model, kind: ScoreKind, compact: bool) -> Result<Self, CompileError> {
        let exact = |edges: &[f64]| edges.iter().map(|&edge| exact_f32(edge)).collect::<Result<Vec<_>, _>>();
        let nearest = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<_>>();
        let values = || model.bins().iter().map(|bin| bin.value as f32).collect::<Vec<_>>();
        let none = Self::default();
        Ok(match model {
            Model::Steps(steps) if compact => {
                let edges = steps.edges.iter().map(|&e| edge_key(kind, e).ok_or(CompileError::TooFine(e)));
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
            Model::Tabulated(steps) => {
                Self { edges: exact(&steps.edges)?, values: nearest(&steps.values), ..none }
            }
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
    fn form(&self, model: &Model, kind: ScoreKind, compact: bool) -> Result<TableForm<'_>, CompileError> {
        let Self { edges, words, values, more, halves } = self;
        let form = match model {
            _ if compact => {
                let encoding = model.code_encoding().unwrap_or(kind.encoding(true));
                CompactTable::new(&halves.0, &halves.1, encoding).map(TableForm::Compact).ok()
            }
            Model::Codes(codes) => CodeTable::new(words, values, codes.encoding).map(TableForm::Codes).ok(),
            _ if kind == ScoreKind::Margin => self.form_of_margins(model),
            Model::Steps(_) | Model::Tabulated(_) => StepTable::new(edges, values).map(TableForm::Steps).ok(),
            Model::Randomized(_) => {
                RandomizedTable::new(edges, words, values).map(TableForm::Randomized).ok()
            }
            Model::Interpolated(_) => {
                InterpolatedTable::new(edges, values, more).map(TableForm::Interpolated).ok()
            }
            Model::VennAbers(_) => VennAbersTable::new(edges, values, more).map(TableForm::VennAbers).ok(),
            Model::Scaling(scaling) => {
                parameters(scaling).and_then(|p| ScalingFunction::new(p).map(TableForm::Scaling).ok())
            }
        };
        form.ok_or(CompileError::Parameter)
    }

    fn form_of_margins(&self, model: &Model) -> Option<TableForm<'_>> {
        let Self { edges, words, values, more, .. } = self;
        match model {
            Model::Steps(_) | Model::Tabulated(_) => {
                MarginTable::new(edges, values).map(TableForm::MarginSteps).ok()
            }
            Model::Randomized(_) => {
                RandomizedMarginTable::new(edges, words, values).map(TableForm::MarginRandomized).ok()
            }
            Model::Interpolated(_) => {
                InterpolatedMarginTable::new(edges, values, more).map(TableForm::MarginInterpolated).ok()
            }
            Model::VennAbers(_) => {
                MarginVennAbersTable::new(edges, values, more).map(TableForm::MarginVennAbers).ok()
            }
            Model::Scaling(scaling) => margin_parameters(scaling)
                .and_then(|p| MarginFunction::new(p).map(TableForm::MarginScaling).ok()),
            Model::Codes(_) => None,
        }
    }
}

/// The probabilities that the device computes for scores of this kind with a function that takes no codes and no random word.
pub(crate) fn prob_on_device(
    model: &Model,
    kind: ScoreKind,
    scores: &[f32],
) -> Result<Vec<f32>, CompileError> {
    let numbers = Numbers::of(model, kind, false)?;
    let form = numbers.form(model, kind, false)?;
    scores.iter().map(|&score| prob_of(&form, score).ok_or(CompileError::Parameter)).collect()
}

/// The probability that a form gives a score; `None` if it takes codes or a random word, or the score is none.
pub(super) fn prob_of(form: &TableForm<'_>, score: f32) -> Option<f32> {
    Some(match form {
        TableForm::Steps(table) => table.lookup(checked(score)?).1,
        TableForm::MarginSteps(table) => table.lookup(checked::<Margin>(score)?).1,
        TableForm::VennAbers(table) => table.lookup(checked(score)?).1,
        TableForm::MarginVennAbers(table) => table.lookup(checked::<Margin>(score)?).1,
        TableForm::Interpolated(table) => table.lookup(checked(score)?).1,
        TableForm::MarginInterpolated(table) => table.lookup(checked::<Margin>(score)?).1,
        TableForm::Scaling(function) => function.prob(checked(score)?),
        TableForm::MarginScaling(function) => function.prob(checked(score)?),
        _ => return None,
    })
}

fn checked<S: TryFrom<f32>>(score: f32) -> Option<S> {
    score.try_into().ok()
}

/// The parameters of a scaling function of a margin in `f32`; `None` if it is of a probability.
fn margin_parameters(model: &ScalingModel) -> Option<MarginScaling> {
    match *model {
        ScalingModel::PlattMargin { a, b } => Some(MarginScaling::Platt { a: a as f32, b: b as f32 }),
        ScalingModel::TemperatureMargin { inverse_t } => {
            Some(MarginScaling::Temperature { inverse_t: inverse_t as f32 })
        }
        ScalingModel::QuadraticMargin { a, b, c, scale, shift } => {
            let [a, b, c, scale, shift] = [a, b, c, scale, shift].map(|parameter| parameter as f32);
            Some(MarginScaling::Quadratic { a, b, c, scale, shift })
        }
        _ => None,
    }
}

/// The parameters of a scaling function of a probability in `f32`; `None` if it is of a margin.
fn parameters(model: &ScalingModel) -> Option<Scaling> {
    let clip = CLIP as f32;
    Some(match *model {
        ScalingModel::PlattLogit { a, b } => Scaling::PlattLogit { a: a as f32, b: b as f32, clip },
        ScalingModel::PlattProb { a, b } => Scaling::PlattProb { a: a as f32, b: b as f32 },
        ScalingModel::Beta { a, b, c } => Scaling::Beta { a: a as f32, b: b as f32, c: c as f32, clip },
        ScalingModel::Temperature { inverse_t } => Scaling::Temperature { inverse_t: inverse_t as f32, clip },
        ScalingModel::Quadratic { a, b, c } => {
            Scaling::Quadratic { a: a as f32, b: b as f32, c: c as f32, clip }
        }
        ScalingModel::Unchanged => Scaling::Unchanged,
        ScalingModel::PlattMargin { .. }
        | ScalingModel::TemperatureMargin { .. }
        | ScalingModel::QuadraticMargin { .. } => return None,
    })
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
    let of_bin = |(bin, interval): (&crate::binary::Bin, &crate::stats::Interval)| {
        (bin.n > 0).then(|| interval.outwards())
    };
    table.model.bins().iter().zip(&table.intervals).map(of_bin).collect()
}

fn exact_f32(edge: f64) -> Result<f32, CompileError> {
    let single = edge as f32;
    if f64::from(single) == edge { Ok(single) } else { Err(CompileError::Edge(edge)) }
}

/// Returns the most by which a value moves when it becomes an `f32`: at most 2^-25, and nothing in a table of 16-bit numbers. A
/// bin without points has no epsilon.
fn rounding(model: &Model) -> f64 {
    let moved = |bin: &crate::binary::Bin| (f64::from(bin.value as f32) - bin.value).abs();
    model.bins().iter().filter(|bin| bin.n > 0).map(moved).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::Reduction;
    use calib_core::{Calibrator, Score, VectorCalibrator};
    use proptest::prelude::*;

    use super::*;
    use crate::artifact::stored::StoredArtifact;
    use crate::binary::{BinaryMethod, Umd};
    use crate::data::{BinaryData, VectorKind, Vectors};
    use crate::fit::fit_binary;
    use crate::reduction::{Problems, ReductionOptions, fit_reduction};

    fn compiled(fit: &Fit) -> StoredArtifact {
        let options = ArtifactOptions { intervals: true, ..ArtifactOptions::default() };
        StoredArtifact::from_bytes(&artifact_bytes(fit, &options).unwrap()).unwrap()
    }

    /// 2/3 as an f32 is 2e-8 too high: the table's epsilon covers what that costs.
    #[test]
    fn epsilon_covers_the_rounding_of_values() {
        let scores = (0..300).map(|i| f64::from(i) / 512.0).collect();
        let data = BinaryData::new(scores, (0..300).map(|i| i % 3 < 2).collect()).unwrap();
        let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(3)), 0.1).unwrap();
        let table = fit.tables[0].as_ref().unwrap();
        let stored = compiled(&fit);
        let written = stored.artifact().tables().get(0).unwrap();
        let epsilon = f64::from(written.epsilon.unwrap());
        assert_eq!(stored.artifact().header().guarantee.unwrap().epsilon, written.epsilon.unwrap());
        let TableForm::Steps(steps) = written.form else { panic!("no steps") };
        for (bin, value) in table.model.bins().iter().zip(steps.values()) {
            let moved = (f64::from(value) - bin.value).abs();
            assert!(moved > 0.0 && epsilon >= table.epsilon.unwrap() + moved, "{}", bin.value);
        }
        assert!(rounding(&table.model) < 2f64.powi(-25));
    }

    /// 40 rows of score 0 and 40 above: both edges of three bins lie at or above 0, and the first at 0.
    #[test]
    fn an_edge_at_0_is_compiled() {
        let score = |i: u32| if i < 40 { 0.0 } else { f64::from(i - 29) / 100.0 };
        for zero in [0.0, -0.0] {
            let scores = (0..80).map(|i| if i < 40 { zero } else { score(i) }).collect();
            let data = BinaryData::new(scores, (0..80).map(|i| i % 2 == 0).collect()).unwrap();
            let fit =
                fit_binary(&data.on_device(), &BinaryMethod::UmdRandomized(Umd::new(3), 0), 0.1).unwrap();
            let stored = compiled(&fit);
            let TableForm::Randomized(table) = stored.artifact().tables().get(0).unwrap().form else {
                panic!("not randomized")
            };
            assert_eq!(table.edges()[0].to_bits(), 0);
            assert!(stored.artifact().header().guarantee.is_some());
        }
    }

    /// Rows that are mostly exactly 0 or 1, as saturated softmaxes, trees and neighbors give them.
    fn with_atoms() -> impl Strategy<Value = Vec<(f64, bool)>> {
        let score = prop_oneof![4 => Just(0.0), 3 => Just(1.0), 1 => Just(-0.0), 3 => (0u32..8).prop_map(|k| f64::from(k) / 8.0)];
        proptest::collection::vec((score, any::<bool>()), 30..120)
            .prop_filter("one class only", |rows| rows.iter().any(|r| r.1) && rows.iter().any(|r| !r.1))
    }

    proptest! {
        /// Whatever the scores, randomized bins have a table, a guarantee, and the bin of a score and a word that was fitted.
        #[test]
        fn randomized_bins_take_any_scores(
            rows in with_atoms(), bins in 1usize..12, seed in any::<u64>(), words in proptest::collection::vec(any::<u32>(), 8),
        ) {
            let (scores, labels): (Vec<f64>, Vec<bool>) = rows.into_iter().unzip();
            let method = BinaryMethod::UmdRandomized(Umd::new(bins), seed);
            for data in [BinaryData::new(scores.clone(), labels.clone()).unwrap(), BinaryData::new(scores.clone(), labels.clone()).unwrap().on_device()] {
                let fit = fit_binary(&data, &method, 0.1).unwrap();
                let Model::Randomized(model) = &fit.tables[0].as_ref().unwrap().model else { panic!("not randomized") };
                let stored = compiled(&fit);
                prop_assert!(stored.artifact().header().guarantee.is_some());
                let Calibrator::Binary(calibrator) = stored.artifact().calibrator() else { panic!("not binary") };
                let ties = model.words.iter().flat_map(|&word| [word, word.wrapping_sub(1)]);
                for word in ties.chain(words.iter().copied()).chain([0, u32::MAX]) {
                    for &score in scores.iter().take(20).chain(&[0.0, 1.0]) {
                        let outcome = calibrator.calibrate_with(Score::try_from(score).unwrap(), word);
                        let got = outcome.calibrated().unwrap();
                        let bin = model.bin(score, word);
                        prop_assert_eq!(usize::from(got.bin), bin);
                        prop_assert_eq!(got.prob, model.bins[bin].value as f32);
                        prop_assert!(got.epsilon.is_some() && got.interval.is_some());
                    }
                }
            }
        }

        /// The same for every class of vectors with classes of probability 0 and 1.
        #[test]
        fn randomized_classes_take_any_probabilities(
            rows in proptest::collection::vec((0usize..3, 0u8..5, 0i64..3), 60..150), seed in any::<u64>(), bins in 1usize..6,
        ) {
            let row = |&(class, kind, _): &(usize, u8, i64)| {
                let mut row = match kind { 0..3 => [0.0; 3], 3 => [0.25; 3], _ => [0.125; 3] };
                row[class] = 1.0 - 2.0 * row[(class + 1) % 3];
                row
            };
            let labels: Vec<i64> = rows.iter().map(|row| row.2).collect();
            prop_assume!((0..3).all(|class| labels.contains(&class)));
            let vectors = Vectors::new(rows.iter().flat_map(row).collect(), 3, VectorKind::Probs).unwrap();
            for reduction in [Reduction::ClassWise, Reduction::Normalized] {
                let problems = Problems::new(&vectors, &labels, reduction).unwrap();
                let method = BinaryMethod::UmdRandomized(Umd::new(bins), seed);
                let fit = fit_reduction(&problems, &ReductionOptions { method, rows_per_bin: None }, 0.1).unwrap();
                let stored = compiled(&fit);
                let Calibrator::Vector(calibrator) = stored.artifact().calibrator() else { panic!("not of vectors") };
                let is_normalized = matches!(calibrator, VectorCalibrator::Normalized(_));
                prop_assert_eq!(is_normalized, reduction == Reduction::Normalized);
                prop_assert_eq!(stored.artifact().header().guarantee.is_some(), !is_normalized);
                let mut space = [0.0; 3];
                for vector in vectors.vectors() {
                    let probs = calibrator.calibrate(vector, Some(seed as u32), &mut space).unwrap();
                    let sum: f32 = probs.iter().flatten().sum();
                    prop_assert!(!is_normalized || sum == 0.0 || (sum - 1.0).abs() < 1e-5, "{}", sum);
                }
            }
        }
    }

    #[test]
    fn epsilon_is_never_rounded_down() {
        for value in [0.1, 0.100_263_616_852_151_99, 1.0 / 3.0, 2.0] {
            let single = f64::from(f32_ceil(value));
            assert!(single >= value && single - value < 1e-7);
        }
    }
}
