"""A chart is known by its behaviour: texts for people may change, and stored trees still open."""

import asyncio
import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from antiphon import Runtime, SqliteStore, assign, create_machine, from_task, not_, state_in
from antiphon.app import former_machines
from antiphon.runtime.errors import UnknownMachine
from antiphon.runtime.machines import AnyMachine, chart_hash, former_hashes, hash_by_text
from antiphon.runtime.records import Commit, Saved
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import runtime, simulate
from tests.runtime.former_hashes import has_history, hashes_of_history
from tests.stores import kept

CHART: dict[str, Any] = {
    "id": "door",
    "version": 1,
    "description": "A door.",
    "initial": "shut",
    "context": {"opened": 0, "names": ["a", "b"]},
    "on": {"RESET": {"target": ".shut", "actions": [{"type": "count", "params": {"by": 1}}]}},
    "states": {
        "shut": {
            "tags": ["quiet", "safe"],
            "on": {"OPEN": [{"target": "open", "guard": "mayOpen", "actions": "count"}, {"target": "hall"}]},
        },
        "open": {
            "entry": ["count"],
            "exit": "count",
            "after": {"1000": "shut", "patience": "shut"},
            "invoke": {"src": "watch", "id": "watcher", "onDone": "shut"},
            "on": {"KICK": {"target": "open", "reenter": False}, "SLAM": "shut"},
        },
        "hall": {
            "type": "parallel",
            "states": {
                "lamp": {"initial": "off", "states": {"off": {"on": {"LIGHT": "on"}}, "on": {}}},
                "bell": {"initial": "idle", "states": {"idle": {"always": {"target": "done", "guard": not_("mayOpen")}},
                                                      "done": {"type": "final", "output": {"rings": 1}}}},
                "past": {"type": "history", "history": "shallow", "target": "lamp"},
            },
            "onDone": "end",
        },
        "end": {"type": "final"},
    },
}  # fmt: skip


async def watch(input: Any) -> None:
    """Return at once."""


def may_open(context: Any, event: Any) -> bool:
    return True


def machine_of(chart: dict[str, Any], **actors: Any) -> AnyMachine:
    return create_machine(
        chart,
        actions={"count": assign({"opened": lambda context, event: context["opened"] + 1}), "other": assign({})},
        guards={"mayOpen": may_open, "other": may_open},
        actors={"watch": from_task(watch), "other": from_task(watch), **actors},
        delays={"patience": 1000},
    )


def edit(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a function that sets a value of a chart."""

    def apply(chart: dict[str, Any]) -> None:
        inner: Any = chart
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value

    return apply


def edited(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    chart = deepcopy(CHART)
    change(chart)
    return chart


def reverse(*path: str) -> Callable[[dict[str, Any]], None]:
    """Return a function that reverses the order of a mapping or list of a chart."""

    def apply(chart: dict[str, Any]) -> None:
        inner: Any = chart
        for key in path[:-1]:
            inner = inner[key]
        items = inner[path[-1]]
        inner[path[-1]] = dict(reversed(items.items())) if isinstance(items, dict) else list(reversed(items))

    return apply


SHUT = ("states", "shut")
OPEN = ("states", "open")
HALL = ("states", "hall")
OPENING = (*SHUT, "on", "OPEN")

SAME = {
    "description of the machine": edit("description", value="Another text."),
    "description of a state": edit(*OPEN, "description", value="Open."),
    "description of a transition": edit(*OPENING, 0, "description", value="Opens it."),
    "description of an invoke": edit(*OPEN, "invoke", "description", value="Looks."),
    "meta": edit(*SHUT, "meta", value={"x": 10, "y": 20}),
    "$schema": edit("$schema", value="https://stately.ai/schema.json"),
    "types": edit("types", value={"context": "Door"}),
    "order": edit(*SHUT, "order", value=7),
    "version": edit("version", value=2),
    "a target in a list": edit(*OPENING, 0, "target", value=["open"]),
    "a short transition": edit(*OPENING, 1, value="hall"),
    "a long transition": edit(*OPEN, "invoke", "onDone", value=[{"target": "shut"}]),
    "an action in a list": edit(*OPENING, 0, "actions", value=["count"]),
    "an action as an object": edit(*OPENING, 0, "actions", value={"type": "count"}),
    "a guard as an object": edit(*OPENING, 0, "guard", value={"type": "mayOpen"}),
    "an initial state as an object": edit("initial", value={"target": "shut"}),
    "the type of a state spelled out": edit(*SHUT, "type", value="atomic"),
    "an empty list of actions": edit(*SHUT, "exit", value=[]),
    "order of states that exclude each other": reverse("states"),
    "order of events": reverse("states", "open", "on"),
    "order of tags": reverse("states", "shut", "tags"),
    "order of keys in the context": reverse("context"),
}
DIFFERENT = {
    "id of the machine": edit("id", value="gate"),
    "initial state": edit("initial", value="open"),
    "context": edit("context", "opened", value=1),
    "order in a list of the context": reverse("context", "names"),
    "a state added": edit("states", "ajar", value={}),
    "id of a state": edit(*SHUT, "id", value="closed"),
    "tags": edit(*SHUT, "tags", value=["quiet"]),
    "an event": edit(*SHUT, "on", "PUSH", value="open"),
    "a forbidden event": edit(*OPEN, "on", "RESET", value={}),
    "target": edit(*OPENING, 0, "target", value="hall"),
    "guard": edit(*OPENING, 0, "guard", value="other"),
    "guard negated": edit(*OPENING, 0, "guard", value=not_("mayOpen")),
    "guard of a state": edit(*OPENING, 0, "guard", value=state_in("#door.hall")),
    "action": edit(*OPENING, 0, "actions", value="other"),
    "params": edit("on", "RESET", "actions", 0, "params", "by", value=2),
    "order of candidates": reverse(*OPENING),
    "entry": edit(*OPEN, "entry", value=["count", "other"]),
    "exit": edit(*OPEN, "exit", value="other"),
    "delay": edit(*OPEN, "after", value={"2000": "shut", "patience": "shut"}),
    "target of a delay": edit(*OPEN, "after", "1000", value="end"),
    "order of delays": edit(*OPEN, "after", value={"patience": "shut", "other": "shut"}),
    "invoked actor": edit(*OPEN, "invoke", "src", value="other"),
    "id of an invoked actor": edit(*OPEN, "invoke", "id", value="guest"),
    "input": edit(*OPEN, "invoke", "input", value={"n": 1}),
    "onDone of an actor": edit(*OPEN, "invoke", "onDone", value="hall"),
    "onError of an actor": edit(*OPEN, "invoke", "onError", value="hall"),
    "reenter": edit(*OPEN, "on", "KICK", "reenter", value=True),
    "order of regions": reverse("states", "hall", "states"),
    "eventless transition": edit(*HALL, "states", "bell", "states", "idle", "always", value="done"),
    "output": edit(*HALL, "states", "bell", "states", "done", "output", "rings", value=2),
    "kind of history": edit(*HALL, "states", "past", "history", value="deep"),
    "default of history": edit(*HALL, "states", "past", "target", value="bell"),
    "onDone of a state": edit(*HALL, "onDone", value="shut"),
    "type of a state": edit("states", "end", value={}),
    "options": edit("options", value={"maxIterations": 5}),
}


def hash_of(chart: dict[str, Any]) -> str:
    return chart_hash(create_machine(chart, strict=False))


@pytest.mark.parametrize("name", SAME)
def test_a_text_for_people_or_another_way_to_write_the_same_is_not_hashed(name: str) -> None:
    chart = edited(SAME[name])
    assert json.dumps(chart, default=repr) != json.dumps(CHART, default=repr)
    assert hash_of(chart) == hash_of(CHART)


@pytest.mark.parametrize("name", DIFFERENT)
def test_everything_that_the_engine_executes_is_hashed(name: str) -> None:
    assert hash_of(edited(DIFFERENT[name])) != hash_of(CHART)


def test_functions_are_hashed_by_name_where_a_chart_could_name_them() -> None:
    def is_late(context: Any, event: Any) -> bool:
        return True

    def first(context: Any) -> Any:
        return {}

    def second(context: Any) -> Any:
        return {}

    inline = edited(edit(*OPENING, 0, "guard", value=may_open))
    assert hash_of(inline) != hash_of(edited(edit(*OPENING, 0, "guard", value=is_late)))
    assert hash_of(edited(edit("context", value=first))) == hash_of(edited(edit("context", value=second)))


CHILD: dict[str, Any] = {"id": "child", "initial": "a", "states": {"a": {"on": {"GO": "b"}}, "b": {}}}
CHANGED_CHILD = {**CHILD, "states": {**CHILD["states"], "b": {"on": {"BACK": "a"}}}}


def family(grandchild: dict[str, Any]) -> str:
    """Return the hash of a machine with a child and a grandchild."""
    child = create_machine({**CHILD, "invoke": {"src": "inner"}}, actors={"inner": create_machine(grandchild)})
    return chart_hash(machine_of(CHART, child=child))


def test_a_changed_chart_of_a_descendant_changes_the_hash_and_a_changed_description_does_not() -> None:
    assert family(CHANGED_CHILD) != family(CHILD)
    assert family({**CHILD, "description": "Inside."}) == family(CHILD)


def test_children_are_hashed_by_the_names_they_are_given() -> None:
    left = create_machine(CHILD)
    right = create_machine(CHANGED_CHILD)
    assert chart_hash(machine_of(CHART, a=left, b=right)) != chart_hash(machine_of(CHART, a=right, b=left))


def test_a_machine_in_the_place_of_a_name_is_hashed() -> None:
    def invoking(child: dict[str, Any]) -> str:
        return chart_hash(machine_of(edited(edit(*OPEN, "invoke", "src", value=create_machine(child)))))

    assert invoking(CHILD) != invoking(CHANGED_CHILD)


def test_it_makes_no_difference_if_equal_children_are_one_machine_or_two() -> None:
    one = create_machine(CHILD)
    assert chart_hash(machine_of(CHART, a=one, b=one)) == chart_hash(machine_of(CHART, a=one, b=create_machine(CHILD)))


def test_a_machine_that_is_its_own_descendant_has_a_hash() -> None:
    def recursive(child: dict[str, Any]) -> AnyMachine:
        machine = machine_of(CHART)
        inner = create_machine(child, actors={"door": machine})
        machine.implementations.actors["inner"] = inner
        return machine

    assert chart_hash(recursive(CHILD)) == chart_hash(recursive(CHILD))
    assert chart_hash(recursive(CHILD)) != chart_hash(recursive(CHANGED_CHILD))


def test_the_hash_of_a_chart_stays_what_stores_have() -> None:
    # If this fails, every stored tree is refused: recognise the hashes of before, as `is_hash_of` does.
    assert chart_hash(machine_of(CHART)) == "2:6537136333e0b53a"
    assert chart_hash(machine_of(CHART, child=create_machine(CHILD))) == "2:fea30e71cdc142f2"


# Trees that a release before hashes of behaviour has stored.


async def store_with_text_hash(store: MemoryStore, machine: AnyMachine) -> None:
    """Store a tree as a release that hashed the texts of charts would have."""
    async with runtime(store, machine) as host:
        await host.create(machine.id, root="door")
    saved = await load(store)
    old = replace(saved.origin, hash=hash_by_text(machine.config))
    await store.open()
    await store.commit([Commit("door", saved.seq, 1, saved.status, migrated=old)])
    await store.close()
    assert (await load(store)).origin.hash != chart_hash(machine)


async def load(store: MemoryStore, root: str = "door") -> Saved:
    await store.open()
    saved = await store.load(root)
    await store.close()
    assert saved is not None
    return saved


def test_a_tree_with_the_hash_of_an_earlier_release_opens_and_its_next_step_stores_the_hash_of_today() -> None:
    async def main() -> None:
        store = MemoryStore()
        machine = machine_of(CHART)
        await store_with_text_hash(store, machine)
        async with runtime(store, machine) as host:
            assert (await host.snapshot("door"))["value"] == "shut"
        assert (await load(store)).origin.hash == hash_by_text(CHART)
        async with runtime(store, machine) as host:
            assert (await host.send("door", {"type": "RESET"})).status == "accepted"
        assert (await load(store)).origin.hash == chart_hash(machine)
        async with runtime(store, machine_of({**CHART, "description": "Another text."})) as host:
            assert (await host.snapshot("door"))["context"]["opened"] == 1

    simulate(main)


def test_a_rejected_letter_leaves_the_hash_of_an_earlier_release_to_the_next_step() -> None:
    async def main() -> None:
        store = MemoryStore()
        machine = machine_of(CHART)
        await store_with_text_hash(store, machine)
        async with runtime(store, machine) as host:
            assert (await host.send("door", {"type": "NOPE"})).status == "rejected"
            assert (await host.send("door", {"type": "RESET"})).status == "accepted"
        assert (await load(store)).origin.hash == chart_hash(machine)

    simulate(main)


def test_a_tree_with_the_hash_of_an_earlier_release_is_migrated_and_keeps_its_new_version() -> None:
    async def main() -> None:
        store = MemoryStore()
        old = machine_of(CHART)
        chart = edited(edit(*OPENING, 0, "target", value="hall"))
        new = create_machine({**chart, "version": 2}, strict=False, migrate=lambda snapshot, version: snapshot)
        await store_with_text_hash(store, old)
        async with runtime(store, old, new) as host:
            assert (await host.send("door", {"type": "RESET"})).status == "accepted"
        origin = (await load(store)).origin
        assert (origin.version, origin.hash) == (2, chart_hash(new))

    simulate(main)


def test_a_fork_of_a_tree_with_the_hash_of_an_earlier_release_has_the_hash_of_today() -> None:
    async def main() -> None:
        store = MemoryStore()
        machine = machine_of(CHART)
        await store_with_text_hash(store, machine)
        async with runtime(store, machine) as host:
            fork = await host.fork("door", 1)
        assert (await load(store, fork)).origin.hash == chart_hash(machine)

    simulate(main)


def test_a_tree_of_changed_behaviour_is_refused_until_the_chart_has_a_new_version() -> None:
    async def main() -> None:
        store = MemoryStore()
        await store_with_text_hash(store, machine_of(CHART))
        changed = machine_of(edited(edit(*OPENING, 0, "target", value="hall")))
        async with runtime(store, changed) as host:
            with pytest.raises(UnknownMachine, match="give the new chart a new version and a migrate function"):
                await host.snapshot("door")

    simulate(main)


def test_a_changed_child_chart_is_refused_until_the_root_has_a_new_version() -> None:
    async def main() -> None:
        store = MemoryStore()
        async with runtime(store, machine_of(CHART, child=create_machine(CHILD))) as host:
            await host.create("door", root="door")
        async with runtime(store, machine_of(CHART, child=create_machine(CHANGED_CHILD))) as host:
            with pytest.raises(UnknownMachine, match="has changed"):
                await host.snapshot("door")

    simulate(main)


@pytest.mark.parametrize(("id", "value"), [("slow.waiting", "late"), (None, "patient")])
def test_a_timer_survives_a_migration_if_the_renamed_state_has_the_id_of_the_old_one(
    id: str | None, value: str
) -> None:
    def slow(version: int, state: str, **more: Any) -> AnyMachine:
        states = {state: {"after": {"1000": "late"}, **more}, "late": {}}
        chart = {"id": "slow", "version": version, "initial": state, "states": states}
        return create_machine(chart, migrate=lambda snapshot, version: {**snapshot, "value": state})

    async def main() -> Any:
        store = MemoryStore()
        old = slow(1, "waiting")
        async with runtime(store, old) as host:
            await host.create("slow", root="s")
        async with runtime(store, old, slow(2, "patient", **({"id": id} if id else {}))) as host:
            assert (await host.snapshot("s"))["value"] == "patient"
            await asyncio.sleep(2)
            return (await host.snapshot("s"))["value"]

    assert simulate(main) == value


# Charts of the package.


def test_a_changed_description_of_a_shipped_chart_keeps_every_conversation_of_an_earlier_release(
    tmp_path: Path,
) -> None:
    path = kept.unpack("schema-6-thread-1", tmp_path / "store.db")
    (app,) = former_machines()
    config = {**app.config, "description": "Another text."}
    described = create_machine(
        config,
        actions=app.implementations.actions,
        guards=app.implementations.guards,
        actors=app.implementations.actors,
        delays=app.implementations.delays,
    )

    async def main() -> set[str]:
        store = SqliteStore(path)
        async with Runtime(store, [described]) as host:
            hashes = set()
            for tree in await store.roots():
                await host.snapshot(tree.root)
                await host.send(tree.root, {"type": "RENAME", "title": "Renamed"})
                saved = await store.load(tree.root)
                assert saved is not None
                hashes.add(saved.origin.hash)
            return hashes

    assert asyncio.run(main()) == {chart_hash(app)}


@pytest.mark.skipif(not has_history(), reason="the history of the repository is not here")
def test_former_hashes_are_those_of_the_history() -> None:
    missing = {
        alone: texts - set(former_hashes().get(alone, ()))
        for alone, texts in hashes_of_history().items()
        if not texts <= set(former_hashes().get(alone, ()))
    }
    assert missing == {}, "run `python -m tests.runtime.former_hashes`"
