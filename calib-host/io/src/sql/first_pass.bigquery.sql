CREATE TEMP FUNCTION single(x FLOAT64) RETURNS FLOAT64 LANGUAGE js AS "return Math.fround(x);";
WITH given AS (
  SELECT CAST(`score` AS FLOAT64) AS x, `label` AS y FROM scored
),
checked AS (
  SELECT x, y, CASE
    WHEN x IS NULL OR IS_NAN(x) THEN 1
    WHEN x < 0e0 OR x > 1e0 THEN 2
    WHEN y IS NULL OR (y <> 0 AND y <> 1) THEN 3
    ELSE 0 END AS fault
  FROM given
),
seen AS (
  SELECT fault,
    CASE WHEN fault <> 0 OR abs(x) <= 7.006492321624085e-46 THEN 0e0 ELSE single(x) END AS score,
    CASE WHEN fault = 0 AND y = 1 THEN 1 ELSE 0 END AS positive
  FROM checked
),
placed AS (
  SELECT fault, CAST(floor(score * 65536) AS BIGINT) AS bucket, score, 1 AS m, positive AS k FROM seen
)
SELECT fault, bucket AS bucket, 65536 AS per_unit,
  CAST(sum(m) AS BIGINT) AS n, CAST(sum(k) AS BIGINT) AS positives,
  min(score) AS lowest, max(score) AS highest
FROM placed GROUP BY fault, bucket ORDER BY fault, bucket;
