"""Figures of an experiment: losses, paired intervals, win rates, and whether rows refute an interval."""

import numpy as np
from scipy import stats

#: Probabilities are kept so far from 0 and 1 before the logarithm, all methods' alike.
LEAST = 1e-6


def losses(probs, hits):
    """The Brier loss and the log-loss of each row."""
    probs, hits = np.asarray(probs, float), np.asarray(hits, float)
    kept = np.clip(probs, LEAST, 1 - LEAST)
    return (probs - hits) ** 2, -(hits * np.log(kept) + (1 - hits) * np.log1p(-kept))


def paired_interval(differences, level=0.95):
    """The mean of paired differences, and its interval (Student's t): mean, lower end, upper end."""
    differences = np.asarray(differences, float)
    mean = differences.mean()
    if len(differences) < 2:
        return mean, -np.inf, np.inf
    width = stats.t.ppf((1 + level) / 2, len(differences) - 1) * differences.std(ddof=1) / np.sqrt(len(differences))
    return mean, mean - width, mean + width


def win_rates(table):
    """Of a table of losses, an experiment a row and a method a column: how often a method beats another, in the mean over all others.

    An equal loss counts a half, and a loss that is NaN is no match.
    """
    table = np.asarray(table, float)
    mine, other = table[:, :, None], table[:, None, :]
    matches = np.isfinite(mine) & np.isfinite(other)
    matches[:, np.arange(table.shape[1]), np.arange(table.shape[1])] = False
    wins = np.where(mine < other, 1.0, np.where(mine == other, 0.5, 0.0)) * matches
    with np.errstate(invalid="ignore"):
        return wins.sum(axis=(0, 2)) / matches.sum(axis=(0, 2))


def geometric_mean(values):
    return float(np.exp(np.mean(np.log(values))))


def refuted(ranges, level=0.05):
    """Whether held-out rows refute intervals, a range each of ``(n, hits, lo, hi)``: exact binomial tests at ``level`` over all."""
    share = level / (2 * max(len(ranges), 1))
    for n, hits, lo, hi in ranges:
        too_many = n > 0 and stats.binom.sf(hits - 1, n, hi) < share
        too_few = n > 0 and stats.binom.cdf(hits, n, lo) < share
        if too_many or too_few:
            return True
    return False
