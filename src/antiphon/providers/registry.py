"""Opening models by reference: where keys, addresses, time and the shared connections come together."""

from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from antiphon.providers.base import Model, Provider, Timeouts
from antiphon.providers.clock import LOOP_CLOCK, Clock
from antiphon.providers.hosted import BASE_URLS, needs_key, ollama_url, open_carrier, wire_for
from antiphon.providers.keys import Keys
from antiphon.providers.local.engine import Engine, engine_of
from antiphon.providers.local.model import LocalModel
from antiphon.providers.references import Reference, parse
from antiphon.providers.remote import DEFAULT_TIMEOUTS, RemoteModel
from antiphon.providers.scripted import open_script
from antiphon.providers.wire import Carrier

Opener = Callable[[Reference], Provider]


class Models:
    """Opens models; close it to give the connections back."""

    __slots__ = ("_base_urls", "_carrier", "_clock", "_engines", "_keys", "_openers", "_raised", "_timeouts")

    def __init__(
        self,
        *,
        keys: Keys | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        base_urls: Mapping[str, str] | None = None,
        openers: Mapping[str, Opener] | None = None,
        carrier: Carrier | None = None,
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        self._keys = keys or Keys()
        self._timeouts = timeouts
        self._base_urls = {**BASE_URLS, "ollama": ollama_url(), **(base_urls or {})}
        self._openers = openers or {}
        self._carrier = carrier
        self._clock = clock
        self._raised: Counter[str] = Counter()
        self._engines: dict[str, Engine] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Give back all connections, and end the child processes of embedded models."""
        while self._engines:
            await self._engines.popitem()[1].close()
        if self._carrier is not None:
            await self._carrier.close()

    def open(self, reference: str | Reference) -> Provider:
        """The model that a reference names; a missing key is reported when it is first asked."""
        named = parse(reference) if isinstance(reference, str) else reference
        if named.provider in self._openers:
            return self._openers[named.provider](named)
        if named.provider == "scripted":
            return open_script(named, self._clock, self._raised)
        if named.provider == "local":
            return self._local(named)
        return self._remote(named)

    def _local(self, reference: Reference) -> LocalModel:
        # One child serves everyone; it starts when it is first asked.
        if reference.model not in self._engines:
            self._engines[reference.model] = engine_of(reference.model)
        engine = self._engines[reference.model]
        return LocalModel(engine, self._opened_carrier(), timeouts=self._timeouts, clock=self._clock)

    def _remote(self, named: Reference) -> RemoteModel:
        wire = wire_for(named)
        return RemoteModel(
            Model(str(named), wire.name, named.model),
            wire,
            self._opened_carrier(),
            base_url=named.base_url or self._base_urls[named.provider],
            keys=self._keys,
            # The key of a provider goes to the provider only: a reference may name any server.
            key_name=named.base_url or named.provider,
            key_needed=needs_key(wire),
            timeouts=self._timeouts,
            clock=self._clock,
        )

    def _opened_carrier(self) -> Carrier:
        if self._carrier is None:
            self._carrier = open_carrier()
        return self._carrier
