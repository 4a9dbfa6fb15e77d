//! Labels that name the columns of the classes.

use std::collections::HashMap;

use super::options::TableRemark;
use crate::files::{FileError, Location};
use crate::input::column::Column;
use crate::input::table::Table;

impl Table {
    /// A column of labels of the classes that these columns of a matrix hold: the names of the columns, such as `cat`, or what is behind
    /// the same word in all of them, such as the 1 of `p1`. Labels that are neither are class indices, as [`Table::labels`] has them. If labels
    /// are such names and text, the names of all classes come with them.
    ///
    /// ```
    /// use calib_io::input::{Source, Table};
    ///
    /// let csv = Source::from_bytes("probs.csv", b"p_cat,p_dog,label\n0.75,0.25,cat\n0.5,0.5,dog\n".to_vec())?;
    /// let table = Table::read_only(&csv, &["label"])?;
    /// let (labels, names) = table.labels_of_columns("label", &["p_cat".into(), "p_dog".into()])?;
    /// assert_eq!(labels.values, [0, 1]);
    /// assert_eq!(names.unwrap(), ["cat", "dog"]);
    /// # Ok::<(), calib_io::files::FileError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Table::labels`].
    pub fn labels_of_columns(
        &self,
        name: &str,
        columns: &[String],
    ) -> Result<(Column<i64>, Option<Vec<String>>), FileError> {
        // An array has no columns with names, and labels that are read as texts take long.
        if !columns.is_empty()
            && self.options().positive_label.is_none()
            && let Ok(texts) = self.names(name)
            && let Some((word, values)) = named_columns(&texts.values, columns)
        {
            let are_indices = |(text, class): (&String, &i64)| text.parse() == Ok(*class);
            if !texts.values.iter().zip(&values).all(are_indices) {
                let label = texts.values[0].clone();
                let column = format!("{word}{}", plain(&label));
                let place = Location::file(&texts.place.file);
                self.options().note(&place, TableRemark::LabelsOfColumns { label, column });
            }
            let are_numbers = texts.values.iter().all(|text| text.trim().parse::<f64>().is_ok());
            let name = |column: &String| column.strip_prefix(word).unwrap_or(column).to_owned();
            let names = (!are_numbers).then(|| columns.iter().map(name).collect());
            return Ok((texts.with_values(values), names));
        }
        Ok((self.labels(name)?, None))
    }
}

/// The word that makes every label the name of a column, and the numbers of these columns.
fn named_columns<'c>(labels: &[String], columns: &'c [String]) -> Option<(&'c str, Vec<i64>)> {
    let first = plain(labels.first()?);
    // The label `1` is no part of `p11`, nor `car` of `scar`.
    let is_apart = |word: &&str| match (word.chars().next_back(), first.chars().next()) {
        (Some(before), Some(label)) => {
            !before.is_alphanumeric() || before.is_alphabetic() && label.is_numeric()
        }
        _ => true,
    };
    let words = columns.iter().filter_map(|column| column.strip_suffix(first.as_str())).filter(is_apart);
    let mut found = words.filter_map(|word| {
        let names = columns.iter().enumerate();
        let classes: HashMap<&str, i64> =
            names.filter_map(|(class, name)| Some((name.strip_prefix(word)?, class as i64))).collect();
        let values: Option<Vec<i64>> =
            labels.iter().map(|label| classes.get(plain(label).as_str()).copied()).collect();
        Some((word, values?))
    });
    let named = found.next()?;
    found.next().is_none().then_some(named)
}

/// A label without what only its type writes: the whole number `1.0` is 1.
fn plain(label: &str) -> String {
    let label = label.trim();
    let whole = label.parse::<f64>().ok().filter(|number| number.fract() == 0.0 && number.abs() < 1e15);
    whole.map_or_else(|| label.to_owned(), |number| (number as i64).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(labels: &[&str], columns: &[&str]) -> Option<Vec<i64>> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        named_columns(&owned(labels), &owned(columns)).map(|(_, values)| values)
    }

    #[test]
    fn labels_are_names_of_columns_or_what_is_behind_a_word() {
        for (labels, columns, expected) in [
            (&["dog", "cat"][..], &["cat", "dog", "bird"][..], Some(vec![1, 0])),
            (&["car", "cat"], &["prob_cat", "prob_car"], Some(vec![1, 0])),
            (&["1", "3"], &["p1", "p2", "p3"], Some(vec![0, 2])),
            (&["1.0", "3.0"], &["p1", "p2", "p3"], Some(vec![0, 2])),
            (&["0", "2"], &["p0", "p1", "p2"], Some(vec![0, 2])),
            (&["2", "1"], &["1", "2"], Some(vec![1, 0])),
            (&["-1", "1"], &["-1", "1"], Some(vec![0, 1])),
            // Indices.
            (&["0", "2"], &["p1", "p2", "p3"], None),
            (&["0", "1"], &["cat", "dog"], None),
            (&["1", "2"], &["p11", "p12"], None),
            (&["car", "cat"], &["scar", "scat"], None),
            (&["cow", "cat"], &["cat", "dog"], None),
            (&["x"], &["a_x", "b_x"], None),
        ] {
            assert_eq!(classes(labels, columns), expected, "{labels:?} {columns:?}");
        }
    }
}
