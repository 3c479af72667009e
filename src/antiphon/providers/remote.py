"""A model behind HTTP: any wire format, over any carrier."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

from antiphon.errors import Code
from antiphon.providers.base import Delta, Model, Request, Timeouts
from antiphon.providers.clock import LOOP_CLOCK, Clock
from antiphon.providers.errors import ProviderError
from antiphon.providers.formats.error_bodies import request_id, status_error
from antiphon.providers.http.idle_timer import Watch
from antiphon.providers.keys import KeySource, Secret
from antiphon.providers.wire import Answer, Call, Carrier, Wire

LARGEST_ERROR_BODY = 64 * 1024
# After the last frame a server closes the body at once; reading that end lets the connection be used again.
DRAIN_S = 0.25
DEFAULT_TIMEOUTS = Timeouts()


class RemoteModel:
    """A `Provider` that asks a server."""

    __slots__ = ("_base_url", "_carrier", "_clock", "_key_name", "_key_needed", "_keys", "_timeouts", "_wire", "model")

    def __init__(
        self,
        model: Model,
        wire: Wire,
        carrier: Carrier,
        *,
        base_url: str,
        keys: KeySource,
        key_name: str,
        key_needed: bool = True,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        clock: Clock = LOOP_CLOCK,
    ) -> None:
        self.model = model
        self._wire = wire
        self._carrier = carrier
        self._base_url = base_url
        self._keys = keys
        self._key_name = key_name
        self._key_needed = key_needed
        self._timeouts = timeouts
        self._clock = clock

    def __repr__(self) -> str:
        return f"RemoteModel({self.model.reference!r})"

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Ask, and read the reply piece by piece."""
        timeouts = request.timeouts or self._timeouts
        key = self._key()
        call = self._call(request, key, timeouts)
        try:
            with Watch(self._clock, timeouts.first_delta_ms) as watch:
                answer = await self._carrier.send(call)
                try:
                    if answer.status != 200:
                        raise status_error(answer.status, answer.headers, await _beginning(answer))
                    decoder = self._wire.decoder(self.model.name, request, request_id(answer.headers))
                    # Closing the chunks by hand leaves nothing to the garbage collector, which would need a task.
                    async with aclosing(answer.chunks()) as chunks:
                        async for chunk in chunks:
                            watch.rest()
                            came = False
                            for delta in decoder.feed(chunk):
                                came = True
                                yield delta
                            if decoder.finished:
                                await _drain(chunks)
                                return
                            if came:
                                watch.wait(timeouts.between_deltas_ms)
                            else:
                                watch.resume()
                    watch.rest()
                    for delta in decoder.end():
                        yield delta
                finally:
                    await answer.close()
        except ProviderError as error:
            if key is not None:
                error.hide(key.hide)
            raise

    def _key(self) -> Secret | None:
        key = self._keys.find(self._key_name)
        if key is None and self._key_needed:
            raise ProviderError(Code.UNAUTHENTICATED, self._keys.advice(self._key_name))
        return key

    def _call(self, request: Request, key: Secret | None, timeouts: Timeouts) -> Call:
        header, prefix = self._wire.key_header
        body = {**self._wire.body(self.model.name, request), **request.extra}
        return Call(
            url=self._base_url + self._wire.path(self.model.name),
            headers={"content-type": "application/json", "accept": "text/event-stream", **self._wire.headers()},
            body=json.dumps(body).encode(),
            key=key,
            key_header=header,
            key_prefix=prefix,
            connect_ms=timeouts.connect_ms,
        )


async def _beginning(answer: Answer) -> bytes:
    body = b""
    async with aclosing(answer.chunks()) as chunks:
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
