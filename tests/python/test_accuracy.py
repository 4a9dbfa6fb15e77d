"""The figures and the whole of `cargo xtask bench accuracy`, on a tiny made-up case and on what takes seconds."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "accuracy"
sys.path.insert(0, str(FOLDER))

import figures  # noqa: E402
import methods  # noqa: E402
import table  # noqa: E402


def test_an_interval_of_paired_differences_is_that_of_student():
    mean, lo, hi = figures.paired_interval([1.0, 2.0, 3.0])
    # t of 2 degrees of freedom at 0.975 is 4.302653, and the standard error 1 / sqrt(3).
    assert mean == 2.0
    assert (lo, hi) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5), abs=1e-6)
    assert figures.paired_interval([0.0, 0.0]) == (0.0, 0.0, 0.0)
    assert figures.paired_interval([5.0]) == (5.0, -np.inf, np.inf)


def test_paired_intervals_hold_in_19_of_20_draws():
    rng = np.random.default_rng(1)
    found = [figures.paired_interval(rng.normal(0.3, 1, 12)) for _ in range(2000)]
    held = np.mean([lo <= 0.3 <= hi for _, lo, hi in found])
    # Three standard errors of 2000 draws.
    assert abs(held - 0.95) < 0.0147


def test_a_win_rate_counts_matches_ties_and_no_absent_method():
    nan = np.nan
    table_of_losses = [[0.1, 0.2, 0.3], [0.2, 0.2, 0.1], [0.3, nan, 0.4]]
    # The first: wins 2; a tie and a loss; a win. The second: a win and a loss; a tie and a loss. The third: 2 losses; 2 wins; a loss.
    np.testing.assert_allclose(figures.win_rates(table_of_losses), [3.5 / 5, 1.5 / 4, 2 / 5])


def test_rows_refute_an_interval_beyond_chance_alone():
    assert not figures.refuted([(100, 30, 0.25, 0.4), (0, 0, 0.9, 1.0)])
    assert figures.refuted([(100, 30, 0.25, 0.4), (100, 60, 0.25, 0.4)])
    assert figures.refuted([(100, 5, 0.25, 0.4)])
    assert not figures.refuted([])
    assert figures.geometric_mean([1, 4]) == pytest.approx(2)


def test_losses_of_certain_errors_are_finite():
    brier, log = figures.losses([1.0, 0.5], [False, True])
    np.testing.assert_allclose(brier, [1.0, 0.25])
    np.testing.assert_allclose(log, [-np.log(1e-6), np.log(2)], rtol=1e-9)


def records(default, refuted, errors):
    """Made-up records: the default's loss beside two others', and its errors by the number of rows."""
    losses = {methods.DEFAULT: [default, default], methods.UNCHANGED: [0.2, 0.2], "third": [0.15, 0.15]}
    experiment = {
        "pair": ["made", "up"],
        "kind": "scores",
        "losses": losses,
        "worse": {name: brier > 0.2 for name, (brier, _) in losses.items()},
        "failed": ["third: too few rows"] * (default > 0.2),
        "ranges": 3,
        "refuted": refuted,
    }
    draws = [
        {"curve": "made", "n": n, "errors": {methods.DEFAULT: error, methods.UNCHANGED: 2.0, "third": 1.0}, "held": True, "band": not refuted}
        for n, error in errors.items()
    ]
    return table.League([experiment]), table.Truths(draws)


def test_each_criterion_passes_and_fails():
    kept = [is_kept for is_kept, _ in table.criteria(*records(0.1, False, {200: 0.9, 1000: 0.8, 5000: 0.7}))]
    assert kept == [True] * 13
    failed = table.criteria(*records(0.3, True, {200: 1.4, 1000: 1.5, 5000: 1.6}))
    # The intervals held in all draws.
    assert [is_kept for is_kept, _ in failed] == [False, False, False, True, False, False, *[False] * 6, False]
    assert "made at 1000, 5000" in failed[-1][1]


def test_the_quick_run_ends_with_all_tables():
    run = subprocess.run(
        [sys.executable, str(FOLDER), "--quick"], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""}
    )
    assert run.returncode == 0, run.stderr
    for part in ["## Criteria", "## On data", "4 experiments with 2 pairs", "## Known curves", "30 draws from 15 curves", "left out: netcal"]:
        assert part in run.stdout, run.stdout
    rows = [line.split(" | ") for line in run.stdout.splitlines() if line.startswith(f"| {methods.DEFAULT} |")]
    assert [len(row) for row in rows] == [9, 2]
    assert 0 <= float(rows[0][2]) <= 1
