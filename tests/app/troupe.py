"""A troupe for runs in tests: models whose parts are played by functions, on real tools in a real folder."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.app.app import App
from antiphon.app.runs import Runs
from antiphon.messages import Text, ToolResult
from antiphon.providers.base import Delta, Done, Model, Request, TextDelta, ToolArgs, ToolStart
from antiphon.providers.models import Models
from antiphon.runtime.store import Store
from antiphon.services.agent_files import default_agents
from antiphon.services.toolbox import tools_to_json
from antiphon.stores.memory import MemoryStore
from antiphon.tools.finding import FindLimits
from antiphon.tools.instruments import Instruments
from antiphon.tools.kit import workspace_tools
from antiphon.tools.shell import ShellSettings
from antiphon.tools.workspace import Workspace

PATIENCE_S = 60
LAST_TURN = re.compile(r"^- (\w+) \((\w+)\): (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that a part asks for."""

    tool: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Scene:
    """What a part sees: what it was told last, and what its tools gave since."""

    said: str
    results: tuple[ToolResult, ...]
    turn: int

    @property
    def last(self) -> tuple[str, str]:
        """Who worked last, and what came of it."""
        found = LAST_TURN.findall(self.said)
        return (found[-1][0], found[-1][2]) if found else ("", "")

    @property
    def words(self) -> str:
        """What the tools gave."""
        return "\n".join(part.text for one in self.results for part in one.parts if isinstance(part, Text))


Reply = str | Call | list[Call]
Part = Callable[[Scene], Reply]


class Troupe:
    """A model that plays every part: who is meant, the instructions say."""

    model = Model("scripted:troupe", "scripted", "troupe", structured=False)

    def __init__(self, **parts: Part) -> None:
        self._parts = parts
        self.results: list[ToolResult] = []

    @property
    def models(self) -> Models:
        """Models, every scripted one of which is this one."""
        return Models(openers={"scripted": lambda reference: self})

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """What the part says now."""
        told = "\n".join(message.text for message in request.messages if message.role == "system")
        name = next(one for one in self._parts if f"You are the {one}" in told)
        last = request.messages[-1]
        results = tuple(part for part in last.parts if isinstance(part, ToolResult))
        self.results += results
        said = next(message.text for message in reversed(request.messages) if message.role == "user")
        turn = sum(message.role == "assistant" for message in request.messages)
        reply = self._parts[name](Scene(said, results, turn))
        calls = [reply] if isinstance(reply, Call) else reply if isinstance(reply, list) else []
        for number, call in enumerate(calls):
            id = f"call-{name}-{len(request.messages)}-{number}"
            given = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
            yield ToolStart(id, call.tool)
            yield ToolArgs(id, given)
        if isinstance(reply, str):
            yield TextDelta(reply)
        yield Done("tool_calls" if calls else "end")


def decision(type: str, **facts: Any) -> str:
    """What the arbiter says."""
    return json.dumps({"type": type, **facts})


def team(*names: str) -> list[Any]:
    """Some of the default agents."""
    return [default_agents().agents[name] for name in names]


def played(
    folder: Path,
    troupe: Troupe,
    main: Callable[[Runs, list[dict[str, Any]]], Awaitable[Any]],
    *,
    store: Store | Path | None = None,
) -> Any:
    """Do something with runs whose tools work in a folder; gives the tools as settings have them."""

    async def run() -> Any:
        with Workspace(folder) as workspace:
            box = real_tools(workspace)
            opened = store if store is not None else MemoryStore()
            async with App(opened, toolbox=box, models=troupe.models) as app, asyncio.timeout(PATIENCE_S):
                return await main(app.runs, tools_to_json(box.tools))

    return asyncio.run(run())


def real_tools(workspace: Workspace) -> Instruments:
    """The tools of the workspace, a little less patient."""
    return workspace_tools(workspace, shell=ShellSettings(grace_ms=200), finding=FindLimits(search_ms=1_000))


async def idle(runs: Runs, id: str, task: str) -> list[Any]:
    """Give a run its task, and hear what happens until it needs nobody, or a person."""
    receipt = await runs.start(id, task)
    return [one async for one in runs.until_idle(id, receipt.seq - 1)]


async def answered(runs: Runs, id: str, decision: str) -> list[Any]:
    """Answer a request for permission, and hear what happens then."""
    receipt = await runs.answer(id, decision=decision)
    return [one async for one in runs.until_idle(id, receipt.seq - 1)]
