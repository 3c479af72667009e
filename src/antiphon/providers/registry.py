"""Opens models by reference, with shared keys, base URLs, clock and connections."""

from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from antiphon.providers.base import Model, Provider, Timeouts
from antiphon.providers.circuit import Circuit, CircuitLimits
from antiphon.providers.clock import LOOP_CLOCK, ProviderClock
from antiphon.providers.hosted import BASE_URLS, needs_key, ollama_url, open_transport, wire_for
from antiphon.providers.keys import Keys
from antiphon.providers.local.engine import Engine, open_engine
from antiphon.providers.local.model import LocalModel
from antiphon.providers.plugins import Opener, Plugins
from antiphon.providers.references import NAMES, Reference, parse_reference
from antiphon.providers.remote import DEFAULT_TIMEOUTS, RemoteModel
from antiphon.providers.scripted import open_script
from antiphon.providers.wire import Transport

DEFAULT_CIRCUIT = CircuitLimits()


class Models:
    """Opens models; close it to close their connections."""

    __slots__ = (
        "_base_urls",
        "_circuit_limits",
        "_circuits",
        "_clock",
        "_engines",
        "_keys",
        "_plugins",
        "_raised",
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
        clock: ProviderClock = LOOP_CLOCK,
        circuit: CircuitLimits | None = DEFAULT_CIRCUIT,
    ) -> None:
        self._circuit_limits = circuit
        self._circuits: dict[str, Circuit] = {}
        self._keys = keys or Keys()
        self._timeouts = timeouts
        self._base_urls = {**BASE_URLS, "ollama": ollama_url(), **(base_urls or {})}
        self._plugins = Plugins()
        self._transport = transport
        self._clock = clock
        self._raised: Counter[str] = Counter()
        self._engines: dict[str, Engine] = {}
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
        while self._engines:
            await self._engines.popitem()[1].close()
        if self._transport is not None:
            await self._transport.close()

    def register(self, name: str, provider: Provider | Opener) -> None:
        """Add a provider under a name, or a function that opens its models by reference; it precedes all others."""
        self._plugins.register(name, provider)

    def open(self, reference: str | Reference) -> Provider:
        """Open the model that a reference names; a missing key is reported by the first request."""
        parsed = parse_reference(reference) if isinstance(reference, str) else reference
        if parsed.provider in self._plugins or parsed.provider not in NAMES:
            return self._plugins.open(parsed)
        if parsed.provider == "scripted":
            return open_script(parsed, self._clock, self._raised)
        if parsed.provider == "local":
            return self._open_local(parsed)
        return self._open_remote(parsed)

    def _open_local(self, reference: Reference) -> LocalModel:
        # All models share one child process, which starts with the first request.
        if reference.model not in self._engines:
            self._engines[reference.model] = open_engine(reference.model)
        engine = self._engines[reference.model]
        return LocalModel(engine, self._open_transport(), timeouts=self._timeouts, clock=self._clock)

    def _open_remote(self, reference: Reference) -> RemoteModel:
        wire = wire_for(reference)
        base_url = reference.base_url or self._base_urls[reference.provider]
        return RemoteModel(
            Model(str(reference), wire.name, reference.model),
            wire,
            self._open_transport(),
            base_url=base_url,
            keys=self._keys,
            # The key of a provider is sent to that provider only: a reference may name any server.
            key_name=reference.base_url or reference.provider,
            key_needed=needs_key(wire),
            timeouts=self._timeouts,
            clock=self._clock,
            circuit=self._circuit_of(base_url),
        )

    def _circuit_of(self, base_url: str) -> Circuit | None:
        """Return the breaker that all models of a server share."""
        if self._circuit_limits is None:
            return None
        if base_url not in self._circuits:
            # Only the host is named in errors: a URL may contain a password.
            host = urlsplit(base_url).hostname or "the server"
            self._circuits[base_url] = Circuit(host, self._circuit_limits, self._clock)
        return self._circuits[base_url]

    def _open_transport(self) -> Transport:
        if self._transport is None:
            self._transport = open_transport()
        return self._transport
