//! The numbers of a table at another prevalence.

use calib_core::artifact::{Method, Table, TableForm, Theorem, WriteError};
use calib_core::table::{
    CodeTable, CompactTable, MarginFunction, MarginScaling, MarginTable, MarginVennAbersTable,
    RandomizedMarginTable, RandomizedTable, Scaling, ScalingFunction, VennAbersTable,
};
use calib_core::{Artifact, BinFlags, ProbInterval, StepTable};

use super::error::AdjustError;
use super::shift::Shift;
use crate::stats::{CLIP, Interval, f32_ceil};

/// The numbers of a table at another prevalence, to be borrowed by its form.
pub(super) struct Adjusted<'a> {
    /// The table before.
    form: TableForm<'a>,
    /// Values of bins; for Venn-Abers those with label 0.
    values: Vec<f32>,
    /// For Venn-Abers values with label 1.
    more: Vec<f32>,
    /// Values in 16 bits.
    halves: Vec<u16>,
    edges: Edges<'a>,
    function: Option<Function>,
    /// The largest deviation of a value from the truth; `None` if nothing is guaranteed.
    pub(super) epsilon: Option<f32>,
    /// What is guaranteed of each bin; empty if nothing is.
    pub(super) intervals: Vec<Option<ProbInterval>>,
}

enum Edges<'a> {
    None,
    Floats(&'a [f32]),
    Keys(&'a [u32]),
    Halves(&'a [u16]),
    Divided(&'a [f32], &'a [u32]),
}

enum Function {
    OfScores(Scaling),
    OfMargins(MarginScaling),
}

impl<'a> Adjusted<'a> {
    /// Changes the only table of an artifact. With `keeps_guarantee` its epsilon and its intervals are changed, too, and otherwise
    /// dropped.
    pub(super) fn of(
        artifact: &Artifact<'a>,
        shift: &Shift,
        keeps_guarantee: bool,
    ) -> Result<Self, AdjustError> {
        let tables = artifact.tables();
        let table = tables.get(0).ok_or(AdjustError::Reduction(artifact.header().reduction))?;
        let mut adjusted = Self::plain(table.form, shift)?;
        if let Some(epsilon) = table.epsilon.filter(|_| keeps_guarantee) {
            adjusted.guarantee(artifact, epsilon, shift);
        }
        Ok(adjusted)
    }

    /// Changes values and parameters.
    fn plain(form: TableForm<'a>, shift: &Shift) -> Result<Self, AdjustError> {
        let plain = |edges, values: Vec<f32>| Self {
            form,
            values: values.into_iter().map(|value| shift.prob(value.into()) as f32).collect(),
            more: Vec::new(),
            halves: Vec::new(),
            edges,
            function: None,
            epsilon: None,
            intervals: Vec::new(),
        };
        Ok(match form {
            TableForm::Steps(table) => plain(Edges::Floats(table.edges()), table.values().collect()),
            TableForm::MarginSteps(table) => plain(Edges::Floats(table.edges()), table.values().collect()),
            TableForm::Codes(table) => plain(Edges::Keys(table.edges()), table.values().collect()),
            TableForm::Randomized(table) => {
                plain(Edges::Divided(table.edges(), table.ties()), table.values().collect())
            }
            TableForm::MarginRandomized(table) => {
                plain(Edges::Divided(table.edges(), table.ties()), table.values().collect())
            }
            TableForm::VennAbers(table) => {
                let more = plain(Edges::None, table.p1().collect()).values;
                Self { more, ..plain(Edges::Floats(table.edges()), table.p0().collect()) }
            }
            TableForm::MarginVennAbers(table) => {
                let more = plain(Edges::None, table.p1().collect()).values;
                Self { more, ..plain(Edges::Floats(table.edges()), table.p0().collect()) }
            }
            TableForm::Compact(table) => {
                let nearest = |value: f32| CompactTable::nearest(shift.prob(value.into()));
                let halves: Vec<u16> = table.values().map(nearest).collect();
                let values = halves.iter().map(|&raw| CompactTable::prob(raw)).collect();
                Self { halves, values, ..plain(Edges::Halves(table.edges()), Vec::new()) }
            }
            TableForm::Scaling(function) => {
                let function = Function::OfScores(moved(function.parameters(), shift.ln_ratio())?);
                Self { function: Some(function), ..plain(Edges::None, Vec::new()) }
            }
            TableForm::MarginScaling(function) => {
                let function = Function::OfMargins(moved_margin(function.parameters(), shift.ln_ratio())?);
                Self { function: Some(function), ..plain(Edges::None, Vec::new()) }
            }
            _ => return Err(AdjustError::Interpolated),
        })
    }

    /// Changes what is guaranteed. The interval of a bin is the artifact's, or else the value and epsilon on both sides. Epsilon becomes the
    /// farthest end of these intervals, unless the guarantee is one by Hoeffding's inequality beside intervals: then it is the farthest end
    /// that epsilon itself gives.
    fn guarantee(&mut self, artifact: &Artifact<'_>, epsilon: f32, shift: &Shift) {
        let tables = artifact.tables();
        let before = self.form;
        let is_exact = artifact.header().guarantee.is_some_and(|it| it.theorem == Theorem::ClopperPearson);
        let mut farthest = 0.0f32;
        for (bin, &value) in self.values.iter().enumerate() {
            let is_empty = tables.bin_flags(0, bin as u16).contains(BinFlags::EMPTY);
            let Some(old) = before.step(bin).filter(|_| !is_empty) else {
                self.intervals.push(None);
                continue;
            };
            let (middle, half) = (f64::from(old), f64::from(epsilon));
            let around =
                shift.interval(Interval { lo: middle - half, hi: middle + half }).outwards_around(value);
            let own = tables.interval(0, bin as u16).filter(|_| tables.score_bins(0).is_none());
            let exact = own.map(|interval| {
                shift
                    .interval(Interval { lo: interval.lo.into(), hi: interval.hi.into() })
                    .outwards_around(value)
            });
            let reach = |end: f32| f32_ceil((f64::from(end) - f64::from(value)).abs());
            let interval = exact.unwrap_or(around);
            let stated = if is_exact { interval } else { around };
            farthest = farthest.max(reach(stated.lo)).max(reach(stated.hi));
            self.intervals.push(Some(interval));
        }
        self.epsilon = (farthest > 0.0).then_some(farthest);
    }

    /// Returns the table as the device reads it.
    pub(super) fn table(&self, artifact: &Artifact<'_>) -> Option<Table<'_>> {
        let Self { values, more, halves, .. } = self;
        let encoding = artifact.header().encoding;
        let form = match (&self.form, &self.edges) {
            (TableForm::Steps(_), Edges::Floats(edges)) => {
                TableForm::Steps(StepTable::new(edges, values).ok()?)
            }
            (TableForm::MarginSteps(_), Edges::Floats(edges)) => {
                TableForm::MarginSteps(MarginTable::new(edges, values).ok()?)
            }
            (TableForm::Codes(_), Edges::Keys(edges)) => {
                TableForm::Codes(CodeTable::new(edges, values, encoding).ok()?)
            }
            (TableForm::Compact(_), Edges::Halves(edges)) => {
                TableForm::Compact(CompactTable::new(edges, halves, encoding).ok()?)
            }
            (TableForm::Randomized(_), Edges::Divided(edges, ties)) => {
                TableForm::Randomized(RandomizedTable::new(edges, ties, values).ok()?)
            }
            (TableForm::MarginRandomized(_), Edges::Divided(edges, ties)) => {
                TableForm::MarginRandomized(RandomizedMarginTable::new(edges, ties, values).ok()?)
            }
            (TableForm::VennAbers(_), Edges::Floats(edges)) => {
                TableForm::VennAbers(VennAbersTable::new(edges, values, more).ok()?)
            }
            (TableForm::MarginVennAbers(_), Edges::Floats(edges)) => {
                TableForm::MarginVennAbers(MarginVennAbersTable::new(edges, values, more).ok()?)
            }
            _ => match self.function.as_ref()? {
                Function::OfScores(scaling) => TableForm::Scaling(ScalingFunction::new(*scaling).ok()?),
                Function::OfMargins(scaling) => TableForm::MarginScaling(MarginFunction::new(*scaling).ok()?),
            },
        };
        Some(Table { form, epsilon: self.epsilon })
    }
}

/// Returns the method that has the parameters of a method after a change: temperature scaling has no intercept, and becomes Platt's.
pub(super) fn method_after(before: Method) -> Method {
    match before {
        Method::Temperature | Method::Unchanged => Method::Platt,
        other => other,
    }
}

/// A function whose logit is higher by so much.
fn moved(scaling: Scaling, by: f64) -> Result<Scaling, AdjustError> {
    let add = |to: f32| (f64::from(to) + by) as f32;
    Ok(match scaling {
        Scaling::PlattLogit { a, b, clip } => Scaling::PlattLogit { a, b: add(b), clip },
        Scaling::PlattProb { a, b } => Scaling::PlattProb { a, b: add(b) },
        Scaling::Beta { a, b, c, clip } => Scaling::Beta { a, b, c: add(c), clip },
        Scaling::Temperature { inverse_t, clip } => Scaling::PlattLogit { a: inverse_t, b: add(0.0), clip },
        Scaling::Quadratic { a, b, c, clip } => Scaling::Quadratic { a, b, c: add(c), clip },
        Scaling::Unchanged => Scaling::PlattLogit { a: 1.0, b: add(0.0), clip: CLIP as f32 },
        _ => return Err(WriteError::Form.into()),
    })
}

fn moved_margin(scaling: MarginScaling, by: f64) -> Result<MarginScaling, AdjustError> {
    Ok(match scaling {
        MarginScaling::Platt { a, b } => MarginScaling::Platt { a, b: (f64::from(b) + by) as f32 },
        MarginScaling::Temperature { inverse_t } => MarginScaling::Platt { a: inverse_t, b: by as f32 },
        MarginScaling::Quadratic { a, b, c, scale, shift } => {
            MarginScaling::Quadratic { a, b, c: (f64::from(c) + by) as f32, scale, shift }
        }
        _ => return Err(WriteError::Form.into()),
    })
}
