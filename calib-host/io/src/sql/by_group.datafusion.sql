WITH given AS (
  SELECT CAST("score" AS DOUBLE) AS x, "label" AS y, nullif(trim(BOTH chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(32) || chr(133) || chr(160) || chr(5760) || chr(8192) || chr(8193) || chr(8194) || chr(8195) || chr(8196) || chr(8197) || chr(8198) || chr(8199) || chr(8200) || chr(8201) || chr(8202) || chr(8232) || chr(8233) || chr(8239) || chr(8287) || chr(12288) FROM CAST("the sex" AS VARCHAR)), '') AS grp FROM scored
),
checked AS (
  SELECT grp, x, y, CASE
    WHEN x IS NULL OR isnan(x) THEN 1
    WHEN x < 0e0 OR x > 1e0 THEN 2
    WHEN y IS NULL OR (y <> 0 AND y <> 1) THEN 3
    WHEN grp IS NULL THEN 4
    ELSE 0 END AS fault
  FROM given
),
seen AS (
  SELECT grp, fault,
    CASE WHEN fault <> 0 OR abs(x) <= 7.006492321624085e-46 THEN 0e0 ELSE CAST(CAST(x AS REAL) AS DOUBLE) END AS score,
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

WITH given AS (
  SELECT CAST("score" AS DOUBLE) AS x, "label" AS y, nullif(trim(BOTH chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(32) || chr(133) || chr(160) || chr(5760) || chr(8192) || chr(8193) || chr(8194) || chr(8195) || chr(8196) || chr(8197) || chr(8198) || chr(8199) || chr(8200) || chr(8201) || chr(8202) || chr(8232) || chr(8233) || chr(8239) || chr(8287) || chr(12288) FROM CAST("the sex" AS VARCHAR)), '') AS grp FROM scored
),
checked AS (
  SELECT grp, x, y, CASE
    WHEN x IS NULL OR isnan(x) THEN 1
    WHEN x < 0e0 OR x > 1e0 THEN 2
    WHEN y IS NULL OR (y <> 0 AND y <> 1) THEN 3
    WHEN grp IS NULL THEN 4
    ELSE 0 END AS fault
  FROM given
),
seen AS (
  SELECT grp, fault,
    CASE WHEN fault <> 0 OR abs(x) <= 7.006492321624085e-46 THEN 0e0 ELSE CAST(CAST(x AS REAL) AS DOUBLE) END AS score,
    CASE WHEN fault = 0 AND y = 1 THEN 1 ELSE 0 END AS positive
  FROM checked
),
placed AS (
  SELECT grp, CAST(floor(score * 65536) AS BIGINT) AS bucket, score, positive FROM seen WHERE fault = 0
)
SELECT grp AS "the sex", score, CAST(count(*) AS BIGINT) AS n, CAST(sum(positive) AS BIGINT) AS positives
FROM placed WHERE grp = 'f' AND bucket IN (3, 9)
  OR grp = 'it''s' AND bucket IN (7)
GROUP BY grp, score ORDER BY grp, score;

WITH seen AS (
  SELECT CASE WHEN "label" = 0 OR "label" = 1 THEN "score" END AS code,
    CASE WHEN "label" = 1 THEN 1 ELSE 0 END AS positive, nullif(trim(BOTH chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(32) || chr(133) || chr(160) || chr(5760) || chr(8192) || chr(8193) || chr(8194) || chr(8195) || chr(8196) || chr(8197) || chr(8198) || chr(8199) || chr(8200) || chr(8201) || chr(8202) || chr(8232) || chr(8233) || chr(8239) || chr(8287) || chr(12288) FROM CAST("the sex" AS VARCHAR)), '') AS grp
  FROM scored
)
SELECT grp AS "the sex", code, CAST(count(*) AS BIGINT) AS n, CAST(sum(positive) AS BIGINT) AS positives
FROM seen GROUP BY grp, code ORDER BY grp, code;

WITH given AS (
  SELECT CAST("score" AS DOUBLE) AS x, "label" AS y FROM scored
),
checked AS (
  SELECT x, y, CASE
    WHEN x IS NULL OR isnan(x) THEN 1
    WHEN abs(x) >= 3.4028235677973366e38 THEN 2
    WHEN y IS NULL OR (y <> 0 AND y <> 1) THEN 3
    ELSE 0 END AS fault
  FROM given
),
seen AS (
  SELECT fault,
    CASE WHEN fault <> 0 OR abs(x) <= 7.006492321624085e-46 THEN 0e0 ELSE CAST(CAST(x AS REAL) AS DOUBLE) END AS score,
    CASE WHEN fault = 0 AND y = 1 THEN 1 ELSE 0 END AS positive
  FROM checked
),
scores AS (
  SELECT fault, score, count(*) AS m, sum(positive) AS k FROM seen GROUP BY fault, score
),
placed AS (
  SELECT fault, CASE WHEN abs(score * 1.024e3) >= 4503599627370496e0 THEN score * 1.024e3 ELSE CAST(floor(score * 1.024e3) AS DOUBLE) END AS bucket, score, m, k FROM scores
)
SELECT fault, bucket AS margin_bucket, 1.024e3 AS per_unit,
  CAST(sum(m) AS BIGINT) AS n, CAST(sum(k) AS BIGINT) AS positives,
  min(score) AS lowest, max(score) AS highest,
  CAST(sum(CASE WHEN m > 1 THEN m ELSE 0 END) AS BIGINT) AS tied, CAST(max(m) AS BIGINT) AS heaviest
FROM placed GROUP BY fault, bucket ORDER BY fault, bucket;
