"""The command `calib`."""

import os
import sys

from ._native import run


def main() -> None:
    """The command: what the script `calib` and `python -m calib_host` run."""
    if sys.stdout is None:
        # Or the first file that is written would stand for standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(run(["calib", *sys.argv[1:]]))
