"""The running asyncio event loop, looked up without importing asyncio.

Importing asyncio takes longer than importing Antiphon; a program that runs a loop has imported it already.
"""

import sys
from typing import Any

from antiphon.actors.errors import NoEventLoop


def running_loop() -> Any:
    """Return the event loop that runs in this thread, or None."""
    # It returns None where `get_running_loop` raises, and is missing while asyncio is being imported.
    find = getattr(sys.modules.get("asyncio"), "_get_running_loop", None)
    return None if find is None else find()


def require_loop(problem: str) -> Any:
    """Return the event loop that runs in this thread; raise NoEventLoop with the problem if there is none."""
    loop = running_loop()
    if loop is None:
        raise NoEventLoop(problem)
    return loop
