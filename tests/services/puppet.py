"""A model that says what a test tells it to say, when the test says so."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from antiphon.messages import Usage
from antiphon.providers.base import Delta, Done, Model, Request, TextDelta, UsageDelta


class Puppet:
    """A `Provider` whose replies are pushed by a test."""

    def __init__(self, reference: str = "scripted:puppet") -> None:
        provider, _, name = reference.partition(":")
        self.model = Model(reference, provider, name)
        self.requests: list[Request] = []
        self.closed = 0
        self._deltas: asyncio.Queue[Delta | Exception] = asyncio.Queue()

    def say(self, *deltas: Delta | Exception) -> None:
        """What comes next."""
        for delta in deltas:
            self._deltas.put_nowait(delta)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Give what the test says, until the end."""
        self.requests.append(request)
        try:
            while True:
                delta = await self._deltas.get()
                if isinstance(delta, Exception):
                    raise delta
                yield delta
                if isinstance(delta, Done):
                    return
        finally:
            self.closed += 1


WHOLE: tuple[Delta, ...] = (TextDelta("Good "), TextDelta("day."), UsageDelta(Usage(10, 5), "puppet"), Done("end"))


async def settle() -> None:
    """Let everything happen that can happen without time passing."""
    for _ in range(50):
        await asyncio.sleep(0)


def run(test: Callable[[], Awaitable[Any]]) -> Any:
    """Run an asynchronous test to its end."""

    async def main() -> Any:
        return await test()

    return asyncio.run(main())
