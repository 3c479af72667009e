"""Wall time for the runtime: milliseconds that never run backwards."""

import time
from collections.abc import Callable


class SteadyClock:
    """The wall clock, held still while it steps back, so that no timer fires early or twice."""

    def __init__(self, source: Callable[[], float] = time.time) -> None:
        self._source, self._last = source, 0

    def now(self) -> int:
        """Milliseconds since the epoch."""
        self._last = max(self._last, int(self._source() * 1000))
        return self._last
