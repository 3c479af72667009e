"""A stand for experiments: the fake server, and models that talk to it with a key that must never be seen."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from antiphon.actors.clock import SimulatedClock
from antiphon.messages import user
from antiphon.providers.base import Delta, Done, Provider, Request, TextDelta, ThinkingDelta, Timeouts
from antiphon.providers.clock import LOOP_CLOCK, Clock
from antiphon.providers.errors import ProviderError
from antiphon.providers.http import HttpCarrier
from antiphon.providers.keys import Keys
from antiphon.providers.models import Models
from antiphon.providers.wire import Carrier
from antiphon.testing.fake_llm import FakeLLM

FORMATS = ("anthropic", "openai", "google", "mistral", "compatible")
CANARY = "canary-key-d41d8cd98f00b204"
NOWHERE = Path("/nowhere/keys.toml")
ENVIRONMENT = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY"), CANARY)
TIMEOUTS = Timeouts(connect_ms=5_000, first_delta_ms=30_000, between_deltas_ms=20_000)
HELLO = Request((user("Hello"),))
LIMIT_S = 30


@dataclass(slots=True)
class Outcome:
    """What a reader saw of a stream."""

    deltas: list[Delta] = field(default_factory=list)
    error: ProviderError | None = None

    @property
    def text(self) -> str:
        return "".join(delta.text for delta in self.deltas if isinstance(delta, TextDelta))

    @property
    def thoughts(self) -> str:
        return "".join(delta.text for delta in self.deltas if isinstance(delta, ThinkingDelta))

    @property
    def done(self) -> Done | None:
        return next((delta for delta in self.deltas if isinstance(delta, Done)), None)


@dataclass(slots=True)
class Stand:
    """The fake server and models on it."""

    fake: FakeLLM
    models: Models

    def open(self, format: str, scenario: str, *, model: str = "fake") -> Provider:
        name = f"{model}-{scenario}"
        if format == "compatible":
            return self.models.open(f"openai+{self.fake.base_url(format)}:{name}")
        return self.models.open(f"{format}:{name}")


@asynccontextmanager
async def stand(
    *, clock: Clock = LOOP_CLOCK, timeouts: Timeouts = TIMEOUTS, carrier: Carrier | None = None
) -> AsyncIterator[Stand]:
    """A stand that leaves no task behind."""
    before = asyncio.all_tasks()
    async with FakeLLM() as fake:
        urls = {format: fake.base_url(format) for format in FORMATS}
        keys = Keys(ENVIRONMENT, NOWHERE)
        carrier = carrier or HttpCarrier()
        async with Models(keys=keys, timeouts=timeouts, base_urls=urls, carrier=carrier, clock=clock) as models:
            yield Stand(fake, models)
    for _ in range(1000):
        if asyncio.all_tasks() <= before:
            return
        await asyncio.sleep(0)
    raise AssertionError(f"tasks are left: {asyncio.all_tasks() - before}")


async def read(provider: Provider, request: Request = HELLO, outcome: Outcome | None = None) -> Outcome:
    """Read a stream to its end or failure."""
    outcome = outcome or Outcome()
    try:
        async with aclosing(provider.stream(request)) as stream:
            async for delta in stream:
                outcome.deltas.append(delta)
    except ProviderError as error:
        outcome.error = error
    return outcome


async def until(condition: Any) -> None:
    """Let everyone work until something is so."""
    while not condition():
        await asyncio.sleep(0)


async def read_past(provider: Provider, fake: FakeLLM, clock: SimulatedClock, wait_ms: float, texts: int) -> Outcome:
    """Read until the server falls silent after some texts, then let time pass."""
    outcome = Outcome()
    reader = asyncio.create_task(read(provider, HELLO, outcome))
    await until(lambda: fake.seen and fake.seen[-1].waiting.is_set())
    await until(lambda: sum(isinstance(delta, TextDelta) for delta in outcome.deltas) == texts)
    clock.increment(wait_ms)
    await reader
    return outcome


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a test's work, bounded in time."""

    async def bounded() -> Any:
        async with asyncio.timeout(LIMIT_S):
            return await work

    return asyncio.run(bounded())
