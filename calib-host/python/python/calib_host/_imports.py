"""Calibrators that others fitted, with a proof that the device gives what they gave."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ._calibrator import Calibrator
from ._native import DataError, UsageError, imported, imported_scaling
from ._arrays import whole
from ._types import Evaluation, Kind

#: Random scores, or vectors, of a proof.
SAMPLE = 1_000_000
#: The seed of the random scores.
SEED = 20
#: Scores at a time.
CHUNK = 1 << 22
#: What scikit-learn adds to every probability before the logarithm.
ADDED = 1e-12
#: What to do where functions of knots differ.
OF_KNOTS = "fit on scores of type numpy.float32, so that knots are the device's"
#: What to do where logits differ.
OF_TEMPERATURE = "a temperature this low multiplies the rounding of float32: divide the logits in the network instead"
#: What to do where functions of margins differ.
FAR = "margins far from 0, compared with how they vary, have few digits in float32: let the classifier subtract their mean, and fit again"


@dataclass(frozen=True)
class Proof:
    """What was compared, and the largest difference of both sides.

    The other side computes in f64 from the same f32 score; the device in f32.
    """

    #: The largest difference of two probabilities.
    largest_difference: float
    #: The score, or vector, at which it is.
    at: Any
    #: How many scores or vectors were compared.
    compared: int
    #: The largest difference that was accepted.
    tolerance: float
    #: Whether every f32 of the domain was compared.
    every: bool

    def __str__(self) -> str:
        what = "all scores" if self.every else "scores"
        return (
            f"{self.compared} {what} compared: probabilities differ by {self.largest_difference:.3g} at most, at {self.at} "
            f"(accepted: {self.tolerance:.3g})"
        )


@dataclass
class _Compared:
    largest: float = -1.0
    at: Any = None
    compared: int = 0

    def add(self, inputs: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> None:
        difference = np.abs(ours.astype(np.float64) - theirs)
        difference[np.isnan(difference)] = np.inf
        rows = difference if difference.ndim == 1 else difference.max(axis=1)
        self.compared += len(rows)
        worst = int(np.argmax(rows))
        if rows[worst] > self.largest:
            self.largest, self.at = float(rows[worst]), inputs[worst].tolist()


def _neighbors(points: np.ndarray) -> np.ndarray:
    """Points as f32, and the floats on either side."""
    points = np.asarray(points, dtype=np.float32)
    below, above = np.nextafter(points, np.float32(-np.inf)), np.nextafter(points, np.float32(np.inf))
    return np.concatenate([below, points, above])


def _every(low: np.float32, high: np.float32) -> Iterator[np.ndarray]:
    """All f32 from one to another, in pieces."""

    def key(value: np.float32) -> int:
        bits = int(np.float32(value).view(np.int32))
        return bits if bits >= 0 else -(bits & 0x7FFFFFFF)

    first, last = key(low), key(high)
    for start in range(first, last + 1, CHUNK):
        keys = np.arange(start, min(start + CHUNK, last + 1), dtype=np.int64)
        bits = np.where(keys >= 0, keys, -keys | 0x80000000).astype(np.uint32)
        yield bits.view(np.float32)


def _prove_scores(
    calibrator: Calibrator,
    theirs: Callable[[np.ndarray], np.ndarray],
    knots: np.ndarray,
    tolerance: float,
    proof: Evaluation,
    advice: str = OF_KNOTS,
    around: tuple[float, float] | None = None,
) -> Calibrator:
    """Compares functions of one score; a function without knots is steep ``around`` a margin, within a width."""
    _check_proof(proof)
    is_prob = calibrator.kind == "scores"
    knots = np.asarray(knots, dtype=np.float64)
    if is_prob:
        low, high = np.float32(0), np.float32(1)
    else:
        widest = float(np.abs(knots).max()) if knots.size else 1.0
        low, high = np.float32(-4 * widest - 40), np.float32(4 * widest + 40)
    if around is not None:
        center, width = around
        # Half of the scores where it is steep, and half as far away again as that is from 0.
        wide = abs(center) + width
        low, high = np.float32(min(float(low), center - wide)), np.float32(max(float(high), center + wide))
        knots = np.append(knots, center + width * np.linspace(-1, 1, 41))
    rng = np.random.default_rng(SEED)
    if around is None:
        random = rng.uniform(low, high, SAMPLE).astype(np.float32)
    else:
        steep = rng.uniform(center - width, center + width, SAMPLE // 2)
        random = np.append(steep, rng.uniform(low, high, SAMPLE - SAMPLE // 2)).astype(np.float32)
    first = np.concatenate([_neighbors(knots), np.array([low, 0, high], dtype=np.float32)])
    first = first[(first >= low) & (first <= high)]
    biggest = np.float32(np.finfo(np.float32).max)
    pieces: Iterator[np.ndarray] = iter([first, random])
    if proof == "every":
        pieces = _every(low, high) if is_prob else _every(-biggest, biggest)
    compared = _Compared()
    for scores in pieces:
        compared.add(scores, calibrator.predict(scores), np.asarray(theirs(scores.astype(np.float64)), dtype=np.float64))
    return _proved(calibrator, compared, tolerance, proof == "every", advice)


def _check_proof(proof: Evaluation) -> None:
    if proof not in ("sample", "every"):
        raise UsageError(f'proof={proof!r}: there are "sample" and "every"')


def _prove_vectors(
    calibrator: Calibrator,
    theirs: Callable[[np.ndarray], np.ndarray],
    knots: np.ndarray,
    tolerance: float,
    proof: Evaluation,
    advice: str = OF_KNOTS,
) -> Calibrator:
    """Compares functions of vectors."""
    _check_proof(proof)
    if proof == "every":
        raise UsageError(
            f'proof="every" goes through the floats of one score, and {calibrator.n_classes} classes have vectors, of which there are '
            'too many: leave it out, or say proof="sample"'
        )
    rng = np.random.default_rng(SEED)
    classes = calibrator.n_classes
    compared = _Compared()
    for start in range(0, SAMPLE, 1 << 17):
        rows = min(1 << 17, SAMPLE - start)
        if calibrator.kind == "logits":
            vectors = rng.normal(scale=rng.choice([0.5, 3.0, 12.0], size=(rows, 1)), size=(rows, classes))
        else:
            vectors = rng.dirichlet(np.full(classes, 0.3), size=rows)
            if start == 0 and knots.size:
                # A knot in one class, and the rest shared out.
                ends = np.clip(_neighbors(knots)[:rows], 0, 1)
                of = np.arange(len(ends)) % classes
                vectors[: len(ends)] = ((1 - ends) / (classes - 1))[:, None]
                vectors[np.arange(len(ends)), of] = ends
        vectors = vectors.astype(np.float32)
        compared.add(vectors, calibrator.predict(vectors), theirs(vectors.astype(np.float64)))
    return _proved(calibrator, compared, tolerance, False, advice)


def _proved(calibrator: Calibrator, compared: _Compared, tolerance: float, every: bool, advice: str) -> Calibrator:
    proof = Proof(compared.largest, compared.at, compared.compared, tolerance, every)
    if not compared.largest <= tolerance:
        raise DataError(
            f"the device would differ by {compared.largest:.3g} at {compared.at}, more than {tolerance:.3g}: {advice}, or accept it "
            "with tolerance"
        )
    calibrator.proof = proof
    return calibrator


def _made(kind: Kind, functions: list[dict[str, Any]], n: int, origin: str) -> Calibrator:
    plain = [{name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in one.items()} for one in functions]
    artifact = imported(kind, json.dumps(plain), n, origin)
    return Calibrator(artifact, kind if len(functions) > 1 else None)


def _knots(fitted: Any) -> dict[str, Any]:
    """The knots of an isotonic regression, as the device has them."""
    if fitted.out_of_bounds != "clip":
        raise UsageError(
            f"out_of_bounds={fitted.out_of_bounds!r}: a device has a probability for every score; set out_of_bounds=\"clip\", which "
            "changes no knot"
        )
    scores = np.asarray(fitted.X_thresholds_, dtype=np.float64).astype(np.float32).astype(np.float64)
    values = np.asarray(fitted.y_thresholds_, dtype=np.float64)
    if not fitted.increasing_:
        raise UsageError("the isotonic regression falls: a device's calibrators rise; turn the scores round, 1 - scores")
    if (values < 0).any() or (values > 1).any():
        raise UsageError("the isotonic regression gives values outside [0, 1], which are no probabilities")
    kept = np.r_[True, np.diff(scores) > 0]
    return {"function": "knots", "scores": scores[kept] + 0.0, "values": values[kept]}


def _of_isotonic(fitted: Any, kind: Literal["scores", "margins"] | None, n: int, tolerance: float, proof: Evaluation) -> Calibrator:
    function = _knots(fitted)
    scores = function["scores"]
    if kind is None:
        kind = "scores" if scores[0] >= 0 and scores[-1] <= 1 else "margins"
    calibrator = _made(kind, [function], n, "sklearn.IsotonicRegression")
    return _prove_scores(calibrator, fitted.predict, fitted.X_thresholds_, tolerance, proof)


def _sigmoid(fitted: Any, kind: Kind) -> dict[str, Any]:
    return {"function": "platt-margin" if kind == "margins" else "platt-prob", "a": -float(fitted.a_), "b": -float(fitted.b_)}


def _steep(function: dict[str, Any]) -> tuple[float, float] | None:
    """Around which margin a function is steep, and within which width it goes from almost 0 to almost 1."""
    slope = function.get("inverse_t", function.get("a", 0.0))
    if not function["function"].endswith("-margin") or slope == 0:
        return None
    return -function.get("b", 0.0) / slope, 20 / abs(slope)


def _stub(name: str, classes: np.ndarray) -> Any:
    """A classifier that says what it is given, so that scikit-learn's own code can be asked what it makes of that."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    def said(self: Any, X: np.ndarray) -> np.ndarray:
        if len(classes) > 2:
            return X
        return X[:, 0] if name == "decision_function" else np.column_stack([1 - X[:, 0], X[:, 0]])

    # scikit-learn asks a method for its name.
    said.__name__ = name
    functions = {name: said, "fit": lambda self, X, y: self, "__sklearn_is_fitted__": lambda self: True}
    stub = type("Said", (ClassifierMixin, BaseEstimator), functions)()
    stub.classes_ = classes
    return stub


def _of_classifier(fitted: Any, n: int, tolerance: float, proof: Evaluation) -> Calibrator:
    parts = fitted.calibrated_classifiers_
    if len(parts) > 1:
        raise UsageError(
            f"ensemble=True: {len(parts)} classifiers are averaged, of which a device has one; fit with ensemble=False"
        )
    part = parts[0]
    classes = np.asarray(part.classes)
    response = "decision_function" if hasattr(part.estimator, "decision_function") else "predict_proba"
    asked = copy.copy(part)
    asked.estimator = _stub(response, np.asarray(part.estimator.classes_))
    origin = f"sklearn.CalibratedClassifierCV.{part.method}"
    is_binary = len(classes) == 2
    kinds: dict[tuple[bool, str], Kind] = {
        (True, "decision_function"): "margins",
        (True, "predict_proba"): "scores",
        (False, "decision_function"): "logits",
        (False, "predict_proba"): "probs",
    }
    kind = kinds[is_binary, response]

    def theirs(X: np.ndarray) -> np.ndarray:
        return asked.predict_proba(X.reshape(-1, 1))[:, 1] if is_binary else asked.predict_proba(X)

    if part.method == "temperature":
        beta = float(part.calibrators[0].beta_)
        if is_binary:
            # The softmax of (-m, m) is a sigmoid of 2 m, and that of two logarithms one of their difference.
            function = (
                {"function": "temperature-margin", "inverse_t": 2 * beta}
                if kind == "margins"
                else {"function": "temperature", "inverse_t": beta}
            )
            made = _made(kind, [function], n, origin)
            return _prove_scores(made, theirs, np.zeros(0), tolerance, proof, FAR, _steep(function))
        calibrator = Calibrator(imported_scaling(kind, len(classes), [beta], [], ADDED, n, origin), kind)
        return _prove_vectors(calibrator, theirs, np.zeros(0), tolerance, proof)
    if not is_binary and response == "decision_function":
        raise UsageError(
            f"{part.method} of several classes is fitted to each class's decision_function, and a device has their probabilities: "
            "give CalibratedClassifierCV a classifier with predict_proba and without decision_function, or use "
            "calib_host.sklearn.CalibratedClassifier"
        )
    if len(part.calibrators) != (1 if is_binary else len(classes)):
        raise UsageError("a class had no rows in the fit: it has no calibrator")
    functions, knots = [], [np.zeros(0)]
    for calibrator in part.calibrators:
        if part.method == "isotonic":
            functions.append(_knots(calibrator))
            knots.append(np.asarray(calibrator.X_thresholds_, dtype=np.float64))
        else:
            functions.append(_sigmoid(calibrator, kind))
    made = _made(kind, functions, n, origin)
    if is_binary:
        advice = OF_KNOTS if part.method == "isotonic" else FAR
        return _prove_scores(made, theirs, np.concatenate(knots), tolerance, proof, advice, _steep(functions[0]))
    return _prove_vectors(made, theirs, np.concatenate(knots), tolerance, proof)


def from_sklearn(
    fitted: Any,
    *,
    kind: Literal["scores", "margins"] | None = None,
    n: int = 1,
    tolerance: float = 1e-3,
    proof: Evaluation = "sample",
) -> Calibrator:
    """Takes over a fitted ``IsotonicRegression`` or ``CalibratedClassifierCV`` of scikit-learn, with a proof.

    A ``CalibratedClassifierCV`` holds one classifier (``ensemble=False``, or a frozen one); what is taken over is its calibrator: for
    margins if the classifier has a ``decision_function``, otherwise for probabilities. ``kind`` is what an isotonic regression takes:
    "scores" or "margins"; without it scores, if its knots lie in [0, 1]. ``n`` is the number of rows that it was fitted to, for the
    artifact to tell.

    Both sides are evaluated at all knots, at the floats on either side, and at 10^6 random scores or vectors: half of the margins of a sigmoid lie
    where it is steep. ``proof="every"`` evaluates
    every f32 of one score, which takes minutes; vectors are too many. The result's ``proof`` has the largest difference; beyond ``tolerance`` the calibrator is refused. Nothing is guaranteed
    of what is taken over: that takes a fit with calib.

    >>> import numpy as np, calib_host
    >>> from sklearn.isotonic import IsotonicRegression
    >>> scores = np.linspace(0, 1, 50, dtype=np.float32)
    >>> isotonic = IsotonicRegression(out_of_bounds="clip").fit(scores, np.arange(50) % 3 < np.arange(50) / 20)
    >>> calib_host.from_sklearn(isotonic).proof.largest_difference < 1e-6
    True
    """
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.isotonic import IsotonicRegression
    from sklearn.utils.validation import check_is_fitted

    whole(least=1, n=n)
    if kind not in (None, "scores", "margins"):
        raise UsageError(f'kind={kind!r}: there are "scores" and "margins"')
    if not isinstance(fitted, (IsotonicRegression, CalibratedClassifierCV)):
        raise UsageError(
            f"{type(fitted).__name__} is neither an IsotonicRegression nor a CalibratedClassifierCV: fit with calib_host.fit"
        )
    check_is_fitted(fitted)
    if isinstance(fitted, IsotonicRegression):
        return _of_isotonic(fitted, kind, n, tolerance, proof)
    if kind is not None:
        raise UsageError("kind is for an IsotonicRegression: a CalibratedClassifierCV tells what it takes")
    return _of_classifier(fitted, n, tolerance, proof)


def from_betacal(fitted: Any, *, n: int = 1, tolerance: float = 1e-3, proof: Evaluation = "sample") -> Calibrator:
    """Takes over a fitted ``betacal.BetaCalibration``, with a proof as :func:`from_sklearn` has it.

    betacal raises scores to the least number of their type, the device to 2^-24: what it says of f32 scores is compared.
    """
    inner = getattr(fitted, "calibrator_", None)
    if inner is None or not hasattr(inner, "map_"):
        raise UsageError("this is no fitted betacal.BetaCalibration")
    a, b, _ = inner.map_
    if a < 0 or b < 0:
        raise UsageError(
            f"the function falls somewhere (a = {a:.3g}, b = {b:.3g}), and a device's beta calibration rises: fit it with the "
            'parameters "abm", which keep both from 0 on'
        )
    # Its three kinds keep the intercept in three ways: what it says of one half tells it.
    half = float(np.ravel(fitted.predict(np.array([0.5])))[0])
    function = {"function": "beta-by-half", "a": float(a), "b": float(b), "at_half": half}
    calibrator = _made("scores", [function], n, "betacal.BetaCalibration")

    def theirs(scores: np.ndarray) -> np.ndarray:
        # To the ends of the device's range, in f64.
        return fitted.predict(np.clip(scores, 2.0**-24, 1 - 2.0**-24))

    return _prove_scores(calibrator, theirs, np.array([2.0**-24, 1 - 2.0**-24]), tolerance, proof)


def from_venn_abers(fitted: Any, *, n: int = 1, tolerance: float = 1e-6, proof: Evaluation = "sample") -> Calibrator:
    """Takes over a fitted ``venn_abers.VennAbers`` of two classes, with a proof as :func:`from_sklearn` has it."""
    if getattr(fitted, "p0", None) is None or getattr(fitted, "c", None) is None:
        raise UsageError("this is no fitted venn_abers.VennAbers")
    edges, p0, p1 = _venn_abers_steps(fitted)
    calibrator = _made("scores", [{"function": "venn-abers", "edges": edges, "p0": p0, "p1": p1}], n, "venn_abers.VennAbers")

    def theirs(scores: np.ndarray) -> np.ndarray:
        return fitted.predict_proba(np.column_stack([1 - scores, scores]))[0][:, 1]

    return _prove_scores(calibrator, theirs, np.asarray(fitted.c, dtype=np.float64), tolerance, proof)


def _venn_abers_steps(fitted: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both step functions on the floats of a device: between any two calibration scores, and at each, one step."""
    scores = np.asarray(fitted.c, dtype=np.float64)
    at = scores.astype(np.float32)
    at = np.where(at.astype(np.float64) < scores, np.nextafter(at, np.float32(np.inf)), at)
    # The first float at or above each score, and the first one above it.
    above = np.where(at.astype(np.float64) == scores, np.nextafter(at, np.float32(np.inf)), at)
    edges = np.unique(np.concatenate([at, above]))
    edges = edges[(edges > 0) & (edges <= 1)]
    starts = np.concatenate([[np.float32(0)], edges]).astype(np.float64)
    pairs = fitted.predict_proba(np.column_stack([1 - starts, starts]))[1]
    p0, p1 = np.asarray(pairs[:, 0], dtype=np.float64), np.asarray(pairs[:, 1], dtype=np.float64)
    changed = np.r_[True, (np.diff(p0) != 0) | (np.diff(p1) != 0)]
    return edges[changed[1:]].astype(np.float64), np.clip(p0[changed], 0, 1), np.clip(p1[changed], 0, 1)


def from_temperature(
    temperature: float,
    classes: int,
    *,
    kind: Literal["logits", "probs"] = "logits",
    n: int = 1,
    tolerance: float = 1e-5,
    proof: Evaluation = "sample",
) -> Calibrator:
    """A calibrator that divides logits, or the logarithms of probabilities, by a temperature, as a scaler trained elsewhere does.

    It is compared with a softmax in f64 on 10^6 random vectors.

    >>> import calib_host
    >>> calibrator = calib_host.from_temperature(2.0, classes=3)
    >>> calibrator.predict([[2.0, 0.0, 0.0]]).round(3).tolist()[0]
    [0.5759999752044678, 0.21199999749660492, 0.21199999749660492]
    >>> calibrator.proof.largest_difference < 1e-6
    True
    """
    whole(least=1, n=n)
    whole(least=2, most=2**16 - 1, classes=classes)
    if kind not in ("logits", "probs"):
        raise UsageError(f'kind={kind!r}: there are "logits" and "probs"')
    if not (temperature > 0 and np.isfinite(temperature)):
        raise UsageError(f"a temperature is a number above 0, and this is {temperature}")
    calibrator = Calibrator(imported_scaling(kind, classes, [1.0 / temperature], [], ADDED, n, "temperature"), kind)

    def theirs(vectors: np.ndarray) -> np.ndarray:
        logits = vectors if kind == "logits" else np.log(np.maximum(vectors, ADDED))
        scaled = logits / temperature
        scaled = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return scaled / scaled.sum(axis=1, keepdims=True)

    return _prove_vectors(calibrator, theirs, np.zeros(0), tolerance, proof, OF_TEMPERATURE)
