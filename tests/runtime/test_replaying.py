"""Replay is checked: a step that gives something else than it gave stops its tree, and says what differs."""

import asyncio
import json
import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import assign, cancel, create_machine, emit, from_task, raise_, send_parent, send_to
from antiphon.runtime.encoding import encode
from antiphon.runtime.errors import Quarantined, ReplayDiffers, StepFailed
from antiphon.runtime.machines import chart_hash
from antiphon.runtime.reader import Reader
from antiphon.runtime.records import Origin, Saved
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.tree import Tree
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from antiphon.version import VERSION
from tests.fixtures.runtime import crash, runtime, simulate
from tests.laws.charts import Play, events, law, specs


def door(is_allowed=lambda context, event: True, mark=lambda context, event: "x", **options):
    """A machine with a guard and an assign."""
    states = {
        "shut": {"on": {"OPEN": {"target": "open", "guard": "isAllowed"}}},
        "open": {"on": {"SHUT": "shut"}},
    }
    config = {
        "id": "door",
        "context": {"mark": None, "n": 0},
        "initial": "shut",
        "on": {"MARK": {"actions": "mark"}, "ADD": {"actions": "add"}},
        "states": states,
        **options,
    }
    add = assign({"n": lambda context, event: context["n"] + 1})
    actions = {"mark": assign({"mark": mark}), "add": add}
    return create_machine(config, actions=actions, guards={"isAllowed": is_allowed})


async def written(path, machine, *types, **options):
    """A store in which a tree `a` has taken events."""
    async with Runtime(SqliteStore(path), [machine], **options) as host:
        await host.create("door", root="a")
        for type in types:
            assert (await host.send("a", {"type": type})).status == "accepted"


async def loaded(path, machine, accept=False, **options):
    """The tree `a`, restored from its file."""
    store = SqliteStore(path, read_only=True)
    await store.open()
    try:
        saved = await store.load("a")
        tree = Tree("a", machine, saved.origin, 0, **options)
        tree.restore(saved, accept)
        return tree
    finally:
        await store.close()


def test_mended_guard_stops_the_tree_with_the_step_and_both_values(tmp_path):
    asyncio.run(written(tmp_path / "s", door(), "MARK", "OPEN"))

    mended = door(is_allowed=lambda context, event: False)
    with pytest.raises(ReplayDiffers, match=r"step 3 of 'a' \('OPEN'\) .*value 'open'.* but .*value 'shut'"):
        asyncio.run(loaded(tmp_path / "s", mended))


def test_random_id_in_an_assign_is_found(tmp_path):
    machine = door(mark=lambda context, event: str(uuid.uuid4()))
    asyncio.run(written(tmp_path / "s", machine, "OPEN", "MARK"))

    with pytest.raises(ReplayDiffers, match=r"step 3 of 'a' \('MARK'\).*context\.mark"):
        asyncio.run(loaded(tmp_path / "s", machine))


def test_time_ids_and_random_numbers_of_the_scope_are_the_same_when_replayed(tmp_path):
    def mark(context, event, scope):
        return [*(context["mark"] or ()), scope.now, scope.new_id(), scope.new_id(), scope.random()]

    machine = door(mark=mark)
    asyncio.run(written(tmp_path / "s", machine, "MARK", "OPEN", "MARK"))

    marks = asyncio.run(loaded(tmp_path / "s", machine)).actor.snapshot.context["mark"]
    assert len(set(marks)) in (7, 8)  # two steps may be taken in one millisecond


def test_ids_of_a_step_do_not_depend_on_a_rejected_letter_before_it(tmp_path):
    async def main():
        machine = door(
            is_allowed=lambda context, event, scope: scope.new_id() == "",
            mark=lambda context, event, scope: scope.new_id(),
        )
        async with Runtime(SqliteStore(tmp_path / "s"), [machine]) as host:
            await host.create("door", root="a")
            assert (await host.send("a", {"type": "OPEN"})).status == "rejected"
            await host.send("a", {"type": "MARK"})
            stored = (await host.snapshot("a"))["context"]["mark"]
        assert (await loaded(tmp_path / "s", machine)).actor.snapshot.context["mark"] == stored

    asyncio.run(main())


def test_time_of_the_scope_is_that_of_the_entry():
    async def main():
        store = MemoryStore()
        machine = door(mark=lambda context, event, scope: scope.now)
        async with runtime(store, machine) as host:
            await host.create("door", root="a")
            await asyncio.sleep(5)
            await host.send("a", {"type": "MARK"})
            assert (await host.snapshot("a"))["context"]["mark"] == (await store.entries("a", 1))[0].at

    simulate(main)


def test_runtime_does_not_load_a_tree_whose_replay_differs_and_time_travel_and_readers_do_not_either(tmp_path):
    async def main():
        await written(tmp_path / "s", door(), "OPEN", "SHUT")
        mended = door(is_allowed=lambda context, event: False)
        store = SqliteStore(tmp_path / "s")
        async with Runtime(store, [mended]) as host:
            reader = Reader(store, [mended])
            for call in (host.snapshot("a", 2), host.fork("a", 2), reader.snapshot("a")):
                with pytest.raises(ReplayDiffers, match="step 2"):
                    await call
            assert (await host.snapshot("a", 1))["value"] == "shut"
            with pytest.raises(Quarantined, match="step 2"):
                await host.snapshot("a")
            await host.release("a")
            with pytest.raises(Quarantined, match="step 2"):
                await host.snapshot("a")
            await host.release("a", accept=True)
            assert (await host.send("a", {"type": "SHUT"})).status in ("accepted", "rejected")
            assert (await host.snapshot("a"))["value"] == "shut"
            assert {incident.kind for incident in await host.incidents("a")} == {"replay differs"}

    asyncio.run(main())


def test_accepted_difference_is_a_warning_and_the_next_commit_has_a_snapshot(tmp_path):
    async def main():
        await written(tmp_path / "s", door(), "OPEN")
        mended = door(is_allowed=lambda context, event: False)
        store = SqliteStore(tmp_path / "s")
        await store.open()
        saved = await store.load("a")
        tree = Tree("a", mended, saved.origin, 0)
        tree.restore(saved, accept=True)
        assert [text.split(" was stored")[0] for text in tree.warnings] == ["step 2 of 'a' ('OPEN')"]
        assert tree.actor.snapshot.value == "shut"

        await store.commit([tree.commit_snapshot(5)])
        again = Tree("a", mended, saved.origin, 0)
        again.restore(await store.load("a"))
        assert (again.actor.snapshot.value, again.seq, again.warnings) == ("shut", 2, [])
        await store.close()

    asyncio.run(main())


def test_commit_after_an_accepted_difference_has_a_snapshot(tmp_path):
    async def main():
        await written(tmp_path / "s", door(), "OPEN")
        tree = await loaded(tmp_path / "s", door(is_allowed=lambda context, event: False), accept=True)
        batch = tree.new_batch(5)
        tree._step(batch, 5, "", tree.actor, {"type": "ADD"}, False)
        assert json.loads(tree.commit(batch, 1).snapshot.text)["value"] == "shut"
        batch = tree.new_batch(6)
        tree._step(batch, 6, "", tree.actor, {"type": "ADD"}, False)
        assert tree.commit(batch, 1).snapshot is None

    asyncio.run(main())


# Releases


def test_difference_in_context_values_of_another_release_is_a_warning(tmp_path):
    asyncio.run(written(tmp_path / "s", door(mark=lambda context, event: "old"), "MARK", "OPEN", release="1.0"))
    changed = door(mark=lambda context, event: "new")

    with pytest.raises(ReplayDiffers, match="step 2"):
        asyncio.run(loaded(tmp_path / "s", changed, release="1.0"))
    tree = asyncio.run(loaded(tmp_path / "s", changed, release="1.1"))
    assert ["step 2" in text for text in tree.warnings] == [True]
    assert tree.actor.snapshot.context["mark"] == "new"
    assert tree.wants_snapshot


def test_other_states_stop_the_tree_whichever_release_wrote_the_entry(tmp_path):
    asyncio.run(written(tmp_path / "s", door(), "OPEN", release="1.0"))

    with pytest.raises(ReplayDiffers, match="step 2"):
        asyncio.run(loaded(tmp_path / "s", door(is_allowed=lambda context, event: False), release="1.1"))


def test_release_is_stored_with_the_first_entry_of_a_process_and_after_every_snapshot(tmp_path):
    async def main():
        path = tmp_path / "s"
        await written(path, door(), "ADD", "ADD", release="1.0")
        async with Runtime(SqliteStore(path), [door()], snapshot_every=3, release="1.1") as host:
            for _ in range(7):
                await host.send("a", {"type": "ADD"})
            entries = await host.store.entries("a")
        async with Runtime(SqliteStore(path), [door()], snapshot_every=3) as host:
            await host.send("a", {"type": "ADD"})
            entries = await host.store.entries("a")
        return [entry.release for entry in entries]

    releases = asyncio.run(main())
    assert releases[:5] == ["1.0", None, None, "1.1", "1.1"]  # a snapshot was due at once
    assert set(releases[5:-1]) == {None, "1.1"}
    assert releases[-1] == VERSION


def test_release_of_an_entry_is_known_when_the_journal_starts_at_a_snapshot(tmp_path):
    async def main():
        types = ["ADD"] * 6 + ["MARK"]
        await written(tmp_path / "s", door(mark=lambda context, event: "old"), *types, snapshot_every=3, release="1.0")
        return await loaded(tmp_path / "s", door(mark=lambda context, event: "new"), release="1.1")

    assert len(asyncio.run(main()).warnings) == 1


# Older entries


async def without_digests(path, machine):
    """The tree `a`, restored as if an earlier release had stored its journal."""
    store = SqliteStore(path, read_only=True)
    await store.open()
    saved = await store.load("a")
    await store.close()
    entries = tuple(entry._replace(digest=None, release=None) for entry in saved.entries)
    tree = Tree("a", machine, saved.origin, 0)
    tree.restore(Saved("a", saved.origin, saved.status, saved.seq, entries=entries))
    return tree


def test_older_entries_are_checked_for_value_and_status_only(tmp_path):
    asyncio.run(written(tmp_path / "s", door(), "MARK", "OPEN"))

    tree = asyncio.run(without_digests(tmp_path / "s", door(mark=lambda context, event: "other")))
    assert tree.actor.snapshot.context["mark"] == "other"
    with pytest.raises(ReplayDiffers, match=r"step 3 .*value 'open'.* but .*value 'shut'"):
        asyncio.run(without_digests(tmp_path / "s", door(is_allowed=lambda context, event: False)))
    ending = {"shut": {"on": {"OPEN": "open"}}, "open": {"type": "final"}}
    with pytest.raises(ReplayDiffers, match=r"step 3 .*status 'done'"):
        asyncio.run(without_digests(tmp_path / "s", door(states=ending)))


# What is not a difference


def busy():
    """A machine with timers, tasks and a callback that outlive snapshots."""

    async def forever():
        await asyncio.Event().wait()

    config = {
        "id": "busy",
        "context": {"n": 0},
        "initial": "idle",
        "on": {
            "ADD": {"actions": "add"},
            "PLAN": {"actions": raise_({"type": "RING"}, delay=10_000, id="ring")},
            "UNPLAN": {"actions": cancel("ring")},
            "RING": {"actions": "add"},
            "TELL": {"actions": emit({"type": "TOLD"})},
        },
        "states": {
            "idle": {"on": {"GO": "working"}},
            "working": {"invoke": {"id": "work", "src": "work"}, "after": {50_000: "idle"}, "on": {"STOP": "idle"}},
        },
    }
    add = assign({"n": lambda context, event: context["n"] + 1})
    return create_machine(config, actions={"add": add}, actors={"work": from_task(forever)})


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("snapshot_every", [1, 2, 1000])
def test_timers_and_tasks_from_before_the_snapshot_make_no_difference(seed, snapshot_every):
    async def main():
        store = MemoryStore()
        rng = random.Random(seed)
        for _ in range(4):
            host = runtime(store, busy(), snapshot_every=snapshot_every)
            await host.start()
            if not await store.roots():
                await host.create("busy", root="a")
            for _ in range(rng.randrange(1, 6)):
                type = rng.choice(["ADD", "PLAN", "UNPLAN", "GO", "STOP", "TELL"])
                await host.send("a", {"type": type})
                await asyncio.sleep(rng.choice([0, 0, 6, 60]))
            crash(host)
            await asyncio.sleep(0)
        async with runtime(store, busy()) as host:
            await host.snapshot("a")
            await host.time_travel.rebuild("a")

    simulate(main)


@law(150)
@given(specs(), events(), st.integers(0, 12))
def test_replaying_a_random_chart_gives_the_same_digests(spec, walk, at):
    machine = Play(spec).machine
    origin = new_origin(machine)
    tree = Tree("r", machine, origin, 1, 10**9)
    try:
        entries = [*tree.start(1000).entries]
    except StepFailed:  # a chart that never comes to rest
        return
    snapshot = encode(tree.actor.get_persisted_snapshot()) if at == 0 and tree.status == "active" else None
    start = 1
    for number, event in enumerate(walk, 1):
        batch = tree.new_batch(1000 + number)
        if tree.status == "active":
            try:
                tree._step(batch, 1000 + number, "", tree.actor, event, False)
            except StepFailed:
                return
        entries += batch.entries
        if number == at and tree.status == "active":
            snapshot = encode(tree.actor.get_persisted_snapshot())
            start = len(entries)

    again = Tree("r", machine, origin, 1)
    again.replay_all(entries)
    assert again.actor.snapshot.value == tree.actor.snapshot.value
    if snapshot is not None:
        middle = Tree("r", machine, origin, 1)
        kept = Tree("r", machine, origin, 1)
        kept.replay_all(entries[:start])
        middle.restore(Saved("r", origin, "active", start, json.loads(snapshot), start))
        if order(middle) == order(kept):  # XState does not persist the order of active states
            for entry in entries[start:]:
                middle.replay(entry)


def order(tree):
    """The active states of a root, in order."""
    return [node.id for node in tree.actor.snapshot.nodes]


def new_origin(machine):
    """The origin of a tree that runs a machine."""
    return Origin("o", machine.id, machine.version, chart_hash(machine))


def test_entry_to_an_actor_that_is_not_there_is_a_difference(tmp_path):
    config = {"id": "child", "context": {"n": 0}, "on": {"ADD": {"actions": assign({"n": 1})}}}
    child = create_machine(config)

    def parent(id):
        return create_machine({"id": "door", "invoke": {"id": id, "src": "child"}}, actors={"child": child})

    async def main():
        async with Runtime(SqliteStore(tmp_path / "s"), [parent("c")]) as host:
            await host.create("door", root="a")
            await host.send("a", {"type": "ADD"}, to="c")

    asyncio.run(main())
    with pytest.raises(ReplayDiffers, match="step 1 "):
        asyncio.run(loaded(tmp_path / "s", parent("d")))
    assert "no actor 'c'" in asyncio.run(loaded(tmp_path / "s", parent("d"), accept=True)).warnings[1]


def test_a_step_counts_although_another_actor_ignores_what_it_sends(tmp_path):
    """The child passes an event on and stays as it is; the parent changes, and its answer is ignored by the child."""
    child = create_machine({"id": "child", "on": {"PASS": {"actions": send_parent({"type": "PASSED"})}}})
    count = assign({"n": lambda context, event: context["n"] + 1})
    config = {
        "id": "parent",
        "context": {"n": 0},
        "invoke": {"src": "child", "id": "kid"},
        "on": {"PASSED": {"actions": [count, send_to("kid", {"type": "IGNORED"})]}},
    }
    parent = create_machine(config, actors={"child": child})

    async def main():
        async with Runtime(SqliteStore(tmp_path / "a.db"), [parent]) as host:
            await host.create("parent", root="a")
            receipts = [await host.send("a", {"type": "PASS"}, to="kid") for _ in range(2)]
            ignored = await host.send("a", {"type": "IGNORED"}, to="kid")
        async with Runtime(SqliteStore(tmp_path / "a.db"), [parent]) as host:
            snapshot = await host.snapshot("a")
        return [receipt.status for receipt in receipts], ignored.status, snapshot["context"]

    assert asyncio.run(main()) == (["accepted", "accepted"], "rejected", {"n": 2})
