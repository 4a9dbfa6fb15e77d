"""A bundle is what the tools of others accept, and `bundle` and `check_bundle` do what the command does."""

import copy
import json
import subprocess
import sys
import warnings
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from conftest import command

for other, package in [
    ("cyclonedx", "cyclonedx-python-lib"),
    ("securesystemslib", "securesystemslib"),
    ("model_signing", "model-signing"),
]:
    pytest.importorskip(other, reason=f"{package} is not installed")

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_public_key,
)
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

import calib_host

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/src/claims.schema.json").read_text())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with rows, keys, a signed artifact, and a bundle in ``evidence``."""
    folder = tmp_path_factory.mktemp("bundle")
    rng = np.random.default_rng(5)
    for name, rows in [("cal", 1200), ("test", 700)]:
        scores = rng.random(rows)
        labels = rng.random(rows) < scores**2
        lines = [f"{score:.9f},{int(label)},{'AB'[i % 2]}" for i, (score, label) in enumerate(zip(scores, labels))]
        (folder / f"{name}.csv").write_text("score,label,ward\n" + "\n".join(lines) + "\n")
    (folder / "about.toml").write_text('uses = ["triage"]\n[model]\nname = "ecg-net"\nversion = "3"\n')
    command(folder, *"keygen -o owner".split())
    command(folder, *"fit cal.csv --method umd --bins 6 --counter 1 -o cal.bin".split())
    command(folder, *"sign cal.bin --key owner -o signed.bin".split())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bundled(folder, "evidence")
    assert "claims.json" in found["files"]
    return folder


def bundled(folder, name, **options):
    options = {
        "calibration": folder / "cal.csv",
        "test": folder / "test.csv",
        "group_column": "ward",
        "key": folder / "owner",
        "about": folder / "about.toml",
        "bootstrap": 20,
        **options,
    }
    return calib_host.bundle(folder / "signed.bin", folder / name, **options)


def test_the_bill_of_materials_is_valid_and_an_unknown_field_is_not(made):
    text = (made / "evidence/bom.cdx.json").read_text()
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(text) is None
    bom = json.loads(text)
    packages = [component["name"] for component in bom["components"] if component["type"] == "library"]
    assert "calib-core" in packages and "serde_json" in packages
    card = bom["metadata"]["component"]["modelCard"]
    assert any("confidenceInterval" in metric for metric in card["quantitativeAnalysis"]["performanceMetrics"])
    assert any(metric.get("slice") == "B" for metric in card["quantitativeAnalysis"]["performanceMetrics"])
    for change in [
        lambda bom: bom["metadata"]["component"]["modelCard"].update(trust=1),
        lambda bom: bom["components"][0].update(type="patient"),
        lambda bom: bom["components"][1]["hashes"][0].update(content="no hash"),
    ]:
        changed = copy.deepcopy(bom)
        change(changed)
        assert validator.validate_str(json.dumps(changed)) is not None


def test_the_statement_is_verified_by_other_people_s_code(made):
    envelope = Envelope.from_dict(json.loads((made / "evidence/statement.json").read_text()))

    def key(path):
        return SSlibKey.from_crypto(load_pem_public_key(path.read_bytes()), keyid=next(iter(envelope.signatures)))

    assert len(envelope.verify([key(made / "owner.pub")], 1)) == 1
    command(made, *"keygen -o other".split())
    with pytest.raises(VerificationError):
        envelope.verify([key(made / "other.pub")], 1)
    statement = json.loads(envelope.payload)
    assert (envelope.payload_type, statement["_type"]) == ("application/vnd.in-toto+json", "https://in-toto.io/Statement/v1")
    listed = {subject["name"] for subject in statement["subject"]}
    assert listed | {"statement.json"} == {path.name for path in (made / "evidence").iterdir()}


def test_claims_fit_their_schema_and_nothing_else_does(made):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    claims = json.loads((made / "evidence/claims.json").read_text())
    validator.validate(claims)
    for change in [
        lambda c: c.pop("claims"),
        lambda c: c.update(patient=7),
        lambda c: c.update(calib_claims=2),
        lambda c: c["artifact"].update(sha256="00"),
        lambda c: c["claims"][0].pop("source"),
        lambda c: c["claims"][0].update(value="0.5"),
        lambda c: c["claims"][0].update(note="good"),
        lambda c: c["claims"][0].update(unit="percent"),
        lambda c: c["data"][0].update(scores=[0.5]),
    ]:
        changed = copy.deepcopy(claims)
        change(changed)
        assert not validator.is_valid(changed)


def test_the_folder_is_signed_in_the_form_of_openssf_too(made):
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (made / "p256.pem").write_bytes(pem)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (made / "p256.pub").write_bytes(public)

    def model_signing(*words):
        program = [sys.executable, "-m", "model_signing", *words]
        return subprocess.run(program, cwd=made, capture_output=True, text=True, check=False)

    signed = model_signing(*"sign key evidence --private_key p256.pem --signature evidence.sig".split())
    assert signed.returncode == 0, signed.stderr + signed.stdout
    words = "verify key evidence --public_key p256.pub --signature evidence.sig".split()
    verified = model_signing(*words)
    assert verified.returncode == 0, verified.stderr + verified.stdout
    report = made / "evidence/report.html"
    honest = report.read_bytes()
    report.write_bytes(honest.replace(b"0.1", b"0.0", 1))
    try:
        assert model_signing(*words).returncode != 0
    finally:
        report.write_bytes(honest)


def test_a_bundle_is_checked_and_a_lie_has_its_name(made):
    rows = [made / "cal.csv", made / "test.csv"]
    found = calib_host.check_bundle(made / "evidence", key=made / "owner.pub", rows=rows)
    assert [step["what"] for step in found["steps"] if not step["is_checked"]] == ["changes"]
    without = calib_host.check_bundle(made / "evidence")
    assert [step["what"] for step in without["steps"] if not step["is_checked"]] == ["owner", "changes", "rows"]
    with pytest.raises(calib_host.MismatchError, match=r"^missing-rows: the rows of cal\.csv"):
        calib_host.check_bundle(made / "evidence", rows=rows[1:])
    with pytest.raises(calib_host.DataError, match="cannot read"):
        calib_host.check_bundle(made / "nowhere")


def test_what_makes_no_bundle_is_an_error(made):
    with pytest.raises(calib_host.CalibError, match="exists already"):
        bundled(made, "evidence")
    with pytest.raises(calib_host.DataError, match="missing.csv"):
        bundled(made, "new", test=made / "missing.csv")
    with pytest.raises(calib_host.UsageError, match="--bootstrap"):
        bundled(made, "new", bootstrap=0)
    assert not (made / "new").exists()
