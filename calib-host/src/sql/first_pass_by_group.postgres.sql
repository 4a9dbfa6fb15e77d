WITH given AS (
  SELECT CAST("score" AS DOUBLE PRECISION) AS x, "label" AS y, nullif(trim(CAST("the sex" AS TEXT)), '') AS grp FROM scored
),
checked AS (
  SELECT grp, x, y, CASE
    WHEN x IS NULL OR x = CAST('NaN' AS DOUBLE PRECISION) THEN 1
    WHEN x < 0e0 OR x > 1e0 THEN 2
    WHEN y IS NULL OR (y <> 0 AND y <> 1) THEN 3
    WHEN grp IS NULL THEN 4
    ELSE 0 END AS fault
  FROM given
),
seen AS (
  SELECT grp, fault,
    CASE WHEN fault <> 0 OR abs(x) <= 7.006492321624085e-46 THEN 0e0 ELSE CAST(CAST(x AS REAL) AS DOUBLE PRECISION) END AS score,
    CASE WHEN fault = 0 AND y = 1 THEN 1 ELSE 0 END AS positive
  FROM checked
),
scores AS (
  SELECT grp, fault, score, count(*) AS m, sum(positive) AS k FROM seen GROUP BY grp, fault, score
),
placed AS (
  SELECT grp, fault, CAST(floor(score * 65536) AS BIGINT) AS bucket, score, m, k FROM scores
)
SELECT grp AS "the sex", fault, bucket AS bucket, 65536 AS per_unit,
  CAST(sum(m) AS BIGINT) AS n, CAST(sum(k) AS BIGINT) AS positives,
  min(score) AS lowest, max(score) AS highest,
  CAST(sum(CASE WHEN m > 1 THEN m ELSE 0 END) AS BIGINT) AS tied, CAST(max(m) AS BIGINT) AS heaviest
FROM placed GROUP BY grp, fault, bucket ORDER BY grp, fault, bucket;
