//! The queries.

use std::fmt::Write;

use calib_fit::data::ScoreKind;
use calib_fit::passes::{Buckets, OpenGroup};

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
    /// The column of groups, if rows are counted by group: the answers then have a column of this name, in which groups are
    /// text.
    pub group: Option<&'a str>,
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

/// The columns of the answers.
const ANSWERED: [&str; 12] = [
    "fault",
    "bucket",
    "margin_bucket",
    "per_unit",
    "n",
    "positives",
    "lowest",
    "highest",
    "tied",
    "heaviest",
    "score",
    "code",
];

/// Whether the answers have a column of this name, in any case, so that a column of groups cannot be called that.
pub fn is_column_of_answer(name: &str) -> bool {
    ANSWERED.iter().any(|answered| name.trim().eq_ignore_ascii_case(answered))
}

impl Query<'_> {
    /// The query of the first pass: a row for every bucket of a group, and one for each fault of rows that are of no use.
    pub fn first_pass(&self, buckets: Buckets) -> String {
        let seen = self.seen(buckets.kind());
        let bucket = bucket(buckets, self.dialect);
        let ByGroup { inner, answered, .. } = self.by_group();
        let (placed, ties) = match self.skip_ties {
            true => (
                format!(
                    "placed AS (\n  SELECT {inner}fault, {bucket} AS bucket, score, 1 AS m, positive AS k FROM seen\n)"
                ),
                "",
            ),
            false => (
                format!(
                    "scores AS (\n  SELECT {inner}fault, score, count(*) AS m, sum(positive) AS k FROM seen GROUP BY {inner}fault, score\n),\n\
                     placed AS (\n  SELECT {inner}fault, {bucket} AS bucket, score, m, k FROM scores\n)"
                ),
                ",\n  CAST(sum(CASE WHEN m > 1 THEN m ELSE 0 END) AS BIGINT) AS tied, CAST(max(m) AS BIGINT) AS heaviest",
            ),
        };
        let name = bucket_column(buckets);
        let per_unit = number(buckets, buckets.per_unit());
        format!(
            "{seen},\n{placed}\n\
             SELECT {answered}fault, bucket AS {name}, {per_unit} AS per_unit,\n  \
             CAST(sum(m) AS BIGINT) AS n, CAST(sum(k) AS BIGINT) AS positives,\n  \
             min(score) AS lowest, max(score) AS highest{ties}\n\
             FROM placed GROUP BY {inner}fault, bucket ORDER BY {inner}fault, bucket;\n"
        )
    }

    /// The query of the second pass: a row for every score in these buckets.
    pub fn second_pass(&self, buckets: Buckets, open: &[f64]) -> String {
        self.scores_where(buckets, &is_one_of(buckets, open).unwrap_or_else(|| NEVER.to_owned()))
    }

    /// The query of the second pass by group: a row for every score of a group in its buckets.
    pub fn second_pass_by_group(&self, buckets: Buckets, open: &[OpenGroup]) -> String {
        let of_group = |open: &OpenGroup| {
            let is_open = is_one_of(buckets, &open.buckets)?;
            Some(format!("{GROUP} = {} AND {is_open}", self.dialect.literal(&open.name)))
        };
        let groups: Vec<String> = open.iter().filter_map(of_group).collect();
        let is_open = match &groups[..] {
            [] => NEVER.to_owned(),
            groups => groups.join("\n  OR "),
        };
        self.scores_where(buckets, &is_open)
    }

    fn scores_where(&self, buckets: Buckets, is_open: &str) -> String {
        let seen = self.seen(buckets.kind());
        let bucket = bucket(buckets, self.dialect);
        let ByGroup { inner, answered, .. } = self.by_group();
        format!(
            "{seen},\nplaced AS (\n  SELECT {inner}{bucket} AS bucket, score, positive FROM seen WHERE fault = 0\n)\n\
             SELECT {answered}score, CAST(count(*) AS BIGINT) AS n, CAST(sum(positive) AS BIGINT) AS positives\n\
             FROM placed WHERE {is_open}\nGROUP BY {inner}score ORDER BY {inner}score;\n"
        )
    }

    /// The query of integer codes, for which one pass is enough: a row for every code. A row whose label is of no use has no code.
    pub fn of_codes(&self) -> String {
        let Self { from, dialect, .. } = self;
        let (score, label) = (dialect.column(self.score), dialect.column(self.label));
        let ByGroup { given, inner, answered } = self.by_group();
        format!(
            "WITH seen AS (\n  \
             SELECT CASE WHEN {label} = 0 OR {label} = 1 THEN {score} END AS code,\n    \
             CASE WHEN {label} = 1 THEN 1 ELSE 0 END AS positive{given}\n  FROM {from}\n)\n\
             SELECT {answered}code, CAST(count(*) AS BIGINT) AS n, CAST(sum(positive) AS BIGINT) AS positives\n\
             FROM seen GROUP BY {inner}code ORDER BY {inner}code;\n"
        )
    }

    /// The rows as a device sees them: `score` is a 32-bit float, `positive` 1 or 0, and `fault` tells why a row is of no use: 1 no score or
    /// NaN, 2 a score out of range, 3 a label other than 0 and 1, 4 no group.
    fn seen(&self, kind: ScoreKind) -> String {
        let Self { from, dialect, .. } = self;
        let (score, label) = (dialect.column(self.score), dialect.column(self.label));
        let (double, is_nan, single) = (dialect.double(), dialect.is_nan("x"), dialect.single("x"));
        let is_outside = match kind {
            ScoreKind::Probability => "x < 0e0 OR x > 1e0".to_owned(),
            ScoreKind::Margin => format!("abs(x) >= {ROUNDS_TO_INFINITY}"),
        };
        let ByGroup { given, inner, .. } = self.by_group();
        let has_none =
            if inner.is_empty() { String::new() } else { format!("WHEN {GROUP} IS NULL THEN 4\n    ") };
        let mut text = dialect.prelude().to_owned();
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "WITH given AS (\n  SELECT CAST({score} AS {double}) AS x, {label} AS y{given} FROM {from}\n),\n\
             checked AS (\n  SELECT {inner}x, y, CASE\n    \
             WHEN x IS NULL OR {is_nan} THEN 1\n    \
             WHEN {is_outside} THEN 2\n    \
             WHEN y IS NULL OR (y <> 0 AND y <> 1) THEN 3\n    {has_none}\
             ELSE 0 END AS fault\n  FROM given\n),\n\
             seen AS (\n  SELECT {inner}fault,\n    \
             CASE WHEN fault <> 0 OR abs(x) <= {ROUNDS_TO_ZERO} THEN 0e0 ELSE {single} END AS score,\n    \
             CASE WHEN fault = 0 AND y = 1 THEN 1 ELSE 0 END AS positive\n  FROM checked\n)"
        );
        text
    }

    /// What the query says besides where rows are counted by group.
    fn by_group(&self) -> ByGroup {
        let Some(group) = self.group.map(|group| self.dialect.column(group)) else {
            return ByGroup::default();
        };
        ByGroup {
            given: format!(", {} AS {GROUP}", self.dialect.name(&group)),
            inner: format!("{GROUP}, "),
            answered: format!("{GROUP} AS {group}, "),
        }
    }
}

/// The column of groups within a query.
const GROUP: &str = "grp";
/// What no row is.
const NEVER: &str = "1 = 0";

/// What a query says besides where rows are counted by group.
#[derive(Default)]
struct ByGroup {
    /// Behind the columns that are given.
    given: String,
    /// Before the columns within the query.
    inner: String,
    /// Before the columns of the answer.
    answered: String,
}

/// Whether the bucket of a row is one of these, if there are any.
fn is_one_of(buckets: Buckets, open: &[f64]) -> Option<String> {
    let numbers: Vec<String> = open.iter().map(|&open| number(buckets, open)).collect();
    let lines: Vec<String> = numbers.chunks(IN_A_LINE).map(|line| line.join(", ")).collect();
    match &lines[..] {
        [] => None,
        [line] => Some(format!("bucket IN ({line})")),
        lines => Some(format!("bucket IN (\n  {}\n)", lines.join(",\n  "))),
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

    const QUERY: Query<'_> = Query {
        dialect: Dialect::DuckDb,
        from: "scored",
        score: "score",
        label: "label",
        group: None,
        skip_ties: false,
    };

    fn open(name: &str, buckets: &[f64]) -> OpenGroup {
        OpenGroup { name: name.into(), buckets: buckets.into() }
    }

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

    /// Every query of the engines that `cargo xtask engines` asks, and of another, word for word: a change of one is to be run there.
    #[test]
    fn queries_by_group_are_pinned() {
        let buckets = Buckets::Probabilities;
        let groups = [open("f", &[3.0, 9.0]), open("it's", &[7.0])];
        for (dialect, pinned) in [
            (Dialect::DuckDb, include_str!("by_group.duckdb.sql")),
            (Dialect::Spark, include_str!("by_group.spark.sql")),
            (Dialect::DataFusion, include_str!("by_group.datafusion.sql")),
            (Dialect::Postgres, include_str!("by_group.postgres.sql")),
        ] {
            let query = Query { dialect, group: Some("the sex"), ..QUERY };
            let found = [
                query.first_pass(buckets),
                query.second_pass_by_group(buckets, &groups),
                query.of_codes(),
                Query { group: None, ..query }.first_pass(Buckets::margins(1024.0).unwrap()),
            ];
            assert_eq!(found.join("\n"), pinned, "{dialect:?}");
        }
    }

    #[test]
    fn a_query_by_group_is_standard_sql() {
        let query = Query { dialect: Dialect::Postgres, group: Some("the sex"), ..QUERY };
        let text = query.second_pass_by_group(
            Buckets::Probabilities,
            &[open("f", &[3.0, 9.0]), open("m", &[]), open("x", &[7.0])],
        );
        assert!(
            text.contains(
                "WHERE grp = 'f' AND bucket IN (3, 9)\n  OR grp = 'x' AND bucket IN (7)\nGROUP BY grp, score"
            ),
            "{text}"
        );
        assert!(text.contains("SELECT grp AS \"the sex\", score, CAST(count(*)"), "{text}");
        let text = query.second_pass_by_group(Buckets::Probabilities, &[open("f", &[]), open("m", &[])]);
        assert!(text.contains("WHERE 1 = 0\n"), "{text}");
        let text = query.of_codes();
        assert!(text.contains(" FROM CAST(\"the sex\" AS TEXT)), '') AS grp\n  FROM scored"), "{text}");
        assert!(text.ends_with("FROM seen GROUP BY grp, code ORDER BY grp, code;\n"), "{text}");
    }

    #[test]
    fn groups_are_quoted_as_the_engine_has_it() {
        let said = |dialect| {
            let query = Query { dialect, group: Some("g"), ..QUERY };
            query.second_pass_by_group(Buckets::Probabilities, &[open("it's a \\\nb", &[1.0])])
        };
        for dialect in [Dialect::DuckDb, Dialect::DataFusion, Dialect::Postgres] {
            assert!(said(dialect).contains("grp = 'it''s a \\\nb' AND"), "{}", said(dialect));
        }
        assert_eq!(Dialect::Spark.literal("${spark.app.name} $x"), "'\\u0024{spark.app.name} $x'");
        assert_eq!(Dialect::DuckDb.literal("${x}"), "'${x}'");
        for dialect in [Dialect::Spark, Dialect::BigQuery] {
            assert!(said(dialect).contains("grp = 'it\\'s a \\\\\\nb' AND"), "{}", said(dialect));
        }
    }

    /// Every column of an answer is known by the list of those that a column of groups cannot be called.
    #[test]
    fn columns_of_answers_are_known() {
        let query = Query { group: Some("sex"), ..QUERY };
        let margins = Buckets::margins(1.0).unwrap();
        let texts = [
            query.first_pass(Buckets::Probabilities),
            query.first_pass(margins),
            query.second_pass(margins, &[]),
            query.of_codes(),
        ];
        let mut known = 0;
        for text in &texts {
            let answer = text.rsplit_once("\nSELECT ").unwrap().1.split("\nFROM ").next().unwrap();
            for column in
                answer.replace("AS BIGINT)", "").split([',', '\n']).filter(|part| !part.trim().is_empty())
            {
                let name = column.rsplit(' ').next().unwrap().trim_matches('"');
                assert!(is_column_of_answer(name) || name == "sex", "{name} in {answer}");
                known += usize::from(is_column_of_answer(name));
            }
        }
        assert_eq!(known, 9 + 9 + 3 + 3);
        assert!(is_column_of_answer(" Heaviest") && !is_column_of_answer("sex"));
    }
}
