"""Settings of Python for a process that only serves: its event loop, garbage collection, and threads.

1. A collection of all objects stops every stream. With Python's defaults collections took a fifth of the processor time
   of 500 streams, up to 300 ms each, and found little: nearly all objects belong to modules and to live threads.
2. A busy event loop keeps Python's lock until another thread has waited for the switch interval. The thread of the
   store needs the lock after every row.
"""

import asyncio
import gc
import sys
from collections.abc import Callable

# A collection of new objects, of those that survived it, and of all, after so many: Python's are 700, 10 and 10.
THRESHOLDS = (5_000, 10, 50)
SWITCH_S = 0.001  # Python's is 0.005


def tune_process() -> None:
    """Leave all objects there are out of later collections, make these rarer, and let threads run sooner.

    Until then the command has switched collections off. They are not collected first: that would take 40 ms, for which
    a window waits, and find hundreds of nearly 200,000.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(*THRESHOLDS)
    sys.setswitchinterval(SWITCH_S)


def fast_loop() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return the function that makes an event loop of uvloop, which must be installed."""
    import uvloop  # it does not exist for every system

    return uvloop.new_event_loop
