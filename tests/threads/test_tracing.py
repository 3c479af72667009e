"""Questions to models and calls of tools are spans and metrics, without a word of what was said."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from antiphon.messages import ToolCall, ToolResult, user
from antiphon.providers.base import Request
from antiphon.providers.errors import ProviderError
from antiphon.threads.tracing import TracedProvider, call_traced
from tests.fixtures.facades import Oven, kitchen, kitchen_model
from tests.fixtures.providers import CANARY, stand
from tests.fixtures.telemetry import Recorder, recorder

SECRET = "the-prompt-is-secret"


@pytest.fixture
def recorded() -> Recorder:
    result = recorder()
    result.clear()
    return result


def ask(scene: str) -> None:
    """Ask a model of the fake server."""

    async def main() -> None:
        async with stand() as place:
            async for _ in TracedProvider(place.open("openai", scene)).stream(Request((user(SECRET),))):
                pass

    asyncio.run(main())


async def _call(name: str, make: Callable[[ToolCall], Awaitable[ToolResult]]) -> ToolResult:
    return await call_traced(ToolCall("1", name, "{}"), make, lambda: Oven.tools)


def select(points: list[Any], **wanted: str) -> list[Any]:
    """The points of operations that succeeded, with these attributes."""
    names = {name.replace("__", "."): value for name, value in wanted.items()}
    succeeded = [point for point in points if "error.type" not in point.attributes]
    return [point for point in succeeded if names.items() <= dict(point.attributes).items()]


def test_a_question_is_a_span_with_its_model_and_its_tokens(recorded: Recorder) -> None:
    ask("text")

    span = recorded.span("chat ")
    attributes = dict(span.attributes or {})
    assert (span.name, span.kind) == ("chat fake-text", SpanKind.CLIENT)
    assert attributes["gen_ai.operation.name"] == "chat"
    assert (attributes["gen_ai.provider.name"], attributes["gen_ai.request.model"]) == ("openai", "fake-text")
    assert int(attributes["gen_ai.usage.input_tokens"]) > 0  # type: ignore[arg-type]
    assert int(attributes["gen_ai.usage.output_tokens"]) > 0  # type: ignore[arg-type]
    assert (span.status.status_code, "error.type" in attributes) == (StatusCode.UNSET, False)


def test_a_failed_question_has_the_code_of_its_error_and_not_its_text(recorded: Recorder) -> None:
    with pytest.raises(ProviderError) as error:
        ask("401")

    span = recorded.span("chat ")
    assert dict(span.attributes or {})["error.type"] == error.value.code.value == "2001"
    assert (span.status.status_code, span.status.description, span.events) == (StatusCode.ERROR, None, ())


def test_a_question_that_is_not_read_to_its_end_is_cancelled(recorded: Recorder) -> None:
    async def main() -> None:
        async with stand() as place:
            stream = TracedProvider(place.open("openai", "text")).stream(Request((user(SECRET),)))
            await anext(stream)
            assert recorded.spans == ()
            await stream.aclose()

    asyncio.run(main())

    assert dict(recorded.span("chat ").attributes or {})["error.type"] == "cancelled"


def test_tokens_and_durations_are_metrics(recorded: Recorder) -> None:
    model = {"gen_ai__request__model": "fake-text"}
    before = select(recorded.points("gen_ai.client.operation.duration"), **model)
    ask("text")

    attributes = dict(recorded.span("chat ").attributes or {})
    (duration,) = select(recorded.points("gen_ai.client.operation.duration"), **model)
    assert duration.count == sum(point.count for point in before) + 1
    for type in ("input", "output"):
        (tokens,) = select(recorded.points("gen_ai.client.token.usage"), gen_ai__token__type=type, **model)
        assert tokens.max == attributes[f"gen_ai.usage.{type}_tokens"]


@pytest.mark.parametrize(("name", "shown"), [("bake", "bake"), (SECRET, "_OTHER")])
def test_a_call_is_a_span_with_the_name_of_a_tool_that_exists(recorded: Recorder, name: str, shown: str) -> None:
    oven = Oven()
    asyncio.run(_call(name, oven.call))

    span = recorded.span("execute_tool ")
    assert (span.name, span.kind) == (f"execute_tool {shown}", SpanKind.INTERNAL)
    assert dict(span.attributes or {}) == {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": shown}


def test_a_failed_call_has_a_type_and_not_its_text(recorded: Recorder) -> None:
    async def fail(call: ToolCall) -> ToolResult:
        return ToolResult.of(call, SECRET, is_error=True)

    async def burst(call: ToolCall) -> ToolResult:
        raise ValueError(SECRET)

    asyncio.run(_call("bake", fail))
    with pytest.raises(ValueError, match=SECRET):
        asyncio.run(_call("bake", burst))

    assert [dict(span.attributes or {})["error.type"] for span in recorded.spans] == ["tool_error", "ValueError"]
    assert SECRET not in recorded.text()


def test_a_thread_has_spans_with_its_id_and_no_words(recorded: Recorder, tmp_path: Path) -> None:
    async def main() -> str:
        async with kitchen() as app:
            thread = await app.chats.create(model=kitchen_model(tmp_path), tools=Oven.tools, consent={"mode": "auto"})
            await app.chats.say(thread, f"bake {SECRET} {CANARY}")
            await app.threads.until_idle(thread)
            return thread

    thread = asyncio.run(main())
    ids = {dict(span.attributes or {})["gen_ai.conversation.id"] for span in recorded.spans}
    names = [span.name for span in recorded.spans]
    assert (ids, names.count("execute_tool bake")) == ({thread}, 1)
    assert len([name for name in names if name.startswith("chat ")]) == 2
    assert [word for word in (SECRET, CANARY, "Heat.", "degrees", "baked", "Done.") if word in recorded.text()] == []


def test_nothing_is_recorded_without_the_package() -> None:
    lines = [
        "import sys; sys.modules['opentelemetry'] = None",
        "from antiphon.telemetry import OpenSpan, is_recording",
        "operation = OpenSpan('chat', 'CLIENT', {})",
        "operation.set({'a': 1}); operation.rename('b'); operation.end('c'); operation.record_duration('a')",
        "operation.record_tokens('input', 1)",
        "print(is_recording())",
    ]
    printed = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    ).stdout

    assert printed == "False\n"


def test_nothing_is_recorded_without_a_provider_of_the_operator() -> None:
    lines = ["from antiphon.telemetry import is_recording", "print(is_recording())"]
    printed = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    ).stdout

    assert printed == "False\n"
