"""Pins what calib writes: artifacts, JSON, exit codes.

    python3 tests/pins/pins.py --calib target/debug/calib             # compares with tests/pins/pins.json
    python3 tests/pins/pins.py --calib target/debug/calib --python    # also fits the same rows with the Python package
    python3 tests/pins/pins.py --calib target/debug/calib --update    # writes tests/pins/pins.json again

It needs Python 3.11 and NumPy. The rows are drawn here, with a generator that is the same everywhere. Exits with 1 after the first
difference was printed with all others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
#: Where an artifact's prefix holds its length, CRC and identity.
PREFIX = slice(8, 28)


class Draws:
    """SplitMix64: the same numbers on every machine and with every version of NumPy."""

    def __init__(self, seed: int):
        self.state = seed

    def uniform(self, n: int) -> np.ndarray:
        """Multiples of 2^-20 in [0, 1), which every format holds exactly."""
        mask = (1 << 64) - 1
        values = []
        for _ in range(n):
            self.state = (self.state + 0x9E3779B97F4A7C15) & mask
            z = self.state
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
            values.append(((z ^ (z >> 31)) >> 44) / (1 << 20))
        return np.array(values)


def write_rows(folder: Path) -> dict[str, np.ndarray]:
    """Writes all tables and arrays, and returns the arrays."""
    draws = Draws(2026)
    n = 3000
    scores = draws.uniform(n).astype(np.float32)
    labels = (draws.uniform(n) < scores.astype(float) ** 2).astype(np.int64)
    rounded = (np.round(scores * 64) / 64).astype(np.float32)
    margins = (8 * scores - 5).astype(np.float32)
    weights = 0.5 + draws.uniform(n)
    patients = (draws.uniform(n) * 1200).astype(np.int64)
    groups = np.where(draws.uniform(n) < 0.4, "f", "m")
    codes = np.floor(scores * 255).astype(np.int64)
    margin_codes = np.floor(margins * 10).astype(np.int64)
    few = 150
    classes, m = 4, 2400
    logits = np.stack([6 * draws.uniform(m) - 3 for _ in range(classes)], axis=1)
    truth = logits * 0.5 + np.stack([3 * draws.uniform(m) for _ in range(classes)], axis=1)
    classes_labels = truth.argmax(axis=1).astype(np.int64)
    # Powers of two, so that no platform's exponential function decides a bit.
    powers = 1 + np.floor(16 * draws.uniform(m * classes)).reshape(m, classes)
    probs = powers / 64
    probs[:, 0] += 1 - probs.sum(axis=1)
    probs = np.where(probs < 0, 0, probs)
    probs = (probs / probs.sum(axis=1, keepdims=True)).astype(np.float32)
    logit_codes = np.floor(logits * 20).astype(np.int64)
    probs_codes = np.floor(probs * 255).astype(np.int64)
    arrays = {
        "scores": scores, "labels": labels, "rounded": rounded, "margins": margins, "weights": weights,
        "patients": patients, "codes": codes, "margin_codes": margin_codes, "logits": logits.astype(np.float32),
        "classes": classes_labels, "probs": probs, "logit_codes": logit_codes, "probs_codes": probs_codes,
        "few_scores": scores[:few], "few_labels": labels[:few], "test_scores": draws.uniform(n).astype(np.float32),
    }
    arrays["test_labels"] = (draws.uniform(n) < arrays["test_scores"].astype(float) ** 2).astype(np.int64)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    with open(folder / "rows.csv", "w") as table:
        table.write("score,label,margin,weight,patient,group\n")
        for row in zip(scores, labels, margins, weights, patients, groups):
            table.write(",".join(str(one) for one in row) + "\n")
    with open(folder / "test.csv", "w") as table:
        table.write("score,label\n")
        for row in zip(arrays["test_scores"], arrays["test_labels"]):
            table.write(",".join(str(one) for one in row) + "\n")
    with open(folder / "counts.csv", "w") as table:
        table.write("score,n,positives\n")
        for value in np.unique(rounded):
            here = rounded == value
            table.write(f"{value},{here.sum()},{labels[here].sum()}\n")
    with open(folder / "costs.toml", "w") as file:
        file.write('[[action]]\nname = "wait"\npositive = 10.0\nnegative = 0.0\nalarm = false\n')
        file.write('[[action]]\nname = "ask"\npositive = 3.0\nnegative = 1.0\nalarm = false\nabstain = true\n')
        file.write('[[action]]\nname = "treat"\npositive = 1.0\nnegative = 2.0\nalarm = true\n')
    return arrays


BINARY = ["--scores", "scores.npy", "--labels", "labels.npy"]
MARGINS = ["--margins", "margins.npy", "--labels", "labels.npy"]
ROUNDED = ["--scores", "rounded.npy", "--labels", "labels.npy"]
CODES = ["--scores", "codes.npy", "--labels", "labels.npy", "--score-encoding", "u8,1/255,0"]
LOGITS = ["--logits", "logits.npy", "--labels", "classes.npy"]
PROBS = ["--probs", "probs.npy", "--labels", "classes.npy"]
LOGIT_CODES = ["--logits", "logit_codes.npy", "--labels", "classes.npy", "--score-encoding", "i8,0.05,0"]

#: How Python names the same rows.
DATA: dict[str, tuple[str, str, dict[str, Any]]] = {
    "binary": ("scores", "labels", {}), "margins": ("margins", "labels", {"kind": "margins"}),
    "rounded": ("rounded", "labels", {}), "logits": ("logits", "classes", {"kind": "logits"}),
    "probs": ("probs", "classes", {"kind": "probs"}), "few": ("few_scores", "few_labels", {}),
}
FILES = {
    "binary": BINARY, "margins": MARGINS, "rounded": ROUNDED, "logits": LOGITS, "probs": PROBS,
    "few": ["--scores", "few_scores.npy", "--labels", "few_labels.npy"],
}

#: Fits that the command and the Python package make alike: the rows, and the options.
FITS: list[tuple[str, dict[str, Any]]] = [
    ("binary", {}), ("binary", {"epsilon": 0.15}), ("binary", {"alpha": 0.05}), ("few", {}), ("rounded", {}), ("margins", {}),
    ("binary", {"method": "umd", "bins": 10}), ("binary", {"method": "umd", "rows_per_bin": 200}),
    ("binary", {"method": "umd", "bins": 10, "bound": "hoeffding"}), ("binary", {"method": "umd", "bins": 10, "table": "u16"}),
    ("binary", {"method": "umd", "bins": 10, "candidates": 5}), ("binary", {"method": "umd", "bins": 10, "alpha_spent": 0.1}),
    ("rounded", {"method": "umd-randomized", "bins": 8}), ("binary", {"method": "umd-original", "bins": 10}),
    ("binary", {"method": "ums", "bins": 5}), ("binary", {"method": "ums", "bins": 5, "seed": 7}),
    ("binary", {"method": "fixed-width", "bins": 10}), ("margins", {"method": "fixed-width", "bins": 10, "range": (-8, 8)}),
    ("binary", {"method": "isotonic"}), ("binary", {"method": "isotonic-interpolated"}),
    ("binary", {"method": "isotonic", "max_bins": 8}), ("rounded", {"method": "isotonic"}),
    ("binary", {"method": "scaling-binning", "bins": 10}), ("margins", {"method": "scaling-binning", "bins": 10}),
    ("binary", {"method": "platt"}), ("binary", {"method": "platt-prob"}),
    ("binary", {"method": "platt", "loss": "bayes"}), ("margins", {"method": "platt"}), ("binary", {"method": "beta"}),
    ("binary", {"method": "temperature"}), ("binary", {"method": "venn-abers"}), ("margins", {"method": "isotonic"}),
    ("margins", {"method": "umd", "bins": 10}), ("binary", {"monitor": True}), ("binary", {"method": "umd", "bins": 7, "counter": 3}),
    ("binary", {"method": "umd", "bins": 9, "classifier_id": "0011223344556677"}),
    ("logits", {}), ("logits", {"method": "umd", "bins": 5, "reduction": "confidence"}),
    ("logits", {"method": "umd", "bins": 3, "reduction": "top-label"}),
    ("logits", {"method": "umd", "rows_per_bin": 100, "reduction": "top-label"}),
    ("logits", {"method": "umd", "bins": 5, "reduction": "class-wise"}),
    ("logits", {"method": "isotonic", "reduction": "normalized"}),
    ("logits", {"method": "umd", "bins": 4, "reduction": "top-k-label", "k": 2}),
    ("logits", {"method": "umd", "bins": 4, "reduction": "top-k-confidence", "k": 2}),
    ("logits", {"method": "umd", "bins": 3, "reduction": "top-label", "class_score": "margin"}),
    ("logits", {"method": "platt", "reduction": "confidence"}), ("logits", {"method": "temperature"}),
    ("logits", {"method": "vector"}), ("logits", {"method": "matrix"}), ("logits", {"method": "dirichlet"}),
    ("logits", {"method": "svs"}), ("logits", {"method": "sms"}),
    ("logits", {"method": "sierpinski", "resolution": 1}), ("logits", {"method": "grid", "resolution": 2}),
    ("logits", {"method": "projection", "bins": 6}), ("logits", {"method": "multiclass-irp", "max_bins": 3}),
    ("probs", {}), ("probs", {"method": "umd", "bins": 4, "reduction": "top-label"}), ("probs", {"method": "temperature"}),
    ("probs", {"method": "venn-abers", "reduction": "confidence"}), ("probs", {"method": "isotonic", "reduction": "class-wise"}),
    ("probs", {"method": "umd", "bins": 5, "reduction": "confidence", "bound": "hoeffding"}),
]

#: Fits that only the command makes.
MORE_FITS: dict[str, list[str]] = {
    "csv": ["rows.csv"],
    "csv weights": ["--scores", "rows.csv", "--weight-column", "weight", "--method", "isotonic"],
    "csv clusters": ["--scores", "rows.csv", "--cluster-column", "patient"],
    "csv groups": ["--scores", "rows.csv", "--group-column", "group", "--method", "umd", "--bins", "5"],
    "csv margins": ["--margins", "rows.csv", "--score-column", "margin", "--method", "umd", "--bins", "8"],
    "counts": ["--scores", "counts.csv", "--count-columns", "n,positives", "--method", "ums", "--bins", "5"],
    "codes": [*CODES, "--method", "fixed-width", "--bins", "8"],
    "codes direct": [*CODES, "--method", "isotonic", "--table", "direct"],
    "logit codes": [*LOGIT_CODES, "--method", "umd", "--bins", "3", "--reduction", "top-label", "--class-score", "margin"],
    "actions": [*BINARY, "--method", "umd", "--bins", "10", "--actions", "costs.toml"],
}

#: Commands whose `--json` is pinned. They run after the fits `0.cal` (binary, automatic) and `reduced.cal`.
JSON: dict[str, list[str]] = {
    "fit": ["fit", *BINARY, "-o", "json.cal", "--force", "--json"],
    "fit reduced": ["fit", *LOGITS, "--method", "umd", "--bins", "3", "--reduction", "top-label", "-o", "reduced.cal", "--force", "--json"],
    "fit joint": ["fit", *LOGITS, "--method", "vector", "-o", "joint.cal", "--force", "--json"],
    "inspect": ["inspect", "0.cal", "--json"],
    "inspect reduced": ["inspect", "reduced.cal", "--json"],
    "inspect joint": ["inspect", "joint.cal", "--json"],
    "assess": ["assess", "0.cal", "--scores", "test.csv", "--json"],
    "assess raw": ["assess", "--scores", "test.csv", "--json"],
    "assess resamples": ["assess", "0.cal", "--scores", "test.csv", "--bootstrap", "50", "--json"],
    "assess groups": ["assess", "--scores", "rows.csv", "--group-column", "group", "--json"],
    "assess clusters": ["assess", "--scores", "rows.csv", "--cluster-column", "patient", "--json"],
    "assess classes": ["assess", "--logits", "logits.npy", "--labels", "classes.npy", "--json"],
    "assess reduced": ["assess", "reduced.cal", *LOGITS, "--same-rows", "--json"],
    "assess joint": ["assess", "joint.cal", *LOGITS, "--same-rows", "--json"],
    "compare": ["compare", *BINARY, "--json"],
    "compare classes": ["compare", *LOGITS, "--methods", "temperature,vector", "--json"],
    "bins": ["bins", "--scores", "rows.csv", "--json"],
    "plan": ["plan", "--n", "3000", "--bins", "10", "--json"],
    "plan epsilon": ["plan", "--epsilon", "0.1", "--json"],
    "threshold": ["threshold", "--scores", "rows.csv", "--sensitivity", "0.9", "-o", "threshold.cal", "--force", "--json"],
    "sets": ["sets", *LOGITS, "--alpha", "0.1", "-o", "sets.cal", "--force", "--json"],
    "decide": ["decide", "0.cal", "--actions", "costs.toml", "--scores", "scores.npy", "--validation", "test.csv", "-o", "rule.cal", "--force", "--json"],
    "adjust": ["adjust", "0.cal", "--prevalence", "0.1", "--counter", "1", "-o", "adjusted.cal", "--force", "--json"],
}

#: Inputs that are refused.
BAD: dict[str, list[str]] = {
    "no command": ["frobnicate"], "no option": ["fit", *BINARY, "--frobnicate"], "no file": ["fit", "missing.csv"],
    "no labels": ["fit", "--scores", "scores.npy"], "no method": ["fit", *BINARY, "--method", "nothing"],
    "method for vectors": ["fit", *BINARY, "--method", "vector"], "reduction of one score": ["fit", *BINARY, "--reduction", "top-label"],
    "0 bins": ["fit", *BINARY, "--bins", "0"], "a million bins": ["fit", *BINARY, "--method", "umd", "--bins", "1000000"],
    "alpha 0": ["fit", *BINARY, "--alpha", "0"], "alpha 2": ["fit", *BINARY, "--alpha", "2"], "epsilon 0": ["fit", *BINARY, "--epsilon", "0"],
    "epsilon out of reach": ["fit", *BINARY, "--epsilon", "0.001"], "logits as scores": ["fit", "--scores", "logits.npy", "--labels", "classes.npy"],
    "labels of classes": ["fit", "--scores", "scores.npy", "--labels", "classes.npy"], "labels too short": ["fit", "--scores", "scores.npy", "--labels", "few_labels.npy"],
    "margins as scores": ["fit", "--scores", "margins.npy", "--labels", "labels.npy"], "scores as codes": ["fit", "--scores", "scores.npy", "--labels", "labels.npy", "--score-encoding", "u8,1/255,0"],
    "codes without scale": ["fit", "--scores", "codes.npy", "--labels", "labels.npy", "--score-encoding", "u8"],
    "scale 0": ["fit", "--scores", "codes.npy", "--labels", "labels.npy", "--score-encoding", "u8,0,0"],
    "no column": ["fit", "--scores", "rows.csv", "--score-column", "nothing"], "no label column": ["fit", "--scores", "rows.csv", "--label-column", "nothing"],
    "text as scores": ["fit", "--scores", "rows.csv", "--score-column", "group"], "no weight column": ["fit", "--scores", "rows.csv", "--weight-column", "nothing"],
    "weights and clusters": ["fit", "--scores", "rows.csv", "--weight-column", "weight", "--cluster-column", "patient"],
    "range turned": ["fit", *MARGINS, "--method", "fixed-width", "--bins", "5", "--range=8,-8"], "no range": ["fit", *MARGINS, "--method", "fixed-width", "--bins", "5"],
    "k 0": ["fit", *LOGITS, "--method", "umd", "--bins", "3", "--reduction", "top-k-label", "--k", "0"],
    "k 9": ["fit", *LOGITS, "--method", "umd", "--bins", "3", "--reduction", "top-k-label", "--k", "9"],
    "depth 40": ["fit", *LOGITS, "--method", "sierpinski", "--resolution", "40"], "candidates 0": ["fit", *BINARY, "--candidates", "0"],
    "counter of text": ["fit", *BINARY, "--counter", "many"], "identity of text": ["fit", *BINARY, "--classifier-id", "xyz"],
    "output is a folder": ["fit", *BINARY, "-o", "."], "output in no folder": ["fit", *BINARY, "-o", "nowhere/cal.bin"],
    "output exists": ["fit", *BINARY, "-o", "0.cal"], "output is the input": ["fit", *BINARY, "-o", "scores.npy", "--force"],
    "output as header": ["fit", *BINARY, "-o", "cal.h"], "no actions": ["fit", *BINARY, "--actions", "missing.toml"],
    "actions of rows": ["fit", *BINARY, "--actions", "rows.csv"], "empty": ["fit", "empty.csv"], "header only": ["fit", "header.csv"],
    "one class": ["fit", "zeros.csv", "--method", "platt"], "nan": ["fit", "nan.csv"], "inf": ["fit", "inf.csv"], "label 2": ["fit", "label2.csv"],
    "short row": ["fit", "short.csv"], "not utf-8": ["fit", "bytes.csv"], "no archive": ["fit", "cut.npz"], "cut npy": ["fit", "--scores", "cut.npy", "--labels", "labels.npy"],
    "inspect rows": ["inspect", "rows.csv"], "inspect nothing": ["inspect", "missing.cal"], "inspect damage": ["inspect", "damaged.cal"], "inspect cut": ["inspect", "cut.cal"],
    "assess the same rows": ["assess", "0.cal", *BINARY], "assess other kind": ["assess", "0.cal", *LOGITS], "apply other kind": ["apply", "0.cal", *LOGITS, "-o", "out.csv"],
    "plan nothing": ["plan", "--n", "0", "--bins", "1"], "threshold nothing": ["threshold", "--scores", "rows.csv", "-o", "t.cal", "--force"],
    "sets 2": ["sets", *LOGITS, "--alpha", "2", "-o", "s.cal", "--force"], "decide no costs": ["decide", "0.cal", "--actions", "missing.toml"],
    "adjust 2": ["adjust", "0.cal", "--prevalence", "2", "--counter", "1", "-o", "a.cal", "--force"], "export nothing": ["export", "missing.cal", "-o", "x.h"],
    "verify unsigned": ["verify", "0.cal", "--key", "missing.pub"], "compare no labels": ["compare", "--scores", "scores.npy"],
}


def write_bad(folder: Path) -> None:
    """Files that are refused."""
    texts = {
        "empty.csv": "", "header.csv": "score,label\n", "zeros.csv": "score,label\n" + "0.5,0\n0.25,0\n" * 50,
        "nan.csv": "score,label\n0.5,1\nhello,0\n", "inf.csv": "score,label\n0.5,1\ninf,0\n", "label2.csv": "score,label\n0.5,1\n0.5,2.5\n",
        "short.csv": "score,label\n0.5,1\n0.5\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "bytes.csv").write_bytes(b"score,label\n0.5,1\n\xff\xfe\x00,0\n")
    (folder / "cut.npz").write_bytes(b"PK\x03\x04" + bytes(20))
    (folder / "cut.npy").write_bytes((folder / "scores.npy").read_bytes()[:200])
    artifact = bytearray((folder / "0.cal").read_bytes())
    (folder / "cut.cal").write_bytes(artifact[:40])
    artifact[100] ^= 4
    (folder / "damaged.cal").write_bytes(artifact)


def words_of(options: dict[str, Any]) -> list[str]:
    """The options as the command spells them."""
    words = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        value = ",".join(map(str, value)) if isinstance(value, tuple) else value
        words.append(option if value is True else f"{option}={value}")
    return words


def without_hash(artifact: bytes, sha256: str) -> bytes:
    """An artifact without the hash that names its data, and without what follows from it."""
    changed = bytearray(artifact.replace(bytes.fromhex(sha256), bytes(32), 1))
    changed[PREFIX] = bytes(20)
    return bytes(changed)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def pinned(calib: Path, folder: Path, python: bool) -> tuple[dict[str, Any], list[str]]:
    """What there is to pin, and where Python differs from the command."""
    arrays = write_rows(folder)
    differences: list[str] = []

    def run(words: list[str]) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([calib, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=600, check=False)

    def artifact_of(words: list[str], name: str) -> str:
        done = run(["fit", *words, "-o", name, "--force", "--quiet"])
        if done.returncode != 0:
            return f"exit code {done.returncode}: {done.stderr.decode().strip()}"
        return digest((folder / name).read_bytes())

    fits: dict[str, str] = {}
    for number, (rows, options) in enumerate(FITS):
        name = " ".join([rows, *words_of(options)])
        fits[name] = artifact_of([*FILES[rows], *words_of(options)], f"{number}.cal")
        if python and not fits[name].startswith("exit"):
            difference = python_differs(folder / f"{number}.cal", rows, options, arrays, run)
            differences += [f"Python, {name}: {difference}"] if difference else []
    for number, (name, words) in enumerate(MORE_FITS.items()):
        fits[name] = artifact_of(words, f"more{number}.cal")
    write_bad(folder)
    outputs: dict[str, str] = {}
    for name, words in JSON.items():
        done = run([*words, "--quiet"])
        is_json = done.returncode == 0 and done.stdout
        outputs[name] = digest(done.stdout) if is_json else f"exit code {done.returncode}: {done.stderr.decode().strip()}"
        if is_json:
            (folder / f"{name.replace(' ', '-')}.json").write_bytes(done.stdout)
    codes = {name: run(words).returncode for name, words in BAD.items()}
    return {"fits": fits, "json": outputs, "exit codes": codes}, differences


def python_differs(
    artifact: Path, rows: str, options: dict[str, Any], arrays: dict[str, np.ndarray], run: Callable[[list[str]], Any]
) -> str | None:
    """How the Python package's artifact differs from the command's, except for the hash that names the data."""
    import calib_host

    scores, labels, more = DATA[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = calib_host.fit(arrays[scores], arrays[labels], **more, **options)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    ours = fitted.to_bytes()
    (artifact.parent / "python.cal").write_bytes(ours)
    hashes = [json.loads(run(["inspect", str(one), "--json"]).stdout)["provenance"]["data_sha256"] for one in (artifact, "python.cal")]
    theirs = artifact.read_bytes()
    return None if without_hash(theirs, hashes[0]) == without_hash(ours, hashes[1]) else "other bytes"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calib", type=Path, required=True, help="the command")
    parser.add_argument("--python", action="store_true", help="fit with the Python package as well")
    parser.add_argument("--update", action="store_true", help="write pins.json")
    parser.add_argument("--keep", type=Path, help="a folder for the files, which are removed otherwise")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        found, differences = pinned(arguments.calib.resolve(), folder, arguments.python)
    pins = HERE / "pins.json"
    if arguments.update:
        pins.write_text(json.dumps(found, indent=1) + "\n")
    kept = json.loads(pins.read_text())
    for part in kept:
        for name in kept[part].keys() | found[part].keys():
            then, now = kept[part].get(name), found[part].get(name)
            if then != now:
                differences.append(f"{part}, {name}: was {then}, is {now}")
    for difference in sorted(differences):
        print(difference)
    count = {part: len(found[part]) for part in found}
    print(f"{count}: {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
