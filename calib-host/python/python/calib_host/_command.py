"""The command `calib`, and what is asked of it from Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ._native import CalibError, DataError, MismatchError, UsageError
from ._native import in_python
from ._native import run as _run
from ._native import write_file as _write_file


def main() -> None:
    """The command: what the script `calib` and `python -m calib_host` run."""
    if sys.stdout is None:
        # Or the first file that is written would stand for standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(_run(["calib", *sys.argv[1:]]))


#: What the exit codes of the command mean.
_ERRORS: Mapping[int, type[Exception]] = {1: MismatchError, 2: UsageError, 3: DataError, 4: OSError}


def ask(words: list[str], folder: str) -> dict[str, Any]:
    """Runs the command in a process of its own, which Ctrl-C ends, and returns the JSON that it prints."""
    program = [sys.executable, "-m", "calib_host", "--quiet", *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(
        program, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        try:
            out, err = child.communicate()
        except BaseException:
            child.kill()
            raise
    if child.returncode == 130:
        raise KeyboardInterrupt
    told = err.decode(errors="replace").strip()
    if child.returncode != 0:
        message = in_python(told.rpartition("error: ")[2].replace(".npy", ""))
        raise _ERRORS.get(child.returncode, CalibError)(message or f"calib ended with {child.returncode}")
    return json.loads(out) if out.strip() else {}


def _write(folder: str, name: str, array: np.ndarray) -> str:
    np.save(Path(folder, f"{name}.npy"), array, allow_pickle=False)
    return f"{name}.npy"


def _data(folder: str, prefix: str, scores: Any, y: Any, kind: str | None, are_codes: bool = False) -> tuple[str, str, str]:
    """Writes scores and labels; the files, and what the scores are."""
    from ._arrays import labels_of, scores_of

    array, kind, classes = scores_of(scores, kind, are_codes)
    array = array if classes is None else array.reshape(-1, classes)
    return _write(folder, f"{prefix}scores", array), _write(folder, f"{prefix}labels", labels_of(y)), kind


class Comparison(dict[str, Any]):
    """What :func:`compare` found, by the names of ``calib compare --json``."""

    @property
    def recommendation(self) -> str | None:
        """The method to take; None to leave the scores as they are."""
        return self["recommendation"]

    @property
    def reason(self) -> str:
        """Why."""
        return self["reason"]

    def __repr__(self) -> str:
        rows = [f"  {one['name']:<22} {one['loss']['value']:.6f}" for one in self["methods"]]
        return "\n".join([f"{'  method':<24} {self['score']}", *rows, self.reason])


def compare(scores: Any, y: Any, *, kind: str | None = None, test: tuple[Any, Any] | None = None, **options: Any) -> Comparison:
    """Compares calibration methods by cross-validation, or on ``test``, a pair of scores and labels, and recommends one, or none.

    The options are those of ``calib compare``: ``methods``, ``metric``, ``epsilon``, ``alpha``, ``folds``, ``repeats``, ``seed`` and others.

    >>> import numpy as np, calib_host
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(400)
    >>> found = calib_host.compare(scores, rng.random(400) < scores**3, methods=["umd", "platt"], bins=[4], folds=2)
    >>> found.recommendation
    'platt'
    """
    from ._calibrator import words_of
    from ._progress import at_work

    with tempfile.TemporaryDirectory(prefix="calib-") as folder, at_work("comparing"):
        file, labels, kind = _data(folder, "", scores, y, kind)
        words = ["compare", f"--{kind}", file, "--labels", labels, "--json", *words_of(options)]
        if test is not None:
            file, labels, _ = _data(folder, "test-", *test, kind)
            words += ["--test", file, "--test-labels", labels]
        return Comparison(ask(words, folder))


class Report(dict[str, Any]):
    """A report, by the names of ``calib report --json``; in a notebook it shows its page."""

    #: The page: one file that needs no other.
    html: str = ""

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the page; ``force`` replaces a file that is there."""
        _write_file(path, self.html.encode(), force)

    def __repr__(self) -> str:
        return "\n".join(self["verdict"]["sentences"])

    def _repr_html_(self) -> str:
        from html import escape

        return f'<iframe srcdoc="{escape(self.html, quote=True)}" width="100%" height="800" style="border:0"></iframe>'


def report(calibrator: Any, calibration: tuple[Any, Any], test: tuple[Any, Any], **options: Any) -> Report:
    """A page about a calibrator that can be handed over: is it better, what is guaranteed, plots, warnings.

    ``calibration`` are the scores and labels that it was fitted to, ``test`` those that nothing was fitted to. The options are those of
    ``calib report``, such as ``title``, ``model``, ``note`` and ``bootstrap``.

    >>> import numpy as np, calib_host
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(800)
    >>> labels = rng.random(800) < scores**3
    >>> fitted_to, held_out = (scores[:400], labels[:400]), (scores[400:], labels[400:])
    >>> page = calib_host.report(calib_host.fit(*fitted_to, "isotonic"), fitted_to, held_out, title="Ward 3")
    >>> "Ward 3" in page.html
    True
    """
    from ._arrays import MATRIX
    from ._calibrator import words_of
    from ._progress import at_work

    with tempfile.TemporaryDirectory(prefix="calib-") as folder, at_work("making the report"):
        Path(folder, "calibrator.bin").write_bytes(calibrator.to_bytes())
        kind, are_codes = calibrator.kind, calibrator.takes_codes
        words = ["report", "calibrator.bin", *([f"--{kind}"] if kind in MATRIX else [])]
        for option, data in [("calibration", calibration), ("test", test)]:
            file, labels, _ = _data(folder, f"{option}-", *data, kind, are_codes)
            words += [f"--{option}", file, f"--{option}-labels", labels]
        found = Report(ask([*words, "--json", "-o", "report.html", *words_of(options)], folder))
        found.html = Path(folder, "report.html").read_text(encoding="utf-8")
        return found
