"""The running asyncio event loop, looked up without importing asyncio.

Importing asyncio takes longer than importing Antiphon; a program that runs a loop has imported it already.
"""

import sys
from typing import Any

from antiphon.actors.errors import NoEventLoop


def running_loop() -> Any:
    """Return the event loop that runs in this thread, or None."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or not hasattr(asyncio, "get_running_loop"):
        return None
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def require_loop(problem: str) -> Any:
    """Return the event loop that runs in this thread; raise NoEventLoop with the problem if there is none."""
    loop = running_loop()
    if loop is None:
        raise NoEventLoop(problem)
    return loop
