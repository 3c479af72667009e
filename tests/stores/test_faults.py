"""A store that fails at any call loses nothing that was acknowledged, and the runtime continues afterwards."""

import asyncio
from collections import Counter
from random import Random

import pytest

from antiphon import assign, from_task, raise_, setup
from antiphon.runtime.errors import RootExists, StoreError
from antiphon.runtime.runtime import Runtime
from antiphon.stores.memory import MemoryStore
from antiphon.testing.simulation.loop import SimulatedLoop
from tests.fixtures.faulty_store import FaultyStore

WORDS = ["one ", "two ", "three ", "four "]


def talker(started):
    """Return a machine that takes notes, rings later, and calls a service; `started` lists its calls."""

    async def speak(input, scope):
        started.append(scope.key)
        for word in WORDS:
            await asyncio.sleep(0.2)
            scope.send_back({"type": "WORD", "text": word}, join="text")
        return "over"

    return setup(
        actions={
            "note": assign({"notes": lambda context, event: [*context["notes"], event["n"]]}),
            "hear": assign({"heard": lambda context, event: context["heard"] + event["text"]}),
            "end": assign(
                {"ends": lambda context, event: [*context["ends"], event.get("output") or event.get("error")]}
            ),
            "ring": assign({"rings": lambda context, event: context["rings"] + 1}),
        },
        actors={"speak": from_task(speak)},
    ).create_machine(
        {
            "id": "talker",
            "context": {"notes": [], "heard": "", "ends": [], "rings": 0},
            "initial": "idle",
            "on": {
                "NOTE": {"actions": "note"},
                "PLAN": {"actions": raise_({"type": "RING"}, delay=300)},
                "RING": {"actions": "ring"},
            },
            "states": {
                "idle": {"on": {"ASK": "asking"}},
                "asking": {
                    "invoke": {
                        "src": "speak",
                        "onDone": {"target": "idle", "actions": "end"},
                        "onError": {"target": "idle", "actions": "end"},
                    },
                    "on": {"WORD": {"actions": "hear"}},
                },
            },
        }
    )


class Clients:
    """Clients that repeat a call, under the same id, until it succeeds."""

    def __init__(self, store, machine):
        self.store = store
        self.machine = machine
        self.acknowledged = []
        self.runtime = None

    async def begin(self):
        loop = asyncio.get_running_loop()

        async def start():
            self.runtime = Runtime(self.store, [self.machine], now=lambda: 1_000_000 + round(loop.time() * 1000))
            await self.runtime.start()

        await self._retry(start)

    async def end(self):
        try:
            await self.runtime.stop()
        except StoreError:
            await self._retry(self.store.close)

    async def create(self, root):
        async def create():
            try:
                await self.runtime.create("talker", root=root)
            except RootExists:
                return

        await self._retry(create)

    async def send(self, root, type, n=None):
        event = {"type": type} if n is None else {"type": type, "n": n}
        receipt = await self._retry(lambda: self.runtime.send(root, event, id=f"{type}-{n}"))
        assert receipt.status in ("accepted", "duplicate")
        self.acknowledged.append((root, n))

    async def post(self, root, n, delay_ms):
        event = {"type": "NOTE", "n": n}
        await self._retry(lambda: self.runtime.post(root, event, id=f"NOTE-{n}", delay_ms=delay_ms))
        self.acknowledged.append((root, n))

    async def _retry(self, call):
        for _ in range(50):
            try:
                return await asyncio.wait_for(call(), 60)
            except StoreError:
                await asyncio.sleep(0.1)
        raise AssertionError("the store fails every time")


async def traffic(clients):
    """Send the letters of two trees, with a restart in between."""
    await clients.begin()
    await asyncio.gather(clients.create("a"), clients.create("b"))
    await asyncio.gather(*(clients.send(root, "NOTE", n) for root in "ab" for n in range(3)))
    await asyncio.gather(clients.post("a", 3, 50), clients.post("b", 3, 0), clients.send("a", "PLAN"))
    await asyncio.gather(clients.send("a", "ASK"), clients.send("b", "ASK"))
    await asyncio.sleep(0.3)
    await clients.send("a", "NOTE", 4)
    await asyncio.sleep(5)
    await clients.send("b", "PLAN", 0)
    await clients.end()
    await clients.begin()
    await asyncio.gather(*(clients.send(root, "NOTE", 5) for root in "ab"))
    await asyncio.sleep(5)


async def findings(clients, started):
    """Return the problems of the trees after the traffic."""
    runtime = clients.runtime
    problems = []
    for root, notes in (("a", {0, 1, 2, 3, 4, 5}), ("b", {0, 1, 2, 3, 5})):
        snapshot = await runtime.snapshot(root)
        context = snapshot["context"]
        journal = await clients.store.entries(root)
        expected = {"notes": notes, "heard": "".join(WORDS), "ends": ["over"], "rings": 1}
        actual = {**context, "notes": set(context["notes"])}
        if actual != expected or len(context["notes"]) != len(notes):
            problems.append(f"{root}: {context}")
        if [entry.seq for entry in journal] != list(range(1, len(journal) + 1)):
            problems.append(f"{root}: gaps")
        if await runtime.snapshot(root, len(journal)) != snapshot:
            problems.append(f"{root}: replaying the journal gives another snapshot")
    problems += [f"{key} was started {times} times" for key, times in Counter(started).items() if times > 1]
    return problems if len(started) == 2 else [*problems, f"started: {started}"]


def run_traffic(fails):
    """Run the traffic on a store that fails like this; return the problems and the calls of the store."""
    loop = SimulatedLoop()
    started = []
    store = FaultyStore(MemoryStore(), fails)

    async def main():
        clients = Clients(store, talker(started))
        await traffic(clients)
        calls = list(store.calls)
        store.cure()
        problems = await findings(clients, started)
        await clients.end()
        return problems, calls

    try:
        return loop.run_until_complete(main())
    except Exception as error:
        return [repr(error)], store.calls
    finally:
        loop.dispose()


def test_without_faults_nothing_is_wrong():
    problems, calls = run_traffic(lambda number: False)

    assert problems == []
    assert {"open", "close", "commit", "post", "due_times", "running_tasks", "load", "outcome"} <= set(calls)


def test_a_fault_at_any_one_call_costs_nothing():
    _, calls = run_traffic(lambda number: False)

    failures = {}
    for n in range(1, len(calls) + 1):
        problems, attempted = run_traffic(lambda number: number == n)
        if problems:
            failures[n, attempted[n - 1]] = problems
    assert failures == {}


@pytest.mark.parametrize("every", [2, 3, 4, 5, 7, 11])
def test_faults_again_and_again_cost_nothing(every):
    # By chance, but always the same: a strict rhythm could meet the same call of every attempt.
    assert run_traffic(lambda number: Random(every * 10_000 + number).random() < 1 / every)[0] == []
