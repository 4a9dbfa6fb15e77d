"""Curves that are known: how near each method comes to them, and whether intervals and bands hold."""

import json
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from experiments import ranges_of
from methods import DEFAULT, Rows, as_probs, fitted

ROWS = (200, 1000, 5000)
#: The scores at which values are compared with the truth.
PROBES = 2000
#: The scores over which the event rate of a range is taken.
MANY = 200_000


def _logit(s):
    return np.log(s) - np.log1p(-s)


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


def _normal(median=0.0, spread=1.5):
    """Scores whose logits are normal."""
    return lambda rng, n: _sigmoid(rng.normal(median, spread, n))


def _votes(rng, n):
    """Shares of the votes of 20 trees."""
    return rng.binomial(20, rng.beta(1.5, 2.5, n)) / 20


def _with_zeros(rng, n):
    return np.where(rng.random(n) < 0.4, 0.0, rng.random(n))


@dataclass(frozen=True)
class Curve:
    """How scores are spread, and how often class 1 comes with each."""

    name: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    truth: Callable[[np.ndarray], np.ndarray]
    rises: bool = True

    def scores(self, rng, n):
        return self.draw(rng, n).astype(np.float32)

    def probs(self, scores):
        return self.truth(scores.astype(float))


CURVES = [
    Curve("mild", _normal(), lambda s: _sigmoid(0.85 * _logit(s) + 0.15)),
    Curve("overconfident", _normal(0, 2.5), lambda s: _sigmoid(0.4 * _logit(s) - 0.3)),
    Curve("underconfident", _normal(0, 0.7), lambda s: _sigmoid(2 * _logit(s) + 0.3)),
    Curve("shifted", _normal(), lambda s: _sigmoid(_logit(s) - 1)),
    Curve("bent", _normal(), lambda s: s**2),
    Curve("label noise", _normal(), lambda s: 0.1 + 0.8 * s),
    Curve("rare", _normal(-2, 1.2), lambda s: 0.01 + 0.19 * s),
    Curve("plateau", _normal(), lambda s: np.interp(s, [0, 0.25, 0.75, 1], [0.02, 0.4, 0.5, 0.98])),
    Curve("one step", _normal(), lambda s: np.where(s < 0.5, 0.2, 0.7)),
    Curve("steps", _normal(), lambda s: np.select([s < 0.3, s < 0.7], [0.1, 0.5], 0.85)),
    Curve("rare steps", _normal(-2, 1.2), lambda s: np.select([s < 0.1, s < 0.3], [0.01, 0.06], 0.2)),
    Curve("votes", _votes, lambda s: 0.05 + 0.9 * s**2),
    Curve("zeros", _with_zeros, lambda s: 0.03 + 0.9 * s**0.5),
    Curve("wave", _normal(), lambda s: s + 0.12 * np.sin(4 * np.pi * s), rises=False),
    Curve("falls", _normal(), lambda s: np.interp(s, [0, 0.7, 1], [0.05, 0.8, 0.5]), rises=False),
]


@lru_cache(maxsize=1)
def _population(curve):
    """Many scores in order, and the sums of their probabilities."""
    scores = np.sort(curve.scores(np.random.default_rng(0), MANY))
    return scores, np.concatenate([[0.0], np.cumsum(curve.probs(scores))])


def _hold(curve, ranges):
    """Whether the event rate of every range lies in its interval."""
    scores, sums = _population(curve)
    for one in ranges:
        lo, hi = one["scores"]
        first = 0 if lo is None else np.searchsorted(scores, np.float32(lo))
        last = len(scores) if hi is None else np.searchsorted(scores, np.float32(hi))
        if last > first:
            rate = (sums[last] - sums[first]) / (last - first)
            if not one["interval"]["lo"] <= rate <= one["interval"]["hi"]:
                return False
    return True


def _band_holds(curve, calibrator, scores):
    """Whether the band holds at every calibration score; None without a band."""
    with tempfile.TemporaryDirectory() as folder:
        calibrator.save(Path(folder) / "cal.bin")
        words = [sys.executable, "-m", "calib_host", "inspect", "cal.bin", "--json"]
        band = json.loads(subprocess.check_output(words, cwd=folder, stderr=subprocess.DEVNULL)).get("band")
    if band is None:
        return None
    edges = np.array([step["scores"][0] for step in band["steps"][1:]], np.float32)
    ends = np.array([step["interval"] for step in band["steps"]])[np.searchsorted(edges, scores, side="right")]
    truth = curve.probs(scores)
    return bool(np.all((ends[:, 0] <= truth) & (truth <= ends[:, 1])))


def draw(of, n, number, methods):
    """The record of a set of rows: each method's squared error to the truth, and whether intervals and band hold."""
    curve = CURVES[of]
    rng = np.random.default_rng([zlib.crc32(curve.name.encode()), n, number])
    scores, probes = curve.scores(rng, n), curve.scores(rng, PROBES)
    labels = (rng.random(n) < curve.probs(scores)).astype(np.int64)
    drawn = (rng.random(PROBES) < curve.probs(probes)).astype(np.int64)
    record = {"curve": curve.name, "n": n, "set": number, "errors": {}}
    if labels.min() == labels.max():
        return record
    for method in (method for method in methods if "scores" in method.kinds):
        made = fitted(method, Rows("scores", scores, labels))
        # A method that cannot be fitted leaves the scores as they are.
        predict, calibrator = (None, None) if isinstance(made, str) else made
        probs = as_probs("scores", probes) if predict is None else predict(probes)
        record["errors"][method.name] = float(np.mean((probs - curve.probs(probes)) ** 2))
        if method.name == DEFAULT and calibrator is not None:
            record["held"] = _hold(curve, ranges_of(calibrator, Rows("scores", probes, drawn)))
            record["band"] = _band_holds(curve, calibrator, scores) if curve.rises else None
    return record
