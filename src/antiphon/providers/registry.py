"""Opens models by reference, with shared keys, base URLs, clock and connections."""

from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from antiphon.providers.base import CheckedProvider, Model, Provider, Timeouts
from antiphon.providers.clock import LOOP_CLOCK, ProviderClock
from antiphon.providers.hosted import default_url, needs_key, open_transport, wire_for
from antiphon.providers.keys import Keys
from antiphon.providers.local.engines import Engines
from antiphon.providers.local.settings import LocalSettings
from antiphon.providers.plugins import Opener, Plugins
from antiphon.providers.rate_limits import KeyLimiter, RateLimitedProvider, RateLimits
from antiphon.providers.references import NAMES, Reference, parse_reference
from antiphon.providers.remote import DEFAULT_TIMEOUTS, RemoteModel
from antiphon.providers.scripted import open_script
from antiphon.providers.wire import Transport


class Models:
    """Opens models; close it to close their connections.

    `rate_limits` are by the name of a key: a provider, or the base URL of a server. All models with one key share them.
    """

    __slots__ = (
        "_base_urls",
        "_clock",
        "_engines",
        "_keys",
        "_limiters",
        "_plugins",
        "_raised",
        "_rate_limits",
        "_timeouts",
        "_transport",
    )

    def __init__(
        self,
        *,
        keys: Keys | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        base_urls: Mapping[str, str] | None = None,
        openers: Mapping[str, Opener] | None = None,
        transport: Transport | None = None,
        rate_limits: Mapping[str, RateLimits] | None = None,
        clock: ProviderClock = LOOP_CLOCK,
        local: LocalSettings | None = None,
    ) -> None:
        self._keys = keys or Keys()
        self._timeouts = timeouts
        self._base_urls = dict(base_urls or {})
        self._plugins = Plugins()
        self._transport = transport
        self._clock = clock
        self._raised: Counter[str] = Counter()
        self._engines = Engines(local)
        self._rate_limits = dict(rate_limits or {})
        self._limiters: dict[str, KeyLimiter] = {}
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
        if self._transport is not None:
            await self._transport.close()

    def register(self, name: str, provider: Provider | Opener) -> None:
        """Add a provider under a name, or a function that opens its models by reference; it precedes all others."""
        self._plugins.register(name, provider)

    def open(self, reference: str | Reference) -> Provider:
        """Open the model that a reference names; a missing key is reported by the first request."""
        parsed = parse_reference(reference) if isinstance(reference, str) else reference
        provider = self._open(parsed)
        key_name = parsed.base_url or parsed.provider
        if key_name not in self._rate_limits and not isinstance(provider, RemoteModel):
            return provider  # it has no key that a server could limit
        if key_name not in self._limiters:
            self._limiters[key_name] = KeyLimiter(self._rate_limits.get(key_name), self._clock)
        return RateLimitedProvider(provider, self._limiters[key_name])

    def _open(self, parsed: Reference) -> Provider:
        if parsed.provider in self._plugins or parsed.provider not in NAMES:
            return self._plugins.open(parsed)
        if parsed.provider == "scripted":
            return open_script(parsed, self._clock, self._raised)
        if parsed.provider == "local":
            transport = self._open_transport()
            return self._engines.open_model(parsed.model, transport, timeouts=self._timeouts, clock=self._clock)
        return self._open_remote(parsed)

    async def check(self, reference: str | Reference) -> Model:
        """Return the model that a reference names; raise `ProviderError` if it is unknown, or lacks a key or a file.

        No request is sent: the server may still refuse the key or the model.
        """
        provider = self._open(parse_reference(reference) if isinstance(reference, str) else reference)
        if isinstance(provider, CheckedProvider):
            await provider.check()
        return provider.model

    def _open_remote(self, reference: Reference) -> RemoteModel:
        wire = wire_for(reference)
        base_url = reference.base_url or self._base_urls.get(reference.provider)
        return RemoteModel(
            Model(str(reference), wire.name, reference.model),
            wire,
            self._open_transport(),
            base_url=base_url or default_url(reference.provider),
            keys=self._keys,
            # The key of a provider is sent to that provider only: a reference may name any server.
            key_name=reference.base_url or reference.provider,
            key_needed=needs_key(wire),
            timeouts=self._timeouts,
            clock=self._clock,
        )

    def _open_transport(self) -> Transport:
        if self._transport is None:
            self._transport = open_transport()
        return self._transport
