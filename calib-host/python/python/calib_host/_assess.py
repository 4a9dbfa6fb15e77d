"""How good probabilities are, on data used for neither training nor calibration."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import bins_of, check_classes, clusters_of, floats_of, hits_of, labels_of, names_of, numbers_of
from ._arrays import probs_of, scores_of, whole
from ._calibrator import named, with_names
from ._native import How, UsageError
from ._native import assess as _assess
from ._native import assess_vectors as _assess_vectors
from ._native import calibration_curve as _calibration_curve
from ._progress import at_work
from ._rows import Rows
from ._types import Array, Binning, ExtremeProbs, Intervals, Names, Strategy
from ._warnings import warn

#: What tables show, in their words, by the keys of the results.
METRICS = {
    "n": "rows",
    "rate": "event rate",
    "accuracy": "accuracy",
    "brier": "Brier score",
    "log_loss": "log-loss",
    "auc": "area under the ROC curve",
    "conf_ece": "expected calibration error (ECE)",
    "conf_mce": "largest calibration error of a bin",
    "lp_ce": "calibration error (L2)",
    "c_emp": "calibration error by a bound",
}


class Assessment(dict[str, Any]):
    """What was found, by the names of ``calib assess --json``.

    It shows itself as a table, and has it in ``table``. ``to_frame()`` makes a pandas DataFrame of it.
    """

    #: The names of the classes, class 0 first, if the calibrator has them.
    class_names: tuple[str, ...] | None = None

    @classmethod
    def _of(cls, found: tuple[str, list[str]], class_names: tuple[str, ...] | None = None) -> Assessment:
        made: Assessment = cls(named(json.loads(found[0]), class_names))
        made.class_names = class_names
        for message in found[1]:
            warn(with_names(message, class_names))
        return made

    @property
    def table(self) -> Rows:
        """The metrics, a row each: before and after calibration, if a calibrator was assessed, and with intervals, if there are such."""
        if "after" not in self:
            return _metrics(self)
        before, after, change = self.get("before") or {}, self["after"], self.get("change") or {}
        rows = []
        for key, name in METRICS.items():
            pair = [_value(part.get(key)) for part in (before, after)]
            if pair == [None, None]:
                continue
            moved = change.get(key)
            low, high = _ends(moved)
            rows.append(
                {"metric": name, "before": pair[0], "after": pair[1], "change": _value(moved), "change low": low, "change high": high}
            )
        columns = ["metric", "before", "after", "change", "change low", "change high"]
        shown = columns if any(row["change low"] is not None for row in rows) else columns[:4]
        return Rows(shown, rows)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict on a calibrator in sentences; none without a calibrator."""
        verdict = self.get("verdict") or {}
        return tuple(verdict.get("sentences", ()))

    def to_frame(self) -> Any:
        """A pandas DataFrame of the table."""
        return self.table.to_frame()

    def __repr__(self) -> str:
        return "\n".join([repr(self.table), *self.sentences])

    def _repr_html_(self) -> str:
        from html import escape

        return self.table._repr_html_() + "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)


def _value(found: Any) -> Any:
    return found.get("value") if isinstance(found, dict) else found


def _ends(found: Any) -> tuple[float | None, float | None]:
    ends = found.get("interval") or found.get("bound") if isinstance(found, dict) else None
    return (None, None) if ends is None else (ends["lo"], ends["hi"])


def _metrics(found: dict[str, Any]) -> Rows:
    rows = []
    for key, name in METRICS.items():
        value = _value(found.get(key))
        if value is not None:
            low, high = _ends(found[key])
            rows.append({"metric": name, "value": value, "low": low, "high": high})
    return Rows(["metric", "value", "low", "high"], rows)


def assess(
    probs: Array,
    y: Array,
    *,
    # what the probabilities are of
    predicted: Array | None = None,
    top_k: int | None = None,
    # which rows belong together
    bins: Array | None = None,
    clusters: Names | None = None,
    groups: Names | None = None,
    # calibration errors
    binning: Binning = "uniform",
    n_bins: int = 15,
    norm: float = 2.0,
    # intervals
    alpha: float = 0.05,
    resamples: int = 0,
    intervals: Intervals = "percentile",
    seed: int = 0,
    # the clinical validation
    extreme_probs: ExtremeProbs = "leave-out",
) -> Assessment:
    """How good probabilities are: calibration errors, Brier score, log-loss, AUC, and more.

    ``probs`` are the probabilities of class 1, one per row, or of all classes, one per column. With the classes in ``predicted``, they
    are the probabilities that the predictions are right. ``y`` holds the true classes. ``binning`` is "uniform" (equal width, the default, with ``n_bins=15``),
    "quantile" (equal mass; "equal-mass-kumar" cuts as Kumar et al. 2019 do), "by-bin" (by ``bins``) or "by-value". With ``resamples`` there
    are bootstrap intervals at ``1 - alpha``, "percentile" or "bca" (``intervals``), drawn with ``seed``. Rows with the same name in
    ``clusters`` are not independent. With the names of ``groups`` there is every metric by group. ``extreme_probs`` specifies what the clinical
    validation does with probabilities of exactly 0 or 1: "leave-out" or "clip". ``top_k`` also assesses the top-K classes of a matrix.

    Returns what ``calib assess --json`` prints for the same float32 probabilities, with the same names. It shows itself as a table, which is
    in ``table``. Of several classes the metrics are those of whole rows: the Brier score is the sum over classes, twice that of class 1 of two
    classes, and ``conf_ece`` is that of the predicted class. If there is a column for every
    class, other types are rounded to float32. Doubts about the rows are also issued as a :class:`CalibrationWarning`.

    >>> import numpy as np, calib_host
    >>> said = np.full(100, 0.8)
    >>> found = calib_host.assess(said, np.arange(100) < 60)
    >>> round(found["conf_ece"]["value"], 6)
    0.2
    """
    whole(n_bins=n_bins, resamples=resamples, top_k=top_k)
    whole(most=2**64 - 1, seed=seed)
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
        values, _, _ = scores_of(array, "probs", False)
        classes = int(array.shape[1])
        check_classes(labels, classes)
        values = values.astype(np.float64, copy=False)
        with at_work("assessing"):
            found = _assess_vectors(how, values, labels.astype(np.uint16), classes, clusters=together)
        return Assessment._of(found)
    values = probs_of(array[:, 0] if array.ndim == 2 else array)
    of = None if predicted is None else labels_of(predicted, "predicted")
    cells = None if bins is None else bins_of(bins)
    names = None if groups is None else names_of(groups, "groups")
    with at_work("assessing"):
        found = _assess(how, values, labels, predicted=of, bins=cells, clusters=together, groups=names)
    return Assessment._of(found)


def calibration_curve(
    y_true: Names, y_prob: Array, *, pos_label: Any = None, n_bins: int = 5, strategy: Strategy = "uniform"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The observed frequencies and the mean probabilities, by bins that are not empty: scikit-learn's function, on calib's bins.

    Labels are 0 and 1, or -1 and 1; of others ``pos_label`` names that of class 1. ``strategy`` is "uniform" or "quantile". An edge belongs
    to the bin above it, as on the device; scikit-learn puts it into the bin below.

    >>> import calib_host
    >>> calib_host.calibration_curve([0, 1, 1, 1], [0.1, 0.4, 0.9, 0.9], n_bins=2)
    (array([0.5, 1. ]), array([0.25, 0.9 ]))
    """
    whole(n_bins=n_bins)
    return _calibration_curve(floats_of(y_prob, "probs"), hits_of(y_true, pos_label), strategy, n_bins)
