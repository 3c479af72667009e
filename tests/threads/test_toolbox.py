"""Tools as a chat sees them."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from antiphon import App, MemoryStore, create_actor, to_awaitable
from antiphon.providers.base import TextDelta, Tool, ToolArgs, ToolStart
from antiphon.threads.activity import Activity
from antiphon.threads.errors import NotPermitted
from antiphon.threads.toolbox import call_tool, tools_to_json
from antiphon.tools import Access, Bundle, Context, tool
from tests.fixtures.chats import Clerk, Teller, told


def run_call(box: Clerk, **facts: Any) -> Any:
    async def main() -> Any:
        call = {"type": "toolCall", "id": "c1", "name": "file", "arguments": "{}", **facts}
        return await to_awaitable(create_actor(call_tool(box), input={"call": call}).start())

    return asyncio.run(main())


def test_a_call_gives_its_result_as_json() -> None:
    assert run_call(Clerk()) == {"type": "toolResult", "callId": "c1", "parts": [{"type": "text", "text": "filed"}]}


def test_a_tool_of_unknown_risk_counts_as_destructive() -> None:
    assert [tool["risk"] for tool in tools_to_json(Clerk().tools)] == ["destructive"]


@tool(requires_approval=False)
def work(pages: int, context: Context) -> str:
    """Read some pages."""
    for page in range(pages):
        context.progress(f"page {page + 1}", (page + 1) / pages)
    return f"read as {context.key}"


def test_tools_and_functions_and_json_are_offered_alike() -> None:
    offered = tools_to_json([Tool("a", "A.", {}, "read"), work, {"name": "b"}], {"work": "write"})

    assert [(tool["name"], tool.get("risk")) for tool in offered] == [("a", "read"), ("work", "write"), ("b", None)]
    assert offered[1]["parameters"] == work.tool.parameters


def test_a_tool_reports_progress_that_is_stored_and_an_activity_before_its_end() -> None:
    teller = Teller([ToolStart("c1", "work"), ToolArgs("c1", '{"pages": 2}')], [TextDelta("Good.")])

    async def main() -> list[Activity]:
        async with App(MemoryStore(), models=teller.models, toolbox=Bundle(work)) as app:
            thread = await app.chats.create(model="scripted:teller", tools=[work], consent={"mode": "ask"})
            receipt = await app.chats.say(thread, "Read.")
            return [activity async for activity in app.chats.until_idle(thread, receipt.seq - 1)]

    activities = asyncio.run(main())
    about_tool = [(one.kind, one.facts) for one in activities if one.kind in ("tool_progress", "tool_ended")]

    assert about_tool[:2] == [
        ("tool_progress", {"call": 0, "text": "page 1", "fraction": 0.5}),
        ("tool_progress", {"call": 0, "text": "page 2", "fraction": 1.0}),
    ]
    kind, facts = about_tool[2]
    assert (kind, facts["failed"]) == ("tool_ended", False)
    assert "read as " in facts["result"]["parts"][0]["text"]
    assert teller.asked[0].tools[0].parameters == work.tool.parameters
    assert told(activities) == "Good."


def test_the_key_of_a_call_is_that_of_its_task() -> None:
    teller = Teller([ToolStart("c1", "work"), ToolArgs("c1", '{"pages": 0}')], [TextDelta("Good.")])

    class Watched(MemoryStore):
        async def commit(self, commits: Any, written: Any = None) -> None:
            started.extend(task.id for commit in commits for task in commit.tasks if "call-0" in task.to)
            await super().commit(commits, written)

    started: list[str] = []

    async def main() -> list[Activity]:
        async with App(Watched(), models=teller.models, toolbox=Bundle(work)) as app:
            thread = await app.chats.create(model="scripted:teller", tools=[work], consent={"mode": "ask"})
            receipt = await app.chats.say(thread, "Read.")
            return [activity async for activity in app.chats.until_idle(thread, receipt.seq - 1)]

    ends = [one.facts["result"]["parts"][0]["text"] for one in asyncio.run(main()) if one.kind == "tool_ended"]

    assert ends == [f"read as {id}" for id in started]
    assert len(ends) == 1


@pytest.mark.parametrize("history", [None, "3f6c", "3f6c.0000"])
def test_a_call_of_another_history_is_not_made(history: str | None) -> None:
    """As one that came with an imported file."""
    box = Clerk()
    scope = SimpleNamespace(key="3f6c.9a1b/0000000017/0001", report=lambda value: None)
    input = {"call": {"id": "c1", "name": "file", "arguments": "{}"}, "history": history}

    with pytest.raises(NotPermitted, match="assessed in another history"):
        asyncio.run(call_tool(box).call(input, scope))
    assert box.calls == []


def test_a_call_is_made_with_the_access_of_its_permission_and_says_what_it_was_denied() -> None:
    seen = []

    @tool
    def build(context: Context) -> str:
        """Build."""
        seen.append(context.access)
        context.denied = "write"
        return "no"

    scope = SimpleNamespace(key="3f6c/0000000017/0001", report=lambda value: None)
    call = {"id": "c1", "name": "build", "arguments": "{}"}
    input = {"call": call, "history": "3f6c", "access": {"writes": True}}
    result = asyncio.run(call_tool(Bundle(build)).call(input, scope))

    assert seen == [Access(writes=True)]
    assert result["denied"] == "write"
