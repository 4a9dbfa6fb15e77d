"""What labeled rows give besides a calibrator: thresholds, sets of classes, actions, another prevalence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from os import PathLike, fspath
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import aligned, clusters_of, floats_of, hits_of, labels_of, names_of, numbers_of, pair_of, scores_of, whole
from ._calibrator import Calibrator, with_names
from ._native import Artifact, DataError, Dataset, UsageError, write_file
from ._rows import Rows
from ._types import Action, Array, ClassScore, Kind, Names, ScoreEncoding
from ._warnings import warn


def _dataset(
    scores: Array,
    y: Names,
    kind: Kind | None,
    *,
    clusters: Names | None = None,
    groups: Names | None = None,
    calibrator: Calibrator | None = None,
    codes: ScoreEncoding | None = None,
) -> Dataset:
    """Labeled rows: of the kind that the calibrator accepts, if there is one."""
    if codes is not None and (not isinstance(codes, tuple) or len(codes) != 3):
        raise UsageError(f'score_encoding={codes!r}: a type, a scale and a zero point, such as ("i8", 1 / 256, -128), is expected')
    kind = kind or (None if calibrator is None else calibrator.kind)
    are_codes = codes is not None or (calibrator is not None and calibrator.takes_codes)
    array, kind, classes = scores_of(scores, kind, are_codes)
    return Dataset(
        kind,
        array,
        labels_of(y, names=None if calibrator is None else calibrator.class_names),
        classes=classes,
        clusters=None if clusters is None else clusters_of(clusters, "clusters"),
        groups=None if groups is None else names_of(groups, "groups"),
        artifact=None if calibrator is None else calibrator._artifact,
        codes=codes,
    )


def _classifier(text: str | None) -> list[int] | None:
    try:
        return None if text is None else list(bytes.fromhex(text))
    except ValueError:
        raise UsageError("a classifier id has 16 hex digits") from None


class Made(dict[str, Any]):
    """What was made, by the names of the command's ``--json``, and the artifact with it."""

    #: The artifact: what is written into a device's flash.
    artifact: bytes = b""

    #: The names of the classes, if the calibrator has them.
    class_names: tuple[str, ...] | None = None

    @classmethod
    def _of(
        cls, made: tuple[Artifact | None, str], messages: list[str] | None = None, calibrator: Calibrator | None = None
    ) -> Self:
        artifact, facts = made
        found = cls(json.loads(facts))
        found.artifact = b"" if artifact is None else artifact.to_bytes()
        found.class_names = None if calibrator is None else calibrator.class_names
        if messages is not None:
            found["warnings"] = messages
            for message in messages:
                warn(with_names(message, found.class_names))
        return found

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in sentences."""
        statement = [self["statement"]] if "statement" in self else []
        return tuple(with_names(text, self.class_names) for text in self.get("sentences", statement))

    @property
    def table(self) -> Rows | None:
        """The numbers, a row each; None if there are none."""
        return None

    def to_frame(self) -> Any:
        """A pandas DataFrame of the table."""
        return None if self.table is None else self.table.to_frame()

    def __repr__(self) -> str:
        shown = [] if self.table is None else [repr(self.table)]
        return "\n".join([*shown, *self.sentences]) or dict.__repr__(self)

    def _repr_html_(self) -> str:
        shown = "" if self.table is None else self.table._repr_html_()
        return shown + "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)

    @property
    def calibrator(self) -> Calibrator:
        """The calibrator in the artifact."""
        return Calibrator.from_bytes(self.artifact, class_names=self.class_names)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Writes the artifact; ``force`` replaces an existing file."""
        write_file(fspath(path), self.artifact, force)


class Thresholds(Made):
    """What :func:`threshold` found."""

    @property
    def value(self) -> float:
        """The threshold: the device raises its alarm at this score or code, and above."""
        if len(self.table) > 1:
            names = ", ".join(str(row["group"]) for row in self.table)
            raise UsageError(f"every group has its own threshold ({names}): see table")
        return float(self.table[0]["alarm from"])

    @property
    def table(self) -> Rows:
        """A row for each group: from which score on the device raises its alarm, below which it clears, and how often on the calibration set."""
        artifact = Artifact(self.artifact)
        rows = []
        for group, found in zip(self["groups"], self["operating_points"]["groups"]):
            lower, upper = found["lower"], found["upper"]
            rows.append(
                {
                    "group": group["group"],
                    "alarm from": artifact.score_of_key(upper["key"]),
                    "clear below": artifact.score_of_key(lower["key"]),
                    "class 1": upper["positives"],
                    "alarms of class 1": upper["positives_above"],
                    "class 0": upper["negatives"],
                    "alarms of class 0": upper["negatives_above"],
                }
            )
        columns = ["alarm from", "clear below", "class 1", "alarms of class 1", "class 0", "alarms of class 0"]
        return Rows(["group", *columns] if rows[0]["group"] is not None else columns, rows)


class PredictionSets(Made):
    """What :func:`sets` found."""

    @property
    def table(self) -> Rows:
        """How often the sets of the calibration rows of each class contain it, with the ends of the interval."""
        rows = [
            {
                "class": number if self.class_names is None else self.class_names[number],
                "rows": one["n"],
                "contained": one["count"],
                "share": one["count"] / one["n"] if one["n"] else None,
                "low": one["interval"]["lo"] if one.get("interval") else None,
                "high": one["interval"]["hi"] if one.get("interval") else None,
            }
            for number, one in enumerate(self["coverage"])
        ]
        return Rows(["class", "rows", "contained", "share", "low", "high"], rows)


class Adjusted(Made):
    """What :func:`adjust` made."""

    @property
    def table(self) -> Rows:
        """The table of the new calibrator."""
        return self.calibrator.table


class Decision(Made):
    """What :func:`decide` found; ``artifact`` is empty without a calibrator."""

    @property
    def table(self) -> Rows:
        """From which probability on, and up to which, an action is the cheapest."""
        low, rows = 0.0, []
        for one in self["rule"]["intervals"]:
            rows.append({"action": one["action"], "above": low, "up to": one["up_to"]})
            low = one["up_to"]
        return Rows(["action", "above", "up to"], rows)


def threshold(
    scores: Array,
    y: Names,
    *,
    # what is guaranteed
    sensitivity: float | None = None,
    specificity: float | None = None,
    confidence: float = 0.95,
    common_threshold: bool = False,
    refer_raises: bool = False,
    prevalence: float | None = None,
    # what scores are, and which rows belong together
    kind: Kind | None = None,
    score_encoding: ScoreEncoding | None = None,
    clusters: Names | None = None,
    groups: Names | None = None,
    seed: int = 0,
    # where the thresholds go
    calibrator: Calibrator | None = None,
    counter: int | None = None,
    classifier_id: str | None = None,
) -> Thresholds:
    """Thresholds that guarantee a ``sensitivity``, a ``specificity``, or both, with a ``confidence`` of 0.95 by default.

    They go beside the tables of ``calibrator`` if one is given. Scores are then what it accepts, integer codes included, and ``counter``
    is the rollback counter of the result. The other options are those of ``calib threshold``.

    >>> import numpy as np, calib_host
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(400)
    >>> found = calib_host.threshold(scores, rng.random(400) < scores, sensitivity=0.8)
    >>> round(found.value, 6)
    0.4723
    >>> found["sentences"][0]
    'the device raises its alarm at a score of 0.47230035 or more. Guaranteed: sensitivity at least 80% (class 1 not cleared), with 95% confidence'
    """
    whole(counter=counter)
    data = _dataset(scores, y, kind, clusters=clusters, groups=groups, calibrator=calibrator, codes=score_encoding)
    made = _native.threshold(
        data,
        None if calibrator is None else calibrator._artifact,
        counter=counter,
        classifier=_classifier(classifier_id),
        sensitivity=sensitivity,
        specificity=specificity,
        confidence=confidence,
        common_threshold=common_threshold,
        prevalence=prevalence,
        refer_raises=refer_raises,
        seed=seed,
    )
    return Thresholds._of(made, data.warnings(), calibrator)


def sets(
    scores: Array,
    y: Names,
    *,
    # what is guaranteed
    alpha: float = 0.1,
    by_class: bool | None = None,
    confidence: float | None = None,
    never_empty: bool = False,
    # what scores are
    kind: Kind | None = None,
    class_score: ClassScore | None = None,
    score_encoding: ScoreEncoding | None = None,
    # where the sets go
    calibrator: Calibrator | None = None,
    counter: int | None = None,
    classifier_id: str | None = None,
) -> PredictionSets:
    """Sets of classes that contain the true one with a probability of at least ``1 - alpha``, on rows used for neither training nor calibration.

    They go beside the tables of ``calibrator`` if one is given, and ``counter`` says how new the result is. The other options are those of
    ``calib sets``.

    >>> import numpy as np, calib_host
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(400)
    >>> found = calib_host.sets(scores, rng.random(400) < scores, alpha=0.2)
    >>> found["rows_needed"]
    4
    """
    whole(counter=counter)
    data = _dataset(scores, y, kind, calibrator=calibrator, codes=score_encoding)
    artifact, facts, message = _native.sets(
        data,
        None if calibrator is None else calibrator._artifact,
        counter=counter,
        classifier=_classifier(classifier_id),
        alpha=alpha,
        by_class=by_class,
        confidence=confidence,
        never_empty=never_empty,
        class_score=class_score,
    )
    return PredictionSets._of((artifact, facts), data.warnings() + ([] if message is None else [message]), calibrator)


def adjust(
    calibrator: Calibrator,
    prevalence: float | None = None,
    *,
    counter: int | None = None,
    estimate_from: Array | None = None,
    calibration_prevalence: float | None = None,
    prevalence_alpha: float = 0.05,
    seed: int = 0,
    monitor_scores: Array | None = None,
    monitor_bins: int | None = None,
) -> Adjusted:
    """The same calibrator where class 1 is rarer or more frequent: at a ``prevalence``, or at one that is estimated from scores without
    labels. That is right only if scores are distributed among the positives as before, and among the negatives, too.

    >>> import numpy as np, calib_host
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(400)
    >>> calibrator = calib_host.fit(scores, rng.random(400) < scores, "isotonic")
    >>> made = calib_host.adjust(calibrator, 0.1, counter=1)
    >>> bool(made.calibrator.predict([0.5]) < calibrator.predict([0.5]))
    True
    """
    whole(counter=counter)
    whole(most=2**16 - 1, monitor_bins=monitor_bins)
    whole(most=2**64 - 1, seed=seed)
    new, classes = None, None
    if estimate_from is not None:
        new, _, classes = scores_of(estimate_from, calibrator.kind, calibrator.takes_codes)
    made = _native.adjust(
        calibrator._artifact,
        calibrator.kind,
        counter=counter,
        prevalence=prevalence,
        estimate_from=new,
        classes=classes,
        calibration_prevalence=calibration_prevalence,
        prevalence_alpha=prevalence_alpha,
        seed=seed,
        monitor_scores=None if monitor_scores is None else floats_of(monitor_scores, "monitor_scores"),
        monitor_bins=monitor_bins,
    )
    return Adjusted._of(made, calibrator=calibrator)


def _action(action: Action) -> dict[str, Any]:
    """An action with everything that may be left out."""
    known: dict[str, Any] = {"start_up": 0.0, "alarm": False, "abstain": False, "if_sure": False, **action}
    above, up_to = known.pop("above", None), known.pop("up_to", None)
    stated = above is not None or up_to is not None
    interval = (0.0 if above is None else above, 1.0 if up_to is None else up_to) if stated else None
    named = {"name", "positive", "negative", "start_up", "alarm", "abstain", "if_sure"}
    if set(known) != named:
        wrong = sorted(set(known) ^ named)
        raise UsageError(f"an action has name, positive, negative, alarm and if wanted others; {wrong[0]!r} is not there, or no such key")
    return {**known, "interval": interval}


def decide(
    actions: Sequence[Action],
    scores: Array | None = None,
    y: Names | None = None,
    *,
    calibrator: Calibrator | None = None,
    validation: tuple[Array, Names] | None = None,
    delta: float = 0.1,
    counter: int | None = None,
    uncalibrated: str | None = None,
    unsure: str | None = None,
    cases: int | None = None,
    seed: int = 0,
    same_rows: bool = False,
) -> Decision:
    """The cheapest action for every probability, and what it costs.

    Each of the ``actions`` has the keys of ``[[action]]`` in the costs file of ``calib decide``, such as ``"if_sure": "band"``. ``scores`` are calibrated probabilities,
    NaN where there is none, or what ``calibrator`` takes: its artifact is then returned with the rule, and with its own counter unless
    ``counter`` says how new the result is. Labels tell the actual cost.
    How well calibrated the probabilities are is known from ``validation``, a pair of scores and labels, or else from the rows.

    >>> import calib_host
    >>> wait = {"name": "wait", "positive": 9, "negative": 0}
    >>> treat = {"name": "treat", "positive": 0, "negative": 1, "alarm": True}
    >>> [round(one["up_to"], 6) for one in calib_host.decide([wait, treat])["rule"]["intervals"]]
    [0.1, 1.0]
    """

    whole(counter=counter, cases=cases)
    whole(most=2**64 - 1, seed=seed)

    def rows(scores: Array | None, y: Names | None) -> tuple[NDArray[np.float32], list[bool] | None, bool] | None:
        if scores is None:
            return None
        if y is not None and calibrator is not None and calibrator.class_names is not None:
            y = labels_of(y, names=calibrator.class_names)
        if calibrator is None:
            probs = numbers_of(scores, "scores").astype(np.float32, copy=False)
        else:
            probs = calibrator.predict(scores, seed=seed)
        if probs.ndim != 1 or probs.dtype.names:
            raise DataError("scores: a decision is by one probability of class 1 a row")
        of_fit = (
            y is not None
            and calibrator is not None
            and _dataset(scores, y, None, calibrator=calibrator).is_of_the_fit(calibrator._artifact, same_rows)
        )
        return aligned(probs), None if y is None else hits_of(y).tolist(), of_fit

    made = _native.decide(
        [_action(action) for action in actions],
        uncalibrated=uncalibrated,
        unsure=unsure,
        cases=cases,
        rows=rows(scores, y),
        validation=None if validation is None else rows(*pair_of(validation, "validation")),
        delta=delta,
        artifact=None if calibrator is None else calibrator._artifact,
        counter=counter,
    )
    return Decision._of(made, calibrator=calibrator)
