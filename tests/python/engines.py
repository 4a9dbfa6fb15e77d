"""Asks engines what `calib sql` prints, and compares what is fitted to their answers with the fit of all rows, byte for byte.

`cargo xtask engines` runs it. Each case is a Parquet file: skewed scores with ties at the edges of buckets and bins, margins, scores of
few values, integer codes, and rows of no use, which have to be counted and refused. All of them are asked by group, too: groups of
text that has to be quoted, of integers and of booleans, large and small, and too small for a table.
"""

import argparse
import json
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy
import pyarrow
import pyarrow.csv
import pyarrow.parquet

SEED = 20_260
CODES = ["--score-encoding", "i8,1/256,-128"]
UMD = ["--method", "umd", "--bins", "15"]
ISOTONIC = ["--method", "isotonic"]
FIXED = ["--method", "fixed-width", "--bins", "12"]


class DuckDb:
    name = "duckdb"

    def __init__(self):
        import duckdb

        self.connection = duckdb.connect()

    def ask(self, rows, sql, stem):
        self.connection.execute(f"CREATE OR REPLACE VIEW scored AS SELECT * FROM read_parquet('{rows}')")
        answer = stem.with_suffix(".csv")
        self.connection.execute(f"COPY ({sql}) TO '{answer}' (HEADER)")
        return answer


class DataFusion:
    name = "datafusion"

    def __init__(self):
        import datafusion

        self.context = datafusion.SessionContext()

    def ask(self, rows, sql, stem):
        self.context.deregister_table("scored")
        self.context.register_parquet("scored", str(rows))
        answer = stem.with_suffix(".parquet")
        pyarrow.parquet.write_table(self.context.sql(sql).to_arrow_table(), answer)
        return answer


class Spark:
    name = "spark"

    def __init__(self):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[*]").appName("calib engines")
        for key, value in {
            "spark.ui.enabled": "false",
            "spark.driver.memory": "3g",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": "4",
        }.items():
            builder = builder.config(key, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")

    def ask(self, rows, sql, stem):
        self.session.read.parquet(str(rows)).createOrReplaceTempView("scored")
        folder = stem.with_suffix(".folder")
        # Quotes within quotes are doubled, as everywhere else.
        answer = self.session.sql(sql).coalesce(1).write.mode("overwrite").option("escape", '"')
        answer.csv(str(folder), header=True)
        (part,) = folder.glob("part-*.csv")
        return part.replace(stem.with_suffix(".csv"))


ENGINES = [DuckDb, DataFusion, Spark]


def labels(random, probabilities):
    return (random.random(len(probabilities)) < probabilities).astype(numpy.int32)


def skewed(random, rows):
    """Most scores near 0, as doubles; a tenth at the ends of buckets and at quarters, and some whose 32-bit float is 0 or 1."""
    scores = random.random(rows) ** 6
    edges = random.integers(0, 65_537, rows) / 65_536
    quarters = random.integers(0, 5, rows) / 4
    ends = random.choice([0.0, -0.0, 1e-60, 1.0, 1 - 1e-12], rows)
    which = random.random(rows)
    scores = numpy.select([which < 0.05, which < 0.1, which < 0.11], [edges, quarters, ends], scores)
    return scores, labels(random, scores**1.3)


def few(random, rows):
    """32-bit floats of 900 values."""
    scores = (random.integers(0, 900, rows) / 899).astype(numpy.float32)
    return scores, labels(random, scores**2)


def margins(random, rows):
    """Margins, most of them small; some are huge, and some have a 32-bit float that is 0."""
    scores = random.normal(0, 3, rows)
    odd = random.choice([3e38, -3e38, 1e30, -1e-50, -0.0, 0.5, -1 / 1024], rows)
    scores = numpy.where(random.random(rows) < 0.02, odd, scores)
    return scores, labels(random, 1 / (1 + numpy.exp(-numpy.clip(scores, -50, 50))))


def codes(random, rows):
    scores = numpy.clip(random.normal(-40, 60, rows), -128, 127).astype(numpy.int32)
    return scores, labels(random, (scores + 128) / 256)


def groups(random, rows):
    """Columns of groups: of text, of which one is written in three ways, of integers, and of booleans."""
    names = ["f", " f ", "\t\u00a0f\r\n", "m", "it's \\ a \"name\", quoted", "Ö", "few"]
    which = random.choice(6, rows, p=[0.6, 0.05, 0.05, 0.25, 0.04, 0.01])
    # Too few for a table.
    which[:5] = 6
    texts = pyarrow.DictionaryArray.from_arrays(which, names).cast(pyarrow.string())
    # These names are those of columns within the queries, too.
    numbers = random.choice([-1, 7, 12], rows, p=[0.9, 0.09, 0.01])
    return {"sex": texts, "m": numbers, "positive": random.random(rows) < 0.3}


class Bench:
    def __init__(self, calib, folder, rows):
        self.calib, self.folder, self.rows = calib, folder, rows
        self.failures = []

    def run(self, *words):
        """Runs calib; its standard output."""
        done = subprocess.run([self.calib, *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            raise RuntimeError(f"calib {' '.join(map(str, words))}\n{done.stderr}")
        return done.stdout

    def written(self, name, scores, labels, groups):
        path = self.folder / f"{name}.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"score": scores, "label": labels, **groups}), path)
        return path

    def fitted(self, case, *words):
        """Fits all rows, which is what engines are compared with."""
        begin = time.perf_counter()
        self.run("fit", *words, "-o", f"{case}.bin".replace(" ", "-"), "--force")
        print(f"  all rows    {case:<34} {time.perf_counter() - begin:6.1f} s", flush=True)

    def artifact(self, path):
        """The bytes of an artifact without CRC and identity, and without the hashes of files and rows."""
        data = bytearray(path.read_bytes())
        inspected = json.loads(self.run("inspect", path, "--json"))
        data[12:24] = bytes(12)
        for name in (inspected["provenance"]["data_sha256"], inspected["sample"]["rows"]):
            digest = bytes.fromhex(name)
            at = data.index(digest)
            data[at : at + len(digest)] = bytes(len(digest))
        return bytes(data)

    def check(self, engine, case, said, same):
        print(f"  {engine.name:<11} {case:<34} {said}", flush=True)
        if not same:
            self.failures.append(f"{engine.name}, {case}")

    def two_passes(self, engine, path, case, kind, group, method):
        stem = self.folder / f"{engine.name}-{path.stem}"
        sql = ["sql", "--dialect", engine.name, "--from", "scored", *kind, *group, *method]
        begin = time.perf_counter()
        first = engine.ask(path, self.run(*sql).rstrip().rstrip(";"), stem.with_name(stem.name + "-1"))
        middle = time.perf_counter()
        second_sql = self.run(*sql, "--pass1", first).rstrip().rstrip(";")
        between = time.perf_counter()
        second = engine.ask(path, second_sql, stem.with_name(stem.name + "-2"))
        end = time.perf_counter()
        counted, all_rows = stem.with_name(stem.name + "-counted.bin"), self.folder / f"{case}.bin".replace(" ", "-")
        self.run("fit", *method, *group, "--passes", first, second, "-o", counted, "--force")
        same = self.artifact(counted) == self.artifact(all_rows)
        said = f"pass 1 {middle - begin:6.1f} s, {first.stat().st_size >> 10:5} KiB; pass 2 {end - between:6.1f} s, "
        said += f"{second.stat().st_size >> 10:5} KiB; {'same bytes' if same else 'OTHER BYTES'}"
        self.check(engine, case, said, same)

    def one_pass(self, engine, path, case, group):
        stem = self.folder / f"{engine.name}-{path.stem}-codes"
        sql = self.run("sql", "--dialect", engine.name, "--from", "scored", *CODES, *group, *UMD)
        answer = engine.ask(path, sql.rstrip().rstrip(";"), stem)
        counted = stem.with_suffix(".bin")
        columns = ["--score-column", "code", "--count-columns", "n,positives"]
        self.run("fit", *UMD, *CODES, *group, "--scores", answer, *columns, "-o", counted, "--force")
        same = self.artifact(counted) == self.artifact(self.folder / f"{case}.bin".replace(" ", "-"))
        self.check(engine, case, "same bytes" if same else "OTHER BYTES", same)

    def faults(self, engine, path, case, group, of_groups):
        """Rows of no use are counted, and calib refuses the answer with their numbers."""
        stem = self.folder / f"{engine.name}-faults"
        sql = self.run("sql", "--dialect", engine.name, "--from", "scored", *group, *UMD)
        answer = engine.ask(path, sql.rstrip().rstrip(";"), stem)
        words = ["fit", *UMD, *group, "--passes", answer, "-o", stem.with_suffix(".bin")]
        done = subprocess.run([self.calib, *map(str, words)], capture_output=True, text=True)
        wanted = "5 with no score, or NaN, 3 with a score that is out of range, 4 with a label other than 0 and 1"
        wanted += of_groups
        refused = done.returncode == 3 and wanted in done.stderr
        self.check(engine, case, "counted and refused" if refused else f"TAKEN: {done.stderr}", refused)


def faulty(bench, random):
    scores, of_rows = skewed(random, 10_000)
    scores = pyarrow.array(scores.tolist()[:-12] + [None, None] + [float("nan")] * 3 + [1.5, -1e-9, float("inf")] + [0.5] * 4)
    of_rows = pyarrow.array(of_rows.tolist()[:-4] + [2, -1, None, 7], pyarrow.int32())
    # The rows of no use are of one group; two have none, and one has white space alone.
    names = pyarrow.array([None, None, " \t\u2003"] + ["f", "m"] * 4_992 + ["f"] * 13)
    return bench.written("faults", scores, of_rows, {"sex": names})


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--calib", type=Path, required=True)
    arguments.add_argument("--folder", type=Path, required=True)
    arguments.add_argument("--rows", type=int, default=10_000_000)
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(given.calib, given.folder, given.rows)
    random = numpy.random.default_rng(SEED)

    print(f"{given.rows} rows in Parquet", flush=True)
    two_passes, files = [], {}
    for name, make, kind, methods in [
        (
            "skewed",
            skewed,
            [],
            {"umd": (UMD, ["sex", "m"]), "isotonic": (ISOTONIC, ["sex"]), "fixed-width": (FIXED, ["sex"])},
        ),
        ("few", few, [], {"umd": (UMD, ["positive"]), "isotonic": (ISOTONIC, ["positive"])}),
        ("margins", margins, ["--margins"], {"umd": (UMD, ["sex"]), "isotonic": (ISOTONIC, ["m"])}),
    ]:
        files[name] = bench.written(name, *make(random, given.rows), groups(random, given.rows))
        source = ["--margins" if kind else "--scores", files[name]]
        for method_name, (method, columns) in methods.items():
            for column in [None, *columns]:
                case = f"{name} {method_name}" + (f" by {column}" if column else "")
                group = ["--group-column", column] if column else []
                bench.fitted(case, *method, *group, *source)
                two_passes.append((files[name], case, kind, group, method))
    files["codes"] = bench.written("codes", *codes(random, given.rows), groups(random, given.rows))
    one_pass = [("codes umd", []), ("codes umd by sex", ["--group-column", "sex"])]
    for case, group in one_pass:
        bench.fitted(case, *UMD, *CODES, *group, "--scores", files["codes"])
    files["faults"] = faulty(bench, random)
    faults = [
        ("rows of no use", [], ""),
        ("rows of no use by sex", ["--group-column", "sex"], ", 3 with no group"),
    ]

    for kind in ENGINES:
        try:
            engine = kind()
        except Exception:  # An engine that does not start is told, and the others are asked.
            traceback.print_exc()
            print(f"\n*** {kind.name} DOES NOT RUN HERE: nothing is known of its queries ***\n", flush=True)
            bench.failures.append(f"{kind.name} does not run")
            continue
        for work in [
            *((bench.two_passes, (engine, *case)) for case in two_passes),
            *((bench.one_pass, (engine, files["codes"], *case)) for case in one_pass),
            *((bench.faults, (engine, files["faults"], *case)) for case in faults),
        ]:
            try:
                work[0](*work[1])
            except Exception as error:  # Every query is asked, whatever becomes of the others.
                bench.failures.append(f"{engine.name}: {error}")
                print(f"  {engine.name:<11} FAILED: {error}", flush=True)

    for failure in bench.failures:
        print(f"failed: {failure}", file=sys.stderr)
    if not bench.failures:
        print("every engine's answers give the artifacts of all rows, byte for byte but for the hashes of the data")
    sys.exit(bool(bench.failures))


main()
