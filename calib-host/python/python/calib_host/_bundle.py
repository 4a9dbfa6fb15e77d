"""Evidence about a calibrator in a folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any, Literal

from ._native import CalibError, DataError, MismatchError, UsageError
from ._types import ExtremeProbs
from ._warnings import warn

#: The errors of the command by its exit code.
_ERRORS: dict[int, type[CalibError]] = {1: MismatchError, 2: UsageError, 3: DataError}

_File = str | PathLike[str]


def bundle(
    artifact: _File,
    folder: _File,
    *,
    # rows, each a file
    calibration: _File,
    test: _File,
    calibration_labels: _File | None = None,
    test_labels: _File | None = None,
    test_clusters: _File | None = None,
    kind: Literal["probs", "logits"] | None = None,
    score_column: str | None = None,
    label_column: str | None = None,
    cluster_column: str | None = None,
    group_column: str | None = None,
    # whose it is, and what is stated beside the figures
    key: _File,
    about: _File | None = None,
    protocol: _File | None = None,
    log: _File | None = None,
    archive: _File | None = None,
    # the report
    actions: _File | None = None,
    title: str | None = None,
    model: str | None = None,
    date: str | None = None,
    note: str | None = None,
    bins: int | None = None,
    alpha: float | None = None,
    bootstrap: int | None = None,
    seed: int | None = None,
    extreme_probs: ExtremeProbs | None = None,
) -> dict[str, Any]:
    """Writes a folder of evidence about a signed artifact, as ``calib bundle`` does: artifact, report, claims, bill of materials,
    checklist, and a signed statement over all of them.

    Rows are in files, since the bundle states their SHA-256. The options are those of ``calib bundle``. Returns what
    ``calib bundle --json`` prints.
    """
    options: dict[str, object] = {
        "calibration": fspath(calibration),
        "test": fspath(test),
        "calibration-labels": calibration_labels,
        "test-labels": test_labels,
        "test-clusters": test_clusters,
        "score-column": score_column,
        "label-column": label_column,
        "cluster-column": cluster_column,
        "group-column": group_column,
        "key": fspath(key),
        "about": about,
        "protocol": protocol,
        "log": log,
        "archive": archive,
        "actions": actions,
        "title": title,
        "model": model,
        "date": date,
        "note": note,
        "bins": bins,
        "alpha": alpha,
        "bootstrap": bootstrap,
        "seed": seed,
        "extreme-probs": extreme_probs,
        "output": fspath(folder),
    }
    words = [f"--{name}={_text(value)}" for name, value in options.items() if value is not None]
    if kind is not None:
        words.append(f"--{kind}")
    found, code, error = _answer([*words, "--", fspath(artifact)])
    if found is None:
        raise _ERRORS.get(code, CalibError)(error)
    for message in found["warnings"]:
        warn(message)
    return found


def check_bundle(bundle: _File, *, key: _File | None = None, rows: Sequence[_File] = ()) -> dict[str, Any]:
    """Checks a bundle, a folder or an archive, as ``calib bundle --check`` does, and computes all its figures again if the files of
    ``rows`` are given.

    Returns what was checked, and what could not be, under ``steps``. Raises :class:`MismatchError` at the first thing that is not
    true: its message starts with the name of it. ``key`` is the owner's public key.
    """
    words = [f"--check={fspath(bundle)}", *(f"--rows={fspath(file)}" for file in rows)]
    if key is not None:
        words.append(f"--key={fspath(key)}")
    found, code, error = _answer(words)
    if found is None:
        raise _ERRORS.get(code, CalibError)(error)
    if found["lie"] is not None:
        raise MismatchError(f"{found['lie']['name']}: {found['lie']['text']}")
    return found


def _text(value: object) -> str:
    return fspath(value) if isinstance(value, PathLike) else str(value)


def _answer(words: list[str]) -> tuple[dict[str, Any] | None, int, str]:
    """What the command answers, its exit code, and its error."""
    command = [sys.executable, "-m", "calib_host", "bundle", "--json", "--quiet", *words]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False)
    found: dict[str, Any] | None = json.loads(run.stdout) if run.stdout else None
    lines = [line for line in run.stderr.splitlines() if not line.startswith("warning: ")]
    return found, run.returncode, "\n".join(lines).removeprefix("error: ")
