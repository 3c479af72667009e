"""Conversations whose process is killed: what is kept, what the thread says, and how it goes on."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.chat import branch_path
from antiphon.providers.base import TextDelta
from antiphon.providers.formats.history import normalize_history
from antiphon.threads.machine.thread import RESUME_PREFIXES
from tests.fixtures.chat_process import HALF, THREAD
from tests.fixtures.chats import Teller, told
from tests.paths import ROOT

PATIENCE_S = 20


@pytest.fixture
def kill_while(tmp_path: Path) -> Callable[[str], Path]:
    """Kills a process in a scene; gives the store it leaves behind."""

    def kill(scene: str) -> Path:
        command = [sys.executable, "-m", "tests.fixtures.chat_process", str(tmp_path), scene]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "here\n"
        finally:
            process.kill()
            process.communicate()
        return tmp_path / "store.db"

    return kill


def after(path: Path, main: Callable[[App, Teller], Awaitable[Any]]) -> None:
    """Open what a killed process left, with another model."""

    async def run() -> None:
        teller = Teller([TextDelta(" a king.")])
        async with App(path, models=teller.models) as app:
            async with asyncio.timeout(PATIENCE_S):
                await main(app, teller)

    asyncio.run(run())


async def status_is(app: App, status: str) -> None:
    async for activity in app.chats.follow(THREAD):
        if activity.kind == "status" and activity.facts["status"] == status:
            return


@pytest.mark.requirement("S3-16", "S3-29", "S3-30", "X-6")
def test_a_reply_cut_by_a_crash_is_kept_and_resumed_without_repeating(kill_while: Callable[[str], Path]) -> None:
    """Text so far kept, thread interrupted, one RESTART goes on with the right note."""

    async def main(app: App, teller: Teller) -> None:
        await status_is(app, "interrupted")
        path = branch_path((await app.library.read(THREAD)).content)
        assert [(message["role"], message.get("interrupted")) for message in path] == [
            ("user", None),
            ("assistant", True),
        ]
        assert path[-1]["parts"] == [{"type": "text", "text": HALF}]

        receipt = await app.chats.resume(THREAD)
        activities = [activity async for activity in app.chats.until_idle(THREAD, receipt.seq - 1)]

        assert told(activities) == " a king."
        assert await app.chats.status(THREAD) == "completed"
        (request,) = teller.asked
        assert [message.text for message in request.messages] == [
            "Tell me a story",
            HALF,
            RESUME_PREFIXES["interrupted"].strip(),
        ]

    after(kill_while("replying"), main)


@pytest.mark.requirement("S3-B13")
def test_a_request_left_open_by_a_crash_is_never_allowed_and_asked_again_when_it_is_resumed(
    kill_while: Callable[[str], Path],
) -> None:
    """Still waiting, its process lost, the request for permission expired, until somebody resumes it."""

    async def main(app: App, teller: Teller) -> None:
        async for activity in app.chats.follow(THREAD):
            if activity.kind == "reply_failed":
                break
        context = (await app.runtime.snapshot(THREAD))["context"]
        assert await app.chats.status(THREAD) == "waiting"
        assert (context["processLost"], context["permissionExpired"]) == (True, True)
        assert await app.chats.requests(THREAD) == []
        assert teller.asked == []

        receipt = await app.chats.resume(THREAD)
        assert [activity async for activity in app.chats.until_idle(THREAD, receipt.seq - 1)]
        (request,) = await app.chats.requests(THREAD)
        assert (request.id, [call["name"] for call in request.calls]) == ("r2", ["file"])
        assert branch_path((await app.library.read(THREAD)).content)[-1]["role"] == "assistant"
        assert teller.asked == []

    after(kill_while("asking"), main)


def test_a_tool_cut_by_a_crash_is_not_called_again_and_history_stays_valid(kill_while: Callable[[str], Path]) -> None:
    async def main(app: App, teller: Teller) -> None:
        await status_is(app, "interrupted")
        path = branch_path((await app.library.read(THREAD)).content)
        assert [message["role"] for message in path] == ["user", "assistant", "tool"]
        assert "nobody knows how this ended" in path[-1]["parts"][0]["parts"][0]["text"]

        receipt = await app.chats.say(THREAD, "What happened?")
        assert [activity async for activity in app.chats.until_idle(THREAD, receipt.seq - 1)]

        (request,) = teller.asked
        assert [m.role for m in normalize_history(request.messages, "openai")] == ["user", "assistant", "tool", "user"]
        assert request.messages[-1].text == RESUME_PREFIXES["interrupted"] + "What happened?"

    after(kill_while("calling"), main)


@pytest.mark.requirement("S2-59", "X-6")
def test_a_proposal_cut_by_a_crash_is_reported_and_can_be_requested_again(kill_while: Callable[[str], Path]) -> None:
    async def main(app: App, teller: Teller) -> None:
        await app.chats.until_idle(THREAD)
        chat = (await app.library.read(THREAD)).content
        assert chat["merge"]["proposal"]["error"]["code"] == "interrupted"
        assert (list(chat["branches"]), teller.asked) == (["main", "south"], [])

        await app.chats.perform(THREAD, "propose")
        await app.chats.until_idle(THREAD)
        chat = await app.chats.perform(THREAD, "confirm_merge")

        assert branch_path(chat)[-1]["parts"] == [{"type": "text", "text": "a king."}]

    after(kill_while("reconciling"), main)
