"""Plots with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import floats_of, hits_of, labels_of
from ._assess import calibration_curve
from ._calibrator import Calibrator
from ._native import DataError
from ._types import Array, Names, Strategy


class CalibrationDisplay:
    """A reliability diagram, as scikit-learn's class of this name draws it, of calib's bins.

    Made by :meth:`from_predictions` or :meth:`from_calibrator`.
    """

    def __init__(self, prob_true: np.ndarray, prob_pred: np.ndarray, y_prob: np.ndarray, *, name: str | None = None):
        self.prob_true = prob_true
        self.prob_pred = prob_pred
        self.y_prob = y_prob
        self.estimator_name = name
        self.ax_: Any = None
        self.figure_: Any = None
        self.line_: Any = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Names,
        y_prob: Array,
        *,
        n_bins: int = 5,
        strategy: Strategy = "uniform",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **line: Any,
    ) -> CalibrationDisplay:
        """Draws probabilities of class 1 with their labels."""
        rates, means = calibration_curve(y_true, y_prob, pos_label=pos_label, n_bins=n_bins, strategy=strategy)
        return cls(rates, means, floats_of(y_prob, "probs"), name=name).plot(ax=ax, **line)

    @classmethod
    def from_calibrator(cls, calibrator: Calibrator, scores: Array, y: Names, *, ax: Any = None, **how: Any) -> CalibrationDisplay:
        """Draws what a calibrator of two classes makes of scores."""
        probs = calibrator.predict(scores)
        known = ~np.isnan(probs)
        how.setdefault("name", calibrator.method)
        pos_label = how.pop("pos_label", None)
        if pos_label is None and calibrator.class_names is not None:
            y = labels_of(y, names=calibrator.class_names)
        hits = hits_of(y, pos_label)
        if len(hits) != len(probs):
            raise DataError(f"{len(probs)} scores but {len(hits)} labels")
        return cls.from_predictions(hits[known], probs[known], ax=ax, **how)

    def plot(self, *, ax: Any = None, name: str | None = None, ref_line: bool = True, **line: Any) -> CalibrationDisplay:
        """Draws it under a ``name``, with the diagonal of perfect calibration."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots()
        if ref_line:
            ax.plot([0, 1], [0, 1], "k:", label="Perfectly calibrated")
        line = {"marker": "s", "linestyle": "-", "label": name or self.estimator_name, **line}
        self.line_ = ax.plot(self.prob_pred, self.prob_true, **line)[0]
        ax.set(xlabel="Mean predicted probability", ylabel="Observed frequency")
        if ref_line or name or self.estimator_name:
            ax.legend(loc="lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self
