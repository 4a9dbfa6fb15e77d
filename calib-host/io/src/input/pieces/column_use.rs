//! What columns are read for.

use crate::input::table::Wanted;
use crate::input::unusual::options::TableOptions;
use crate::input::unusual::usual;

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
    /// Those of these names, and what may be one of these.
    Like(Vec<(String, ColumnUse)>),
}

impl Columns {
    /// These columns of a table that is read so. Labels of which one is named are kept as they are.
    pub(super) fn of(columns: &[(&str, ColumnUse)], options: &TableOptions) -> Self {
        let used = |used| match (used, &options.positive_label) {
            (ColumnUse::Labels, Some(_)) => ColumnUse::Text,
            (used, _) => used,
        };
        let columns = columns.iter().map(|&(name, of)| (name.to_owned(), used(of))).collect();
        if options.guess { Self::Like(columns) } else { Self::Named(columns) }
    }

    /// What a column is for, if it is wanted. One that is wanted for two ends, or may be, is kept as it is.
    pub(super) fn use_of(&self, name: &str) -> Option<ColumnUse> {
        let (columns, guess) = match self {
            Self::All => return Some(ColumnUse::Text),
            Self::Named(columns) => (columns, false),
            Self::Like(columns) => (columns, true),
        };
        let is_wanted = |wanted: &str| wanted == name.trim() || guess && usual::may_be(wanted, name);
        let mut uses = columns.iter().filter(|(wanted, _)| is_wanted(wanted)).map(|&(_, used)| used);
        uses.next().map(|used| if uses.all(|other| other == used) { used } else { ColumnUse::Text })
    }

    /// Calls with the names of the columns.
    pub(super) fn wanted<T>(&self, call: impl FnOnce(Wanted<'_>) -> T) -> T {
        match self {
            Self::All => call(Wanted::All),
            Self::Named(columns) | Self::Like(columns) => {
                let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                let guess = matches!(self, Self::Like(_));
                call(if guess { Wanted::Like(&names) } else { Wanted::Only(&names) })
            }
        }
    }
}
