//! The queries.

use std::fmt::Write;

use calib_fit::data::ScoreKind;
use calib_fit::passes::Buckets;

use super::dialect::Dialect;

/// Where scores and labels are in a database.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The engine.
    pub dialect: Dialect,
    /// What stands behind `FROM`: a table, or a query in parentheses.
    pub from: &'a str,
    /// The column of scores.
    pub score: &'a str,
    /// The column of labels, 0 or 1.
    pub label: &'a str,
    /// Whether the first pass is spared the count of how often scores repeat, for which it groups by score.
    pub skip_ties: bool,
}

/// The largest double that the nearest 32-bit float of is 0.
const ROUNDS_TO_ZERO: &str = "7.006492321624085e-46";
/// The smallest double that the nearest 32-bit float of is infinite.
const ROUNDS_TO_INFINITY: &str = "3.4028235677973366e38";
/// From here on doubles are whole numbers.
const IS_WHOLE: &str = "4503599627370496e0";
/// Numbers in a line of a list.
const IN_A_LINE: usize = 16;

impl Query<'_> {
    /// The query of the first pass: a row for every bucket, and one for each fault of rows that are of no use.
    pub fn first_pass(&self, buckets: Buckets) -> String {
        let seen = self.seen(buckets.kind());
        let bucket = bucket(buckets, self.dialect);
        let (placed, ties) = match self.skip_ties {
            true => (
                format!(
                    "placed AS (\n  SELECT fault, {bucket} AS bucket, score, 1 AS m, positive AS k FROM seen\n)"
                ),
                "",
            ),
            false => (
                format!(
                    "scores AS (\n  SELECT fault, score, count(*) AS m, sum(positive) AS k FROM seen GROUP BY fault, score\n),\n\
                     placed AS (\n  SELECT fault, {bucket} AS bucket, score, m, k FROM scores\n)"
                ),
                ",\n  CAST(sum(CASE WHEN m > 1 THEN m ELSE 0 END) AS BIGINT) AS tied, CAST(max(m) AS BIGINT) AS heaviest",
            ),
        };
        let name = bucket_column(buckets);
        let per_unit = number(buckets, buckets.per_unit());
        format!(
            "{seen},\n{placed}\n\
             SELECT fault, bucket AS {name}, {per_unit} AS per_unit,\n  \
             CAST(sum(m) AS BIGINT) AS n, CAST(sum(k) AS BIGINT) AS positives,\n  \
             min(score) AS lowest, max(score) AS highest{ties}\n\
             FROM placed GROUP BY fault, bucket ORDER BY fault, bucket;\n"
        )
    }

    /// The query of the second pass: a row for every score in these buckets.
    pub fn second_pass(&self, buckets: Buckets, open: &[f64]) -> String {
        let seen = self.seen(buckets.kind());
        let bucket = bucket(buckets, self.dialect);
        let numbers: Vec<String> = open.iter().map(|&open| number(buckets, open)).collect();
        let lines: Vec<String> = numbers.chunks(IN_A_LINE).map(|line| line.join(", ")).collect();
        let is_open = match &lines[..] {
            [] => "1 = 0".to_owned(),
            [line] => format!("bucket IN ({line})"),
            lines => format!("bucket IN (\n  {}\n)", lines.join(",\n  ")),
        };
        format!(
            "{seen},\nplaced AS (\n  SELECT {bucket} AS bucket, score, positive FROM seen WHERE fault = 0\n)\n\
             SELECT score, CAST(count(*) AS BIGINT) AS n, CAST(sum(positive) AS BIGINT) AS positives\n\
             FROM placed WHERE {is_open}\nGROUP BY score ORDER BY score;\n"
        )
    }

    /// The query of integer codes, for which one pass is enough: a row for every code. A row whose label is of no use has no code.
    pub fn of_codes(&self) -> String {
        let Self { from, dialect, .. } = self;
        let (score, label) = (dialect.column(self.score), dialect.column(self.label));
        format!(
            "WITH seen AS (\n  \
             SELECT CASE WHEN {label} = 0 OR {label} = 1 THEN {score} END AS code,\n    \
             CASE WHEN {label} = 1 THEN 1 ELSE 0 END AS positive\n  FROM {from}\n)\n\
             SELECT code, CAST(count(*) AS BIGINT) AS n, CAST(sum(positive) AS BIGINT) AS positives\n\
             FROM seen GROUP BY code ORDER BY code;\n"
        )
    }

    /// The rows as a device sees them: `score` is a 32-bit float, `positive` 1 or 0, and `fault` tells why a row is of no use: 1 no score or
    /// NaN, 2 a score out of range, 3 a label other than 0 and 1.
    fn seen(&self, kind: ScoreKind) -> String {
        let Self { from, dialect, .. } = self;
        let (score, label) = (dialect.column(self.score), dialect.column(self.label));
        let (double, is_nan, single) = (dialect.double(), dialect.is_nan("x"), dialect.single("x"));
        let is_outside = match kind {
            ScoreKind::Probability => "x < 0e0 OR x > 1e0".to_owned(),
            ScoreKind::Margin => format!("abs(x) >= {ROUNDS_TO_INFINITY}"),
        };
        let mut text = dialect.prelude().to_owned();
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "WITH given AS (\n  SELECT CAST({score} AS {double}) AS x, {label} AS y FROM {from}\n),\n\
             checked AS (\n  SELECT x, y, CASE\n    \
             WHEN x IS NULL OR {is_nan} THEN 1\n    \
             WHEN {is_outside} THEN 2\n    \
             WHEN y IS NULL OR (y <> 0 AND y <> 1) THEN 3\n    \
             ELSE 0 END AS fault\n  FROM given\n),\n\
             seen AS (\n  SELECT fault,\n    \
             CASE WHEN fault <> 0 OR abs(x) <= {ROUNDS_TO_ZERO} THEN 0e0 ELSE {single} END AS score,\n    \
             CASE WHEN fault = 0 AND y = 1 THEN 1 ELSE 0 END AS positive\n  FROM checked\n)"
        );
        text
    }
}

/// The name of the column of buckets, which tells what scores are.
fn bucket_column(buckets: Buckets) -> &'static str {
    match buckets {
        Buckets::Probabilities => "bucket",
        Buckets::Margins { .. } => "margin_bucket",
    }
}

/// The bucket of a score.
fn bucket(buckets: Buckets, dialect: Dialect) -> String {
    let product = format!("score * {}", number(buckets, buckets.per_unit()));
    match buckets {
        Buckets::Probabilities => format!("CAST(floor({product}) AS BIGINT)"),
        // Some engines have floors in 64-bit integers only.
        Buckets::Margins { .. } => format!(
            "CASE WHEN abs({product}) >= {IS_WHOLE} THEN {product} ELSE CAST(floor({product}) AS {}) END",
            dialect.double()
        ),
    }
}

/// A whole number: of probabilities as an integer, of margins as a double.
fn number(buckets: Buckets, number: f64) -> String {
    match buckets {
        Buckets::Probabilities => number.to_string(),
        Buckets::Margins { .. } => format!("{number:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: Query<'_> =
        Query { dialect: Dialect::DuckDb, from: "scored", score: "score", label: "label", skip_ties: false };

    #[test]
    fn the_ends_of_what_32_bit_floats_hold_are_exact() {
        let largest_zero: f64 = ROUNDS_TO_ZERO.parse().unwrap();
        assert_eq!((largest_zero as f32, largest_zero.next_up() as f32), (0.0, f32::from_bits(1)));
        let smallest_infinite: f64 = ROUNDS_TO_INFINITY.parse().unwrap();
        assert_eq!(
            (smallest_infinite as f32, smallest_infinite.next_down() as f32),
            (f32::INFINITY, f32::MAX)
        );
        assert_eq!(IS_WHOLE.parse::<f64>().unwrap(), 2f64.powi(52));
    }

    #[test]
    fn names_are_quoted_as_the_engine_has_it() {
        let name = "a \"b`c\\";
        let said = |dialect| Query { dialect, score: name, ..QUERY }.of_codes();
        assert!(said(Dialect::Postgres).contains("THEN \"a \"\"b`c\\\" END"));
        assert!(said(Dialect::Spark).contains("THEN `a \"b``c\\` END"));
        assert!(said(Dialect::BigQuery).contains("THEN `a \"b\\`c\\\\` END"));
    }

    #[test]
    fn buckets_of_margins_are_doubles() {
        let buckets = Buckets::margins(1024.0).unwrap();
        let text = QUERY.second_pass(buckets, &[-1.0, 0.0, 3.5e40]);
        assert!(text.contains("bucket IN (-1e0, 0e0, 3.5e40)") && text.contains("score * 1.024e3"), "{text}");
        assert!(QUERY.second_pass(buckets, &[]).contains("WHERE 1 = 0"));
        let many: Vec<f64> = (0..40).map(f64::from).collect();
        assert!(QUERY.second_pass(Buckets::Probabilities, &many).contains("bucket IN (\n  0, 1, 2"));
    }

    /// The query of one engine, word for word; `cargo xtask engines` runs those of three.
    #[test]
    fn a_query_is_standard_sql() {
        let text =
            Query { dialect: Dialect::BigQuery, skip_ties: true, ..QUERY }.first_pass(Buckets::Probabilities);
        assert_eq!(text, include_str!("first_pass.bigquery.sql"));
    }
}
