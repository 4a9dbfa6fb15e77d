//! `calib sql`

use std::io::Write;
use std::path::PathBuf;

use calib_fit::job::{MethodChoice, ScoresOf};
use calib_fit::passes::{Buckets, check_method};
use calib_fit::{BinaryMethod, ScoreKind};
use calib_io::files::Location;
use calib_io::sql::{Dialect, Query, is_column_of_answer};
use clap::Args;

use crate::context::Context;
use crate::error::Error;
use crate::options::headings::{DATA, DEVICE, ROWS};
use crate::options::{EncodingOptions, MethodOptions, SCORE_COLUMN, count, named};
use crate::read::{Counted, Opened};
use crate::run::Run;

/// Print SQL that counts scores in a database.
///
/// Scores need not leave the database that holds them. The counts of pass 1 show which few scores matter, and pass 2
/// counts those. From both answers `calib fit --passes` writes the calibrator that all rows would have given, byte for
/// byte except for their hash.
///
/// Two passes work for umd, fixed-width and isotonic regression. For integer codes one pass is enough, for any method
/// that does not draw rows.
///
/// The queries count invalid rows: without a score, with NaN, with a score out of range, or with a label other than 0
/// and 1. The command that reads the answer rejects these rows.
#[derive(Args)]
pub(crate) struct Sql {
    /// Database engine.
    #[arg(long, value_parser = named::<Dialect>(), help_heading = DATA)]
    dialect: Dialect,
    /// Table, or a query in parentheses.
    #[arg(long, value_name = "TABLE", help_heading = DATA)]
    from: String,
    /// Answer to pass 1: calib then prints pass 2.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    pass1: Option<PathBuf>,
    /// Column of scores.
    #[arg(long = "score-column", default_value = SCORE_COLUMN, value_name = "NAME", help_heading = DATA)]
    from_score: String,
    /// Column of labels, numbers 0 or 1.
    #[arg(long = "label-column", default_value = "label", value_name = "NAME", help_heading = DATA)]
    from_label: String,
    /// Column of groups, for a table of each group, as --group-column of `calib fit`.
    ///
    /// Both passes then count by group, and their answers have a column of this name. Groups are text without white
    /// space around it. The queries count rows without a group, and the command that reads the answer rejects them.
    #[arg(long, value_name = "NAME", help_heading = ROWS, hide_short_help = true)]
    group_column: Option<String>,
    /// Treat the scores as raw scores, of any size.
    #[arg(long = "margins", help_heading = DATA)]
    are_margins: bool,
    /// Number of buckets per raw score of 1: a power of two.
    ///
    /// The answer to pass 1 has a row for each bucket that is not empty. Choose few buckets if the database returns few
    /// rows at once, and many to keep pass 2 short.
    #[arg(long, default_value_t = 1024.0, value_name = "K", requires = "are_margins", help_heading = DATA, hide_short_help = true)]
    per_unit: f64,
    /// Do not count how often scores repeat, for which pass 1 groups by score.
    ///
    /// The calibrator then does not state it, and is otherwise the same.
    #[arg(long, help_heading = DATA, hide_short_help = true)]
    skip_ties: bool,
    /// Number of monitor bins, as --monitor=B of `calib fit`; pass 2 then also reads their buckets.
    #[arg(long = "monitor", value_name = "B", value_parser = count::<u16>(2..), help_heading = DEVICE, hide_short_help = true)]
    monitor_bins: Option<u16>,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    codes: EncodingOptions,
}

/// More rows than any table has.
const MANY: u64 = 1 << 53;

impl Run for Sql {
    fn run(self, cx: &Context) -> Result<(), Error> {
        self.check_columns()?;
        self.check_groups()?;
        let query = self.query();
        let (text, said) = match (&self.pass1, self.codes.encoding()?) {
            (Some(_), Some(_)) => {
                return Err(Error::Usage("for integer codes, one pass is enough: leave out --pass1".into()));
            }
            (None, Some(_)) => {
                self.check_codes()?;
                (query.of_codes(), CODES.to_owned())
            }
            (None, None) => {
                self.check_method()?;
                (query.first_pass(self.buckets()?), FIRST.to_owned())
            }
            (Some(path), None) => {
                let column = self.group_column.as_deref();
                let opened = Opened::read(path, &self.method.named(), column, self.monitor_bins, cx)?;
                let counted = &opened.counted;
                if counted.buckets().kind() != self.kind() {
                    return Err(Error::Usage(format!(
                        "{}: it counted {}, and the query is for {}",
                        opened.place,
                        counted.buckets().kind(),
                        self.kind()
                    )));
                }
                let (open, of_rows, rows) = counted.sizes();
                let said = format!(
                    "pass 2 looks into {open} buckets, which hold {of_rows} of {rows} rows; {SECOND}"
                );
                let text = match counted {
                    Counted::Together { first, open, .. } => query.second_pass(first.buckets(), open),
                    Counted::ByGroup { first, open, .. } => query.second_pass_by_group(first.buckets(), open),
                };
                (text, said)
            }
        };
        // Into a file as it is: an escape would be another name.
        cx.raw_stdout(true)?.write_all(text.as_bytes())?;
        if !cx.quiet {
            let groups = self.group_column.as_ref().map_or("", |_| SAME_GROUPS);
            writeln!(cx.stderr(), "{said}{groups}")?;
        }
        Ok(())
    }
}

impl Sql {
    fn query(&self) -> Query<'_> {
        Query {
            dialect: self.dialect,
            from: &self.from,
            score: &self.from_score,
            label: &self.from_label,
            group: self.group_column.as_deref(),
            skip_ties: self.skip_ties,
        }
    }

    fn kind(&self) -> ScoreKind {
        if self.are_margins { ScoreKind::Margin } else { ScoreKind::Probability }
    }

    fn buckets(&self) -> Result<Buckets, Error> {
        match self.are_margins {
            false => Ok(Buckets::Probabilities),
            true => {
                Buckets::margins(self.per_unit).map_err(|cause| Error::Usage(format!("--per-unit: {cause}")))
            }
        }
    }

    /// Refuses a column that no query can name.
    fn check_columns(&self) -> Result<(), Error> {
        let names = [Some(&self.from_score), Some(&self.from_label), self.group_column.as_ref()];
        match names.into_iter().flatten().find(|name| !self.dialect.takes_column(name)) {
            None => Ok(()),
            Some(name) => Err(Error::Usage(format!(
                "Spark puts a variable in the place of ${{...}}, also in the name of the column {name:?}: rename the column, in a view for \
                 example"
            ))),
        }
    }

    /// Refuses a column of groups that would be two of an answer, and what groups have none of.
    fn check_groups(&self) -> Result<(), Error> {
        let Some(column) = &self.group_column else { return Ok(()) };
        if is_column_of_answer(column) {
            return Err(Error::Usage(format!(
                "the answers have a column {column} themselves: give groups another name, with a query in --from, such as \
                 \"(SELECT {column} AS of_group, ... FROM ...)\""
            )));
        }
        match self.monitor_bins {
            Some(_) => Err(Error::Usage(
                "tables of groups have no separate bins for monitors: leave out --monitor, and use --method umd; the monitors then \
                 use its bins"
                    .into(),
            )),
            None => Ok(()),
        }
    }

    /// The method that is asked for, if one is.
    fn method(&self) -> Result<Option<BinaryMethod>, Error> {
        let (kind, encoding) = (self.kind(), self.codes.encoding()?);
        let of = ScoresOf::Binary { kind, encoding, by_group: self.group_column.is_some() };
        let MethodChoice::Binary(how) = self.method.named().choice(of)? else { return Ok(None) };
        // Whatever the number of rows.
        let method = how.method_for_score(MANY);
        Ok(Some(method.map_err(|cause| Error::fit(Location::file(self.from.as_ref()), cause))?))
    }

    /// Refuses a method that two passes are not enough for, before anything is counted.
    fn check_method(&self) -> Result<(), Error> {
        let place = Location::file(self.from.as_ref());
        let method = self.method()?;
        method.iter().try_for_each(check_method).map_err(|cause| Error::pass(place, cause))
    }

    /// Refuses a method that draws rows, of which counts have none.
    fn check_codes(&self) -> Result<(), Error> {
        use calib_fit::passes::PassError;
        match self.check_method() {
            Err(Error::Pass { cause: PassError::EveryScore(_), .. }) => Ok(()),
            checked => checked,
        }
    }
}

const FIRST: &str = "save the answer as a table, such as pass1.csv; then the same command with --method and --pass1 pass1.csv prints pass 2";
const SECOND: &str =
    "save the answer as pass2.csv; then `calib fit --passes pass1.csv pass2.csv` with the same method";
const SAME_GROUPS: &str = "; every step with the same --group-column";
const CODES: &str = "save the answer as codes.csv; then `calib fit --scores codes.csv --score-column code --count-columns \
                     n,positives` with the same encoding and method";
