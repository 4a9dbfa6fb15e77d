//! The tables as Rust.

use std::fmt::Write;

use calib_core::Artifact;

use super::{Steps, title};

/// A `static` with a table, or none, per binary problem.
pub(super) fn table(artifact: &Artifact<'_>, tables: &[Option<Steps<'_>>], name: &str) -> String {
    let most = tables.iter().flatten().map(|steps| steps.table.bins()).max().unwrap_or(1);
    let room = most.next_power_of_two();
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(text, "// {}", title(artifact));
    let _ = writeln!(text, "#[rustfmt::skip]");
    let _ = writeln!(
        text,
        "static {name}: [Option<calib_core::FixedTable<{room}>>; {count}] = [",
        count = tables.len()
    );
    for steps in tables {
        match steps {
            None => text.push_str("    None,\n"),
            Some(Steps { table, .. }) => {
                let edges = floats(table.edges().iter().copied());
                let values = floats(table.values());
                let _ = writeln!(text, "    Some(calib_core::fixed_table!(&[{edges}], &[{values}])),");
            }
        }
    }
    text.push_str("];\n");
    text
}

/// By bits: nothing is rounded on the way.
fn floats(numbers: impl Iterator<Item = f32>) -> String {
    let numbers: Vec<String> =
        numbers.map(|number| format!("f32::from_bits({:#010x})", number.to_bits())).collect();
    numbers.join(", ")
}
