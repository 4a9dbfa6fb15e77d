"""Arrays of whatever is given: lists, NumPy, pandas, Polars, Arrow, torch."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ._native import DataError, UsageError
from ._types import Kind

#: What scores may be: of class 1 of two, or of every class in a column each.
BINARY: tuple[Kind, ...] = ("scores", "margins")
MATRIX: tuple[Kind, ...] = ("probs", "logits")


def _as_array(values: Any, what: str) -> np.ndarray:
    """An array of what is given, copied only if it is none."""
    if np.ma.isMaskedArray(values):
        if np.ma.is_masked(values):
            row = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
            raise DataError(f"{what}, row {row}: the value is masked; leave such rows out")
        return np.asarray(values.data)
    if isinstance(values, (np.ndarray, list, tuple, range)):
        try:
            return np.asarray(values)
        except ValueError as cause:
            raise DataError(f"{what}: {cause}") from cause
    missing = _missing_row(values)
    if missing is not None:
        raise DataError(f"{what}, row {missing}: the value is missing; leave such rows out")
    if hasattr(values, "__array__"):
        try:
            return np.asarray(values)
        except (RuntimeError, TypeError) as cause:  # a tensor on another device, or with a gradient
            raise DataError(f"{what}: {cause}") from cause
    if hasattr(values, "__arrow_c_stream__"):
        return _of_arrow(values, what)
    if hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    array = np.asarray(values)
    if array.ndim == 0:
        raise DataError(f"{what}: {_article(values)} is no array: give a list or an array, one value a row")
    return array


def _article(value: Any) -> str:
    name = "None" if value is None else type(value).__name__
    return name if value is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def aligned(array: np.ndarray, dtype: Any = None) -> np.ndarray:
    """The array, copied if its numbers have gaps between them, or do not begin where the processor's do."""
    return np.asarray(np.require(array, dtype, ["C", "A"]))


def whole(least: int = 0, most: int = 2**32 - 1, **numbers: Any) -> None:
    """That numbers, or None, are whole and in range."""
    for name, number in numbers.items():
        if number is None:
            continue
        try:
            fits = not isinstance(number, (bool, np.bool_)) and least <= index(number) <= most
        except TypeError:
            fits = False
        if not fits:
            raise UsageError(f"{name}={number!r}: a whole number from {least} on is expected" + (
                f", {most} at most" if most < 2**32 - 1 else ""
            ))


def pair_of(values: Any, what: str) -> tuple[Any, Any]:
    """Scores and labels."""
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        raise UsageError(f"{what}: a pair of scores and labels is expected, such as {what}=(scores, y)")
    return values[0], values[1]


def texts_of(values: Any, what: str) -> list[str] | None:
    """Names, of which one may stand by itself."""
    if values is None:
        return None
    names = [values] if isinstance(values, str) else list(values)
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None:
        raise UsageError(f"{what}={wrong!r}: names are expected")
    return [str(name) for name in names]


def _missing_row(values: Any) -> int | None:
    """The first row of a pandas or Polars column that holds nothing."""
    for name in ("isna", "is_null"):
        method = getattr(values, name, None)
        if callable(method):
            try:
                missing = np.asarray(method())
            except (TypeError, ValueError):
                return None
            if missing.dtype == bool and missing.any():
                return int(np.argwhere(missing)[0][0])
    return None


def _of_arrow(values: Any, what: str) -> np.ndarray:
    """A column, or the columns of a table, from Arrow's C stream interface."""
    try:
        import pyarrow
    except ImportError as cause:
        raise UsageError(f"{what}: Arrow's stream interface is read with pyarrow: install it, or give an array") from cause
    try:
        table = pyarrow.table(values)
    except (TypeError, ValueError, pyarrow.ArrowInvalid):
        table = pyarrow.table({"values": pyarrow.chunked_array(values)})
    columns = []
    for column in table.columns:
        if column.null_count:
            row = int(np.argwhere(np.asarray(column.is_null()))[0][0])
            raise DataError(f"{what}, row {row}: the value is missing; leave such rows out")
        columns.append(column.to_numpy())
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _first_no_number(array: np.ndarray) -> tuple[int, Any]:
    for row, value in enumerate(array.ravel()):
        if value is None or isinstance(value, (str, bytes)) or not np.isscalar(value):
            return row // max(1, array.size // max(1, len(array))), value
    return 0, array.ravel()[0] if array.size else None


def numbers_of(values: Any, what: str) -> np.ndarray:
    """Real numbers, as they are."""
    array = _as_array(values, what)
    if array.dtype == object and array.size and array.ndim:
        # pandas gives columns of Python numbers so.
        try:
            if any(value is None or isinstance(value, (str, bytes)) for value in array.ravel()):
                raise ValueError
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            row, value = _first_no_number(array)
            raise DataError(f"{what}, row {row}: {value!r} is no number") from None
    if array.dtype.kind not in "biuf":
        raise DataError(f"{what} are of type {array.dtype}: numbers are needed")
    return array


def scores_of(values: Any, kind: Kind | None, are_codes: bool) -> tuple[np.ndarray, Kind, int | None]:
    """Scores without a gap, what they are, and the number of classes if there is a column for each."""
    array = numbers_of(values, "scores")
    if array.ndim == 2 and array.shape[1] == 1 and kind not in MATRIX:
        array = array[:, 0]
    if kind is None:
        if array.ndim == 2:
            raise UsageError(
                'scores of several classes, in a column each: say what they are, with kind="logits" or kind="probs"; '
                "for two classes, give the column of class 1, scores[:, 1]"
            )
        kind = "scores"
    if kind not in BINARY + MATRIX:
        raise UsageError(f'kind={kind!r}: there are "scores", "margins", "probs" and "logits"')
    dims = 1 if kind in BINARY else 2
    if array.ndim != dims:
        shape = "(n,)" if dims == 1 else "(n, classes)"
        more = "; for two classes, give the column of class 1, scores[:, 1]" if array.ndim == 2 else ""
        raise DataError(f"scores have the shape {array.shape}: kind={kind!r} takes {shape}{more}")
    classes = None if dims == 1 else array.shape[1]
    if are_codes:
        if array.dtype.kind not in "iu":
            raise DataError(f"scores are of type {array.dtype}: codes are integers")
        array = array.astype(np.int64, copy=False)
    elif array.dtype != np.float32:
        # Whole numbers, and halves, are exact in an f64.
        array = array.astype(np.float64, copy=False)
    if kind == "scores" and not are_codes and array.size and (array.min() < 0 or array.max() > 1):
        row = int(np.argmax((array < 0) | (array > 1)))
        if np.isfinite(array[row]):
            margins = '; scores of any size are kind="margins"' if array.min() < -0.001 or array.max() > 1.001 else ""
            raise DataError(f"row {row}: the score {array[row]} is outside [0, 1]{margins}")
    return aligned(array).reshape(-1), kind, classes


def labels_of(values: Any, what: str = "labels", names: Sequence[str] | None = None) -> np.ndarray:
    """0-based class indices; of text the place among the names of classes."""
    array = _as_array(values, what)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{what} have the shape {array.shape}: one label a row is needed")
    is_text = array.dtype.kind in "SUT" or (
        array.dtype == object and any(isinstance(value, (str, bytes)) for value in array)
    )
    if is_text and array.size:
        if names is not None:
            return _places(array, names, what)
        raise DataError(
            f"{what} are text, such as {str(array[0])!r}: give class indices from 0 on, as numpy.unique(y, return_inverse=True)[1] "
            "has them; calib_host.fit and its calibrators take text"
        )
    array = numbers_of(array, what)
    if array.dtype.kind == "f":
        bad = ~(np.isfinite(array) & (array == np.floor(array)))
        if bad.any():
            row = int(np.argmax(bad))
            raise DataError(f"{what}, row {row}: {array[row]} is no class index")
        large = np.abs(array) >= 2.0**63
        if large.any():
            row = int(np.argmax(large))
            raise DataError(f"{what}, row {row}: class {array[row]:g} is out of range")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise DataError(f"{what}: a class index is below 2^63")
    return aligned(array, np.int64)


def _places(array: np.ndarray, names: Sequence[str], what: str) -> np.ndarray:
    places = {name: place for place, name in enumerate(names)}
    found = np.fromiter((places.get(str(name), -1) for name in array), np.int64, len(array))
    if (found < 0).any():
        row = int((found < 0).argmax())
        raise DataError(f"{what}, row {row}: there is no class {str(array[row])!r}: the classes are {', '.join(names)}")
    return found


def class_names_of(class_names: Any, y: Any, classes: int) -> tuple[str, ...] | None:
    """The names of classes, class 0 first: those that are given, or those of labels that are text, in their order."""
    if class_names is None:
        if isinstance(y, np.ndarray) and y.dtype.kind in "biuf":
            return None
        labels = _as_array(y, "labels")
        if not (labels.dtype.kind in "UT" or (labels.dtype == object and labels.size and isinstance(labels.flat[0], str))):
            return None
        check_known(y, "labels")
        names = sorted({str(name) for name in labels.ravel()})
        if len(names) > classes or (len(names) < classes and classes > 2):
            raise DataError(
                f"labels are {len(names)} different texts, and there are {classes} classes: name them, class 0 first, with class_names"
            )
        if len(names) < classes:
            raise DataError(f"all labels are {names[0]!r}: name both classes, class 0 first, with class_names")
        return tuple(names)
    names = texts_of(class_names, "class_names") or []
    if isinstance(class_names, str) or len(names) != classes:
        raise UsageError(f"class_names={class_names!r}: {classes} names are expected, class 0 first")
    if len(set(names)) < len(names):
        raise UsageError(f"class_names={class_names!r}: a name is that of one class")
    return tuple(names)


def check_classes(labels: np.ndarray, classes: int) -> None:
    """That labels are those of so many classes."""
    bad = (labels < 0) | (labels >= classes)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"row {row}: class {labels[row]} is out of range, there are {classes} classes, from 0 on")


def floats_of(values: Any, what: str) -> np.ndarray:
    """Numbers as f64, one a row."""
    array = numbers_of(values, what)
    if array.ndim != 1:
        raise DataError(f"{what} have the shape {array.shape}: one a row is needed")
    return aligned(array, np.float64)


def probs_of(values: Any) -> np.ndarray:
    """Probabilities, one a row: f32 as they are, and all others as f64."""
    array = numbers_of(values, "probs")
    if array.ndim != 1:
        raise DataError(f"probs have the shape {array.shape}: one a row is needed")
    return aligned(array, np.float32 if array.dtype == np.float32 else np.float64)


def bins_of(values: Any) -> np.ndarray:
    """Numbers of bins."""
    array = labels_of(values, "bins")
    bad = (array < 0) | (array >= 2**32)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"bins, row {row}: {array[row]} is no number of a bin")
    return array.astype(np.uint32)


def _is_missing(name: Any) -> bool:
    # NaN alone is not itself, and of pandas' NA nobody knows.
    return name is None or str(name) == "<NA>" or bool(name != name)


def _names(values: Any, what: str) -> np.ndarray:
    """Names, one a row, none missing."""
    array = _as_array(values, what)
    if isinstance(values, (list, tuple)) and array.dtype.kind in "USO" and array.ndim == 1:
        array = np.fromiter(values, object, len(values))
    if array.ndim != 1:
        raise DataError(f"{what} have the shape {array.shape}: one name a row is needed")
    # Of numbers and times, what is missing is not itself.
    missing = np.fromiter(map(_is_missing, array), bool, len(array)) if array.dtype == object else array != array
    if missing.any():
        row, rows = int(missing.argmax()), int(missing.sum())
        raise DataError(f"{what}, row {row}: the name is missing; {rows} of {len(array)} rows have none; leave such rows out")
    return array


def clusters_of(values: Any, what: str) -> np.ndarray:
    """Which rows have the same name, as numbers."""
    array = _names(values, what)
    if array.dtype == object:
        # Names of several types have no order; NumPy would make text of a list's.
        numbers: dict[Any, int] = {}
        return np.fromiter((numbers.setdefault(name, len(numbers)) for name in array), np.int64, len(array))
    return aligned(np.unique(array, return_inverse=True)[1], np.int64)


def names_of(values: Any, what: str) -> list[str]:
    """Names, one a row, as text."""
    return [str(name) for name in _names(values, what).tolist()]


def check_known(values: Any, what: str) -> None:
    """That no label is missing, whatever labels are."""
    # Of NaN among texts NumPy would make a text.
    array = np.asarray(values, dtype=object) if isinstance(values, (list, tuple)) else _as_array(values, what)
    if array.ndim == 0 or array.size == 0:
        return
    labels = array.reshape(len(array), -1)
    if array.dtype == object:
        missing = np.fromiter((any(map(_is_missing, row)) for row in labels), bool, len(labels))
    else:
        missing = (labels != labels).any(axis=1)
    if missing.any():
        raise DataError(f"{what}, row {int(missing.argmax())}: the label is missing; leave such rows out")


def _different(array: np.ndarray) -> list[Any]:
    """The different values, of numbers without sorting them if they are two at most."""
    if array.dtype.kind in "biuf" and array.size:
        low, high = array.min(), array.max()
        if ((array == low) | (array == high)).all():
            return np.unique([low, high]).tolist()
    return np.unique(array).tolist()


def hits_of(values: Any, pos_label: Any = None) -> np.ndarray:
    """Which labels are that of class 1: 1 of {0, 1} or {-1, 1}, and otherwise the one that is named."""
    check_known(values, "labels")
    array = _as_array(values, "labels")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"labels have the shape {array.shape}: one label a row is needed")
    different = _different(array)
    if len(different) > 2:
        raise DataError(f"{len(different)} different labels: two classes have two")
    if pos_label is None:
        if not (set(different) <= {0, 1} or set(different) <= {-1, 1}):
            raise DataError(f"labels are {different}: name that of class 1 with pos_label")
        pos_label = 1
    elif pos_label not in different:
        raise DataError(f"pos_label={pos_label!r}: labels are {different}")
    return np.ascontiguousarray(array == pos_label, dtype=bool)
