//! In which words engines differ.

use calib_fit::names::names;

/// An engine that is asked in SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// DuckDB.
    DuckDb,
    /// Apache Spark.
    Spark,
    /// Apache DataFusion.
    DataFusion,
    /// Google BigQuery, which has no 32-bit floats: a function in JavaScript rounds to them.
    BigQuery,
    /// PostgreSQL.
    Postgres,
}

names!(Dialect, "dialect":
    DuckDb "duckdb" "DuckDB",
    Spark "spark" "Apache Spark",
    DataFusion "datafusion" "Apache DataFusion",
    BigQuery "bigquery" "Google BigQuery",
    Postgres "postgres" "PostgreSQL",
);

/// A function of BigQuery that rounds to the nearest 32-bit float, as IEEE 754 and JavaScript have it.
const ROUND_IN_BIGQUERY: &str = "\
CREATE TEMP FUNCTION single(x FLOAT64) RETURNS FLOAT64 LANGUAGE js AS \"return Math.fround(x);\";
";

/// The characters with the property `White_Space` of Unicode, which [`str::trim`] takes away.
const WHITE_SPACE: [char; 25] = [
    '\t', '\n', '\u{b}', '\u{c}', '\r', ' ', '\u{85}', '\u{a0}', '\u{1680}', '\u{2000}', '\u{2001}',
    '\u{2002}', '\u{2003}', '\u{2004}', '\u{2005}', '\u{2006}', '\u{2007}', '\u{2008}', '\u{2009}',
    '\u{200a}', '\u{2028}', '\u{2029}', '\u{202f}', '\u{205f}', '\u{3000}',
];

impl Dialect {
    /// What a query begins with.
    pub(super) fn prelude(self) -> &'static str {
        match self {
            Self::BigQuery => ROUND_IN_BIGQUERY,
            _ => "",
        }
    }

    /// Whether a query can name the column: Spark puts a variable in the place of `${its name}`, for which names have no escape.
    pub fn takes_column(self, name: &str) -> bool {
        self != Self::Spark || !name.contains("${")
    }

    /// A column's name, whatever characters it has, if the dialect takes it.
    pub(super) fn column(self, name: &str) -> String {
        match self {
            Self::Spark => format!("`{}`", name.replace('`', "``")),
            Self::BigQuery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            Self::DuckDb | Self::DataFusion | Self::Postgres => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// A text.
    pub(super) fn literal(self, text: &str) -> String {
        match self {
            Self::DuckDb | Self::DataFusion | Self::Postgres => format!("'{}'", text.replace('\'', "''")),
            // A backslash begins an escape, and two quotes are the end of one text and the begin of another.
            Self::Spark | Self::BigQuery => {
                let text = text.replace('\\', "\\\\").replace('\'', "\\'");
                // Spark puts a variable in the place of `${its name}`, in texts as well.
                let text = if self == Self::Spark { text.replace("${", "\\u0024{") } else { text };
                format!("'{}'", text.replace('\n', "\\n").replace('\r', "\\r"))
            }
        }
    }

    /// A value of any type as text without white space around it, as it is read from a file; none if that is empty.
    pub(super) fn name(self, value: &str) -> String {
        let text = match self {
            Self::DuckDb | Self::DataFusion => "VARCHAR",
            Self::Spark | Self::BigQuery => "STRING",
            Self::Postgres => "TEXT",
        };
        let text = format!("CAST({value} AS {text})");
        let trimmed = match self.white_space() {
            Some(characters) => format!("trim(BOTH {characters} FROM {text})"),
            None => format!("trim({text})"),
        };
        format!("nullif({trimmed}, '')")
    }

    /// The characters that a file's names are read without, as a text in which none of them is invisible; `None` if the engine trims
    /// these by itself: the others trim spaces alone.
    fn white_space(self) -> Option<String> {
        let each = |shown: &dyn Fn(u32) -> String, between: &str| {
            let codes = WHITE_SPACE.iter().map(|&character| shown(character.into()));
            codes.collect::<Vec<_>>().join(between)
        };
        match self {
            Self::DuckDb | Self::DataFusion | Self::Postgres => {
                Some(each(&|code| format!("chr({code})"), " || "))
            }
            // Of its chr only the lowest byte counts.
            Self::Spark => Some(format!("'{}'", each(&|code| format!("\\u{code:04x}"), ""))),
            Self::BigQuery => None,
        }
    }

    /// The type of doubles.
    pub(super) fn double(self) -> &'static str {
        match self {
            Self::DuckDb | Self::Spark | Self::DataFusion => "DOUBLE",
            Self::BigQuery => "FLOAT64",
            Self::Postgres => "DOUBLE PRECISION",
        }
    }

    /// A double rounded to the nearest 32-bit float, as a double.
    pub(super) fn single(self, x: &str) -> String {
        let double = self.double();
        match self {
            Self::BigQuery => format!("single({x})"),
            Self::Spark => format!("CAST(CAST({x} AS FLOAT) AS {double})"),
            Self::DuckDb | Self::DataFusion | Self::Postgres => {
                format!("CAST(CAST({x} AS REAL) AS {double})")
            }
        }
    }

    /// Whether a double is NaN.
    pub(super) fn is_nan(self, x: &str) -> String {
        match self {
            Self::DuckDb | Self::Spark | Self::DataFusion => format!("isnan({x})"),
            Self::BigQuery => format!("IS_NAN({x})"),
            Self::Postgres => format!("{x} = CAST('NaN' AS DOUBLE PRECISION)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_spark_replaces_is_not_taken() {
        assert!(!Dialect::Spark.takes_column("a${b}c") && Dialect::Spark.takes_column("$a {b}"));
        assert!(Dialect::DuckDb.takes_column("a${b}c"));
    }

    /// What a query trims is what a reader of files trims.
    #[test]
    fn white_space_is_that_of_the_reader() {
        let trimmed: Vec<char> = ('\0'..=char::MAX).filter(|character| character.is_whitespace()).collect();
        assert_eq!(trimmed, WHITE_SPACE);
    }
}
