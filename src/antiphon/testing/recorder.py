"""Recording real streams to a file, without keys and ids, and playing them back.

Both ends are transports, so what is recorded is what came over the wire, and what is played goes through the same
decoder as the real thing. A recording is JSON lines: a call, its answer, the pieces of the body, and how it ended.
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
    """Replaces keys and ids in texts, the same id always by the same name."""

    __slots__ = ("_names",)

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def clean(self, text: str, key: Secret | None) -> str:
        """A text without the key and the ids in it."""
        for id in ID.findall(text):
            self._names.setdefault(id, f"id{len(self._names) + 1:07}")
        for id, name in self._names.items():
            text = text.replace(f'"{id}"', f'"{name}"')
        return key.hide(text) if key is not None else text


class Recorder:
    """A transport that passes everything on to another one and writes it down."""

    __slots__ = ("_clock", "_file", "_inner", "_scrubber")

    def __init__(self, inner: Transport, path: str | Path, *, clock: ProviderClock = LOOP_CLOCK) -> None:
        self._inner = inner
        self._clock = clock
        self._scrubber = Scrubber()
        target = Path(path)
        self._file: TextIO = target.open("w", encoding="utf-8")

    async def send(self, call: HttpRequest) -> "RecordedResponse":
        """Send a call and write it down."""
        request = {"path": call.url.split("?")[0].split("/", 3)[-1], "body": json.loads(call.body)}
        self.write({"call": request}, call.key)
        answer = await self._inner.send(call)
        headers = {name: answer.headers[name] for name in KEPT_HEADERS if name in answer.headers}
        self.write({"answer": {"status": answer.status, "headers": headers}}, call.key)
        return RecordedResponse(answer, call.key, self, self._clock)

    async def close(self) -> None:
        """Close the file and the other transport."""
        self._file.close()
        await self._inner.close()

    def write(self, line: dict[str, Any], key: Secret | None) -> None:
        """Add a line without secrets."""
        self._file.write(self._scrubber.clean(json.dumps(line, ensure_ascii=False), key) + "\n")

    def write_body(self, at_ms: float, data: bytes, key: Secret | None) -> None:
        """Add a piece of a body; its own quotes are cleaned before they are escaped."""
        text = self._scrubber.clean(data.decode("utf-8", "replace"), key)
        self._file.write(json.dumps({"at": round(at_ms), "data": text}, ensure_ascii=False) + "\n")


class RecordedResponse:
    """An answer that is written down as it is read."""

    __slots__ = ("_answer", "_clock", "_key", "_recorder", "headers", "status")

    def __init__(self, answer: HttpResponse, key: Secret | None, recorder: Recorder, clock: ProviderClock) -> None:
        self._answer = answer
        self._key = key
        self._recorder = recorder
        self._clock = clock
        self.status = answer.status
        self.headers = answer.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body, written down line by line: ids may not be cut in two."""
        begun = self._clock.now()
        held = b""
        try:
            async with aclosing(self._answer.chunks()) as chunks:
                async for chunk in chunks:
                    whole, newline, held = (held + chunk).rpartition(b"\n")
                    if newline:
                        self._recorder.write_body(self._clock.now() - begun, whole + newline, self._key)
                    yield chunk
        except ProviderError as error:
            self._recorder.write({"failed": error.to_json()}, self._key)
            raise
        if held:
            self._recorder.write_body(self._clock.now() - begun, held, self._key)
        self._recorder.write({"end": True}, self._key)

    async def close(self) -> None:
        """End the request."""
        await self._answer.close()


class Replay:
    """A transport that answers from a recording, call by call, at once or at the pace it was recorded with."""

    __slots__ = ("_clock", "_exchanges", "_paced")

    def __init__(self, path: str | Path, *, paced: bool = False, clock: ProviderClock = LOOP_CLOCK) -> None:
        lines = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        self._exchanges = _exchanges(lines)
        self._paced = paced
        self._clock = clock

    async def send(self, call: HttpRequest) -> "ReplayedResponse":
        """The next answer of the recording."""
        exchange = next(self._exchanges, None)
        if exchange is None:
            raise ProviderError(Code.NETWORK, "the recording has no further answer")
        return ReplayedResponse(exchange, self._clock if self._paced else None)

    async def close(self) -> None:
        """Nothing is held open."""


class ReplayedResponse:
    """An answer out of a recording."""

    __slots__ = ("_clock", "_lines", "headers", "status")

    def __init__(self, lines: list[dict[str, Any]], clock: ProviderClock | None) -> None:
        head = lines[1]["answer"]
        self.status: int = head["status"]
        self.headers: Mapping[str, str] = head["headers"]
        self._lines = lines[2:]
        self._clock = clock

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it was recorded."""
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
        """Nothing is held open."""


def _exchanges(lines: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    exchange: list[dict[str, Any]] = []
    for line in lines:
        if "call" in line and exchange:
            yield exchange
            exchange = []
        exchange.append(line)
    if exchange:
        yield exchange
