"""Permissions that last: listed with ids, taken back in chats and runs, and then asked about again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.stores.memory import MemoryStore
from antiphon.threads import Refused, UnknownPermission, UnknownRequest
from tests.fixtures.chats import Clerk
from tests.fixtures.chats import script as chat_script
from tests.fixtures.debates import CONFIG
from tests.fixtures.orchestrator import agent
from tests.fixtures.scripted_team import Workshop, calls, decides, says, script

PATIENCE_S = 30
GRANT = {"decision": "allow", "scope": "tool", "tool": "file", "value": "file"}
SETTLED = {"decision": "allow", "pattern": "file(*spoon*)"}
DENIED = {"decision": "deny", "pattern": "burn"}
WRITES = {"decision": "allow", "scope": "tool", "tool": "write_file", "value": "write_file"}
EVERY_WRITE = {"decision": "allow", "pattern": "write_file"}
ChatMain = Callable[[App, str, Clerk], Awaitable[Any]]
RunMain = Callable[[App, str, Workshop], Awaitable[Any]]


FILE_SPOON = ({"tool": "file", "arguments": {"name": "spoon"}},)


def run_chat(folder: Path, *mains: ChatMain, calls: Sequence[dict[str, Any]] = FILE_SPOON, **consent: Any) -> None:
    """Do something with a chat whose model files things after every message; each function has its own process."""
    store = MemoryStore()
    clerk = Clerk()
    model = chat_script(folder, ("file", [{"text": "Done."}]), [*calls])

    async def create() -> str:
        async with App(store, toolbox=clerk) as app:
            settings = {"options": {"tools": clerk.listed}}
            return await app.chats.create(model=model, settings=settings, consent={"mode": "ask", **consent})

    async def work(main: ChatMain, id: str) -> None:
        async with App(store, toolbox=clerk) as app, asyncio.timeout(PATIENCE_S):
            await main(app, id, clerk)

    id = asyncio.run(create())
    for main in mains:
        asyncio.run(work(main, id))


async def say(app: App, id: str) -> str:
    """Send a message, and return the status that it leads to."""
    receipt = await app.threads.say(id, "file it")
    return await app.threads.until_idle(id, receipt.seq)


async def allow_tool(app: App, id: str, clerk: Clerk) -> None:
    """Ask for a tool, and allow it for the thread."""
    assert await say(app, id) == "waiting"
    receipt = await app.threads.answer(id, decision="allow", scope="tool")
    assert await app.threads.until_idle(id, receipt.seq) == "completed"


async def revoke_all(app: App, id: str) -> None:
    for permission in await app.threads.permissions(id):
        await app.threads.revoke(id, permission.id)


def test_a_chat_lists_what_its_settings_and_a_person_allowed_with_ids_that_stay(tmp_path: Path) -> None:
    async def main(app: App, id: str, clerk: Clerk) -> None:
        before = await app.threads.permissions(id)
        await allow_tool(app, id, clerk)
        settled, given = await app.threads.permissions(id)

        assert before == [settled]
        assert [settled.override, given.override] == [{**SETTLED, "pattern": "file(*fork*)"}, GRANT]
        assert (settled.text, given.text) == ("file(*fork*)", "file")
        assert (await app.threads.read(id)).permissions == (settled, given)

    run_chat(tmp_path, main, overrides=[DENIED, {**SETTLED, "pattern": "file(*fork*)"}])


def test_a_call_in_a_chat_is_asked_about_again_once_its_permission_is_taken_back(tmp_path: Path) -> None:
    async def main(app: App, id: str, clerk: Clerk) -> None:
        await allow_tool(app, id, clerk)
        allowed = await say(app, id)
        await revoke_all(app, id)

        assert (allowed, await say(app, id)) == ("completed", "waiting")
        assert (len(clerk.calls), await app.threads.permissions(id)) == (2, [])

    run_chat(tmp_path, main)


def test_a_permission_that_was_taken_back_stays_so_after_a_restart(tmp_path: Path) -> None:
    async def revoke(app: App, id: str, clerk: Clerk) -> None:
        assert await say(app, id) == "completed"
        await revoke_all(app, id)

    async def resume(app: App, id: str, clerk: Clerk) -> None:
        assert await app.threads.permissions(id) == []
        assert await say(app, id) == "waiting"

    run_chat(tmp_path, allow_tool, revoke, resume)


def test_a_permission_of_the_settings_is_taken_back_for_the_whole_chat(tmp_path: Path) -> None:
    async def main(app: App, id: str, clerk: Clerk) -> None:
        allowed = await say(app, id)
        await revoke_all(app, id)

        assert (allowed, await say(app, id)) == ("completed", "waiting")

    run_chat(tmp_path, main, autoAllow=[], overrides=[SETTLED])


def test_an_open_request_is_made_again_for_all_calls_when_a_permission_for_one_is_taken_back(tmp_path: Path) -> None:
    two = [{"tool": "file", "arguments": {"name": name}} for name in ("spoon", "fork")]

    async def main(app: App, id: str, clerk: Clerk) -> None:
        assert await say(app, id) == "waiting"
        (before,) = await app.threads.requests(id)
        await revoke_all(app, id)
        await app.runtime.wait_until(id, lambda state: state.value == "waiting")
        (after,) = await app.threads.requests(id)
        with pytest.raises(UnknownRequest):
            await app.threads.answer(id, decision="allow", request=before.id)
        asked = [[call["decision"] for call in request.calls] for request in (before, after)]
        receipt = await app.threads.answer(id, decision="allow", request=after.id)

        assert asked == [["allow", "ask"], ["ask", "ask"]]
        assert await app.threads.until_idle(id, receipt.seq) == "completed"
        assert len(clerk.calls) == 2

    run_chat(tmp_path, main, calls=two, overrides=[SETTLED])


def test_an_unknown_permission_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    async def main(app: App, id: str, clerk: Clerk) -> None:
        await allow_tool(app, id, clerk)
        (permission,) = await app.threads.permissions(id)
        with pytest.raises(UnknownPermission, match=f"no permission 'nothing'; it has: {permission.id}") as refused:
            await app.threads.revoke(id, "nothing")
        assert (refused.value.permission, refused.value.permissions) == ("nothing", (permission.id,))
        await app.threads.revoke(id, permission.id)
        with pytest.raises(UnknownPermission, match="it has no standing permissions"):
            await app.threads.revoke(id, permission.id)

    run_chat(tmp_path, main)


def test_a_revocation_with_a_key_that_was_taken_before_is_a_duplicate(tmp_path: Path) -> None:
    async def main(app: App, id: str, clerk: Clerk) -> None:
        await allow_tool(app, id, clerk)
        (permission,) = await app.threads.permissions(id)
        receipts = [await app.threads.revoke(id, permission.id, key="once") for _ in range(2)]

        assert [receipt.status for receipt in receipts] == ["accepted", "duplicate"]

    run_chat(tmp_path, main)


def test_a_chat_that_has_not_begun_takes_back_no_permission_of_its_settings(tmp_path: Path) -> None:
    async def main(app: App, id: str, clerk: Clerk) -> None:
        (permission,) = await app.threads.permissions(id)
        with pytest.raises(Refused, match="is not in progress"):
            await app.threads.revoke(id, permission.id)

    run_chat(tmp_path, main, overrides=[SETTLED])


def test_debates_have_no_permissions() -> None:
    async def main() -> None:
        async with App(MemoryStore()) as app:
            id = await app.debates.create(CONFIG)

            assert await app.threads.permissions(id) == []
            with pytest.raises(UnknownPermission):
                await app.threads.revoke(id, "x")

    asyncio.run(main())


# -- runs ------------------------------------------------------------------------------------------------------------


def run_agents(folder: Path, replies: list[dict[str, Any]], main: RunMain, *, overrides: Any = ()) -> None:
    """Do something with a run of the agents red and blue, which write files when their questions are answered."""
    model = script(folder, *replies)
    box = Workshop(folder)

    async def work() -> None:
        async with App(MemoryStore(), toolbox=box) as app, asyncio.timeout(PATIENCE_S):
            agents: Any = [agent(name, tools={"allowed": ["*"]}) for name in ("red", "blue")]
            consent = {"mode": "ask", "overrides": list(overrides)}
            id = await app.runs.create(agents, model=model, tools=box.listed, consent=consent)
            await app.runs.start(id, "paint", plan={"steps": ["red wall", "blue wall"]})
            await main(app, id, box)

    asyncio.run(work())


async def wait_for(app: App, id: str, kind: str, count: int) -> None:
    """Wait for the last of some activities of a kind."""
    seen = 0
    async for activity in app.threads.follow(id):
        seen += activity.kind == kind
        if seen == count:
            return


def side_by_side(*, asked: str) -> list[dict[str, Any]]:
    """Replies of two agents that work at once: each asks a question, then writes."""
    parallel = [{"mode": "red", "step": 0}, {"mode": "blue", "step": 1}]
    replies = [
        decides("Evaluate", type="COMPLETE", summary="painted"),
        decides(None, type="SELECT_MODE", mode="red", reason="at once", parallel=parallel),
    ]
    for name in ("red", "blue"):
        arguments = {"path": f"{name}.txt", "content": name}
        replies += [
            says(name, f"{name} is done.", after="write_file"),
            calls(name, "write_file", arguments, after="ask_user"),
            calls(name, "ask_user", {"question": asked}),
        ]
    return replies


def test_agents_at_work_side_by_side_ask_once_a_permission_is_taken_back(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        await wait_for(app, id, "agent_waits", 2)
        await revoke_all(app, id)
        for request in await app.threads.requests(id):
            await app.threads.answer(id, "go on", request=request.id)
        await wait_for(app, id, "agent_waits", 4)

        assert {request.reason for request in await app.threads.requests(id)} == {"permission"}
        assert (box.calls, await app.threads.permissions(id)) == ([], [])
        record = await app.runs.read(id)
        assert record["consent"]["overrides"] == []
        assert [line["text"] for line in record["log"]][-1] == "Permission taken back: write_file"

    run_agents(tmp_path, side_by_side(asked="Now?"), main, overrides=[EVERY_WRITE])


def test_agents_at_work_write_without_a_question_while_the_permission_holds(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        await wait_for(app, id, "agent_waits", 2)
        for request in await app.threads.requests(id):
            await app.threads.answer(id, "go on", request=request.id)

        assert await app.threads.until_idle(id) == "completed"
        assert sorted(call.name for call in box.calls) == ["write_file", "write_file"]

    run_agents(tmp_path, side_by_side(asked="Now?"), main, overrides=[EVERY_WRITE])


def one_after_the_other() -> list[dict[str, Any]]:
    """Replies of red, which writes, asks a question and ends; then of blue, which writes."""
    return [
        decides("(?s)Evaluate.*blue is done", type="COMPLETE", summary="painted", completed=[0, 1]),
        decides("(?s)Evaluate.*red is done", type="SELECT_MODE", mode="blue", reason="next"),
        decides(None, type="SELECT_MODE", mode="red", reason="first"),
        says("red", "red is done.", after="ask_user"),
        calls("red", "ask_user", {"question": "Good?"}, after="write_file"),
        calls("red", "write_file", {"path": "red.txt", "content": "red"}),
        says("blue", "blue is done.", after="write_file"),
        calls("blue", "write_file", {"path": "blue.txt", "content": "blue"}),
    ]


async def paint_red(app: App, id: str) -> None:
    """Allow the tool of red for the run, and wait for its question."""
    await wait_for(app, id, "agent_waits", 1)
    await app.threads.answer(id, decision="allow", scope="tool")
    await wait_for(app, id, "agent_waits", 2)


def test_a_permission_that_was_given_in_a_turn_holds_for_the_next_one(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        await paint_red(app, id)
        await app.threads.answer(id, "yes")

        assert await app.threads.until_idle(id) == "completed"
        assert len(box.calls) == 2

    run_agents(tmp_path, one_after_the_other(), main)


def test_a_permission_that_was_given_and_taken_back_in_a_turn_does_not_hold_for_the_next_one(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        await paint_red(app, id)
        assert [permission.override for permission in await app.threads.permissions(id)] == [WRITES]
        await revoke_all(app, id)
        await app.threads.answer(id, "yes")
        assert await app.threads.until_idle(id) == "waiting"

        (request,) = await app.threads.requests(id)
        assert (request.reason, [call["name"] for call in request.calls]) == ("permission", ["write_file"])
        assert len(box.calls) == 1

    run_agents(tmp_path, one_after_the_other(), main)


def test_words_during_a_turn_are_unread_until_the_next_turn_has_them_in_its_prompt(tmp_path: Path) -> None:
    replies = one_after_the_other()
    replies.insert(6, says("blue", "blue is done. Light!", when="The person adds: Use light blue"))

    async def main(app: App, id: str, box: Workshop) -> None:
        await paint_red(app, id)
        await app.threads.say(id, "Use light blue")
        unread = (await app.runs.read(id))["guidance"]
        await app.threads.answer(id, "yes")
        assert await app.threads.until_idle(id) == "completed"

        history = (await app.runs.read(id))["history"]
        assert unread == ["Use light blue"]
        assert [entry["output"] for entry in history] == ["red is done.", "blue is done. Light!"]

    run_agents(tmp_path, replies, main)
