"""The running asyncio event loop, looked up without importing asyncio.

Importing asyncio takes longer than importing Antiphon; a program that runs a loop has imported it already.
"""

import sys
from typing import Any


def running_loop() -> Any:
    """Return the event loop that runs in this thread, or None."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or not hasattr(asyncio, "get_running_loop"):
        return None
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
