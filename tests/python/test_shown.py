"""Results show themselves: as text, as HTML, and as frames of pandas; classes keep their names."""

import pickle
from html import unescape

import numpy as np
import pytest

pytest.importorskip("pandas", reason="pandas, for frames, is not installed")

import calib_host
from calib_host import DataError, Rows, UsageError

pytestmark = pytest.mark.filterwarnings("ignore::calib_host.CalibrationWarning")
NAMES = ["benign", "malignant"]


@pytest.fixture
def fitted(binary):
    return calib_host.fit(binary[0][:1000], binary[1][:1000], "umd", bins=5)


def test_the_table_is_what_a_device_looks_up(fitted, binary):
    table = fitted.table
    assert table.columns == ("from", "to", "value", "low", "high", "rows") and len(table) == 5
    assert (table[0]["from"], table[-1]["to"]) == (0.0, 1.0) and sum(table.column("rows")) == 1000
    scores = binary[0][:1000].astype(np.float32)
    for row in table:
        start = np.float32(row["from"])
        assert fitted.predict([start])[0] == np.float32(row["value"]) and row["low"] <= row["value"] <= row["high"]
        inside = (scores >= start) & ((scores < np.float32(row["to"])) | (row["to"] == 1.0))
        assert inside.sum() == row["rows"]
    frame = table.to_frame()
    assert frame.shape == (5, 6) and frame["value"].tolist() == table.column("value")
    loaded = calib_host.Calibrator.from_bytes(bytes(fitted))
    # An artifact does not store numbers of rows.
    assert loaded.table.column("rows") == [None] * 5 and loaded.table.column("value") == table.column("value")
    assert pickle.loads(pickle.dumps(fitted)).table == table


@pytest.mark.parametrize("method", [None, "platt", "isotonic", "isotonic-interpolated"])
def test_functions_have_a_row_for_each_range(method, binary):
    fitted = calib_host.fit(*binary, method)
    table = fitted.table
    assert len(table) > 5 and sum(table.column("rows")) == 2000 and None not in table.column("low")
    middle = [(row["from"] + row["to"]) / 2 for row in table]
    np.testing.assert_allclose(fitted.predict(middle), table.column("value"), atol=2e-7)


def test_tables_of_margins_codes_and_classes(binary, logits):
    margins = calib_host.fit(10 * binary[0], binary[1], "umd", bins=3, kind="margins").table
    assert margins[0]["from"] == -np.inf and margins[-1]["to"] == np.inf
    codes = (binary[0] * 255).astype(int) - 128
    coded = calib_host.fit(codes, binary[1], "umd", bins=3, score_encoding=("i8", 1 / 256, -128))
    assert sum(coded.table.column("rows")) == 2000
    for row in coded.table[1:]:
        assert coded.predict([int(row["from"])])[0] == np.float32(row["value"])
    several = calib_host.fit(*logits, "umd", kind="logits", reduction="class-wise", rows_per_bin=300, class_names=["a", "b", "c"])
    assert several.table.columns[0] == "table"
    assert list(dict.fromkeys(several.table.column("table"))) == ["class 0 (a)", "class 1 (b)", "class 2 (c)"]
    for calibrator in (coded, several):
        assert "<polyline" in calibrator._repr_html_()


def test_a_calibrator_shows_its_curve_and_its_guarantee(fitted):
    html = fitted._repr_html_()
    assert html.count("<polyline") == 1 and html.count("<rect") == 6 and "nan" not in html
    assert fitted.guarantee.sentence in unescape(html) and "requirements" in html
    # The picture has every step.
    points = html.split('<polyline points="')[1].split('"')[0].split()
    heights = {point.split(",")[1] for point in points}
    assert len(heights) == 5
    many = calib_host.from_temperature(2.0, 3)
    assert "<svg" not in many._repr_html_() and len(many.table) == 0


def test_a_comparison_has_every_row(binary):
    found = calib_host.compare(*binary, methods=["umd", "platt"], bins=4, folds=2)
    table = found.table
    assert table.column("method") == ["unchanged scores", *(one["name"] for one in found["methods"])]
    umd = next(row for row in table if row["method"] == "umd")
    there = next(one for one in found["methods"] if one["name"] == "umd")
    assert (umd["brier"], umd["low"]) == (there["loss"]["value"], there["loss"]["interval"]["lo"])
    assert (umd["epsilon"], umd["bytes"]) == (there["epsilon"], there["len_bytes"]) and umd["change high"] < 0
    assert repr(found).startswith(f"Take {found.recommendation}: ") and "unchanged scores" in repr(found)
    assert f"<strong>Take {found.recommendation}" in found._repr_html_() and found.to_frame().shape == (3, 9)


def test_a_comparison_may_recommend_nothing():
    rng = np.random.default_rng(0)
    scores = rng.random(3000)
    found = calib_host.compare(scores, rng.random(3000) < scores, methods=["umd"], bins=2, folds=2)
    assert found.recommendation is None and repr(found).startswith("Leave the scores unchanged: ")


def test_an_assessment_is_a_table(fitted, binary):
    found = calib_host.assess(*binary)
    assert found.table.columns == ("metric", "value", "low", "high")
    frame = found.to_frame().set_index("metric")
    assert frame.loc["Brier score", "value"] == found["brier"]["value"] and len(repr(found).splitlines()) < 12
    both = fitted.assess(binary[0][1000:], binary[1][1000:], resamples=50)
    frame = both.to_frame().set_index("metric")
    assert frame.loc["Brier score", "after"] == both["after"]["brier"]["value"]
    assert frame.loc["Brier score", "change low"] == both["change"]["brier"]["interval"]["lo"]
    assert both.sentences and both.sentences[0] in unescape(both._repr_html_()) and both.sentences[0] in repr(both)
    vectors = calib_host.assess(np.column_stack([1 - binary[0], binary[0]]), binary[1])
    assert "Brier score" in vectors.table.column("metric")


def test_a_threshold_is_a_number(binary):
    scores, labels = binary[0].astype(np.float32), binary[1]
    found = calib_host.threshold(scores, labels, sensitivity=0.9)
    positives = scores[labels == 1]
    assert f"a score of {found.value} or more" in found["sentences"][0]
    assert (positives >= np.float32(found.value)).sum() == found.table[0]["alarms of class 1"]
    assert found.to_frame().shape == (1, 6) and found.sentences[0] in unescape(found._repr_html_())
    codes = (scores * 255).astype(int) - 128
    coded = calib_host.threshold(codes, labels, specificity=0.9, score_encoding=("i8", 1 / 256, -128))
    assert coded.value == int(coded.value) and f"a code of {int(coded.value)} or more" in coded.sentences[0]
    groups = calib_host.threshold(scores, labels, sensitivity=0.8, groups=np.where(np.arange(2000) % 2, "a", "b"))
    assert groups.table.column("group") == ["a", "b"]
    with pytest.raises(UsageError, match=r"every group has its own threshold \(a, b\)"):
        groups.value


def test_sets_prevalences_and_decisions_show_themselves(fitted, binary):
    found = calib_host.sets(*binary, alpha=0.2)
    assert [row["rows"] for row in found.table] == np.bincount(binary[1]).tolist()
    made = calib_host.adjust(fitted, 0.1, counter=1)
    assert len(made.table) == 5 and made["statement"] in repr(made)
    wait, treat = {"name": "wait", "positive": 9, "negative": 0}, {"name": "treat", "positive": 0, "negative": 1, "alarm": True}
    rule = calib_host.decide([wait, treat]).table
    assert rule.column("action") == ["wait", "treat"] and rule[0]["up to"] == rule[1]["above"]


def test_rows_are_a_sequence():
    rows = Rows(["name", "n", "share"], [{"name": "a", "n": 1200, "share": 0.5}, {"name": "<b>", "n": 3}])
    assert rows[1] == {"name": "<b>", "n": 3, "share": None} and rows[:1] == [rows[0]]
    assert repr(rows).splitlines() == ["name      n  share", "a     1,200    0.5", "<b>       3"]
    assert "&lt;b&gt;" in rows._repr_html_()
    many = Rows(["n"], [{"n": n} for n in range(1000)])
    assert len(many.to_frame()) == 1000 and len(repr(many).splitlines()) == 43 and "1000 rows" in many._repr_html_()


def test_classes_keep_their_names(binary, tmp_path):
    scores, labels = binary
    text = np.array(NAMES)[labels]
    plain = calib_host.fit(scores[:1000], labels[:1000], "umd", bins=5)
    for y in (text, text.tolist(), text.astype(object)):
        named = calib_host.fit(scores[:1000], y[:1000], "umd", bins=5)
        assert named == plain and named.class_names == tuple(NAMES)
    assert calib_host.fit(scores[:1000], labels[:1000], "umd", bins=5, class_names=NAMES).class_names == tuple(NAMES)
    # Names that are given set the order, which may be another one.
    turned = calib_host.fit(1 - scores[:1000], text[:1000], "umd", bins=5, class_names=NAMES[::-1])
    np.testing.assert_allclose(turned.predict(1 - scores), 1 - named.predict(scores), atol=0.2)
    assert "classes: 0 = benign, 1 = malignant" in repr(named) and "1 = malignant" in named._repr_html_()
    assert pickle.loads(pickle.dumps(named)).class_names == tuple(NAMES)
    named.save(tmp_path / "cal.bin")
    assert calib_host.load(tmp_path / "cal.bin").class_names is None
    loaded = calib_host.load(tmp_path / "cal.bin", class_names=NAMES)
    assert loaded.class_names == tuple(NAMES)
    test = (scores[1000:], text[1000:])
    assert loaded.assess(*test)["after"] == plain.assess(scores[1000:], labels[1000:])["after"]
    page = calib_host.report(loaded, (scores[:1000], text[:1000]), test)
    assert "class 1 (malignant)" in page.html and "class 1 (malignant)" not in calib_host.report(
        plain, (scores[:1000], labels[:1000]), (scores[1000:], labels[1000:])
    ).html
    made = calib_host.threshold(*test, sensitivity=0.8, calibrator=loaded, counter=1)
    assert "class 1 (malignant)" in made.sentences[0] and made.calibrator.class_names == tuple(NAMES)
    with pytest.raises(DataError, match="row 0: there is no class 'other': the classes are benign, malignant"):
        loaded.assess(scores[1000:], ["other"] * 1000)


@pytest.mark.parametrize("names", ["ab", ["a"], ["a", "a"], [1, 2]])
def test_names_of_classes_that_are_none(names, binary):
    with pytest.raises(UsageError, match="class_names"):
        calib_host.fit(*binary, "umd", bins=5, class_names=names)
