"""Comparing methods, and reports."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from . import _native
from ._calibrator import CalibrationWarning
from ._jobs import _action, _dataset
from ._native import write_file
from ._progress import at_work


class Comparison(dict[str, Any]):
    """What :func:`compare` found, by the names of ``calib compare --json``."""

    @property
    def recommendation(self) -> str | None:
        """The recommended method; None to leave the scores unchanged."""
        return self["recommendation"]

    @property
    def reason(self) -> str:
        """Why."""
        return self["reason"]

    def __repr__(self) -> str:
        rows = [f"  {one['name']:<22} {one['loss']['value']:.6f}" for one in self["methods"]]
        return "\n".join([f"{'  method':<24} {self['score']}", *rows, self.reason])


def compare(
    scores: Any,
    y: Any,
    *,
    kind: str | None = None,
    test: tuple[Any, Any] | None = None,
    clusters: Any = None,
    test_clusters: Any = None,
    methods: Sequence[str] | None = None,
    reductions: Sequence[str] | None = None,
    bins: int | None = None,
    rows_per_bin: int | None = None,
    class_scores: Sequence[str] | None = None,
    claim: str | None = None,
    metric: str = "brier",
    epsilon: float | None = None,
    alpha: float = 0.1,
    folds: int = 5,
    repeats: int = 3,
    bootstrap: int = 1000,
    seed: int = 0,
    same_rows: bool = False,
) -> Comparison:
    """Compares calibration methods by cross-validation, or on ``test``, a pair of scores and labels, and recommends one, or none.

    The options are those of ``calib compare``. Rows with the same name in ``clusters`` belong together; ``test_clusters`` are those of
    the test rows.

    >>> import numpy as np, calib_host
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(400)
    >>> found = calib_host.compare(scores, rng.random(400) < scores**3, methods=["umd", "platt"], bins=4, folds=2)
    >>> found.recommendation
    'platt'
    """
    rows = _dataset(scores, y, kind, clusters=clusters)
    others = None if test is None else _dataset(*test, kind, clusters=test_clusters)
    with at_work("comparing"):
        found = _native.compare(
            rows,
            others,
            methods=methods,
            reductions=reductions,
            bins=bins,
            rows_per_bin=rows_per_bin,
            class_scores=class_scores,
            claim=claim,
            metric=metric,
            epsilon=epsilon,
            alpha=alpha,
            folds=folds,
            repeats=repeats,
            bootstrap=bootstrap,
            seed=seed,
            same_rows=same_rows,
        )
    messages = [message for data in (rows, others) if data is not None for message in data.warnings()]
    for message in messages:
        warnings.warn(message, CalibrationWarning, stacklevel=2)
    return Comparison({**json.loads(found), "warnings": messages})


class Report(dict[str, Any]):
    """A report, by the names of ``calib report --json``; in a notebook it shows its page."""

    #: The page: one file that needs no other.
    html: str = ""

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Writes the page; ``force`` replaces an existing file."""
        write_file(fspath(path), self.html.encode(), force)

    def __repr__(self) -> str:
        return "\n".join(self["verdict"]["sentences"])

    def _repr_html_(self) -> str:
        from html import escape

        return f'<iframe srcdoc="{escape(self.html, quote=True)}" width="100%" height="800" style="border:0"></iframe>'


def report(
    calibrator: Any,
    calibration: tuple[Any, Any],
    test: tuple[Any, Any],
    *,
    clusters: Any = None,
    groups: Any = None,
    title: str | None = None,
    model: str | None = None,
    date: str | None = None,
    note: str | None = None,
    bins: int = 15,
    alpha: float = 0.05,
    bootstrap: int | None = None,
    seed: int = 0,
    extreme_probs: str = "leave-out",
    drawn_classes: int = 12,
    same_rows: bool = False,
    actions: Sequence[Mapping[str, Any]] | None = None,
    uncalibrated: str | None = None,
    unsure: str | None = None,
) -> Report:
    """A report about a calibrator that you can share: verdict, guarantee, plots, warnings.

    ``calibration`` are the scores and labels that it was fitted to. ``test`` are scores and labels used for neither training nor
    calibration. ``clusters`` and ``groups`` are those of the test rows. The other options are those of ``calib report``. ``actions``, ``uncalibrated`` and ``unsure`` are those of
    :func:`decide`.

    >>> import numpy as np, calib_host
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(800)
    >>> labels = rng.random(800) < scores**3
    >>> fitted_to, held_out = (scores[:400], labels[:400]), (scores[400:], labels[400:])
    >>> page = calib_host.report(calib_host.fit(*fitted_to, "isotonic"), fitted_to, held_out, title="Ward 3")
    >>> "Ward 3" in page.html
    True
    """
    options = {"bins": bins, "alpha": alpha, "bootstrap": bootstrap, "seed": seed, "extreme_probs": extreme_probs}
    given = {"title": title, **options, "drawn_classes": drawn_classes, "same_rows": same_rows}
    words = "".join(f", {name}={value!r}" for name, value in given.items() if value != _DEFAULTS.get(name))
    with at_work("making the report"):
        found, page = _native.report(
            calibrator._artifact,
            _dataset(*calibration, None, calibrator=calibrator),
            _dataset(*test, None, calibrator=calibrator, clusters=clusters, groups=groups),
            command=f"calib_host.report(calibrator, calibration, test{words})",
            labels=(title, model, date, note),
            **options,
            drawn_classes=drawn_classes,
            same_rows=same_rows,
            actions=None if actions is None else [_action(action) for action in actions],
            uncalibrated=uncalibrated,
            unsure=unsure,
        )
    made = Report(json.loads(found))
    for warning in made["warnings"]:
        warnings.warn(warning, CalibrationWarning, stacklevel=2)
    made.html = page
    return made


#: What goes without saying in a report's account of how it was made.
_DEFAULTS = report.__kwdefaults__
