"""Warnings, told of the line that called the package."""

from __future__ import annotations

import os
import sys
import warnings

_HERE = os.path.dirname(__file__) + os.sep


class CalibrationWarning(UserWarning):
    """A warning about a calibrator or its data."""


def warn(message: str) -> None:
    """Issues a warning as of the first caller outside of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, CalibrationWarning, stacklevel=level)
