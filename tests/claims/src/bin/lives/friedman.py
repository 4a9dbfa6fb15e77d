"""FriedmanDrift: probability integral transforms of a regressor before and after a drift, and what river's detectors make of them.

Writes a file of doubles for every kind of drift, for each trial its calibration set and then its stream, and prints a line of JSON for
every detector with the row of its first alarm in each trial. The calibration sets are the trials' own: what is guaranteed is over their
draw, too.
"""

import json
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from river import drift
from river.datasets.synth import FriedmanDrift
from scipy.stats import norm
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

BEFORE = 2500
AFTER = 2500
TRAINING = 10_000
CALIBRATION = 5000
FAR = 10**9
POSITIONS = {
    "gra": (BEFORE, FAR),
    "gsg": (BEFORE, FAR),
    "lea": (BEFORE, BEFORE + 833, BEFORE + 1666),
}
# An error is a residual that one in ten is larger than, before the drift.
ERROR = norm.ppf(0.95)
# Those of numbers watch the size of the residual, those of errors whether it is one.
OF_NUMBERS = {"ADWIN": drift.ADWIN, "KSWIN": lambda: drift.KSWIN(seed=42), "PageHinkley": drift.PageHinkley}
OF_ERRORS = {
    "DDM": drift.binary.DDM,
    "EDDM": drift.binary.EDDM,
    "HDDM_A": drift.binary.HDDMA,
    "HDDM_W": drift.binary.HDDMW,
}


def rows(kind, n, seed, drifts):
    """Rows of a stream."""
    position = POSITIONS[kind] if drifts else tuple(FAR * (at + 1) for at in range(len(POSITIONS[kind])))
    stream = FriedmanDrift(drift_type=kind, position=position, transition_window=500, seed=seed).take(n)
    x, y = np.empty((n, 10)), np.empty(n)
    for row, (features, target) in enumerate(stream):
        x[row], y[row] = list(features.values()), target
    return x, y


def fitted():
    """A regressor of the mean, and one of the residuals' logarithm, whose rows the other has not seen."""
    x, y = rows("gra", TRAINING, 42, False)
    half = TRAINING // 2
    mlp = lambda: make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(64, 64), early_stopping=True, random_state=42))
    mean = mlp().fit(x[:half], y[:half])
    log_size = mlp().fit(x[half:], np.log((y[half:] - mean.predict(x[half:])) ** 2 + 1e-6))
    # The mean of the logarithm of a squared standard normal number is -1.27.
    return lambda x, y: (y - mean.predict(x)) / np.exp((log_size.predict(x) + 1.2703628) / 2)


def trial(task):
    """The residuals of a trial's calibration set and stream, and the rows of the detectors' first alarms."""
    kind, number, residuals_of = task
    seed = 42 + 1000 * (number + 1)
    calibration = residuals_of(*rows(kind, CALIBRATION, seed + 1, False))
    residuals = residuals_of(*rows(kind, BEFORE + AFTER, seed, True))
    alarms = {}
    for makers, watched in ((OF_NUMBERS, np.abs(residuals)), (OF_ERRORS, np.abs(residuals) > ERROR)):
        for name, make in makers.items():
            detector, alarms[name] = make(), None
            for row, value in enumerate(watched.tolist()):
                detector.update(value)
                if detector.drift_detected:
                    alarms[name] = row
                    break
    return calibration, residuals, alarms


RESIDUALS_OF = None


def of_number(task):
    return trial((*task, RESIDUALS_OF))


def main():
    global RESIDUALS_OF
    warnings.simplefilter("ignore")
    folder, trials = Path(sys.argv[1]), int(sys.argv[2])
    RESIDUALS_OF = fitted()
    for kind in POSITIONS:
        # A process has the regressor from its parent.
        with ProcessPoolExecutor() as pool:
            found = list(pool.map(of_number, [(kind, number) for number in range(trials)], chunksize=8))
        transforms = norm.cdf(np.concatenate([part for calibration, residuals, _ in found for part in (calibration, residuals)]))
        transforms.astype("<f8").tofile(folder / f"{kind}.f64")
        for name in (*OF_NUMBERS, *OF_ERRORS):
            print(json.dumps({"kind": kind, "detector": name, "alarms": [alarms[name] for *_, alarms in found]}), flush=True)


main()
