"""Calibrators that others fitted: the device gives what they gave, or they are refused.

`CALIB_ALL_INPUTS=1` takes twenty of each kind in place of three, and every f32 of one of each kind.
"""

import os
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import calib_host
from calib_host import DataError, UsageError, from_betacal, from_sklearn, from_temperature, from_venn_abers

ALL = os.environ.get("CALIB_ALL_INPUTS") == "1"
SEEDS = range(20 if ALL else 3)


def scores_and_labels(seed, dtype=np.float32):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(100, 1500))
    scores = rng.beta(rng.uniform(0.5, 2), rng.uniform(0.5, 2), n).astype(dtype)
    return scores, (rng.random(n) < scores ** rng.uniform(0.5, 3)).astype(int)


def isotonic(seed):
    scores, labels = scores_and_labels(seed)
    return from_sklearn(IsotonicRegression(out_of_bounds="clip").fit(scores, labels)), 1e-6


def isotonic_of_margins(seed):
    scores, labels = scores_and_labels(seed)
    margins = (20 * scores - 10).astype(np.float32)
    return from_sklearn(IsotonicRegression(out_of_bounds="clip").fit(margins, labels)), 2e-6


class SingleBayes(GaussianNB):
    """Its probabilities are those of a device: f32."""

    def predict_proba(self, X):
        return super().predict_proba(X).astype(np.float32).astype(np.float64)


class SingleLogistic(LogisticRegression):
    """Its margins are those of a device: f32."""

    def decision_function(self, X):
        return super().decision_function(X).astype(np.float32).astype(np.float64)


def classifier(estimator, method, classes, tolerance=2e-6):
    def of(seed):
        X, y = make_classification(
            400 + 20 * seed, n_classes=classes, n_informative=6, n_clusters_per_class=1, flip_y=0.1, random_state=seed
        )
        fitted = CalibratedClassifierCV(estimator, method=method, ensemble=False, cv=3).fit(X.astype(np.float32), y)
        return from_sklearn(fitted, tolerance=max(tolerance, 1e-3)), tolerance

    return of


def beta(seed):
    betacal = pytest.importorskip("betacal", reason="betacal is not installed")
    scores, labels = scores_and_labels(seed, np.float64)
    kind = ["abm", "am", "ab"][seed % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = betacal.BetaCalibration(kind).fit(scores.reshape(-1, 1), labels)
        if min(fitted.calibrator_.map_[:2]) < 0:
            with pytest.raises(UsageError, match="falls somewhere"):
                from_betacal(fitted)
            fitted = betacal.BetaCalibration("abm").fit(scores.reshape(-1, 1), labels)
        return from_betacal(fitted), 1e-5


def venn_abers(seed):
    package = pytest.importorskip("venn_abers", reason="venn_abers is not installed")
    scores, labels = scores_and_labels(seed, np.float64)
    fitted = package.VennAbers()
    fitted.fit(np.column_stack([1 - scores, scores]), labels)
    return from_venn_abers(fitted), 1e-6


def temperature(seed):
    rng = np.random.default_rng(seed)
    return from_temperature(rng.uniform(0.3, 5), int(rng.integers(2, 12)), kind=["logits", "probs"][seed % 2]), 1e-5


KINDS = {
    "isotonic": isotonic,
    "isotonic of margins": isotonic_of_margins,
    "sigmoid of margins": classifier(LinearSVC(), "sigmoid", 2),
    "sigmoid of probabilities": classifier(GaussianNB(), "sigmoid", 2),
    "sigmoid of several classes": classifier(GaussianNB(), "sigmoid", 4),
    "isotonic classifier of margins": classifier(SingleLogistic(), "isotonic", 2),
    "isotonic classifier of probabilities": classifier(SingleBayes(), "isotonic", 2),
    "isotonic of several classes": classifier(SingleBayes(), "isotonic", 3),
    "temperature of margins": classifier(LogisticRegression(), "temperature", 2),
    # At 0 and 1, where scikit-learn adds 1e-12 before the logarithm, and the device takes 2^-24.
    "temperature of probabilities": classifier(GaussianNB(), "temperature", 2, 2e-2),
    "temperature of logits": classifier(LogisticRegression(), "temperature", 4),
    "temperature of vectors": classifier(GaussianNB(), "temperature", 3, 1e-4),
    "betacal": beta,
    "venn_abers": venn_abers,
    "temperature scaler": temperature,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_device_gives_what_the_other_gave(kind):
    largest = 0.0
    for seed in SEEDS:
        try:
            calibrator, tolerance = KINDS[kind](seed)
        except ValueError as error:
            if "method" in str(error) and "temperature" in str(error) and not isinstance(error, calib_host.CalibError):
                pytest.skip("this scikit-learn has no temperature scaling")
            raise
        proof = calibrator.proof
        assert proof.compared >= 1_000_000 and proof.largest_difference <= tolerance, proof
        assert calibrator.guarantee is None and "imported=" in calibrator.parameters
        largest = max(largest, proof.largest_difference)
    print(f"{kind}: {len(SEEDS)} objects, largest difference {largest:.3g}")


@pytest.mark.skipif(not ALL, reason="takes minutes: CALIB_ALL_INPUTS=1 runs it")
def test_every_float():
    scores, labels = scores_and_labels(0)
    fitted = IsotonicRegression(out_of_bounds="clip").fit(scores, labels)
    proof = from_sklearn(fitted, proof="every").proof
    assert proof.every and proof.compared == np.float32(1).view(np.uint32) + 1 and proof.largest_difference < 1e-6


def test_what_cannot_be_represented_is_refused():
    scores, labels = scores_and_labels(1)
    for bounds in ("nan", "raise"):
        with pytest.raises(UsageError, match='out_of_bounds="clip"'):
            from_sklearn(IsotonicRegression(out_of_bounds=bounds).fit(scores, labels))
    with pytest.raises(UsageError, match="falls"):
        from_sklearn(IsotonicRegression(out_of_bounds="clip", increasing=False).fit(scores, labels))
    with pytest.raises(UsageError, match="outside"):
        from_sklearn(IsotonicRegression(out_of_bounds="clip").fit(scores, labels * 3))
    X, y = make_classification(300, n_classes=3, n_informative=5, random_state=0)
    with pytest.raises(UsageError, match="ensemble=False"):
        from_sklearn(CalibratedClassifierCV(GaussianNB(), ensemble=True).fit(X, y))
    with pytest.raises(UsageError, match="decision_function"):
        from_sklearn(CalibratedClassifierCV(LinearSVC(), ensemble=False).fit(X, y))
    with pytest.raises(UsageError, match="neither"):
        from_sklearn(LogisticRegression())
    with pytest.raises(UsageError, match="no fitted"):
        from_betacal(object())
    with pytest.raises(UsageError, match="no fitted"):
        from_venn_abers(object())
    with pytest.raises(UsageError, match="above 0"):
        from_temperature(0.0, 3)


def test_knots_closer_than_the_devices_floats_are_refused_and_said():
    # A jump between two f64 that are the same f32.
    scores = np.array([0.1, 0.5, 0.5 + 1e-12, 0.9])
    fitted = IsotonicRegression(out_of_bounds="clip").fit(scores, [0, 0, 1, 1])
    with pytest.raises(DataError, match="numpy.float32"):
        from_sklearn(fitted)
    assert from_sklearn(fitted, tolerance=1.0).proof.largest_difference > 0.5


def test_a_wrong_parameter_is_found():
    """The proof compares with the other's own code, not with its parameters."""
    scores, labels = scores_and_labels(2)

    class Crooked(IsotonicRegression):
        def predict(self, T):
            return np.where(np.asarray(T) == self.X_thresholds_[1], 0.987, super().predict(T))

    with pytest.raises(DataError, match="would differ"):
        from_sklearn(Crooked(out_of_bounds="clip").fit(scores, labels))
