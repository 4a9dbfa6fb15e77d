"""The page of the book runs, from its first line to its last, and its picture is the one in the book.

`UPDATE_BOOK=1` writes the picture anew. What asks an emulated device runs where `CALIB_DEVICE` names the program that starts one.
"""

import ast
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
pytest.importorskip("matplotlib", reason="matplotlib, which draws the page's pictures, is not installed")
pytest.importorskip("ai_edge_litert", reason="ai-edge-litert, which runs the page's network, is not installed")

import matplotlib.image
import networks
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import calib_host

NOTEBOOK = Path(__file__).parents[2] / "docs/src/python/tutorial.ipynb"
PAGE = Path(__file__).parents[2] / "docs/src/python.md"
PICTURE = PAGE.parent / "python/curves.png"
DEVICE = os.environ.get("CALIB_DEVICE")


def write_network(path):
    """The network of the page: an int8 one of the features that its model was fitted to, scaled as they are there."""
    X, y = load_breast_cancer(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, test_size=0.6, random_state=0)
    X = StandardScaler().fit_transform(X)
    model = LogisticRegression().fit(X, y)
    path.write_bytes(networks.dense(model.coef_, model.intercept_, X, networks.LOGISTIC))


@pytest.mark.filterwarnings("ignore::calib_host.CalibrationWarning")
def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    write_network(tmp_path / "network.tflite")
    fence = "(?:,device)?" if DEVICE else ""
    blocks = re.findall(rf"```python{fence}\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= (13 if DEVICE else 12)
    names: dict = {"DEVICE": DEVICE}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    assert "With at least 90% probability" in printed and "scores compared: probabilities differ by" in printed
    rows = len(names["test"])
    # The example gains, and the one that does not says so.
    both, worse = names["both"], names["worse"]
    assert both["after"]["n"] == rows and round(both["before"]["brier"]["value"], 2) == 0.12
    assert round(both["after"]["brier"]["value"], 2) == 0.07 and not both["evidence"]
    assert worse["after"]["brier"]["value"] > 2 * worse["before"]["brier"]["value"] and worse["evidence"]
    assert "Take " in printed and names["calibrator"].class_names == ("0-4", "5-9") and "class 1 (5-9)" in names["report"].html
    assert not DEVICE or f"{rows} answers, {rows} of them to the bits of predict" in printed
    assert "<svg" in (tmp_path / "report.html").read_text()
    picture = (tmp_path / "curves.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    if os.environ.get("UPDATE_BOOK") == "1":
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_bytes(picture)
    drawn, shown = (matplotlib.image.imread(path) for path in (tmp_path / "curves.png", PICTURE))
    # Edges may be smoothed otherwise elsewhere; a line in another place is more than that.
    assert drawn.shape == shown.shape and (np.abs(drawn - shown).max(axis=2) > 0.2).mean() < 0.0005
    assert [line.get_label() for line in names["curves"].ax_.get_lines()] == ["Perfectly calibrated", "model", "umd"]
    assert "cal_calibrate" in (tmp_path / "cal.h").read_text()
    assert (tmp_path / "cal.bin").read_bytes() == names["calibrator"].to_bytes()
    # The int8 network is the model but for its rounding.
    codes, labels = names["codes"][:, 0], names["y_test"]
    assert np.abs((codes.astype(float) + 128) / 256 - names["model"].predict_proba(names["X_test"])[:, 1]).max() < 0.1
    assert names["same"] == names["quantized"] and names["quantized"].encoding.startswith("i8")
    assert calib_host.load(tmp_path / "codes.bin").predict(codes).tolist() == names["quantized"].predict(codes).tolist()
    assert ((names["quantized"].predict(codes) - labels) ** 2).mean() < 0.1
    assert names["taken"].proof.largest_difference < 1e-6


def test_the_notebook_runs(tmp_path, monkeypatch):
    """Every cell runs, and what it ends with shows itself."""
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict = {}
    shown = []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(NOTEBOOK), "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)
            shown.append(value._repr_html_())
    assert len(shown) >= 6 and all("<table>" in html or "<svg" in html or "<iframe" in html for html in shown)
    assert any("1 = 5-9" in html for html in shown) and any("Take " in html for html in shown)
