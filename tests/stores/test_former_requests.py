"""Threads of version 1 that had asked a person: replayed exactly, migrated, and answered by the ids of their requests.

The store was written by release 0.1, whose process was killed while three threads waited.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App, former_machines, replay_journals
from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.registry import Models
from antiphon.providers.scripted import ScriptedModel
from antiphon.threads import UnknownRequest
from tests.stores.kept import FOLDER, kept_names, migrate, unpack

NAME = "requests-thread-1"
IDS: dict[str, str] = json.loads((FOLDER / f"{NAME}.json").read_text("utf-8"))
PATIENCE_S = 30
RED = "run/executeAgent/agent-0/tools/permission"
BLUE = "run/executeAgent/agent-1"
SCRIPT = {
    "replies": [
        {"system": "arbiter", "when": "Evaluate", "steps": [{"text": '{"type": "COMPLETE", "summary": "painted"}'}]},
        {"system": "red", "after": "write_file", "steps": [{"text": "Red is done."}]},
        {"system": "blue", "after": "ask_user", "steps": [{"text": "Blue is done."}]},
        {"steps": [{"text": "Not filed."}]},
    ]
}


class Nothing:
    """A toolbox whose calls are counted."""

    tools = ()

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []

    async def call(self, call: ToolCall) -> ToolResult:
        self.calls.append(call)
        return ToolResult.of(call, "done")


def on_store(folder: Path, main: Callable[[App, Nothing], Awaitable[Any]]) -> Any:
    """Open the store with the present code, and do something."""

    async def run() -> Any:
        box = Nothing()
        models = Models(openers={"scripted": lambda reference: ScriptedModel(SCRIPT, name="team")})
        async with App(unpack(NAME, folder / "store.db"), models=models, toolbox=box) as app:
            async with asyncio.timeout(PATIENCE_S):
                return await main(app, box)

    return asyncio.run(run())


@pytest.mark.parametrize("name", [NAME, *(name for name in kept_names() if name.endswith("-thread-1"))])
def test_every_journal_is_replayed_exactly_by_version_1(tmp_path: Path, name: str) -> None:
    path = migrate(unpack(name, tmp_path / "store.db"))
    replays = asyncio.run(replay_journals(path, former_machines(), None, lambda done, total: None))

    assert sum(replay.steps for replay in replays) > 90
    assert [replay for replay in replays if not replay.is_same] == []


def test_threads_of_version_1_are_continued_without_incidents(tmp_path: Path) -> None:
    async def main(app: App, box: Nothing) -> list[str]:
        for id in IDS.values():
            await app.threads.until_idle(id)
        return [incident.kind for id in IDS.values() for incident in await app.runtime.store.incidents(id)]

    assert on_store(tmp_path, main) == []


def test_a_question_of_version_1_is_answered_by_its_id(tmp_path: Path) -> None:
    async def main(app: App, box: Nothing) -> None:
        id = IDS["waiting_question"]
        (request,) = await app.threads.requests(id)
        assert (request.reason, request.text, request.address) == (
            "question",
            "Which blue?",
            "run/executeAgent/agent-0",
        )
        await app.threads.answer(id, "light", request=request.id)

        assert await app.threads.until_idle(id) == "completed"
        assert (await app.runs.result(id) or {})["summary"] == "Blue is done."

    on_store(tmp_path, main)


@pytest.mark.parametrize("thread", ["waiting_chat", "waiting_both"])
def test_a_request_for_permission_of_version_1_expires_with_its_process(tmp_path: Path, thread: str) -> None:
    async def main(app: App, box: Nothing) -> None:
        id = IDS[thread]
        await app.threads.until_idle(id)
        reasons = [request.reason for request in await app.threads.requests(id)]

        assert (await app.threads.status(id), "permission" in reasons) == ("waiting", False)
        with pytest.raises(UnknownRequest):
            await app.threads.answer(id, decision="allow", request="r1")
        assert box.calls == []

    on_store(tmp_path, main)


def test_a_run_of_version_1_with_two_waiting_agents_asks_again_when_it_is_resumed(tmp_path: Path) -> None:
    async def main(app: App, box: Nothing) -> None:
        id = IDS["waiting_both"]
        await app.threads.until_idle(id)
        (request,) = await app.threads.requests(id)
        assert request.address == BLUE
        await app.threads.answer(id, "light", request=request.id)
        await app.runs.resume(id)
        assert await app.threads.until_idle(id) == "waiting"
        (request,) = await app.threads.requests(id)
        assert request.address == RED
        await app.threads.answer(id, decision="allow", request=request.id)

        assert await app.threads.until_idle(id) == "completed"
        assert [call.name for call in box.calls] == ["write_file"]

    on_store(tmp_path, main)


def test_a_chat_of_version_1_that_waited_asks_again_and_goes_on(tmp_path: Path) -> None:
    async def main(app: App, box: Nothing) -> None:
        id = IDS["waiting_chat"]
        await app.threads.until_idle(id)
        await app.threads.resume(id)
        assert await app.threads.until_idle(id) == "waiting"
        (request,) = await app.threads.requests(id)
        await app.threads.answer(id, decision="deny", request=request.id)

        assert await app.threads.until_idle(id) == "completed"
        assert box.calls == []

    on_store(tmp_path, main)
