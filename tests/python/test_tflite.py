"""Calibrators of the codes that TFLite networks give, with the interpreter itself."""

import warnings

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert", reason="ai-edge-litert, which runs TFLite networks, is not installed")

import networks
from networks import LOGISTIC, SOFTMAX, interpreter

import calib_host
from calib_host import CalibrationWarning, DataError, UsageError, from_tflite, tflite_codes
from calib_host._native import code_range

FEATURES = 6


@pytest.fixture(scope="module")
def data():
    """Rows, and labels of which the networks' weights are too sure."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, FEATURES))
    return X, (rng.random(1500) < 1 / (1 + np.exp(-(X @ WEIGHTS) / 2))).astype(int)


@pytest.fixture(scope="module")
def several():
    """Rows of four classes, and a network with a softmax."""
    rng = np.random.default_rng(5)
    X, weights = rng.normal(size=(1500, FEATURES)), rng.normal(size=(4, FEATURES))
    probs = np.exp(X @ weights.T)
    probs /= probs.sum(axis=1, keepdims=True)
    y = (probs.cumsum(axis=1) < rng.random((1500, 1))).sum(axis=1)
    return X, y, weights


WEIGHTS = np.array([2.0, -1.5, 1.0, 0.5, -0.5, 0.25])


def codes_by_hand(content, X):
    """The codes of an int8 network, row by row, with its own input quantized by its own operator."""
    network = interpreter(content)
    network.allocate_tensors()
    (first,), (last,) = network.get_input_details(), network.get_output_details()
    quantizer = interpreter(networks.quantizes(X.shape[1], first["quantization"], np.int8, as_codes=False))
    quantizer.allocate_tensors()
    codes = []
    for row in X.astype(np.float32):
        quantizer.set_tensor(quantizer.get_input_details()[0]["index"], row[np.newaxis])
        quantizer.invoke()
        network.set_tensor(first["index"], quantizer.get_tensor(quantizer.get_output_details()[0]["index"]))
        network.invoke()
        codes.append(network.get_tensor(last["index"])[0])
    return np.array(codes)


def test_the_codes_are_those_of_the_interpreter(data):
    X, y = data
    content = networks.dense(WEIGHTS, 0.1, X, LOGISTIC)
    by_hand = codes_by_hand(content, X)
    assert by_hand.dtype == np.int8 and len(np.unique(by_hand)) > 100
    np.testing.assert_array_equal(tflite_codes(interpreter(content), X), by_hand)
    calibrator = from_tflite(interpreter(content), X, y, "isotonic")
    direct = calib_host.fit(by_hand[:, 0], y, "isotonic", score_encoding=("i8", 1 / 256, -128))
    assert calibrator == direct and calibrator.takes_codes and calibrator.warnings == direct.warnings
    # They are better than what the network says.
    said = (by_hand[:, 0].astype(float) + 128) / 256
    assert ((calibrator.predict(by_hand[:, 0]) - y) ** 2).mean() < ((said - y) ** 2).mean() - 0.005


@pytest.mark.parametrize("zero_point", [-128, -3, 0, 127])
def test_rows_are_quantized_as_the_networks_own_operator_quantizes(zero_point):
    how = (0.25, zero_point)
    # Halves of a step, the floats beside them, and what is beyond the ends.
    halves = (np.arange(-300, 300) / 2 * how[0]).astype(np.float32)
    X = np.concatenate([halves, np.nextafter(halves, np.float32(np.inf)), np.nextafter(halves, np.float32(-np.inf))])
    X = np.stack([X, -X], axis=1)
    theirs = tflite_codes(interpreter(networks.quantizes(2, how, np.int8, as_codes=False)), X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        ours = tflite_codes(interpreter(networks.quantizes(2, how, np.int8, as_codes=True)), X)
    np.testing.assert_array_equal(ours, theirs)


def test_a_network_of_bytes_and_one_of_several_rows_at_a_time(data):
    X, y = data
    plain = from_tflite(interpreter(networks.dense(WEIGHTS, 0.1, X, LOGISTIC)), X, y, "umd", bins=5)
    assert plain.encoding.startswith("i8")
    bytes_ = from_tflite(interpreter(networks.dense(WEIGHTS, 0.1, X, LOGISTIC, dtype=np.uint8)), X, y, "umd", bins=5)
    codes = np.arange(-128, 128)
    np.testing.assert_array_equal(bytes_.predict(codes + 128), plain.predict(codes))
    # 1500 rows are no multiple of 7.
    assert from_tflite(interpreter(networks.dense(WEIGHTS, 0.1, X, LOGISTIC, rows=7)), X, y, "umd", bins=5) == plain


def test_rows_may_be_codes_already(data):
    X, y = data
    content = networks.dense(WEIGHTS, 0.1, X, LOGISTIC)
    scale, zero_point = networks.quantization(X)
    codes = np.clip(np.round(X / scale) + zero_point, -128, 127).astype(np.int8)
    network = interpreter(content)
    network.allocate_tensors()
    network.set_tensor(network.get_input_details()[0]["index"], codes[:1])
    network.invoke()
    first = network.get_tensor(network.get_output_details()[0]["index"])
    assert tflite_codes(interpreter(content), codes)[0] == first[0]
    assert from_tflite(interpreter(content), codes, y, "platt").n_points == 1500


def test_of_two_outputs_the_second_is_class_1(data):
    X, y = data
    content = networks.dense(np.stack([-WEIGHTS / 2, WEIGHTS / 2]), [0.0, 0.0], X, SOFTMAX)
    calibrator = from_tflite(interpreter(content), X, y, "isotonic")
    codes = tflite_codes(interpreter(content), X)
    assert codes.shape == (1500, 2)
    direct = calib_host.fit(codes[:, 1], y, "isotonic", score_encoding=("i8", 1 / 256, -128))
    assert calibrator == direct
    both = from_tflite(interpreter(content), X, y, "isotonic", kind="probs", reduction="confidence")
    assert both.reduction == "confidence" and both.n_classes == 2


def test_several_classes(several):
    X, y, weights = several
    content = networks.dense(weights, np.zeros(4), X, SOFTMAX)
    calibrator = from_tflite(interpreter(content), X, y, "umd", reduction="top-label", rows_per_bin=50)
    codes = tflite_codes(interpreter(content), X)
    how = {"score_encoding": ("i8", 1 / 256, -128)}
    direct = calib_host.fit(codes, y, "umd", kind="probs", reduction="top-label", rows_per_bin=50, **how)
    assert calibrator == direct and calibrator.n_classes == 4
    said = calibrator.predict(codes)
    np.testing.assert_array_equal(codes[np.arange(1500), said["class"]], codes.max(axis=1))
    chosen = from_tflite(interpreter(content), X, y)
    assert chosen.reduction == "top-label" and "by blend" in chosen.chosen
    with pytest.raises(UsageError, match='choose reduction="confidence" or top-label'):
        from_tflite(interpreter(content), X, y, reduction="class-wise")


def test_margins_and_logits(data, several):
    X, y = data
    content = networks.dense(WEIGHTS, 0.1, X)
    with pytest.raises(UsageError, match='is no probability: its codes stand for -.* Say kind="margins"'):
        from_tflite(interpreter(content), X, y)
    calibrator = from_tflite(interpreter(content), X, y, "platt", kind="margins")
    assert calibrator.kind == "margins" and calibrator.takes_codes
    X, y, weights = several
    content = networks.dense(weights, np.zeros(4), X)
    with pytest.raises(UsageError, match='do not sum to 1. If they are logits say kind="logits"'):
        from_tflite(interpreter(content), X, y, "isotonic", reduction="top-label")
    how = {"kind": "logits", "reduction": "top-label", "class_score": "margin"}
    assert from_tflite(interpreter(content), X, y, "isotonic", **how).n_classes == 4
    for kind in ("scores", "margins"):
        with pytest.raises(UsageError, match="is of one score a row"):
            from_tflite(interpreter(content), X, y, kind=kind)


def test_two_sigmoids_are_no_two_classes(data):
    X, y = data
    content = networks.dense(np.stack([WEIGHTS, WEIGHTS[::-1]]), [0.0, 0.0], X, LOGISTIC)
    with pytest.raises(UsageError, match="do not sum to 1"):
        from_tflite(interpreter(content), X, y)


def test_networks_without_codes_are_refused(data):
    X, y = data
    floats = interpreter(networks.dense(WEIGHTS, 0.1, X, LOGISTIC, floats=True))
    with pytest.raises(UsageError, match="output 'floats' is of type float32, so there are no codes: .*calib_host.fit"):
        from_tflite(floats, X, y)
    with pytest.raises(UsageError, match="so there are no codes"):
        tflite_codes(floats, X)
    network = interpreter(networks.dense(WEIGHTS, 0.1, X, LOGISTIC))
    none = {"scales": np.float32([]), "zero_points": np.array([], dtype=int), "quantized_dimension": 0}
    with pytest.raises(UsageError, match="of type int8 and has no scale, so there are no codes"):
        from_tflite(Told(network, "output", quantization_parameters=none), X, y)
    two = interpreter(networks.dense(WEIGHTS, 0.1, X, LOGISTIC, outputs=("logits", "last")))
    with pytest.raises(UsageError, match=r"2 outputs \('logits', 'probs'\)"):
        from_tflite(two, X, y)
    with pytest.raises(TypeError, match="str has no allocate_tensors"):
        from_tflite("network.tflite", X, y)


class Told:
    """An interpreter of which other things are told than it is."""

    def __init__(self, network, side, **details):
        self.network, self.side, self.details = network, side, details

    def __getattr__(self, name):
        told = getattr(self.network, name)
        if name != f"get_{self.side}_details":
            return told
        return lambda: [{**each, **self.details} for each in told()]


def test_a_scale_a_channel_and_maps_are_refused(data):
    X, y = data
    network = interpreter(networks.dense(WEIGHTS, 0.1, X, LOGISTIC))
    scales = {"scales": np.float32([0.1, 0.2]), "zero_points": np.array([0, 0]), "quantized_dimension": 1}
    with pytest.raises(UsageError, match="output 'probs' has 2 scales, one a channel"):
        from_tflite(Told(network, "output", quantization_parameters=scales), X, y)
    with pytest.raises(UsageError, match="one vector of scores is needed"):
        from_tflite(Told(network, "output", shape=np.array([1, 4, 4])), X, y)
    with pytest.raises(UsageError, match="one vector of scores is needed"):
        from_tflite(Told(network, "output", shape=np.array([3, 1])), X, y)


class NeverRun(Told):
    """An interpreter of which nothing but its details is to be asked."""

    def __init__(self, network):
        super().__init__(network, "no")

    def invoke(self):
        pytest.fail("the network was run before its rows and labels were looked at")


def with_value(X, value):
    X = X.copy()
    X[3, 1] = value
    return X


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (X[:, :4], y), r"X has the shape \(1500, 4\): the network's input 'features' takes \(n, 6\)"),
        (lambda X, y: (X[0], y[:1]), r"X has the shape \(6,\)"),
        (lambda X, y: (X[:-1], y), "X has 1499 rows, and there are 1500 labels"),
        (lambda X, y: (with_value(X, np.nan), y), "X, row 3: nan is no finite number"),
        (lambda X, y: (X.astype(str), y), "numbers are needed"),
        (lambda X, y: (X, np.where(y == 1, 2, 0)), "class 2 is out of range, there are 2 classes"),
        (lambda X, y: (X, np.array(["sick", "well", "dead"])[np.arange(len(y)) % 3]), "labels are 3 different texts"),
        (lambda X, y: (X[:0], y[:0]), "there are no rows"),
    ],
)
def test_rows_and_labels_of_no_use(change, words, data):
    network = interpreter(networks.dense(WEIGHTS, 0.1, data[0], LOGISTIC))
    with pytest.raises(DataError, match=words):
        from_tflite(NeverRun(network), *change(*data), "isotonic")


def test_rows_that_were_scaled_otherwise_are_warned_of(data):
    X, y = data
    content = networks.dense(WEIGHTS, 0.1, X, LOGISTIC)
    with pytest.warns(CalibrationWarning, match="of the values in X .*% are outside of -.* which is what the network's input"):
        calibrator = from_tflite(interpreter(content), 50 * X, y, "isotonic")
    assert any("outside of" in told for told in calibrator.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CalibrationWarning)
        assert from_tflite(interpreter(content), X, y, "isotonic").warnings == ()


def test_codes_that_stand_for_more_than_one_are_no_probabilities():
    for codes, outputs, is_prob in [([0, 16], 1, False), ([-1, 4], 1, False), ([0, 8], 1, True), ([0, 16, 4, 4], 2, False)]:
        lowest, highest, found = code_range(np.array(codes), outputs, 0.125, 0)
        assert (found, lowest, highest) == (is_prob, 0.125 * min(codes), 0.125 * max(codes))
