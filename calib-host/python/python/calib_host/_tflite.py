"""The codes that a quantized TFLite network gives, and a calibrator of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from ._arrays import MATRIX, check_classes, class_names_of, labels_of, numbers_of
from ._calibrator import Calibrator, fit
from ._native import DataError, UsageError, code_range
from ._progress import at_work
from ._types import Array, CodeType, FitOptions, Kind, Method, Names, ScoreEncoding
from ._warnings import warn

#: What the options of a fit call the types of codes.
ENCODINGS = {np.dtype(np.uint8): "u8", np.dtype(np.int8): "i8", np.dtype(np.uint16): "u16", np.dtype(np.int16): "i16"}
#: Of this share of the inputs' values on, values outside of what the network takes are warned of.
MANY = 0.05


def tflite_codes(interpreter: Any, X: Array) -> NDArray[Any]:
    """The codes of a quantized TFLite network's output: what the device computes for the rows of ``X``.

    ``interpreter`` and ``X`` are those of :func:`from_tflite`. Returns integers of the output's type, in a column for each output.
    """
    return _Network(interpreter).codes(X)


def from_tflite(
    interpreter: Any,
    X: Array,
    y: Names,
    method: Method | None = None,
    *,
    kind: Kind | None = None,
    class_names: Sequence[str] | None = None,
    **options: Unpack[FitOptions],
) -> Calibrator:
    """Fits a calibrator to the codes of a quantized TFLite network's output.

    ``interpreter`` is a ``tf.lite.Interpreter``, or the one of ``ai_edge_litert`` or ``tflite_runtime``, with one input and one output.
    ``X`` holds rows that the network was not trained with, of numbers as it was fed in training: they are quantized with the input's scale
    and zero point, or passed as they are if they are of the input's integer type. ``y`` holds class indices from 0 on. Type, scale and zero
    point of the codes are read from the output.

    A network with one output, or with two that sum to one, is one for two classes: the calibrator takes the code of class 1, which is the
    second of two. With more outputs it takes the codes of all. Without ``kind`` these have to be probabilities; ``kind="margins"`` says that
    the one output is a score of any size, ``kind="logits"`` that several are logits. ``method`` and the other ``options`` are those of
    :func:`calib_host.fit`; several classes take ``reduction="top-label"`` or ``"confidence"``, logits with ``class_score="margin"``.

    Raises :class:`UsageError` for networks without such an output, and :class:`DataError` for rows that it does not take.
    """
    network = _Network(interpreter)
    output = network.output
    encoding = network.encoding()
    called = class_names_of(class_names, y, max(network.outputs, 2))
    labels = labels_of(y, names=called)
    shaped = network.quantized(X)
    if len(shaped) != len(labels):
        raise DataError(f"X has {len(shaped)} rows, and there are {len(labels)} labels")
    # Running the network may take long: what is wrong with labels is said before.
    check_classes(labels, max(network.outputs, 2))
    codes, kind = _scores(network.run(shaped), output, kind)
    quantized: ScoreEncoding = (cast(CodeType, encoding), output.scale, output.zero_point)
    calibrator = fit(codes, labels, method, kind=kind, score_encoding=quantized, class_names=called, **options)
    calibrator.warnings = (*network.warnings, *calibrator.warnings)
    return calibrator


@dataclass(frozen=True)
class _Tensor:
    """An input or an output of a network."""

    what: str
    name: str
    index: int
    shape: tuple[int, ...]
    dtype: np.dtype
    #: The difference between the numbers of neighboring codes; 0 if the numbers are no codes.
    scale: float
    #: The code of 0.
    zero_point: int

    def __str__(self) -> str:
        return f"the network's {self.what} {self.name!r}"

    @classmethod
    def of(cls, details: list[dict[str, Any]], what: str) -> _Tensor:
        if len(details) != 1:
            names = ", ".join(repr(str(each["name"])) for each in details)
            raise UsageError(
                f"the network has {len(details)} {what}s ({names}): from_tflite takes one; run it yourself, and give the codes to "
                "calib_host.fit with score_encoding"
            )
        (one,) = details
        quantization = one["quantization_parameters"]
        scales, zero_points = np.ravel(quantization["scales"]), np.ravel(quantization["zero_points"])
        if len(scales) > 1 or len(zero_points) > 1:
            raise UsageError(
                f"the network's {what} {str(one['name'])!r} has {max(len(scales), len(zero_points))} scales, one a channel: a device's "
                "codes have one"
            )
        return cls(
            what=what,
            name=str(one["name"]),
            index=int(one["index"]),
            shape=tuple(int(size) for size in one["shape"]),
            dtype=np.dtype(one["dtype"]),
            # The f32 as it is: its shortest decimal could be another one's by way of an f64.
            scale=float(scales[0]) if len(scales) else 0.0,
            zero_point=int(zero_points[0]) if len(zero_points) else 0,
        )

    @property
    def encoding(self) -> str | None:
        """The codes' type as a fit calls it; None for floats, and for integers that stand for nothing else."""
        return ENCODINGS.get(self.dtype) if self.scale > 0 else None


class _Network:
    """A network with one input, of which the first dimension are rows, and one output."""

    def __init__(self, interpreter: Any):
        needed = ("allocate_tensors", "get_input_details", "get_output_details", "set_tensor", "invoke", "get_tensor")
        missing = [name for name in needed if not callable(getattr(interpreter, name, None))]
        if missing:
            raise TypeError(
                f"{type(interpreter).__name__} has no {missing[0]}: an interpreter of tf.lite, ai_edge_litert or tflite_runtime is needed"
            )
        interpreter.allocate_tensors()
        self._interpreter = interpreter
        self.input = _Tensor.of(interpreter.get_input_details(), "input")
        self.output = _Tensor.of(interpreter.get_output_details(), "output")
        self.warnings: tuple[str, ...] = ()
        rows = self.input.shape[0] if self.input.shape else 0
        has_rows = rows > 0 and self.output.shape[:1] == (rows,)
        if not has_rows or sum(size > 1 for size in self.output.shape[1:]) > 1:
            raise UsageError(
                f"{self.output} has the shape {self.output.shape}, and its input {self.input.shape}: for every row of the input one "
                "vector of scores is needed"
            )
        self._rows = rows

    @property
    def outputs(self) -> int:
        """The number of scores of a row."""
        return int(np.prod(self.output.shape[1:], dtype=np.int64))

    def encoding(self) -> str:
        """The type of the output's codes, as a fit calls it."""
        output = self.output
        if output.encoding is None:
            scale = "" if output.dtype.kind == "f" else " and has no scale"
            raise UsageError(
                f"{output} is of type {output.dtype}{scale}, so there are no codes: convert the network with a quantized output of 8 or 16 "
                "bits, or fit to what it says, with calib_host.fit"
            )
        return output.encoding

    def quantized(self, X: Any) -> np.ndarray:
        """Rows as the network takes them."""
        array, to = numbers_of(X, "X"), self.input
        if array.shape[1:] != to.shape[1:] or array.ndim != len(to.shape):
            takes = ", ".join(str(size) for size in ("n", *to.shape[1:]))
            raise DataError(f"X has the shape {array.shape}: {to} takes ({takes})")
        if array.dtype == to.dtype and to.dtype.kind != "f":
            return array
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            place = tuple(int(at) for at in np.argwhere(~np.isfinite(array))[0])
            raise DataError(f"X, row {place[0]}: {array[place]} is no finite number")
        if to.scale > 0 and to.dtype.kind != "f":
            return self._as_codes(array)
        cast = array.astype(to.dtype)
        if to.dtype.kind != "f" and (cast != array).any():
            row = int(np.argwhere(cast != array)[0][0])
            raise DataError(f"X, row {row}: {to} takes whole numbers of type {to.dtype}")
        return cast

    def _as_codes(self, array: np.ndarray) -> np.ndarray:
        """The nearest codes, of two the even one, as an interpreter quantizes by default (with XNNPACK)."""
        to, ends = self.input, np.iinfo(self.input.dtype)
        codes = np.rint(array.astype(np.float32) / np.float32(to.scale)).astype(np.float64) + to.zero_point
        outside = float(np.mean((codes < ends.min) | (codes > ends.max))) if codes.size else 0.0
        if outside > MANY:
            low, high = (to.scale * (end - to.zero_point) for end in (ends.min, ends.max))
            told = (
                f"of the values in X {100 * outside:.0f}% are outside of {low:.4g} to {high:.4g}, which is what {to} takes: give X as the "
                "network was fed in training"
            )
            self.warnings = (*self.warnings, told)
            warn(told)
        return np.clip(codes, ends.min, ends.max).astype(to.dtype)

    def run(self, rows: np.ndarray) -> np.ndarray:
        """The output of the network for rows that it accepts, a column for each output."""
        said = np.empty((len(rows), self.outputs), dtype=self.output.dtype)
        with at_work("running the network"):
            for start in range(0, len(rows), self._rows):
                batch = rows[start : start + self._rows]
                count = len(batch)
                if count < self._rows:
                    # The last batch is filled up with its last row.
                    batch = np.concatenate([batch, np.repeat(batch[-1:], self._rows - count, axis=0)])
                self._interpreter.set_tensor(self.input.index, np.ascontiguousarray(batch))
                self._interpreter.invoke()
                answer = np.asarray(self._interpreter.get_tensor(self.output.index))
                said[start : start + count] = answer.reshape(self._rows, -1)[:count]
        return said

    def codes(self, X: Any) -> np.ndarray:
        """The codes of the output for these rows."""
        self.encoding()
        return self.run(self.quantized(X))


def _scores(codes: np.ndarray, output: _Tensor, kind: Kind | None) -> tuple[np.ndarray, Kind]:
    """The codes that are calibrated, and what they stand for."""
    outputs = codes.shape[1]
    if kind is None:
        flat = np.ascontiguousarray(codes, dtype=np.int64).reshape(-1)
        lowest, highest, are_probs = code_range(flat, outputs, output.scale, output.zero_point)
        if not are_probs:
            what = 'kind="margins"' if outputs == 1 else 'kind="logits", with a reduction and class_score="margin"'
            raise UsageError(
                f"{output} is no probability: its codes stand for {lowest:.4g} to {highest:.4g}"
                + (f", and those of a row do not sum to 1. If they are logits say {what}" if outputs > 1 else f". Say {what}")
            )
        kind = "probs" if outputs > 2 else "scores"
    if kind in MATRIX:
        return codes, kind
    if outputs > 2 or (outputs == 2 and kind == "margins"):
        raise UsageError(f'kind={kind!r} is of one score a row, and {output} has {outputs}: there are "probs" and "logits"')
    return codes[:, -1], kind
