"""What arguments and results are, for type checkers and editors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict

from numpy.typing import NDArray


class _HasArray(Protocol):
    def __array__(self, *args: Any, **how: Any) -> Any: ...


class _HasArrowStream(Protocol):
    def __arrow_c_stream__(self, *args: Any, **how: Any) -> Any: ...


class _HasDlpack(Protocol):
    def __dlpack__(self, *args: Any, **how: Any) -> Any: ...


#: Numbers: NumPy, pandas, Polars, Arrow, tensors, or lists of Python's numbers.
Array: TypeAlias = NDArray[Any] | Sequence[float] | Sequence[Sequence[float]] | _HasArray | _HasArrowStream | _HasDlpack
#: The same, or names.
Names: TypeAlias = Array | Sequence[str]

Kind = Literal["scores", "margins", "probs", "logits"]
Method = Literal[
    "blend",
    "umd",
    "umd-original",
    "umd-randomized",
    "ums",
    "fixed-width",
    "isotonic",
    "isotonic-interpolated",
    "isotonic-centered",
    "scaling-binning",
    "scaling-binning-one-set",
    "platt",
    "platt-prob",
    "beta",
    "quadratic",
    "temperature",
    "venn-abers",
    "none",
    "vector",
    "matrix",
    "dirichlet",
    "svs",
    "sms",
    "sierpinski",
    "grid",
    "projection",
    "projection-random",
    "multiclass-irp",
]
Reduction = Literal["confidence", "top-label", "class-wise", "normalized", "top-k-label", "top-k-confidence"]
ClassScore = Literal["softmax", "margin"]
Scaling = Literal["platt", "platt-prob", "beta", "temperature"]
Loss = Literal["log", "bayes", "squared"]
Table = Literal["f32", "u16", "direct", "steps"]
Bound = Literal["exact", "hoeffding"]
MonitorAction = Literal["flag", "alarm", "uncalibrated"]
CodeType = Literal["u8", "i8", "u16", "i16"]
Metric = Literal["brier", "log-loss"]
Claim = Literal["all-classes", "top-label"]
Binning = Literal["uniform", "quantile", "equal-width", "equal-mass", "equal-mass-kumar", "by-value", "by-bin"]
Intervals = Literal["percentile", "bca"]
ExtremeProbs = Literal["leave-out", "clip"]
Strategy = Literal["uniform", "quantile"]
Response = Literal["auto", "predict_proba", "decision_function"]
Evaluation = Literal["sample", "every"]

#: A type, a scale and a zero point, such as ``("i8", 1 / 256, -128)``.
ScoreEncoding: TypeAlias = tuple[CodeType, float, int]


class Action(TypedDict):
    """An action of :func:`calib_host.decide`: its costs for a positive and a negative, and when it may be taken."""

    name: str
    positive: float
    negative: float
    start_up: NotRequired[float]
    alarm: NotRequired[bool]
    abstain: NotRequired[bool]
    if_sure: NotRequired[bool | Literal["band"]]
    above: NotRequired[float]
    up_to: NotRequired[float]


class FitOptions(TypedDict, total=False):
    """Options of :func:`calib_host.fit` that functions around it pass on."""

    sample_weight: Array | None
    clusters: Names | None
    classifiers: int
    bins: int | None
    rows_per_bin: int | None
    epsilon: float | None
    candidates: int | None
    alpha: float | None
    alpha_spent: float | None
    bound: Bound | None
    reduction: Reduction | None
    k: int | None
    class_score: ClassScore | None
    max_bins: int | None
    smoothing: float | Literal["paper"] | None
    scaling: Scaling | None
    range: tuple[float, float] | None
    loss: Loss | None
    log_probs: bool
    odir: float | tuple[float, float] | None
    folds: int | None
    resolution: int | None
    seed: int | None
    intervals: bool
    band: bool | None
    table: Table | None
    classifier_id: str | None
    counter: int | None
    monitor: bool
    monitor_bins: int | None
    monitor_scores: Array | None
    monitor_rarity: tuple[int, int, int] | None
    monitor_action: MonitorAction | None
