"""How good probabilities are, on data that nothing was fitted to."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ._arrays import bins_of, check_classes, floats_of, groups_of, labels_of, numbers_of, probs_of, scores_of
from ._calibrator import Calibrator
from ._native import DataError, UsageError
from ._native import assess as _assess
from ._native import assess_calibrated as _assess_calibrated
from ._native import assess_vectors as _assess_vectors
from ._native import calibration_curve as _calibration_curve
from ._native import class_probs
from ._progress import at_work


def _how(how: dict[str, Any]) -> dict[str, Any]:
    known = {"binning", "n_bins", "norm", "alpha", "resamples", "intervals", "seed"}
    for name in how:
        if name not in known:
            raise TypeError(f"assess() got an unexpected keyword argument {name!r}")
    return how


def assess(
    probs: Any, y: Any, *, predicted: Any = None, bins: Any = None, clusters: Any = None, **how: Any
) -> dict[str, Any]:
    """How good probabilities are: calibration errors, Brier score, log-loss, AUC, and more.

    ``probs`` are those of class 1, one a row; of all classes, a column each; or, with the classes in ``predicted``, those of the
    predictions being right. ``y`` holds the true classes. ``binning`` is "uniform" (equal width, the default, with ``n_bins=15``),
    "quantile", "by-bin" or "by-value"; with ``resamples`` there are bootstrap intervals at ``1 - alpha``, "percentile" or "bca"
    (``intervals``), drawn with ``seed``. Rows with the same name in ``clusters`` are not independent.

    Returns what ``calib assess --json`` prints, by the same names.

    >>> import numpy as np, calib_host
    >>> said = np.full(100, 0.8)
    >>> found = calib_host.assess(said, np.arange(100) < 60)
    >>> round(found["conf_ece"]["value"], 6)
    0.2
    """
    how = _how(how)
    array = numbers_of(probs, "probs")
    names = None if clusters is None else groups_of(clusters, "clusters")
    labels = labels_of(y)
    if array.ndim == 2 and array.shape[1] > 1:
        if predicted is not None or bins is not None:
            raise UsageError("predicted and bins go with one probability a row, not with those of all classes")
        values, _, classes = scores_of(array, "probs", False)
        check_classes(labels, classes)
        values = values.astype(np.float64, copy=False)
        with at_work("assessing"):
            return json.loads(_assess_vectors(values, labels.astype(np.uint16), classes, clusters=names, **how))
    values = probs_of(array[:, 0] if array.ndim == 2 else array)
    of = None if predicted is None else labels_of(predicted, "predicted")
    cells = None if bins is None else bins_of(bins)
    with at_work("assessing"):
        return json.loads(_assess(values, labels, predicted=of, bins=cells, clusters=names, **how))


def assess_calibrator(calibrator: Calibrator, scores: Any, y: Any, *, clusters: Any = None, **how: Any) -> dict[str, Any]:
    """The same rows before and after a calibrator; ``before``, ``after`` and ``change`` as ``calib assess CALIBRATOR --json`` has them.

    Probabilities of all classes are assessed as such; rows with an uncalibrated class are left out.
    """
    how = _how(how)
    array, kind, classes = scores_of(scores, calibrator.kind, calibrator.takes_codes)
    labels = labels_of(y)
    names = None if clusters is None else groups_of(clusters, "clusters")
    if kind == "margins":
        raise UsageError(
            "margins are no probabilities, of which alone it can be said how good they are: assess what predict makes of them"
        )
    if calibrator.takes_codes or calibrator.reduction.startswith("top-"):
        if calibrator.takes_codes or calibrator.reduction not in ("top-label", "confidence"):
            raise UsageError("assess what predict makes of these scores, with the predicted classes")
    if calibrator.reduction in ("binary", "top-label", "confidence"):
        check_classes(labels, classes or 2)
        with at_work("assessing"):
            found = _assess_calibrated(calibrator._artifact, kind, array, labels, classes=classes, clusters=names, **how)
        return json.loads(found)
    after = calibrator.predict_proba(scores)
    kept = ~np.isnan(after).any(axis=1)
    before = class_probs(kind, array, classes).reshape(-1, classes)
    names = None if names is None else names[kept]
    sides = {
        name: assess(side[kept], labels[kept], clusters=names, **how) for name, side in [("before", before), ("after", after)]
    }
    return {**sides, "uncalibrated": int((~kept).sum())}


def calibration_curve(
    y_true: Any, y_prob: Any, *, pos_label: Any = None, n_bins: int = 5, strategy: str = "uniform"
) -> tuple[np.ndarray, np.ndarray]:
    """The shares that came true and the mean probabilities, by bins that hold some: scikit-learn's function, on calib's bins.

    An edge belongs to the bin above it, as on the device; scikit-learn puts it into the bin below.

    >>> import calib_host
    >>> calib_host.calibration_curve([0, 1, 1, 1], [0.1, 0.4, 0.9, 0.9], n_bins=2)
    (array([0.5, 1. ]), array([0.25, 0.9 ]))
    """
    labels = np.asarray(y_true)
    values = np.unique(labels)
    if len(values) > 2:
        raise DataError(f"{len(values)} different labels: a calibration curve is of two classes")
    if pos_label is None:
        if not set(values.tolist()) <= {0, 1}:
            raise DataError(f"labels are {values.tolist()}: name that of class 1 with pos_label")
        pos_label = 1
    return _calibration_curve(
        floats_of(y_prob, "probs"), np.ascontiguousarray(labels == pos_label), strategy, n_bins
    )
