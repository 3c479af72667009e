"""A runtime belongs to the event loop that started it; other threads submit their calls to that loop."""

import asyncio

import pytest

from antiphon import MemoryStore, Runtime, SqliteStore, WrongLoop, WrongThread, assign, create_machine, from_task

SENDERS = 4
EVENTS = 50

counter = create_machine(
    {"id": "counter", "context": {"n": 0}, "on": {"ADD": {"actions": "add"}}},
    actions={"add": assign({"n": lambda context, event: context["n"] + 1})},
)


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "store.db")


async def first_entry(host, root):
    return await anext(host.feed(root))


CALLS = {
    "create": lambda host, root: host.create("counter"),
    "send": lambda host, root: host.send(root, {"type": "ADD"}),
    "post": lambda host, root: host.post(root, {"type": "ADD"}),
    "snapshot": lambda host, root: host.snapshot(root),
    "output": lambda host, root: host.output(root),
    "cursor": lambda host, root: host.cursor(root),
    "feed": first_entry,
    "fork": lambda host, root: host.fork(root, 1),
    "retry": lambda host, root: host.retry(root, "letter"),
    "release": lambda host, root: host.release(root),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_in_another_event_loop_raises_and_changes_nothing(call, store):
    async def main():
        async with Runtime(store, [counter]) as host:
            root = await host.create("counter")
            with pytest.raises(WrongLoop, match=r"asyncio\.run_coroutine_threadsafe\(runtime\.send"):
                await asyncio.to_thread(lambda: asyncio.run(asyncio.wait_for(CALLS[call](host, root), 10)))
            assert (await host.snapshot(root))["context"] == {"n": 0}
            assert len(await host.store.entries(root)) == 1

    asyncio.run(main())


def test_calls_that_threads_submit_to_the_event_loop_lose_no_event(store):
    async def main():
        async with Runtime(store, [counter]) as host:
            root = await host.create("counter")
            loop = asyncio.get_running_loop()

            def send_all():
                for _ in range(EVENTS):
                    call = host.send(root, {"type": "ADD"})
                    assert asyncio.run_coroutine_threadsafe(call, loop).result().status == "accepted"

            await asyncio.gather(*(asyncio.to_thread(send_all) for _ in range(SENDERS)))
            return (await host.snapshot(root))["context"]["n"]

    assert asyncio.run(main()) == SENDERS * EVENTS


def in_a_task(work):
    """A machine that counts the events that a task sends it, and keeps the task's result."""
    return create_machine(
        {
            "id": "working",
            "initial": "busy",
            "context": {"n": 0, "result": None},
            "output": lambda context: context,
            "on": {"ADD": {"actions": "add"}},
            "states": {
                "busy": {"invoke": {"src": "work", "onDone": {"target": "done", "actions": "keep"}}},
                "done": {"type": "final"},
            },
        },
        actors={"work": from_task(work)},
        actions={
            "add": assign({"n": lambda context, event: context["n"] + 1}),
            "keep": assign({"result": lambda context, event: event["output"]}),
        },
    )


def test_a_task_cannot_send_events_from_another_thread(store):
    async def work(scope):
        try:
            await asyncio.to_thread(scope.send_back, {"type": "ADD"})
        except WrongThread as error:
            return str(error)

    async def main():
        async with Runtime(store, [in_a_task(work)]) as host:
            return await host.output(await host.create("working"))

    context = asyncio.run(main())

    assert context["n"] == 0
    assert "loop.call_soon_threadsafe(scope.send_back, event)" in context["result"]


def test_a_task_sends_events_from_another_thread_by_the_event_loop(store):
    async def work(scope):
        loop = asyncio.get_running_loop()

        def count():
            for _ in range(EVENTS):
                loop.call_soon_threadsafe(scope.send_back, {"type": "ADD"})

        await asyncio.to_thread(count)
        return "counted"

    async def main():
        async with Runtime(store, [in_a_task(work)]) as host:
            return await host.output(await host.create("working"))

    assert asyncio.run(main()) == {"n": EVENTS, "result": "counted"}
