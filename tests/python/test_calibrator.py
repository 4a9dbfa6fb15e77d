"""Fitting, saving, predicting, exporting."""

import json
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import command

import calib_host
from calib_host import CalibrationWarning, DataError, MismatchError, UsageError

BINARY_METHODS = {
    "umd": {"bins": 10},
    "umd-original": {"bins": 10},
    "umd-randomized": {"bins": 10},
    "ums": {"bins": 5},
    "fixed-width": {"bins": 10},
    "isotonic": {},
    "isotonic-interpolated": {},
    "scaling-binning": {"bins": 10},
    "platt": {},
    "beta": {},
    "temperature": {},
    "venn-abers": {},
}
REDUCTIONS = ["confidence", "top-label", "class-wise", "normalized", "top-k-label", "top-k-confidence"]
JOINT_METHODS = {
    "temperature": {},
    "vector": {},
    "matrix": {},
    "dirichlet": {},
    "svs": {},
    "sms": {},
    "sierpinski": {"resolution": 1},
    "grid": {"resolution": 2},
    "projection": {"bins": 6},
    "multiclass-irp": {"max_bins": 3},
}


def save(folder, scores, labels):
    np.save(folder / "scores.npy", scores)
    np.save(folder / "labels.npy", labels)


@pytest.mark.parametrize("method", BINARY_METHODS)
def test_every_method_gives_the_bits_of_the_command(method, binary, tmp_path):
    scores, labels = binary
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        calibrator = calib_host.fit(scores, labels, method, **BINARY_METHODS[method])
    assert calibrator.method.startswith(method)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in BINARY_METHODS[method].items()]
    save(tmp_path, scores, labels)
    files = ["--scores", "scores.npy", "--labels", "labels.npy"]
    command(tmp_path, "fit", *files, "--method", method, *options, "-o", "cal.bin")
    theirs = calib_host.load(tmp_path / "cal.bin")
    assert (theirs.method, theirs.n_bins, theirs.n_points) == (calibrator.method, calibrator.n_bins, 2000)
    assert theirs.statement == calibrator.statement
    np.testing.assert_array_equal(theirs.predict(scores).view(np.uint32), calibrator.predict(scores).view(np.uint32))
    # What the command says of the same scores with Python's own artifact.
    calibrator.save(tmp_path / "own.bin")
    command(tmp_path, "apply", "own.bin", "--scores", "scores.npy", "-o", "out.csv")
    rows = (tmp_path / "out.csv").read_text().splitlines()
    column = rows[0].split(",").index("prob")
    printed = np.array([row.split(",")[column] for row in rows[1:]], dtype=np.float32)
    np.testing.assert_array_equal(printed.view(np.uint32), calibrator.predict(scores).view(np.uint32))


def test_the_seed_draws_the_words_of_the_command(binary, tmp_path):
    scores, labels = np.round(binary[0], 1), binary[1]
    calibrator = calib_host.fit(scores, labels, "umd-randomized", bins=7)
    calibrator.save(tmp_path / "cal.bin")
    save(tmp_path, scores, labels)
    said = []
    for seed in (0, 5):
        command(tmp_path, "apply", "cal.bin", "--scores", "scores.npy", "--seed", str(seed), "-o", f"{seed}.csv")
        rows = (tmp_path / f"{seed}.csv").read_text().splitlines()
        column = rows[0].split(",").index("prob")
        printed = np.array([row.split(",")[column] for row in rows[1:]], dtype=np.float32)
        np.testing.assert_array_equal(printed, calibrator.predict(scores, seed=seed))
        np.testing.assert_array_equal(printed, calibrator.predict_proba(scores, seed=seed)[:, 1].astype(np.float32))
        said.append(printed)
    assert (said[0] != said[1]).any()


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("kind", ["logits", "probs"])
def test_every_reduction(reduction, kind, logits):
    values, labels = logits
    if kind == "probs":
        values = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    k = {"k": 2} if reduction.startswith("top-k") else {}
    calibrator = calib_host.fit(values, labels, "umd", kind=kind, reduction=reduction, rows_per_bin=50, **k)
    assert calibrator.reduction.startswith(reduction)
    said = calibrator.predict(values)
    probs = said["prob"] if said.dtype.names else said
    assert ((probs >= 0) & (probs <= 1)).all()
    if said.dtype.names:
        first = said["class"] if said.ndim == 1 else said["class"][:, 0]
        np.testing.assert_array_equal(first, values.argmax(axis=1))
        with pytest.raises(UsageError, match="calibrates predictions"):
            calibrator.predict_proba(values)
    else:
        assert calibrator.predict_proba(values).shape == (1500, 3)


@pytest.mark.parametrize("method", JOINT_METHODS)
def test_every_method_of_vectors(method, logits):
    values, labels = logits
    calibrator = calib_host.fit(values, labels, method, kind="logits", **JOINT_METHODS[method])
    assert (calibrator.reduction, calibrator.guarantee) == ("joint", None)
    probs = calibrator.predict_proba(values)
    np.testing.assert_allclose(probs.sum(axis=1), 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(probs, calibrator.predict(values), rtol=0, atol=1e-6)


def test_a_temperature_halves_logits_that_are_twice_too_large(logits):
    values, labels = logits
    calibrator = calib_host.fit(values, labels, "temperature", kind="logits")
    halved = np.exp(values / 2)
    halved /= halved.sum(axis=1, keepdims=True)
    assert np.abs(calibrator.predict_proba(values) - halved).max() < 0.1


def test_the_guarantee_is_stated_where_there_is_one(binary):
    scores, labels = binary
    calibrator = calib_host.fit(scores, labels, "umd", bins=10, alpha=0.05)
    guarantee = calibrator.guarantee
    assert guarantee.alpha == 0.05
    # What is planned holds whatever the labels; what is fitted is the exact one of these labels.
    planned = calib_host.plan(n=2000, bins=10, alpha=0.05)["epsilon"]
    assert 0.8 * planned < guarantee.epsilon <= planned * (1 + 1e-6)
    assert "95%" in guarantee.sentence and f"{guarantee.epsilon:.4f}" in guarantee.sentence
    assert len(guarantee.assumptions) >= 3 and len(guarantee.limits) >= 3
    assert guarantee.sentence in repr(calibrator)
    for text in (guarantee.sentence, *guarantee.assumptions, *guarantee.limits):
        assert text.replace("'", "&#x27;") in calibrator._repr_html_()
    # By Hoeffding's inequality two points a bin guarantee nothing that is not so anyway.
    assert calib_host.fit(scores[:20], labels[:20], "umd", bins=10, bound="hoeffding").guarantee is None
    none = calib_host.fit(scores, labels, "isotonic")
    assert none.guarantee is None and "Nothing is guaranteed" in none._repr_html_()


@pytest.mark.parametrize("asked", [{"epsilon": 0.2}, {"candidates": 3}, {"alpha_spent": 0.1}])
def test_scores_by_several_classifiers_have_no_guarantee_to_ask_about(asked, binary):
    bins = {} if "epsilon" in asked else {"bins": 4}
    assert calib_host.fit(*binary, "umd", **bins, **asked).guarantee is not None
    with pytest.raises(UsageError, match=f"scores by 5 classifiers have no guarantee: leave out {next(iter(asked))}"):
        calib_host.fit(*binary, "umd", classifiers=5, **bins, **asked)


@pytest.mark.parametrize("classifiers", [0, -1, 2.0, True, "5", 2**32])
def test_the_number_of_classifiers_is_a_number(classifiers, binary):
    with pytest.raises(UsageError, match="classifiers="):
        calib_host.fit(*binary, "umd", bins=4, classifiers=classifiers)


def test_without_a_method_scores_are_blended(binary):
    calibrator = calib_host.fit(*binary)
    assert calibrator.method == "blend" and calibrator.chosen.startswith("chosen: blend")
    assert calibrator.guarantee is None and "the event rate of every score range lies in its interval" in calibrator.statement
    # Monitors count in bins.
    assert calib_host.fit(*binary, monitor=True).chosen.startswith("chosen: umd with 13 bins")


def test_codes_are_calibrated_as_codes():
    rng = np.random.default_rng(3)
    codes = rng.integers(-128, 128, 3000).astype(np.int8)
    labels = rng.random(3000) < (codes.astype(float) + 128) / 256
    calibrator = calib_host.fit(codes, labels, "isotonic", score_encoding=("i8", 1 / 256, -128))
    assert calibrator.takes_codes and calibrator.kind == "scores"
    probs = calibrator.predict(np.arange(-128, 128, dtype=np.int8))
    assert (np.diff(probs) >= 0).all()
    with pytest.raises(DataError, match="codes are integers"):
        calibrator.predict([0.5])
    for beyond in (128, -129, 2**32, -(2**32), 2**63 - 1):
        with pytest.raises(DataError, match="row 1"):
            calibrator.predict([0, beyond])


def test_codes_of_logits_are_calibrated_as_codes(logits):
    values, labels = logits
    codes = np.clip(np.round(values / 0.1), -128, 127).astype(np.int8)
    how = {"score_encoding": ("i8", 0.1, 0), "class_score": "margin"}
    calibrator = calib_host.fit(codes, labels, "umd", kind="logits", reduction="top-label", rows_per_bin=50, **how)
    assert calibrator.takes_codes
    said = calibrator.predict(codes)
    # Of equal codes the first is the predicted class.
    np.testing.assert_array_equal(said["class"], codes.argmax(axis=1))
    of = [np.unique(said["prob"][said["class"] == label]) for label in range(3)]
    assert all(len(probs) > 3 and (0 <= probs).all() and (probs <= 1).all() for probs in of)


def test_margins_are_of_any_size(binary):
    scores, labels = binary
    margins = 30 * (scores - 0.5)
    calibrator = calib_host.fit(margins, labels, "isotonic", kind="margins")
    assert calibrator.kind == "margins" and calibrator.predict([-1e6, 1e6]).tolist() == sorted(
        calibrator.predict([-1e6, 1e6]).tolist()
    )


def test_weights_and_clusters(binary):
    scores, labels = binary
    twice = calib_host.fit(np.r_[scores, scores], np.r_[labels, labels], "isotonic", clusters=np.r_[:2000, :2000])
    assert twice.n_points == 2000
    weighted = calib_host.fit(scores, labels, "isotonic", sample_weight=np.full(2000, 3.0))
    np.testing.assert_array_equal(weighted.predict(scores), calib_host.fit(scores, labels, "isotonic").predict(scores))
    with pytest.raises(UsageError, match="umd counts observations|real weights"):
        calib_host.fit(scores, labels, "umd", bins=3, sample_weight=np.ones(2000))


def test_saved_loaded_and_pickled_it_is_the_same(binary, logits, tmp_path):
    calibrator = calib_host.fit(*binary, "umd", bins=5)
    calibrator.save(tmp_path / "cal.bin")
    with pytest.raises(FileExistsError, match="force=True"):
        calibrator.save(tmp_path / "cal.bin")
    calibrator.save(tmp_path / "cal.bin", force=True)
    for other in (calib_host.load(tmp_path / "cal.bin"), pickle.loads(pickle.dumps(calibrator))):
        assert other == calibrator and hash(other) == hash(calibrator)
        assert bytes(other) == bytes(calibrator)
    vectors = calib_host.fit(*logits, "umd", kind="logits", reduction="top-label", bins=3)
    assert pickle.loads(pickle.dumps(vectors)).predict(logits[0]).tolist() == vectors.predict(logits[0]).tolist()
    vectors.save(tmp_path / "vectors.bin")
    loaded = calib_host.load(tmp_path / "vectors.bin")
    with pytest.raises(UsageError, match="kind="):
        loaded.predict(logits[0])
    assert calib_host.load(tmp_path / "vectors.bin", kind="logits") == vectors


def test_exports_are_those_of_the_command(binary, tmp_path):
    calibrator = calib_host.fit(*binary, "umd", bins=5)
    calibrator.save(tmp_path / "cal.bin")
    command(tmp_path, "export", "cal.bin", "--format", "c", "-o", "cal.h")
    assert calibrator.export_c("calib") == (tmp_path / "cal.h").read_text()
    assert "static CAL:" in calibrator.export_rust()
    with pytest.raises(UsageError):
        calibrator.export_c("1st")


def test_the_wrong_kind_of_scores_is_refused(binary, logits):
    calibrator = calib_host.fit(*binary, "umd", bins=5)
    with pytest.raises(DataError, match="shape"):
        calibrator.predict(logits[0])
    vectors = calib_host.fit(*logits, "temperature", kind="logits")
    with pytest.raises(MismatchError, match="another number of classes"):
        vectors.predict(np.zeros((2, 4)))


def test_importing_takes_no_time():
    code = "import time; t = time.process_time(); import calib_host; print(time.process_time() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    assert min(times) < 0.1, times


def test_the_command_comes_along(tmp_path):
    assert "calib" in command(tmp_path, "--version")
    refused = subprocess.run([sys.executable, "-m", "calib_host", "fit", "no.csv"], capture_output=True, text=True)
    assert refused.returncode == 3 and refused.stderr.startswith("error: cannot read no.csv")
    planned = json.loads(command(tmp_path, "plan", "--n", "1500", "--bins", "10", "--json"))
    assert planned["answer"] == calib_host.plan(n=1500, bins=10)


def test_monitors_are_those_of_the_command(binary, tmp_path):
    scores, labels = binary[0].astype(np.float32), binary[1]
    np.save(tmp_path / "scores.npy", scores)
    np.save(tmp_path / "labels.npy", labels)
    words = "fit --method umd --bins 5 --scores scores.npy --labels labels.npy --monitor --monitor-rarity 50,10000,100 --monitor-action alarm -o cal.bin"
    command(tmp_path, *words.split())
    calibrator = calib_host.fit(scores, labels, "umd", bins=5, monitor=True, monitor_rarity=(50, 10_000, 100), monitor_action="alarm")
    # Only the hash that names the files is another one.
    theirs, plain = calib_host.load(tmp_path / "cal.bin"), calib_host.fit(scores, labels, "umd", bins=5)
    assert len(bytes(calibrator)) == len(bytes(theirs)) > len(bytes(plain))
    np.testing.assert_array_equal(calibrator.predict(scores), theirs.predict(scores))
    calibrator.save(tmp_path / "ours.bin")
    found = [
        json.loads(command(tmp_path, "inspect", name, "--json"))["monitors"] for name in ("ours.bin", "cal.bin")
    ]
    assert found[0] == found[1] and found[0]
    others = np.random.default_rng(4).random(600).astype(np.float32)
    np.save(tmp_path / "others.npy", others)
    words = "fit --method isotonic --scores scores.npy --labels labels.npy --monitor=4 --monitor-scores others.npy -o own.bin"
    command(tmp_path, *words.split())
    options = {"monitor": True, "monitor_bins": 4}
    for scores_there in (others, others.astype(np.float64), list(others)):
        calib_host.fit(scores, labels, "isotonic", monitor_scores=scores_there, **options).save(tmp_path / "their.bin")
        found = [json.loads(command(tmp_path, "inspect", name, "--json"))["monitors"] for name in ("their.bin", "own.bin")]
        assert found[0] == found[1] and found[0]["scores"] == 600
        (tmp_path / "their.bin").unlink()
    # Of scores by the classifiers of folds nothing is guaranteed, and those of the one that is kept can be monitored.
    kept = calib_host.fit(scores, labels, "isotonic", classifiers=5, monitor_scores=others, **options)
    assert kept.guarantee is None and len(bytes(kept)) > len(bytes(calib_host.fit(scores, labels, "isotonic", classifiers=5)))
    with pytest.raises(UsageError, match="leave out monitor"):
        calib_host.fit(scores, labels, "isotonic", classifiers=5, **options)
    with pytest.raises(UsageError, match="go with monitor"):
        calib_host.fit(scores, labels, "isotonic", monitor_scores=others)
    with pytest.raises(UsageError, match="add monitor_bins"):
        calib_host.fit(scores, labels, "isotonic", monitor=True, monitor_scores=others)
    with pytest.raises(DataError, match="^monitor_scores, row 1: "):
        calib_host.fit(scores, labels, "isotonic", monitor_scores=[0.5, np.nan] * 9, **options)
    with pytest.raises(DataError, match="^monitor_scores: "):
        calib_host.fit(scores, labels, "isotonic", monitor_scores=others[:7], **options)
    logits = np.random.default_rng(5).normal(size=(600, 3))
    with pytest.raises(UsageError, match="monitors of several classes compare with the calibration scores"):
        calib_host.fit(logits, labels[:600], kind="logits", monitor_scores=others, monitor=True)
    with pytest.raises(UsageError, match="monitor_action"):
        calib_host.fit(scores, labels, "umd", bins=5, monitor=True, monitor_action="siren")
    with pytest.raises(UsageError, match="monitor_bins"):
        calib_host.fit(scores, labels, "isotonic", monitor=True)
