"""Wall time for the runtime: milliseconds that never run backwards and never stand still."""

import time
from collections.abc import Callable


class SteadyClock:
    """The wall clock as far as it goes ahead; while it steps back, time goes on at the pace of the monotonic one.

    So no timer fires early or twice, and none waits until the wall has caught up.
    """

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._offset = wall() - monotonic()

    def now(self) -> int:
        """Milliseconds since the epoch."""
        running = self._monotonic()
        offset = self._wall() - running
        if offset > self._offset:
            self._offset = offset
        return int((running + self._offset) * 1000)
