"""A sign of life in a notebook."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: After this many seconds without a result, calib shows what is being done.
PATIENCE = 2.0


@contextmanager
def at_work(what: str) -> Iterator[None]:
    """Shows in a notebook what is being done and for how long, once that takes more than two seconds; elsewhere nothing."""
    shell = sys.modules.get("IPython")
    if shell is None or shell.get_ipython() is None or "IPKernelApp" not in shell.get_ipython().config:
        yield
        return
    from IPython import display as shown

    html: Any = shown.HTML
    display: Any = shown.display
    ended = threading.Event()

    def show() -> None:
        start = time.monotonic()
        if ended.wait(PATIENCE):
            return
        handle = display(html(""), display_id=True)
        while not ended.wait(1.0):
            handle.update(html(f"<em>{what}, {time.monotonic() - start:.0f} s</em>"))
        handle.update(html(""))

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
