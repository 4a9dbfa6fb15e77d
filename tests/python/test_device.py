"""What `predict` gives are the bits that an emulated Cortex-M4F answers.

`CALIB_DEVICE` names the program that starts one: `device-costs`, as `cargo xtask verify` builds it.
"""

import os
import subprocess

import numpy as np
import pytest

import calib_host

DEVICE = os.environ.get("CALIB_DEVICE")
pytestmark = [
    pytest.mark.skipif(DEVICE is None, reason="CALIB_DEVICE names no program that emulates a device: `cargo xtask verify` does"),
    pytest.mark.filterwarnings("ignore::calib_host.CalibrationWarning"),
]
#: What the emulated device takes for its classifier.
CLASSIFIER = b"stand-in".hex()
ROWS = 2000


def answers(calibrator, kind, rows, folder):
    """The classes and the probabilities that the device answers, a row for each."""
    calibrator.save(folder / "cal.bin", force=True)
    np.ascontiguousarray(rows, dtype="<f4" if rows.dtype.kind == "f" else "<i4").tofile(folder / "rows")
    words = [DEVICE, "answers", folder / "cal.bin", kind, folder / "rows"]
    lines = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    assert len(lines) == len(rows)
    pairs = [[pair.split(":") for pair in line.split()] for line in lines]
    bits = np.array([[0x7FC00000 if bits == "-" else int(bits, 16) for _, bits in row] for row in pairs], dtype=np.uint32)
    return np.array([[int(of) for of, _ in row] for row in pairs]), bits.view(np.float32)


def same_bits(ours, theirs):
    """NaN is one value here: the device says that there is no probability."""
    assert ours.dtype == theirs.dtype == np.float32 and ours.shape == theirs.shape
    there = ~np.isnan(ours)
    np.testing.assert_array_equal(np.isnan(theirs), ~there)
    np.testing.assert_array_equal(theirs[there].view(np.uint32), ours[there].view(np.uint32))
    # All the same would agree with nearly anything.
    assert len(np.unique(ours[there])) > 2


def scores_and_labels():
    rng = np.random.default_rng(12)
    scores = rng.beta(0.5, 0.5, ROWS).astype(np.float32)
    return scores, (rng.random(ROWS) < scores**2).astype(int)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("umd", {"bins": 10}),
        ("umd", {"bins": 10, "table": "u16"}),
        ("fixed-width", {"bins": 40}),
        ("isotonic", {}),
        ("isotonic-interpolated", {}),
        ("platt", {}),
        ("beta", {}),
        ("temperature", {}),
        ("venn-abers", {}),
    ],
)
def test_scores(method, options, tmp_path):
    scores, labels = scores_and_labels()
    calibrator = calib_host.fit(scores[:500], labels[:500], method, classifier_id=CLASSIFIER, **options)
    asked = np.concatenate([scores, np.float32([0, 1e-40, 1e-7, 0.5, 1 - 2**-24, 1])])
    of, theirs = answers(calibrator, "score", asked, tmp_path)
    assert (of == 1).all()
    same_bits(calibrator.predict(asked), theirs[:, 0])


@pytest.mark.parametrize(("method", "options"), [("umd", {"bins": 10}), ("isotonic", {}), ("platt", {})])
def test_margins(method, options, tmp_path):
    scores, labels = scores_and_labels()
    margins = (40 * scores - 20).astype(np.float32)
    calibrator = calib_host.fit(margins[:500], labels[:500], method, kind="margins", classifier_id=CLASSIFIER, **options)
    asked = np.concatenate([margins, np.float32([-3e38, -1e9, -0.0, 0, 1e9, 3e38])])
    same_bits(calibrator.predict(asked), answers(calibrator, "margin", asked, tmp_path)[1][:, 0])


@pytest.mark.parametrize(
    ("encoding", "dtype", "scale", "zero_point"),
    [("i8", np.int8, 1 / 256, -128), ("u8", np.uint8, 1 / 256, 0), ("i16", np.int16, 1 / 65536, -32768)],
)
def test_codes(encoding, dtype, scale, zero_point, tmp_path):
    scores, labels = scores_and_labels()
    ends = np.iinfo(dtype)
    codes = np.clip(np.round(scores / scale) + zero_point, ends.min, ends.max).astype(dtype)
    how = {"score_encoding": (encoding, scale, zero_point)}
    calibrator = calib_host.fit(codes, labels, "isotonic", classifier_id=CLASSIFIER, **how)
    asked = np.arange(ends.min, ends.max + 1, max(1, (ends.max - ends.min) // 1000)).astype(dtype)
    same_bits(calibrator.predict(asked), answers(calibrator, "code", asked, tmp_path)[1][:, 0])


@pytest.mark.parametrize(
    "options",
    [
        {"method": "umd", "reduction": "top-label", "rows_per_bin": 50},
        {"method": "isotonic", "reduction": "confidence"},
        {"method": "isotonic", "reduction": "class-wise"},
        {"method": "beta", "reduction": "normalized"},
        {"method": "isotonic", "reduction": "top-k-label", "k": 2},
        {"method": "temperature"},
        {"method": "dirichlet"},
        {"method": "multiclass-irp", "max_bins": 4},
    ],
    ids=lambda options: "-".join(str(options[name]) for name in ("method", "reduction") if name in options),
)
def test_logits(options, logits, tmp_path):
    values, labels = logits
    values = values.astype(np.float32)
    calibrator = calib_host.fit(values, labels, kind="logits", classifier_id=CLASSIFIER, **options)
    of, theirs = answers(calibrator, "logits", values, tmp_path)
    ours = calibrator.predict(values)
    if ours.dtype.names:
        np.testing.assert_array_equal(of, ours["class"].reshape(of.shape))
        ours = ours["prob"].reshape(of.shape)
    same_bits(np.ascontiguousarray(ours), theirs)


def test_vectors_of_codes(logits, tmp_path):
    values, labels = logits
    probs = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    codes = np.clip(np.round(probs * 256) - 128, -128, 127).astype(np.int8)
    how = {"score_encoding": ("i8", 1 / 256, -128)}
    calibrator = calib_host.fit(
        codes, labels, "isotonic", kind="probs", reduction="top-label", classifier_id=CLASSIFIER, **how
    )
    of, theirs = answers(calibrator, "codes", codes, tmp_path)
    ours = calibrator.predict(codes)
    np.testing.assert_array_equal(of[:, 0], ours["class"])
    same_bits(np.ascontiguousarray(ours["prob"]), theirs[:, 0])


def test_what_the_artifacts_of_others_became(tmp_path):
    isotonic = pytest.importorskip("sklearn.isotonic", reason="scikit-learn is not installed")
    scores, labels = scores_and_labels()
    taken = calib_host.from_sklearn(isotonic.IsotonicRegression(out_of_bounds="clip").fit(scores[:300], labels[:300]))
    same_bits(taken.predict(scores), answers(taken, "score", scores, tmp_path)[1][:, 0])
