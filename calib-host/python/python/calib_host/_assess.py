"""How good probabilities are, on data used for neither training nor calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import bins_of, check_classes, clusters_of, floats_of, hits_of, labels_of, names_of, numbers_of
from ._arrays import probs_of, scores_of
from ._calibrator import told
from ._native import How, UsageError
from ._native import assess as _assess
from ._native import assess_vectors as _assess_vectors
from ._native import calibration_curve as _calibration_curve
from ._progress import at_work


def assess(
    probs: Any,
    y: Any,
    *,
    predicted: Any = None,
    bins: Any = None,
    clusters: Any = None,
    groups: Any = None,
    binning: str = "uniform",
    n_bins: int = 15,
    norm: float = 2.0,
    alpha: float = 0.05,
    resamples: int = 0,
    intervals: str = "percentile",
    seed: int = 0,
    extreme_probs: str = "leave-out",
    top_k: int | None = None,
) -> dict[str, Any]:
    """How good probabilities are: calibration errors, Brier score, log-loss, AUC, and more.

    ``probs`` are the probabilities of class 1, one per row, or of all classes, one per column. With the classes in ``predicted``, they
    are the probabilities that the predictions are right. ``y`` holds the true classes. ``binning`` is "uniform" (equal width, the default, with ``n_bins=15``),
    "quantile" (equal mass; "equal-mass-kumar" cuts as Kumar et al. 2019 do), "by-bin" (by ``bins``) or "by-value". With ``resamples`` there
    are bootstrap intervals at ``1 - alpha``, "percentile" or "bca" (``intervals``), drawn with ``seed``. Rows with the same name in
    ``clusters`` are not independent. With the names of ``groups`` there is every metric by group. ``extreme_probs`` specifies what the clinical
    validation does with probabilities of exactly 0 or 1: "leave-out" or "clip". ``top_k`` also assesses the top-K classes of a matrix.

    Returns what ``calib assess --json`` prints for the same float32 probabilities, with the same names. If there is a column for every
    class, other types are rounded to float32. Doubts about the rows are also issued as a :class:`CalibrationWarning`.

    >>> import numpy as np, calib_host
    >>> said = np.full(100, 0.8)
    >>> found = calib_host.assess(said, np.arange(100) < 60)
    >>> round(found["conf_ece"]["value"], 6)
    0.2
    """
    how = How(
        binning=binning,
        n_bins=n_bins,
        norm=norm,
        alpha=alpha,
        resamples=resamples,
        intervals=intervals,
        seed=seed,
        extreme_probs=extreme_probs,
        top_k=top_k,
    )
    array = numbers_of(probs, "probs")
    together = None if clusters is None else clusters_of(clusters, "clusters")
    labels = labels_of(y)
    if array.ndim == 2 and array.shape[1] > 1:
        if predicted is not None or bins is not None or groups is not None:
            raise UsageError("predicted, bins and groups go with one probability a row, not with those of all classes")
        values, _, classes = scores_of(array, "probs", False)
        check_classes(labels, classes)
        values = values.astype(np.float64, copy=False)
        with at_work("assessing"):
            found = _assess_vectors(how, values, labels.astype(np.uint16), classes, clusters=together)
        return told(found)
    values = probs_of(array[:, 0] if array.ndim == 2 else array)
    of = None if predicted is None else labels_of(predicted, "predicted")
    cells = None if bins is None else bins_of(bins)
    names = None if groups is None else names_of(groups, "groups")
    with at_work("assessing"):
        found = _assess(how, values, labels, predicted=of, bins=cells, clusters=together, groups=names)
    return told(found)


def calibration_curve(
    y_true: Any, y_prob: Any, *, pos_label: Any = None, n_bins: int = 5, strategy: str = "uniform"
) -> tuple[np.ndarray, np.ndarray]:
    """The observed frequencies and the mean probabilities, by bins that are not empty: scikit-learn's function, on calib's bins.

    Labels are 0 and 1, or -1 and 1; of others ``pos_label`` names that of class 1. ``strategy`` is "uniform" or "quantile". An edge belongs
    to the bin above it, as on the device; scikit-learn puts it into the bin below.

    >>> import calib_host
    >>> calib_host.calibration_curve([0, 1, 1, 1], [0.1, 0.4, 0.9, 0.9], n_bins=2)
    (array([0.5, 1. ]), array([0.25, 0.9 ]))
    """
    return _calibration_curve(floats_of(y_prob, "probs"), hits_of(y_true, pos_label), strategy, n_bins)
