//! In which words engines differ.

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

/// A function of BigQuery that rounds to the nearest 32-bit float, as IEEE 754 and JavaScript have it.
const ROUND_IN_BIGQUERY: &str = "\
CREATE TEMP FUNCTION single(x FLOAT64) RETURNS FLOAT64 LANGUAGE js AS \"return Math.fround(x);\";
";

impl Dialect {
    /// What a query begins with.
    pub(super) fn prelude(self) -> &'static str {
        match self {
            Self::BigQuery => ROUND_IN_BIGQUERY,
            _ => "",
        }
    }

    /// A column's name, whatever characters it has.
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
                format!("'{}'", text.replace('\n', "\\n").replace('\r', "\\r"))
            }
        }
    }

    /// A value of any type as text without spaces around it; none if that is empty.
    pub(super) fn name(self, value: &str) -> String {
        let text = match self {
            Self::DuckDb | Self::DataFusion => "VARCHAR",
            Self::Spark | Self::BigQuery => "STRING",
            Self::Postgres => "TEXT",
        };
        format!("nullif(trim(CAST({value} AS {text})), '')")
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
