"""The page of the book runs, from its first line to its last."""

import re
from pathlib import Path

import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

PAGE = Path(__file__).parents[2] / "docs/src/python.md"


@pytest.mark.filterwarnings("ignore::calib_host.CalibrationWarning")
def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= 8
    names: dict = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    assert "With probability 90 %" in printed and "scores compared: probabilities differ by" in printed
    assert names["both"]["after"]["n"] == len(names["test"])
    assert "<svg" in (tmp_path / "report.html").read_text()
    assert "cal_calibrate" in (tmp_path / "cal.h").read_text()
    assert (tmp_path / "cal.bin").read_bytes() == names["calibrator"].to_bytes()
    assert names["taken"].proof.largest_difference < 1e-6
