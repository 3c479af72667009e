"""Requests that a real small model answers as the scenes of the contract need, and the transport that counts faults."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

from antiphon.messages import Message, ToolCall, ToolResult, assistant, tool, user
from antiphon.providers.base import Delta, Provider, Request, TextDelta, Tool
from antiphon.providers.errors import ProviderError
from antiphon.providers.http.client import HttpTransport
from antiphon.providers.wire import HttpRequest, HttpResponse
from antiphon.testing.contracts.providers import Scene

ADD = Tool(
    "add",
    "add two integers",
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
)
STORY = Request((user("Tell me a very long story."),), max_tokens=2000)
SHORT = Request((user("Say hello."),), temperature=0, max_tokens=4)
EXAMPLES = 3
TOOLS_TEMPLATE = Path(__file__).parent / "template.jinja"


def sums() -> tuple[Message, ...]:
    """A conversation with three calls of a tool, after which even a small model calls it a fourth time."""
    messages: list[Message] = []
    for number in range(1, EXAMPLES + 1):
        call = ToolCall(f"call_{number}", "add", f'{{"a": {number}, "b": {number + 1}}}')
        total = str(2 * number + 1)
        messages += [user(f"Add {number} and {number + 1}."), assistant("", call), tool(ToolResult.of(call, total))]
        messages.append(assistant(f"It is {total}."))
    return (*messages, user("Add 7 and 8."))


def echoes() -> tuple[Message, ...]:
    """A conversation that leaves no doubt about the next word, so that rounding cannot change it."""
    words = ("apple", "river", "stone", "cloud")
    turns = (message for word in words for message in (user(f"Repeat the word: {word}"), assistant(word)))
    return (*turns, user("Repeat the word: table"))


ECHO = Request(echoes(), temperature=0, max_tokens=4)
CALL = Request(sums(), tools=(ADD,), temperature=0, max_tokens=60)


class Asked:
    """Model of a real server, asked what a scene of the contract needs."""

    def __init__(self, inner: Provider, scene: Scene, crash: Callable[[], None]) -> None:
        self._inner = inner
        self._scene = scene
        self._crash = crash
        self.model = inner.model

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        match self._scene:
            case "ok":
                return self._inner.stream(CALL)
            case "text":
                return self._inner.stream(ECHO)
            case "slow":
                return self._inner.stream(STORY)
            case _:
                return self._crashing()

    async def _crashing(self) -> AsyncGenerator[Delta, None]:
        async with aclosing(self._inner.stream(STORY)) as stream:
            async for delta in stream:
                yield delta
                if isinstance(delta, TextDelta):
                    self._crash()


class CountingTransport:
    """HTTP transport that keeps every fault, also of requests that are repeated later."""

    def __init__(self) -> None:
        self._inner = HttpTransport()
        self.requests = 0
        self.faults: list[str] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.requests += 1
        try:
            response = await self._inner.send(request)
        except ProviderError as error:
            self.faults.append(str(error))
            raise
        if response.status != 200:
            self.faults.append(f"status {response.status}")
        return CountedResponse(response, self.faults)

    async def close(self) -> None:
        await self._inner.close()


class CountedResponse:
    """Response whose faults are kept."""

    def __init__(self, inner: HttpResponse, faults: list[str]) -> None:
        self._inner = inner
        self._faults = faults
        self.status = inner.status
        self.headers = inner.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(self._inner.chunks()) as chunks:
                async for chunk in chunks:
                    yield chunk
        except ProviderError as error:
            self._faults.append(str(error))
            raise

    async def close(self) -> None:
        await self._inner.close()
