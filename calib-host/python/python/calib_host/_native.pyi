"""The extension module."""

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

class CalibError(ValueError): ...
class UsageError(CalibError): ...
class DataError(CalibError): ...
class MismatchError(CalibError): ...

class Artifact:
    def __new__(cls, bytes: bytes) -> Artifact: ...
    @staticmethod
    def read(path: str | PathLike[str]) -> Artifact: ...
    def to_bytes(self) -> bytes: ...
    def write(self, path: str | PathLike[str], force: bool) -> None: ...
    def facts(self) -> str: ...
    def tables(self) -> str: ...
    def score_of_key(self, key: int) -> float: ...
    def export_c(self, name: str) -> str: ...
    def export_rust(self, name: str) -> str: ...

class Dataset:
    def __new__(
        cls,
        kind: str,
        scores: NDArray[Any],
        labels: NDArray[np.int64],
        *,
        classes: int | None = None,
        clusters: NDArray[np.int64] | None = None,
        groups: list[str] | None = None,
        artifact: Artifact | None = None,
        codes: tuple[str, float, int] | None = None,
    ) -> Dataset: ...
    def is_of_the_fit(self, artifact: Artifact, same_rows: bool) -> bool: ...
    def warnings(self) -> list[str]: ...

def write_file(path: str | PathLike[str], bytes: bytes, force: bool) -> None: ...
def fit(
    options: dict[str, Any],
    kind: str,
    scores: NDArray[Any],
    labels: NDArray[np.int64],
    *,
    classes: int | None = None,
    weights: NDArray[np.float64] | None = None,
    clusters: NDArray[np.int64] | None = None,
    classifiers: int = 1,
    monitor_scores: NDArray[np.float64] | None = None,
) -> tuple[Artifact, str | None, list[str], list[tuple[str, str]]]: ...
def apply(
    artifact: Artifact, kind: str, scores: NDArray[Any], *, classes: int | None = None, seed: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.uint16] | None]: ...
class How:
    def __new__(
        cls,
        *,
        binning: str,
        n_bins: int,
        norm: float,
        alpha: float,
        resamples: int,
        intervals: str,
        seed: int,
        extreme_probs: str,
        top_k: int | None = None,
    ) -> How: ...

def assess(
    how: How,
    probs: NDArray[Any],
    labels: NDArray[np.int64],
    *,
    predicted: NDArray[np.int64] | None = None,
    bins: NDArray[np.uint32] | None = None,
    clusters: NDArray[np.int64] | None = None,
    groups: list[str] | None = None,
) -> tuple[str, list[str]]: ...
def assess_vectors(
    how: How,
    probs: NDArray[np.float64],
    labels: NDArray[np.uint16],
    classes: int,
    *,
    clusters: NDArray[np.int64] | None = None,
) -> tuple[str, list[str]]: ...
def assess_calibrated(
    artifact: Artifact,
    how: How,
    kind: str,
    scores: NDArray[Any],
    labels: NDArray[np.int64],
    *,
    classes: int | None = None,
    clusters: NDArray[np.int64] | None = None,
    groups: list[str] | None = None,
    same_rows: bool = False,
) -> tuple[str, list[str]]: ...
def calibration_curve(
    probs: NDArray[np.float64], hits: NDArray[np.bool_], strategy: str, n_bins: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def code_range(codes: NDArray[np.int64], outputs: int, scale: float, zero_point: int) -> tuple[float, float, bool]: ...
def imported(kind: str, functions: str, n: int, origin: str) -> Artifact: ...
def imported_scaling(
    kind: str, classes: int, weights: list[float], intercepts: list[float], clip: float, n: int, origin: str
) -> Artifact: ...
def compare(data: Dataset, test: Dataset | None, **options: Any) -> str: ...
def report(artifact: Artifact, calibration: Dataset, test: Dataset, **options: Any) -> tuple[str, str]: ...
def adjust(
    artifact: Artifact,
    kind: str,
    *,
    counter: int | None,
    prevalence: float | None,
    estimate_from: NDArray[Any] | None,
    classes: int | None,
    calibration_prevalence: float | None,
    prevalence_alpha: float,
    seed: int,
    monitor_scores: NDArray[np.float64] | None,
    monitor_bins: int | None,
) -> tuple[Artifact, str]: ...
def decide(
    actions: list[dict[str, Any]],
    *,
    uncalibrated: str | None,
    unsure: str | None,
    cases: int | None,
    rows: tuple[NDArray[np.float32], list[bool] | None, bool] | None,
    validation: tuple[NDArray[np.float32], list[bool] | None, bool] | None,
    delta: float,
    artifact: Artifact | None,
    counter: int | None,
) -> tuple[Artifact | None, str]: ...
def sets(
    data: Dataset, parent: Artifact | None, *, counter: int | None, classifier: list[int] | None, **options: Any
) -> tuple[Artifact, str, str | None]: ...
def threshold(
    data: Dataset, parent: Artifact | None, *, counter: int | None, classifier: list[int] | None, **options: Any
) -> tuple[Artifact, str]: ...
def plan(**options: Any) -> str: ...
def plan_threshold(**options: Any) -> str: ...
def plan_of_validation(
    *, prevalence: float, auc: float, se_auc: float, se_slope: float, se_intercept: float
) -> str: ...
def suitable_bins(n: int) -> int: ...
def run(words: list[str]) -> int: ...
