"""Requests of threads to a person: listed with their addresses, answered there by id, and by nobody twice."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.runtime.runtime import Runtime
from antiphon.stores.memory import MemoryStore
from antiphon.threads import Library, OpenRequest, Refused, ThreadService, UnknownRequest, thread_machine
from tests.fixtures.orchestrator import agent
from tests.fixtures.scripted_team import Workshop, calls, decides, says, script

PATIENCE_S = 30
PICK = {"type": "SELECT_MODE", "mode": "red", "reason": "at once"}
PARALLEL = [{"mode": "red", "step": 0}, {"mode": "blue", "step": 1}]
WRITE = {"path": "a.txt", "content": "red"}
RED = "run/executeAgent/agent-0/tools/permission"
BLUE = "run/executeAgent/agent-1"
Main = Callable[[App, str, Workshop], Awaitable[Any]]


def run_two_agents(folder: Path, main: Main) -> None:
    """Do something with a run in which one agent asks for permission and another asks a question."""
    asyncio.run(run_two_agents_on(folder, MemoryStore(), main))


async def run_two_agents_on(folder: Path, store: MemoryStore, main: Main) -> str:
    """Do the same on a store, close it, and return the id of the run."""
    model = script(
        folder,
        decides("Evaluate", type="COMPLETE", summary="painted"),
        decides(None, **PICK, parallel=PARALLEL),
        says("red", "Red is done.", after="write_file"),
        calls("red", "write_file", WRITE),
        says("blue", "Blue is done.", after="ask_user"),
        calls("blue", "ask_user", {"question": "Which blue?", "options": ["dark", "light"]}),
    )

    box = Workshop(folder)
    async with App(store, toolbox=box) as app, asyncio.timeout(PATIENCE_S):
        agents: Any = [agent(name, tools={"allowed": ["*"]}) for name in ("red", "blue")]
        id = await app.runs.create(agents, model=model, tools=box.listed, consent={"mode": "ask"})
        await app.runs.start(id, "paint", plan={"steps": ["red wall", "blue wall"]})
        waits = 0
        async for activity in app.threads.follow(id):
            waits += activity.kind == "agent_waits"
            if waits == 2:
                break
        await main(app, id, box)
    return id


async def open_by_address(app: App, id: str) -> dict[str, OpenRequest]:
    return {request.address: request for request in await app.threads.requests(id)}


def test_requests_say_who_asks_what_and_where_the_answer_goes(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        requests = await open_by_address(app, id)

        assert set(requests) == {RED, BLUE}
        assert (requests[RED].reason, requests[RED].speaker) == ("permission", "agent-0")
        assert [call["name"] for call in requests[RED].calls] == ["write_file"]
        assert (requests[BLUE].reason, requests[BLUE].text) == ("question", "Which blue?")
        assert requests[BLUE].options == ("dark", "light")
        assert all(json.dumps(request.to_json()) for request in requests.values())

    run_two_agents(tmp_path, main)


def test_each_agent_gets_its_own_answer_and_the_thread_waits_until_none_is_asked(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        requests = await open_by_address(app, id)
        await app.threads.answer(id, "light", request=requests[BLUE].id)
        assert (await app.threads.status(id), set(await open_by_address(app, id))) == ("waiting", {RED})
        await app.threads.answer(id, decision="allow", request=requests[RED].id)
        assert await app.threads.until_idle(id) == "completed"

        assert [call.name for call in box.calls] == ["write_file"]
        assert (await app.threads.requests(id), (await app.runs.result(id) or {})["success"]) == ([], True)

    run_two_agents(tmp_path, main)


def test_requests_are_activities_with_their_ids_and_addresses(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        requests = await open_by_address(app, id)
        await app.threads.answer(id, decision="deny", request=requests[RED].id)
        past, _ = await app.threads.history(id)
        asked = {one.facts["address"]: one.facts["requestId"] for one in past if one.kind == "agent_waits"}
        closed = [one.facts["requestId"] for one in past if one.kind == "agent_goes_on"]

        assert asked == {address: request.id for address, request in requests.items()}
        assert closed == [requests[RED].id]

    run_two_agents(tmp_path, main)


async def assert_refused(app: App, id: str, *, request: str | None, **answer: Any) -> UnknownRequest:
    """An answer that is refused as one to an unknown request, and that changes nothing."""
    before = await app.threads.snapshot(id)
    with pytest.raises(UnknownRequest) as refused:
        await app.threads.answer(id, request=request, **answer)
    assert await app.threads.snapshot(id) == before
    return refused.value


def test_an_id_that_is_not_open_is_refused_with_those_that_are(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        requests = await open_by_address(app, id)
        error = await assert_refused(app, id, request="nobody", text="x")

        assert set(error.open) == {request.id for request in requests.values()}
        assert "'nobody' is not open" in str(error)

    run_two_agents(tmp_path, main)


def test_without_an_id_one_of_several_requests_is_not_guessed(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        assert "several requests are open" in str(await assert_refused(app, id, request=None, text="light"))

        red = (await open_by_address(app, id))[RED]
        await app.threads.answer(id, decision="deny", request=red.id)
        await app.threads.answer(id, "light")
        assert await app.threads.until_idle(id) == "failed"  # the change that was denied is not made

    run_two_agents(tmp_path, main)


def test_an_answer_with_the_id_of_another_agents_request_reaches_only_that_agent(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        requests = await open_by_address(app, id)
        receipt = await app.runtime.send(id, {"type": "ALLOW", "id": requests[BLUE].id}, to=RED)
        answer = {"type": "ANSWER", "id": requests[RED].id, "text": "light"}

        assert (receipt.status, box.calls) == ("rejected", [])
        assert (await app.runtime.send(id, answer, to=BLUE)).status == "rejected"
        assert set(await open_by_address(app, id)) == {RED, BLUE}

    run_two_agents(tmp_path, main)


def test_a_second_answer_is_refused(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        red = (await open_by_address(app, id))[RED]
        await app.threads.answer(id, decision="deny", request=red.id)
        await app.threads.until_idle(id)

        await assert_refused(app, id, request=red.id, decision="allow")
        assert box.calls == []

    run_two_agents(tmp_path, main)


def test_of_two_answers_at_once_one_is_taken(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        red = (await open_by_address(app, id))[RED]
        answers = [app.threads.answer(id, decision=decision, request=red.id) for decision in ("deny", "allow")]
        first, second = await asyncio.gather(*answers, return_exceptions=True)

        assert not isinstance(first, BaseException)
        assert isinstance(second, UnknownRequest)
        assert set(await open_by_address(app, id)) == {BLUE}
        assert box.calls == []

    run_two_agents(tmp_path, main)


def test_a_stopped_thread_has_no_open_requests(tmp_path: Path) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        red = (await open_by_address(app, id))[RED]
        await app.threads.stop(id)
        assert await app.threads.until_idle(id) == "stopped"

        error = await assert_refused(app, id, request=red.id, decision="allow")
        assert (error.open, str(error).endswith("none is open: the thread is stopped")) == ((), True)

    run_two_agents(tmp_path, main)


@pytest.mark.parametrize(
    ("address", "answer", "reason"),
    [
        (RED, {"text": "yes"}, "is for permission, and decision is None; answer it with decision='allow'"),
        (RED, {"decision": "maybe"}, "decision is 'maybe'"),
        (RED, {"decision": "allow", "scope": "ever"}, "scope is 'ever'; offered: once"),
        (RED, {"decision": "allow", "scope": "thread"}, "scope is 'thread'; offered: once"),
        (RED, {"decision": "allow", "outside": True}, "no command of it can run outside a sandbox"),
        (BLUE, {"decision": "allow"}, "decision is unknown"),
        (BLUE, {}, "is a question; answer it with a text"),
        (BLUE, {"text": 3}, "text is 3: expected a text"),
    ],
)
def test_an_answer_that_does_not_fit_its_request_is_refused_and_changes_nothing(
    tmp_path: Path, address: str, answer: dict[str, Any], reason: str
) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        request = (await open_by_address(app, id))[address]
        before = await app.threads.snapshot(id)
        with pytest.raises(Refused) as refused:
            await app.threads.answer(id, request=request.id, **answer)

        assert reason in str(refused.value)
        assert await app.threads.snapshot(id) == before

    run_two_agents(tmp_path, main)


@pytest.mark.parametrize("event", [{"type": "RESPOND"}, {"type": "START"}, {"type": "RESPOND", "requestId": "x"}])
def test_a_thread_cannot_be_made_to_run_while_it_is_asked(tmp_path: Path, event: dict[str, Any]) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        with pytest.raises(Refused):
            await app.threads.send(id, event)

        assert await app.threads.status(id) == "waiting"

    run_two_agents(tmp_path, main)


@pytest.mark.parametrize("way", ["message", "resume", "retry"])
def test_a_message_or_a_resumption_leaves_the_requests_of_a_run_open(tmp_path: Path, way: str) -> None:
    async def main(app: App, id: str, box: Workshop) -> None:
        before = await app.threads.requests(id)
        match way:
            case "message":
                await app.threads.begin(id, message={"text": "Be quick", "at": 1})
            case "resume":
                await app.threads.resume(id)
            case "retry":
                await app.threads.begin(id, retry=True)
        assert (await app.threads.until_idle(id), await app.threads.requests(id)) == ("waiting", before)

    run_two_agents(tmp_path, main)


def test_an_id_is_used_once_in_the_life_of_a_thread(tmp_path: Path) -> None:
    """Also if the same agents get the same task again."""
    model = script(
        tmp_path,
        says("blue", "Blue is done.", after="ask_user"),
        calls("blue", "ask_user", {"question": "Which blue?"}),
    )

    async def main() -> None:
        ids = []
        async with App(MemoryStore()) as app, asyncio.timeout(PATIENCE_S):
            agents: Any = [agent("blue")]
            id = await app.runs.create(agents, model=model, arbiter={"kind": "rules"})
            for _ in range(2):
                await app.runs.start(id, "paint")
                assert await app.threads.until_idle(id) == "waiting"
                (request,) = await app.threads.requests(id)
                ids.append(request.id)
                await app.threads.answer(id, "light", request=request.id)
                assert await app.threads.until_idle(id) == "completed"

            assert len(set(ids)) == 2
            await assert_refused(app, id, request=ids[0], text="dark")

    asyncio.run(main())


def test_a_program_that_has_the_content_is_answered_through_the_thread() -> None:
    async def main() -> None:
        runtime = Runtime(MemoryStore(), [thread_machine.provide(public=["*"])])
        await runtime.start()
        threads = ThreadService(runtime, Library(runtime, ()))
        id = await runtime.create("thread", root="t", input={"threadId": "t"})
        for event in ({"type": "START"}, {"type": "WAIT", "reason": "plan"}):
            await runtime.send(id, event)
        (request,) = await threads.requests(id)
        with pytest.raises(UnknownRequest):
            await threads.answer(id, "Yes.", request="wait-0")
        await threads.answer(id, "Yes.", request=request.id)

        assert (request.address, request.reason) == ("", "plan")
        assert (await threads.status(id), await threads.requests(id)) == ("running", [])
        await runtime.stop()

    asyncio.run(main())


def test_a_chat_at_its_limit_is_asked_about_by_id_and_goes_on_where_it_is_allowed() -> None:
    async def main() -> None:
        async with App(MemoryStore()) as app, asyncio.timeout(PATIENCE_S):
            thread = await app.chats.create(model="scripted:chat", consent={"mode": "ask"}, maxToolRounds=0)
            await app.chats.say(thread, "Will there be frost tonight?")
            assert await app.chats.until_idle(thread) == "waiting"
            (request,) = await app.threads.requests(thread)
            assert (request.address, request.reason, request.limit) == (
                "chat",
                "limit",
                {"limit": "maxToolRounds", "value": 0, "spent": 0, "next": 1},
            )

            for answer, reason in (
                ({"decision": "allow", "limit": 0}, "limit is 0; it must be a number above 0"),
                ({"text": "Go on."}, "answer it with decision='allow' or decision='deny'"),
            ):
                with pytest.raises(Refused, match=reason):
                    await app.threads.answer(thread, **answer)
            with pytest.raises(UnknownRequest):
                await app.threads.answer(thread, decision="allow", request="limit-9")
            assert await app.threads.status(thread) == "waiting"

            await app.threads.answer(thread, decision="allow", limit=3, request=request.id)
            assert await app.chats.until_idle(thread) == "completed"
            with pytest.raises(UnknownRequest):
                await app.threads.answer(thread, decision="allow", request=request.id)

    asyncio.run(main())


def test_a_resumed_run_keeps_the_requests_of_agents_that_were_not_lost(tmp_path: Path) -> None:
    """One agent lost its permission with the process; the question of the other is still open."""
    store = MemoryStore()

    async def ask(app: App, id: str, box: Workshop) -> None:
        assert len(await app.threads.requests(id)) == 2

    async def main() -> None:
        id = await run_two_agents_on(tmp_path, store, ask)
        async with App(store, toolbox=Workshop(tmp_path)) as app, asyncio.timeout(PATIENCE_S):
            with pytest.raises(Refused, match="resume it, then it takes messages"):
                await app.threads.say(id, "Be quick")
            await app.threads.resume(id)
            assert await app.threads.until_idle(id) == "waiting"
            requests = {request.reason: request for request in await app.threads.requests(id)}
            assert "question" in requests
            await app.threads.answer(id, "dark", request=requests["question"].id)

    asyncio.run(main())
