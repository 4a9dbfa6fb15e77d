"""Calibrated probabilities for microcontrollers.

Fit a calibrator to held-out scores, see what is guaranteed, and write the bytes that a device reads:

>>> import numpy as np
>>> import calib_host
>>> rng = np.random.default_rng(0)
>>> scores = rng.random(400)
>>> labels = rng.random(400) < scores**2  # the classifier is overconfident
>>> calibrator = calib_host.fit(scores, labels, method="umd", bins=4)
>>> low, high = calibrator.predict([0.1, 0.9])
>>> bool(low < 0.1 < 0.7 < high)
True
>>> round(calibrator.guarantee.epsilon, 4)
0.1163
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._assess import assess, calibration_curve
    from ._calibrator import Calibrator, CalibrationWarning, Guarantee, fit, load
    from ._report import Comparison, Report, compare, report
    from ._imports import Proof, from_betacal, from_sklearn, from_temperature, from_venn_abers
    from ._jobs import Adjusted, Decision, PredictionSets, Thresholds, adjust, decide, sets, threshold
    from ._native import CalibError, DataError, MismatchError, UsageError, __version__
    from ._netcal import from_netcal
    from ._plan import plan, plan_threshold, plan_validation
    from ._plots import CalibrationDisplay
    from ._tflite import from_tflite, tflite_codes

# Where each name is. A module is imported when its first name is used: NumPy alone takes longer than all the rest.
_MODULES = {
    "Calibrator": "_calibrator",
    "CalibrationWarning": "_calibrator",
    "Guarantee": "_calibrator",
    "fit": "_calibrator",
    "load": "_calibrator",
    "assess": "_assess",
    "calibration_curve": "_assess",
    "compare": "_report",
    "Comparison": "_report",
    "report": "_report",
    "Report": "_report",
    "adjust": "_jobs",
    "Adjusted": "_jobs",
    "decide": "_jobs",
    "Decision": "_jobs",
    "sets": "_jobs",
    "PredictionSets": "_jobs",
    "threshold": "_jobs",
    "Thresholds": "_jobs",
    "plan": "_plan",
    "plan_threshold": "_plan",
    "plan_validation": "_plan",
    "CalibrationDisplay": "_plots",
    "Proof": "_imports",
    "from_sklearn": "_imports",
    "from_betacal": "_imports",
    "from_venn_abers": "_imports",
    "from_temperature": "_imports",
    "from_netcal": "_netcal",
    "from_tflite": "_tflite",
    "tflite_codes": "_tflite",
    "CalibError": "_native",
    "UsageError": "_native",
    "DataError": "_native",
    "MismatchError": "_native",
    "__version__": "_native",
}

__all__ = [name for name in _MODULES if not name.startswith("_")]


def __getattr__(name: str):
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
