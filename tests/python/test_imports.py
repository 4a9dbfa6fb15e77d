"""Calibrators that others fitted: the device gives what they gave, or they are refused.

`CALIB_ALL_INPUTS=1` takes twenty of each kind in place of three, and every f32 of one of each kind.
"""

import os
import pickle
import time
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
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


def isotonic_regression(seed, margins=False):
    scores, labels = scores_and_labels(seed)
    scores = (20 * scores - 10).astype(np.float32) if margins else scores
    return IsotonicRegression(out_of_bounds="clip").fit(scores, labels)


def isotonic(seed):
    return from_sklearn(isotonic_regression(seed)), 1e-6


def isotonic_of_margins(seed):
    return from_sklearn(isotonic_regression(seed, margins=True)), 2e-6


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
        return from_sklearn(fitted_classifier(estimator, method, classes, seed), tolerance=max(tolerance, 1e-3)), tolerance

    return of


def fitted_classifier(estimator, method, classes, seed):
    X, y = make_classification(
        400 + 20 * seed, n_classes=classes, n_informative=6, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )
    return CalibratedClassifierCV(estimator, method=method, ensemble=False, cv=3).fit(X.astype(np.float32), y)


def of_every(estimator, method, tolerance=2e-6):
    return from_sklearn(fitted_classifier(estimator, method, 2, 0), tolerance=tolerance, proof="every")


def having_temperature(make):
    """What this makes, if scikit-learn has what it takes."""
    try:
        return make()
    except ValueError as error:
        if "method" in str(error) and "temperature" in str(error) and not isinstance(error, calib_host.CalibError):
            pytest.skip("this scikit-learn has no temperature scaling")
        raise


def fitted_betacal(seed):
    betacal = pytest.importorskip("betacal", reason="betacal is not installed")
    scores, labels = scores_and_labels(seed, np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = betacal.BetaCalibration(["abm", "am", "ab"][seed % 3]).fit(scores.reshape(-1, 1), labels)
        if min(fitted.calibrator_.map_[:2]) < 0:
            with pytest.raises(UsageError, match="falls somewhere"):
                from_betacal(fitted)
            fitted = betacal.BetaCalibration("abm").fit(scores.reshape(-1, 1), labels)
        return fitted


def beta(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return from_betacal(fitted_betacal(seed)), 1e-5


def fitted_venn_abers(seed):
    package = pytest.importorskip("venn_abers", reason="venn_abers is not installed")
    scores, labels = scores_and_labels(seed, np.float64)
    fitted = package.VennAbers()
    fitted.fit(np.column_stack([1 - scores, scores]), labels)
    return fitted


def venn_abers(seed):
    return from_venn_abers(fitted_venn_abers(seed)), 1e-6


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
        calibrator, tolerance = having_temperature(lambda: KINDS[kind](seed))
        proof = calibrator.proof
        assert proof.compared >= 1_000_000 and proof.largest_difference <= tolerance, proof
        assert calibrator.guarantee is None and "imported=" in calibrator.parameters
        # To how many rows it was fitted is unknown.
        assert " observations" not in repr(calibrator).split(":")[0]
        largest = max(largest, proof.largest_difference)
    print(f"{kind}: {len(SEEDS)} objects, largest difference {largest:.3g}")


#: Kinds with one score, of which every f32 can be compared.
OF_ONE_SCORE = {
    "isotonic": lambda: from_sklearn(isotonic_regression(0), proof="every"),
    "isotonic of margins": lambda: from_sklearn(isotonic_regression(0, margins=True), proof="every"),
    "sigmoid of margins": lambda: of_every(LinearSVC(), "sigmoid"),
    "sigmoid of probabilities": lambda: of_every(GaussianNB(), "sigmoid"),
    "isotonic classifier of margins": lambda: of_every(SingleLogistic(), "isotonic"),
    "isotonic classifier of probabilities": lambda: of_every(SingleBayes(), "isotonic"),
    "temperature of margins": lambda: of_every(LogisticRegression(), "temperature"),
    "temperature of probabilities": lambda: of_every(GaussianNB(), "temperature", 2e-2),
    "betacal": lambda: from_betacal(fitted_betacal(0), proof="every"),
    "venn_abers": lambda: from_venn_abers(fitted_venn_abers(0), proof="every"),
}


@pytest.mark.skipif(not ALL, reason="takes minutes: CALIB_ALL_INPUTS=1 runs it")
@pytest.mark.parametrize("kind", OF_ONE_SCORE)
def test_every_float(kind):
    start = time.monotonic()
    calibrator = having_temperature(OF_ONE_SCORE[kind])
    proof = calibrator.proof
    floats = int(np.float32(1).view(np.uint32)) + 1
    if calibrator.kind == "margins":
        floats = 2 * int(np.finfo(np.float32).max.view(np.uint32)) + 1
    assert proof.every and proof.compared == floats
    print(f"{kind}: {proof}; {time.monotonic() - start:.0f} s")


@pytest.mark.parametrize("kind", ["sigmoid of several classes", "temperature of vectors", "temperature scaler", "isotonic of several classes"])
def test_of_vectors_there_are_too_many_to_compare_all(kind):
    with pytest.raises(UsageError, match='proof="every" goes through the floats of one score, and [345] classes have vectors'):
        if kind == "temperature scaler":
            from_temperature(1.5, 5, proof="every")
        estimator = SingleBayes() if kind.startswith("isotonic") else GaussianNB()
        classes = 4 if kind.startswith("sigmoid") else 3
        having_temperature(lambda: from_sklearn(fitted_classifier(estimator, kind.split()[0], classes, 0), proof="every"))
    with pytest.raises(UsageError, match="there are"):
        from_temperature(1.5, 5, proof="all")


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


def test_a_proof_is_pickled_with_its_calibrator():
    calibrator = from_sklearn(isotonic_regression(3))
    again = pickle.loads(pickle.dumps(calibrator))
    assert again == calibrator and again.proof == calibrator.proof and again.proof.compared >= 1_000_000


class Far(LogisticRegression):
    """Its margins lie far from 0, as log-likelihoods do."""

    def __init__(self, offset=0.0, spread=1.0):
        self.offset, self.spread = offset, spread
        super().__init__()

    def decision_function(self, X):
        return self.offset + self.spread * X[:, 0]


@pytest.mark.parametrize(("offset", "spread"), [(0, 1), (1e3, 1), (1e4, 1), (1e5, 1), (1e6, 10), (-1e5, 2)])
def test_a_proof_looks_where_a_sigmoid_is_steep(offset, spread):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 1))
    y = (rng.random(600) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    estimator = Far(offset, spread).fit(X, y)
    fitted = CalibratedClassifierCV(FrozenEstimator(estimator), method="sigmoid").fit(X, y)
    margins = estimator.decision_function(X)
    calibrator = from_sklearn(fitted, tolerance=1.0)
    ours, theirs = calibrator.predict(margins.astype(np.float32)), fitted.calibrated_classifiers_[0].calibrators[0]
    difference = np.abs(ours - theirs.predict(margins.astype(np.float32).astype(np.float64))).max()
    # What is said of a million margins is about those of the data, too.
    assert difference <= 1.2 * calibrator.proof.largest_difference + 1e-9
    if difference > 1e-3:
        with pytest.raises(DataError, match="let the classifier subtract their mean"):
            from_sklearn(fitted)


def test_numbers_and_kinds_that_make_no_sense():
    fitted = isotonic_regression(0)
    for wrong in ({"n": 0}, {"n": -1}, {"kind": "probs"}):
        with pytest.raises(UsageError):
            from_sklearn(fitted, **wrong)
    with pytest.raises(DataError, match="a temperature this low multiplies the rounding of float32"):
        from_temperature(0.01, 3)
    assert from_temperature(0.01, 3, tolerance=1e-3).proof.tolerance == 1e-3
