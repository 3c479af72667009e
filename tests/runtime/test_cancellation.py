"""A caller that is cancelled at any await leaves its call done or not done, never half done."""

import asyncio
from pathlib import Path

import pytest

from antiphon import assign, create_machine, from_task, raise_
from antiphon.runtime.runtime import Runtime
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.laws import broken_laws
from tests.fixtures.runtime import runtime, simulate


async def forever():
    await asyncio.get_running_loop().create_future()


machine = create_machine(
    {
        "id": "m",
        "initial": "idle",
        "context": {"n": 0},
        "on": {
            "ADD": {"actions": assign({"n": lambda context: context["n"] + 1})},
            "FAIL": {"actions": assign(lambda context, event: 1 / 0)},
        },
        "entry": raise_({"type": "ADD"}, delay=5000),
        "states": {"idle": {"invoke": {"src": "work", "onError": {"target": "idle", "reenter": True}}}},
    },
    actors={"work": from_task(forever)},
)
CALLS = {
    "create": lambda host, root: host.create("m", root="new"),
    "send": lambda host, root: host.send(root, {"type": "ADD"}, id="sent"),
    "post": lambda host, root: host.post(root, {"type": "ADD"}, id="posted"),
    "fork": lambda host, root: host.fork(root, 1, new="fork"),
    "retry": lambda host, root: host.retry(root, "dead"),
    "discard": lambda host, root: host.discard(root, "dead"),
    "release": lambda host, root: host.release(root),
    "delete": lambda host, root: host.delete("other"),
    "stop_root": lambda host, root: host.stop_root("other"),
    "snapshot": lambda host, root: host.snapshot(root),
    "output": lambda host, root: host.output(root),
    "stop": lambda host, root: host.stop(0),
}
STEPS = 40  # more awaits than any call has


class PausingStore(MemoryStore):
    """Store whose calls take a few rounds of the event loop."""

    commits_inline = False

    async def commit(self, commits, written=None):
        await asyncio.sleep(0)
        await super().commit(commits, written)
        await asyncio.sleep(0)

    async def load(self, root, seq=None):
        await asyncio.sleep(0)
        return await super().load(root, seq)

    async def post(self, letters, tenure=0):
        await asyncio.sleep(0)
        return await super().post(letters, tenure)

    async def delete(self, root, tenure=0):
        await asyncio.sleep(0)
        await super().delete(root, tenure)
        await asyncio.sleep(0)


async def cancel_after(call, rounds):
    """Cancel a call after some rounds of the event loop; return whether it had ended before."""
    task = asyncio.ensure_future(call)
    for _ in range(rounds):
        await asyncio.sleep(0)
    has_ended = task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return has_ended


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("evicted", [False, True])
def test_a_call_cancelled_at_any_await_leaves_nothing_half_done(name, evicted):
    async def main(rounds):
        store = PausingStore()
        host = await runtime(store, machine).start()
        root = await host.create("m", root="r")
        await host.send(root, {"type": "FAIL"}, id="dead")
        await host.create("m", root="other")
        if evicted:
            host.trees.discard(root)
            host.trees.discard("other")
        has_ended = await cancel_after(CALLS[name](host, root), rounds)
        await asyncio.sleep(60)
        if name != "stop":
            assert await broken_laws(host, store, overdue_ms=0) == []
            assert (await host.send(root, {"type": "ADD"})).status == "accepted"
            await host.stop(0)
        async with runtime(store, machine) as again:
            active = [tree.root for tree in await again.roots() if tree.status == "active"]
            for tree in active:
                assert (await again.send(tree, {"type": "ADD"})).status == "accepted"
            await asyncio.sleep(60)
            assert await broken_laws(again, store, overdue_ms=0) == []
        return has_ended

    rounds = 0
    while not simulate(lambda rounds=rounds: main(rounds)) and rounds < STEPS:
        rounds += 1


def test_a_start_that_is_cancelled_releases_the_store():
    async def main(rounds):
        store = PausingStore()
        async with runtime(store, machine) as host:
            await host.create("m", root="r")
        starting = runtime(store, machine)
        await cancel_after(starting.start(), rounds)
        async with runtime(store, machine) as again:
            assert (await again.send("r", {"type": "ADD"})).status == "accepted"

    for rounds in range(STEPS):
        simulate(lambda rounds=rounds: main(rounds))


@pytest.mark.parametrize("rounds", range(12))
@pytest.mark.parametrize("name", ["create", "send", "post", "fork", "retry", "discard", "delete", "stop_root"])
def test_a_call_cancelled_on_sqlite_leaves_nothing_half_done(tmp_path: Path, name, rounds):
    async def main():
        store = SqliteStore(tmp_path / "store.db", durability="normal")
        store._flush_s = 1.0  # commits go to the thread
        host = await Runtime(store, [machine]).start()
        root = await host.create("m", root="r")
        await host.create("m", root="other")
        await host.send(root, {"type": "FAIL"}, id="dead")
        await cancel_after(CALLS[name](host, root), rounds)
        await host._calls.wait_until_done()
        assert (await host.send(root, {"type": "ADD"})).status == "accepted"
        assert await broken_laws(host, store) == []
        await host.stop(0)

    asyncio.run(main())
