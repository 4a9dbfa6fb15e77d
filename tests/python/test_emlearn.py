"""A forest that emlearn generates in C, and beside it the calibrator's header: one program, and the bits of the package."""

import os
import re
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

# It makes NumPy raise where a number underflows, in all that runs later in this process.
with np.errstate():
    emlearn = pytest.importorskip("emlearn", reason="emlearn is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import calib_host

PROGRAM = """
#include <stdio.h>
#include "forest.h"
#include "risk.h"

int main(void)
{
    int16_t features[FEATURES];
    union risk_word answer[2];

    while (fread(features, sizeof features, 1, stdin) == 1) {
        struct risk_result result;
        float probs[2];

        if (forest_predict_proba(features, FEATURES, probs, 2) != 0 || risk_calibrate(0, probs[1], &result) != RISK_OK)
            return 1;
        answer[0].number = probs[1];
        answer[1].number = result.prob;
        if (fwrite(answer, sizeof answer, 1, stdout) != 1)
            return 2;
    }
    return 0;
}
"""


def generated(folder):
    """A forest in C, and held-out rows in its integers."""
    X, y = load_breast_cancer(return_X_y=True)
    X = np.round(X / np.abs(X).max(axis=0) * 30_000).astype(np.int16)
    order = np.random.default_rng(3).permutation(len(X))
    train, held_out = order[:250], order[250:]
    forest = RandomForestClassifier(n_estimators=15, max_depth=4, random_state=0).fit(X[train], y[train])
    emlearn.convert(forest, method="inline", dtype="int16_t").save(file=str(folder / "forest.h"), name="forest")
    (folder / "main.c").write_text(PROGRAM)
    return X[held_out], y[held_out]


def answers(folder, X, header):
    """The scores of the forest, and the probabilities of the header."""
    (folder / "risk.h").write_text(header)
    build = ["cc", "-std=c99", "-O2", f"-DFEATURES={X.shape[1]}", f"-I{emlearn.includedir}", "main.c", "-lm", "-o", "main"]
    subprocess.run(build, cwd=folder, check=True)
    run = subprocess.run([folder / "main"], input=X.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(run.stdout, dtype="<f4").reshape(-1, 2).T


def scored(folder, X):
    """The scores that the generated C gives are those to calibrate: emlearn's leaves are coarser than scikit-learn's."""
    first = calib_host.fit(np.linspace(0, 1, 200), np.arange(200) % 2, "fixed-width", bins=2)
    return answers(folder, X, first.export_c("risk"))[0]


@pytest.mark.filterwarnings("ignore::calib_host.CalibrationWarning")
@pytest.mark.parametrize(("method", "options"), [("umd", {"bins": 5}), ("isotonic", {}), (None, {})])
def test_a_generated_forest_is_calibrated_to_the_bit(method, options, tmp_path):
    X, y = generated(tmp_path)
    scores = scored(tmp_path, X)
    started = time.perf_counter()
    calibrator = calib_host.fit(scores, y, method, **options)
    again, probs = answers(tmp_path, X, calibrator.export_c("risk"))
    print(f"{method}: fitted, exported, compiled and run in {time.perf_counter() - started:.2f} s")
    np.testing.assert_array_equal(again.view(np.uint32), scores.view(np.uint32))
    expected = calibrator.predict(scores)
    assert expected.dtype == np.float32 and len(np.unique(probs)) > 2
    np.testing.assert_array_equal(probs.view(np.uint32), expected.view(np.uint32))


ON_A_CORE = """
#include <stdio.h>
#include "forest.h"
#include "rows.h"
#include "calib.h"

extern const uint8_t slot[];

int main(void)
{
    union { float number; uint32_t bits; } score, prob;
    calib_table_t table;
    calib_result_t result;
    size_t i;

    if (CALIB_CHECK() != CALIB_OK || calib_table_open(&table, slot, 65536, NULL) != CALIB_OK)
        return 1;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float probs[2];

        if (forest_predict_proba(rows[i], FEATURES, probs, 2) != 0 || calib_table_score(&table, probs[1], &result) != CALIB_OK)
            return 2;
        score.number = probs[1];
        prob.number = result.prob;
        printf("%lu %lu\\n", (unsigned long)score.bits, (unsigned long)prob.bits);
    }
    return fflush(stdout);
}
"""


@pytest.mark.filterwarnings("ignore::calib_host.CalibrationWarning")
@pytest.mark.skipif("CALIB_C" not in os.environ, reason="`cargo xtask package --only c` makes the archive, and runs this")
def test_the_archive_of_the_library_calibrates_a_generated_forest_on_an_emulated_core(tmp_path):
    """The library as it is given away, with the start code and the linker script of the book's page."""
    library, book = Path(os.environ["CALIB_C"]), Path(__file__).parents[2] / "docs/src/c-firmware.md"
    X, y = generated(tmp_path)
    scores = scored(tmp_path, X)
    calibrator = calib_host.fit(scores, y, "umd", bins=5)
    calibrator.save(tmp_path / "cal.bin")
    for file in ("start.c", "own.ld"):
        (tmp_path / file).write_text(re.search(rf"`{re.escape(file)}`:\n\n```\w+\n(.*?)```", book.read_text(), re.DOTALL)[1])
    rows = ",\n".join("{" + ", ".join(map(str, row)) + "}" for row in X)
    (tmp_path / "rows.h").write_text(f"static const int16_t rows[][FEATURES] = {{{rows}}};\n")
    (tmp_path / "main.c").write_text(ON_A_CORE)
    core = ["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
    link = ["-nostartfiles", "--specs=nano.specs", "--specs=rdimon.specs", "-Wl,--gc-sections", "-T", "own.ld"]
    link += [f"-L{library}/lib/thumbv7em-none-eabihf", "-lcalib_c", "-lm", "-o", "own"]
    include = [f"-DFEATURES={X.shape[1]}", f"-I{emlearn.includedir}", f"-I{library}/include"]
    sources = ["main.c", "start.c"]
    subprocess.run(["arm-none-eabi-gcc", "-std=c99", "-O2", *core, *include, *sources, *link], cwd=tmp_path, check=True)
    loaded = "loader,file=cal.bin,addr=0x3F0000,force-raw=on"
    emulator = [os.environ["QEMU"], "-machine", "mps2-an386", "-nographic", "-semihosting", "-kernel", "own", "-device", loaded]
    run = subprocess.run(emulator, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    again, probs = np.array([line.split() for line in run.stdout.splitlines()], dtype=np.uint32).T
    np.testing.assert_array_equal(again, scores.view(np.uint32))
    assert len(np.unique(probs)) > 2
    np.testing.assert_array_equal(probs, calibrator.predict(scores).view(np.uint32))
