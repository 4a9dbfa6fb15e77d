//! What columns are read for.

/// What a column is read for: text becomes numbers where it is read, on all processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnUse {
    /// For [`Table::numbers`](crate::input::Table::numbers) and [`device_scores`](crate::input::Table::device_scores).
    Numbers,
    /// For [`Table::labels`](crate::input::Table::labels) and [`binary_labels`](crate::input::Table::binary_labels).
    Labels,
    /// For anything, its text among it.
    Text,
}
