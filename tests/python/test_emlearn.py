"""A forest that emlearn generates in C, and beside it the calibrator's header: one program, and the bits of the package."""

import subprocess
import time

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


@pytest.mark.filterwarnings("ignore::calib_host.CalibrationWarning")
@pytest.mark.parametrize(("method", "options"), [("umd", {"bins": 5}), ("isotonic", {}), (None, {})])
def test_a_generated_forest_is_calibrated_to_the_bit(method, options, tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    X = np.round(X / np.abs(X).max(axis=0) * 30_000).astype(np.int16)
    order = np.random.default_rng(3).permutation(len(X))
    train, held_out = order[:250], order[250:]
    forest = RandomForestClassifier(n_estimators=15, max_depth=4, random_state=0).fit(X[train], y[train])
    generated = emlearn.convert(forest, method="inline", dtype="int16_t")
    generated.save(file=str(tmp_path / "forest.h"), name="forest")
    (tmp_path / "main.c").write_text(PROGRAM)

    def answers(header):
        (tmp_path / "risk.h").write_text(header)
        build = ["cc", "-std=c99", "-O2", f"-DFEATURES={X.shape[1]}", f"-I{emlearn.includedir}", "main.c", "-lm", "-o", "main"]
        subprocess.run(build, cwd=tmp_path, check=True)
        run = subprocess.run([tmp_path / "main"], input=X[held_out].tobytes(), stdout=subprocess.PIPE, check=True)
        return np.frombuffer(run.stdout, dtype="<f4").reshape(-1, 2).T

    # The scores that the generated C gives are those to calibrate: emlearn's leaves are coarser than scikit-learn's.
    first = calib_host.fit(np.linspace(0, 1, 200), np.arange(200) % 2, "fixed-width", bins=2)
    scores, _ = answers(first.export_c("risk"))
    started = time.perf_counter()
    calibrator = calib_host.fit(scores, y[held_out], method, **options)
    again, probs = answers(calibrator.export_c("risk"))
    print(f"{method}: fitted, exported, compiled and run in {time.perf_counter() - started:.2f} s")
    np.testing.assert_array_equal(again.view(np.uint32), scores.view(np.uint32))
    expected = calibrator.predict(scores)
    assert expected.dtype == np.float32 and len(np.unique(probs)) > 2
    np.testing.assert_array_equal(probs.view(np.uint32), expected.view(np.uint32))
