"""What people use in Python to fit a calibrator, from a file on: `fit.py METHOD FORMAT` in the folder of the files."""

import sys

import numpy as np

BINS = 15


def read(form):
    """Scores and labels. What is imported is what the reading needs."""
    if form == "npy":
        return np.load("scores.npy"), np.load("labels.npy")
    if form == "csv":
        import pandas as pd

        table = pd.read_csv("rows.csv")
        return table["score"].to_numpy(), table["label"].to_numpy()
    if form == "parquet":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table("rows.parquet", columns=["score", "label"])
    elif form == "csv-pyarrow":
        import pyarrow.csv

        table = pyarrow.csv.read_csv("rows.csv")
    else:
        import pyarrow.json

        table = pyarrow.json.read_json("rows.jsonl")
    return table["score"].to_numpy(), table["label"].to_numpy()


def binned(scores, labels, edges):
    bins = np.digitize(scores, edges)
    counts = np.bincount(bins, minlength=len(edges) + 1)
    return np.bincount(bins, weights=labels, minlength=len(edges) + 1) / np.maximum(counts, 1)


def fit(method, scores, labels):
    inner = np.linspace(0, 1, BINS + 1)[1:-1]
    if method == "umd":
        edges = np.quantile(scores, inner)
        return edges, binned(scores, labels, edges)
    if method == "fixed-width":
        return inner, binned(scores, labels, inner.astype(scores.dtype))
    if method == "isotonic":
        from sklearn.isotonic import IsotonicRegression

        return IsotonicRegression(out_of_bounds="clip").fit(scores, labels)
    from sklearn.linear_model import LogisticRegression

    clipped = np.clip(scores.astype(np.float64), 2.0**-24, 1 - 2.0**-24)
    return LogisticRegression(C=np.inf).fit(np.log(clipped / (1 - clipped)).reshape(-1, 1), labels)


fit(sys.argv[1], *read(sys.argv[2]))
