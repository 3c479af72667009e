"""Limits of chats on the whole stack: calls are counted, a person is asked, and the thread goes on or ends."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.messages import ToolResult
from antiphon.providers.base import Delta, Done, Model, Request, ToolArgs, ToolStart
from antiphon.providers.hosted import WIRES
from antiphon.providers.registry import Models
from antiphon.stores.memory import MemoryStore
from antiphon.threads.errors import Refused
from tests.fixtures.chats import Clerk

ASK = {"mode": "auto"}


class Obsessed:
    """A model that always calls a tool."""

    model = Model("scripted:obsessed", "scripted", "obsessed")

    def __init__(self, tool: str = "file", arguments: str = '{"name": "x"}') -> None:
        self.tool = tool
        self.arguments = arguments
        self.asked: list[Request] = []

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        self.asked.append(request)
        yield ToolStart(f"c{len(self.asked)}", self.tool)
        yield ToolArgs(f"c{len(self.asked)}", self.arguments)
        yield Done("tool_calls")


def app(model: Obsessed, box: Clerk, store: Any = None) -> App:
    return App(store or MemoryStore(), models=Models(openers={"scripted": lambda _: model}), toolbox=box)


async def create(app: App, box: Clerk, **settings: Any) -> str:
    tools = {"options": {"tools": box.listed}}
    return await app.chats.create(**{"model": "scripted:obsessed", "settings": tools, "consent": ASK, **settings})


async def idle(app: App, thread: str, text: str = "Go") -> str:
    await app.chats.say(thread, text)
    return await app.chats.until_idle(thread)


def test_a_model_that_always_calls_a_tool_makes_25_calls_and_then_a_person_is_asked() -> None:
    async def main() -> None:
        model = Obsessed()
        box = Clerk()
        async with app(model, box) as opened:
            thread = await create(opened, box)
            assert await idle(opened, thread) == "waiting"
            view = (await opened.chats.read(thread)).view

            assert (len(box.calls), view.waiting) == (25, "limit")
            await opened.chats.answer(thread, decision="allow", limit=30)
            assert (await opened.chats.until_idle(thread), len(box.calls)) == ("waiting", 30)

    asyncio.run(main())


@pytest.mark.parametrize(("tool", "arguments"), [("mystery", "{}"), ("file", '{"name": '), ("file", '{"name": 5}')])
def test_unknown_tools_and_broken_arguments_count_and_nobody_is_asked_about_them(tool: str, arguments: str) -> None:
    async def main() -> None:
        model = Obsessed(tool, arguments)
        box = Clerk()
        async with app(model, box) as opened:
            thread = await create(opened, box, maxToolRounds=4, consent={"mode": "ask"})
            kinds = []
            await opened.chats.say(thread, "Go")
            async for activity in opened.chats.until_idle(thread):
                kinds.append(activity.kind)

            assert (kinds.count("call_refused"), len(model.asked), box.calls) == (4, 5, [])
            assert "permission_asked" not in kinds
            assert (await opened.chats.read(thread)).view.waiting == "limit"

    asyncio.run(main())


def test_after_a_refusal_every_call_has_its_result_and_the_next_message_works() -> None:
    async def main() -> None:
        model = Obsessed()
        box = Clerk()
        async with app(model, box) as opened:
            thread = await create(opened, box, maxToolRounds=1)
            await idle(opened, thread)
            await opened.chats.answer(thread, decision="deny")
            assert await opened.chats.until_idle(thread) == "failed"
            assert await idle(opened, thread, "And now?") == "waiting"

            request = model.asked[2]
            results = [part for message in request.messages for part in message.parts if isinstance(part, ToolResult)]
            assert [result.call_id for result in results] == ["c1", "c2"]
            for name, wire in WIRES.items():
                assert wire.body("m", request), name

    asyncio.run(main())


def test_a_question_at_a_limit_survives_its_process(tmp_path: Path) -> None:
    async def main() -> None:
        model = Obsessed()
        box = Clerk()
        async with app(model, box, tmp_path / "a.db") as opened:
            thread = await create(opened, box, maxToolRounds=2)
            await idle(opened, thread)
        async with app(model, box, tmp_path / "a.db") as opened:
            assert (await opened.chats.read(thread)).view.waiting == "limit"
            with pytest.raises(Refused, match="maxTurns is unknown"):
                await opened.chats.raise_limit(thread, maxTurns=3)
            await opened.chats.raise_limit(thread, maxToolRounds=3)
            assert (await opened.chats.until_idle(thread), len(box.calls)) == ("waiting", 3)

    asyncio.run(main())


def test_a_thread_without_permissions_whose_model_calls_a_tool_ends_with_an_error() -> None:
    async def main() -> None:
        model = Obsessed()
        box = Clerk()
        async with app(model, box) as opened:
            thread = await create(opened, box, consent=None)
            assert await idle(opened, thread) == "failed"
            view = (await opened.chats.read(thread)).view

            assert (view.error or "").startswith("the model called tools, and the chat has no permissions for them")
            assert (len(model.asked), box.calls) == (1, [])

    asyncio.run(main())
