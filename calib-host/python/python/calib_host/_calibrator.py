"""Fitting, and what was fitted."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from functools import cached_property
from html import escape
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np

from ._arrays import MATRIX, check_classes, clusters_of, floats_of, labels_of, names_of, scores_of
from ._native import Artifact, How, UsageError
from ._native import apply as _apply
from ._native import assess_calibrated as _assess_calibrated
from ._native import fit as _fit
from ._progress import at_work


class CalibrationWarning(UserWarning):
    """What speaks against a calibrator, or against its data."""


def told(found: tuple[str, list[str]]) -> dict[str, Any]:
    """What was found; what is to be warned of is, as of the call two levels up."""
    for warning in found[1]:
        warnings.warn(warning, CalibrationWarning, stacklevel=3)
    return json.loads(found[0])


@dataclass(frozen=True)
class Guarantee:
    """What is guaranteed of a calibrator's bins.

    The statement is ``sentence``; it holds under the ``assumptions``, and is to be read with its ``limits``.
    """

    #: The largest deviation of a bin's probability from the truth.
    epsilon: float
    #: The probability, over the draw of the calibration points, with which it does not hold.
    alpha: float
    #: The theorem that it follows from.
    theorem: str
    #: The guarantee in words.
    sentence: str
    #: What has to be so for it to hold.
    assumptions: tuple[str, ...]
    #: What it does not say, although it may be read so.
    limits: tuple[str, ...]

    def __str__(self) -> str:
        return self.sentence


class Calibrator:
    """A fitted calibrator: what a device reads, and what it gives for a score, bit for bit.

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

    def __init__(self, artifact: Artifact, kind: str | None = None):
        self._artifact = artifact
        self._kind = kind
        #: What was chosen because nobody named it, and why; None if nothing was.
        self.chosen: str | None = None
        #: What stays uncalibrated, with the reason.
        self.uncalibrated: dict[str, str] = {}
        #: What speaks against the fit or its data.
        self.warnings: tuple[str, ...] = ()
        #: How it compares with the calibrator that it was taken over from; None for one that calib fitted.
        self.proof: Any = None

    @classmethod
    def from_bytes(cls, data: bytes, kind: str | None = None) -> Calibrator:
        """Checks the bytes of an artifact. ``kind`` is what vectors are, which an artifact may not tell: "logits" or "probs"."""
        calibrator = cls(Artifact(bytes(data)), kind)
        calibrator.warnings = tuple(calibrator._facts["warnings"])
        return calibrator

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
        """The number of calibration points."""
        return self._facts["n"]

    @property
    def kind(self) -> str:
        """What it takes: "scores", "margins", "probs" or "logits"."""
        takes = self._facts["takes"]
        if takes in ("scores", "margins", "logits"):
            return takes
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
        """What is guaranteed; None if nothing is."""
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
        """What is guaranteed in a sentence; why nothing is, if nothing is."""
        return self._facts["statement"]

    def predict(self, scores: Any, *, seed: int = 0) -> np.ndarray:
        """The probabilities, to the bits of the device; NaN where it has none.

        Returns float32: one a score for two classes, one a class for vectors. Where the reduction calibrates predictions
        (top-label, confidence, top-k), an array with the fields ``class`` and ``prob``, of k columns for top-k. A randomized calibrator
        draws its random words from ``seed``.
        """
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

    def predict_proba(self, scores: Any, *, seed: int = 0) -> np.ndarray:
        """The probabilities of all classes, a column each, as scikit-learn has them; NaN where there is none.

        The rows of several classes sum to one in 64 bits, those of the device in 32. Class-wise probabilities need not. Raises :class:`UsageError` where the calibrator knows the
        probability of the predicted class alone.
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
        scores: Any,
        y: Any,
        *,
        clusters: Any = None,
        groups: Any = None,
        same_rows: bool = False,
        binning: str = "uniform",
        n_bins: int = 15,
        norm: float = 2.0,
        alpha: float = 0.05,
        resamples: int = 0,
        intervals: str = "percentile",
        seed: int = 0,
        extreme_probs: str = "leave-out",
    ) -> dict[str, Any]:
        """How good the probabilities are before and after calibration, on rows used for neither training nor calibration.

        Returns what ``calib assess CALIBRATOR --json`` prints, with ``before``, ``after`` and, of one probability a row, ``change``; of
        margins, which are no probabilities, only the order is assessed before. Rows without a probability are counted and left out. The
        options are those of :func:`calib_host.assess`.

        What the rows say against the calibrator is in ``evidence``: that it does harm, or contradicts its guarantee. It is warned of, as a
        :class:`CalibrationWarning`, too. The rows that the calibrator was fitted to are refused with a :class:`DataError`, as every
        figure would be optimistically biased; ``same_rows=True`` continues with a warning.

        >>> import numpy as np, calib_host
        >>> rng = np.random.default_rng(0)
        >>> scores = rng.random(800)
        >>> labels = rng.random(800) < scores**2
        >>> calibrator = calib_host.fit(scores[:400], labels[:400], "isotonic")
        >>> both = calibrator.assess(scores[400:], labels[400:])
        >>> both["after"]["brier"]["value"] < both["before"]["brier"]["value"]
        True
        """
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
        labels = labels_of(y)
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
        return told(found)

    def to_bytes(self) -> bytes:
        """The artifact: what is written into a device's flash."""
        return self._artifact.to_bytes()

    __bytes__ = to_bytes

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Writes the artifact; ``force`` replaces a file that is there."""
        self._artifact.write(path, force)

    def export_c(self, name: str = "cal") -> str:
        """A header in C99 with the tables and their lookup; ``name`` is the prefix of what it defines."""
        return self._artifact.export_c(name)

    def export_rust(self, name: str = "CAL") -> str:
        """Tables of calib-core for ``include!``; ``name`` is that of the array."""
        return self._artifact.export_rust(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.to_bytes(), self._kind, self.chosen, self.uncalibrated, self.warnings, self.proof)

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
        points = "" if facts["parameters"].startswith("imported=") else f"{facts['n']} points, "
        return f"{facts['method']}, {facts['reduction']}, {bins}{points}{facts['len_bytes']} bytes"

    def __repr__(self) -> str:
        return f"<Calibrator {self._size()}: {self.statement}>"

    def _repr_html_(self) -> str:
        facts = self._facts
        lists = [
            f"<p>{title}:</p><ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
            for title, items in [("Requires", facts["assumptions"]), ("Limits", facts["limits"])]
            if items
        ]
        return f"<p><strong>{escape(self._size())}</strong></p><p>{escape(self.statement)}</p>{''.join(lists)}"


def _of_sum_one(probs: np.ndarray) -> np.ndarray:
    """Rows divided by their sums, which in 32 bits are nearly one; a row with a gap, or of zeros, stays as it is."""
    sums = probs.sum(axis=1, keepdims=True)
    return np.divide(probs, sums, out=probs.copy(), where=np.isfinite(sums) & (sums > 0))


def _restore(
    data: bytes,
    kind: str | None,
    chosen: str | None,
    uncalibrated: dict[str, str],
    warned: tuple[str, ...],
    proof: Any = None,
) -> Calibrator:
    calibrator = Calibrator.from_bytes(data, kind)
    calibrator.chosen, calibrator.uncalibrated, calibrator.warnings = chosen, uncalibrated, warned
    calibrator.proof = proof
    return calibrator


def load(path: str | PathLike[str], kind: str | None = None) -> Calibrator:
    """Reads an artifact. ``kind`` is what vectors are, which an artifact may not tell: "logits" or "probs"."""
    calibrator = Calibrator(Artifact.read(path), kind)
    calibrator.warnings = tuple(calibrator._facts["warnings"])
    return calibrator


def fit(
    scores: Any,
    y: Any,
    method: str | None = None,
    *,
    kind: str | None = None,
    bins: int | None = None,
    alpha: float | None = None,
    reduction: str | None = None,
    sample_weight: Any = None,
    clusters: Any = None,
    classifiers: int = 1,
    points_per_bin: int | None = None,
    epsilon: float | None = None,
    max_bins: int | None = None,
    smoothing: float | str | None = None,
    scaling: str | None = None,
    range: tuple[float, float] | None = None,
    loss: str | None = None,
    seed: int | None = None,
    log_probs: bool = False,
    odir: float | tuple[float, float] | None = None,
    folds: int | None = None,
    resolution: int | None = None,
    k: int | None = None,
    class_score: str | None = None,
    score_encoding: tuple[str, float, int] | None = None,
    bound: str | None = None,
    candidates: int | None = None,
    alpha_spent: float | None = None,
    intervals: bool = True,
    band: bool | None = None,
    table: str | None = None,
    classifier_id: str | None = None,
    counter: int | None = None,
    monitor: bool = False,
    monitor_bins: int | None = None,
    monitor_scores: Any = None,
    monitor_rarity: tuple[int, int, int] | None = None,
    monitor_action: str | None = None,
) -> Calibrator:
    """Fits a calibrator to held-out scores and labels.

    ``scores`` are those of class 1 in [0, 1], one a row. ``kind="margins"`` takes raw scores, such as those of a
    ``decision_function``; ``kind="logits"`` and ``kind="probs"`` take a matrix with a column for each class. ``y`` holds class indices
    from 0 on. Integer codes, as a quantized network gives them, are named with
    ``score_encoding``: a type ("u8", "i8", "u16" or "i16"), a scale and a zero point, such as ``("i8", 1 / 256, -128)``.

    ``method`` is one of blend, umd, umd-original, umd-randomized, ums, fixed-width, isotonic, isotonic-interpolated, isotonic-centered, scaling-binning,
    scaling-binning-one-set, platt, platt-prob, beta, quadratic, temperature, venn-abers and none. Without it scores are blended, with an exact interval for
    each score range beside the probability; ``epsilon`` gives bins whose probability is guaranteed. A matrix takes one of these with a
    ``reduction``: confidence, top-label, class-wise, normalized, top-k-label or top-k-confidence. Without a reduction it takes temperature,
    vector, matrix, dirichlet, svs, sms, sierpinski, grid, projection, projection-random or multiclass-irp. The other options are those of ``calib fit``, which ``calib help
    methods`` and ``calib fit --help`` explain. Rows with the same name in ``clusters`` belong together: one of each is fitted to.

    Beside a method whose bins have no guarantee, such as ``"beta"``, exact intervals of score ranges are stored. The event rate
    of every range lies in its interval, with at least ``1 - alpha`` probability over the draw of these rows. The device and ``calib apply`` then
    return the interval of the score's range. From 500 rows of one score on a band is stored, too: it holds for every score, if a higher score never
    means a lower probability. ``intervals=False`` leaves both out, ``band=False`` the band, and ``band=True`` stores one anyway. ``table="steps"`` stores a smooth function as at most 64 steps.

    ``classifiers`` is by how many classifiers the scores are: those of ``cross_val_predict`` are by one for each fold. A guarantee is about
    the classifier that the scores come from, so where there are several, and another one is kept, nothing is guaranteed.

    ``monitor=True`` stores what monitors on the device compare with, which notice that scores or outcomes are no longer those of the
    calibration; ``monitor_action`` is what a device does then: "flag", "alarm" or "uncalibrated". ``monitor_scores`` are other scores, without
    labels, that they compare with, such as those of the place where the device will be used; they take ``monitor_bins``.

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
    options = {
        name: value
        for name, value in locals().items()
        if name not in ("scores", "y", "kind", "sample_weight", "clusters", "classifiers", "monitor_scores")
    }
    array, kind, classes = scores_of(scores, kind, score_encoding is not None)
    if isinstance(classifiers, bool) or not isinstance(classifiers, Integral) or not 1 <= classifiers < 2**32:
        raise UsageError(f"classifiers={classifiers!r}: scores are by a number of classifiers, 1 at least")
    labels = labels_of(y)
    weights = None if sample_weight is None else floats_of(sample_weight, "sample_weight")
    names = None if clusters is None else clusters_of(clusters, "clusters")
    others = None if monitor_scores is None else floats_of(monitor_scores, "monitor_scores")
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
    calibrator = Calibrator(artifact, kind if kind in MATRIX else None)
    calibrator.chosen, calibrator.uncalibrated = chosen, dict(uncalibrated)
    calibrator.warnings = tuple(warned)
    for warning in warned:
        warnings.warn(warning, CalibrationWarning, stacklevel=2)
    return calibrator
