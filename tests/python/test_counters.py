"""A file of counters that the command writes is what the JSON Schema in the book says, and other files are not."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from conftest import command

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/src/counters.schema.json").read_text())


@pytest.fixture
def written(tmp_path):
    """The counters of a device that has counted nothing, as the command writes them."""
    rng = np.random.default_rng(3)
    scores = rng.random(400).astype(np.float32)
    np.save(tmp_path / "scores.npy", scores)
    np.save(tmp_path / "labels.npy", (rng.random(400) < scores).astype(np.int64))
    command(tmp_path, *"fit --method umd --bins 4 --scores scores.npy --labels labels.npy --monitor -o cal.bin".split())
    command(tmp_path, *"fleet cal.bin --new ward-3 -o ward-3.json".split())
    return tmp_path / "ward-3.json"


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_written_file_fits_and_nothing_else(written):
    validator = jsonschema.Draft202012Validator(SCHEMA)
    counters = json.loads(written.read_text())
    validator.validate(counters)
    # 8 bytes a bin with outcomes, 4 with predictions: four bins of each.
    assert [len(column) for column in counters["tables"][0].values()] == [4, 4, 4]
    changes = [
        lambda c: c.pop("device"),
        lambda c: c.update(patient=7),
        lambda c: c.update(calib_counters=2),
        lambda c: c.update(calibrator="ward"),
        lambda c: c["tables"][0].update(patient=7),
        lambda c: c["tables"][0].pop("predictions"),
        lambda c: c["tables"][0].pop("labeled"),
        lambda c: c["tables"][0].update(predictions=[1, -1, 0, 0]),
        lambda c: c["tables"][0].update(predictions=[1, 0.5, 0, 0]),
        lambda c: c["tables"][0].update(predictions=[2**32, 0, 0, 0]),
    ]
    for number, change in enumerate(changes):
        changed = json.loads(written.read_text())
        change(changed)
        assert not validator.is_valid(changed), number
    for fitting in ({**counters, "tables": [None]}, {**counters, "tables": [{"predictions": [1, 2, 3, 4]}]}):
        validator.validate(fitting)


def test_the_command_reads_what_fits_and_refuses_what_does_not(written):
    folder = written.parent
    command(folder, "fleet", "cal.bin", "ward-3.json")
    counters = json.loads(written.read_text())
    written.write_text(json.dumps({**counters, "patient": 7}))
    with pytest.raises(AssertionError, match="unknown field `patient`"):
        command(folder, "fleet", "cal.bin", "ward-3.json")
