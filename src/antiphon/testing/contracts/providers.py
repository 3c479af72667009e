"""Contract of providers, as a test suite to inherit from."""

import asyncio
import json
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, Literal, TypeVar

from antiphon.errors import RECOVERABLE
from antiphon.messages import Usage, user
from antiphon.providers.base import Delta, Done, Provider, Request, TextDelta, ToolArgs, ToolStart, UsageDelta
from antiphon.providers.errors import ProviderError
from antiphon.providers.reply import Reply

# A complete reply with reasoning, text and one tool call; text only; an error after some text; endless text.
Scene = Literal["ok", "text", "overload", "slow"]
REQUEST = Request((user("What is the weather like in Zürich?"),))
LIMIT_S = 20
T = TypeVar("T")


class ProviderContract:
    """Tests for a provider; subclasses implement `open`."""

    def open(self, scene: Scene) -> AbstractAsyncContextManager[Provider]:
        """Open a provider that replies as the scene says."""
        raise NotImplementedError

    def test_a_stream_ends_with_exactly_one_done(self) -> None:
        """`Done` comes once, as the last delta."""
        deltas = _run(self._deltas("ok"))

        assert [isinstance(delta, Done) for delta in deltas].count(True) == 1
        assert isinstance(deltas[-1], Done)

    def test_the_counts_come_before_the_end(self) -> None:
        """The last usage before the end is the one that is charged."""
        deltas = _run(self._deltas("ok"))
        counts = [delta for delta in deltas if isinstance(delta, UsageDelta)]

        assert isinstance(deltas[-2], UsageDelta)
        assert counts[-1].usage.output > 0
        assert counts[-1].model

    def test_arguments_belong_to_a_call_that_has_begun_and_are_whole(self) -> None:
        """The pieces of the arguments form one JSON object."""
        arguments: dict[str, str] = {}
        for delta in _run(self._deltas("ok")):
            if isinstance(delta, ToolStart):
                arguments[delta.id] = ""
            elif isinstance(delta, ToolArgs):
                arguments[delta.id] += delta.text

        assert [type(json.loads(text)) for text in arguments.values()] == [dict]

    def test_no_text_is_empty(self) -> None:
        """Deltas have text."""
        assert all(delta.text for delta in _run(self._deltas("text")) if isinstance(delta, TextDelta | ToolArgs))

    def test_a_failure_comes_after_the_words_before_it(self) -> None:
        """S0-71: the error has a code, and says whether a retry may help."""
        deltas, error = _run(self._until_failure())

        assert any(isinstance(delta, TextDelta) for delta in deltas)
        assert not any(isinstance(delta, Done) for delta in deltas)
        assert error.recoverable == (error.code in RECOVERABLE)
        assert error.to_json()["code"] == error.code.value

    def test_closing_early_leaves_no_task(self) -> None:
        """The stream has ended when `aclose` returns."""
        before, after = _run(self._tasks_around_a_close())

        assert after <= before

    def test_cancelling_the_reader_ends_the_stream(self) -> None:
        """A cancellation is not an error of the provider."""
        assert _run(self._cancelled()) == "cancelled"

    def test_what_was_used_before_a_close_is_estimated(self) -> None:
        """Aborted replies are charged too."""
        usage = _run(self._usage_after_a_close())

        assert usage.estimated
        assert usage.input > 0
        assert usage.output > 0

    def test_a_provider_can_be_asked_again(self) -> None:
        """A stream does not affect the next one."""
        first, second = _run(self._twice())

        assert first == second

    async def _deltas(self, scene: Scene) -> list[Delta]:
        async with self.open(scene) as provider:
            return [delta async for delta in provider.stream(REQUEST)]

    async def _until_failure(self) -> tuple[list[Delta], ProviderError]:
        deltas: list[Delta] = []
        async with self.open("overload") as provider:
            try:
                async for delta in provider.stream(REQUEST):
                    deltas.append(delta)
            except ProviderError as error:
                return deltas, error
        raise AssertionError("the stream did not fail")

    async def _tasks_around_a_close(self) -> tuple[int, int]:
        async with self.open("slow") as provider:
            before = len(asyncio.all_tasks())
            stream = provider.stream(REQUEST)
            async with aclosing(stream):
                await _first_words(stream)
                # A server in the same process has a task for the connection; it must be gone with the stream.
                during = len(asyncio.all_tasks())
            for _ in range(1000):
                if len(asyncio.all_tasks()) <= before:
                    break
                await asyncio.sleep(0.001)
            assert during >= before
            return before, len(asyncio.all_tasks())

    async def _cancelled(self) -> str:
        async with self.open("slow") as provider:
            begun = asyncio.Event()

            async def read() -> None:
                async for delta in provider.stream(REQUEST):
                    if isinstance(delta, TextDelta):
                        begun.set()

            reader = asyncio.create_task(read())
            await begun.wait()
            reader.cancel()
            try:
                await reader
            except asyncio.CancelledError:
                return "cancelled"
            return "went on"

    async def _usage_after_a_close(self) -> Usage:
        async with self.open("slow") as provider:
            reply = Reply(provider.model, REQUEST)
            async with aclosing(provider.stream(REQUEST)) as stream:
                async for delta in stream:
                    reply.add(delta)
                    if isinstance(delta, TextDelta):
                        break
            return reply.usage

    async def _twice(self) -> tuple[str, str]:
        texts = []
        async with self.open("text") as provider:
            for _ in range(2):
                reply = Reply(provider.model, REQUEST)
                async for delta in provider.stream(REQUEST):
                    reply.add(delta)
                texts.append(reply.text)
        return texts[0], texts[1]


async def _first_words(stream: Any) -> None:
    async for delta in stream:
        if isinstance(delta, TextDelta):
            return


def _run(work: Coroutine[Any, Any, T]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(LIMIT_S):
            return await work

    return asyncio.run(bounded())
