"""One experiment on real rows: a classifier is trained, its scores are calibrated by every method, and test rows judge them."""

import warnings
import zlib
from functools import lru_cache

import numpy as np

import data
from figures import losses, paired_interval, refuted
from methods import DEFAULT, Rows, as_probs, costs, fitted
from models import scores_of

#: The calibration rows of the splits, one after the other; a third of a data set at most.
CALIBRATION_ROWS = (250, 500, 1000, 2000)
MOST_TRAINING_ROWS, MOST_TEST_ROWS = 3000, 6000
#: A change of the Brier score that is no more than that of rounding to float32.
ROUNDING = 1e-6

_rows = lru_cache(maxsize=2)(data.load)


def ranges_of(calibrator, rows):
    """The score ranges of a calibrator: ends, test rows, hits and interval, as ``calib assess`` lists them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return calibrator.assess(rows.scores, rows.labels)["verdict"]["ranges"] or []


def experiment(name, model, split, methods, *, with_costs=False):
    """The record of a split: each method's losses, whether it made the scores significantly worse, and what the default's intervals met."""
    features, labels = _rows(name)
    seed = zlib.crc32(f"{name} {model} {split}".encode())
    order = np.random.default_rng(seed).permutation(len(labels))
    third = len(labels) // 3
    training = order[: min(third, MOST_TRAINING_ROWS)]
    n = min(third, CALIBRATION_ROWS[split % len(CALIBRATION_ROWS)])
    others = order[third : third + n + MOST_TEST_ROWS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind, scores = scores_of(model, seed, features[training], labels[training], features[others])
    rows = Rows(kind, scores, labels[others])
    calibration, test = rows.part(slice(0, n)), rows.part(slice(n, None))
    record = {
        "pair": [name, model],
        "split": split,
        "seed": seed,
        "rows": [n, len(test.labels)],
        "kind": kind,
        "classes": int(labels.max()) + 1,
        "hits": float(test.hits().mean()),
        "losses": {},
        "worse": {},
        "bytes": {},
        "failed": [],
    }
    unchanged = losses(as_probs(kind, test.scores), test.hits())
    per_row = {}
    for method in (method for method in methods if kind in method.kinds):
        made = fitted(method, calibration)
        if isinstance(made, str):
            # The scores stay as they are.
            record["failed"].append(made)
            per_row[method.name] = unchanged
            continue
        predict, calibrator = made
        per_row[method.name] = losses(predict(test.scores), test.hits())
        if calibrator is not None:
            record["bytes"][method.name] = len(calibrator.to_bytes())
        if method.name == DEFAULT:
            ranges = ranges_of(calibrator, test)
            found = [(one["n"], one["hits"], one["interval"]["lo"], one["interval"]["hi"]) for one in ranges]
            record["ranges"], record["refuted"] = len(found), bool(refuted(found))
            record["uncalibrated"] = len(calibrator.uncalibrated)
    for of_method, both in per_row.items():
        record["losses"][of_method] = [float(loss.mean()) for loss in both]
        mean, lowest, _ = paired_interval(both[0] - unchanged[0])
        record["worse"][of_method] = bool(lowest > 0 and mean > ROUNDING)
    if with_costs:
        record["costs"] = costs(methods, calibration)
    return record
