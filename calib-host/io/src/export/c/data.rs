//! The numbers of the tables, as C writes them.

use calib_core::artifact::TableForm;
use calib_core::table::CompactTable;
use calib_core::{Margin, ProbInterval};
use minijinja::{Value, context};

use super::lookup::{ArrayPart, Lookup};
use crate::export::exported::Exported;
use crate::export::function::Function;

/// Every table: its index, its numbers in decimals, its number of edges, its epsilon and its arrays by name; or none. `lowest` is the
/// least code, if scores are such.
pub(super) fn tables(
    lookup: &Lookup,
    tables: &[Option<Exported<'_>>],
    lowest: Option<i32>,
) -> Vec<Option<Value>> {
    let of_table = |(index, table): (usize, &Option<Exported<'_>>)| {
        let table = table.as_ref()?;
        let array = |part: ArrayPart| {
            table.numbers(lookup, part.name).map(|numbers| (part.name, list(&numbers, part.number)))
        };
        Some(context! {
            index,
            decimals => table.decimals(lowest).join("\n   "),
            edges => table.numbers(lookup, "edge").map(|edges| edges.len()),
            ranges => table.ranges.map(|ranges| ranges.edges().len()),
            epsilon => format!("{:#010x}", table.epsilon.unwrap_or(f32::NAN).to_bits()),
            arrays => lookup.parts().into_iter().filter_map(array).collect::<Value>(),
        })
    };
    tables.iter().enumerate().map(of_table).collect()
}

impl Exported<'_> {
    /// The numbers of a part, floats as their bits; none of a part that this table does not have.
    fn numbers(&self, lookup: &Lookup, part: &str) -> Option<Vec<u32>> {
        match (part, &self.form) {
            ("value", TableForm::Scaling(_) | TableForm::MarginScaling(_)) => {
                let function = Function::of(&self.form)?;
                let number = lookup.functions.iter().position(|other| other.kind == function.kind)?;
                let parameters = function.parameters.iter().map(|(_, value)| value.to_bits());
                Some(std::iter::once(number as u32).chain(parameters).collect())
            }
            ("edge", TableForm::Codes(table)) => Some(table.edges().to_vec()),
            ("edge", TableForm::Compact(table)) => {
                Some(table.edges().iter().map(|&edge| edge.into()).collect())
            }
            (
                "edge",
                TableForm::MarginSteps(_)
                | TableForm::MarginRandomized(_)
                | TableForm::MarginInterpolated(_)
                | TableForm::MarginVennAbers(_),
            ) => {
                let key = |&edge: &f32| Margin::new(edge).map_or(0, Margin::key);
                Some(self.form.edges().iter().map(key).collect())
            }
            ("edge", form) => Some(bits(form.edges().iter().copied())),
            ("value", form) => values(form),
            ("tie", TableForm::Randomized(table)) => Some(table.ties().to_vec()),
            ("tie", TableForm::MarginRandomized(table)) => Some(table.ties().to_vec()),
            ("slope", TableForm::MarginInterpolated(table)) => Some(bits(table.slopes().iter().copied())),
            ("upper", TableForm::MarginVennAbers(table)) => Some(bits(table.p1())),
            ("slope", TableForm::Interpolated(table)) => Some(bits(table.slopes().iter().copied())),
            ("upper", TableForm::VennAbers(table)) => Some(bits(table.p1())),
            ("empty", _) if self.empty.contains(&true) => {
                Some(self.empty.iter().map(|&empty| empty.into()).collect())
            }
            ("range", _) => Some(self.ranges?.edges().to_vec()),
            ("lo", _) => Some(self.ends(|interval| interval.lo)),
            ("hi", _) => Some(self.ends(|interval| interval.hi)),
            ("direct", _) => Some(self.direct.iter().map(|&bin| bin.into()).collect()),
            _ => None,
        }
    }
}

impl Exported<'_> {
    /// An end of every interval; NaN where there is none.
    fn ends(&self, end: fn(&ProbInterval) -> f32) -> Vec<u32> {
        bits(self.intervals.iter().map(|interval| interval.as_ref().map_or(f32::NAN, end)))
    }
}

fn values(form: &TableForm<'_>) -> Option<Vec<u32>> {
    match form {
        TableForm::Steps(table) => Some(bits(table.values())),
        TableForm::Randomized(table) => Some(bits(table.values())),
        TableForm::Interpolated(table) => Some(bits(table.y().iter().copied())),
        TableForm::VennAbers(table) => Some(bits(table.p0())),
        TableForm::MarginSteps(table) => Some(bits(table.values())),
        TableForm::MarginRandomized(table) => Some(bits(table.values())),
        TableForm::MarginInterpolated(table) => Some(bits(table.y().iter().copied())),
        TableForm::MarginVennAbers(table) => Some(bits(table.p0())),
        TableForm::Codes(table) => Some(bits(table.values())),
        TableForm::Compact(table) => {
            Some(table.values().map(|prob| CompactTable::nearest(prob.into()).into()).collect())
        }
        // Functions are above, and there is no other form.
        _ => None,
    }
}

pub(super) fn bits(numbers: impl Iterator<Item = f32>) -> Vec<u32> {
    numbers.map(f32::to_bits).collect()
}

/// The numbers of an array of this type.
pub(super) fn list(numbers: &[u32], number: &str) -> String {
    let width = if number == "uint32_t" { 10 } else { 0 };
    let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:#0width$x}")).collect();
    // C has no empty arrays.
    if numbers.is_empty() { "0".to_owned() } else { numbers.join(", ") }
}
