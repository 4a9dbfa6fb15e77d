//! The columns that are read of a file.

use super::sniff::column_aliases::may_be;
use super::sniff::options::TableOptions;

/// What a column is read for: text becomes numbers where it is parsed, on all cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// For [`Table::numbers`](crate::input::Table::numbers) and [`device_scores`](crate::input::Table::device_scores).
    Numbers,
    /// For [`Table::labels`](crate::input::Table::labels) and [`binary_labels`](crate::input::Table::binary_labels).
    Labels,
    /// For anything, its text included.
    Text,
}

/// The columns that are read of a file. A file's other columns are known by their names only.
#[derive(Clone, Debug)]
pub(super) enum Projection {
    /// All columns, for anything.
    All,
    /// The columns of these names; with `guess` also columns that may be one of them.
    Named { columns: Vec<(String, ColumnType)>, guess: bool },
}

impl Projection {
    /// No column: the names of all columns are known, and nothing else.
    pub(super) const NONE: Self = Self::Named { columns: Vec::new(), guess: false };

    /// These columns of a table that is read with these options. Labels are read as text if one of them is named as class 1.
    pub(super) fn of(columns: &[(&str, ColumnType)], options: &TableOptions) -> Self {
        let used = |used| match (used, &options.positive_label) {
            (ColumnType::Labels, Some(_)) => ColumnType::Text,
            (used, _) => used,
        };
        let columns = columns.iter().map(|&(name, of)| (name.to_owned(), used(of))).collect();
        Self::Named { columns, guess: options.guess }
    }

    /// The columns of these names, for anything.
    pub(super) fn texts(names: &[&str], options: &TableOptions) -> Self {
        let columns: Vec<_> = names.iter().map(|name| (*name, ColumnType::Text)).collect();
        Self::of(&columns, options)
    }

    /// What a column is read for, if it is read. A column that has or may have two uses is read as text.
    pub(super) fn type_of(&self, name: &str) -> Option<ColumnType> {
        let Self::Named { columns, guess } = self else { return Some(ColumnType::Text) };
        let is_read = |wanted: &str| wanted == name.trim() || *guess && may_be(wanted, name);
        let mut uses = columns.iter().filter(|(wanted, _)| is_read(wanted)).map(|&(_, used)| used);
        uses.next().map(|used| if uses.all(|other| other == used) { used } else { ColumnType::Text })
    }

    /// Whether a column of this name is read.
    pub(super) fn includes(&self, name: &str) -> bool {
        self.type_of(name).is_some()
    }
}
