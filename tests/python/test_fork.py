"""What a process that was forked can do: the threads of its parent are not there."""

import os
import signal
import time

import numpy as np
import pytest

import calib_host

#: Far more than the work takes.
SECONDS = 60


def ends_in_time(work):
    """Whether work that is done in a forked child ends, and says that all is well."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("rows", [100, 20_000, 100_000, 200_000, 300_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_child_predicts_what_its_parent_did(binary, rows, dtype):
    calibrator = calib_host.fit(*binary, "isotonic")
    scores = np.random.default_rng(0).random(rows).astype(dtype)
    # The parent starts whatever threads it shares.
    expected = calibrator.predict(scores)
    assert ends_in_time(lambda: np.array_equal(calibrator.predict(scores), expected))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_fits_and_assesses(binary):
    calibrator = calib_host.fit(*binary, "umd", bins=5)
    found = calib_host.assess(*binary)
    assert ends_in_time(lambda: calib_host.fit(*binary, "umd", bins=5) == calibrator and calib_host.assess(*binary) == found)
