"""Calibrators that netcal fitted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._calibrator import Calibrator
from ._imports import _knots, _made, _prove_scores, _prove_vectors
from ._native import UsageError, imported_scaling
from ._types import Evaluation

#: The device takes no score to be below this, or above one less this, before a logarithm.
LEAST = 2.0**-24
#: What to do where scalings of one score differ.
AT_THE_ENDS = (
    "before the logarithm netcal takes scores of 0 and 1 to be 2.2e-16 off (1.2e-7 in f32), the device 2^-24; clip scores to "
    "[2^-24, 1 - 2^-24] before both"
)


def from_netcal(fitted: Any, *, n: int = 1, tolerance: float = 1e-3, proof: Evaluation = "sample") -> Calibrator:
    """Takes over a calibrator that netcal fitted, with a proof as :func:`from_sklearn` has it.

    For two classes: ``LogisticCalibration``, ``TemperatureScaling``, ``BetaCalibration``, ``IsotonicRegression`` and
    ``HistogramBinning``; for several classes all of them but ``BetaCalibration``. What samples its parameters (``method="variational"`` or
    ``"mcmc"``), averages several models (``BBQ``, ``ENIR``), or takes boxes (``detection=True``) is refused.

    Where all classes have the probability 0, netcal divides by 0 and has no answer: the device gives every class the same.
    """
    if type(fitted).__module__.partition(".")[0] != "netcal":
        raise UsageError(f"{type(fitted).__name__} is no calibrator of netcal")
    from netcal.binning import HistogramBinning, IsotonicRegression
    from netcal.scaling import BetaCalibration, LogisticCalibration

    name = type(fitted).__name__
    if not isinstance(fitted, (HistogramBinning, IsotonicRegression, BetaCalibration, LogisticCalibration)):
        raise UsageError(
            f"{name} is not one function with a few parameters: fit one of LogisticCalibration, TemperatureScaling, BetaCalibration, "
            "IsotonicRegression and HistogramBinning, or use calib_host.fit"
        )
    if fitted.detection:
        raise UsageError("detection=True: a device calibrates scores, not boxes; fit with the confidences alone")
    if fitted.independent_probabilities:
        raise UsageError(
            "independent_probabilities=True: every class has a separate calibrator; fit one for each, with its column and labels 0 and 1"
        )
    if fitted.num_classes is None:
        raise UsageError(f"this {name} is not fitted")
    if isinstance(fitted, (BetaCalibration, LogisticCalibration)):
        if fitted.method in ("variational", "mcmc"):
            raise UsageError(f'method="{fitted.method}": parameters are drawn again for every answer; fit with method="mle"')
        return _of_scaling(fitted, name, n, tolerance, proof)
    return _of_table(fitted, name, n, tolerance, proof)


def _answers(fitted: Any, inputs: np.ndarray, dtype: Any) -> np.ndarray:
    """What netcal says of rows: it takes scores of the type that it was fitted to."""
    with np.errstate(invalid="ignore"):
        # A row alone comes back without its axis.
        return np.asarray(fitted.transform(inputs.astype(dtype))).reshape(inputs.shape)


def _of_scaling(fitted: Any, name: str, n: int, tolerance: float, proof: Evaluation) -> Calibrator:
    weights = np.asarray(fitted._sites["weights"]["values"])
    is_temperature = "bias" not in fitted._sites
    intercepts = np.zeros(0) if is_temperature else np.asarray(fitted._sites["bias"]["values"], dtype=np.float64)
    origin = f"netcal.{name}"
    classes = fitted.num_classes

    def theirs(inputs: np.ndarray) -> np.ndarray:
        return _answers(fitted, inputs, weights.dtype)

    if classes > 2:
        if len(weights) == 2 * classes:
            raise UsageError(
                "BetaCalibration of several classes has two terms of every class before the softmax, which no method of a device has: "
                "calib_host.fit has beta with reduction=\"class-wise\", and dirichlet"
            )
        least = float(np.finfo(weights.dtype).eps)
        made = imported_scaling("probs", classes, weights.tolist(), intercepts.tolist(), least, n, origin)
        advice = "some weight is too large, or less than 0, for f32"
        return _prove_vectors(Calibrator(made, "probs"), theirs, np.zeros(0), tolerance, proof, advice)
    if (weights < 0).any() or (is_temperature and weights[0] == 0):
        raise UsageError(f"the function falls, or is flat (weights {weights.tolist()}), and a device's rises: turn the scores round, 1 - scores")
    if is_temperature:
        function = {"function": "temperature", "inverse_t": float(weights[0])}
    else:
        # One weight multiplies the logit, two its terms.
        function = {"function": "beta", "a": float(weights[0]), "b": float(weights[-1]), "c": float(intercepts[0])}
    scaled = _made("scores", [function], n, origin)
    return _prove_scores(scaled, theirs, np.array([LEAST, 1 - LEAST]), tolerance, proof, AT_THE_ENDS)


def _of_table(fitted: Any, name: str, n: int, tolerance: float, proof: Evaluation) -> Calibrator:
    is_binary = fitted.num_classes == 2
    parts = [fitted] if is_binary else [part for _, part in fitted._multiclass_instances]
    if not is_binary and len(parts) < fitted.num_classes:
        raise UsageError("a class had no rows in the fit: it has no calibrator")
    functions, knots = zip(*(_table(part) for part in parts))
    made = _made("scores" if is_binary else "probs", list(functions), n, f"netcal.{name}")

    def theirs(inputs: np.ndarray) -> np.ndarray:
        answers = _answers(fitted, inputs, np.float64)
        return answers if is_binary else np.where(np.isnan(answers), 1 / fitted.num_classes, answers)

    if is_binary:
        return _prove_scores(made, theirs, knots[0], tolerance, proof)
    return _prove_vectors(made, theirs, np.concatenate(knots), tolerance, proof)


def _table(part: Any) -> tuple[dict[str, Any], np.ndarray]:
    """The function of one class, and where it turns."""
    if hasattr(part, "_iso"):
        return _knots(part._iso), np.asarray(part._iso.X_thresholds_, dtype=np.float64)
    if not part.equal_intervals:
        raise UsageError("equal_intervals=False: netcal itself does not apply such bins; fit with calib_host.fit(..., method=\"umd\")")
    bounds = np.asarray(part._bin_bounds[0][1:-1], dtype=np.float64)
    # A bound belongs to the bin below it, and a device's edge to the bin above: the first float above the bound is the edge.
    edges = bounds.astype(np.float32)
    edges = np.where(edges.astype(np.float64) <= bounds, np.nextafter(edges, np.float32(np.inf)), edges)
    return {"function": "steps", "edges": edges.astype(np.float64), "values": np.asarray(part._bin_map)}, bounds
