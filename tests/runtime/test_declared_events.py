"""Declared events at the door of the runtime: what is not as declared, or internal, is rejected and changes nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from antiphon import assign, from_task, raise_, setup, spawn_child
from antiphon.chart.errors import EventRefused
from antiphon.runtime.errors import StoreError
from antiphon.runtime.runtime import Runtime
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from tests.fixtures.runtime import runtime as simulated
from tests.fixtures.runtime import simulate


class Add(TypedDict):
    """Add an amount."""

    type: Literal["ADD"]
    amount: int
    noteId: NotRequired[str]


class Begin(TypedDict):
    """Start the work."""

    type: Literal["WORK"]


class Worked(TypedDict):
    """The work is done, as its task and its timer report."""

    type: Literal["WORK.DONE", "WORK.RUNG"]
    result: NotRequired[int]


class CounterInput(TypedDict, total=False):
    """The input of a counter."""

    start: int


def first_context(input: Any = None) -> dict[str, Any]:
    return {"total": (input or {}).get("start", 0), "results": []}


def add(context: Any, event: Any) -> dict[str, Any]:
    return {"total": context["total"] + event["amount"]}


def note(context: Any, event: Any) -> dict[str, Any]:
    return {"results": [*context["results"], event["type"]]}


async def work(scope: Any) -> int:
    scope.send_back({"type": "WORK.DONE", "result": 3})
    return 3


PLAIN = {"on": {"ADD": {"actions": "add"}, "WORK.*": {"actions": "note"}}}
COUNTER = {
    **PLAIN,
    "id": "counter",
    "context": first_context,
    "entry": "spawn",
    "initial": "idle",
    "states": {
        "idle": {"on": {"WORK": "busy"}},
        "busy": {
            "invoke": {"src": "work"},
            "entry": "ring",
            "on": {"WORK.RUNG": {"target": "rung", "actions": "note"}},
        },
        "rung": {},
    },
}
FUNCTIONS: dict[str, Any] = {"add": assign(add), "note": assign(note)}
EVENTS = [Add, Begin, Worked]
child = setup(actions=FUNCTIONS, events=EVENTS, public=["ADD"]).create_machine(
    {**PLAIN, "id": "child", "context": first_context}
)
counter = setup(
    actions={**FUNCTIONS, "spawn": spawn_child("child", id="kid"), "ring": raise_({"type": "WORK.RUNG"}, delay=10)},
    actors={"child": child, "work": from_task(work)},
    events=EVENTS,
    public=["ADD", "WORK"],
    input=CounterInput,
).create_machine(COUNTER)
ONE = {"type": "ADD", "amount": 1}
WRONG = [
    ({"type": "ADD"}, "ADD: amount is missing: expected a whole number"),
    ({"type": "ADD", "amount": "1"}, 'ADD: amount is "1": expected a whole number'),
    ({"type": "ADD", "amount": 1, "note_id": "x"}, "ADD: note_id is unknown: did you mean 'noteId'?"),
    ({"type": "WORK.DONE", "result": 3}, "WORK.DONE is an internal event: "),
    ({"type": "AD", "amount": 1}, "AD is no event that may come from outside: did you mean 'ADD'?"),
]


@asynccontextmanager
async def host(path: Path, machine: Any = counter) -> AsyncIterator[Runtime]:
    async with Runtime(SqliteStore(path / "store.db"), [machine]) as opened:
        await opened.create(machine.id, root="a")
        yield opened


def run(test: Any) -> Any:
    return asyncio.run(test())


@pytest.mark.parametrize("to", ["", "kid"])
@pytest.mark.parametrize(("event", "text"), WRONG)
def test_a_wrong_or_internal_event_is_rejected_and_nothing_is_stored(tmp_path, event, text, to):
    async def main() -> None:
        async with host(tmp_path) as runtime:
            before = await runtime.snapshot("a")
            for receipt in (await runtime.send("a", event, to=to), await runtime.post("a", event, id="p", to=to)):
                assert receipt.status == "rejected"
                assert receipt.error is not None
                assert receipt.error.startswith(text)
                assert receipt.problem is not None
                assert receipt.problem.event == event["type"]

            assert await runtime.snapshot("a") == before
            assert await runtime.outcome("a", "p") is None
            assert len(await runtime.store.entries("a", 0, 10)) == 1

    run(main)


def test_the_receipt_of_a_refused_event_has_path_value_and_what_was_expected(tmp_path):
    async def main() -> None:
        async with host(tmp_path) as runtime:
            problem = (await runtime.send("a", {"type": "ADD", "amount": True})).problem

            assert problem is not None
            assert problem[:4] == ("ADD", "amount", "true", "a whole number")

    run(main)


def test_a_tree_that_is_not_loaded_refuses_too(tmp_path):
    async def main() -> None:
        async with host(tmp_path):
            pass
        async with Runtime(SqliteStore(tmp_path / "store.db"), [counter]) as runtime:
            posted = await runtime.post("a", {"type": "ADD"})
            runtime.trees.discard("a")
            sent = await runtime.send("a", {"type": "ADD"}, id="named")

            assert [posted.status, sent.status] == ["rejected", "rejected"]

    run(main)


def test_a_right_event_is_taken_by_root_and_child(tmp_path):
    async def main() -> None:
        async with host(tmp_path) as runtime:
            await runtime.send("a", ONE)
            await runtime.send("a", ONE, to="kid")
            snapshot = await runtime.snapshot("a")

            assert snapshot["context"]["total"] == 1
            assert snapshot["children"]["kid"]["snapshot"]["context"]["total"] == 1

    run(main)


def test_a_letter_to_a_child_is_checked_by_what_the_child_declares(tmp_path):
    async def main() -> None:
        async with host(tmp_path) as runtime:
            sent = await runtime.send("a", {"type": "WORK"}, to="kid")
            posted = await runtime.post("a", {"type": "WORK"}, to="kid")
            to_root = await runtime.send("a", {"type": "WORK"})

            assert [sent.status, posted.status, to_root.status] == ["rejected", "rejected", "accepted"]
            assert sent.problem is not None
            assert sent.problem == posted.problem

    run(main)


def test_events_of_tasks_and_timers_are_no_events_from_outside():
    async def main() -> None:
        async with simulated(MemoryStore(), counter) as host:
            await host.create("counter", root="a")
            await host.send("a", {"type": "WORK"})
            await asyncio.sleep(1)  # simulated
            snapshot = await host.snapshot("a")

            assert snapshot["value"] == "rung"
            assert snapshot["context"]["results"] == ["WORK.DONE", "WORK.RUNG"]

    simulate(main)


def test_a_letter_for_a_child_that_comes_later_is_checked_when_it_is_taken():
    late = setup(
        actions={"spawn": spawn_child("child", id="kid")}, actors={"child": child}, events=[Begin]
    ).create_machine({"id": "late", "on": {"WORK": {"actions": "spawn"}}})

    async def main() -> None:
        async with simulated(MemoryStore(), late) as host:
            await host.create("late", root="a")
            posted = await host.post("a", {"type": "ADD"}, id="early", to="kid", delay_ms=1_000)
            await host.send("a", {"type": "WORK"})
            await asyncio.sleep(2)  # simulated
            outcome = await host.outcome("a", "early")

            assert posted.status == "accepted"
            assert outcome is not None
            assert outcome.status == "rejected"
            assert outcome.error == "ADD: amount is missing: expected a whole number"
            assert outcome.problem is not None
            assert outcome.problem.path == "amount"

    simulate(main)


class UnreadableStore(MemoryStore):
    """Store that cannot read trees."""

    is_readable = True

    async def load(self, root, seq=None):
        if not self.is_readable:
            raise StoreError("the disk does not answer")
        return await super().load(root, seq)


def test_a_post_to_a_tree_that_cannot_be_read_now_is_stored_and_checked_when_it_is_taken():
    async def main() -> None:
        store = UnreadableStore()
        async with simulated(store, counter) as host:
            await host.create("counter", root="a")
            host.trees.discard("a")
            store.is_readable = False
            posted = await host.post("a", {"type": "ADD"}, id="p")
            store.is_readable = True
            await asyncio.sleep(5)  # simulated
            outcome = await host.outcome("a", "p")

            assert posted.status == "accepted"
            assert outcome is not None
            assert outcome.status == "rejected"

    simulate(main)


def test_a_machine_driven_by_hand_takes_internal_events_that_are_as_declared(tmp_path):
    async def main() -> None:
        async with host(tmp_path, counter.provide(public=["*"])) as runtime:
            done = await runtime.send("a", {"type": "WORK.DONE", "result": 3})
            wrong = await runtime.send("a", {"type": "WORK.DONE", "result": "3"})

            assert [done.status, wrong.status] == ["accepted", "rejected"]

    run(main)


def test_a_machine_without_declarations_is_not_checked(tmp_path):
    bare = setup(actions=FUNCTIONS).create_machine({**PLAIN, "id": "bare", "context": first_context})

    async def main() -> None:
        async with host(tmp_path, bare) as runtime:
            receipt = await runtime.send("a", {"type": "WORK.DONE", "anything": [1]})

            assert receipt.status == "accepted"

    run(main)


@pytest.mark.parametrize("input", [{"start": "3"}, {"strat": 3}, [3]])
def test_an_input_that_is_not_as_declared_creates_nothing(tmp_path, input):
    async def main() -> None:
        async with host(tmp_path) as runtime:
            with pytest.raises(EventRefused, match="input: "):
                await runtime.create("counter", root="b", input=input)
            await runtime.create("counter", root="b", input={"start": 3})

            assert (await runtime.snapshot("b"))["context"]["total"] == 3

    run(main)
