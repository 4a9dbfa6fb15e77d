//! The tables that a database counted.

use calib_fit::data::ScoreKind;
use calib_fit::passes::{Bucket, BucketTies, Buckets, FirstPass, GroupedPass, PassError};

use super::column::Column;
use super::source::Source;
use super::table::Table;
use crate::files::{FileError, Location, Problem};

/// The column of buckets of probabilities, and that of buckets of margins.
const BUCKETS: [&str; 2] = ["bucket", "margin_bucket"];
/// The other columns of the first pass; the last two may be left out.
const OF_BUCKETS: [&str; 8] =
    ["fault", "per_unit", "n", "positives", "lowest", "highest", "tied", "heaviest"];

/// What is wrong with a row that was counted, by its number in the column `fault`.
const FAULTS: [&str; 4] =
    ["no score, or NaN", "a score that is out of range", "a label other than 0 and 1", "no group"];

/// A score that was counted, with its number of rows and of positives.
type Counted = (f64, u64, u64);

/// Reads what the query of the first pass found.
///
/// # Errors
///
/// If the file is no such table, if rows were counted that are of no use, or if no rows can have been counted like that.
pub fn read_first_pass(source: &Source) -> Result<FirstPass, FileError> {
    let (buckets, rows, _) = first_pass(source, None)?;
    FirstPass::new(buckets, rows).map_err(|cause| match cause {
        PassError::Twice(_) => {
            let said = format!("{cause}; counts by group have a column of groups: name it");
            FileError::input(Location::file(source.path()), Problem::Format(said))
        }
        cause => wrong(source, cause),
    })
}

/// Reads what the query of the first pass found by group, whose names are in this column.
///
/// # Errors
///
/// As [`read_first_pass`], and if a row has no group.
pub fn read_first_pass_by_group(source: &Source, group_column: &str) -> Result<GroupedPass, FileError> {
    let (buckets, rows, groups) = first_pass(source, Some(group_column))?;
    GroupedPass::new(buckets, groups.into_iter().zip(rows)).map_err(|cause| wrong(source, cause))
}

/// Reads what the query of the second pass found: scores of this kind, each with its number of rows and of positives.
///
/// # Errors
///
/// If the file is no such table.
pub fn read_second_pass(source: &Source, kind: ScoreKind) -> Result<Vec<Counted>, FileError> {
    Ok(second_pass(source, kind, None)?.0)
}

/// Reads what the query of the second pass found by group: the name of a group, which is in this column, and a score as
/// [`read_second_pass`] reads it.
///
/// # Errors
///
/// As [`read_second_pass`], and if a row has no group.
pub fn read_second_pass_by_group(
    source: &Source,
    kind: ScoreKind,
    group_column: &str,
) -> Result<Vec<(String, Counted)>, FileError> {
    let (counted, groups) = second_pass(source, kind, Some(group_column))?;
    Ok(groups.into_iter().zip(counted).collect())
}

/// The buckets of the first pass, and the group of each if there is a column of groups.
fn first_pass(
    source: &Source,
    group_column: Option<&str>,
) -> Result<(Buckets, Vec<Bucket>, Vec<String>), FileError> {
    let names: Vec<&str> = BUCKETS.into_iter().chain(OF_BUCKETS).chain(group_column).collect();
    let table = counted_table(source, &names)?;
    let has = |name: &str| table.column_names().any(|other| other == name);
    let kind = if has(BUCKETS[1]) { ScoreKind::Margin } else { ScoreKind::Probability };
    let numbers = table.numbers(BUCKETS[usize::from(kind == ScoreKind::Margin)])?;
    let faults = table.numbers("fault")?;
    let (n, positives) = (counts(&table, "n")?, counts(&table, "positives")?);
    let (lowest, highest) = (table.device_scores("lowest", kind)?, table.device_scores("highest", kind)?);
    let ties = match has("tied") || has("heaviest") {
        true => Some((counts(&table, "tied")?, counts(&table, "heaviest")?)),
        false => None,
    };
    check_faults(&faults, &n.values)?;
    // Rows without a group are such a fault, whose row of the table has none.
    let groups = groups(&table, group_column)?;
    let buckets = read_buckets(kind, &table.numbers("per_unit")?, &|cause| wrong(source, cause))?;
    let bucket = |row: usize| Bucket {
        number: numbers.values[row],
        n: n.values[row],
        positives: positives.values[row],
        lowest: lowest.values[row].into(),
        highest: highest.values[row].into(),
        ties: ties
            .as_ref()
            .map(|(tied, heaviest)| BucketTies { tied: tied.values[row], heaviest: heaviest.values[row] }),
    };
    Ok((buckets, (0..numbers.len()).map(bucket).collect(), groups))
}

/// The scores of the second pass, and the group of each if there is a column of groups.
fn second_pass(
    source: &Source,
    kind: ScoreKind,
    group_column: Option<&str>,
) -> Result<(Vec<Counted>, Vec<String>), FileError> {
    let names: Vec<&str> = ["score", "n", "positives"].into_iter().chain(group_column).collect();
    let table = match counted_table(source, &names) {
        // Nothing was left open.
        Err(FileError::Input { problem: Problem::Empty, .. }) => return Ok((Vec::new(), Vec::new())),
        table => table?,
    };
    let scores = table.device_scores("score", kind)?;
    let (n, positives) = (counts(&table, "n")?, counts(&table, "positives")?);
    let counts = n.values.into_iter().zip(positives.values);
    let counted = scores.values.into_iter().zip(counts).map(|(score, (n, k))| (score.into(), n, k)).collect();
    Ok((counted, groups(&table, group_column)?))
}

fn groups(table: &Table, column: Option<&str>) -> Result<Vec<String>, FileError> {
    Ok(column.map(|column| table.names(column)).transpose()?.map_or_else(Vec::new, |names| names.values))
}

fn wrong(source: &Source, cause: PassError) -> FileError {
    FileError::input(Location::file(source.path()), Problem::Format(cause.to_string()))
}

fn counted_table(source: &Source, names: &[&str]) -> Result<Table, FileError> {
    let table = Table::read_only(source, names)?;
    if table.is_lone_array() {
        let problem = "this is an array, and counts of a database are a table with named columns";
        return Err(FileError::input(Location::file(source.path()), Problem::Format(problem.into())));
    }
    Ok(table)
}

/// A column of whole numbers that a double holds.
fn counts(table: &Table, name: &str) -> Result<Column<u64>, FileError> {
    table.numbers(name)?.map(|&number| match (0.0..=MAX_COUNT).contains(&number) && number.fract() == 0.0 {
        true => Ok(number as u64),
        false => Err(Problem::Count(number)),
    })
}

/// 2^53.
const MAX_COUNT: f64 = 9_007_199_254_740_992.0;

/// Refuses a table that counted rows of no use.
fn check_faults(faults: &Column<f64>, n: &[u64]) -> Result<(), FileError> {
    let rows_with = |fault: usize| -> u64 {
        let rows = faults.values.iter().zip(n).filter(|(found, _)| **found == fault as f64);
        rows.map(|(_, &n)| n).fold(0, u64::saturating_add)
    };
    let is_known = |fault: f64| (0..=FAULTS.len()).any(|known| known as f64 == fault);
    let said = |fault| Problem::Format(format!("{fault} is not a fault that a first pass reports"));
    faults.check(|&fault| (!is_known(fault)).then(|| said(fault)))?;
    let found: Vec<String> = (1..)
        .zip(FAULTS)
        .map(|(fault, name)| (rows_with(fault), name))
        .filter(|(rows, _)| *rows > 0)
        .map(|(rows, name)| format!("{rows} with {name}"))
        .collect();
    match found.is_empty() {
        true => Ok(()),
        false => {
            let said = format!("rows were counted that cannot be used in a fit: {}", found.join(", "));
            Err(FileError::input(faults.place().clone(), Problem::Format(said)))
        }
    }
}

fn read_buckets(
    kind: ScoreKind,
    per_unit: &Column<f64>,
    wrong: &dyn Fn(PassError) -> FileError,
) -> Result<Buckets, FileError> {
    let stated = per_unit.values[0];
    let said = |other| Problem::Format(format!("{other} buckets to the unit here, and {stated} above"));
    per_unit.check(|&other| (other != stated).then(|| said(other)))?;
    match kind {
        ScoreKind::Margin => Buckets::margins(stated).map_err(wrong),
        ScoreKind::Probability if stated == Buckets::OF_PROBABILITIES => Ok(Buckets::Probabilities),
        ScoreKind::Probability => {
            let said =
                format!("{stated} buckets to the unit, and probabilities have {}", Buckets::OF_PROBABILITIES);
            Err(FileError::input(per_unit.at(0), Problem::Format(said)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "fault,bucket,per_unit,n,positives,lowest,highest,tied,heaviest\n";

    fn first(rows: &str) -> Result<FirstPass, String> {
        let source = Source::from_bytes("pass1.csv", [HEADER, rows].concat().into_bytes()).unwrap();
        read_first_pass(&source).map_err(|error| error.to_string())
    }

    /// Text of 32-bit floats is as good as text of doubles.
    #[test]
    fn scores_are_those_of_the_device() {
        let pass = first("0,6553,65536,3,1,0.1,0.1,3,3\n0,13107,65536,2,1,0.2,0.2000001,0,1\n").unwrap();
        assert_eq!((pass.len(), pass.score_summary().lowest), (5, f64::from(0.1f32)));
        assert_eq!((pass.score_summary().tied, pass.score_summary().heaviest), (0.6, 0.6));
    }

    #[test]
    fn what_is_no_first_pass_is_refused_with_the_place() {
        for (rows, said) in [
            (
                "0,6553,65536,3,1,0.1,0.1,3,3\n1,0,65536,7,0,0,0,0,1\n3,0,65536,2,0,0,0,0,1\n",
                "pass1.csv, column fault: rows were counted that cannot be used in a fit: 7 with no score, or NaN, 2 with a label other \
              than 0 and 1",
            ),
            (
                "9,6553,65536,3,1,0.1,0.1,3,3\n",
                "pass1.csv, line 2, column fault: 9 is not a fault that a first pass reports",
            ),
            (
                "0,6553,1024,3,1,0.1,0.1,3,3\n",
                "pass1.csv, line 2, column per_unit: 1024 buckets to the unit, and probabilities have 65536",
            ),
            (
                "0,6553,65536,3,1,0.1,0.1,3,3\n0,6554,2,3,1,0.1,0.1,3,3\n",
                "pass1.csv, line 3, column per_unit: 2 buckets to the unit here",
            ),
            (
                "0,6553,65536,3.5,1,0.1,0.1,3,3\n",
                "pass1.csv, line 2, column n: 3.5 is not a whole number of observations",
            ),
            (
                "0,6553,65536,3,1,0.2,0.2,3,3\n",
                "pass1.csv: bucket 6553: its lowest and highest score are not of this bucket",
            ),
        ] {
            let refused = first(rows).unwrap_err();
            assert!(refused.starts_with(said), "{refused}");
        }
        let source = Source::from_bytes("x.csv", b"score,n\n0.5,1\n".to_vec()).unwrap();
        assert!(
            read_first_pass(&source).is_err() && read_second_pass(&source, ScoreKind::Probability).is_err()
        );
    }

    /// Names come back whatever characters they have, and whatever type: a whole number, true and false are text.
    #[test]
    fn groups_are_read_as_text() {
        let text = "sex,fault,bucket,per_unit,n,positives,lowest,highest\n\"a, \"\"b\"\"\",0,6553,65536,3,1,0.1,0.1\n\
                    7,0,6553,65536,2,1,0.1,0.1\n true ,0,6553,65536,1,1,0.1,0.1\n";
        let source = Source::from_bytes("pass1.csv", text.into()).unwrap();
        let pass = read_first_pass_by_group(&source, "sex").unwrap();
        assert_eq!(pass.names().collect::<Vec<_>>(), ["7", "a, \"b\"", "true"]);
        assert_eq!(pass.score_summaries()[0].unwrap().lowest, f64::from(0.1f32));
        let refused = read_first_pass(&source).unwrap_err().to_string();
        assert!(refused.ends_with("counts by group have a column of groups: name it"), "{refused}");
        let text = "score,n,positives,sex\n0.1,3,1,f\n0.1,2,0,\n";
        let source = Source::from_bytes("pass2.csv", text.into()).unwrap();
        let refused =
            read_second_pass_by_group(&source, ScoreKind::Probability, "sex").unwrap_err().to_string();
        assert!(refused.starts_with("pass2.csv, line 3, column sex"), "{refused}");
        let empty = Source::from_bytes("pass2.csv", b"sex,score,n,positives\n".to_vec()).unwrap();
        assert_eq!(read_second_pass_by_group(&empty, ScoreKind::Probability, "sex").unwrap(), []);
    }

    /// Errors about rows without a group state their number, although their row of the table has no group.
    #[test]
    fn rows_without_a_group_are_refused() {
        let text = "sex,fault,bucket,per_unit,n,positives,lowest,highest\nf,0,6553,65536,3,1,0.1,0.1\n,4,0,65536,5,0,0,0\n";
        let source = Source::from_bytes("pass1.csv", text.into()).unwrap();
        let refused = read_first_pass_by_group(&source, "sex").unwrap_err().to_string();
        assert!(refused.ends_with("cannot be used in a fit: 5 with no group"), "{refused}");
    }
}
