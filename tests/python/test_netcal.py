"""Calibrators that netcal fitted: the device gives what they gave, or they are refused.

netcal brings PyTorch, which brings gigabytes: `cargo xtask wheel --all` has both. `CALIB_ALL_INPUTS=1` takes twenty of each kind in place of
three, and every f32 of one of each kind of one score.
"""

import os

import numpy as np
import pytest

pytest.importorskip("netcal", reason="netcal is not installed: cargo xtask wheel --all has it")

from netcal.binning import BBQ, HistogramBinning, IsotonicRegression
from netcal.scaling import BetaCalibration, LogisticCalibration, TemperatureScaling

import calib_host
from calib_host import DataError, UsageError, from_netcal

ALL = os.environ.get("CALIB_ALL_INPUTS") == "1"
SEEDS = range(20 if ALL else 3)
SCALINGS = (LogisticCalibration, TemperatureScaling, BetaCalibration)


def fitted(method, scores, labels, **how):
    made = method(**how)
    return made.fit(scores, labels, tensorboard=False) if isinstance(made, SCALINGS) else made.fit(scores, labels)


def binary(seed, dtype):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(200, 1500))
    # Sharper or flatter than the truth, and seldom near 0 or 1, where netcal and the device stop at other numbers.
    logits = rng.normal(scale=1.5, size=rows)
    scores = (1 / (1 + np.exp(-logits))).astype(np.float32).astype(dtype)
    labels = rng.random(rows) < 1 / (1 + np.exp(-logits * rng.uniform(0.8, 1.5) + rng.normal()))
    return scores, labels.astype(int)


def several(seed, classes, dtype):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(classes, 0.6), size=int(rng.integers(300, 1500))).astype(np.float32).astype(dtype)
    return probs, np.array([rng.choice(classes, p=row) for row in probs.astype(np.float64) / probs.sum(axis=1, keepdims=True, dtype=np.float64)])


#: Each kind with the largest difference of a probability.
OF_ONE_SCORE = {
    "logistic": (LogisticCalibration, np.float64, 1e-4),
    "logistic in f32": (LogisticCalibration, np.float32, 1e-4),
    "temperature": (TemperatureScaling, np.float64, 1e-4),
    "beta": (BetaCalibration, np.float64, 1e-4),
    "isotonic": (IsotonicRegression, np.float64, 1e-6),
    "histogram": (HistogramBinning, np.float64, 1e-6),
}
OF_VECTORS = {
    "vector scaling": (LogisticCalibration, np.float64, 1e-4),
    "temperature of vectors": (TemperatureScaling, np.float64, 1e-5),
    "temperature of vectors in f32": (TemperatureScaling, np.float32, 1e-5),
    "isotonic of several classes": (IsotonicRegression, np.float64, 1e-5),
    "histogram of several classes": (HistogramBinning, np.float64, 1e-6),
}


@pytest.mark.parametrize("kind", [*OF_ONE_SCORE, *OF_VECTORS])
def test_the_device_gives_what_netcal_gave(kind):
    largest = 0.0
    for seed in SEEDS:
        if kind in OF_ONE_SCORE:
            method, dtype, tolerance = OF_ONE_SCORE[kind]
            calibrator = from_netcal(fitted(method, *binary(seed, dtype)), tolerance=1.0)
        else:
            method, dtype, tolerance = OF_VECTORS[kind]
            calibrator = from_netcal(fitted(method, *several(seed, 3 + seed % 5, dtype)), tolerance=1.0)
        proof = calibrator.proof
        assert proof.compared >= 1_000_000
        assert proof.largest_difference <= tolerance, f"{seed}: {proof}"
        assert calibrator.guarantee is None and f"imported=netcal.{method.__name__}" in calibrator.parameters
        assert calib_host.Calibrator.from_bytes(calibrator.to_bytes()).parameters == calibrator.parameters
        largest = max(largest, proof.largest_difference)
    print(f"{kind}: {len(SEEDS)} objects, largest difference {largest:.3g}")


@pytest.mark.skipif(not ALL, reason="takes minutes: CALIB_ALL_INPUTS=1 runs it")
@pytest.mark.parametrize("kind", OF_ONE_SCORE)
def test_every_float(kind):
    method, dtype, tolerance = OF_ONE_SCORE[kind]
    proof = from_netcal(fitted(method, *binary(0, dtype)), tolerance=tolerance, proof="every").proof
    assert proof.every and proof.compared == int(np.float32(1).view(np.uint32)) + 1
    print(f"{kind}: {proof}")


def test_a_bound_belongs_to_the_bin_below_it():
    scores, labels = binary(1, np.float64)
    table = fitted(HistogramBinning, scores, labels, bins=4)
    calibrator = from_netcal(table)
    at = np.array([0.25, np.nextafter(np.float32(0.25), np.float32(1))], dtype=np.float32)
    assert calibrator.predict(at).tolist() == table._bin_map[:2].astype(np.float32).tolist()


def test_rows_without_an_answer_of_netcal_are_spread_evenly():
    probs = np.repeat(np.eye(3), 40, axis=0) * 0.8 + 0.2 / 3
    table = fitted(IsotonicRegression, probs, np.repeat(np.arange(3), 40))
    even = from_netcal(table).predict(np.array([[0.1, 0.1, 0.1]], dtype=np.float32) / np.float32(0.3))
    with np.errstate(invalid="ignore"):
        theirs = table.transform(np.full((1, 3), 1 / 3))
    assert np.isnan(theirs).all() or np.allclose(theirs, even, atol=1e-6)
    assert np.allclose(even, 1 / 3)


def test_where_the_ends_differ_they_are_told():
    # So flat that a score of 0 has a probability far from 0.
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=4, size=3000)
    labels = (rng.random(3000) < 1 / (1 + np.exp(-0.2 * logits))).astype(int)
    flat = fitted(TemperatureScaling, 1 / (1 + np.exp(-logits)), labels)
    with pytest.raises(DataError, match=r"the device would differ by .* at [01]\.0, .*: before the logarithm netcal takes"):
        from_netcal(flat)
    assert from_netcal(flat, tolerance=0.5).proof.largest_difference > 1e-3


def test_what_cannot_be_represented_is_refused():
    scores, labels = binary(2, np.float64)
    probs, classes = several(2, 3, np.float64)
    refusals = [
        (object(), "no calibrator of netcal"),
        (BBQ().fit(scores, labels), "BBQ is not one function"),
        (LogisticCalibration(), "LogisticCalibration is not fitted"),
        (IsotonicRegression(), "IsotonicRegression is not fitted"),
        (LogisticCalibration(detection=True), "detection=True"),
        (fitted(IsotonicRegression, probs, classes, independent_probabilities=True), "independent_probabilities=True"),
        (fitted(BetaCalibration, probs, classes), "class-wise"),
        (fitted(IsotonicRegression, probs, np.where(classes == 1, 2, classes)), "a class had no rows"),
        (fitted(LogisticCalibration, 1 - scores, labels), "the function falls"),
        (fitted(HistogramBinning, scores, labels, equal_intervals=False), "equal_intervals=False"),
    ]
    for calibrator, words in refusals:
        with pytest.raises(UsageError, match=words):
            from_netcal(calibrator)
    drawn = fitted(LogisticCalibration, scores, labels)
    drawn.method = "mcmc"
    with pytest.raises(UsageError, match='method="mcmc".*method="mle"'):
        from_netcal(drawn)
    with pytest.raises(UsageError, match='"sample"'):
        from_netcal(fitted(IsotonicRegression, scores, labels), proof="all")


def test_a_wrong_answer_is_found():
    """The proof asks netcal's own code."""
    scores, labels = binary(3, np.float64)
    for method in (LogisticCalibration, IsotonicRegression, HistogramBinning):
        crooked = fitted(method, scores, labels)
        right = crooked.transform
        crooked.transform = lambda X, right=right: np.where(X > 0.9, 0.5 * right(X), right(X))
        with pytest.raises(DataError, match="would differ"):
            from_netcal(crooked)
