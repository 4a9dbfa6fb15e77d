//! Rows that lack a value: counted, or left out.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::column_aliases;
use super::options::{TableOptions, TableRemark};
use crate::files::{FileError, Location, Problem, Watch};
use crate::input::cell::TableCell;
use crate::input::matrix::incomplete_rows;
use crate::input::source::Source;
use crate::input::table::{ColumnContent, Table};

impl Table {
    /// The problem of a cell without a value, with how many cells of its column have none.
    pub(in crate::input) fn counted(&self, problem: Problem, content: &ColumnContent) -> Problem {
        match self.is_whole() {
            true => problem.of_rows(
                self.missing(content).filter(|&is_missing| is_missing).count(),
                content.len().unwrap_or(0),
            ),
            false => problem,
        }
    }

    /// How many rows of a column have no value, and how many there are; `None` if there is no such column.
    pub(in crate::input) fn count_missing(&self, name: &str) -> Option<(usize, usize)> {
        let content = &self.found(name).ok()?.content;
        let missing = self.missing(content).filter(|&is_missing| is_missing).count();
        Some((missing, content.len()?))
    }

    /// Whether each row of a column lacks a value; nothing of one that was not read.
    fn missing<'c>(&'c self, content: &'c ColumnContent) -> impl Iterator<Item = bool> + 'c {
        let cell = move |row: usize| match content {
            ColumnContent::Typed(values) => values.cell::<&str>(row),
            ColumnContent::Cells(cells) => self.resolve(cells[row]),
            ColumnContent::Unusable(_) | ColumnContent::NotRead => TableCell::Missing,
        };
        (0..content.len().unwrap_or(0)).map(move |row| cell(row).is_missing())
    }

    /// Whether each row lacks a value in one of the columns of these names that are there.
    fn incomplete(&self, names: &[String]) -> Vec<bool> {
        let mut incomplete = Vec::new();
        for name in names {
            let Ok(column) = self.found(name) else { continue };
            for (row, is_missing) in self.missing(&column.content).enumerate() {
                match incomplete.get_mut(row) {
                    Some(known) => *known |= is_missing,
                    None => incomplete.push(is_missing),
                }
            }
        }
        incomplete
    }
}

impl Source {
    /// Reads several files as [`Source::read_all`], of which the tables are read so. Rows that lack a value in one of them, if such are to
    /// be left out, are left out of all.
    ///
    /// # Errors
    ///
    /// As [`Source::read_all`].
    pub fn read_all_with(
        paths: &[&Path],
        options: &Arc<TableOptions>,
        watch: Watch<'_>,
    ) -> Result<Vec<Self>, FileError> {
        let sources = Self::read_all(paths, watch)?;
        let mut sources: Vec<Self> = sources.into_iter().map(|source| source.with_options(options)).collect();
        leave_out(&mut sources);
        Ok(sources)
    }
}

/// Finds the rows of files that belong together in which one of them lacks a value, and leaves them out of all.
fn leave_out(sources: &mut [Source]) {
    if !sources.iter().all(|source| source.options().leaves_out()) {
        return;
    }
    let mut lacking: Option<Vec<bool>> = None;
    for source in &*sources {
        let names: Vec<String> =
            source.options().complete.iter().flat_map(|list| column_aliases::listed(list)).collect();
        let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        // What is wrong with a file is told by anyone who needs it.
        let incomplete = match Table::read_only(source, &wanted) {
            Ok(table) => table.incomplete(&names),
            Err(_) => match incomplete_rows(source) {
                Some(incomplete) => incomplete,
                None => continue,
            },
        };
        match &mut lacking {
            None => lacking = Some(incomplete),
            Some(lacking) if lacking.len() == incomplete.len() => {
                lacking.iter_mut().zip(incomplete).for_each(|(lacks, more)| *lacks |= more);
            }
            // That there are not as many rows is told by anyone who joins them.
            Some(_) => return,
        }
    }
    let lacking = lacking.unwrap_or_default();
    let rows: HashSet<usize> = (0..lacking.len()).filter(|&row| lacking[row]).collect();
    let Some(first) = sources.first().filter(|_| !rows.is_empty()) else { return };
    let remark = TableRemark::LeftOut { rows: rows.len(), of: lacking.len() };
    first.options().note(&Location::file(first.path()), remark);
    let rows = Arc::new(rows);
    sources.iter_mut().for_each(|source| source.leave_out(&rows));
}
