"""Opening models by reference: where keys, addresses, time and the shared connections come together."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from antiphon.providers.base import Model, Provider, Timeouts
from antiphon.providers.clock import LOOP_CLOCK, Clock
from antiphon.providers.errors import Code, ProviderError
from antiphon.providers.formats.anthropic import AnthropicWire
from antiphon.providers.formats.compatible import COMPATIBLE
from antiphon.providers.formats.google import GoogleWire
from antiphon.providers.formats.mistral import MISTRAL
from antiphon.providers.formats.openai import OPENAI
from antiphon.providers.keys import Keys
from antiphon.providers.local.engine import Engine
from antiphon.providers.local.model import LocalModel
from antiphon.providers.local.weights import models_folder
from antiphon.providers.local.weights import named as named_weights
from antiphon.providers.references import Reference, parse
from antiphon.providers.remote import DEFAULT_TIMEOUTS, RemoteModel
from antiphon.providers.scripted import open_script
from antiphon.providers.wire import Carrier, Wire

WIRES: Mapping[str, Wire] = {
    "anthropic": AnthropicWire(),
    "openai": OPENAI,
    "google": GoogleWire(),
    "mistral": MISTRAL,
    "ollama": COMPATIBLE,
}
BASE_URLS: Mapping[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
    "mistral": "https://api.mistral.ai/v1",
}
NOT_INSTALLED = "models on servers are not installed: pip install 'antiphon[models]'"
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
        weights = named_weights(reference.model)
        # One child serves everyone; it starts when it is first asked.
        engine = self._engines.setdefault(weights.name, Engine(weights, models_folder()))
        return LocalModel(engine, self._opened_carrier(), timeouts=self._timeouts, clock=self._clock)

    def _remote(self, named: Reference) -> RemoteModel:
        own_server = named.base_url is not None
        # Whoever speaks like OpenAI is not OpenAI: it is read leniently.
        wire = COMPATIBLE if own_server and named.provider == "openai" else WIRES[named.provider]
        return RemoteModel(
            Model(str(named), wire.name, named.model),
            wire,
            self._opened_carrier(),
            base_url=named.base_url or self._base_urls[named.provider],
            keys=self._keys,
            # The key of a provider goes to the provider only: a reference may name any server.
            key_name=named.base_url or named.provider,
            key_needed=wire is not COMPATIBLE,
            timeouts=self._timeouts,
            clock=self._clock,
        )

    def _opened_carrier(self) -> Carrier:
        if self._carrier is None:
            # The HTTP library is an extra, and loads longer than all else: only a model on a server needs it.
            try:
                from antiphon.providers.http.client import HttpCarrier
            except ModuleNotFoundError as error:
                raise ProviderError(Code.UNSUPPORTED, NOT_INSTALLED) from error
            self._carrier = HttpCarrier()
        return self._carrier


def ollama_url(environment: Mapping[str, str] = os.environ) -> str:
    """Where Ollama listens."""
    host = environment.get("OLLAMA_HOST") or "127.0.0.1:11434"
    address = host if "://" in host else f"http://{host}"
    return f"{address.rstrip('/').replace('://0.0.0.0', '://127.0.0.1')}/v1"
