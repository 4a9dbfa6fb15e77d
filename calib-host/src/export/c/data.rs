//! The tables as arrays.

use std::fmt::Write;

use calib_core::{Artifact, TableForm};

use super::Exported;
use super::lookup::{Kind, Lookup};

/// The types, an array for every part of every table, and the list of tables.
pub(super) fn tables(lookup: &Lookup, artifact: &Artifact<'_>, tables: &[Option<Exported<'_>>]) -> String {
    let (header, extra) = (artifact.header(), lookup.extra());
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(text, "#define CAPITALS_TABLES {}u", tables.len());
    if header.classes > 2 || tables.len() > 1 {
        let _ = writeln!(text, "#define CAPITALS_CLASSES {}u", header.classes);
    }
    if let Some(ranks) = header.reduction.top_k() {
        let _ = writeln!(text, "#define CAPITALS_RANKS {ranks}u");
    }
    text.push_str(RESULT);
    if lookup.kind == Kind::VennAbers {
        text.push_str(
            "    /* One of both is calibrated, and prob lies between them. */\n    float low, high;\n",
        );
    }
    let _ = write!(
        text,
        "}};\n\nstruct NAME_table {{\n    uint32_t edges;\n    uint32_t epsilon;\n    const {} *edge;\n    const {} \
         *value;\n",
        lookup.key, lookup.value
    );
    for (kind, part) in &extra {
        let _ = writeln!(text, "    const {kind} *{part};");
    }
    text.push_str("};\n\n");
    for (index, table) in tables.iter().enumerate() {
        let Some(table) = table else { continue };
        let (edges, values) = edges_and_values(&table.form);
        array(&mut text, lookup.key, "edge", index, &edges);
        array(&mut text, lookup.value, "value", index, &values);
        for (kind, part) in &extra {
            if let Some(numbers) = table.extra(part) {
                array(&mut text, kind, part, index, &numbers);
            }
        }
    }
    let _ = writeln!(text, "\nstatic const struct NAME_table NAME_tables[] = {{");
    for (index, table) in tables.iter().enumerate() {
        let mut fields = vec!["0".to_owned(); 4 + extra.len()];
        if let Some(table) = table {
            fields[0] = edges_and_values(&table.form).0.len().to_string();
            fields[1] = format!("{:#010x}", table.epsilon.unwrap_or(-1.0).to_bits());
            fields[2] = format!("NAME_edge_{index}");
            fields[3] = format!("NAME_value_{index}");
            for (field, (_, part)) in fields.iter_mut().skip(4).zip(&extra) {
                if table.extra(part).is_some() {
                    *field = format!("NAME_{part}_{index}");
                }
            }
        }
        let _ = writeln!(text, "    {{{}}},", fields.join(", "));
    }
    text.push_str("};\n");
    text
}

const RESULT: &str = "
/* A calibrated probability. */
struct NAME_result {
    float prob;
    /* With the artefact's failure probability, prob is within epsilon of the truth; -1: nothing is guaranteed. */
    float epsilon;
    uint32_t bin;
";

/// Floats as their bits.
fn edges_and_values(form: &TableForm<'_>) -> (Vec<u32>, Vec<u32>) {
    let values = match form {
        TableForm::Steps(table) => bits(table.values()),
        TableForm::Randomized(table) => bits(table.values()),
        TableForm::Interpolated(table) => bits(table.y().iter().copied()),
        TableForm::VennAbers(table) => bits(table.p0()),
        TableForm::Codes(table) => return (table.edges().to_vec(), bits(table.values())),
        TableForm::Compact(table) => {
            let values = table.values().map(|prob| u32::from(calib_core::CompactTable::nearest(prob.into())));
            return (table.edges().iter().map(|&edge| edge.into()).collect(), values.collect());
        }
        // What has no form in C was refused.
        _ => Vec::new(),
    };
    (bits(form.edges().iter().copied()), values)
}

impl Exported<'_> {
    /// The numbers of a part that not every form has.
    fn extra(&self, part: &str) -> Option<Vec<u32>> {
        match (part, &self.form) {
            ("tie", TableForm::Randomized(table)) => Some(table.ties().to_vec()),
            ("slope", TableForm::Interpolated(table)) => Some(bits(table.slopes().iter().copied())),
            ("upper", TableForm::VennAbers(table)) => Some(bits(table.p1())),
            ("empty", _) => {
                let has_empty = self.empty.contains(&true);
                has_empty.then(|| self.empty.iter().map(|&empty| empty.into()).collect())
            }
            ("direct", _) => Some(self.direct.iter().map(|&bin| bin.into()).collect()),
            _ => None,
        }
    }
}

fn array(text: &mut String, kind: &str, part: &str, index: usize, numbers: &[u32]) {
    let width = if kind == "uint32_t" { 10 } else { 0 };
    let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:#0width$x}")).collect();
    // C has no empty arrays.
    let list = if numbers.is_empty() { "0".to_owned() } else { numbers.join(", ") };
    let _ = writeln!(text, "static const {kind} NAME_{part}_{index}[] = {{{list}}};");
}

fn bits(numbers: impl Iterator<Item = f32>) -> Vec<u32> {
    numbers.map(f32::to_bits).collect()
}
