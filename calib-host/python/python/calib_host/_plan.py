"""Planning: how many rows, how many bins, how wide an epsilon."""

from __future__ import annotations

import json
from typing import Any

from . import _native


def plan(
    n: int | None = None,
    bins: int | None = None,
    epsilon: float | None = None,
    *,
    rows_per_bin: int | None = None,
    alpha: float = 0.1,
    classes: int | None = None,
) -> dict[str, Any]:
    """What uniform-mass binning guarantees: give two of ``n``, ``bins`` and ``epsilon``, or ``rows_per_bin`` with ``epsilon``.

    With ``classes`` the plan is that of several classes by rows per bin: 1 for top-label, the number of classes for class-wise.

    >>> import calib_host
    >>> calib_host.plan(bins=10, epsilon=0.1)["n"]
    1770
    >>> round(calib_host.plan(n=1510, bins=10)["epsilon_marginal"], 4)
    0.0999
    """
    answer = _native.plan(n=n, bins=bins, epsilon=epsilon, rows_per_bin=rows_per_bin, alpha=alpha, classes=classes)
    return json.loads(answer)


def plan_threshold(
    sensitivity: float | None = None,
    specificity: float | None = None,
    *,
    confidence: float = 0.95,
    groups: int = 1,
    prevalence: float | None = None,
) -> dict[str, Any]:
    """How many rows of each class a threshold needs (:func:`calib_host.threshold`), and with a ``prevalence`` how many rows.

    >>> import calib_host
    >>> calib_host.plan_threshold(sensitivity=0.95)["thresholds"][0]["points"][0]["points"]
    59
    """
    answer = _native.plan_threshold(
        sensitivity=sensitivity, specificity=specificity, confidence=confidence, groups=groups, prevalence=prevalence
    )
    return json.loads(answer)


def plan_validation(
    prevalence: float, auc: float, *, se_auc: float = 0.025, se_slope: float = 0.1, se_intercept: float = 0.1
) -> dict[str, Any]:
    """How many rows a validation needs for the area under the ROC curve, the calibration slope and calibration in the large.

    >>> import calib_host
    >>> calib_host.plan_validation(0.1, 0.75)["validation"]["rows"]
    1536
    """
    answer = _native.plan_of_validation(
        prevalence=prevalence, auc=auc, se_auc=se_auc, se_slope=se_slope, se_intercept=se_intercept
    )
    return json.loads(answer)
