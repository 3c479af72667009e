"""Circuit breakers: a server that fails again and again is left alone for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from antiphon.errors import Code
from antiphon.providers.clock import ProviderClock
from antiphon.providers.errors import ProviderError

OUTAGES = frozenset({Code.NETWORK, Code.OVERLOADED, Code.TIMEOUT})


@dataclass(frozen=True, slots=True)
class CircuitLimits:
    """Number of failures in a row after which a server is left alone, and for how long."""

    failures: int = 5
    pause_ms: int = 30_000


DEFAULT_CIRCUIT = CircuitLimits()


class Circuit:
    """The breaker of one server.

    Closed, it lets every request pass. Open, it refuses them at once; the refusal says when to try again.
    When the pause is over, one request is let through: if the server answers, the circuit closes, else it opens again.
    """

    __slots__ = ("_clock", "_failures", "_limits", "_name", "_open_until", "_trying")

    def __init__(self, name: str, limits: CircuitLimits, clock: ProviderClock) -> None:
        self._name = name
        self._limits = limits
        self._clock = clock
        self._failures = 0
        self._open_until: float | None = None
        self._trying = False

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Let a request pass and note how it ends, or raise `ProviderError` if the server is left alone."""
        is_trial = self._open_until is not None
        if self._open_until is not None:
            self._require_trial(self._open_until)
            self._trying = True
        try:
            yield
        except ProviderError as error:
            self._note(error.code in OUTAGES)
            raise
        else:
            self._note(False)
        finally:
            # A request that was cancelled says nothing about the server.
            self._trying = self._trying and not is_trial

    def _require_trial(self, open_until: float) -> None:
        rest_ms = max(0, round(open_until - self._clock.now()))
        if rest_ms or self._trying:
            wait = f"the next attempt is possible in {rest_ms / 1000:.0f} s" if rest_ms else "one request tries it now"
            message = f"{self._name} has failed {self._failures} times in a row and is left alone; {wait}"
            raise ProviderError(Code.OVERLOADED, message, retry_after_ms=rest_ms or self._limits.pause_ms)

    def _note(self, failed: bool) -> None:
        self._failures = self._failures + 1 if failed else 0
        is_open = self._failures >= self._limits.failures
        self._open_until = self._clock.now() + self._limits.pause_ms if is_open else None
