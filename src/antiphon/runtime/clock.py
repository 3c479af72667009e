"""Wall clock for the runtime: milliseconds that never run backwards and never stand still."""

import time
from collections.abc import Callable


class SteadyClock:
    """Wall clock that continues at the pace of the monotonic clock while the system clock is set back.

    So no timer fires early or twice, and none waits until the system clock has caught up.
    """

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._offset = wall() - monotonic()

    def now(self) -> int:
        """Return milliseconds since the epoch."""
        monotonic = self._monotonic()
        offset = self._wall() - monotonic
        if offset > self._offset:
            self._offset = offset
        return int((monotonic + self._offset) * 1000)
