"""What people use in Python to apply and to assess a calibrator: `apply.py JOB [OUTPUT]` in the folder of the files."""

import sys

import numpy as np

FITTED_ROWS = 100_000


def apply(output):
    """Isotonic regression, fitted to a part of the rows, on all of them, written with the scores."""
    import pandas as pd
    from sklearn.isotonic import IsotonicRegression

    scores = np.load("scores.npy")
    labels = np.load("labels.npy", mmap_mode="r")[:FITTED_ROWS]
    fitted = IsotonicRegression(out_of_bounds="clip").fit(scores[:FITTED_ROWS], labels)
    probs = fitted.predict(scores)
    if output.endswith(".npy"):
        np.save(output, probs)
        return
    table = pd.DataFrame({"score": scores, "prob": probs})
    if output.endswith(".csv"):
        table.to_csv(output, index=False)
    else:
        table.to_parquet(output)


def assess():
    """The Brier score, the log-loss and the area under the ROC curve, and nothing else."""
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

    scores = np.load("scores.npy")
    labels = np.load("labels.npy")
    print(brier_score_loss(labels, scores), log_loss(labels, scores), roc_auc_score(labels, scores))


{"apply": apply, "assess": assess}[sys.argv[1]](*sys.argv[2:])
