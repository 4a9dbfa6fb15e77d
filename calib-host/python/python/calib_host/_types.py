"""What arguments and results are, for type checkers and editors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

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
Binning = Literal["uniform", "quantile", "equal-width", "equal-mass", "equal-mass-kumar", "by-bin", "by-value"]
Intervals = Literal["percentile", "bca"]
ExtremeProbs = Literal["leave-out", "clip"]
Strategy = Literal["uniform", "quantile"]
Response = Literal["auto", "predict_proba", "decision_function"]
Evaluation = Literal["sample", "every"]

#: A type, a scale and a zero point, such as ``("i8", 1 / 256, -128)``.
ScoreEncoding: TypeAlias = tuple[CodeType, float, int]
