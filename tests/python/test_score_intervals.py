"""Intervals of score ranges beside a method without a guarantee."""

import csv
import json

import numpy as np
import pytest
from conftest import command

import calib_host
from calib_host import UsageError


def rows(n=2000):
    rng = np.random.default_rng(7)
    scores = rng.random(n).astype(np.float32)
    return scores, (rng.random(n) < scores.astype(float) ** 2).astype(int)


@pytest.mark.parametrize("method", ["beta", "platt", "isotonic", "none"])
def test_each_row_has_the_interval_of_its_range(tmp_path, method):
    scores, labels = rows()
    calibrator = calib_host.fit(scores, labels, method, alpha=0.05)
    assert "95%" in calibrator.statement and "every score range" in calibrator.statement
    calibrator.save(tmp_path / "cal.bin")
    plain = calib_host.fit(scores, labels, method, intervals=False, alpha=0.05)
    np.testing.assert_array_equal(calibrator.predict(scores), plain.predict(scores))
    assert len(calibrator.to_bytes()) > len(plain.to_bytes())

    shown = json.loads(command(tmp_path, "inspect", "cal.bin", "--json"))
    assert round(shown["score_intervals"]["alpha"], 6) == 0.05
    ranges = shown["tables"][0]["score_intervals"]
    edges = np.array([one["scores"][0] for one in ranges[1:]], np.float32)
    intervals = np.array([one["interval"] for one in ranges], np.float32)
    assert len(intervals) == len(edges) + 1 >= 5

    with open(tmp_path / "scores.csv", "w") as out:
        out.writelines(["score\n", *(f"{score!r}\n" for score in scores.tolist())])
    command(tmp_path, "apply", "cal.bin", "scores.csv", "-o", "probs.csv")
    with open(tmp_path / "probs.csv") as out:
        applied = list(csv.DictReader(out))
    of_row = np.searchsorted(edges, scores, side="right")
    found = np.array([[row["lo"], row["hi"]] for row in applied], np.float32)
    np.testing.assert_array_equal(found, intervals[of_row])
    np.testing.assert_array_equal(np.array([row["prob"] for row in applied], np.float32), calibrator.predict(scores))

    # Each range's interval contains the event rate that its labels were drawn with, as it does in 19 of 20 sets.
    for bin_, (lo, hi) in enumerate(intervals):
        assert lo <= np.mean(scores[of_row == bin_].astype(float) ** 2) <= hi


def test_intervals_go_with_one_classifier():
    scores, labels = rows(300)
    assert "score range" not in calib_host.fit(scores, labels, "beta", classifiers=5).statement
    with pytest.raises(UsageError, match="True or False"):
        calib_host.fit(scores, labels, "beta", intervals="yes")


def test_whole_vectors_have_intervals_by_predicted_class():
    scores, labels = rows(600)
    logits = np.stack([0.5 - scores, scores - 0.5], axis=1)
    by_default = calib_host.fit(logits, labels, kind="logits")
    assert (by_default.method, by_default.reduction) == ("blend", "joint")
    np.testing.assert_allclose(by_default.predict_proba(logits).sum(axis=1), 1, atol=1e-12)
    for calibrator in (by_default, calib_host.fit(logits, labels, "temperature", kind="logits")):
        assert "the class with the highest score is right" in calibrator.statement
    assert "score range" not in calib_host.fit(logits, labels, kind="logits", classifiers=5).statement
    assert "score range" not in calib_host.fit(logits, labels, kind="logits", intervals=False).statement
