"""A tree at an earlier step, and a fork from there, are the same from a snapshot as by replaying the whole journal."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon import assign, cancel, create_machine, from_task, raise_
from antiphon.runtime.records import Letter
from antiphon.runtime.tree import Tree
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import runtime, simulate


async def forever(input):
    await asyncio.get_running_loop().create_future()


def clock(version=1, migrate=None):
    """Return a machine that sets and cancels timers and starts and stops tasks."""
    working = {
        "invoke": {"src": "work", "id": "work", "onError": {"target": "idle", "actions": "fail"}},
        "on": {"TOGGLE": "idle"},
    }
    return create_machine(
        {
            "id": "clock",
            "version": version,
            "initial": "idle",
            "context": {"rings": 0, "failures": 0},
            "on": {
                "SET": {"actions": raise_({"type": "RING"}, delay=lambda context, event: event["ms"], id="ring")},
                "CANCEL": {"actions": cancel("ring")},
                "RING": {"actions": "ring"},
            },
            "states": {"idle": {"on": {"TOGGLE": "working"}}, "working": working},
        },
        actors={"work": from_task(forever)},
        actions={
            "ring": assign({"rings": lambda context, event: context["rings"] + 1}),
            "fail": assign({"failures": lambda context, event: context["failures"] + 1}),
        },
        migrate=migrate,
    )


events = st.one_of(
    st.builds(lambda ms: {"type": "SET", "ms": ms}, st.sampled_from([1, 30, 100_000])),
    st.sampled_from([{"type": "CANCEL"}, {"type": "TOGGLE"}, {"type": "RING"}]),
)


async def play(host, root, history):
    """Send events, with pauses in which timers become due."""
    for event in history:
        await host.send(root, event)
        await asyncio.sleep(0.01)


async def replayed_states(host, root):
    """Return what a fork would depend on at each step, by replaying the journal from its beginning."""
    saved = await host.store.load(root)
    entries = await host.store.entries(root, 0, saved.seq)
    tree = Tree(root, host.machines.current("clock"), saved.origin, 0)
    tree.replay_all(entries[:1])
    states = [state_of(tree)]
    for entry in entries[1:]:
        tree.replay(entry)
        states.append(state_of(tree))
    return states


def state_of(tree):
    tasks = [(task.id, task.to, task.src, task.safety) for task in tree.host.tasks.values()]
    return tree.actor.get_persisted_snapshot(), list(tree.host.letters.values()), tasks, tree.host.now


@settings(max_examples=40)
@given(st.lists(events, max_size=25), st.integers(1, 6))
def test_a_tree_rebuilt_at_any_step_is_the_replayed_one_with_its_timers_and_tasks(history, snapshot_every):
    async def main():
        async with runtime(MemoryStore(), clock(), snapshot_every=snapshot_every) as host:
            root = await host.create("clock")
            await play(host, root, history)

            states = await replayed_states(host, root)
            rebuilt = [state_of(await host.time_travel.rebuild(root, seq)) for seq in range(1, len(states) + 1)]
            assert rebuilt == states

    simulate(main)


@settings(max_examples=40)
@given(st.lists(events, min_size=1, max_size=25), st.integers(1, 6), st.data())
def test_a_fork_begins_with_the_timers_and_the_interrupted_tasks_of_its_step(history, snapshot_every, data):
    async def main():
        store = MemoryStore()
        async with runtime(store, clock(), snapshot_every=snapshot_every) as host:
            root = await host.create("clock")
            await play(host, root, history)
            states = await replayed_states(host, root)
            seq = data.draw(st.integers(1, len(states)))
            snapshot, timers, tasks, at = states[seq - 1]
            now = host.now()

            commit = await host.time_travel.fork(root, seq, "fork")
            moved = [letter for letter in commit.letters if letter.timer is not None]
            assert commit.snapshot == snapshot
            assert [letter.due - now for letter in moved] == [timer.due - at for timer in timers]
            assert [letter.to for letter in commit.letters if letter.timer is None] == [to for _, to, *_ in tasks]

    simulate(main)


async def store_history(store, machine, *events, root="a"):
    """Run some events on a tree, with a snapshot after every step."""
    async with runtime(store, machine, snapshot_every=1) as host:
        await host.create("clock", root=root)
        await play(host, root, events)


def test_a_fork_of_a_fork_keeps_its_timers():
    async def main():
        store = MemoryStore()
        async with runtime(store, clock()) as host:
            await host.create("clock", root="a")
            await play(host, "a", [{"type": "SET", "ms": 100_000}, {"type": "CANCEL"}])
            await host.fork("a", 2, new="b")
            await play(host, "b", [{"type": "RING"}])
            await host.fork("b", 2, new="c")

            (timer,) = (await store.load("c")).letters
            assert (timer.timer, timer.event["type"]) == ("ring", "RING")

    simulate(main)


def test_a_fork_without_its_first_snapshot_is_rebuilt_from_the_tree_it_came_from():
    async def main():
        store = MemoryStore()
        async with runtime(store, clock()) as host:
            await host.create("clock", root="a")
            await play(host, "a", [{"type": "SET", "ms": 100_000}, {"type": "RING"}])
            await host.fork("a", 2, new="b")
            await play(host, "b", [{"type": "RING"}])
            intact = state_of(await host.time_travel.rebuild("b", 2))
            store.trees["b"].snapshots.clear()

            assert state_of(await host.time_travel.rebuild("b", 2)) == intact
            assert intact[1] != []
            del store.trees["a"]
            with pytest.raises(ValueError, match=r"the first snapshot of 'b' is gone, .* there is no root actor 'a'"):
                await host.time_travel.rebuild("b", 2)

    simulate(main)


def test_timers_and_tasks_that_were_open_at_a_migration_are_known_afterwards():
    async def main():
        store = MemoryStore()
        old = clock()
        await store_history(store, old, {"type": "SET", "ms": 100_000}, {"type": "TOGGLE"})
        new = clock(version=2, migrate=lambda snapshot, version: snapshot)
        async with runtime(store, old, new) as host:
            await host.send("a", {"type": "RING"})
            migrated = [entry.seq for entry in await store.entries("a") if entry.event["type"] == "antiphon.migrated"]
            assert len(migrated) == 1
            for snapshots in (dict(store.trees["a"].snapshots), {}):
                store.trees["a"].snapshots = snapshots
                tree = await host.time_travel.rebuild("a", migrated[0])
                assert [letter.timer for letter in tree.host.letters.values()] == ["ring"]
                assert list(tree.host.tasks) == ["work"]
                assert (tree.origin.version, tree.host.now > 0) == (2, True)

    simulate(main)


def test_a_step_before_a_migration_is_rebuilt_with_the_version_of_that_time():
    async def main():
        store = MemoryStore()
        old = clock()
        await store_history(store, old, *[{"type": "RING"}] * 5)
        new = clock(version=2, migrate=lambda snapshot, version: {**snapshot, "context": {"rings": 50, "failures": 0}})
        async with runtime(store, old, new) as host:
            await play(host, "a", [{"type": "RING"}] * 5)
            rings = [(await host.snapshot("a", seq))["context"]["rings"] for seq in range(1, 13)]

            assert rings == [0, 1, 2, 3, 4, 5, 50, 51, 52, 53, 54, 55]

    simulate(main)


def test_rebuilding_at_a_step_reads_the_journal_from_the_nearest_snapshot_only():
    async def main():
        store = MemoryStore()
        await store_history(store, clock(), *[{"type": "RING"}] * 40)
        async with runtime(store, clock()) as host:
            store.trees["a"].entries[:30] = [("unreadable",)] * 30

            assert (await host.snapshot("a", 38))["context"]["rings"] == 37

    simulate(main)


def test_the_inputs_of_tasks_are_not_stored_again_with_each_snapshot():
    async def main():
        store = MemoryStore()
        machine = create_machine(
            {
                "id": "clock",
                "invoke": {"src": "work", "id": "work", "input": {"text": "x" * 10_000}},
                "on": {"RING": {"actions": assign({"n": 1})}},
            },
            actors={"work": from_task(forever, safety="repeat")},
        )
        await store_history(store, machine, {"type": "RING"})
        saved = await store.load("a", 2)

        assert [task.input for task in saved.tasks] == [None]
        assert all(isinstance(timer, Letter) for timer in saved.letters)

    simulate(main)
