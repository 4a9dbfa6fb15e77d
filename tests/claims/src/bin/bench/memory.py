"""What people use in Python, timed on the same arrays. Prints a line of JSON for every measurement."""

import json
import sys
import time

import numpy as np
from sklearn.calibration import _SigmoidCalibration, calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score, roc_curve

BINS = 15
REPEATS = 3


def measure(name, peer, run):
    """The best of a few runs."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    print(json.dumps({"name": name, "peer": peer, "seconds": best}), flush=True)


def binned(scores, labels, edges):
    bins = np.digitize(scores, edges)
    counts = np.bincount(bins, minlength=len(edges) + 1)
    return np.bincount(bins, weights=labels, minlength=len(edges) + 1) / np.maximum(counts, 1)


def umd(scores, labels):
    edges = np.quantile(scores, np.linspace(0, 1, BINS + 1)[1:-1])
    return edges, binned(scores, labels, edges)


def fixed_width(scores, labels):
    return binned(scores, labels, np.linspace(0, 1, BINS + 1)[1:-1].astype(np.float32))


def logit(scores):
    clipped = np.clip(scores.astype(np.float64), 2.0**-24, 1 - 2.0**-24)
    return np.log(clipped / (1 - clipped)).reshape(-1, 1)


def assess(scores, labels):
    """A part of what calib computes: no c_emp, no debiased errors, no convex hull."""
    brier_score_loss(labels, scores)
    log_loss(labels, scores)
    roc_auc_score(labels, scores)
    roc_curve(labels, scores)
    calibration_curve(labels, scores, n_bins=BINS)


def assess_with_netcal(scores, labels):
    """The binned errors alone."""
    from netcal.metrics import ACE, ECE, MCE

    for metric in (ECE, ACE, MCE):
        metric(BINS).measure(scores, labels)


def main(folder, *options):
    scores = np.load(f"{folder}/scores.npy")
    labels = np.load(f"{folder}/labels.npy")

    measure("umd", "numpy: quantile, digitize, bincount", lambda: umd(scores, labels))
    measure("fixed-width", "numpy: digitize, bincount", lambda: fixed_width(scores, labels))
    measure(
        "isotonic",
        "scikit-learn: IsotonicRegression",
        lambda: IsotonicRegression(out_of_bounds="clip").fit(scores, labels),
    )
    measure(
        "platt",
        "scikit-learn: LogisticRegression, unpenalized",
        lambda: LogisticRegression(C=np.inf).fit(logit(scores), labels),
    )
    measure(
        "platt",
        "scikit-learn: _SigmoidCalibration",
        lambda: _SigmoidCalibration().fit(logit(scores).ravel(), labels),
    )
    edges, values = (array.astype(np.float32) for array in umd(scores, labels))
    measure("apply", "numpy: searchsorted, take", lambda: values.take(np.searchsorted(edges, scores, side="right")))
    measure(
        "assess",
        "scikit-learn: brier_score_loss, log_loss, roc_auc_score, roc_curve, calibration_curve",
        lambda: assess(scores, labels),
    )
    if "netcal" in options:
        measure("assess", "netcal: ECE, ACE, MCE", lambda: assess_with_netcal(scores, labels))


main(*sys.argv[1:])
