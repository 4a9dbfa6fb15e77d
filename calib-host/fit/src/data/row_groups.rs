//! Which group every row is of.

use std::collections::BTreeMap;

/// The group of every row. Groups have numbers in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowGroups {
    names: Vec<String>,
    of_row: Vec<u32>,
}

impl RowGroups {
    /// Takes the name of every row's group.
    ///
    /// ```
    /// use calib_fit::data::RowGroups;
    ///
    /// let groups = RowGroups::new(["m", "f", "m"]);
    /// assert_eq!((groups.names(), groups.of(0), groups.rows()), (&["f".into(), "m".into()][..], 1, 3));
    /// ```
    ///
    /// # Panics
    ///
    /// If there are 2^32 groups or more.
    pub fn new<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Self {
        let rows: Vec<String> = names.into_iter().map(Into::into).collect();
        let mut numbers: BTreeMap<&str, u32> = rows.iter().map(|name| (name.as_str(), 0)).collect();
        let next = |(place, number): (usize, &mut u32)| {
            *number = u32::try_from(place).expect("fewer than 2^32 groups");
        };
        numbers.values_mut().enumerate().for_each(next);
        let of_row = rows.iter().map(|name| numbers[name.as_str()]).collect();
        Self { names: numbers.into_keys().map(str::to_owned).collect(), of_row }
    }

    /// Returns the names, ascending.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.of_row.len()
    }

    /// Returns the number of a row's group.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn of(&self, row: usize) -> usize {
        self.of_row[row] as usize
    }

    /// Returns the groups of some of the rows, in the order in which these are given. A group without a row is gone.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn part(&self, rows: impl IntoIterator<Item = usize>) -> Self {
        Self::new(rows.into_iter().map(|row| self.names[self.of(row)].as_str()))
    }

    /// Returns the rows of a group.
    pub fn rows_of(&self, group: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.rows()).filter(move |&row| self.of(row) == group)
    }
}
