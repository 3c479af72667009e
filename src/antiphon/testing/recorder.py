"""Record real streams to a file, without keys and ids, and replay them.

Both classes are transports, so the recording is what came over the wire, and a replay goes through the same
decoder as a real stream. A recording is JSON lines: a call, its answer, the pieces of the body, and how it ended.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, TextIO

from antiphon.errors import Code
from antiphon.providers.clock import LOOP_CLOCK, ProviderClock, sleep
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Secret
from antiphon.providers.wire import HttpRequest, HttpResponse, Transport

ID = re.compile(
    r'"(?:id|request_id|requestId|responseId|tool_use_id|tool_call_id|system_fingerprint)"\s*:\s*"([^"\\]+)"'
)
# Other headers name accounts, regions and machines.
KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "date")


class Scrubber:
    """Replaces keys and ids in texts, equal ids by equal names."""

    __slots__ = ("_names",)

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def clean(self, text: str, key: Secret | None) -> str:
        """Return a text without the key and the ids in it."""
        for id in ID.findall(text):
            self._names.setdefault(id, f"id{len(self._names) + 1:07}")
        for id, name in self._names.items():
            text = text.replace(f'"{id}"', f'"{name}"')
        return key.hide(text) if key is not None else text


class Recorder:
    """Transport that forwards requests to another one and records them."""

    __slots__ = ("_clock", "_file", "_inner", "_scrubber")

    def __init__(self, inner: Transport, path: str | Path, *, clock: ProviderClock = LOOP_CLOCK) -> None:
        self._inner = inner
        self._clock = clock
        self._scrubber = Scrubber()
        target = Path(path)
        self._file: TextIO = target.open("w", encoding="utf-8")

    async def send(self, request: HttpRequest) -> "RecordedResponse":
        """Send a request and record it."""
        call = {"path": request.url.split("?")[0].split("/", 3)[-1], "body": json.loads(request.body)}
        self.write({"call": call}, request.key)
        response = await self._inner.send(request)
        headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
        self.write({"answer": {"status": response.status, "headers": headers}}, request.key)
        return RecordedResponse(response, request.key, self, self._clock)

    async def close(self) -> None:
        """Close the file and the other transport."""
        self._file.close()
        await self._inner.close()

    def write(self, line: dict[str, Any], key: Secret | None) -> None:
        """Add a line without secrets."""
        self._file.write(self._scrubber.clean(json.dumps(line, ensure_ascii=False), key) + "\n")

    def write_body(self, at_ms: float, data: bytes, key: Secret | None) -> None:
        """Add a piece of a body; it is cleaned before its quotes are escaped."""
        text = self._scrubber.clean(data.decode("utf-8", "replace"), key)
        self._file.write(json.dumps({"at": round(at_ms), "data": text}, ensure_ascii=False) + "\n")


class RecordedResponse:
    """Response that is recorded as it is read."""

    __slots__ = ("_clock", "_key", "_recorder", "_response", "headers", "status")

    def __init__(self, response: HttpResponse, key: Secret | None, recorder: Recorder, clock: ProviderClock) -> None:
        self._response = response
        self._key = key
        self._recorder = recorder
        self._clock = clock
        self.status = response.status
        self.headers = response.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the body, and record it line by line, so that no id is split."""
        start = self._clock.now()
        partial = b""
        try:
            async with aclosing(self._response.chunks()) as chunks:
                async for chunk in chunks:
                    whole, newline, partial = (partial + chunk).rpartition(b"\n")
                    if newline:
                        self._recorder.write_body(self._clock.now() - start, whole + newline, self._key)
                    yield chunk
        except ProviderError as error:
            self._recorder.write({"failed": error.to_json()}, self._key)
            raise
        if partial:
            self._recorder.write_body(self._clock.now() - start, partial, self._key)
        self._recorder.write({"end": True}, self._key)

    async def close(self) -> None:
        """End the request."""
        await self._response.close()


class Replay:
    """Transport that replays the responses of a recording, at once or at the recorded pace."""

    __slots__ = ("_clock", "_exchanges", "_paced")

    def __init__(self, path: str | Path, *, paced: bool = False, clock: ProviderClock = LOOP_CLOCK) -> None:
        lines = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        self._exchanges = _exchanges(lines)
        self._paced = paced
        self._clock = clock

    async def send(self, request: HttpRequest) -> "ReplayedResponse":
        """Return the next response of the recording."""
        exchange = next(self._exchanges, None)
        if exchange is None:
            raise ProviderError(Code.NETWORK, "the recording has no further response")
        return ReplayedResponse(exchange, self._clock if self._paced else None)

    async def close(self) -> None:
        """Do nothing: no resources are held."""


class ReplayedResponse:
    """Response of a recording."""

    __slots__ = ("_clock", "_lines", "headers", "status")

    def __init__(self, lines: list[dict[str, Any]], clock: ProviderClock | None) -> None:
        head = lines[1]["answer"]
        self.status: int = head["status"]
        self.headers: Mapping[str, str] = head["headers"]
        self._lines = lines[2:]
        self._clock = clock

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the recorded body."""
        at = 0
        for line in self._lines:
            if "failed" in line:
                raise ProviderError(Code(line["failed"]["code"]), line["failed"]["message"])
            if "data" in line:
                if self._clock is not None:
                    await sleep(self._clock, line["at"] - at)
                    at = line["at"]
                yield line["data"].encode()

    async def close(self) -> None:
        """Do nothing: no resources are held."""


def _exchanges(lines: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    exchange: list[dict[str, Any]] = []
    for line in lines:
        if "call" in line and exchange:
            yield exchange
            exchange = []
        exchange.append(line)
    if exchange:
        yield exchange
