"""Type checkers accept what is right, and find what is wrong: names, attributes, and the values of options."""

import json
import subprocess
import sys

import pytest

RIGHT = '''
from typing import Any

import numpy as np
import numpy.typing as npt

import calib_host
from calib_host import CalibError, Calibrator, DataError, assess, compare, fit, load

scores: npt.NDArray[np.float64] = np.linspace(0, 1, 400)
y: npt.NDArray[np.int64] = np.arange(400) % 2
calibrator: Calibrator = fit(scores, y, "umd", bins=4)
probs: npt.NDArray[Any] = calibrator.predict([0.1, 0.2])
epsilon: float = calibrator.guarantee.epsilon if calibrator.guarantee is not None else 1.0
names: list[str] = [str(row["value"]) for row in calibrator.table]
named = fit([0.1, 0.9], ["cat", "dog"], "umd", bins=1, class_names=["cat", "dog"])
best: str | None = compare(scores, y, methods=["umd", "platt"], bins=4).recommendation
value: float = calib_host.threshold(scores, y, sensitivity=0.8).value
brier: float = assess(scores, y)["brier"]["value"]
found = calib_host.decide([{"name": "wait", "positive": 9, "negative": 0}], calibrator=calibrator)
rows: int = len(calib_host.assess(scores, y).table)
version: str = calib_host.__version__
proof = calibrator.proof
difference: float = proof.largest_difference if proof is not None else 0.0
'''

WRONG = [
    "calib_host.nope",
    'fit(scores, y, "isotonc")',
    'fit(scores, y, kind="score")',
    'fit(scores, y, reduction="top")',
    'fit("abc", y)',
    "fit(scores, y, bin=4)",
    "calibrator.predit(scores)",
    "calibrator.guarante",
    "calibrator.table.to_fram()",
    'calibrator.assess(scores, y, binning="equal")',
    "compare(scores, y, metod=3)",
    'compare(scores, y, methods=["plat"])',
    'calib_host.calibration_curve(y, scores, strategy="kmeans")',
    "assess(scores, y).tabel",
    "calib_host.threshold(scores, y, sensitivity=0.8).valu",
    'calib_host.decide([{"name": "wait", "positve": 9, "negative": 0}])',
    "calib_host.from_temperature(2.0, 3, tolerence=1)",
    'fit(scores, y, score_encoding=("i9", 1.0, 0))',
]


def mypy(folder):
    pytest.importorskip("mypy", reason="mypy is not installed")
    said = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(folder / "cache"), "right.py", "wrong.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    lines = [line.split(":", 2) for line in said.stdout.splitlines() if ": error:" in line]
    return {(file, int(row)) for file, row, _ in lines}, said.stdout + said.stderr


def pyright(folder):
    # The same checker, in a wheel that needs no download of its own.
    pytest.importorskip("basedpyright", reason="basedpyright is not installed")
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    words = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "right.py", "wrong.py"]
    said = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    found = json.loads(said.stdout[said.stdout.index("{") :])["generalDiagnostics"]
    errors = [one for one in found if one["severity"] == "error"]
    return {(one["file"].rsplit("/")[-1], one["range"]["start"]["line"] + 1) for one in errors}, said.stdout


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_checker_finds_what_is_wrong_and_nothing_else(checker, tmp_path):
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(RIGHT + "\n".join(WRONG) + "\n")
    first = RIGHT.count("\n") + 1
    found, said = checker(tmp_path)
    missed = [line for number, line in enumerate(WRONG, first) if ("wrong.py", number) not in found]
    assert not missed and found == {("wrong.py", first + at) for at in range(len(WRONG))}, (missed, said)


def test_the_package_checks():
    pytest.importorskip("mypy", reason="mypy is not installed")
    words = ["--strict", "--no-warn-return-any", "--allow-subclassing-any", "--ignore-missing-imports", "-p", "calib_host"]
    said = subprocess.run([sys.executable, "-m", "mypy", *words], capture_output=True, text=True)
    assert said.returncode == 0, said.stdout


def test_all_names_are_there():
    import calib_host

    assert sorted(calib_host.__all__) == calib_host.__all__ and set(calib_host.__all__) == set(calib_host._MODULES)
    for name in calib_host.__all__:
        assert getattr(calib_host, name) is not None
