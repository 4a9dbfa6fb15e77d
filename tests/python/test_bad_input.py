"""Bad input is refused with what is wrong, and where."""

import numpy as np
import pytest

import calib_host
from calib_host import CalibError, DataError, UsageError

SCORES = np.linspace(0.01, 0.99, 60)
LABELS = np.arange(60) % 3 == 0


def refused(error, words, scores=SCORES, labels=LABELS, **options):
    with pytest.raises(error) as caught:
        calib_host.fit(scores, labels, options.pop("method", "isotonic"), **options)
    assert words in str(caught.value), caught.value
    assert "--" not in str(caught.value).replace(" -- ", ""), caught.value


def with_value(value, row=7):
    scores = SCORES.copy()
    scores[row] = value
    return scores


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (with_value(np.nan), "row 7"),
        (with_value(np.inf), "row 7"),
        (with_value(1.5), "row 7: the score 1.5 is outside [0, 1]"),
        (with_value(-0.1).astype(np.float32), "row 7"),
        (np.nextafter(1.0, 2.0) * np.ones(60), "row 0: the score 1.0000000000000002 is outside"),
        (with_value(-1e-300), "row 7: the score -1e-300 is outside"),
        ((score for score in SCORES), "scores: a generator is no array: give a list or an array"),
        (map(float, SCORES), "scores: a map is no array"),
        ({"a": 1}, "scores: a dict is no array"),
        (None, "scores: None is no array"),
        (SCORES.tolist() + ["x"], "numbers are needed"),
        (np.array(SCORES.tolist() + ["x"], dtype=object), "row 60: 'x' is no number"),
        ([0.1, None, 0.3], "row 1: None is no number"),
        (np.array(["a", "b"]), "numbers are needed"),
        (SCORES.astype(complex), "numbers are needed"),
        (np.arange(60).astype("datetime64[s]"), "numbers are needed"),
        (np.ma.masked_array(SCORES, SCORES > 0.5), "masked"),
        (SCORES.reshape(2, 30), "(2, 30)"),
        ([], "there are no rows"),
        (SCORES[:5], "5 rows of scores but 60 labels"),
    ],
)
def test_scores(scores, words):
    kind = {"kind": "scores"} if np.ndim(scores) == 2 else {}
    refused(DataError, words, scores=scores, **kind)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.array(["cat"] * 60), "name both classes, class 0 first, with class_names"),
        (np.array(["cat", "dog", "owl"] * 20, dtype=object), "labels are 3 different texts, and there are 2 classes"),
        (np.array(["cat", "dog", None] * 20, dtype=object), "labels, row 2: the label is missing"),
        (np.where(LABELS, 1e300, 0.0), "row 0: class 1e+300 is out of range"),
        ([2**70, 0, 1] * 20, "row 0: class 1.18059e+21 is out of range"),
        (np.where(LABELS, 2, 0), "class 2 is out of range"),
        (np.where(LABELS, 1, -1), "class -1 is out of range"),
        (np.where(LABELS, 1.0, 0.5), "0.5 is no class index"),
        (np.where(LABELS, 1.0, np.nan), "nan is no class index"),
        (np.zeros(60, dtype=int), "all 60 labels are 0"),
        (np.eye(60), "one label a row"),
        (np.ma.masked_array(LABELS, LABELS), "masked"),
    ],
)
def test_labels(labels, words):
    refused(DataError, words, labels=labels)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "umdd"}, "umd"),
        ({"method": "umd", "bins": 0}, "0 bins"),
        ({"bins": 4}, "isotonic chooses its bins itself: leave out bins"),
        ({"alpha": 1.5, "method": "umd", "bins": 2}, "alpha is 1.5"),
        ({"kind": "probabilities"}, "there are"),
        ({"reduction": "top-label"}, "reduction needs a matrix"),
        ({"method": "umd", "bins": 2, "rows_per_bin": 4}, "rows_per_bin"),
        ({"method": "sierpinski"}, "whole vectors"),
    ],
)
def test_options(options, words):
    refused(UsageError, words, **options)


def test_a_matrix_says_what_it_is():
    refused(UsageError, 'kind="logits" or kind="probs"', scores=np.zeros((60, 3)))
    refused(DataError, "row 0", scores=np.zeros((60, 3)), kind="probs", method="temperature")


def test_errors_are_value_errors():
    assert issubclass(CalibError, ValueError)
    assert issubclass(DataError, CalibError) and issubclass(UsageError, CalibError)


def same(scores, labels=LABELS):
    """A calibrator of these is that of plain arrays."""
    calibrator = calib_host.fit(scores, labels, "isotonic")
    assert calibrator == calib_host.fit(SCORES, LABELS, "isotonic")
    np.testing.assert_array_equal(calibrator.predict(scores), calibrator.predict(SCORES))


def test_lists_and_views():
    same(SCORES.tolist(), LABELS.tolist())
    same(np.stack([SCORES, SCORES])[:, ::1][0], np.stack([LABELS, LABELS]).T[:, 0])
    same(np.repeat(SCORES, 2)[::2], np.repeat(LABELS, 2)[::2])
    same(SCORES.reshape(60, 1), LABELS.reshape(60, 1))
    same(SCORES.astype(">f8"))
    same(SCORES, LABELS.astype(np.uint8))
    same(SCORES, LABELS.astype(float))


def test_pandas():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    same(pandas.Series(SCORES), pandas.Series(LABELS))
    same(pandas.Series(SCORES).astype("Float64"), pandas.Series(LABELS).astype("Int64"))
    missing = pandas.Series(SCORES).astype("Float64")
    missing[4] = pandas.NA
    refused(DataError, "scores, row 4: the value is missing", scores=missing)
    refused(DataError, "labels, row 2: the value is missing", labels=pandas.Series([0, 1, None] * 20))


def test_polars_and_arrow():
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    same(polars.Series(SCORES), polars.Series(LABELS))
    same(pyarrow.array(SCORES), pyarrow.array(LABELS.astype(int)))
    same(pyarrow.chunked_array([SCORES[:9], SCORES[9:]]), pyarrow.chunked_array([LABELS.astype(int)]))
    refused(DataError, "row 1: the value is missing", scores=polars.Series([0.1, None, 0.3]))

    class Stream:
        """Nothing but Arrow's C stream interface."""

        def __init__(self, values):
            self.values = pyarrow.table({"values": values})

        def __arrow_c_stream__(self, schema=None):
            return self.values.__arrow_c_stream__(schema)

    same(Stream(SCORES), Stream(LABELS.astype(int)))
    refused(DataError, "row 1: the value is missing", scores=Stream(pyarrow.array([0.1, None, 0.3])))


def test_frames_and_tables():
    """A column each for the classes."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    labels = np.arange(60) % 3
    logits = np.random.default_rng(4).normal(size=(60, 3)) + np.eye(3)[labels]
    fitted = calib_host.fit(logits, labels, "temperature", kind="logits")
    columns = {name: logits[:, i] for i, name in enumerate("abc")}
    for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table):
        assert calib_host.fit(make(columns), labels, "temperature", kind="logits") == fitted, make
        assert calib_host.assess(make({"p": SCORES}), LABELS) == calib_host.assess(SCORES, LABELS), make
    columns["b"] = [None if row == 5 else value for row, value in enumerate(columns["b"])]
    for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table):
        refused(DataError, "row 5", scores=make(columns), labels=labels, method="temperature", kind="logits")


def test_duckdb():
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    rows = duckdb.connect()
    rows.execute("create table rows as select i, (i * 0.98 / 59 + 0.01)::double as score, i % 3 = 0 as label from range(60) t(i)")
    scores = rows.sql("select score from rows order by i")
    expected = calib_host.fit(np.arange(60) * 0.98 / 59 + 0.01, LABELS, "isotonic")
    assert calib_host.fit(scores, rows.sql("select label::int from rows order by i"), "isotonic").n_bins == expected.n_bins
    missing = rows.sql("select case when i = 7 then null else score end from rows order by i")
    refused(DataError, "scores, row 7: the value is missing", scores=missing)
    refused(DataError, "shape (60, 2)", scores=rows.sql("select score, score as again from rows"), kind="scores")


class Torch:
    """As a tensor of torch: `__array__`, which is refused with these words where there is a gradient, or another device."""

    def __init__(self, values, cause=None):
        self.values, self.cause = values, cause

    def __array__(self, dtype=None, copy=None):
        if self.cause is not None:
            raise self.cause
        return self.values if dtype is None else self.values.astype(dtype)


def test_tensors():
    same(Torch(SCORES), Torch(LABELS))
    same(Torch(SCORES.reshape(60, 1)))
    needs = RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    refused(DataError, "scores: Can't call numpy() on Tensor that requires grad", scores=Torch(SCORES, needs))
    there = TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")
    refused(DataError, "labels: can't convert cuda:0", labels=Torch(LABELS, there))


def test_arrays_of_objects():
    same(SCORES.astype(object), LABELS.astype(int).astype(object))
    refused(DataError, "labels, row 2: None is no number", labels=np.array([0, 1, None] * 20, dtype=object))
    refused(DataError, "row 0: [0.1, 0.2] is no number", scores=np.array([[0.1, 0.2], 0.3], dtype=object))


def test_masked_arrays_without_a_mask():
    same(np.ma.masked_array(SCORES, np.zeros(60, bool)), np.ma.masked_array(LABELS))


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "assess", "calibrator.assess", "compare", "threshold", "weights"])
def test_everything_that_takes_numbers_refuses_bad_ones(ask):
    """What is wrong, and in which row."""
    calibrator = calib_host.fit(SCORES, LABELS, "isotonic")
    asked = {
        "predict": lambda scores: calibrator.predict(scores),
        "predict_proba": lambda scores: calibrator.predict_proba(scores),
        "assess": lambda scores: calib_host.assess(scores, LABELS),
        "calibrator.assess": lambda scores: calibrator.assess(scores, LABELS, same_rows=True),
        "compare": lambda scores: calib_host.compare(scores, LABELS, methods=["platt"]),
        "threshold": lambda scores: calib_host.threshold(scores, LABELS, sensitivity=0.5),
        "weights": lambda scores: calib_host.fit(SCORES, LABELS, "isotonic", sample_weight=scores),
    }[ask]
    asked(SCORES)
    for bad, words in [
        (np.ma.masked_array(SCORES, np.arange(60) == 7), "row 7: the value is masked"),
        (np.array([None if row == 7 else score for row, score in enumerate(SCORES)], dtype=object), "row 7"),
        (np.array(["0.5"] * 60), "numbers are needed"),
        (np.stack([SCORES] * 3), {"assess": "3 rows of scores but 60 labels"}.get(ask, "for two classes, give the column of class 1")),
        (with_value(np.nan), "row 7"),
        (with_value(np.nan).astype(np.float32), "row 7"),
        (with_value(-1.5), "row 7"),
        (SCORES[:5], "5"),
    ]:
        if (ask.startswith("predict") and len(bad) == 5) or (ask == "weights" and bad.ndim == 2):
            continue
        with pytest.raises((DataError, UsageError)) as caught:
            asked(bad)
        assert words in str(caught.value), (ask, words, str(caught.value))


def test_labels_of_everything():
    for ask in [lambda y: calib_host.assess(SCORES, y), calib_host.fit(SCORES, LABELS, "isotonic").assess]:
        refuse = (lambda y: ask(SCORES, y)) if ask.__name__ == "assess" else ask
        for labels, words in [
            (np.array(["cat", "dog"] * 30), "labels are text"),
            (np.where(LABELS, 2, 0), "class 2 is out of range, there are 2 classes"),
            (np.where(LABELS, 1, -1), "class -1 is out of range"),
            (LABELS[:7], "7 labels"),
        ]:
            with pytest.raises(DataError) as caught:
                refuse(labels)
            assert words in str(caught.value), caught.value
    for predicted, words in [(np.full(60, -1), "class -1"), (np.full(60, 70_000), "class 70000"), (LABELS[:7], "7 predicted")]:
        with pytest.raises(DataError, match=words):
            calib_host.assess(SCORES, LABELS, predicted=predicted)
    for bins in ([-1] * 60, [2**32] * 60):
        with pytest.raises(DataError, match="bins, row 0: .* is no number of a bin"):
            calib_host.assess(SCORES, LABELS, bins=bins, binning="by-bin")


def test_what_goes_beside_the_labels_has_a_row_for_each():
    calibrator = calib_host.fit(SCORES, LABELS, "isotonic")
    vectors = np.column_stack([1 - SCORES, SCORES])
    few = np.arange(7)
    with pytest.raises(DataError, match="7 bins but 60 labels"):
        calib_host.assess(SCORES, LABELS, bins=few, binning="by-bin")
    for ask in [
        lambda: calib_host.assess(SCORES, LABELS, clusters=few),
        lambda: calib_host.assess(vectors, LABELS, clusters=few),
        lambda: calibrator.assess(SCORES, LABELS, clusters=few),
    ]:
        with pytest.raises(DataError, match="7 clusters but 60 labels"):
            ask()


def test_what_is_said_has_the_names_of_python():
    """Errors and hints name keywords, and no options of the command."""
    cases = [
        ({"method": "umd"}, "umd needs bins or rows_per_bin, such as bins=10"),
        ({"method": "isotonic", "rows_per_bin": 50}, "isotonic chooses its bins itself: leave out rows_per_bin"),
        ({"method": "isotonic", "monitor": True}, "hint: add monitor_bins with a number"),
        ({"method": "vector"}, 'use kind="logits" or kind="probs", without reduction'),
        ({"method": "umd", "bins": 59}, "hint: use bins 1 or fewer"),
    ]
    for options, words in cases:
        with pytest.raises(CalibError) as caught:
            calib_host.fit(SCORES, LABELS, **options)
        assert words in str(caught.value) and "--" not in str(caught.value), str(caught.value)


def test_what_is_assessed_are_probabilities():
    for dtype, words in [(np.float32, "row 3: .*1.5"), (np.float64, "row 3: 1.5 is no probability")]:
        probs = SCORES.astype(dtype)
        probs[3] = 1.5
        with pytest.raises(DataError, match=words):
            calib_host.assess(probs, LABELS)
        with pytest.raises(DataError, match=words):
            calib_host.assess(probs, LABELS, resamples=20)
        with pytest.raises(DataError, match="row 3: 1.5 is no probability"):
            calib_host.calibration_curve(LABELS, probs)
        with pytest.raises(DataError, match="row 3, class 1: 1.5 is no probability"):
            calib_host.assess(np.column_stack([0 * probs, probs]), LABELS)


def test_dlpack():
    class Tensor:
        """Nothing but DLPack, as of a tensor."""

        def __dlpack__(self, **how):
            return SCORES.__dlpack__(**how)

        def __dlpack_device__(self):
            return SCORES.__dlpack_device__()

    same(Tensor())


@pytest.mark.parametrize("missing", [None, float("nan"), np.datetime64("NaT")])
def test_names_that_are_missing_are_no_names(missing):
    names = np.array([missing] * 20 + list(range(40)), dtype=object)
    words = "row 0: the name is missing; 20 of 60 rows have none"
    refused(DataError, f"clusters, {words}", clusters=names)
    with pytest.raises(DataError, match=f"clusters, {words}"):
        calib_host.compare(SCORES, LABELS, clusters=names)
    with pytest.raises(DataError, match=f"groups, {words}"):
        calib_host.threshold(SCORES, LABELS, sensitivity=0.9, groups=names)


def test_scores_of_any_size_are_said_to_be_margins():
    refused(DataError, 'row 0: the score -2.99 is outside [0, 1]; scores of any size are kind="margins"', SCORES - 3)


def misaligned(values):
    """The same numbers at an address that is no multiple of their size."""
    values = np.asarray(values)
    there = np.frombuffer(bytearray(values.nbytes + 3), values.dtype, offset=3)
    there[:] = values
    assert not there.flags.aligned
    return there


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_misaligned_arrays_are_copied(dtype):
    scores, labels = SCORES.astype(dtype), LABELS.astype(np.int64)
    fitted = calib_host.fit(scores, labels, "isotonic")
    assert calib_host.fit(misaligned(scores), misaligned(labels), "isotonic") == fitted
    np.testing.assert_array_equal(fitted.predict(misaligned(scores)), fitted.predict(scores))
    assert calib_host.assess(misaligned(scores), misaligned(labels)) == calib_host.assess(scores, labels)


@pytest.mark.parametrize(
    "ask",
    [
        lambda n: calib_host.plan(n, 10),
        lambda n: calib_host.plan_threshold(sensitivity=0.9, groups=n),
        lambda n: calib_host.assess(SCORES, LABELS, n_bins=n),
        lambda n: calib_host.assess(SCORES, LABELS, resamples=n),
        lambda n: calib_host.calibration_curve(LABELS, SCORES, n_bins=n),
        lambda n: calib_host.compare(SCORES, LABELS, methods=["platt"], folds=n),
        lambda n: calib_host.compare(SCORES, LABELS, methods=["umd"], bins=n),
        lambda n: calib_host.fit(SCORES, LABELS, "umd", bins=n),
        lambda n: calib_host.fit(SCORES, LABELS, "isotonic").predict(SCORES, seed=n),
        lambda n: calib_host.threshold(SCORES, LABELS, sensitivity=0.5, counter=n),
        lambda n: calib_host.from_temperature(2.0, n),
        lambda n: calib_host.from_temperature(2.0, 3, n=n),
    ],
)
@pytest.mark.parametrize("number", [-1, 2.5, "3", np.array([4, 8])])
def test_numbers_are_whole_and_named(ask, number):
    with pytest.raises(UsageError, match=r"[a-z_]+=.*: a whole number from [012] on is expected"):
        ask(number)


def test_numbers_of_numpy_are_numbers():
    assert calib_host.plan(np.int32(1500), np.int64(10)) == calib_host.plan(1500, 10)
    assert calib_host.fit(SCORES, LABELS, "umd", bins=np.int16(2)).n_bins == 2


def test_names_may_come_in_anything():
    expected = calib_host.compare(SCORES, LABELS, methods=["platt"])
    for methods in ("platt", np.array(["platt"]), {"platt"}, (name for name in ["platt"])):
        assert calib_host.compare(SCORES, LABELS, methods=methods) == expected
    with pytest.raises(UsageError, match="methods=3: names are expected"):
        calib_host.compare(SCORES, LABELS, methods=[3])


def test_both_names_of_a_binning():
    found = calib_host.assess(SCORES, LABELS, binning="quantile")
    assert calib_host.assess(SCORES, LABELS, binning=found["binning"]["scheme"]) == found
    for ours, theirs in [("equal-width", "uniform"), ("equal-mass", "quantile")]:
        for one, other in zip(*(calib_host.calibration_curve(LABELS, SCORES, strategy=name) for name in (ours, theirs))):
            np.testing.assert_array_equal(one, other)


def test_files_have_the_exceptions_of_python(tmp_path):
    fitted = calib_host.fit(SCORES, LABELS, "isotonic")
    with pytest.raises(FileNotFoundError) as caught:
        fitted.save(tmp_path / "none/cal.bin")
    assert caught.value.errno and caught.value.filename.endswith("cal.bin")
    with pytest.raises(IsADirectoryError):
        calib_host.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        calib_host.load(bytes(tmp_path / "none.bin"))
    fitted.save(tmp_path / "cal.bin")
    with pytest.raises(UsageError, match='kind=\'foo\': there are "logits" and "probs"'):
        calib_host.load(tmp_path / "cal.bin", kind="foo")
    with pytest.raises(UsageError, match="kind='probs' is for vectors"):
        calib_host.load(tmp_path / "cal.bin", kind="probs")
    for wrong in (lambda: calib_host.Calibrator(b"..."), lambda: calib_host.Calibrator.from_bytes(10**6)):
        with pytest.raises(UsageError):
            wrong()


def test_a_pair_is_a_pair():
    fitted = calib_host.fit(SCORES, LABELS, "isotonic")
    with pytest.raises(UsageError, match=r"test: a pair of scores and labels is expected, such as test=\(scores, y\)"):
        calib_host.compare(SCORES, LABELS, test=SCORES)
    with pytest.raises(UsageError, match="calibration: a pair"):
        calib_host.report(fitted, SCORES, LABELS)
    with pytest.raises(UsageError, match="calibrator is a calib_host.Calibrator, and this is str"):
        calib_host.report("cal.bin", (SCORES, LABELS), (SCORES, LABELS))


def test_names_of_several_types_are_names():
    mixed = np.array([1] * 30 + ["a"] * 30, dtype=object)
    for names in (mixed, mixed.tolist()):
        assert calib_host.fit(SCORES, LABELS, "isotonic", clusters=names).n_points == 2


def test_what_is_to_be_planned_can_be_pasted():
    with pytest.raises(UsageError) as caught:
        calib_host.fit(np.tile(SCORES, 20), np.tile(LABELS, 20), "umd")
    call = "calib_host.plan(n=1200, epsilon=0.1)"
    assert call in str(caught.value) and eval(call)["bins"] > 1
