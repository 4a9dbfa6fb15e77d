"""Fitting, and what was fitted."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike, fsdecode, fspath
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._arrays import MATRIX, check_classes, class_names_of, clusters_of, floats_of, labels_of, names_of, scores_of, whole
from ._curve import svg
from ._native import Artifact, How, UsageError
from ._native import apply as _apply
from ._native import assess_calibrated as _assess_calibrated
from ._native import fit as _fit
from ._progress import at_work
from ._rows import Rows
from ._types import (
    Array,
    Binning,
    Bound,
    ClassScore,
    ExtremeProbs,
    Intervals,
    Kind,
    Loss,
    Method,
    MonitorAction,
    Names,
    Reduction,
    Scaling,
    ScoreEncoding,
    Table,
)
from ._warnings import warn

if TYPE_CHECKING:
    from ._assess import Assessment
    from ._imports import Proof


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a calibrator's bins.

    The statement is ``sentence``. It holds under the ``assumptions``. Its ``limits`` belong to it.
    """

    #: The largest difference between the probability of a bin and its event rate, if the guarantee holds.
    epsilon: float
    #: The guarantee fails with at most this probability, over the draw of the calibration set.
    alpha: float
    #: The theorem that it follows from.
    theorem: str
    #: The guarantee in words.
    sentence: str
    #: What the guarantee requires.
    assumptions: tuple[str, ...]
    #: What the guarantee does not cover.
    limits: tuple[str, ...]

    def __str__(self) -> str:
        return self.sentence


class Calibrator:
    """A fitted calibrator. Its predictions are bit-identical to those of the device.

    Made by :func:`fit`, :func:`load`, or :func:`from_sklearn` and its like.

    >>> import numpy as np, calib_host
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(400)
    >>> calibrator = calib_host.fit(scores, rng.random(400) < scores**2, method="isotonic")
    >>> calibrator.guarantee is None
    True
    >>> calibrator.predict_proba([0.9]).shape
    (1, 2)
    """

    def __init__(self, artifact: Artifact, kind: Kind | None = None, class_names: tuple[str, ...] | None = None):
        if not isinstance(artifact, Artifact):
            raise UsageError("a calibrator is made by calib_host.fit, calib_host.load or Calibrator.from_bytes")
        self._artifact = artifact
        self._kind: Kind | None = kind
        if kind not in (None, *MATRIX):
            raise UsageError(f'kind={kind!r}: there are "logits" and "probs"')
        if kind is not None and self._facts["takes"] not in ("logits", "vectors", "vectors of codes"):
            raise UsageError(f"kind={kind!r} is for vectors, and the calibrator accepts {self._facts['takes']}: leave kind out")
        #: The names of the classes, class 0 first; None if nobody gave them. An artifact has none: they are kept with the object.
        self.class_names: tuple[str, ...] | None = class_names
        #: The number of calibration rows of each row of the table, if the calibrator was fitted here.
        self._counts: tuple[int, ...] | None = None
        #: What was chosen because nobody named it, and why; None if nothing was.
        self.chosen: str | None = None
        #: What stays uncalibrated, with the reason.
        self.uncalibrated: dict[str, str] = {}
        #: What speaks against the fit or its data.
        self.warnings: tuple[str, ...] = ()
        #: How it compares with the calibrator that it was taken over from; None for one that calib fitted.
        self.proof: Proof | None = None

    @classmethod
    def from_bytes(cls, data: bytes, kind: Kind | None = None, *, class_names: Sequence[str] | None = None) -> Calibrator:
        """Checks the bytes of an artifact.

        ``kind`` states what vectors are, "logits" or "probs", if the artifact does not. ``class_names`` name the classes, class 0 first.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise UsageError(f"the bytes of an artifact are expected, and this is {type(data).__name__}")
        return _read(Artifact(bytes(data)), kind, class_names)

    @cached_property
    def _facts(self) -> dict[str, Any]:
        return json.loads(self._artifact.facts())

    @property
    def method(self) -> str:
        """The method's name."""
        return self._facts["method"]

    @property
    def reduction(self) -> str:
        """How several classes became binary problems: ``binary`` for two classes, ``joint`` for whole vectors."""
        return self._facts["reduction"]

    @property
    def encoding(self) -> str:
        """What kind of number a score is on the device."""
        return self._facts["encoding"]

    @property
    def parameters(self) -> str:
        """The parameters of the fit."""
        return self._facts["parameters"]

    @property
    def identity(self) -> str:
        """The identity of the artifact, in hex."""
        return self._facts["identity"]

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self._facts["classes"]

    @property
    def n_bins(self) -> int:
        """The number of bins over all tables; 0 for a function."""
        return self._facts["bins"]

    @property
    def n_points(self) -> int:
        """The number of calibration observations."""
        return self._facts["n"]

    @property
    def kind(self) -> Kind:
        """The accepted inputs: "scores", "margins", "probs" or "logits"."""
        takes = self._facts["takes"]
        known: dict[str, Kind] = {"scores": "scores", "margins": "margins", "logits": "logits"}
        if takes in known:
            return known[takes]
        if takes == "codes":
            return "margins" if self._facts["scores"] == "margins" else "scores"
        if self._kind is None:
            raise UsageError('the artifact does not tell what its vectors are: load it with kind="logits" or kind="probs"')
        return self._kind

    @property
    def takes_codes(self) -> bool:
        """Whether scores are integer codes."""
        return self._facts["takes"] in ("codes", "vectors of codes")

    @cached_property
    def guarantee(self) -> Guarantee | None:
        """The guarantee, or None if there is none."""
        facts = self._facts
        if facts["guarantee"] is None:
            return None
        return Guarantee(
            **{name: facts["guarantee"][name] for name in ("epsilon", "alpha", "theorem")},
            sentence=facts["statement"],
            assumptions=tuple(facts["assumptions"]),
            limits=tuple(facts["limits"]),
        )

    @property
    def statement(self) -> str:
        """The guarantee in a sentence, or why there is none."""
        return self._facts["statement"]

    @cached_property
    def table(self) -> Rows:
        """The probability of every score: a row for each bin, or for each score range that has an interval.

        The columns are the scores ``from`` and ``to`` (excluded), and the ``value``. ``low`` and ``high`` are the ends of the interval of the event
        rate, and ``rows`` is the number of calibration rows. Several tables have their name in the column ``table``. A function has its value in the
        middle of the range. None stands for what is not known: an artifact does not store the numbers of rows.

        >>> import numpy as np, calib_host
        >>> rng = np.random.default_rng(0)
        >>> scores = rng.random(400)
        >>> calibrator = calib_host.fit(scores, rng.random(400) < scores**2, method="umd", bins=2)
        >>> calibrator.table
          from      to   value     low    high  rows
             0  0.5568    0.09  0.0542  0.1385   200
        0.5568       1  0.6432  0.5724  0.7097   200
        """
        tables = json.loads(self._artifact.tables())
        ends = (0.0, 1.0) if self._facts["scores"] != "margins" and not self.takes_codes else (-np.inf, np.inf)
        rows: list[dict[str, Any]] = []
        for table in tables:
            for row in table["rows"]:
                low, high = row["interval"] or (None, None)
                first = ends[0] if row["from"] is None else row["from"]
                last = ends[1] if row["to"] is None else row["to"]
                name = self._with_names(table["name"])
                rows.append({"table": name, "from": first, "to": last, "value": row["value"], "low": low, "high": high})
        if self._counts is not None and len(self._counts) == len(rows):
            rows = [{**row, "rows": count} for row, count in zip(rows, self._counts)]
        columns = ["from", "to", "value", "low", "high", "rows"]
        return Rows(["table", *columns] if len(tables) > 1 else columns, rows)

    def _count(self, scores: np.ndarray) -> None:
        """Keeps how many calibration rows each row of the table has."""
        if len(json.loads(self._artifact.tables())) != 1:
            return
        edges = np.array([row["from"] for row in self.table][1:])
        edges = edges if self.takes_codes else edges.astype(np.float32)
        counts = np.zeros(len(edges) + 1, dtype=np.int64)
        for start in range(0, len(scores), 1 << 20):
            part = scores[start : start + (1 << 20)]
            part = part if self.takes_codes else part.astype(np.float32, copy=False)
            counts += np.bincount(np.searchsorted(edges, part, side="right"), minlength=len(counts))
        self._counts = tuple(counts.tolist())
        del self.table

    def _with_names(self, text: str) -> str:
        """A text of calib, in which classes have their names."""
        return with_names(text, self.class_names)

    def predict(self, scores: Array, *, seed: int = 0) -> NDArray[Any]:
        """The probabilities, bit-identical to those of the device; NaN if there is none.

        Returns float32: one a score for two classes, one a class for vectors. Where the reduction calibrates predictions
        (top-label, confidence, top-k), an array with the fields ``class`` and ``prob``, of k columns for top-k. A randomized calibrator
        draws its random words from ``seed``.
        """
        whole(most=2**64 - 1, seed=seed)
        array, kind, classes = scores_of(scores, self.kind, self.takes_codes)
        probs, of = _apply(self._artifact, kind, array, classes=classes, seed=seed)
        if classes is None:
            return probs
        rows = len(array) // classes
        if of is None:
            return probs.reshape(rows, classes)
        pairs = np.empty(len(probs), dtype=[("class", np.uint16), ("prob", np.float32)])
        pairs["class"], pairs["prob"] = of, probs
        return pairs if len(pairs) == rows else pairs.reshape(rows, -1)

    def predict_proba(self, scores: Array, *, seed: int = 0) -> NDArray[np.float64]:
        """The probabilities of all classes, a column each, as scikit-learn has them; NaN where there is none.

        The rows of several classes sum to one in 64 bits, those of the device in 32. If one of them has no probability, the row has none: the
        device divides what is left among the others. Class-wise probabilities need not sum to one. Raises :class:`UsageError` where the
        calibrator knows the probability of the predicted class only.
        """
        probs = self.predict(scores, seed=seed)
        if probs.dtype.names:
            raise UsageError(
                f"{self.reduction} calibrates predictions, not every class: use predict, or fit with "
                'reduction="class-wise" or "normalized"'
            )
        probs = probs.astype(np.float64)
        if probs.ndim == 1:
            return np.column_stack([1.0 - probs, probs])
        return probs if self.reduction == "class-wise" else _of_sum_one(probs)

    def assess(
        self,
        scores: Array,
        y: Names,
        *,
        # which rows belong together
        clusters: Names | None = None,
        groups: Names | None = None,
        same_rows: bool = False,
        # calibration errors
        binning: Binning = "uniform",
        n_bins: int = 15,
        norm: float = 2.0,
        # intervals
        alpha: float = 0.05,
        resamples: int = 0,
        intervals: Intervals = "percentile",
        seed: int = 0,
        # the clinical validation
        extreme_probs: ExtremeProbs = "leave-out",
    ) -> Assessment:
        """How good the probabilities are before and after calibration, on rows used for neither training nor calibration.

        Returns what ``calib assess CALIBRATOR --json`` prints: ``before``, ``after`` and, with one probability per row, ``change``. It shows
        itself as a table, and has it in ``table``.
        Margins are not probabilities: only their order is assessed before calibration. Rows without a probability are counted and left
        out. The options are those of :func:`calib_host.assess`.

        Findings against the calibrator (worse predictions, guarantee contradicted) are in ``evidence``. They are also issued as a
        :class:`CalibrationWarning`. The rows that the calibrator was fitted to are rejected with a :class:`DataError`, because every
        figure would be optimistically biased. ``same_rows=True`` continues with a warning.

        >>> import numpy as np, calib_host
        >>> rng = np.random.default_rng(0)
        >>> scores = rng.random(800)
        >>> labels = rng.random(800) < scores**2
        >>> calibrator = calib_host.fit(scores[:400], labels[:400], "isotonic")
        >>> both = calibrator.assess(scores[400:], labels[400:])
        >>> both["after"]["brier"]["value"] < both["before"]["brier"]["value"]
        True
        """
        from ._assess import Assessment

        whole(n_bins=n_bins, resamples=resamples)
        whole(most=2**64 - 1, seed=seed)
        how = How(
            binning=binning,
            n_bins=n_bins,
            norm=norm,
            alpha=alpha,
            resamples=resamples,
            intervals=intervals,
            seed=seed,
            extreme_probs=extreme_probs,
        )
        array, kind, classes = scores_of(scores, self.kind, self.takes_codes)
        labels = labels_of(y, names=self.class_names)
        check_classes(labels, classes or 2)
        together = None if clusters is None else clusters_of(clusters, "clusters")
        names = None if groups is None else names_of(groups, "groups")
        with at_work("assessing"):
            found = _assess_calibrated(
                self._artifact,
                how,
                kind,
                array,
                labels,
                classes=classes,
                clusters=together,
                groups=names,
                same_rows=same_rows,
            )
        return Assessment._of(found, self.class_names)

    def to_bytes(self) -> bytes:
        """The artifact: the bytes for a device's flash."""
        return self._artifact.to_bytes()

    __bytes__ = to_bytes

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Writes the artifact; ``force`` replaces an existing file."""
        self._artifact.write(fspath(path), force)

    def export_c(self, name: str = "cal") -> str:
        """A header in C99 with the tables and their lookup; ``name`` is the prefix of its names.

        The results are bit-identical to ``calib apply``.
        """
        return self._artifact.export_c(name)

    def export_rust(self, name: str = "CAL") -> str:
        """Tables of calib-core for ``include!``; ``name`` is that of the array."""
        return self._artifact.export_rust(name)

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {name: getattr(self, name) for name in ("class_names", "chosen", "uncalibrated", "warnings", "proof", "_counts")}
        return _restore, (self.to_bytes(), self._kind, kept)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Calibrator):
            return NotImplemented
        return self.to_bytes() == other.to_bytes() and self._kind == other._kind

    def __hash__(self) -> int:
        return hash((self.to_bytes(), self._kind))

    def _size(self) -> str:
        facts = self._facts
        bins = f"{facts['bins']} bins, " if facts["bins"] else ""
        # What others fitted does not say to how many.
        points = "" if facts["parameters"].startswith("imported=") else f"{facts['n']:,} observations, "
        return f"{facts['method']}, {facts['reduction']}, {bins}{points}{facts['len_bytes']} bytes"

    def _classes(self) -> str:
        return "" if self.class_names is None else f"classes: {_in_short([f'{n} = {name}' for n, name in enumerate(self.class_names)])}"

    def __repr__(self) -> str:
        classes = f", {self._classes()}" if self.class_names else ""
        return f"<Calibrator {self._size()}{classes}: {self.statement}>"

    def _repr_html_(self) -> str:
        facts = self._facts
        what = f"<strong>{escape(self._size())}</strong>" + (f"<br>{escape(self._classes())}" if self.class_names else "")
        lists = "".join(
            f"<p>{title}:</p><ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
            for title, items in [("Requires", facts["assumptions"]), ("Limits", facts["limits"])]
            if items
        )
        more = f"<details><summary>{len(facts['assumptions'])} requirements, {len(facts['limits'])} limits</summary>{lists}</details>"
        return f"<div>{self._curve()}<p>{what}</p><p>{escape(self.statement)}</p>{more if lists else ''}</div>"

    def _curve(self) -> str:
        """The curve as a picture; none where classes or scores are too many."""
        names = list(dict.fromkeys(row.get("table", "") for row in self.table))
        if not 1 <= len(names) <= CURVES:
            return ""
        inner = [edge for row in self.table for edge in (row["from"], row["to"]) if np.isfinite(edge)]
        is_prob = self._facts["scores"] != "margins" and not self.takes_codes
        low, high = (0.0, 1.0) if is_prob else (min(inner, default=-5.0), max(inner, default=5.0))
        if not is_prob:
            rim = 0.1 * (high - low) or 1.0
            low, high = low - rim, high + rim
        curves = []
        for name in names:
            rows = [row for row in self.table if row.get("table", "") == name]
            bands = [(row["from"], row["to"], row["low"], row["high"]) for row in rows if row["low"] is not None]
            if len(names) == 1 and self.reduction == "binary":
                grid = np.linspace(low, high, 257)
                grid = np.unique(np.round(grid)).astype(np.int64)[1:-1] if self.takes_codes else grid
                points = list(zip(grid.tolist(), self.predict(grid).astype(float).tolist()))
            else:
                ends = [(max(row["from"], low), min(row["to"], high), row["value"]) for row in rows if row["value"] is not None]
                points = [(end, float(value)) for first, last, value in ends for end in (first, last)]
            curves.append((escape(name), points, bands))
        what = {"margins": "raw score", "scores": "score"}.get(self._facts["scores"], "score")
        return svg(curves, (low, high), "code" if self.takes_codes else what, diagonal=is_prob)


T = TypeVar("T")

#: More curves than these are no picture.
CURVES = 8


def _in_short(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 12 else ", ".join([*names[:12], f"and {len(names) - 12} more"])


def with_names(text: str, names: Sequence[str] | None) -> str:
    """A text in which classes have their names besides their numbers."""
    if names is None:
        return text

    def named(found: re.Match[str]) -> str:
        number = int(found[2])
        return f"{found[1]}{number} ({names[number]})" if number < len(names) else found[0]

    return re.sub(r"(\bclass(?:es)? )(\d+)\b(?! \()", named, text)


def named(value: T, names: Sequence[str] | None) -> T:
    """The same with the names of classes in its sentences."""
    if names is None:
        return value
    if isinstance(value, str):
        return with_names(value, names)  # type: ignore[return-value]
    if isinstance(value, list):
        return [named(item, names) for item in value]  # type: ignore[return-value]
    if isinstance(value, dict):
        return {key: named(item, names) for key, item in value.items()}  # type: ignore[return-value]
    return value


def _of_sum_one(probs: np.ndarray) -> np.ndarray:
    """Rows divided by their sums, which in 32 bits are nearly one; a row of zeros stays as it is, and one with a gap has nothing else."""
    sums = probs.sum(axis=1, keepdims=True)
    return np.divide(probs, sums, out=probs.copy(), where=np.isfinite(sums) & (sums > 0)) + 0 * sums


def _restore(data: bytes, kind: Kind | None, kept: dict[str, Any]) -> Calibrator:
    calibrator = Calibrator.from_bytes(data, kind)
    for name, value in kept.items():
        setattr(calibrator, name, value)
    return calibrator


def _read(artifact: Artifact, kind: Kind | None, class_names: Sequence[str] | None) -> Calibrator:
    calibrator = Calibrator(artifact, kind)
    calibrator.class_names = None if class_names is None else class_names_of(class_names, None, calibrator.n_classes)
    calibrator.warnings = tuple(calibrator._facts["warnings"])
    return calibrator


def load(
    path: str | PathLike[str], kind: Kind | None = None, *, class_names: Sequence[str] | None = None
) -> Calibrator:
    """Reads an artifact.

    ``kind`` states what vectors are, "logits" or "probs", if the artifact does not. ``class_names`` name the classes, class 0 first: an
    artifact has no names.
    """
    return _read(Artifact.read(fsdecode(path)), kind, class_names)


def fit(
    scores: Array,
    y: Names,
    method: Method | None = None,
    *,
    # what scores and classes are
    kind: Kind | None = None,
    score_encoding: ScoreEncoding | None = None,
    class_names: Sequence[str] | None = None,
    # rows
    sample_weight: Array | None = None,
    clusters: Names | None = None,
    classifiers: int = 1,
    # the number of bins, and what is guaranteed
    bins: int | None = None,
    rows_per_bin: int | None = None,
    epsilon: float | None = None,
    candidates: int | None = None,
    alpha: float | None = None,
    alpha_spent: float | None = None,
    bound: Bound | None = None,
    # several classes
    reduction: Reduction | None = None,
    k: int | None = None,
    class_score: ClassScore | None = None,
    # what only some methods have
    max_bins: int | None = None,
    smoothing: float | Literal["paper"] | None = None,
    scaling: Scaling | None = None,
    range: tuple[float, float] | None = None,
    loss: Loss | None = None,
    log_probs: bool = False,
    odir: float | tuple[float, float] | None = None,
    folds: int | None = None,
    resolution: int | None = None,
    seed: int | None = None,
    # what the artifact holds
    intervals: bool = True,
    band: bool | None = None,
    table: Table | None = None,
    classifier_id: str | None = None,
    counter: int | None = None,
    # monitors
    monitor: bool = False,
    monitor_bins: int | None = None,
    monitor_scores: Array | None = None,
    monitor_rarity: tuple[int, int, int] | None = None,
    monitor_action: MonitorAction | None = None,
) -> Calibrator:
    """Fits a calibrator to held-out scores and labels.

    ``scores`` are those of class 1 in [0, 1], one per row. ``kind="margins"`` accepts raw scores, such as those of a
    ``decision_function``. ``kind="logits"`` and ``kind="probs"`` accept a matrix with a column for each class. ``y`` holds class indices
    from 0 on, or text. Text without ``class_names`` is in the order of ``numpy.unique``, as in scikit-learn: of two classes, class 1 is the
    second one. The calibrator keeps the names and shows them. For the integer codes of a quantized network, set ``score_encoding``: a type ("u8", "i8", "u16" or "i16"), a scale and a
    zero point, such as ``("i8", 1 / 256, -128)``.

    ``method`` is one of the names of ``calib help methods``, such as "umd" or "platt". Without it, calib blends methods, with an
    exact interval for each score range beside the probability. ``epsilon`` gives bins whose probability is guaranteed. A matrix needs nothing: the
    blend is one of whole vectors. A ``reduction`` fits a method of one score to binary problems: confidence, top-label, class-wise, normalized,
    top-k-label or top-k-confidence. The other
    options are those of ``calib fit``, which ``calib fit --help`` explains. Rows with the same name in
    ``clusters`` belong together: calib fits to one of each.

    Beside a method whose bins have no guarantee, such as ``"beta"``, exact intervals of score ranges are stored. The event rate
    of every range lies in its interval, with at least ``1 - alpha`` probability over the draw of these rows. The device and ``calib apply`` then
    return the interval of the score's range. From 500 rows of one score on, calib also stores a band: it holds for every score, if a
    higher score never means a lower probability. ``intervals=False`` leaves both out, ``band=False`` only the band, and ``band=True``
    stores one anyway. ``table="steps"`` stores a smooth function as at most 64 steps.

    ``classifiers`` is the number of classifiers that the scores come from. The scores of ``cross_val_predict`` come from one per fold. A
    guarantee is about the classifier that the scores come from. If there are several, and another one is kept, nothing is guaranteed.

    ``monitor=True`` stores what monitors on the device compare with. Monitors notice that scores or outcomes have changed since the
    calibration. ``monitor_action`` is the action of the device after an alert: "flag", "alarm" or "uncalibrated". ``monitor_scores`` are
    other scores to compare with, without labels, such as scores from where the device will be used. They require ``monitor_bins``.

    >>> import numpy as np, calib_host
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(400)
    >>> labels = rng.random(400) < scores**2
    >>> calib_host.fit(scores, labels, "umd", bins=4).n_bins
    4
    >>> calib_host.fit(scores, labels, "umd", bins=0)
    Traceback (most recent call last):
    ...
    calib_host.UsageError: 0 bins: a table has 1 to 65536

    Raises :class:`UsageError` for options that make no sense and :class:`DataError` for data of no use. What speaks against the
    calibrator is warned of, as a :class:`CalibrationWarning`.
    """
    options = {name: value for name, value in locals().items() if name not in _APART}
    if str(method) == "sigmoid":
        raise UsageError('scikit-learn\'s sigmoid is method="platt" with loss="bayes"')
    whole(least=1, classifiers=classifiers)
    array, kind, classes = scores_of(scores, kind, score_encoding is not None)
    called = class_names_of(class_names, y, classes or 2)
    labels = labels_of(y, names=called)
    weights = None if sample_weight is None else floats_of(sample_weight, "sample_weight")
    names = None if clusters is None else clusters_of(clusters, "clusters")
    others = None if monitor_scores is None else floats_of(monitor_scores, "monitor_scores")
    try:
        with at_work("fitting"):
            artifact, chosen, warned, uncalibrated = _fit(
                options,
                kind,
                array,
                labels,
                classes=classes,
                weights=weights,
                clusters=names,
                classifiers=int(classifiers),
                monitor_scores=others,
            )
    except UsageError as cause:
        # A call that can be pasted.
        raise UsageError(str(cause).replace("plan(n=...,", f"plan(n={len(labels)},")) from None
    calibrator = Calibrator(artifact, kind if kind in MATRIX else None, called)
    calibrator.chosen = chosen
    calibrator.uncalibrated = {calibrator._with_names(name): reason for name, reason in uncalibrated}
    calibrator.warnings = tuple(map(calibrator._with_names, warned))
    if classes is None and clusters is None:
        calibrator._count(array)
    for warning in calibrator.warnings:
        warn(warning)
    return calibrator


#: What is no option that the extension module reads by its name.
_APART = ("scores", "y", "kind", "class_names", "sample_weight", "clusters", "classifiers", "monitor_scores")
