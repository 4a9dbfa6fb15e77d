"""Comparing methods, and reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike, fspath
from typing import Any

from . import _native
from ._arrays import pair_of, texts_of, whole
from ._calibrator import Calibrator, named, with_names
from ._jobs import _action, _dataset
from ._native import UsageError, write_file
from ._progress import at_work
from ._rows import Rows
from ._types import Action, Array, Claim, ClassScore, ExtremeProbs, Kind, Method, Metric, Names, Reduction
from ._warnings import warn

#: The name of the unchanged scores in a comparison.
UNCHANGED = "unchanged scores"


class Comparison(dict[str, Any]):
    """What :func:`compare` found, by the names of ``calib compare --json``.

    It shows itself as a table, and has it in ``table``. ``to_frame()`` makes a pandas DataFrame of it.
    """

    @property
    def recommendation(self) -> str | None:
        """The recommended method; None to leave the scores unchanged."""
        return self["recommendation"]

    @property
    def reason(self) -> str:
        """Why."""
        return self["reason"]

    @property
    def advice(self) -> str:
        """What to take, and why, in a sentence."""
        take = self.recommendation
        return f"Leave the scores unchanged: {self.reason}" if take is None else f"Take {take}: {self.reason}"

    @property
    def table(self) -> Rows:
        """A row for the unchanged scores and for each method, the best first.

        The columns are the ``method`` and its score, with the ends of the interval. ``change`` is the difference from the unchanged scores,
        with its ends. ``epsilon`` is what is guaranteed, and ``bytes`` the size of the artifact. None stands for what does not exist.
        """
        score = self["score"]

        def row(name: str, loss: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
            change = more.get("change") or {}
            ends, moved = loss.get("interval") or {}, change.get("interval") or {}
            return {
                "method": name,
                score: loss["value"],
                "low": ends.get("lo"),
                "high": ends.get("hi"),
                "change": change.get("value"),
                "change low": moved.get("lo"),
                "change high": moved.get("hi"),
                "epsilon": more.get("epsilon"),
                "bytes": more.get("len_bytes"),
            }

        rows = [] if self.get("uncalibrated") is None else [row(UNCHANGED, self["uncalibrated"], {})]
        rows += [row(one["name"], one["loss"], one) for one in self["methods"]]
        columns = ["method", score, "low", "high", "change", "change low", "change high", "epsilon", "bytes"]
        return Rows(columns, rows)

    def to_frame(self) -> Any:
        """A pandas DataFrame of the table."""
        return self.table.to_frame()

    def __repr__(self) -> str:
        return f"{self.advice}\n{self.table!r}"

    def _repr_html_(self) -> str:
        return f"<p><strong>{escape(self.advice)}</strong></p>{self.table._repr_html_()}"


def compare(
    scores: Array,
    y: Array,
    *,
    # rows
    kind: Kind | None = None,
    test: tuple[Array, Array] | None = None,
    clusters: Names | None = None,
    test_clusters: Names | None = None,
    same_rows: bool = False,
    # what is compared
    methods: Sequence[Method] | None = None,
    reductions: Sequence[Reduction] | None = None,
    bins: int | None = None,
    rows_per_bin: int | None = None,
    class_scores: Sequence[ClassScore] | None = None,
    # by which measure
    metric: Metric = "brier",
    claim: Claim | None = None,
    epsilon: float | None = None,
    alpha: float = 0.1,
    # how often
    folds: int = 5,
    repeats: int = 3,
    bootstrap: int = 1000,
    seed: int = 0,
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
    whole(bins=bins, rows_per_bin=rows_per_bin, bootstrap=bootstrap)
    whole(most=2**16 - 1, folds=folds, repeats=repeats)
    whole(most=2**64 - 1, seed=seed)
    rows = _dataset(scores, y, kind, clusters=clusters)
    others = None if test is None else _dataset(*pair_of(test, "test"), kind, clusters=test_clusters)
    with at_work("comparing"):
        found = _native.compare(
            rows,
            others,
            methods=texts_of(methods, "methods"),
            reductions=texts_of(reductions, "reductions"),
            bins=bins,
            rows_per_bin=rows_per_bin,
            class_scores=texts_of(class_scores, "class_scores"),
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
        warn(message)
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
        return f'<iframe srcdoc="{escape(self.html, quote=True)}" width="100%" height="800" style="border:0"></iframe>'


def report(
    calibrator: Calibrator,
    calibration: tuple[Array, Names],
    test: tuple[Array, Names],
    *,
    # which test rows belong together
    clusters: Names | None = None,
    groups: Names | None = None,
    same_rows: bool = False,
    # what the page says of itself
    title: str | None = None,
    model: str | None = None,
    date: str | None = None,
    note: str | None = None,
    # figures
    bins: int = 15,
    alpha: float = 0.05,
    bootstrap: int | None = None,
    seed: int = 0,
    extreme_probs: ExtremeProbs = "leave-out",
    drawn_classes: int = 12,
    # a decision rule
    actions: Sequence[Action] | None = None,
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
    if not isinstance(calibrator, Calibrator):
        raise UsageError(f"calibrator is a calib_host.Calibrator, and this is {type(calibrator).__name__}")
    whole(bins=bins, bootstrap=bootstrap, drawn_classes=drawn_classes)
    whole(most=2**64 - 1, seed=seed)
    options: dict[str, Any] = {"bins": bins, "alpha": alpha, "bootstrap": bootstrap, "seed": seed, "extreme_probs": extreme_probs}
    given = {"title": title, **options, "drawn_classes": drawn_classes, "same_rows": same_rows}
    words = "".join(f", {name}={value!r}" for name, value in given.items() if value != _DEFAULTS.get(name))
    with at_work("making the report"):
        found, page = _native.report(
            calibrator._artifact,
            _dataset(*pair_of(calibration, "calibration"), None, calibrator=calibrator),
            _dataset(*pair_of(test, "test"), None, calibrator=calibrator, clusters=clusters, groups=groups),
            command=f"calib_host.report(calibrator, calibration, test{words})",
            labels=(title, model, date, note),
            **options,
            drawn_classes=drawn_classes,
            same_rows=same_rows,
            actions=None if actions is None else [_action(action) for action in actions],
            uncalibrated=uncalibrated,
            unsure=unsure,
        )
    made = Report(named(json.loads(found), calibrator.class_names))
    for warning in made["warnings"]:
        warn(warning)
    names = calibrator.class_names
    made.html = with_names(page, None if names is None else [escape(name) for name in names])
    return made


#: What goes without saying in a report's account of how it was made.
_DEFAULTS: dict[str, Any] = report.__kwdefaults__ or {}
