"""That thresholds, sets, other prevalences and plans in memory are those of the command, which reads files."""

import json

import numpy as np
import pytest
from conftest import command

import calib_host
from calib_host import CalibrationWarning, DataError, MismatchError, UsageError


def files(folder, kind, scores, labels):
    np.save(folder / "scores.npy", scores)
    np.save(folder / "labels.npy", labels)
    return [f"--{kind}", "scores.npy", "--labels", "labels.npy", "-o", "out.bin", "--force"]


def asked(folder, *words):
    """What the command says, without where it wrote to."""
    said = json.loads(command(folder, *words, "--json", "--quiet"))
    return {name: value for name, value in said.items() if name not in ("output", "identity")}


def told(found):
    return {name: value for name, value in found.items() if name != "identity"}


def test_thresholds_are_those_of_the_command(binary, tmp_path):
    scores, labels = binary[0].astype(np.float32), binary[1]
    words = files(tmp_path, "scores", scores, labels)
    expected = asked(tmp_path, "threshold", *words, "--sensitivity=0.9", "--specificity=0.8", "--prevalence=0.2")
    found = calib_host.threshold(scores, labels, sensitivity=0.9, specificity=0.8, prevalence=0.2)
    assert told(found) == expected
    margins = 20 * scores - 10
    expected = asked(tmp_path, "threshold", *files(tmp_path, "margins", margins, labels), "--specificity=0.9")
    assert told(calib_host.threshold(margins, labels, kind="margins", specificity=0.9)) == expected


def test_thresholds_of_clusters_and_groups(binary, tmp_path):
    scores, labels = binary[0].astype(np.float32), binary[1]
    clusters, groups = np.arange(2000) // 2, np.where(np.arange(2000) % 3 == 0, "old", "young")
    rows = zip(scores.tolist(), labels, clusters, groups)
    table = ["score,label,patient,age", *(f"{score!r},{label},{patient},{age}" for score, label, patient, age in rows)]
    (tmp_path / "rows.csv").write_text("\n".join(table) + "\n")
    words = ["threshold", "--scores=rows.csv", "--cluster-column=patient", "--group-column=age", "--sensitivity=0.9", "-o", "out.bin", "--force"]
    expected = asked(tmp_path, *words, "--seed=3", "--common-threshold")
    found = calib_host.threshold(
        scores, labels, sensitivity=0.9, clusters=clusters, groups=groups, seed=3, common_threshold=True
    )
    assert told(found) == expected and len(found["groups"]) == 2


def test_thresholds_that_cannot_be(binary):
    scores, labels = binary
    for options, error, words in [
        ({}, UsageError, "neither a sensitivity nor a specificity"),
        ({"sensitivity": 1.0}, UsageError, "the sensitivity is 1.0"),
        ({"sensitivity": 0.9999}, DataError, "29956 positives are needed, there are"),
        ({"sensitivity": 0.9, "score_encoding": "u8"}, UsageError, "a type, a scale and a zero point"),
        ({"sensitivity": 0.9, "classifier_id": "xy"}, UsageError, "16 hex digits"),
        ({"sensitivity": 0.9, "groups": ["a"] * 5}, UsageError, "2000 rows of scores but 5 groups"),
    ]:
        with pytest.raises(error, match=words):
            calib_host.threshold(scores, labels, **options)
    with pytest.raises(TypeError, match="other"):
        calib_host.threshold(scores, labels, other=1)
    margins = calib_host.fit(20 * scores - 10, labels, "isotonic", kind="margins")
    with pytest.raises(MismatchError, match="the thresholds are for"):
        calib_host.threshold(scores, labels, kind="scores", sensitivity=0.9, calibrator=margins, counter=1)


def test_sets_are_those_of_the_command(binary, logits, tmp_path):
    values, labels = logits[0].astype(np.float32), logits[1]
    words = files(tmp_path, "logits", values, labels)
    expected = asked(tmp_path, "sets", *words, "--alpha=0.2", "--by-class", "--confidence=0.9", "--class-score=margin")
    found = calib_host.sets(values, labels, kind="logits", alpha=0.2, by_class=True, confidence=0.9, class_score="margin")
    assert told(found) == expected
    scores, labels = binary[0].astype(np.float32), binary[1]
    calibrator = calib_host.fit(scores, labels, "umd", bins=5)
    calibrator.save(tmp_path / "cal.bin")
    words = files(tmp_path, "scores", scores, labels)
    expected = asked(tmp_path, "sets", *words, "--calibrator=cal.bin", "--counter=2", "--never-empty")
    found = calib_host.sets(scores, labels, calibrator=calibrator, counter=2, never_empty=True)
    assert told(found) == expected
    assert found.calibrator.method == "umd" and found.artifact == (tmp_path / "out.bin").read_bytes()
    found.save(tmp_path / "saved.bin")
    with pytest.raises(FileExistsError, match="force=True"):
        found.save(tmp_path / "saved.bin")


def test_a_class_that_sets_leave_out_is_warned_of():
    rng = np.random.default_rng(3)
    probs = rng.dirichlet([20, 5, 1], 2000)
    labels = np.array([rng.choice(3, p=row) for row in probs])
    with pytest.warns(calib_host.CalibrationWarning, match="for all classes together, and does not hold for classes 1, 2"):
        found = calib_host.sets(probs, labels, kind="probs")
    assert found["missed_classes"] == [1, 2] and len(found["warnings"]) == 1


def test_scores_that_are_labels_are_warned_of(binary):
    labels = binary[1]
    with pytest.warns(calib_host.CalibrationWarning, match="is its label"):
        calib_host.threshold(labels.astype(float), labels, sensitivity=0.8)


def test_what_is_doubtful_about_a_comparison_or_a_report_is_warned_of():
    rng = np.random.default_rng(0)
    scores = rng.random(600)
    labels = (rng.random(600) < scores).astype(int)
    with pytest.warns(CalibrationWarning, match="is its label"):
        calib_host.compare(labels.astype(float), labels, methods=["umd", "platt"], bins=4, folds=2)
    half = len(scores) // 2
    fitted_to, turned = (scores[:half], labels[:half]), (1 - scores[half:], labels[half:])
    with pytest.warns(CalibrationWarning, match="Higher scores go with class 0"):
        page = calib_host.report(calib_host.fit(*fitted_to, "isotonic"), fitted_to, turned)
    assert any("Higher scores" in warning for warning in page["warnings"])


def test_sets_that_cannot_be(binary):
    scores, labels = binary
    for options, words in [
        ({"alpha": 0.0}, "the alpha is 0.0"),
        ({"class_score": "margin"}, 'class_score is for kind="logits" and kind="probs": a binary score is compared unchanged'),
        ({"class_score": "other"}, 'there is no class score "other": there are softmax and margin'),
    ]:
        with pytest.raises(UsageError, match=words):
            calib_host.sets(scores, labels, **options)


def test_another_prevalence_is_that_of_the_command(binary, tmp_path):
    scores, labels = binary[0].astype(np.float32), binary[1]
    calibrator = calib_host.fit(scores[:1000], labels[:1000], "umd", bins=5)
    calibrator.save(tmp_path / "cal.bin")
    np.save(tmp_path / "others.npy", scores[1000:])
    words = ["adjust", "cal.bin", "--counter=2", "-o", "out.bin", "--force"]
    for options, asked_for in [
        ({"prevalence": 0.05}, ["--prevalence=0.05"]),
        ({"prevalence": 0.05, "calibration_prevalence": 0.3}, ["--prevalence=0.05", "--calibration-prevalence=0.3"]),
        ({"estimate_from": scores[1000:]}, ["--estimate-from=others.npy"]),
        (
            {"prevalence": 0.05, "monitor_scores": scores[1000:], "monitor_bins": 4},
            ["--prevalence=0.05", "--monitor=4", "--monitor-scores=others.npy"],
        ),
    ]:
        found = calib_host.adjust(calibrator, counter=2, **options)
        assert told(found) == asked(tmp_path, *words, *asked_for), options
        assert found.artifact == (tmp_path / "out.bin").read_bytes()
    for options, error, words in [
        ({}, UsageError, "give either prevalence or estimate_from"),
        ({"prevalence": 2.0}, UsageError, "2.0: it must lie between 0 and 1"),
        ({"prevalence": 0.1, "monitor_bins": 4}, UsageError, "go with monitor_bins"),
    ]:
        with pytest.raises(error, match=words):
            calib_host.adjust(calibrator, counter=2, **options)
    with pytest.raises(UsageError, match="^counter is required"):
        calib_host.adjust(calibrator, 0.1)
    imported = calib_host.from_temperature(2.0, classes=3)
    with pytest.raises(MismatchError, match="prevalence is about two classes"):
        calib_host.adjust(imported, 0.1, counter=1)


ACTIONS = [
    {"name": "discharge", "positive": 10, "negative": 0, "alarm": False},
    {"name": "refer", "positive": 2, "negative": 2, "alarm": True, "abstain": True},
]


def test_decisions_are_those_of_the_command(binary, tmp_path):
    scores, labels = binary[0].astype(np.float32), binary[1]
    calibrator = calib_host.fit(scores[:1000], labels[:1000], "isotonic")
    calibrator.save(tmp_path / "cal.bin")
    costs = ['uncalibrated = "refer"']
    for action in ACTIONS:
        costs += ["[[action]]", *(f"{name} = {json.dumps(value)}" for name, value in action.items())]
    (tmp_path / "costs.toml").write_text("\n".join(costs) + "\n")
    np.save(tmp_path / "scores.npy", scores[1000:])
    np.save(tmp_path / "labels.npy", labels[1000:])
    words = ["decide", "cal.bin", "--actions=costs.toml", "--scores=scores.npy", "--labels=labels.npy", "-o", "out.bin", "--force"]
    expected = asked(tmp_path, *words)
    found = calib_host.decide(ACTIONS, scores[1000:], labels[1000:], calibrator=calibrator, uncalibrated="refer")
    assert dict(found) == {name: value for name, value in expected.items() if name not in ("evidence", "flaws", "warnings")}
    assert found.artifact == (tmp_path / "out.bin").read_bytes()
    asked(tmp_path, *words, "--counter=9")
    counted = calib_host.decide(
        ACTIONS, scores[1000:], labels[1000:], calibrator=calibrator, uncalibrated="refer", counter=9
    )
    assert counted.artifact == (tmp_path / "out.bin").read_bytes() != found.artifact
    with pytest.raises(DataError, match=r"fitted to(.|\n)*same_rows continues"):
        calib_host.decide(ACTIONS, scores[:1000], labels[:1000], calibrator=calibrator)
    assert calib_host.decide(ACTIONS, scores[:1000], labels[:1000], calibrator=calibrator, same_rows=True)["fitted_to_labeled_rows"]
    # Without a calibrator scores are probabilities.
    plain = calib_host.decide(ACTIONS, [0.1, 0.9, float("nan")], uncalibrated="refer")
    assert (plain["n"], plain["uncalibrated_rows"], plain.artifact) == (2, 1, b"")
    by = [calib_host.decide([{**ACTIONS[0], "if_sure": by}, ACTIONS[1]])["actions"][0]["if_sure"] for by in (False, True, "band")]
    assert by == [False, True, "band"]
    for actions, options, error, words in [
        (ACTIONS[:1], {}, UsageError, ""),
        ([{"name": "a"}, *ACTIONS], {}, UsageError, "'negative' is not there"),
        ([{**ACTIONS[0], "if_sure": "sure"}, ACTIONS[1]], {}, UsageError, "it is True, False or"),
        ([{**ACTIONS[0], "above": 0.5}, ACTIONS[1]], {}, UsageError, "some actions state an interval"),
        (ACTIONS, {"scores": [1.5]}, DataError, "row 0: 1.5 is no probability"),
        (ACTIONS, {"delta": 0.0}, UsageError, "delta is 0"),
    ]:
        with pytest.raises(error, match=words):
            calib_host.decide(actions, **options)


@pytest.fixture
def alone(monkeypatch):
    """Nothing else is run."""

    def refuse(*words, **options):
        raise AssertionError(f"{words} is run")

    return lambda: monkeypatch.setattr("subprocess.Popen", refuse)


def test_comparisons_are_those_of_the_command(binary, logits, tmp_path, alone):
    scores, labels = binary[0].astype(np.float32), binary[1]
    clusters = np.arange(2000) // 2
    words = files(tmp_path, "scores", scores, labels)[:4]
    np.save(tmp_path / "clusters.npy", clusters)
    expected = asked(tmp_path, "compare", *words, "--methods=umd,isotonic,platt,beta", "--bins=5", "--folds=3", "--repeats=1")
    clustered = asked(tmp_path, "compare", *words, "--clusters=clusters.npy", "--methods=umd", "--repeats=1", "--seed=3", "--metric=log-loss")
    values, classes = logits[0].astype(np.float32), logits[1]
    for name, rows in [("all", slice(None)), ("test", slice(700, None)), ("fit", slice(700))]:
        np.save(tmp_path / f"{name}-logits.npy", values[rows])
        np.save(tmp_path / f"{name}-classes.npy", classes[rows])
    of_classes = asked(
        tmp_path, "compare", "--logits=fit-logits.npy", "--labels=fit-classes.npy", "--test=test-logits.npy",
        "--test-labels=test-classes.npy", "--claim=top-label", "--reductions=top-label", "--methods=umd,isotonic,temperature",
        "--rows-per-bin=100",
    )  # fmt: skip
    alone()
    found = calib_host.compare(scores, labels, methods=["umd", "isotonic", "platt", "beta"], bins=5, folds=3, repeats=1)
    assert dict(found) == expected
    found = calib_host.compare(scores, labels, clusters=clusters, methods=["umd"], repeats=1, seed=3, metric="log-loss")
    assert dict(found) == clustered
    found = calib_host.compare(
        values[:700], classes[:700], kind="logits", test=(values[700:], classes[700:]), claim="top-label",
        reductions=["top-label"], methods=["umd", "isotonic", "temperature"], rows_per_bin=100,
    )  # fmt: skip
    assert dict(found) == of_classes


def test_comparisons_that_cannot_be(binary, logits):
    scores, labels = binary
    values, classes = logits
    for rows, options, error, words in [
        ((scores, labels), {"claim": "top-label"}, UsageError, 'claim needs a matrix: kind="logits" or kind="probs" instead of'),
        ((scores, labels), {"methods": ["vector"]}, UsageError, "vector calibrates whole vectors"),
        ((scores, labels), {"rows_per_bin": 50}, UsageError, "reductions and rows_per_bin need a matrix"),
        ((scores[:3], labels[:3]), {}, UsageError, "3 observations are fewer than the 5 folds: choose fewer with folds"),
        ((scores, labels), {"folds": 1}, UsageError, "folds is 1"),
        ((scores, labels), {"metric": "l2"}, UsageError, 'there is no metric "l2"'),
        ((scores, labels), {"test": (scores, labels)}, DataError, "the rows that every method is fitted to"),
        ((values, classes, ), {"kind": "logits", "reductions": ["top-k-label"]}, UsageError, 'reductions="top-k-label" is not compared'),
        ((values, classes), {"kind": "logits", "test": (values[:, :2], classes % 2)}, MismatchError, "2 classes in place of"),
    ]:
        with pytest.raises(error, match=words):
            calib_host.compare(*rows, **options)
    found = calib_host.compare(scores, labels, test=(scores, labels), methods=["platt"], same_rows=True)
    assert found["split"]["kind"] == "test"


def test_reports_are_those_of_the_command(binary, logits, tmp_path, alone):
    scores, labels = binary[0].astype(np.float32), binary[1]
    rounded = (np.round(scores * 16) / 16).astype(np.float32)
    codes = np.round(scores * 255).astype(np.int64)
    values, classes = logits[0].astype(np.float32), logits[1]
    of_codes = {"score_encoding": ("u8", 1 / 255, 0)}
    cases = [
        (scores, labels, {"method": "umd", "bins": 5}, []),
        # Random words are drawn in the order of the rows.
        (rounded, labels, {"method": "umd-randomized", "bins": 5}, []),
        (20 * scores - 10, labels, {"method": "platt", "kind": "margins"}, []),
        (codes, labels, {"method": "isotonic", **of_codes}, []),
        (values, classes, {"method": "umd", "kind": "logits", "reduction": "top-label", "bins": 3}, ["--logits"]),
    ]
    expected = []
    for number, (rows, truth, options, words) in enumerate(cases):
        half = len(rows) // 2
        calibrator = calib_host.fit(rows[:half], truth[:half], **options)
        calibrator.save(tmp_path / f"{number}.bin")
        for name, part in [("fit", slice(half)), ("test", slice(half, None))]:
            np.save(tmp_path / f"{name}.npy", rows[part])
            np.save(tmp_path / f"{name}-labels.npy", truth[part])
        words = [*words, "--calibration=fit.npy", "--calibration-labels=fit-labels.npy", "--test=test.npy", "--test-labels=test-labels.npy"]
        said = asked(tmp_path, "report", f"{number}.bin", *words, "--bootstrap=20", "--title=Ward 3", "--seed=5", "--bins=8")
        expected.append((calibrator, [(rows[:half], truth[:half]), (rows[half:], truth[half:])], said))
    alone()
    for calibrator, halves, said in expected:
        found = calib_host.report(calibrator, *halves, bootstrap=20, title="Ward 3", seed=5, bins=8)
        origin = found.pop("origin")
        assert dict(found) == {name: value for name, value in said.items() if name != "origin"}
        assert origin["calibration_is_the_artifacts"] and not origin["test_is_calibration"]
        assert origin["command"].endswith("calibration, test, title='Ward 3', bins=8, bootstrap=20, seed=5)")
    calibrator, halves, _ = expected[0]
    with_costs = calib_host.report(calibrator, *halves, bootstrap=20, actions=ACTIONS, uncalibrated="refer")
    assert with_costs["decision"] is not None and found["decision"] is None
    for options, error, words in [
        ({"bins": 0}, UsageError, "bins is a number from 1 to 1000"),
        ({"alpha": 1.0}, UsageError, "alpha is a fraction"),
        ({"extreme_probs": "drop"}, UsageError, "leave-out and clip"),
    ]:
        with pytest.raises(error, match=words):
            calib_host.report(calibrator, *halves, **options)


def test_plans_are_those_of_the_command(tmp_path):
    def planned(*words):
        return json.loads(command(tmp_path, "plan", *words, "--json"))

    expected = planned("--sensitivity=0.95", "--specificity=0.9", "--prevalence=0.1", "--groups=2")
    assert calib_host.plan_threshold(0.95, 0.9, prevalence=0.1, groups=2) == expected
    assert calib_host.plan_validation(0.1, 0.75) == planned("--validation", "--prevalence=0.1", "--auc=0.75")
    assert calib_host.plan(rows_per_bin=200, epsilon=0.1) == planned("--rows-per-bin=200", "--epsilon=0.1")["answer"]
    for ask, words in [
        (lambda: calib_host.plan(n=9, bins=3, rows_per_bin=3), "n, bins and rows_per_bin leave nothing to answer"),
        (lambda: calib_host.plan(n=100, epsilon=0.01), "100 observations give no epsilon below 0"),
        (lambda: calib_host.plan(n=100, bins=2, classes=3), "with classes give two of n, rows_per_bin and epsilon"),
        (lambda: calib_host.plan_threshold(), "give sensitivity or specificity"),
        (lambda: calib_host.plan_threshold(1.0), "sensitivity is 1: it is a share"),
        (lambda: calib_host.plan_validation(0.1, 0.3), "auc is 0.3"),
    ]:
        with pytest.raises(UsageError, match=words):
            ask()
