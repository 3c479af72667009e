"""Values, not references: nothing that a caller keeps can change a tree, and nothing that it gets is part of one."""

import asyncio
import copy
import json
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import (
    EventError,
    Unstorable,
    assign,
    create_actor,
    create_machine,
    emit,
    from_callback,
    from_task,
    register_codec,
    send_to,
)
from antiphon.chart.codecs import TAG
from antiphon.runtime.errors import Quarantined
from antiphon.runtime.reader import Reader
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from tests.fixtures.runtime import crash, runtime, simulate, wait_for_state

AT = datetime(2026, 11, 17, 2, tzinfo=UTC)
CODED = {"at": AT, "price": Decimal("1.50"), "id": UUID(int=7), TAG: "user data"}


@register_codec
class Mood(Enum):
    GOOD = 1


keep = {"keep": assign({"items": lambda context, event: [*context["items"], event["item"]]})}
collector = create_machine(
    {
        "id": "collector",
        "context": lambda value: {"items": [], "input": value},
        "on": {"ADD": {"actions": "keep"}},
    },
    actions=keep,
)


async def items(host, root):
    return (await host.snapshot(root))["context"]["items"]


@pytest.mark.parametrize("deliver", ["send", "post"])
def test_one_dict_reused_for_ten_letters_gives_ten_values(deliver):
    async def main():
        async with runtime(MemoryStore(), collector) as host:
            root = await host.create("collector")
            event = {"type": "ADD", "item": {"n": [0]}}
            for n in range(10):
                event["item"]["n"][0] = n
                await getattr(host, deliver)(root, event)
            event["item"]["n"][0] = "changed later"
            await host.send(root, {"type": "ADD", "item": "end"})

            assert await items(host, root) == [*({"n": [n]} for n in range(10)), "end"]

    simulate(main)


def test_an_input_that_changes_after_create_changes_no_tree():
    async def main():
        store = MemoryStore()
        async with runtime(store, collector) as host:
            input = {"list": [1]}
            root = await host.create("collector", input=input)
            input["list"].append(2)

            assert (await host.snapshot(root))["context"]["input"] == {"list": [1]}
        async with runtime(store, collector) as host:
            assert (await host.snapshot(root))["context"]["input"] == {"list": [1]}

    simulate(main)


def asking(logic):
    """A machine whose task gets the list of the context, which is also the static one."""
    return create_machine(
        {
            "id": "asking",
            "initial": "busy",
            "context": {"items": [1], "result": None},
            "states": {
                "busy": {
                    "invoke": {
                        "src": "work",
                        "id": "work",
                        "input": lambda context: context,
                        "onDone": {"target": "idle", "actions": "keep"},
                        "onError": {"target": "idle", "actions": "keep"},
                    }
                },
                "idle": {"on": {"AGAIN": "busy"}},
            },
        },
        actors={"work": logic},
        actions={"keep": assign({"result": lambda context, event: event.get("output", event.get("error"))})},
    )


RESULT = {"list": [1]}


def append_to_input(input, scope):
    input["items"].append("changed by the task")
    scope.task.input["items"].append("changed through the scope")
    return RESULT


async def append_later(input, scope):
    return append_to_input(input, scope)


@pytest.mark.parametrize(
    "logic", [from_task(append_to_input), from_task(append_later), from_task(append_to_input, eager=True)]
)
def test_a_task_that_changes_its_input_or_its_result_changes_no_tree(logic):
    async def main():
        async with runtime(MemoryStore(), asking(logic)) as host:
            first = await host.create("asking")
            await wait_for_state(host, first, "idle")
            RESULT["list"].append(2)
            second = await host.create("asking")
            await wait_for_state(host, second, "idle")
            RESULT["list"].pop()

            for root, result in ((first, {"list": [1]}), (second, {"list": [1, 2]})):
                assert (await host.snapshot(root))["context"] == {"items": [1], "result": result}

    simulate(main)


def test_an_event_that_a_task_changes_after_sending_it_arrives_as_it_was():
    async def stream(input, scope):
        event = {"type": "ADD", "item": {}}
        for n in range(3):
            event["item"]["n"] = n
            scope.send_back(event)

    machine = create_machine(
        {
            "id": "m",
            "initial": "busy",
            "context": {"items": []},
            "states": {
                "busy": {"invoke": {"src": "stream", "onDone": "idle"}, "on": {"ADD": {"actions": "keep"}}},
                "idle": {},
            },
        },
        actors={"stream": from_task(stream)},
        actions=keep,
    )

    async def main():
        async with runtime(MemoryStore(), machine) as host:
            root = await host.create("m")
            await wait_for_state(host, root, "idle")

            assert await items(host, root) == [{"n": 0}, {"n": 1}, {"n": 2}]

    simulate(main)


def test_a_listener_that_changes_an_event_changes_no_tree():
    def listen(scope):
        scope.receive(lambda event: event["item"].append("changed"))

    machine = create_machine(
        {
            "id": "m",
            "context": {"items": []},
            "invoke": {"src": "listener", "id": "listener"},
            "on": {"ADD": {"actions": ["keep", send_to("listener", lambda context, event: event)]}},
        },
        actors={"listener": from_callback(listen)},
        actions=keep,
    )

    async def main():
        async with runtime(MemoryStore(), machine) as host:
            root = await host.create("m")
            await host.send(root, {"type": "ADD", "item": []})
            await host.send(root, {"type": "ADD", "item": []})

            assert await items(host, root) == [[], []]

    simulate(main)


leaves = st.none() | st.integers(-9, 9) | st.text(max_size=2)
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
)


@given(trees)
def test_a_snapshot_is_read_only_and_its_copy_changes_nothing(value):
    async def main():
        async with runtime(MemoryStore(), collector) as host:
            root = await host.create("collector", input=value)
            view = await host.snapshot(root)
            text = json.dumps(view)
            assert orjson.loads(orjson.dumps(view)) == json.loads(text) == view
            with pytest.raises(TypeError, match="read-only"):
                view["context"]["items"].append(1)
            with pytest.raises(TypeError, match="read-only"):
                view["context"]["input"] = 1
            for mutable in (await host.snapshot(root, copy=True), copy.deepcopy(view)):
                mutable["context"]["items"].append(1)
                ruin(mutable["context"]["input"])
                mutable["context"].clear()

            assert json.dumps(await host.snapshot(root)) == text
            await host.send(root, {"type": "ADD", "item": 1})
            assert json.dumps(view) == text

    simulate(main)


def ruin(value):
    """Change every list and dict of a value."""
    for inner in list(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()):
        ruin(inner)
    if isinstance(value, dict | list):
        value.clear()


def test_a_reader_gives_read_only_snapshots_too():
    async def main():
        store = MemoryStore()
        async with runtime(store, collector) as host:
            root = await host.create("collector")
        reader = Reader(store, [collector])
        with pytest.raises(TypeError, match="read-only"):
            (await reader.snapshot(root))["context"]["items"].append(1)
        (await reader.snapshot(root, copy=True))["context"]["items"].append(1)

    simulate(main)


def test_a_reader_of_the_feed_that_changes_an_entry_changes_no_tree_and_no_other_reader():
    add = {"actions": ["keep", emit(lambda context, event: {"type": "DID", "item": event["item"]})]}
    machine = create_machine(
        {
            "id": "m",
            "initial": "a",
            "context": {"items": []},
            "states": {
                "a": {
                    "initial": "x",
                    "states": {
                        "x": {"on": {"ADD": {**add, "target": "y"}}},
                        "y": {"on": {"ADD": {**add, "target": "x"}}},
                    },
                }
            },
        },
        actions=keep,
    )

    async def main():
        async with runtime(MemoryStore(), machine) as host:
            root = await host.create("m")
            feeds = [host.feed(root, after=1), host.feed(root, after=1)]
            for n in range(4):
                reads = [asyncio.ensure_future(anext(feed)) for feed in feeds]
                await asyncio.sleep(0.01)  # in simulated time, so that both read from memory
                await host.send(root, {"type": "ADD", "item": [n]})
                for entry in [await read for read in reads]:
                    assert (entry.event["item"], entry.emitted[0]["event"]["item"]) == ([n], [n])
                    assert entry.value == {"a": "xy"[(n + 1) % 2]}
                    ruin(entry.event["item"])
                    ruin(entry.value)
                    ruin(entry.emitted[0]["event"]["item"])

            snapshot = await host.snapshot(root)
            assert (snapshot["context"]["items"], snapshot["value"]) == ([[0], [1], [2], [3]], {"a": "x"})

    simulate(main)


def test_an_output_that_is_changed_changes_no_tree():
    machine = create_machine(
        {"id": "m", "initial": "f", "output": lambda: {"list": []}, "states": {"f": {"type": "final"}}}
    )

    async def main():
        async with runtime(MemoryStore(), machine) as host:
            root = await host.create("m")
            (await host.output(root))["list"].append(1)

            assert await host.output(root) == {"list": []}

    simulate(main)


def coding():
    """A machine that puts coded values everywhere: contexts, task inputs, timers, emitted events."""
    return create_machine(
        {
            "id": "coding",
            "initial": "busy",
            "context": lambda value: {"input": value, "items": [], "static": Mood.GOOD},
            "states": {
                "busy": {
                    "invoke": {
                        "src": "work",
                        "id": "work",
                        "input": lambda context: context["input"],
                        "onDone": {"target": "idle", "actions": "done"},
                    }
                },
                "idle": {
                    "on": {
                        "ADD": {
                            "actions": [
                                "keep",
                                emit(lambda context, event: {"type": "DID", "item": event["item"]}),
                                send_to(
                                    lambda context, event, scope: scope.self,
                                    lambda context, event: {"type": "LATER", "item": event["item"]},
                                    delay=60_000,
                                ),
                            ]
                        },
                        "LATER": {"actions": "keep"},
                    }
                },
            },
        },
        actors={"work": from_task(lambda task: {"later": task["at"] + timedelta(days=1)}, safety="repeat")},
        actions={**keep, "done": assign({"result": lambda context, event: event["output"]})},
    )


@pytest.mark.parametrize("snapshot_every", [1, 1000])
def test_coded_values_are_the_same_after_a_restart(tmp_path, snapshot_every):
    path = tmp_path / "a.db"

    async def first():
        async with runtime(SqliteStore(path), coding(), snapshot_every=snapshot_every) as host:
            root = await host.create("coding", input=CODED)
            await wait_for_state(host, root, "idle")
            await host.send(root, {"type": "ADD", "item": {"deep": [CODED, Mood.GOOD]}})
            tree = await host.trees.load(root)
            return root, tree.actor.get_snapshot().context, await host.snapshot(root)

    async def second(root):
        async with runtime(SqliteStore(path), coding(), snapshot_every=snapshot_every) as host:
            tree = await host.trees.load(root)
            entry = (await host.store.entries(root))[-1]
            assert entry.emitted[0]["event"]["item"] == {"deep": [CODED, Mood.GOOD]}
            assert [letter.event["item"] for letter in tree.host.letters.values()] == [{"deep": [CODED, Mood.GOOD]}]
            return tree.actor.get_snapshot().context, await host.snapshot(root)

    root, context, snapshot = simulate(first)
    again, stored = simulate(lambda: second(root))

    assert repr(again) == repr(context)
    assert context["result"] == {"later": AT + timedelta(days=1)}
    assert context["input"] == CODED
    assert json.loads(json.dumps(snapshot)) == stored == snapshot


def test_a_migration_and_a_fork_keep_coded_values():
    def machine(version, **more):
        return create_machine(
            {"id": "m", "version": version, "context": lambda value: {"input": value, "items": []},
             "on": {"ADD": {"actions": "keep"}}},
            actions=keep,
            **more,
        )  # fmt: skip

    async def main():
        store = MemoryStore()
        async with runtime(store, machine(1)) as host:
            root = await host.create("m", input=CODED)
        newer = machine(2, migrate=lambda snapshot, version: snapshot)
        async with runtime(store, machine(1), newer) as host:
            await host.send(root, {"type": "ADD", "item": Mood.GOOD})
            branch = await host.fork(root, 3)
        async with runtime(store, machine(1), newer) as host:
            for id in (root, branch):
                context = (await host.trees.load(id)).actor.get_snapshot().context
                assert (context["input"], context["items"]) == (CODED, [Mood.GOOD])

    simulate(main)


def test_a_migration_may_change_the_snapshot_that_it_gets():
    def migrate(snapshot, version):
        snapshot["context"]["items"].append("migrated")
        return snapshot

    old = create_machine({"id": "m", "version": 1, "context": {"items": []}})
    new = create_machine({"id": "m", "version": 2, "context": {"items": []}}, migrate=migrate)
    saved = create_actor(old).start().get_persisted_snapshot(stamp=True)
    assert create_actor(new, snapshot=saved).start().get_snapshot().context == {"items": ["migrated"]}
    assert saved["context"] == {"items": []}

    async def main():
        store = MemoryStore()
        async with runtime(store, old) as host:
            root = await host.create("m")
        async with runtime(store, old, new) as host:
            assert await items(host, root) == ["migrated"]

    simulate(main)


SPOILED = {"nan": float("nan"), "key": {1: 2}, "type": {1, 2}}


@pytest.mark.parametrize("value", SPOILED.values(), ids=SPOILED)
def test_only_values_that_can_be_stored_get_in(value):
    async def main():
        store = MemoryStore()
        async with runtime(store, collector, asking(from_task(lambda: {"deep": [value]}))) as host:
            root = await host.create("collector")
            with pytest.raises(EventError, match=r"the event 'ADD' cannot be stored: event.item\[0\]: "):
                await host.send(root, {"type": "ADD", "item": [value]})
            with pytest.raises(EventError, match=r"event.item\[0\]: "):
                await host.post(root, {"type": "ADD", "item": [value]})
            with pytest.raises(Unstorable, match=r"input\[0\]: "):
                await host.create("collector", root="other", input=[value])
            asked = await host.create("asking")
            await wait_for_state(host, asked, "idle")

            error = (await host.snapshot(asked))["context"]["result"]
            assert error["message"].startswith("the result cannot be stored: result.deep[0]: ")
            assert set(store.trees) == {root, asked}
            assert len(store.trees[root].entries) == 1

    simulate(main)


@pytest.mark.parametrize("value", SPOILED.values(), ids=SPOILED)
@pytest.mark.parametrize("action", ["EMIT", "LATER", "TASK"])
def test_a_step_that_makes_a_value_that_cannot_be_stored_is_not_stored(action, value):
    spoil = {"type": "SPOIL", "x": value}
    machine = create_machine(
        {
            "id": "m",
            "initial": "a",
            "states": {
                "a": {"on": {"EMIT": {"actions": emit(lambda: spoil)}, "LATER": {"actions": "later"}, "TASK": "b"}},
                "b": {"invoke": {"src": "work", "input": lambda: spoil}},
            },
        },
        actions={"later": send_to(lambda context, event, scope: scope.self, lambda: spoil, delay=1)},
        actors={"work": from_task(print)},
    )

    async def main():
        store = MemoryStore()
        async with runtime(store, machine) as host:
            root = await host.create("m")
            with suppress(Quarantined):
                assert (await host.send(root, {"type": action})).status != "accepted"

            assert len(store.trees[root].entries) == 1
            ((_, error),) = await store.dead_letters(root)
            assert re.search(r"(event|input)[^\n]*\.x: ", error)

    simulate(main)


def test_a_dead_process_leaves_coded_events_in_the_inbox():
    async def main():
        store = MemoryStore()
        host = await runtime(store, collector).start()
        root = await host.create("collector")
        await host.post(root, {"type": "ADD", "item": CODED}, delay_ms=5)
        crash(host)
        async with runtime(store, collector) as host:
            async for entry in host.feed(root):
                if entry.seq == 2:
                    assert entry.event["item"] == CODED
                    break

    simulate(main)
