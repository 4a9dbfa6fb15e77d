"""Times the package next to NumPy and scikit-learn, in one run on the same scores: `cargo xtask bench python`.

Each is measured in a process of its own, which loads the arrays first; memory is what its peak is above that.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

BINS = 15
#: How many times as fast as its peer each should be. Where nothing is asked, the ratio is printed alone.
ASKED = {"fit umd": 15, "fit isotonic": 12, "predict isotonic": 8, "assess": 6}
#: The same of scores of type float64, which the device's floats are made of first.
OF_DOUBLES = " float64"
PEERS = {
    "fit umd": "NumPy: quantile, digitize, bincount",
    "fit isotonic": "scikit-learn: IsotonicRegression.fit",
    "predict umd": "NumPy: searchsorted, take",
    "predict isotonic": "scikit-learn: IsotonicRegression.predict",
    "predict interpolated": "the same, and both interpolate",
    "assess": "scikit-learn: brier_score_loss, log_loss, roc_auc_score, roc_curve, calibration_curve",
    "fit umd float64": "NumPy: quantile, digitize, bincount",
    "fit isotonic float64": "scikit-learn: IsotonicRegression.fit",
    "predict isotonic float64": "scikit-learn: IsotonicRegression.predict",
}
#: What predicts.
METHODS = {
    "predict umd": ("umd", {"bins": BINS}),
    "predict isotonic": ("isotonic", {}),
    "predict interpolated": ("isotonic-interpolated", {}),
}
IMPORT_SECONDS = 0.1


def ours(what, scores, labels):
    """What is measured of the package; what it needs is made before."""
    import calib_host

    if what == "fit umd":
        return lambda: calib_host.fit(scores, labels, "umd", bins=BINS)
    if what == "fit isotonic":
        return lambda: calib_host.fit(scores, labels, "isotonic")
    if what == "assess":
        return lambda: calib_host.assess(scores, labels, n_bins=BINS)
    method, options = METHODS[what]
    calibrator = calib_host.fit(scores[:100_000], labels[:100_000], method, **options)
    return lambda: calibrator.predict(scores)


def theirs(what, scores, labels):
    """What is measured of its peer."""
    from sklearn.calibration import calibration_curve
    from sklearn.isotonic import IsotonicRegression
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score, roc_curve

    def umd(scores, labels):
        edges = np.quantile(scores, np.linspace(0, 1, BINS + 1)[1:-1])
        bins = np.digitize(scores, edges)
        counts = np.bincount(bins, minlength=BINS)
        return edges, np.bincount(bins, weights=labels, minlength=BINS) / counts

    def assess():
        """A part of what calib computes: no debiased errors, no convex hull."""
        brier_score_loss(labels, scores)
        log_loss(labels, scores)
        roc_auc_score(labels, scores)
        roc_curve(labels, scores)
        calibration_curve(labels, scores, n_bins=BINS)

    isotonic = IsotonicRegression(out_of_bounds="clip")
    if what == "fit umd":
        return lambda: umd(scores, labels)
    if what == "fit isotonic":
        return lambda: isotonic.fit(scores, labels)
    if what == "assess":
        return assess
    if what == "predict umd":
        edges, values = (array.astype(np.float32) for array in umd(scores[:100_000], labels[:100_000]))
        return lambda: values.take(np.searchsorted(edges, scores, side="right"))
    isotonic.fit(scores[:100_000], labels[:100_000])
    return lambda: isotonic.predict(scores)


def measure(side, what, folder, repeats):
    """The best time of a few runs, and the peak of the memory that they take beside the arrays."""
    warnings.simplefilter("ignore")
    scores, labels = (np.load(Path(folder) / f"{name}.npy") for name in ("scores", "labels"))
    if what.endswith(OF_DOUBLES):
        what, scores = what.removesuffix(OF_DOUBLES), scores.astype(np.float64)
    run = (ours if side == "ours" else theirs)(what, scores, labels)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
    print(json.dumps({"seconds": best, "len_bytes": peak}))


def measured(*words):
    answer = subprocess.run([sys.executable, __file__, "--measure", *words], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def import_seconds():
    code = "import time; t = time.perf_counter(); import calib_host; print(time.perf_counter() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--measure", nargs=4, metavar=("SIDE", "WHAT", "FOLDER", "REPEATS"), help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.measure:
        side, what, folder, repeats = asked.measure
        return measure(side, what, folder, int(repeats))
    load = os.getloadavg()[0]
    print(f"{asked.rows} scores of type float32; {os.cpu_count()} processors, load {load:.2f} before; best of {asked.repeats}")
    rng = np.random.default_rng(1)
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        scores = rng.random(asked.rows, dtype=np.float32)
        np.save(Path(folder) / "scores.npy", scores)
        np.save(Path(folder) / "labels.npy", (rng.random(asked.rows, dtype=np.float32) < scores**2).astype(np.int64))
        del scores
        for what, peer in PEERS.items():
            mine, other = (measured(side, what, folder, str(asked.repeats)) for side in ("ours", "theirs"))
            ratio = other["seconds"] / mine["seconds"]
            least = ASKED.get(what)
            if least is not None and ratio < least:
                missed.append(what)
            print(
                f"{what:<24} {mine['seconds']:8.3f} s {mine['len_bytes'] / 1e6:7.0f} MB   "
                f"{other['seconds']:8.3f} s {other['len_bytes'] / 1e6:7.0f} MB   {ratio:6.1f} times as fast"
                f"{f' (asked: {least})' if least else '':<12} {peer}",
                flush=True,
            )
    seconds = import_seconds()
    print(f"{'import calib_host':<24} {seconds:8.3f} s (asked: below {IMPORT_SECONDS})")
    if seconds >= IMPORT_SECONDS:
        missed.append("import calib_host")
    if missed:
        sys.exit(f"slower than asked: {', '.join(missed)}")


if __name__ == "__main__":
    main()
