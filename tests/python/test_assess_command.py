"""That assessing in memory gives what the command gives of files, and is as careful."""

import json
import warnings

import numpy as np
import pytest
from conftest import command

import calib_host
from calib_host import CalibrationWarning, DataError, MismatchError, UsageError

HOW = {
    "as it is": ({}, []),
    "quantile": ({"binning": "quantile", "n_bins": 7, "norm": 1}, ["--binning=equal-mass", "--bins=7", "--norm=1"]),
    "kumar": ({"binning": "equal-mass-kumar", "n_bins": 7}, ["--binning=equal-mass-kumar", "--bins=7"]),
    "by value": ({"binning": "by-value"}, ["--binning=by-value"]),
    "bootstrap": (
        {"resamples": 20, "intervals": "bca", "seed": 3, "alpha": 0.1},
        ["--bootstrap=20", "--bca", "--seed=3", "--alpha=0.1"],
    ),
    "clip": ({"extreme_probs": "clip"}, ["--extreme-probs=clip"]),
}


def softmax(logits):
    """Of float32 logits, rows that sum to one as the device wants it."""
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return probs.astype(np.float32)


def asked(folder, *words):
    return json.loads(command(folder, "assess", *words, "--json"))


def files(folder, kind, scores, labels):
    np.save(folder / "scores.npy", scores)
    np.save(folder / "labels.npy", labels)
    return [f"--{kind}", "scores.npy", "--labels", "labels.npy"]


@pytest.mark.parametrize("how", HOW)
def test_scores_as_they_are(how, binary, tmp_path):
    options, words = HOW[how]
    scores, labels = binary[0].astype(np.float32), binary[1]
    if how == "clip":
        scores[:5] = 1
    expected = asked(tmp_path, *files(tmp_path, "scores", scores, labels), *words)
    assert calib_host.assess(scores, labels, **options) == expected
    # The same numbers in float64, which are kept in another way.
    assert calib_host.assess(scores.astype(np.float64), labels, **options) == expected


@pytest.mark.parametrize("how", HOW)
def test_vectors_as_they_are(how, logits, tmp_path):
    options, words = HOW[how]
    probs, labels = softmax(logits[0]), logits[1]
    expected = asked(tmp_path, *files(tmp_path, "probs", probs, labels), *words, "--top-k=2")
    assert calib_host.assess(probs, labels, top_k=2, **options) == expected


@pytest.mark.parametrize("how", ["as it is", "bootstrap", "by bin"])
@pytest.mark.parametrize("method", ["umd", "umd-randomized", "platt"])
def test_scores_before_and_after(how, method, binary, tmp_path):
    options, words = HOW.get(how, ({"binning": "by-bin"}, ["--binning=by-bin"]))
    # Ties that a randomized method breaks.
    scores, labels = np.round(binary[0], 2).astype(np.float32), binary[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        bins = {"bins": 5} if "umd" in method else {}
        calibrator = calib_host.fit(scores[:1000], labels[:1000], method, **bins)
    calibrator.save(tmp_path / "cal.bin")
    if how == "by bin" and method == "platt":
        with pytest.raises(UsageError, match="needs an artifact that has bins"):
            calibrator.assess(scores[1000:], labels[1000:], **options)
        return
    expected = asked(tmp_path, "cal.bin", *files(tmp_path, "scores", scores[1000:], labels[1000:]), *words)
    for rows in (scores[1000:], scores[1000:].astype(np.float64)):
        assert calibrator.assess(rows, labels[1000:], **options) == expected


@pytest.mark.parametrize("how", ["as it is", "bootstrap"])
def test_margins_before_and_after(how, binary, tmp_path):
    options, words = HOW[how]
    margins, labels = (20 * binary[0] - 10).astype(np.float32), binary[1]
    calibrator = calib_host.fit(margins[:1000], labels[:1000], "isotonic", kind="margins")
    calibrator.save(tmp_path / "cal.bin")
    expected = asked(tmp_path, "cal.bin", *files(tmp_path, "margins", margins[1000:], labels[1000:]), *words)
    found = calibrator.assess(margins[1000:], labels[1000:], **options)
    assert found == expected
    assert set(found["before"]) == {"auc"} and found["after"]["brier"]["value"] < 0.25


@pytest.mark.parametrize("how", ["as it is", "quantile"])
@pytest.mark.parametrize("kind", ["scores", "margins"])
def test_codes_before_and_after(how, kind, binary, tmp_path):
    options, words = HOW[how]
    codes, labels = (binary[0] * 255).astype(np.int64), binary[1]
    what = {"score_encoding": ("u8", 1 / 255 if kind == "scores" else 0.1, 0 if kind == "scores" else 128)}
    calibrator = calib_host.fit(codes[:1000], labels[:1000], "isotonic", kind=kind, **what)
    assert calibrator.takes_codes and calibrator.kind == kind
    calibrator.save(tmp_path / "cal.bin")
    expected = asked(tmp_path, "cal.bin", *files(tmp_path, kind, codes[1000:], labels[1000:]), *words)
    assert calibrator.assess(codes[1000:], labels[1000:], **options) == expected


@pytest.mark.parametrize(("kind", "how"), [("probs", "as it is"), ("logits", "bootstrap")])
@pytest.mark.parametrize("reduction", ["confidence", "top-label", "class-wise", "normalized", "top-k-label", "top-k-confidence", None])
def test_vectors_before_and_after(reduction, kind, how, logits, tmp_path):
    options, words = HOW[how]
    labels = logits[1]
    values = softmax(logits[0]) if kind == "probs" else logits[0].astype(np.float32)
    fitted = {"method": "temperature"}
    if reduction is not None:
        fitted = {"method": "umd", "reduction": reduction, "rows_per_bin": 50}
        fitted |= {"k": 2} if reduction.startswith("top-k") else {}
    calibrator = calib_host.fit(values[:800], labels[:800], kind=kind, **fitted)
    calibrator.save(tmp_path / "cal.bin")
    values, labels = values[800:1100], labels[800:1100]
    expected = asked(tmp_path, "cal.bin", *files(tmp_path, kind, values, labels), *words)
    assert calibrator.assess(values, labels, **options) == expected
    assert "warnings" in expected and "uncalibrated" in expected


@pytest.mark.parametrize("kind", ["probs", "logits"])
def test_vectors_of_codes_before_and_after(kind, logits, tmp_path):
    labels = logits[1]
    what = {"score_encoding": ("i8", 1 / 256, -128), "reduction": "top-label"}
    codes = np.rint(softmax(logits[0]) * 255).astype(np.int64) - 128
    if kind == "logits":
        what |= {"score_encoding": ("i8", 0.1, 0), "class_score": "margin"}
        codes = np.clip(np.rint(logits[0] * 10), -128, 127).astype(np.int64)
    calibrator = calib_host.fit(codes[:800], labels[:800], "umd", kind=kind, rows_per_bin=50, **what)
    calibrator.save(tmp_path / "cal.bin")
    expected = asked(tmp_path, "cal.bin", *files(tmp_path, kind, codes[800:], labels[800:]))
    assert calibrator.assess(codes[800:], labels[800:]) == expected
    other = calib_host.from_temperature(2.0, classes=4)
    with pytest.raises(MismatchError, match="vectors of 4 (classes|logits)"):
        other.assess(logits[0][800:], labels[800:])


def test_clusters_and_groups(binary, tmp_path):
    scores, labels = binary[0].astype(np.float32), binary[1]
    calibrator = calib_host.fit(scores[:1000], labels[:1000], "umd", bins=5)
    calibrator.save(tmp_path / "cal.bin")
    scores, labels = scores[1000:], labels[1000:]
    clusters, groups = np.arange(1000) // 3, np.where(np.arange(1000) % 3 == 0, "old", "young")
    rows = zip(scores.tolist(), labels, clusters, groups)
    table = "\n".join(["score,label,patient,age", *(f"{score!r},{label},{patient},{age}" for score, label, patient, age in rows)])
    (tmp_path / "rows.csv").write_text(table + "\n")
    files = ["--scores", "rows.csv", "--cluster-column=patient"]
    expected = asked(tmp_path, *files, "--bootstrap=20")
    assert calib_host.assess(scores, labels, clusters=clusters, resamples=20) == expected and expected["clusters"] == 334
    expected = asked(tmp_path, *files, "--group-column=age")
    found = calib_host.assess(scores, labels, clusters=clusters, groups=groups)
    assert found == expected and [one["group"] for one in found["groups"]["groups"]] == ["old", "young"]
    assert calibrator.assess(scores, labels, clusters=clusters, groups=groups) == asked(
        tmp_path, "cal.bin", *files, "--group-column=age"
    )
    for beside in ("clusters", "groups"):
        with pytest.raises((UsageError, DataError), match=f"999 {beside}"):
            calibrator.assess(scores, labels, **{beside: groups[1:]})
    with pytest.raises(DataError, match="groups, row 1: the name is missing"):
        calib_host.assess(scores, labels, groups=["old", None, *groups[2:]])


def test_thresholds_beside_a_calibrator_are_assessed(binary, tmp_path):
    scores, labels = binary[0].astype(np.float32), binary[1]
    calibrator = calib_host.fit(scores[:1000], labels[:1000], "umd", bins=5)
    beside = calib_host.threshold(scores[:1000], labels[:1000], sensitivity=0.9, calibrator=calibrator, counter=1)
    beside.save(tmp_path / "cal.bin")
    found = calib_host.load(tmp_path / "cal.bin").assess(scores[1000:], labels[1000:])
    assert found == asked(tmp_path, "cal.bin", *files(tmp_path, "scores", scores[1000:], labels[1000:]))
    assert found["operating_points"]


def test_prediction_sets_beside_a_calibrator_are_judged(binary, tmp_path):
    scores, labels = binary[0].astype(np.float32), binary[1]
    words = files(tmp_path, "scores", scores[:1000], labels[:1000])
    command(tmp_path, "fit", *words, "--method=isotonic", "-o", "cal.bin")
    command(tmp_path, "sets", *words, "--calibrator", "cal.bin", "--counter=1", "-o", "both.bin")
    found = calib_host.load(tmp_path / "both.bin").assess(scores[1000:], labels[1000:])
    assert found == asked(tmp_path, "both.bin", *files(tmp_path, "scores", scores[1000:], labels[1000:]))
    assert found["prediction_sets"]["alone"]


FITTED = {
    "scores": {"method": "isotonic"},
    "margins": {"method": "isotonic"},
    "codes": {"method": "isotonic", "score_encoding": ("u8", 1 / 255, 0)},
    "probs": {"method": "umd", "reduction": "top-label", "rows_per_bin": 50},
    "logits": {"method": "temperature"},
}


@pytest.mark.parametrize("kind", FITTED)
def test_rows_of_the_fit_are_refused(kind, binary, logits, tmp_path):
    """Every figure would be optimistically biased."""
    of_codes = kind == "codes"
    scores, labels = logits if kind in ("probs", "logits") else binary
    scores = {"probs": softmax(logits[0]), "codes": (binary[0] * 255).astype(int)}.get(kind, scores)
    calibrator = calib_host.fit(scores, labels, kind="scores" if of_codes else kind, **FITTED[kind])
    with pytest.raises(DataError, match=r"the rows that the artifact was fitted to(.|\n)*same_rows continues"):
        calibrator.assess(scores, labels)
    # In another order they are the same.
    with pytest.raises(DataError, match="fitted to"):
        calibrator.assess(scores[::-1], labels[::-1])
    calibrator.save(tmp_path / "cal.bin")
    with pytest.raises(DataError, match="fitted to"):
        calib_host.load(tmp_path / "cal.bin", kind if kind in ("probs", "logits") else None).assess(scores, labels)
    with pytest.warns(CalibrationWarning, match="optimistically biased"):
        same = calibrator.assess(scores, labels, same_rows=True)
    assert same["after"]
    # All but one are nearly the same.
    with pytest.raises(DataError, match="nearly all of these rows are rows that the artifact was fitted to"):
        calibrator.assess(scores[1:], labels[1:])


def test_an_imported_calibrator_is_fitted_to_no_rows_that_it_tells(binary):
    calibrator = calib_host.from_temperature(2.0, classes=2, kind="probs")
    rows = np.column_stack([1 - binary[0], binary[0]])
    assert calibrator.assess(rows, binary[1])["after"]


def test_harm_and_contradicted_guarantees_are_warned_of(binary):
    """Of a calibrator that was fitted to turned labels."""
    scores, labels = binary
    turned = calib_host.fit(scores[:1000], 1 - labels[:1000], "umd", bins=5)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = turned.assess(scores[1000:], labels[1000:])
    sentences = [str(one.message) for one in told]
    kinds = [one["kind"] for one in found["evidence"]]
    assert kinds == ["worse", "contradicted-guarantee", "mixed", "turned"] and len(sentences) == 4
    assert all(one.category is CalibrationWarning and one.filename == __file__ for one in told)
    for words in ("worse than the scores", "is significantly more than", "reverses the order of the scores"):
        assert any(words in sentence for sentence in sentences), words
    # By rows, which the other options need.
    with pytest.warns(CalibrationWarning, match="worse than the scores"):
        assert turned.assess(scores[1000:], labels[1000:], binning="by-bin")["evidence"] == found["evidence"]
    fair = calib_host.fit(scores[:1000], labels[:1000], "beta")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fair.assess(scores[1000:], labels[1000:])["evidence"] == []


def test_rows_that_do_not_look_independent_are_questioned(binary, tmp_path):
    scores, labels = (np.repeat(array[:300], 4) for array in binary)
    with pytest.warns(CalibrationWarning, match="name the patient with clusters"):
        found = calib_host.assess(scores.astype(np.float32), labels)
    assert found["warnings"]
    words = files(tmp_path, "scores", scores.astype(np.float32), labels)
    expected = asked(tmp_path, *words)
    # The same sentence, in the words of Python.
    expected["warnings"] = [warning.replace("--cluster-column", "clusters") for warning in expected["warnings"]]
    assert found == expected


def test_options_that_make_no_sense(binary):
    for options, told in [
        ({"binning": "other"}, "equal-mass-kumar"),
        ({"n_bins": 0}, "at least 1"),
        ({"norm": 0.5}, "a norm is"),
        ({"alpha": 1.0}, "alpha is a fraction"),
        ({"intervals": "other"}, "percentile"),
        ({"extreme_probs": "other"}, "leave-out"),
        ({"top_k": 0}, "at least 1"),
        ({"top_k": 2}, "needs a matrix"),
        ({"binning": "by-bin"}, "needs the bins"),
    ]:
        with pytest.raises(UsageError, match=told):
            calib_host.assess(*binary, **options)
    with pytest.raises(TypeError, match="other"):
        calib_host.assess(*binary, other=1)


def test_a_warning_that_is_an_error_stops(binary):
    scores, labels = binary
    turned = calib_host.fit(scores[:1000], 1 - labels[:1000], "umd", bins=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CalibrationWarning)
        with pytest.raises(CalibrationWarning):
            turned.assess(scores[1000:], labels[1000:])
