"""`python -m calib_host`: the command `calib`."""

from ._command import main

main()
