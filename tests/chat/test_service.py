"""Threads on the whole stack: a store, the runtime, the machines and a scripted model."""

import asyncio
import re
from pathlib import Path

import pytest

from antiphon.app import App
from antiphon.chat import branch_path
from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import TextDelta, ToolStart
from antiphon.providers.hosted import WIRES
from antiphon.stores.memory import MemoryStore
from antiphon.threads.errors import Busy, NothingSaid, Refused, UnknownThread
from tests.fixtures.chats import Clerk, Teller, script, told

CALLS = ("file", [{"text": "Filed."}]), [{"tool": "file", "arguments": {"name": "letter"}}]


def test_a_message_is_answered_and_both_are_kept(tmp_path: Path) -> None:
    async def main() -> None:
        async with App(MemoryStore()) as app:
            thread = await app.chats.create(model=script(tmp_path, [{"text": "Good evening."}]))
            receipt = await app.chats.say(thread, "Hello")
            activities = [activity async for activity in app.chats.until_idle(thread, receipt.seq - 1)]

            assert told(activities) == "Good evening."
            assert await app.chats.status(thread) == "completed"
            talk = await app.library.read(thread)
            assert [message["role"] for message in branch_path(talk.content)] == ["user", "assistant"]

    asyncio.run(main())


def test_a_thread_at_work_refuses_a_second_message(tmp_path: Path) -> None:
    """Two writers on one thread: one wins, the other gets a clear error."""

    async def main() -> None:
        async with App(MemoryStore()) as app:
            thread = await app.chats.create(model=script(tmp_path, [{"delay_ms": 60_000}, {"text": "Slowly."}]))
            await app.chats.say(thread, "First")
            with pytest.raises(Busy, match="is busy; wait, stop it"):
                await app.chats.say(thread, "Second")
            await app.chats.stop(thread)

            assert await app.chats.status(thread) == "stopped"
            talk = await app.library.read(thread)
            assert [message["role"] for message in branch_path(talk.content)] == ["user"]

    asyncio.run(main())


def test_a_conversation_is_forked_and_rewound(tmp_path: Path) -> None:
    async def main() -> None:
        async with App(MemoryStore()) as app:
            thread = await app.chats.create(model=script(tmp_path, [{"text": "Yes."}]))
            with pytest.raises(NothingSaid):
                await app.chats.perform(thread, "rewind")
            for text in ("One", "Two"):
                receipt = await app.chats.say(thread, text)
                assert [activity async for activity in app.chats.until_idle(thread, receipt.seq - 1)]
            await app.chats.perform(thread, "fork", name="other", turn=1)
            chat = await app.chats.perform(thread, "confirm_fork")

            assert (chat["branch"], set(chat["branches"])) == ("other", {"main", "other"})
            talk = await app.library.read(thread)
            assert len(branch_path(talk.content)) == 2
            assert len(branch_path(talk.content, "main")) == 4
            with pytest.raises(Refused, match="cannot rewind 5 turns, the branch has 1"):
                await app.chats.perform(thread, "rewind", turns=5)

    asyncio.run(main())


class Stuck(Clerk):
    """A toolbox whose tool never comes back by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()
        self.ended = asyncio.Event()

    async def call(self, call: ToolCall) -> ToolResult:
        """Begin, and wait to be cancelled."""
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        raise AssertionError


def test_a_thread_stopped_in_mid_tool_has_a_history_that_every_provider_takes() -> None:
    async def main() -> None:
        box = Stuck()
        teller = Teller([ToolStart("c1", "file")], [TextDelta("Stopped.")])
        async with App(MemoryStore(), models=teller.models, toolbox=box) as app:
            tools = {"options": {"tools": box.listed}}
            thread = await app.chats.create(model="scripted:teller", settings=tools, consent={"mode": "auto"})
            await app.chats.say(thread, "File this")
            await box.began.wait()
            await app.chats.stop(thread)
            await box.ended.wait()
            receipt = await app.chats.say(thread, "And now?")
            assert [activity async for activity in app.chats.until_idle(thread, receipt.seq - 1)]

            request = teller.asked[-1]
            call = request.messages[1].calls[0]
            result = request.messages[2].parts[0]
            assert isinstance(result, ToolResult)
            assert (result.call_id, result.is_error) == (call.id, True)
            for name, wire in WIRES.items():
                assert wire.body("m", request), name

    asyncio.run(main())


def test_what_is_asked_wrongly_is_said_plainly() -> None:
    async def main() -> None:
        async with App(MemoryStore()) as app:
            with pytest.raises(UnknownThread, match="no chat 'nobody'"):
                await app.chats.say("nobody", "Hello")
            with pytest.raises(Refused, match="unknown setting 'modle'"):
                await app.chats.create(modle="scripted:chat")
            thread = await app.chats.create(model="scripted:chat")
            with pytest.raises(Refused, match="no answer is waited for; none is open: the thread is pending"):
                await app.chats.answer(thread, decision="allow")

    asyncio.run(main())


def test_a_tool_waits_for_a_person_and_its_result_goes_back(tmp_path: Path) -> None:
    async def main() -> None:
        box = Clerk()
        async with App(MemoryStore(), toolbox=box) as app:
            thread = await app.chats.create(
                model=script(tmp_path, *CALLS), settings={"options": {"tools": box.listed}}, consent={"mode": "ask"}
            )
            receipt = await app.chats.say(thread, "File this")
            activities = [activity async for activity in app.chats.until_idle(thread, receipt.seq - 1)]
            (request,) = [activity for activity in activities if activity.kind == "permission_asked"]

            assert [call["name"] for call in request.facts["calls"]] == ["file"]
            assert await app.chats.status(thread) == "waiting"
            assert box.calls == []
            receipt = await app.chats.answer(thread, decision="allow")
            activities = [activity async for activity in app.chats.until_idle(thread, receipt.seq - 1)]
            assert told(activities) == "Filed."
            assert [call.name for call in box.calls] == ["file"]
            roles = [message["role"] for message in branch_path((await app.library.read(thread)).content)]
            assert roles == ["user", "assistant", "tool", "assistant"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("action", "payload", "text"),
    [
        ("REPLY.COMPLETED", {"message": {"role": "assistant", "parts": []}}, "is an internal event"),
        ("rewind", {"checkpoint_id": "c1"}, "checkpoint_id is unknown: did you mean 'checkpointId'?"),
        ("rewind", {"turns": "1"}, 'turns is "1": expected a whole number'),
        ("fork", {"nme": "b"}, "nme is unknown: did you mean 'name'?"),
    ],
)
@pytest.mark.requirement("X-13")
def test_an_action_that_is_internal_or_not_as_declared_is_refused_and_changes_nothing(
    tmp_path: Path, action: str, payload: dict[str, object], text: str
) -> None:
    async def main() -> None:
        async with App(MemoryStore()) as app:
            thread = await app.chats.create(model=script(tmp_path, [{"text": "Good evening."}]))
            receipt = await app.chats.say(thread, "Hello")
            async for _ in app.chats.until_idle(thread, receipt.seq - 1):
                pass
            before = await app.chats.snapshot(thread)
            with pytest.raises(Refused, match=re.escape(text)):
                await app.chats.perform(thread, action, **payload)

            assert await app.chats.snapshot(thread) == before

    asyncio.run(main())


def test_a_message_that_is_not_as_declared_is_refused_with_its_place() -> None:
    async def main() -> None:
        async with App(MemoryStore()) as app:
            thread = await app.chats.create(model="scripted:chat")
            with pytest.raises(Refused, match=r"^START: message\.parts\[0\]\.text is 3: expected a text$"):
                await app.chats.say(thread, parts=[{"type": "text", "text": 3}])
            with pytest.raises(Refused, match=r"^COMPLETE is an internal event"):
                await app.threads.send(thread, {"type": "COMPLETE"})

            assert await app.chats.status(thread) == "pending"

    asyncio.run(main())


def test_tools_of_the_client_are_called_by_nobody_else(tmp_path: Path) -> None:
    async def main() -> None:
        clerk = Clerk()
        tools = [{"name": "add", "description": "Adds.", "parameters": {"type": "object"}}]
        model = script(tmp_path, ("add", [{"text": "Three."}]), [{"tool": "add", "arguments": {"a": 1, "b": 2}}])
        async with App(tmp_path / "store.db", toolbox=clerk) as app:
            thread = await app.chats.create(model=model, tools=tools, clientTools=True)
            await app.chats.say(thread, "1 + 2?")
            assert await app.chats.until_idle(thread) == "waiting"
        async with App(tmp_path / "store.db", toolbox=clerk) as app:  # the request outlives the process
            [request] = await app.threads.requests(thread)
            with pytest.raises(Refused, match="tool_results"):
                await app.threads.answer(thread, "3")
            result = {"type": "toolResult", "callId": request.calls[0]["id"], "parts": [{"type": "text", "text": "3"}]}
            await app.threads.perform(thread, "tool_results", results=[result])

            assert await app.chats.until_idle(thread) == "completed"
            talk = branch_path((await app.library.read(thread)).content)
            assert [message["role"] for message in talk] == ["user", "assistant", "tool", "assistant"]
            assert clerk.calls == []

    asyncio.run(main())


def test_a_chat_begins_with_a_history_of_plain_messages(tmp_path: Path) -> None:
    async def main() -> None:
        question = {"id": "m1", "parent": None, "role": "user", "parts": [{"type": "text", "text": "One?"}]}
        answer = {"id": "m2", "parent": "m1", "role": "assistant", "parts": [{"type": "text", "text": "One."}]}
        branches = {"main": {"name": "main", "head": "m2"}}
        history = {"messages": {"m1": question, "m2": answer}, "branches": branches, "branch": "main"}
        async with App(MemoryStore()) as app:
            thread = await app.chats.create(model=script(tmp_path, [{"text": "Two."}]), history=history)
            assert (await app.library.read(thread)).view.turns == 1
            await app.chats.say(thread, "Two?")
            await app.chats.until_idle(thread)

            assert (await app.library.read(thread)).view.turns == 2

    asyncio.run(main())


def test_a_document_is_refused_by_a_chat_whose_model_takes_none(tmp_path: Path) -> None:
    document = {"type": "document", "mediaType": "application/pdf", "data": "aGk=", "name": "a.pdf"}

    async def main() -> None:
        async with App(MemoryStore()) as app:
            thread = await app.chats.create(model="ollama:m")
            with pytest.raises(Refused, match="ollama:m takes no PDFs"):
                await app.chats.say(thread, parts=[document])
            assert not await app.chats.has_content(thread)

            thread = await app.chats.create(model=script(tmp_path, [{"text": "Read."}]))
            receipt = await app.chats.say(thread, parts=[document])
            assert told([each async for each in app.chats.until_idle(thread, receipt.seq - 1)]) == "Read."
            with pytest.raises(Refused, match="data"):
                await app.chats.say(thread, parts=[{"type": "document", "mediaType": "application/pdf"}])
            await app.chats.perform(thread, "use_model", model="ollama:m")
            with pytest.raises(Refused, match="ollama:m takes no PDFs"):
                await app.chats.say(thread, parts=[document])

    asyncio.run(main())


def test_options_of_a_message_are_those_of_requests_and_of_chats(tmp_path: Path) -> None:
    async def main() -> None:
        async with App(MemoryStore()) as app:
            thread = await app.chats.create(model=script(tmp_path, [{"text": "Yes."}]))
            with pytest.raises(Refused, match="a message has no option 'tools'; known: temperature"):
                await app.chats.say(thread, "Hello", options={"tools": []})
            receipt = await app.threads.say(thread, "Hello", options={"temperature": 1})
            assert told([each async for each in app.chats.until_idle(thread, receipt.seq - 1)]) == "Yes."
            (question, answer) = branch_path((await app.library.read(thread)).content)
            assert question["options"] == {"temperature": 1}
            assert "options" not in answer

    asyncio.run(main())
