"""Compares calibration methods on real data and known curves: `cargo xtask bench accuracy`."""

import os

# One thread a process: before NumPy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from pathlib import Path

import table
from experiments import experiment
from methods import installed
from models import PAIRS
from truths import CURVES, ROWS, draw

#: What `--quick` runs: data of scikit-learn alone.
QUICK = [("breast-cancer", "naive Bayes"), ("digits", "forest")]
#: What the pages' tables replace.
MARK = "<!-- `cargo xtask bench accuracy --write` writes what follows. -->\n"


def _one(task):
    methods, _ = installed()
    kind, *words = task
    if kind == "curve":
        return kind, draw(*words, methods)
    # What a device pays depends on the kind of scores: one split of a pair tells.
    return kind, experiment(*words, methods, with_costs=words[-1] == 0)


def run(tasks, jobs):
    """The records of the experiments and the draws, in the order of the tasks."""
    found = {}
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(_one, task): at for at, task in enumerate(tasks)}
        for done, one in enumerate(as_completed(waiting), 1):
            found[waiting[one]] = one.result()
            print(f"\r{done} of {len(tasks)}", end="\n" if done == len(tasks) else "", file=sys.stderr, flush=True)
    records = [found[at] for at in range(len(tasks))]
    return [[record for kind, record in records if kind == wanted] for wanted in ("data", "curve")]


def licenses(pairs):
    """Where the data come from, a line for each origin."""
    from data import SETS

    names = dict.fromkeys(name for name, _ in pairs)
    origins = dict.fromkeys(SETS[name].named() for name in names)
    trained = [f"LightGBM {version('lightgbm')}"] if any(model == "LightGBM" for _, model in pairs) else []
    return trained + [f"data of {origin}: {', '.join(name for name in names if SETS[name].named() == origin)}" for origin in origins]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="two pairs and 200 rows of the curves")
    arguments.add_argument("--splits", type=int, default=8)
    arguments.add_argument("--sets", type=int, default=20)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--records", type=Path, help="keeps what was found here")
    arguments.add_argument("--page", type=Path, help="writes the tables into this page")
    asked = arguments.parse_args()
    pairs, rows, sets, splits = PAIRS, ROWS, asked.sets, asked.splits
    if asked.quick:
        pairs, rows, sets, splits = QUICK, ROWS[:1], 2, 2
    tasks = [("data", *pair, split) for pair in pairs for split in range(splits)]
    tasks += [("curve", curve, n, number) for curve in range(len(CURVES)) for n in rows for number in range(sets)]
    _, lines = installed()
    lines += [f"seeds: splits 0 to {splits - 1}, draws 0 to {sets - 1}, each with the name of its data, or curve and rows", *licenses(pairs)]
    experiments, draws = run(tasks, asked.jobs)
    if asked.records:
        asked.records.parent.mkdir(parents=True, exist_ok=True)
        asked.records.write_text(json.dumps({"data": experiments, "curve": draws, "lines": lines}))
    text, is_kept = table.page(experiments, draws, lines)
    print(text)
    if asked.quick:
        print("two splits and two draws show that all of it runs; they are too few for the criteria", file=sys.stderr)
    if asked.page:
        head, _, _ = asked.page.read_text().partition(MARK)
        asked.page.write_text(f"{head}{MARK}\n{text}")
    return 0 if is_kept or asked.quick else 1


if __name__ == "__main__":
    sys.exit(main())
