"""Models on servers, with shared keys, addresses, connections and circuit breakers."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from antiphon.providers.base import Model, Timeouts
from antiphon.providers.circuit import Circuit, CircuitLimits
from antiphon.providers.clock import ProviderClock
from antiphon.providers.hosted import default_url, needs_key, open_transport, wire_for
from antiphon.providers.keys import KeySource
from antiphon.providers.references import Reference
from antiphon.providers.remote import RemoteModel
from antiphon.providers.wire import PoolingTransport, Transport


class Servers:
    """Opens models on servers."""

    def __init__(
        self,
        *,
        keys: KeySource,
        timeouts: Timeouts,
        base_urls: Mapping[str, str],
        transport: Transport | None,
        clock: ProviderClock,
        circuit: CircuitLimits | None,
    ) -> None:
        self._keys = keys
        self._timeouts = timeouts
        self._base_urls = dict(base_urls)
        self._transport = transport
        self._clock = clock
        self._circuit_limits = circuit
        self._circuits: dict[str, Circuit] = {}

    def open(self, reference: Reference) -> RemoteModel:
        """Open a model on the server that its reference names."""
        wire = wire_for(reference)
        base_url = self.base_url_of(reference)
        return RemoteModel(
            Model(str(reference), wire.name, reference.model),
            wire,
            self.open_transport(),
            base_url=base_url,
            keys=self._keys,
            # The key of a provider is sent to that provider only: a reference may name any server.
            key_name=reference.base_url or reference.provider,
            key_needed=needs_key(wire),
            timeouts=self._timeouts,
            clock=self._clock,
            circuit=self._circuit_of(base_url),
        )

    def base_url_of(self, reference: Reference) -> str:
        """Return the address of the server that a reference names."""
        return reference.base_url or self._base_urls.get(reference.provider) or default_url(reference.provider)

    async def release(self, base_url: str) -> None:
        """Close the idle connections to a server."""
        if isinstance(self._transport, PoolingTransport):
            await self._transport.close_idle(base_url)

    def open_transport(self) -> Transport:
        """Open the connections that all models share, if they are not open yet."""
        if self._transport is None:
            self._transport = open_transport()
        return self._transport

    async def close(self) -> None:
        """Close all connections."""
        if self._transport is not None:
            await self._transport.close()

    def _circuit_of(self, base_url: str) -> Circuit | None:
        """Return the breaker that all models of a server share."""
        if self._circuit_limits is None:
            return None
        if base_url not in self._circuits:
            self._circuits[base_url] = Circuit(_host_of(base_url), self._circuit_limits, self._clock)
        return self._circuits[base_url]


def _host_of(base_url: str) -> str:
    """Return the host of a URL, for errors: the URL itself may contain a password."""
    try:
        return urlsplit(base_url).hostname or "the server"
    except ValueError:
        return "the server"  # the first request says that this is no URL
