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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import sklearn
    from ._assess import Assessment, assess, calibration_curve
    from ._bundle import bundle, check_bundle
    from ._calibrator import Calibrator, Guarantee, fit, load
    from ._imports import Proof, from_betacal, from_sklearn, from_temperature, from_venn_abers
    from ._jobs import Adjusted, Decision, PredictionSets, Thresholds, adjust, decide, sets, threshold
    from ._native import CalibError, DataError, MismatchError, UsageError, __version__
    from ._netcal import from_netcal
    from ._plan import plan, plan_threshold, plan_validation
    from ._plots import CalibrationDisplay
    from ._report import Comparison, Report, compare, report
    from ._rows import Rows
    from ._tflite import from_tflite, tflite_codes
    from ._warnings import CalibrationWarning

# Where each name is. A module is imported when its first name is used: NumPy alone takes longer than all the rest.
_MODULES = {
    "Calibrator": "_calibrator",
    "CalibrationWarning": "_warnings",
    "Guarantee": "_calibrator",
    "fit": "_calibrator",
    "load": "_calibrator",
    "assess": "_assess",
    "Assessment": "_assess",
    "Rows": "_rows",
    "calibration_curve": "_assess",
    "compare": "_report",
    "Comparison": "_report",
    "report": "_report",
    "Report": "_report",
    "bundle": "_bundle",
    "check_bundle": "_bundle",
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

__all__ = [
    "Adjusted",
    "Assessment",
    "CalibError",
    "CalibrationDisplay",
    "CalibrationWarning",
    "Calibrator",
    "Comparison",
    "DataError",
    "Decision",
    "Guarantee",
    "MismatchError",
    "PredictionSets",
    "Proof",
    "Report",
    "Rows",
    "Thresholds",
    "UsageError",
    "__version__",
    "adjust",
    "assess",
    "bundle",
    "calibration_curve",
    "check_bundle",
    "compare",
    "decide",
    "fit",
    "from_betacal",
    "from_netcal",
    "from_sklearn",
    "from_temperature",
    "from_tflite",
    "from_venn_abers",
    "load",
    "plan",
    "plan_threshold",
    "plan_validation",
    "report",
    "sets",
    "tflite_codes",
    "threshold",
]


if not TYPE_CHECKING:  # or every name would be one

    def __getattr__(name: str) -> Any:
        if name == "sklearn":
            return import_module(".sklearn", __name__)
        module = _MODULES.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f".{module}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, "sklearn"})
