"""Models behind HTTP: any wire format over any transport."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing, nullcontext
from contextvars import ContextVar

from antiphon.errors import Code
from antiphon.providers.base import DEFAULT_TIMEOUTS, Delta, Model, Request, TextDelta, Timeouts
from antiphon.providers.boundary import Boundary
from antiphon.providers.circuit import Circuit
from antiphon.providers.clock import LOOP_CLOCK, ProviderClock
from antiphon.providers.errors import ProviderError
from antiphon.providers.formats.error_bodies import request_id, status_error
from antiphon.providers.http.idle_timer import IdleTimer
from antiphon.providers.keys import KeySource, Secret
from antiphon.providers.wire import HttpRequest, HttpResponse, Transport, Wire

LARGEST_ERROR_BODY = 64 * 1024
# A server ends the body right after the last frame; reading that end allows the connection to be reused.
DRAIN_S = 0.25
READ_PAUSE_MS: ContextVar[Callable[[], float]] = ContextVar("antiphon_read_pause", default=float)
"""Returns for how long the current task reads nothing after deltas, so that those that follow are decoded together."""


class RemoteModel:
    """`Provider` that sends requests to a server."""

    __slots__ = (
        "_base_url",
        "_circuit",
        "_clock",
        "_key_name",
        "_key_needed",
        "_keys",
        "_timeouts",
        "_transport",
        "_wire",
        "model",
    )

    def __init__(
        self,
        model: Model,
        wire: Wire,
        transport: Transport,
        *,
        base_url: str,
        keys: KeySource,
        key_name: str,
        key_needed: bool = True,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        clock: ProviderClock = LOOP_CLOCK,
        circuit: Circuit | None = None,
    ) -> None:
        self.model = model
        self._circuit = circuit
        self._wire = wire
        self._transport = transport
        self._base_url = base_url
        self._keys = keys
        self._key_name = key_name
        self._key_needed = key_needed
        self._timeouts = timeouts
        self._clock = clock

    def __repr__(self) -> str:
        return f"RemoteModel({self.model.reference!r})"

    async def check(self) -> None:
        """Raise `ProviderError` if a key is needed and missing."""
        self._key()

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Send a request and yield the deltas of the reply."""
        timeouts = request.timeouts or self._timeouts
        key = self._key()
        http_request = self._http_request(request, key, timeouts)
        boundary = Boundary(request, key)
        chunk = b""
        try:
            attempt = nullcontext() if self._circuit is None else self._circuit.attempt()
            with attempt, IdleTimer(self._clock, timeouts.first_delta_ms) as timer:
                response = await self._transport.send(http_request)
                try:
                    if response.status != 200:
                        raise status_error(response.status, response.headers, await _read_error_body(response))
                    decoder = self._wire.decoder(self.model.name, request, request_id(response.headers))
                    # Closed explicitly: the garbage collector would need a task to do it.
                    async with aclosing(response.chunks()) as chunks:
                        async for chunk in chunks:
                            timer.pause()
                            has_deltas = False
                            pause_ms = READ_PAUSE_MS.get()()
                            deltas = boundary.deltas(decoder.feed(chunk))
                            for delta in _join_texts(deltas) if pause_ms else deltas:
                                has_deltas = True
                                yield delta
                            if decoder.finished:
                                await _drain(chunks)
                                return
                            if has_deltas:
                                if pause_ms:
                                    await asyncio.sleep(pause_ms / 1000)
                                timer.start(timeouts.between_deltas_ms)
                            else:
                                timer.resume()
                    timer.pause()
                    for delta in boundary.deltas(decoder.end()):
                        yield delta
                    return
                finally:
                    await response.close()
        except ProviderError as error:
            failure = boundary.error(error)
        # Raised here, where neither its context nor a variable has what the server sent.
        chunk = b""
        raise failure

    def _key(self) -> Secret | None:
        key = self._keys.find(self._key_name)
        if key is None and self._key_needed:
            raise ProviderError(Code.UNAUTHENTICATED, self._keys.advice(self._key_name))
        return key

    def _http_request(self, request: Request, key: Secret | None, timeouts: Timeouts) -> HttpRequest:
        header, prefix = self._wire.key_header
        body = {**self._wire.body(self.model.name, request), **request.extra}
        return HttpRequest(
            url=self._base_url + self._wire.path(self.model.name),
            headers={"content-type": "application/json", "accept": "text/event-stream", **self._wire.headers()},
            body=json.dumps(body).encode(),
            key=key,
            key_header=header,
            key_prefix=prefix,
            connect_ms=timeouts.connect_ms,
        )


def _join_texts(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Iterate over deltas, with texts that follow each other as one; those before an error come first."""
    texts: list[str] = []
    try:
        for delta in deltas:
            if isinstance(delta, TextDelta):
                texts.append(delta.text)
                continue
            if texts:
                yield TextDelta("".join(texts))
                texts.clear()
            yield delta
    except ProviderError:
        if texts:
            yield TextDelta("".join(texts))
        raise
    if texts:
        yield TextDelta("".join(texts))


async def _read_error_body(response: HttpResponse) -> bytes:
    body = b""
    async with aclosing(response.chunks()) as chunks:
        async for chunk in chunks:
            body += chunk
            if len(body) >= LARGEST_ERROR_BODY:
                break
    return body[:LARGEST_ERROR_BODY]


async def _drain(chunks: AsyncGenerator[bytes, None]) -> None:
    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass
    except (TimeoutError, ProviderError):
        # The reply is complete: how the connection ends no longer matters.
        return
