"""Wall clock for the runtime: milliseconds that never run backwards and never stand still.

1. Time passes at the pace of a clock that is never set. It counts the time for which the computer was suspended, where
   the system has such a clock, so that timers are due on resume.
2. A wall clock that is set back is followed slowly: the time here runs slower until both agree.
3. A wall clock that jumps ahead is followed when it has been ahead for a minute; a jump that is taken back before then
   changes nothing. So a wrong clock does not make timers fire early, and a virtual machine that was paused catches up.

A process starts with the time of its wall clock. If that is behind the times in the store, the wall clock was ahead
before, or was set back: the letters that wait are moved back by as much (`Store.correct_times`), so that none waits
longer than its delay.
"""

import time
from collections.abc import Callable
from functools import partial

SUSTAINED_S = 60.0  # a jump ahead that lasts for so long is followed
SLOWDOWN = 0.1  # by how much the time runs slower while it is ahead of the wall clock
TOLERANCE_S = 0.001
# Returns the seconds since an arbitrary moment, suspended time included where the system counts it.
elapsed_s: Callable[[], float] = partial(time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class SteadyClock:
    """Wall clock that is corrected without running backwards and without following short jumps."""

    def __init__(self, wall: Callable[[], float] = time.time, elapsed: Callable[[], float] = elapsed_s) -> None:
        self._wall = wall
        self._elapsed = elapsed
        self._offset = wall() - elapsed()
        self._side = 0  # of the wall clock: 1 ahead of this one, -1 behind it, 0 in agreement
        self._since = 0.0  # when it got there; when it is behind, the last correction
        self._lead = 0.0  # by how much it has been ahead at least since then

    def now(self) -> int:
        """Return milliseconds since the epoch."""
        elapsed = self._elapsed()
        lead = self._wall() - elapsed - self._offset
        if self._side or abs(lead) >= TOLERANCE_S:
            self._correct(elapsed, lead)
        return int((elapsed + self._offset) * 1000)

    def _correct(self, elapsed: float, lead: float) -> None:
        """Follow the wall clock, which is ahead by `lead` seconds."""
        side = 0 if abs(lead) < TOLERANCE_S else 1 if lead > 0 else -1
        if side != self._side:
            self._side = side
            self._since = elapsed
            self._lead = lead
        elif side < 0:
            self._offset -= min(-lead, SLOWDOWN * (elapsed - self._since))
            self._since = elapsed
        else:
            self._lead = min(self._lead, lead)
            if elapsed - self._since >= SUSTAINED_S:
                self._offset += self._lead
                self._side = 0
