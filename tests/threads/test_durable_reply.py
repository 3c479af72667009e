"""The streaming machine on the durable runtime: the same service, and nothing is lost when the process dies."""

import asyncio

import pytest

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.scripted import ScriptedModel
from antiphon.stores.memory import MemoryStore
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.reply import stream_reply
from tests.fixtures.runtime import crash, runtime, simulate, wait_for_state

SEND = {"type": "SEND", "prompt": "Hello", "requestId": "r1"}
MODEL = {"model": "scripted:script"}
SAME_CALLS = [{"tool": "now"}, {"tool": "now"}, {"tool": "now"}]


def talking(*steps):
    """The machine with a model that plays these steps."""
    model = ScriptedModel({"replies": [{"steps": list(steps)}]})
    service = stream_reply(lambda reference: model, jitter=lambda: 0)
    return streaming_machine.provide(actors={"streamReply": service})


@pytest.mark.requirement("S0-02", "X-1")
def test_a_reply_is_stored_as_it_arrives():
    async def main():
        async with runtime(MemoryStore(), talking({"thinking": "Hm."}, {"text": "Good day."}, *SAME_CALLS)) as host:
            root = await host.create("streaming", input=MODEL)
            await host.send(root, SEND)
            snapshot = await wait_for_state(host, root, "complete")
            context = snapshot["context"]

            assert (snapshot["value"], context["text"], context["thinking"]) == ("complete", "Good day.", "Hm.")
            assert [tool["name"] for tool in context["tools"].values()] == ["now", "now", "now"]
            assert [message["role"] for message in context["messages"]] == ["user", "assistant"]

    simulate(main)


@pytest.mark.requirement("S0-59", "S0-85")
def test_a_reply_that_a_dead_process_left_is_an_error_with_what_had_arrived():
    """The call is not repeated unseen, and can be repeated by hand."""

    async def main():
        store = MemoryStore()
        first = await runtime(store, talking({"text": "Half"}, {"delay_ms": 60_000})).start()
        root = await first.create("streaming", input=MODEL)
        await first.send(root, SEND)
        await asyncio.sleep(1)
        crash(first)

        async with runtime(store, talking({"text": "Whole."})) as second:
            snapshot = await wait_for_state(second, root, "error")
            assert (snapshot["value"], snapshot["context"]["text"]) == ("error", "Half")
            assert snapshot["context"]["error"]["code"] == "interrupted"

            await second.send(root, {"type": "RETRY"})
            assert (await wait_for_state(second, root, "complete"))["context"]["text"] == "Whole."

    simulate(main)


@pytest.mark.requirement("S0-72", "X-2")
def test_a_model_that_cannot_be_opened_is_an_error_like_any_other():
    def refuse(reference):
        raise ProviderError(Code.UNAUTHENTICATED, f"no key for {reference}")

    machine = streaming_machine.provide(actors={"streamReply": stream_reply(refuse)})

    async def main():
        async with runtime(MemoryStore(), machine) as host:
            root = await host.create("streaming", input={"model": "anthropic:x"})
            await host.send(root, SEND)
            error = (await wait_for_state(host, root, "error"))["context"]["error"]

            assert error == {"code": "2001", "message": "no key for anthropic:x", "recoverable": False}

    simulate(main)


def test_without_a_model_nobody_is_asked():
    async def main():
        async with runtime(MemoryStore(), talking({"text": "Hi."})) as host:
            root = await host.create("streaming")
            await host.send(root, SEND)
            error = (await wait_for_state(host, root, "error"))["context"]["error"]

            assert error == {"code": "9001", "message": "no model is set", "recoverable": False}

    simulate(main)
