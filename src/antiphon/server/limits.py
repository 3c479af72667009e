"""Limits of callers: requests of a token and failed logins of an address in a minute, requests of a user at once."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address
from math import ceil

from antiphon.server.authentication import Caller
from antiphon.server.problems import ProblemError
from antiphon.server.settings import ServerSettings

MINUTE_S = 60.0
MOST_KEYS = 4096
REFUSALS_PER_MINUTE = 60  # lines of refused attempts in the audit log
NETWORK_BITS = 64  # one person has at least so many addresses of IPv6


class RateLimiter:
    """Allows so many events of a key in a minute, at once or one after another; it keeps few keys in memory.

    The key that was used least recently is forgotten first, so a forgotten key may have more events than it should.
    """

    def __init__(
        self, per_minute: int, clock: Callable[[], float] = time.monotonic, most_keys: int = MOST_KEYS
    ) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._most_keys = most_keys
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # events left, and the time of that

    def __len__(self) -> int:
        return len(self._left)

    def take(self, key: str) -> float:
        """Count an event; return 0, or the seconds after which it would be allowed."""
        now = self._clock()
        per_s = self._per_minute / MINUTE_S
        before, at = self._left.pop(key, (float(self._per_minute), now))
        left = min(float(self._per_minute), before + (now - at) * per_s)
        is_allowed = left >= 1
        self._left[key] = (left - 1 if is_allowed else left, now)
        if len(self._left) > self._most_keys:
            self._left.popitem(last=False)
        return 0.0 if is_allowed else (1 - left) / per_s


class CallerLimits:
    """Limits of the callers of a server; those of a user do not hold for the operator."""

    def __init__(self, settings: ServerSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._tokens = RateLimiter(settings.token_requests_per_minute, clock)
        self._failures = RateLimiter(settings.failed_logins_per_minute, clock)
        self.refusals = RateLimiter(REFUSALS_PER_MINUTE, clock)  # by token; those without one share a key
        self._running: Counter[str] = Counter()  # requests by user, streams included
        self._streams: Counter[str] = Counter()

    def count_failure(self, address: str) -> None:
        """Count a failed login; raise `ProblemError` if an address had too many."""
        wait_s = self._failures.take(network_of(address))
        if wait_s:
            raise too_many("too many requests with a wrong token or none", wait_s)

    @contextmanager
    def request(self, caller: Caller) -> Iterator[None]:
        """Count a request while it is answered; raise `ProblemError` if its token or its user has too many."""
        if caller.is_operator:
            yield
            return
        wait_s = self._tokens.take(caller.token_id)
        if wait_s:
            most = self._settings.token_requests_per_minute
            raise too_many(f"a token may make {most:,} requests in a minute", wait_s)
        most = self._settings.most_user_requests
        if self._running[caller.user] - self._streams[caller.user] >= most:
            raise too_many(f"a user may make {most:,} requests at once", 1)
        with _counted(self._running, caller.user):
            yield

    @contextmanager
    def stream(self, caller: Caller) -> Iterator[None]:
        """Count a stream while it is open; raise `ProblemError` if its user has too many."""
        if caller.is_operator:
            yield
            return
        most = self._settings.most_user_streams
        if self._streams[caller.user] >= most:
            raise too_many(f"a user may open {most:,} streams at once; close one first", 1)
        with _counted(self._streams, caller.user):
            yield


@contextmanager
def _counted(counter: Counter[str], key: str) -> Iterator[None]:
    counter[key] += 1
    try:
        yield
    finally:
        counter[key] -= 1
        if not counter[key]:
            del counter[key]


def too_many(detail: str, wait_s: float) -> ProblemError:
    """Return the problem of a limit, with the whole seconds to wait."""
    return ProblemError("too_many_requests", f"{detail}; try again later", retryAfter=ceil(wait_s))


def network_of(address: str) -> str:
    """Return the address that failed logins are counted by: that of IPv4, or the network of one person."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return ""
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> NETWORK_BITS << NETWORK_BITS))
    return str(parsed)
