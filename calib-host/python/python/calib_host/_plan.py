"""Planning: how many points, how many bins, how wide an epsilon."""

from __future__ import annotations

import json
from typing import Any

from ._native import plan as _plan


def plan(
    n: int | None = None,
    bins: int | None = None,
    epsilon: float | None = None,
    *,
    points_per_bin: int | None = None,
    alpha: float = 0.1,
    classes: int | None = None,
) -> dict[str, Any]:
    """What uniform-mass binning guarantees: give two of ``n``, ``bins`` and ``epsilon``, or ``points_per_bin`` with ``epsilon``.

    With ``classes`` the plan is that of several classes by points per bin: 1 for top-label, the number of classes for class-wise.

    >>> import calib_host
    >>> calib_host.plan(bins=10, epsilon=0.1)["n"]
    2660
    >>> round(calib_host.plan(n=1510, bins=10)["epsilon_marginal"], 4)
    0.0999
    """
    answer = _plan(n=n, bins=bins, epsilon=epsilon, points_per_bin=points_per_bin, alpha=alpha, classes=classes)
    return json.loads(answer)
