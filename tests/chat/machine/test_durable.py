"""A chat on the durable runtime: what was said is still there after a crash, and goes on."""

import pytest

from antiphon import from_task
from antiphon.chat.machine.flow import flow_machine
from antiphon.stores.memory import MemoryStore
from tests.fixtures.conversations import texts
from tests.fixtures.runtime import crash, runtime, simulate


async def crystal(input):
    return {"title": f"{len(input['messages'])} messages"}


# The replies come from outside, which a chat takes from its children only.
MACHINE = flow_machine.provide(actors={"crystallizer": from_task(crystal)}, public=["*"])


@pytest.mark.requirement("S2.4-10", "S2-19", "E-17")
def test_a_chat_survives_its_process_and_ends_with_its_crystal():
    async def main():
        store = MemoryStore()
        first = await runtime(store, MACHINE).__aenter__()
        root = await first.create("chat", input={"model": "scripted:demo", "autoStart": True})
        for number in range(1, 4):
            await first.send(root, {"type": "message", "text": f"question {number}"})
            message = {"role": "assistant", "parts": [{"type": "text", "text": "answer"}]}
            await first.send(root, {"type": "REPLY.COMPLETED", "requestId": f"r{number}", "message": message})
        crash(first)

        async with runtime(store, MACHINE) as second:
            await second.send(root, {"type": "rewind"})
            snapshot = await second.snapshot(root)
            assert texts(snapshot["context"], "main") == ["question 1", "answer", "question 2", "answer"]
            receipt = await second.send(root, {"type": "rewind", "turns": 3})
            assert receipt.status == "rejected"
            await second.send(root, {"type": "stop"})
            await second.send(root, {"type": "crystallize"})
            async for entry in second.feed(root):
                if any(emitted["event"]["type"] == "crystallized" for emitted in entry.emitted):
                    break
            snapshot = await second.snapshot(root)
            assert (snapshot["value"], snapshot["context"]["crystal"]["title"]) == ("collapsed", "4 messages")

    simulate(main)
