"""Opens models by reference, with shared keys, base URLs, clock and connections."""

from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from antiphon.providers.base import DEFAULT_TIMEOUTS, CheckedProvider, Model, Provider, Timeouts
from antiphon.providers.circuit import DEFAULT_CIRCUIT, CircuitLimits
from antiphon.providers.clock import LOOP_CLOCK, ProviderClock
from antiphon.providers.keys import Keys, KeySource
from antiphon.providers.local.engines import Engines
from antiphon.providers.local.settings import LocalSettings
from antiphon.providers.plugins import Opener, Plugins
from antiphon.providers.rate_limits import KeyLimiter, RateLimitedProvider, RateLimits
from antiphon.providers.references import NAMES, Reference, parse_reference
from antiphon.providers.scripted import open_script
from antiphon.providers.servers import Servers
from antiphon.providers.wire import Transport

WITHOUT_SERVER = ("scripted", "local")


class Models:
    """Opens models; close it to close their connections.

    `rate_limits` are by the name of a key: a provider, or the base URL of a server. All models with one key share them.
    """

    __slots__ = (
        "_clock",
        "_engines",
        "_limiters",
        "_plugins",
        "_raised",
        "_rate_limits",
        "_servers",
        "_shared",
        "_timeouts",
    )

    def __init__(
        self,
        *,
        keys: KeySource | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        base_urls: Mapping[str, str] | None = None,
        openers: Mapping[str, Opener] | None = None,
        transport: Transport | None = None,
        rate_limits: Mapping[str, RateLimits] | None = None,
        clock: ProviderClock = LOOP_CLOCK,
        local: LocalSettings | None = None,
        circuit: CircuitLimits | None = DEFAULT_CIRCUIT,
    ) -> None:
        self._timeouts = timeouts
        self._plugins = Plugins()
        self._clock = clock
        self._raised: Counter[str] = Counter()
        self._engines = Engines(local)
        self._servers = Servers(
            keys=keys or Keys(),
            timeouts=timeouts,
            base_urls=base_urls or {},
            transport=transport,
            clock=clock,
            circuit=circuit,
        )
        self._rate_limits = dict(rate_limits or {})
        self._limiters: dict[str, KeyLimiter] = {}
        self._shared: set[str] = set()  # servers and engines that are also used without a session
        for name, opener in (openers or {}).items():
            self.register(name, opener)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections, and end the child processes of embedded models."""
        await self._engines.close()
        await self._servers.close()

    def register(self, name: str, provider: Provider | Opener) -> None:
        """Add a provider under a name, or a function that opens its models by reference; it precedes all others."""
        self._plugins.register(name, provider)

    def open(self, reference: str | Reference) -> Provider:
        """Open the model that a reference names; a missing key is reported by the first request."""
        provider = self.open_unshared(reference)
        self._shared.add(self.server_of(reference))
        return provider

    def open_unshared(self, reference: str | Reference) -> Provider:
        """Open a model for a session; `release` ends what was kept for it."""
        parsed = parse_reference(reference) if isinstance(reference, str) else reference
        provider = self._open(parsed)
        key_name = parsed.base_url or parsed.provider
        has_key = not self._is_plugin(parsed) and parsed.provider not in WITHOUT_SERVER
        if not has_key and key_name not in self._rate_limits:
            return provider  # it has no key that a server could limit
        if key_name not in self._limiters:
            self._limiters[key_name] = KeyLimiter(self._rate_limits.get(key_name), self._clock)
        return RateLimitedProvider(provider, self._limiters[key_name])

    async def check(self, reference: str | Reference) -> Model:
        """Return the model that a reference names; raise `ProviderError` if it is unknown, or lacks a key or a file.

        No request is sent: the server may still refuse the key or the model.
        """
        provider = self._open(parse_reference(reference) if isinstance(reference, str) else reference)
        if isinstance(provider, CheckedProvider):
            await provider.check()
        return provider.model

    def _open(self, parsed: Reference) -> Provider:
        if self._is_plugin(parsed):
            return self._plugins.open(parsed)
        if parsed.provider == "scripted":
            return open_script(parsed, self._clock, self._raised)
        if parsed.provider == "local":
            transport = self._servers.open_transport()
            return self._engines.open_model(parsed.model, transport, timeouts=self._timeouts, clock=self._clock)
        return self._servers.open(parsed)

    def server_of(self, reference: str | Reference) -> str:
        """Return what the requests of a model share with those of others: a server, a process, or nothing."""
        parsed = parse_reference(reference) if isinstance(reference, str) else reference
        if self._is_plugin(parsed) or parsed.provider in WITHOUT_SERVER:
            return str(parsed)
        return self._servers.base_url_of(parsed)

    async def release(self, reference: str) -> None:
        """End what was kept for a model: idle connections, a child process; what was opened by `open` stays."""
        parsed = parse_reference(reference)
        server = self.server_of(parsed)
        if self._is_plugin(parsed) or parsed.provider == "scripted" or server in self._shared:
            return
        if parsed.provider == "local":
            await self._engines.release(parsed.model)
        else:
            await self._servers.release(server)

    def _is_plugin(self, parsed: Reference) -> bool:
        return parsed.provider in self._plugins or parsed.provider not in NAMES
