"""Calibration methods: calib's, and those of other packages.

A method is fitted to ``Rows`` and gives a function of scores. Of several classes every method is asked for one probability: that of the
class which the classifier predicts.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import calib_host


@dataclass(frozen=True)
class Rows:
    """Scores with labels."""

    #: "scores" (probabilities of class 1), "margins" (raw scores) or "probs" (a column for each class).
    kind: str
    scores: np.ndarray
    labels: np.ndarray

    def part(self, chosen):
        return Rows(self.kind, self.scores[chosen], self.labels[chosen])

    def hits(self):
        """What a probability is about: class 1, or that the prediction is right."""
        return self.labels == (self.scores.argmax(axis=1) if self.kind == "probs" else 1)


@dataclass(frozen=True)
class Method:
    """A method by its name: ``fit`` takes rows and returns a function of scores, and for calib's methods the calibrator."""

    name: str
    #: The kinds of scores that it takes.
    kinds: tuple[str, ...]
    fit: Callable[[Rows], tuple[Callable[[np.ndarray], np.ndarray], Any]]
    #: The name in ``calib compare``, by the kind of scores: it tells what the device pays.
    compared: Callable[[str], str | None] = lambda kind: None


def as_probs(kind, scores):
    """The scores as they are, as probabilities."""
    if kind == "probs":
        return scores.max(axis=1).astype(float)
    return 1 / (1 + np.exp(-scores.astype(float))) if kind == "margins" else scores.astype(float)


ALL, BINARY, OF_PROBS = ("scores", "margins", "probs"), ("scores", "margins"), ("scores", "probs")


def _bins(rows):
    return int(np.clip(round(len(rows.labels) ** (1 / 3)), 2, 15))


def _ours(name, kinds, method, *, compared=None, bins=None, joint=False, **options):
    """A method of calib; with several classes a binary one calibrates the confidence."""

    def fit(rows):
        asked = {**options, "method": method}
        if bins:
            asked["bins"] = bins(rows)
        if method and rows.kind == "probs" and not joint:
            asked["reduction"] = "confidence"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            calibrator = calib_host.fit(rows.scores, rows.labels, kind=rows.kind, **asked)

        def predict(scores):
            probs = calibrator.predict(scores)
            if probs.dtype.names:
                probs = probs["prob"]
            elif probs.ndim == 2:
                probs = probs[np.arange(len(probs)), scores.argmax(axis=1)]
            # A device says "uncalibrated", and the score stays what it is.
            return np.where(np.isnan(probs), as_probs(rows.kind, scores), probs.astype(float))

        return predict, calibrator

    def name_in_compare(kind):
        if kind != "probs" or joint:
            return compared
        return compared and f"{'top-label' if method is None else 'confidence'}/{compared}"

    return Method(name, kinds, fit, name_in_compare)


DEFAULT = "calib, by default"
UNCHANGED = "calib none"

OURS = [
    _ours(DEFAULT, ALL, None, compared="blend"),
    _ours("calib blend --reduction confidence", ("probs",), "blend", compared="blend"),
    _ours(UNCHANGED, ALL, "none"),
    _ours("calib platt", ALL, "platt", compared="platt"),
    _ours("calib platt --loss bayes", ALL, "platt", loss="bayes"),
    _ours("calib beta", OF_PROBS, "beta", compared="beta"),
    _ours("calib quadratic", ALL, "quadratic", compared="quadratic"),
    _ours("calib isotonic", ALL, "isotonic", compared="isotonic"),
    _ours("calib isotonic-centered", ALL, "isotonic-centered", compared="isotonic-centered"),
    _ours("calib isotonic-interpolated", ALL, "isotonic-interpolated", compared="isotonic-interpolated"),
    _ours("calib isotonic --max-bins 10", ALL, "isotonic", max_bins=10),
    _ours("calib venn-abers", ALL, "venn-abers", compared="venn-abers"),
    _ours("calib umd", ALL, "umd", bins=_bins, compared="umd"),
    _ours("calib ums", ALL, "ums", bins=_bins, compared="ums"),
    _ours("calib fixed-width", OF_PROBS, "fixed-width", bins=_bins, compared="fixed-width"),
    _ours("calib scaling-binning", ALL, "scaling-binning", bins=_bins, compared="scaling-binning"),
    _ours("calib temperature", ALL, "temperature", joint=True, compared="temperature"),
    _ours("calib vector", ("probs",), "vector", joint=True, log_probs=True, compared="vector"),
    _ours("calib svs", ("probs",), "svs", joint=True, compared="svs"),
    _ours("calib sms", ("probs",), "sms", joint=True, compared="sms"),
    _ours("calib dirichlet", ("probs",), "dirichlet", joint=True),
]


def _as_they_are(rows):
    """A classifier whose features are its scores, for packages that calibrate classifiers."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Given(ClassifierMixin, BaseEstimator):
        classes_ = np.unique(rows.labels)

        def fit(self, scores, labels):
            return self

        def predict(self, scores):
            return self.classes_[scores.argmax(axis=1)]

        def __sklearn_is_fitted__(self):
            return True

    def predict_proba(self, scores):
        return scores

    def decision_function(self, scores):
        return scores[:, 0]

    # scikit-learn takes raw scores before probabilities, if there are any, and knows both by their names.
    response = decision_function if rows.kind == "margins" else predict_proba
    setattr(Given, response.__name__, response)
    return Given()


def _columns(kind, scores):
    """Scores as others take them: a column for each class, and margins one column."""
    if kind == "scores":
        return np.column_stack([1 - scores.astype(float), scores.astype(float)])
    return scores.astype(float).reshape(len(scores), -1)


def _one(kind, scores, probs):
    """The probability that is asked for, of one for each class."""
    return probs[np.arange(len(probs)), scores.argmax(axis=1)] if kind == "probs" else probs[:, 1]


def _sklearn(method, kinds=ALL):
    def fit(rows):
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.frozen import FrozenEstimator

        every = np.arange(len(rows.labels))
        calibrated = CalibratedClassifierCV(FrozenEstimator(_as_they_are(rows)), method=method, cv=[(every, every)], ensemble=False)
        calibrated.fit(_columns(rows.kind, rows.scores), rows.labels)
        return lambda scores: _one(rows.kind, scores, calibrated.predict_proba(_columns(rows.kind, scores))), None

    return Method(f"scikit-learn {method}", kinds, fit)


def _on_confidence(rows):
    """Probabilities and hits: of several classes the confidence, and whether the prediction is right."""
    return as_probs(rows.kind, rows.scores), rows.hits().astype(int)


def _venn_abers():
    def fit(rows):
        from venn_abers import VennAbers

        def both(probs):
            return np.column_stack([1 - probs, probs])

        probs, hits = _on_confidence(rows)
        fitted = VennAbers()
        fitted.fit(both(probs), hits)
        return lambda scores: fitted.predict_proba(both(as_probs(rows.kind, scores)))[0][:, 1], None

    return Method("venn-abers", ALL, fit)


def _betacal():
    def fit(rows):
        from betacal import BetaCalibration

        probs, hits = _on_confidence(rows)
        fitted = BetaCalibration("abm").fit(probs.reshape(-1, 1), hits)
        return lambda scores: fitted.predict(as_probs(rows.kind, scores)), None

    return Method("betacal abm", OF_PROBS, fit)


def _netcal(room, name, **options):
    def fit(rows):
        import importlib

        probs, hits = _on_confidence(rows)
        fitted = getattr(importlib.import_module(f"netcal.{room}"), name)(**options)
        fitted.fit(probs, hits)
        return lambda scores: np.asarray(fitted.transform(as_probs(rows.kind, scores))).ravel(), None

    return Method(f"netcal {name}", OF_PROBS, fit)


def _probmetrics(name, kinds):
    def fit(rows):
        from probmetrics.calibrators import get_calibrator

        fitted = get_calibrator(name).fit(_columns(rows.kind, rows.scores), rows.labels)
        return lambda scores: _one(rows.kind, scores, np.asarray(fitted.predict_proba(_columns(rows.kind, scores)))), None

    return Method(f"probmetrics {name}", kinds, fit)


#: Other packages and their methods; the last two bring PyTorch, some gigabytes.
PEERS = {
    "scikit-learn": [_sklearn("sigmoid"), _sklearn("isotonic"), _sklearn("temperature", OF_PROBS)],
    "venn-abers": [_venn_abers()],
    "betacal": [_betacal()],
    "netcal": [
        _netcal("binning", "HistogramBinning", bins=10),
        _netcal("binning", "BBQ"),
        _netcal("scaling", "LogisticCalibration"),
        _netcal("scaling", "BetaCalibration"),
    ],
    "probmetrics": [
        _probmetrics("affine-scaling", ("scores",)),
        _probmetrics("quadratic-scaling", ("scores",)),
        _probmetrics("svs", ("probs",)),
        _probmetrics("sms", ("probs",)),
    ],
}


def installed():
    """All methods that can run here, and a line for each package: its version, or that it is left out."""
    methods, lines = list(OURS), [f"calib {calib_host.__version__}"]
    for package, of_it in PEERS.items():
        try:
            lines.append(f"{package} {version(package)}")
            methods += of_it
        except PackageNotFoundError:
            why = ", which needs PyTorch (gigabytes): `--all` installs both" if package in ("netcal", "probmetrics") else ""
            lines.append(f"left out: {package} is not installed{why}")
    return methods, lines


def fitted(method, rows):
    """The method's function of scores and the calibrator of calib; if it cannot be fitted to these rows, a line that says why."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return method.fit(rows)
    except (ValueError, IndexError, np.linalg.LinAlgError) as error:
        return f"{method.name}: {str(error).splitlines()[0]}"


def costs(methods, rows):
    """The instructions of a prediction on a Cortex-M0 and a Cortex-M4F by the method's name, as ``calib compare`` counts them."""
    names = {one.compared(rows.kind): one.name for one in methods if rows.kind in one.kinds}
    names.pop(None, None)
    options = {"claim": "top-label", "reductions": ["confidence", "top-label"]} if rows.kind == "probs" else {}
    plain = sorted({name.rsplit("/", 1)[-1] for name in names})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = calib_host.compare(rows.scores, rows.labels, kind=rows.kind, methods=plain, folds=2, repeats=1, bootstrap=2, **options)
    counts = {}
    for one in found["methods"]:
        if one["name"] in names and one["cost"]:
            cores = {core["core"]: core["instructions"] for core in one["cost"]["cores"]}
            counts[names[one["name"]]] = (cores["Cortex-M0"], cores["Cortex-M4F"])
    return counts
