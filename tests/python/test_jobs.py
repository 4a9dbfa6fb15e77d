"""That thresholds, sets, other prevalences and plans in memory are those of the command, which reads files."""

import json

import numpy as np
import pytest
from conftest import command

import calib_host
from calib_host import DataError, MismatchError, UsageError


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
        ({"sensitivity": 0.9999}, DataError, "it takes 29956 positives, there are"),
        ({"sensitivity": 0.9, "scale": 0.5}, UsageError, "score_encoding, scale and zero_point go together"),
        ({"sensitivity": 0.9, "classifier_id": "xy"}, UsageError, "16 hex digits"),
        ({"sensitivity": 0.9, "groups": ["a"] * 5}, UsageError, "2000 rows of scores but 5 groups"),
    ]:
        with pytest.raises(error, match=words):
            calib_host.threshold(scores, labels, **options)
    with pytest.raises(TypeError, match="other"):
        calib_host.threshold(scores, labels, other=1)
    margins = calib_host.fit(20 * scores - 10, labels, "isotonic", kind="margins")
    with pytest.raises(MismatchError, match="the thresholds are of"):
        calib_host.threshold(scores, labels, kind="scores", sensitivity=0.9, calibrator=margins, counter=1)


def test_sets_are_those_of_the_command(binary, logits, tmp_path):
    values, labels = logits[0].astype(np.float32), logits[1]
    words = files(tmp_path, "logits", values, labels)
    expected = asked(tmp_path, "sets", *words, "--alpha=0.2", "--by-class", "--confidence=0.9", "--class-score=margin")
    found = calib_host.sets(values, labels, kind="logits", alpha=0.2, by_class=True, confidence=0.9, class_score="margin")
    assert {**told(found), "warnings": []} == expected
    scores, labels = binary[0].astype(np.float32), binary[1]
    calibrator = calib_host.fit(scores, labels, "umd", bins=5)
    calibrator.save(tmp_path / "cal.bin")
    words = files(tmp_path, "scores", scores, labels)
    expected = asked(tmp_path, "sets", *words, "--calibrator=cal.bin", "--counter=2", "--never-empty")
    found = calib_host.sets(scores, labels, calibrator=calibrator, counter=2, never_empty=True)
    assert {**told(found), "warnings": []} == expected
    assert found.calibrator.method == "umd" and found.artifact == (tmp_path / "out.bin").read_bytes()
    found.save(tmp_path / "saved.bin")
    with pytest.raises(FileExistsError, match="force=True"):
        found.save(tmp_path / "saved.bin")


def test_sets_that_cannot_be(binary):
    scores, labels = binary
    for options, words in [
        ({"alpha": 0.0}, "the alpha is 0.0"),
        ({"class_score": "margin"}, 'class_score is for kind="logits" and kind="probs": a binary score is compared as it is'),
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
        ({"estimate_from": scores[1000:], "bootstrap": 100}, ["--estimate-from=others.npy", "--bootstrap=100"]),
        (
            {"prevalence": 0.05, "monitor_scores": scores[1000:], "monitor_bins": 4},
            ["--prevalence=0.05", "--monitor", "--monitor-scores=others.npy", "--monitor-bins=4"],
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
    with pytest.raises(UsageError, match="^counter is needed"):
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
    with pytest.raises(DataError, match="fitted to.*same_rows goes on"):
        calib_host.decide(ACTIONS, scores[:1000], labels[:1000], calibrator=calibrator)
    assert calib_host.decide(ACTIONS, scores[:1000], labels[:1000], calibrator=calibrator, same_rows=True)["fitted_to_labelled_rows"]
    # Without a calibrator scores are probabilities.
    plain = calib_host.decide(ACTIONS, [0.1, 0.9, float("nan")], uncalibrated="refer")
    assert (plain["n"], plain["uncalibrated_rows"], plain.artifact) == (2, 1, b"")
    for actions, options, error, words in [
        (ACTIONS[:1], {}, UsageError, ""),
        ([{"name": "a"}, *ACTIONS], {}, UsageError, "'negative' is not there"),
        ([{**ACTIONS[0], "above": 0.5}, ACTIONS[1]], {}, UsageError, "some actions state an interval"),
        (ACTIONS, {"scores": [1.5]}, DataError, "row 0: 1.5 is no probability"),
        (ACTIONS, {"delta": 0.0}, UsageError, "delta is 0"),
    ]:
        with pytest.raises(error, match=words):
            calib_host.decide(actions, **options)


def test_plans_are_those_of_the_command(tmp_path):
    def planned(*words):
        return json.loads(command(tmp_path, "plan", *words, "--json"))

    expected = planned("--sensitivity=0.95", "--specificity=0.9", "--prevalence=0.1", "--groups=2")
    assert calib_host.plan_threshold(0.95, 0.9, prevalence=0.1, groups=2) == expected
    assert calib_host.plan_validation(0.1, 0.75) == planned("--validation", "--prevalence=0.1", "--auc=0.75")
    assert calib_host.plan(points_per_bin=200, epsilon=0.1) == planned("--points-per-bin=200", "--epsilon=0.1")["answer"]
    for ask, words in [
        (lambda: calib_host.plan(n=9, bins=3, points_per_bin=3), "n, bins and points_per_bin leave nothing to answer"),
        (lambda: calib_host.plan(n=100, epsilon=0.01), "100 points give no epsilon below 0"),
        (lambda: calib_host.plan(n=100, bins=2, classes=3), "with classes give two of n, points_per_bin and epsilon"),
        (lambda: calib_host.plan_threshold(), "give sensitivity or specificity"),
        (lambda: calib_host.plan_threshold(1.0), "sensitivity is 1: it is a share"),
        (lambda: calib_host.plan_validation(0.1, 0.3), "auc is 0.3"),
    ]:
        with pytest.raises(UsageError, match=words):
            ask()
