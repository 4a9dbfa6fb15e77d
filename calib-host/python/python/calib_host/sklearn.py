"""A scikit-learn classifier with calibrated probabilities, and the calibrator that a device runs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_method_params, _num_samples, check_is_fitted, column_or_1d

from ._arrays import check_known
from ._calibrator import CalibrationWarning, Calibrator, fit
from ._native import DataError, UsageError

try:
    from sklearn.utils.metadata_routing import _routing_enabled
except ImportError:  # pragma: no cover
    from sklearn.utils._metadata_requests import _routing_enabled

__all__ = ["CalibratedClassifier"]

#: Points per bin of several classes, if nobody names bins or points, and there are so many.
POINTS_PER_BIN = 50


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Fits a classifier, and a calibrator to scores of rows that the classifier was not fitted to.

    With ``cv`` (a number of folds, or a splitter) the scores come from classifiers that are fitted to the other folds. The classifier
    that is kept is fitted to all rows. A ``FrozenEstimator``, which is fitted already, is left as it is: the calibrator is fitted to the rows
    that ``fit`` is given, which should be others.

    A guarantee is about the classifier that the scores come from. With folds there are several, of which none is kept: then
    ``calibrator_.guarantee`` is None, and ``calibrator_.statement`` says why. With a ``FrozenEstimator`` it is that of the method.

    ``method``, ``bins``, ``points_per_bin``, ``reduction``, ``alpha`` and ``seed`` are those of :func:`calib_host.fit`, ``options`` a
    dict of its others. Without a method it is a blend, and of several classes one for each with 50 points, or
    fewer where there are few. The reduction of several classes is normalized, if no other is named that gives every class a probability.
    ``response`` is "predict_proba", "decision_function", or "auto" for the first of them that the classifier has.

    What is passed to ``fit`` besides ``X`` and ``y``, such as ``sample_weight``, goes to the classifier's ``fit`` (with metadata routing:
    where it was requested). For the calibrator every row counts the same, but those of weight 0, which are left out.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calib_host.sklearn import CalibratedClassifier
    >>> X, y = make_classification(1000, random_state=0)
    >>> classifier = CalibratedClassifier(GaussianNB(), method="isotonic").fit(X, y)
    >>> classifier.predict_proba(X[:2]).shape
    (2, 2)
    >>> classifier.calibrator_.method
    'isotonic'
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str | None = None,
        cv: Any = 5,
        response: str = "auto",
        reduction: str | None = None,
        bins: int | None = None,
        points_per_bin: int | None = None,
        alpha: float = 0.1,
        seed: int = 0,
        options: dict[str, Any] | None = None,
    ):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.response = response
        self.reduction = reduction
        self.bins = bins
        self.points_per_bin = points_per_bin
        self.alpha = alpha
        self.seed = seed
        self.options = options

    def fit(self, X: Any, y: Any, **fit_params: Any) -> CalibratedClassifier:
        """Fits the classifier, unless it is frozen, and the calibrator."""
        if y is None:
            raise ValueError("CalibratedClassifier requires y to be passed, but the target y is None")
        check_known(y, "y")
        check_classification_targets(y)
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        there = np.unique(y)
        if len(there) < 2:
            raise DataError(f"y has 1 class, {there.tolist()}: a calibrator needs rows of two classes")
        estimator = LogisticRegression() if self.estimator is None else self.estimator
        encoder = LabelEncoder().fit(_classes(estimator, there))
        self.classes_ = encoder.classes_
        labels = encoder.transform(y)
        counted = _counted(fit_params.get("sample_weight"), labels)
        if isinstance(estimator, FrozenEstimator):
            self.estimator_ = estimator
            scores, kind = self._scores(estimator, X)
            classifiers = 1
        else:
            scores, kind, classifiers = self._held_out_scores(estimator, X, y, labels, fit_params)
        options = self._options(kind, int(counted.sum()))
        self.calibrator_: Calibrator = fit(
            scores[counted], labels[counted], kind=kind, classifiers=classifiers, **options
        )
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _held_out_scores(
        self, estimator: Any, X: Any, y: Any, labels: np.ndarray, fit_params: dict[str, Any]
    ) -> tuple[np.ndarray, str, int]:
        """The scores by classifiers that were fitted to other folds, and by how many; the one that is kept is fitted to all."""
        for_fit, for_split = self._routed(fit_params)
        cv = check_cv(self.cv, labels, classifier=True)
        scores: np.ndarray | None = None
        kind = ""
        # By which classifier each row's score is: where test folds overlap, by the last.
        by = np.full(_num_samples(X), -1)
        for fold_index, (train, test) in enumerate(cv.split(X, y, **for_split)):
            fold = clone(estimator)
            X_train, y_train = _safe_split(fold, X, y, train)
            X_test, _ = _safe_split(fold, X, y, test, train)
            fold.fit(X_train, y_train, **_check_method_params(X, for_fit, indices=train))
            part, kind = self._scores(fold, X_test)
            if scores is None:
                scores = np.full((_num_samples(X), *part.shape[1:]), np.nan)
            scores[test] = part
            by[test] = fold_index
        if scores is None or (by < 0).any():
            raise DataError("every row is to be in one of the test folds")
        classifiers = len(np.unique(by))
        if classifiers < 2:
            raise UsageError(
                "cv has all rows in one test fold, whose classifier was fitted to these very rows: take two folds at least, or a "
                "FrozenEstimator and rows that it was not fitted to"
            )
        self.estimator_ = clone(estimator).fit(X, y, **for_fit)
        return scores, kind, classifiers

    def _routed(self, fit_params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        if _routing_enabled():
            routed = process_routing(self, "fit", **fit_params)
            return routed.estimator.fit, routed.splitter.split
        groups = fit_params.pop("groups", None)
        return fit_params, {} if groups is None else {"groups": groups}

    def _scores(self, estimator: Any, X: Any) -> tuple[np.ndarray, str]:
        """What the classifier says of rows, and what that is."""
        if self.response not in ("auto", "predict_proba", "decision_function"):
            raise UsageError(f'response={self.response!r}: there are "auto", "predict_proba" and "decision_function"')
        names = ("predict_proba", "decision_function") if self.response == "auto" else (self.response,)
        name = next((name for name in names if hasattr(estimator, name)), None)
        if name is None:
            raise UsageError(f"{type(estimator).__name__} has no {' and no '.join(names)}")
        said = np.asarray(getattr(estimator, name)(X), dtype=np.float64)
        if len(self.classes_) == 2 and said.ndim == 1:
            return said, "margins"
        said = self._columns(estimator, said, 0.0 if name == "predict_proba" else None)
        if name == "decision_function":
            return said, "logits"
        return (said[:, 1], "scores") if len(self.classes_) == 2 else (said, "probs")

    def _columns(self, estimator: Any, response: np.ndarray, missing: float | None) -> np.ndarray:
        """A column for every class, of those that the rows of a fold have not."""
        known = np.searchsorted(self.classes_, estimator.classes_)
        if len(known) == len(self.classes_):
            return response
        if missing is None or response.ndim == 1:
            raise DataError("a fold has no row of a class, of which its decision_function says nothing: take fewer folds")
        columns = np.full((len(response), len(self.classes_)), missing)
        columns[:, known] = response
        return columns

    def _options(self, kind: str, n: int) -> dict[str, Any]:
        options = {
            "method": self.method,
            "reduction": self.reduction,
            "bins": self.bins,
            "points_per_bin": self.points_per_bin,
            "alpha": self.alpha,
            "seed": self.seed,
            **(self.options or {}),
        }
        if kind in ("scores", "margins"):
            return options
        if all(options.get(name) is None for name in ("method", "bins", "points_per_bin", "epsilon")):
            options["method"] = "blend"
        if options["reduction"] is None and options["method"] not in _OF_VECTORS:
            options["reduction"] = "normalized"
        if options["reduction"] is not None and options["bins"] is None and options["points_per_bin"] is None:
            options["points_per_bin"] = max(2, min(POINTS_PER_BIN, n // 10))
        return options

    def predict_proba(self, X: Any) -> np.ndarray:
        """The calibrated probabilities of all classes, a column each: the device's, in f64; NaN where it has none."""
        check_is_fitted(self)
        scores, _ = self._scores(self.estimator_, X)
        return self.calibrator_.predict_proba(scores, seed=self.seed)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest calibrated probability.

        A row without any has the class with the classifier's own highest score, and that is warned of.
        """
        check_is_fitted(self)
        scores, _ = self._scores(self.estimator_, X)
        probs = self.calibrator_.predict_proba(scores, seed=self.seed)
        unknown = np.isnan(probs)
        highest = np.where(unknown, -1.0, probs).argmax(axis=1)
        without = unknown.all(axis=1)
        if without.any():
            warnings.warn(
                f"{int(without.sum())} of {len(probs)} rows have no calibrated probability: their class is that of the classifier's highest score",
                CalibrationWarning,
                stacklevel=2,
            )
            own = scores[without]
            highest[without] = own.argmax(axis=1) if own.ndim == 2 else own > (0.0 if self.calibrator_.kind == "margins" else 0.5)
        return self.classes_[highest]

    def get_metadata_routing(self) -> MetadataRouter:
        """Where what is passed to ``fit`` goes."""
        estimator = LogisticRegression() if self.estimator is None else self.estimator
        mapping = MethodMapping().add(caller="fit", callee="fit")
        split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self.__class__.__name__ if _owner_is_a_name() else self)
        return router.add_self_request(self).add(estimator=estimator, method_mapping=mapping).add(
            splitter=check_cv(self.cv, classifier=True), method_mapping=split
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        estimator = LogisticRegression() if self.estimator is None else self.estimator
        inner = get_tags(estimator).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags


def _classes(estimator: Any, there: np.ndarray) -> np.ndarray:
    """All classes: those that a frozen classifier knows, of which the rows may lack some, and otherwise the rows' own."""
    known = getattr(estimator, "classes_", None) if isinstance(estimator, FrozenEstimator) else None
    if known is None:
        return there
    unknown = sorted(set(there.tolist()) - set(np.asarray(known).tolist()))
    if unknown:
        raise DataError(f"y has the classes {unknown}, which the frozen classifier does not know: it has {np.asarray(known).tolist()}")
    return np.asarray(known)


def _counted(sample_weight: Any, labels: np.ndarray) -> np.ndarray:
    """Which rows have a weight."""
    if sample_weight is None:
        return np.ones(len(labels), dtype=bool)
    counted = np.asarray(sample_weight) != 0
    if counted.shape == labels.shape and len(np.unique(labels[counted])) < 2:
        raise DataError("of the rows with a sample_weight above 0 all are of 1 class: a calibrator needs rows of two classes")
    return counted


#: Methods of whole vectors that have no namesake for one score.
_OF_VECTORS = ("temperature", "vector", "matrix", "dirichlet", "svs", "sms", "sierpinski", "grid", "projection", "multiclass-irp")


def _owner_is_a_name() -> bool:
    """scikit-learn 1.8 takes the object, versions before it the name."""
    import sklearn

    return tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 8)
