"""Compares every reader of `calib` with Python's on files that were damaged at random: no row is lost, and no number changed, in silence.

    python3 tests/differential/readers.py --calib target/debug/calib --files 10000

A file is one of the seeds below with one to three changes of its bytes. `calib apply` and csv, json, NumPy or pyarrow read it. What `calib`
refuses, or reports in a note, is fine. What it reads without a word has to be what Python reads, or what the seed holds. Needs NumPy and pyarrow.
"""

import argparse
import csv
import gzip
import io
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SPECIAL = [b'"', b",", b";", b"\n", b"\r", b"\0", b"\xff", b"\xc3", b"\xe9", b" ", b"\t", b'""', b"\n\n", b"'", b"{", b"e", b"-"]


def rows_of(rng):
    rows = rng.randint(3, 40)
    scores = [round(rng.random(), 4) for _ in range(rows)]
    return scores, [int(rng.random() < score) for score in scores]


def text(rng, separator, quoted, line_end, comma):
    scores, labels = rows_of(rng)
    note = lambda: rng.choice(["x", "Jos\u00e9", "came late, went home", 'a "b"', "two\nlines", ""])
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=line_end, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    writer.writerow(["score", "label", "note"])
    for score, label in zip(scores, labels):
        writer.writerow([f"{score:.4f}".replace(".", "," if comma else "."), label, note()])
    return out.getvalue(), scores


def table(scores, labels):
    return pa.table({"score": scores, "label": labels})


def seed(rng):
    """The kind of a file, its name, its bytes, how Python reads its scores, and the scores."""
    kind = rng.choice(["csv"] * 6 + ["jsonl", "npy", "npz", "parquet", "arrow"])
    if kind == "csv":
        separator = rng.choice(",,;\t|")
        comma = separator != "," and rng.random() < 0.5
        content, scores = text(rng, separator, rng.random() < 0.3, rng.choice(["\n", "\r\n"]), comma)
        encoding = rng.choice(["utf-8"] * 4 + ["utf-8-sig", "utf-16"])
        return "t.csv", content.encode(encoding), lambda data: of_csv(data, separator, comma, encoding), scores
    scores, labels = rows_of(rng)
    out = io.BytesIO()
    if kind == "jsonl":
        lines = [json.dumps({"score": score, "label": label, "note": "x"}) for score, label in zip(scores, labels)]
        return "t.jsonl", "\n".join(lines).encode() + b"\n", of_json, scores
    if kind == "npy":
        np.save(out, np.array(scores))
        return "t.npy", out.getvalue(), lambda data: np.load(io.BytesIO(data)).ravel().tolist(), scores
    if kind == "npz":
        np.savez(out, score=np.array(scores), label=np.array(labels))
        return "t.npz", out.getvalue(), lambda data: np.load(io.BytesIO(data))["score"].tolist(), scores
    if kind == "parquet":
        # `calib` does not read the Arrow schema that pyarrow adds, and pyarrow refuses the file if that is damaged.
        pq.write_table(table(scores, labels), out, store_schema=False)
        return "t.parquet", out.getvalue(), lambda data: pq.read_table(io.BytesIO(data), columns=["score"])["score"].to_pylist(), scores
    with pa.ipc.new_file(out, table(scores, labels).schema) as writer:
        writer.write_table(table(scores, labels))
    return "t.arrow", out.getvalue(), lambda data: pa.ipc.open_file(data).read_all()["score"].to_pylist(), scores


def of_csv(data, separator, comma, encoding):
    content = data.decode("utf-8-sig" if encoding != "utf-16" else encoding)
    # Spaces behind a closing quote are no part of a field.
    content = re.sub(r'" +(?=[,;\t|\r\n]|$)', '"', content)
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
    lines = [line for line in reader if line and not (len(line) == 1 and not line[0].strip())]
    header, lines = [name.strip() for name in lines[0]], lines[1:]
    if any(len(line) != len(header) for line in lines) or header.count("score") != 1:
        raise ValueError("the rows have other numbers of fields than the header")
    fields = [line[header.index("score")].strip() for line in lines]
    return [float(field.replace(",", ".", 1) if comma else field) for field in fields]


def of_json(data):
    return [float(json.loads(line)["score"]) for line in data.decode().split("\n") if line.strip()]


def damaged(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(9):
            case 6 | 7 if (digits := [place for place, byte in enumerate(data) if byte in b"0123456789"]):
                data[rng.choice(digits)] = rng.choice(b"0123456789")
            case 8 if (ends := [place + 1 for place, byte in enumerate(data) if byte == 10]):
                start, end = sorted(rng.choices([0, *ends], k=2))
                data[start:end] = data[start:end] * rng.choice([0, 2])
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at : at + rng.choice([1, 1, 2, 7])]
            case 2:
                data[at:at] = data[at : at + rng.randint(1, 40)]
            case 3 if rng.random() < 0.3:
                del data[at:]
            case _:
                data[at:at] = rng.choice(SPECIAL)
        if not data:
            break
    return bytes(data)


def same(ours, theirs):
    return len(ours) == len(theirs) and all(
        a == b or (b is not None and math.isclose(a, b, rel_tol=1e-12, abs_tol=0)) for a, b in zip(ours, theirs)
    )


def check(number, args, folder, calibrator):
    """The outcome of a file, and what is wrong with it."""
    rng = random.Random(f"{args.seed}/{number}")
    name, whole, read, scores = seed(rng)
    data = damaged(whole, rng)
    packed = name.endswith((".csv", ".jsonl")) and rng.random() < 0.1
    path = folder / f"{number}-{name}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(data, 1) if packed else data)
    command = [args.calib, "apply", str(calibrator), "--scores", str(path), "-o", "-", "--format", "csv"]
    run = subprocess.run(command, capture_output=True, timeout=120)
    errors = run.stderr.decode()
    path.unlink()
    if run.returncode not in (0, 2, 3):
        return "broken", f"{name}: exit code {run.returncode}: {errors}", data
    if run.returncode:
        return "refused", None, data
    lines = list(csv.DictReader(io.StringIO(run.stdout.decode(), newline="")))
    column = next((column for column in lines[0] if column.strip() in ("score", "0")), None)
    ours = [float(line[column]) for line in lines] if column else None
    try:
        theirs = read(data)
    except Exception as cause:
        theirs, why = None, f"Python refuses it: {str(cause)[-80:]}"
    if theirs is not None and ours is not None and same(ours, theirs):
        return "the same", None, data
    # A separator and decimal commas are told of every such file.
    notes = [line for line in errors.splitlines() if line.startswith(("note:", "warning:"))]
    notes = [line for line in notes if "separate the fields" not in line and "decimal commas" not in line]
    if notes:
        return "told", None, data
    if ours is not None and same(ours, scores):
        return "as the seed, and not as Python", None, data
    why = why if theirs is None else f"{len(theirs)} rows in Python, {theirs[:3]} ..."
    return "in silence", f"{name}: {len(ours or [])} rows, {(ours or [])[:3]} ... of {len(scores)}; {why}", data


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calib", default="target/debug/calib", help="the program")
    parser.add_argument("--files", type=int, default=10_000, help="how many files are read")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the files that are wrong")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = "".join(f"{row / 60},{int(row * 7 % 60 < row)}\n" for row in range(60))
        (folder / "fit.csv").write_text("score,label\n" + rows)
        calibrator = folder / "cal.cal"
        fit = [args.calib, "fit", str(folder / "fit.csv"), "--method", "isotonic", "-o", str(calibrator), "--quiet"]
        subprocess.run(fit, check=True)
        counts, wrong = {}, 0
        with ThreadPoolExecutor(args.jobs) as pool:
            outcomes = pool.map(lambda number: check(number, args, folder, calibrator), range(args.files))
            for number, (outcome, why, data) in enumerate(outcomes):
                counts[outcome] = counts.get(outcome, 0) + 1
                if why:
                    wrong += 1
                    print(f"file {number}: {outcome}: {why}")
                    if args.keep:
                        args.keep.mkdir(parents=True, exist_ok=True)
                        (args.keep / f"{number}-{why.split(':')[0]}").write_bytes(data)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
