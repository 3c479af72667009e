"""The context of a tool call: progress from every thread, and a key of its own."""

import asyncio
from typing import Any

import pytest

from antiphon.messages import Text, ToolCall
from antiphon.tools import Bundle, Context, tool
from antiphon.tools.context import CURRENT

CALL = ToolCall("1", "work", "{}")


@tool
def work(context: Context) -> str:
    """Report from a thread."""
    context.progress("half", 0.5)
    context.progress("whole")
    return context.key


@tool(name="work")
async def work_async(context: Context) -> str:
    """Report from the event loop, and call another tool."""
    context.progress("half", 0.5)
    inner = await Bundle(work).call(CALL)
    context.progress("whole")
    return f"{context.key} {inner.parts == (Text(context.key),)}"


@pytest.mark.parametrize(("function", "result"), [(work, "key"), (work_async, "key False")])
def test_reports_arrive_in_order_and_before_the_result(function: Any, result: str) -> None:
    reports: list[Any] = []

    async def main() -> None:
        CURRENT.set(Context("key", reports.append))
        reports.append((await Bundle(function).call(CALL)).parts[0])

    asyncio.run(main())

    assert reports[:-1] == [{"text": "half", "fraction": 0.5}, {"text": "whole"}]
    assert reports[-1].text == result


def test_a_call_that_a_tool_makes_has_its_own_key_and_reports_nothing() -> None:
    keys: list[str] = []

    @tool(name="work")
    async def inner(context: Context) -> None:
        """Work inside."""
        context.progress("unheard")
        keys.append(context.key)

    @tool
    async def outer(context: Context) -> None:
        """Work outside."""
        await Bundle(inner).call(CALL)
        await Bundle(inner).call(CALL)
        keys.append(context.key)

    reports: list[Any] = []

    async def main() -> None:
        CURRENT.set(Context("key", reports.append))
        await Bundle(outer).call(ToolCall("1", "outer", "{}"))

    asyncio.run(main())

    assert reports == []
    assert keys[2] == "key"
    assert len(set(keys)) == 3


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan")])
def test_progress_is_a_number_from_0_to_1(fraction: float) -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="from 0 to 1"):
            Context().progress("too far", fraction)

    asyncio.run(main())


def test_a_call_that_is_over_reports_nothing_more() -> None:
    reports: list[Any] = []
    contexts: list[Context] = []

    @tool(name="work")
    async def keep(context: Context) -> None:
        """Keep the context."""
        contexts.append(context)

    async def main() -> None:
        CURRENT.set(Context("key", reports.append))
        await Bundle(keep).call(CALL)
        contexts[0].progress("late")

    asyncio.run(main())

    assert reports == []
