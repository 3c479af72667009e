"""A step that is taken again gives the transitions that it took, and the tree after it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon import create_machine
from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.paths import actor_at, child_path, path_of
from antiphon.runtime.replay.microsteps import observe_step
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import runtime, simulate
from tests.runtime.test_time_travel import clock, events, play

CHILD = create_machine({"id": "child", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {"type": "final"}}})
PARENT = create_machine(
    {
        "id": "parent",
        "initial": "working",
        "states": {
            "working": {"invoke": {"src": "child", "id": "the child/1", "onDone": "done"}},
            "done": {},
        },
    },
    actors={"child": CHILD},
)


async def observe(host: Any, root: str, seq: int) -> Any:
    return await observe_step(host.store, host.time_travel, root, seq)


@settings(max_examples=25)
@given(st.lists(events, max_size=15), st.integers(1, 6))
def test_the_tree_after_each_step_is_the_rebuilt_one(history: list[Any], snapshot_every: int) -> None:
    async def main() -> None:
        async with runtime(MemoryStore(), clock(), snapshot_every=snapshot_every) as host:
            root = await host.create("clock")
            await play(host, root, history)
            _, last = await host.store.history(root)

            for seq in range(1, last + 1):
                step = await observe(host, root, seq)
                assert (step.entry.seq, step.tree.seq) == (seq, seq)
                assert step.tree.view() == await host.snapshot(root, seq)
                assert bool(step.taken) == (seq > 1)

    simulate(main)


def test_transitions_of_a_child_and_of_its_parent_are_those_of_one_step() -> None:
    async def main() -> list[Any]:
        async with runtime(MemoryStore(), PARENT) as host:
            root = await host.create("parent")
            await host.send(root, {"type": "GO"}, to=child_path("", "the child/1"))
            return [tuple(each) for each in (await observe(host, root, 2)).taken]

    assert simulate(main) == [
        ("the%20child%2F1", "child.a", "GO", 0, ("child.b",)),
        ("", "parent.working", "xstate.done.actor.the child/1", 0, ("parent.done",)),
    ]


def test_the_first_step_of_a_fork_takes_no_transition() -> None:
    async def main() -> Any:
        async with runtime(MemoryStore(), PARENT) as host:
            fork = await host.fork(await host.create("parent"), 1)
            return await observe(host, fork, 1)

    step = simulate(main)
    assert step.taken == ()
    assert step.tree.actor.snapshot.value == "working"


def test_there_is_no_step_after_the_last() -> None:
    async def main() -> None:
        async with runtime(MemoryStore(), PARENT) as host:
            await observe(host, await host.create("parent"), 2)

    with pytest.raises(UnknownRoot, match="has no step 2"):
        simulate(main)


def test_the_address_of_a_child_is_that_of_its_actor() -> None:
    async def main() -> None:
        async with runtime(MemoryStore(), PARENT) as host:
            root = await host.create("parent")
            tree = (await observe(host, root, 1)).tree
            address = child_path("", "the child/1")

            assert path_of(actor_at(tree.actor, address)) == address
            assert child_path("a", "b") == "a/b"

    simulate(main)
