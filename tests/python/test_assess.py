"""Assessing, comparing, planning, reporting."""

import numpy as np
import pytest

import calib_host
from calib_host import CalibrationWarning, DataError, UsageError


def test_figures_are_those_of_their_definitions(binary):
    scores, labels = binary
    found = calib_host.assess(scores, labels)
    assert found["brier"]["value"] == pytest.approx(np.mean((scores - labels) ** 2), abs=1e-12)
    cells = np.minimum((scores * 15).astype(int), 14)
    ece = sum(abs((scores[cells == c] - labels[cells == c]).sum()) for c in range(15)) / len(labels)
    assert found["conf_ece"]["value"] == pytest.approx(ece, abs=1e-9)
    assert found["clinical"] is not None
    intervals = calib_host.assess(scores, labels, resamples=200, seed=3)
    interval = intervals["brier"]["interval"]
    assert interval["lo"] < found["brier"]["value"] < interval["hi"]


def test_vectors_and_predictions(logits):
    values, labels = logits
    probs = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    found = calib_host.assess(probs, labels)
    rows = np.arange(len(labels))
    assert found["log_loss"]["value"] == pytest.approx(-np.log(probs[rows, labels]).mean(), rel=1e-9)
    top = calib_host.assess(probs.max(axis=1), labels, predicted=probs.argmax(axis=1))
    assert top["accuracy"]["value"] == pytest.approx(np.mean(probs.argmax(axis=1) == labels), abs=1e-12)
    assert top["conf_ece"]["value"] == pytest.approx(found["conf_ece"]["value"], abs=1e-9)


def test_before_and_after(binary, logits):
    scores, labels = binary
    calibrator = calib_host.fit(scores[:1000], labels[:1000], "umd", bins=5)
    both = calibrator.assess(scores[1000:], labels[1000:], binning="by-bin")
    assert both["after"]["brier"]["value"] < both["before"]["brier"]["value"]
    assert both["uncalibrated"] == 0
    values, classes = logits
    for options in [{"reduction": "top-label", "bins": 3}, {"reduction": "class-wise", "bins": 3}, {"method": "temperature"}]:
        options = {"method": "umd", **options}
        calibrator = calib_host.fit(values[:700], classes[:700], kind="logits", **options)
        both = calibrator.assess(values[700:], classes[700:])
        assert both["after"]["brier"]["value"] < both["before"]["brier"]["value"], options


def test_a_curve_is_that_of_its_bins():
    sklearn = pytest.importorskip("sklearn.calibration", reason="scikit-learn is not installed")
    rng = np.random.default_rng(1)
    probs, labels = rng.random(5000), rng.random(5000) < 0.4
    for how in [{"n_bins": 7}, {"n_bins": 10, "strategy": "uniform"}]:
        for ours, theirs in zip(calib_host.calibration_curve(labels, probs, **how), sklearn.calibration_curve(labels, probs, **how)):
            np.testing.assert_allclose(ours, theirs, atol=1e-9)
    words = np.where(labels, "ill", "well")
    ours, _ = calib_host.calibration_curve(words, probs, pos_label="ill")
    np.testing.assert_allclose(ours, calib_host.calibration_curve(labels, probs)[0])
    with pytest.raises(DataError, match="pos_label"):
        calib_host.calibration_curve(words, probs)


def test_labels_of_a_curve():
    probs, labels = [0.1, 0.4, 0.9, 0.9], np.array([0, 1, 1, 1])
    expected = calib_host.calibration_curve(labels, probs, n_bins=2)
    for given, pos_label in [(2 * labels - 1, None), (labels.astype(bool), None), (np.array(["no", "yes"])[labels], "yes")]:
        for ours, theirs in zip(calib_host.calibration_curve(given, probs, pos_label=pos_label, n_bins=2), expected):
            np.testing.assert_array_equal(ours, theirs)
    for given, words in [
        (np.ma.masked_array(labels, [0, 1, 0, 0]), "labels, row 1: the value is masked"),
        ([0, 1, None, 1], "labels, row 2: the label is missing"),
        ([0, 1, 2, 1], "3 different labels"),
        (["no", "yes", "yes", "yes"], "pos_label"),
    ]:
        with pytest.raises(DataError, match=words):
            calib_host.calibration_curve(given, probs, n_bins=2)


def test_rows_without_a_probability_are_left_out(logits):
    """A class that no calibration row is predicted to be has no table."""
    values, labels = logits
    seen = values.argmax(axis=1) != 2
    calibrator = calib_host.fit(values[seen], labels[seen], "umd", kind="logits", reduction="top-label", rows_per_bin=50)
    assert list(calibrator.uncalibrated)
    assert np.isnan(calibrator.predict(values)["prob"]).tolist() == (~seen).tolist()
    with pytest.warns(CalibrationWarning, match="overlap with the calibration data"):
        both = calibrator.assess(values, labels, same_rows=True)
    assert both["uncalibrated"] == (~seen).sum() and both["after"]["n"] == seen.sum()
    with pytest.warns(CalibrationWarning, match="optimistically biased"):
        of_seen = calibrator.assess(values[seen], labels[seen], same_rows=True)
    assert both["before"] == of_seen["before"]
    with pytest.raises(DataError, match="all are uncalibrated"):
        calibrator.assess(values[~seen], labels[~seen])


def test_plans():
    assert calib_host.plan(n=1770, bins=10)["epsilon"] < 0.1 < calib_host.plan(n=1760, bins=10)["epsilon"]
    assert calib_host.plan(bins=10, epsilon=0.1)["n"] == 1770
    assert calib_host.plan(n=1770, epsilon=0.1)["bins"] == 10
    assert calib_host.plan(n=10_000, rows_per_bin=100, classes=10)["divided_among"] == 10
    with pytest.raises(UsageError, match="give two of"):
        calib_host.plan(n=10)
    for alpha in (0.0, 1.0, 5.0, float("nan")):
        with pytest.raises(UsageError, match="alpha is a fraction"):
            calib_host.plan(n=100, bins=2, alpha=alpha)
    with pytest.raises(UsageError, match="1 class at least"):
        calib_host.plan(n=100, rows_per_bin=10, classes=0)


def test_comparisons_recommend(binary):
    scores, labels = binary
    found = calib_host.compare(scores, labels, methods=["umd", "isotonic", "platt"], folds=3, repeats=1)
    assert {one["name"] for one in found["methods"]} == {"umd", "isotonic", "platt"}
    assert found.recommendation in {"umd", "isotonic", "platt"} and found.reason in repr(found)
    judged = calib_host.compare(scores[:1000], labels[:1000], methods=["platt"], test=(scores[1000:], labels[1000:]))
    assert judged["split"]["kind"] == "test"
    with pytest.raises(DataError, match="row 0: "):
        calib_host.compare(scores + 1, labels)
    with pytest.raises(UsageError, match='there is no method "nothing": there are blend, umd, '):
        calib_host.compare(scores, labels, methods=["nothing"])


def test_thresholds_guarantee(binary):
    scores, labels = binary
    found = calib_host.threshold(scores, labels, sensitivity=0.9)
    assert found["operating_points"] and len(found.artifact) > 50
    calibrator = calib_host.fit(scores, labels, "umd", bins=5)
    with pytest.raises(UsageError, match="^counter is required"):
        calib_host.threshold(scores, labels, sensitivity=0.9, calibrator=calibrator)
    beside = calib_host.threshold(scores, labels, sensitivity=0.9, calibrator=calibrator, counter=1)
    assert calib_host.Calibrator.from_bytes(beside.artifact).method == "umd"


def test_thresholds_of_codes(binary):
    scores, labels = binary
    codes = np.round(scores * 255).astype(np.uint8)
    of_codes = {"score_encoding": ("u8", 1 / 255, 0)}
    calibrator = calib_host.fit(codes, labels, "isotonic", **of_codes)
    beside = calib_host.threshold(codes, labels, sensitivity=0.9, calibrator=calibrator, counter=1)
    alone = calib_host.threshold(codes, labels, sensitivity=0.9, **of_codes)
    assert beside["operating_points"] == alone["operating_points"]
    assert calib_host.Calibrator.from_bytes(beside.artifact).takes_codes
    with pytest.raises(DataError, match="codes are integers"):
        calib_host.threshold(scores, labels, sensitivity=0.9, calibrator=calibrator, counter=1)


def test_reports(binary, logits, tmp_path):
    scores, labels = binary
    calibrator = calib_host.fit(scores[:1000], labels[:1000], "umd", bins=5)
    report = calib_host.report(
        calibrator, (scores[:1000], labels[:1000]), (scores[1000:], labels[1000:]), title="A title of ours", bootstrap=50
    )
    assert "A title of ours" in report.html and "<svg" in report.html
    assert report["origin"]["test_is_calibration"] is None and report["guaranteed"]
    assert report["metrics"]["after"]["brier"]["value"] == pytest.approx(
        calibrator.assess(scores[1000:], labels[1000:])["after"]["brier"]["value"]
    )
    assert "srcdoc" in report._repr_html_() and repr(report)
    report.save(tmp_path / "report.html")
    with pytest.raises(FileExistsError, match="force=True"):
        report.save(tmp_path / "report.html")
    report.save(tmp_path / "report.html", force=True)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    # Others may read it where they may read what Python writes, and nothing is left beside it.
    (tmp_path / "plain").touch()
    assert (tmp_path / "report.html").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain", "report.html"]
    with pytest.raises(calib_host.CalibError, match="fitted to"):
        calib_host.report(calibrator, (scores[:1000], labels[:1000]), (scores[:1000], labels[:1000]))
    vectors = calib_host.fit(logits[0][:700], logits[1][:700], "umd", kind="logits", reduction="top-label", bins=3)
    halves = [(logits[0][:700], logits[1][:700]), (logits[0][700:], logits[1][700:])]
    assert "<svg" in calib_host.report(vectors, *halves, bootstrap=50).html


def test_plots(binary):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    scores, labels = binary
    display = calib_host.CalibrationDisplay.from_predictions(labels, scores, n_bins=10, name="as it is")
    rates, means = calib_host.calibration_curve(labels, scores, n_bins=10)
    np.testing.assert_array_equal(display.line_.get_xdata(), means)
    np.testing.assert_array_equal(display.line_.get_ydata(), rates)
    calibrator = calib_host.fit(scores, labels, "umd", bins=5)
    after = calib_host.CalibrationDisplay.from_calibrator(calibrator, scores, labels, ax=display.ax_)
    assert after.ax_ is display.ax_ and len(after.prob_true) <= 5


def test_bins_that_are_given_are_the_groups():
    rng = np.random.default_rng(1)
    # Too low below one half and too high above it: in one group the errors would cancel.
    scores, labels = rng.random(2000), rng.integers(0, 2, 2000)
    bins = (scores > 0.3).astype(int) + 7 * (scores > 0.8)
    found = calib_host.assess(scores, labels, bins=bins, binning="by-bin", norm=1)
    off = [abs(scores[bins == of].mean() - labels[bins == of].mean()) * (bins == of).mean() for of in np.unique(bins)]
    assert found["conf_ece"]["value"] == pytest.approx(sum(off), abs=1e-12)


def test_vectors_are_resampled_by_cluster(logits):
    values, labels = logits
    probs = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    # Every row five times: independent, they would say five times as much.
    many, names = np.repeat(probs, 5, axis=0), np.repeat(np.arange(len(probs)), 5)
    width = {}
    for clusters in (None, names):
        interval = calib_host.assess(many, np.repeat(labels, 5), clusters=clusters, resamples=200)["brier"]["interval"]
        width[clusters is None] = interval["hi"] - interval["lo"]
    assert 1.6 < width[False] / width[True] < 3


def test_a_class_beyond_the_vectors_is_refused():
    with pytest.raises(DataError, match="class 7 is out of range, there are 2 classes"):
        calib_host.assess(np.array([[0.5, 0.5]]), [7])
