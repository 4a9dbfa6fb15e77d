"""Ctrl-C ends the work, and not just the waiting for it.

`CALIB_ALL_INPUTS=1` interrupts two hundred fits at random moments in place of five.
"""

import os
import subprocess
import sys

import pytest

ALL = os.environ.get("CALIB_ALL_INPUTS") == "1"

# A shell without job control ignores SIGINT in what it runs in the background, and Python keeps that.
START = """
import os, random, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import calib_host

def press(seconds):
    timer = threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGINT])
    timer.daemon = True
    timer.start()

rng = np.random.default_rng(0)
"""

BINARY = """
scores = rng.random(3_000_000)
labels = rng.random(len(scores)) < scores
"""

MATRIX = """
labels = rng.integers(0, classes, rows)
logits = rng.normal(size=(rows, classes)) + 0.5 * np.eye(classes)[labels]
probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
"""

WORK = {
    "fit": (BINARY, "calib_host.fit(scores, labels, 'venn-abers')"),
    "fit margins": (BINARY, "calib_host.fit(20 * scores - 10, labels, 'platt', kind='margins')"),
    "fit matrix": ("classes, rows = 60, 40_000" + MATRIX, "calib_host.fit(logits, labels, 'matrix', kind='logits')"),
    "fit dirichlet": ("classes, rows = 20, 40_000" + MATRIX, "calib_host.fit(probs, labels, 'dirichlet', kind='probs', folds=5)"),
    "fit regions": ("classes, rows = 3, 60_000" + MATRIX, "calib_host.fit(probs, labels, 'multiclass-irp', kind='probs', max_bins=60)"),
    "fit class by class": (
        "classes, rows = 100, 60_000" + MATRIX,
        "calib_host.fit(probs, labels, 'venn-abers', kind='probs', reduction='class-wise')",
    ),
    "assess": (BINARY, "calib_host.assess(scores, labels, resamples=2000)"),
    "assess vectors": ("classes, rows = 10, 100_000" + MATRIX, "calib_host.assess(probs, labels, resamples=2000)"),
    "assess a surface": ("classes, rows = 3, 100_000" + MATRIX, "calib_host.assess(probs, labels)"),
    "assess before and after": (
        BINARY + "scores, labels = scores[::3], labels[::3]\ncalibrator = calib_host.fit(scores, labels, 'umd', bins=5)",
        "calibrator.assess(scores, labels, resamples=2000, same_rows=True)",
    ),
    "predict": (
        BINARY + "calibrator = calib_host.fit(scores, labels, 'umd', bins=5)\nmany = np.tile(scores.astype(np.float32), 20)",
        "calibrator.predict(many)",
    ),
    "predict vectors": (
        "classes, rows = 50, 60_000" + MATRIX + "calibrator = calib_host.fit(logits, labels, 'temperature', kind='logits')",
        "calibrator.predict(logits)",
    ),
    "compare": (BINARY, "calib_host.compare(scores[:100_000], labels[:100_000], repeats=20)"),
    "report": (
        BINARY + "half = (scores[::2], labels[::2]), (scores[1::2], labels[1::2])\ncalibrator = calib_host.fit(*half[0], 'isotonic')",
        "calib_host.report(calibrator, *half, bootstrap=5000)",
    ),
}


def answer(code, timeout=240):
    run = subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True, timeout=timeout)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@pytest.mark.parametrize("what", WORK)
def test_the_work_ends(what):
    setup, work = WORK[what]
    code = f"""
{setup}
pressed = 1.5
press(pressed)
start = time.monotonic()
try:
    while True:
        {work}
except KeyboardInterrupt:
    waited = time.monotonic() - start - pressed
before = time.process_time()
time.sleep(1.5)
print(waited, time.process_time() - before, flush=True)
os._exit(0)
"""
    waited, still_busy = map(float, answer(code))
    # A busy machine is given time; the longest of this work takes minutes.
    assert waited < 5, waited
    # One thread of all that go on would have taken more.
    assert still_busy < 0.5, still_busy


def test_no_interrupt_is_lost():
    """At any moment: while arrays are looked at, while Rust is at work, while what it made becomes Python's."""
    runs = 200 if ALL else 5
    code = f"""
scores = rng.random(20_000).astype(np.float32)
labels = (rng.random(len(scores)) < scores).astype(np.int64)
calib_host.fit(scores, labels, "umd", bins=5)
random.seed(5)
for number in range({runs}):
    many = np.tile(scores, random.choice([1, 1, 5, 50]))
    truth = np.tile(labels, len(many) // len(labels))
    method = random.choice(["isotonic", "umd", "platt", "venn-abers"])
    options = {{"bins": 5}} if method == "umd" else {{}}
    caught = False
    try:
        press(random.uniform(0.0, 0.2))
        end = time.monotonic() + 30
        while time.monotonic() < end:
            calibrator = calib_host.fit(many, truth, method, **options)
            calibrator.predict(many)
            calibrator.assess(many, truth, same_rows=True)
    except KeyboardInterrupt:
        caught = True
    if not caught:
        print("lost", number, method, len(many), flush=True)
        os._exit(0)
print("all", {runs})
"""
    assert answer(code, timeout=3600) == ["all", str(runs)]
