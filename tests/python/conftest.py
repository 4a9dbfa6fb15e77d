"""Data that the tests make, and what needs a package that may not be there."""

import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture
def binary():
    """Scores of an overconfident classifier, with labels."""
    rng = np.random.default_rng(7)
    scores = rng.random(2000)
    return scores, (rng.random(2000) < scores**2).astype(np.int64)


@pytest.fixture
def logits():
    """Logits of three classes that are twice as sure as they should be, with labels."""
    rng = np.random.default_rng(8)
    truth = rng.normal(size=(1500, 3))
    probs = np.exp(truth) / np.exp(truth).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(3, p=row) for row in probs])
    return 2 * truth, labels


def command(folder, *words):
    """What the command that comes with the package prints."""
    run = subprocess.run(
        [sys.executable, "-m", "calib_host", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
