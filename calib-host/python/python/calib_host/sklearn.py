"""A scikit-learn classifier with calibrated probabilities, and the calibrator that a device runs."""

from __future__ import annotations

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

from ._arrays import check_known, floats_of
from ._calibrator import Calibrator, fit
from ._native import DataError, UsageError, suitable_bins
from ._types import FitOptions, Kind, Method, Reduction, Response
from ._warnings import warn

try:
    from sklearn.utils.metadata_routing import _routing_enabled
except ImportError:  # pragma: no cover
    from sklearn.utils._metadata_requests import _routing_enabled

__all__ = ["CalibratedClassifier"]

#: Rows per bin of several classes, if nobody names bins or rows, and there are so many.
ROWS_PER_BIN = 50


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Fits a classifier, and a calibrator to scores of rows that the classifier was not fitted to.

    With ``cv`` (a number of folds, or a splitter) the scores come from classifiers that are fitted to the other folds. The classifier
    that is kept is fitted to all rows. A ``FrozenEstimator``, which is fitted already, is left as it is: the calibrator is fitted to the rows
    that ``fit`` is given, which should be others.

    A guarantee is about the classifier that the scores come from. With folds there are several, of which none is kept: then
    ``calibrator_.guarantee`` is None, and ``calibrator_.statement`` says why. With a ``FrozenEstimator`` it is that of the method.

    ``method``, ``bins``, ``rows_per_bin``, ``reduction``, ``alpha`` and ``seed`` are those of :func:`calib_host.fit`, ``options`` a
    dict of its others. Without a method it is a blend, of several classes one of whole vectors. If nothing can be fitted to these, or a method
    or bins are named, the reduction is normalized: a table for each class, unless another one is named that gives every class a probability.
    ``response`` is "predict_proba", "decision_function", or "auto" for the first of them that the classifier has.

    What is passed to ``fit`` besides ``X`` and ``y``, such as ``sample_weight``, goes to the classifier's ``fit`` (with metadata routing:
    where it was requested). ``sample_weight`` is also that of the calibrator. If the method or several classes take no weights, a
    :class:`CalibrationWarning` says so, and every row with a weight above 0 counts the same.

    The methods with bins choose their number if nobody names it. Other methods have no ``bins``, so a search over both takes a list of grids:
    ``[{"method": ["umd"], "bins": [5, 10]}, {"method": ["isotonic", "platt"]}]``.

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
        method: Method | None = None,
        cv: Any = 5,
        response: Response = "auto",
        reduction: Reduction | None = None,
        bins: int | None = None,
        rows_per_bin: int | None = None,
        alpha: float = 0.1,
        seed: int = 0,
        options: FitOptions | None = None,
    ):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.response = response
        self.reduction = reduction
        self.bins = bins
        self.rows_per_bin = rows_per_bin
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
        labels, classes = encoder.transform(y), encoder.classes_
        weights = _weights(fit_params.get("sample_weight"), labels)
        if isinstance(estimator, FrozenEstimator):
            unknown = sorted(set(fit_params) - {"sample_weight"})
            if unknown:
                raise TypeError(f"CalibratedClassifier.fit() got an unexpected keyword argument {unknown[0]!r}")
            fitted = estimator
            scores, kind = self._scores(estimator, X, classes, checked=True)
            classifiers = 1
        else:
            fitted, scores, kind, classifiers = self._held_out_scores(estimator, X, y, labels, classes, fit_params)
        counted = weights > 0
        options = self._options(kind, int(counted.sum()))
        # Equal weights change nothing.
        if len(np.unique(weights[counted])) > 1:
            if kind in ("scores", "margins") and options["method"] in _WEIGHTED:
                options["sample_weight"] = weights[counted]
            else:
                warn(
                    f"sample_weight went to the classifier, and not to the calibrator: {_unweighted(kind, options['method'])}"
                )
        about: dict[str, Any] = {"kind": kind, "classifiers": classifiers, "class_names": _names(classes)}
        try:
            calibrator = fit(scores[counted], labels[counted], **about, **options)
        except DataError:
            if kind in ("scores", "margins") or not self._names_nothing():
                raise
            # Without a finite optimum for whole vectors: tables need none.
            options = self._of_tables(options, int(counted.sum()))
            calibrator = fit(scores[counted], labels[counted], **about, **options)
        # All at once: a fit that failed leaves the earlier one as it was.
        self.classes_, self.estimator_, self.calibrator_ = classes, fitted, calibrator
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    def _held_out_scores(
        self, estimator: Any, X: Any, y: Any, labels: np.ndarray, classes: np.ndarray, fit_params: dict[str, Any]
    ) -> tuple[Any, np.ndarray, Kind, int]:
        """A classifier that is fitted to all rows, and the scores by others that were fitted to other folds, and by how many."""
        for_fit, for_split = self._routed(fit_params)
        cv = check_cv(self.cv, labels, classifier=True)
        scores: np.ndarray | None = None
        kind: Kind = "scores"
        # By which classifier each row's score is: where test folds overlap, by the last.
        by = np.full(_num_samples(X), -1)
        for fold_index, (train, test) in enumerate(cv.split(X, y, **for_split)):
            fold = clone(estimator)
            X_train, y_train = _safe_split(fold, X, y, train)
            X_test, _ = _safe_split(fold, X, y, test, train)
            fold.fit(X_train, y_train, **_check_method_params(X, for_fit, indices=train))
            part, kind = self._scores(fold, X_test, classes, checked=True)
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
        return clone(estimator).fit(X, y, **for_fit), scores, kind, classifiers

    def _routed(self, fit_params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        if _routing_enabled():
            routed = process_routing(self, "fit", **fit_params)
            return routed.estimator.fit, routed.splitter.split
        groups = fit_params.pop("groups", None)
        return fit_params, {} if groups is None else {"groups": groups}

    def _scores(self, estimator: Any, X: Any, classes: np.ndarray, *, checked: bool = False) -> tuple[np.ndarray, Kind]:
        """What the classifier says of rows, a column for each of the classes, and what that is."""
        if self.response not in ("auto", "predict_proba", "decision_function"):
            raise UsageError(f'response={self.response!r}: there are "auto", "predict_proba" and "decision_function"')
        names = ("predict_proba", "decision_function") if self.response == "auto" else (self.response,)
        name = next((name for name in names if hasattr(estimator, name)), None)
        if name is None:
            raise UsageError(f"{type(estimator).__name__} has no {' and no '.join(names)}")
        said = np.asarray(getattr(estimator, name)(X), dtype=np.float64)
        known = np.asarray(getattr(estimator, "classes_", classes))
        what = f"{name} of {_name(estimator)}"
        is_margin = name == "decision_function" and len(known) == 2 and said.ndim == 1
        if not is_margin and said.shape != (_num_samples(X), len(known)):
            raise UsageError(f"{what} has the shape {said.shape}: ({_num_samples(X)}, {len(known)}) is expected, a column for each of its classes")
        if checked and name == "decision_function" and len(known) > 2:
            self._check_columns(estimator, X, known[said.argmax(axis=1)], what)
        if is_margin and len(classes) == 2:
            return (said if known[0] == classes[0] else -said), "margins"
        if is_margin or (name == "decision_function" and len(known) != len(classes)):
            raise DataError("a fold has no row of a class, of which its decision_function says nothing: take fewer folds")
        columns = np.zeros((len(said), len(classes)))
        columns[:, np.searchsorted(classes, known)] = said
        if name == "decision_function":
            return columns, "logits"
        return (columns[:, 1], "scores") if len(classes) == 2 else (columns, "probs")

    def _check_columns(self, estimator: Any, X: Any, highest: np.ndarray, what: str) -> None:
        """That columns are those of classes, not of pairs: the highest is mostly the prediction."""
        agree = float((np.asarray(estimator.predict(X)) == highest).mean())
        if agree < 0.9:
            raise UsageError(
                f"{what} has the class that is predicted as its highest column in {100 * agree:.0f}% of rows only: columns of "
                'classes are needed, as decision_function_shape="ovr" has them, not those of pairs'
            )

    def _options(self, kind: Kind, n: int) -> dict[str, Any]:
        options: dict[str, Any] = {
            "method": self.method,
            "reduction": self.reduction,
            "bins": self.bins,
            "rows_per_bin": self.rows_per_bin,
            "alpha": self.alpha,
            "seed": self.seed,
            **(self.options or {}),
        }
        unnamed = all(options.get(name) is None for name in _NUMBERS_OF_BINS)
        if kind in ("scores", "margins"):
            if unnamed and options["method"] in _WITH_BINS:
                options["bins"] = suitable_bins(n)
            return options
        if self._names_nothing():
            return {**options, "method": "blend"}
        return self._of_tables(options, n)

    def _names_nothing(self) -> bool:
        """Whether method, reduction and bins are left open."""
        asked = {**vars(self), **(self.options or {})}
        return all(asked.get(name) is None for name in ("method", "reduction", *_NUMBERS_OF_BINS))

    def _of_tables(self, options: dict[str, Any], n: int) -> dict[str, Any]:
        unnamed = all(options.get(name) is None for name in _NUMBERS_OF_BINS)
        if unnamed and options["method"] is None:
            options["method"] = "blend"
        if options["reduction"] is None and options["method"] not in _OF_VECTORS:
            options["reduction"] = "normalized"
        if options["reduction"] is not None and options["bins"] is None and options["rows_per_bin"] is None:
            options["rows_per_bin"] = max(2, min(ROWS_PER_BIN, n // 10))
        return options

    def predict_proba(self, X: Any) -> np.ndarray:
        """The calibrated probabilities of all classes, a column each: the device's, in f64; NaN if it has none.

        A row sums to one, so that it has no probability at all where a class has none.
        """
        check_is_fitted(self)
        scores, _ = self._scores(self.estimator_, X, self.classes_)
        return self.calibrator_.predict_proba(scores, seed=self.seed)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest calibrated probability.

        A row in which a class has none has the class with the classifier's own highest score, and that is warned of.
        """
        check_is_fitted(self)
        scores, _ = self._scores(self.estimator_, X, self.classes_)
        probs = self.calibrator_.predict_proba(scores, seed=self.seed)
        unknown = np.asarray(np.isnan(probs).any(axis=1))
        highest = np.where(unknown[:, None], 0.0, probs).argmax(axis=1)
        if unknown.any():
            warn(
                f"{int(unknown.sum())} of {len(probs)} rows have no calibrated probability of some class: their class is that of the "
                "classifier's highest score"
            )
            own = scores[unknown]
            highest[unknown] = own.argmax(axis=1) if own.ndim == 2 else own > (0.0 if self.calibrator_.kind == "margins" else 0.5)
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


def _weights(sample_weight: Any, labels: np.ndarray) -> np.ndarray:
    """The weights of rows; 1 if there are none."""
    if sample_weight is None:
        return np.ones(len(labels))
    if np.ndim(sample_weight) == 0:
        return np.full(len(labels), float(sample_weight))
    weights = floats_of(sample_weight, "sample_weight")
    if weights.shape != labels.shape:
        raise UsageError(f"{len(labels)} rows but {len(weights)} weights in sample_weight")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"sample_weight, row {row}: {weights[row]} is no weight: weights are numbers from 0 on")
    if len(np.unique(labels[weights > 0])) < 2:
        raise DataError("of the rows with a sample_weight above 0 all are of 1 class: a calibrator needs rows of two classes")
    return weights


def _unweighted(kind: Kind, method: str | None) -> str:
    if kind in ("scores", "margins"):
        return f"{method or 'blend'} counts every row the same; {', '.join(_WEIGHTED)} take weights"
    return "with several classes every row counts the same"


def _names(classes: np.ndarray) -> list[str] | None:
    """The names of classes that are more than their numbers."""
    names = [str(name) for name in classes.tolist()]
    return None if names == [str(label) for label in range(len(names))] else names


def _name(estimator: Any) -> str:
    return type(estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator).__name__


#: Methods whose rows may have weights.
_WEIGHTED = ("isotonic", "platt", "platt-prob", "beta", "quadratic", "temperature")
#: Methods that are asked for a number of bins.
_WITH_BINS = ("umd", "umd-original", "umd-randomized", "ums", "fixed-width", "scaling-binning", "scaling-binning-one-set")
#: Each says how many bins there are.
_NUMBERS_OF_BINS = ("bins", "rows_per_bin", "epsilon")
#: Methods of whole vectors that have no namesake for one score.
_OF_VECTORS = ("temperature", "vector", "matrix", "dirichlet", "svs", "sms", "sierpinski", "grid", "projection", "multiclass-irp")


def _owner_is_a_name() -> bool:
    """scikit-learn 1.8 takes the object, versions before it the name."""
    import sklearn

    return tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 8)
