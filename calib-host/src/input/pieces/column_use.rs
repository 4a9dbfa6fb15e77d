//! What columns are read for.

use crate::input::table::Wanted;

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

/// The columns that are wanted of a file.
#[derive(Clone)]
pub(super) enum Columns {
    /// All, for anything.
    All,
    /// Those of these names.
    Named(Vec<(String, ColumnUse)>),
}

impl Columns {
    /// What a column is for, if it is wanted. One that is wanted for two ends is kept as it is.
    pub(super) fn use_of(&self, name: &str) -> Option<ColumnUse> {
        let Self::Named(columns) = self else { return Some(ColumnUse::Text) };
        let mut uses = columns.iter().filter(|(wanted, _)| wanted == name.trim()).map(|&(_, used)| used);
        uses.next().map(|used| if uses.all(|other| other == used) { used } else { ColumnUse::Text })
    }

    /// Calls with the names of the columns.
    pub(super) fn wanted<T>(&self, call: impl FnOnce(Wanted<'_>) -> T) -> T {
        match self {
            Self::All => call(Wanted::All),
            Self::Named(columns) => {
                let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                call(Wanted::Only(&names))
            }
        }
    }
}
