"""A failure belongs to its letter or its tree: receipts, dead letters, quarantine, release, and other trees."""

import asyncio

import pytest

from antiphon import assign, create_machine, from_task, raise_, setup
from antiphon.runtime.errors import LoopFailed, Quarantined, StepFailed, UnknownLetter
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import crash, runtime, simulate

BOOM = {"type": "BOOM"}
ADD = {"type": "ADD"}


def explode(*arguments):
    raise ValueError("boom")


def exploding(**changes):
    """Return a machine that counts, and whose guards, assigns, delays, inputs, outputs and actions can raise."""
    config = {
        "id": "exploding",
        "initial": "idle",
        "context": {"n": 0},
        "output": lambda context: explode() if context["n"] > 100 else context["n"],
        "on": {
            "ADD": {"actions": assign({"n": lambda context: context["n"] + 1})},
            "ASSIGN": {"actions": assign(explode)},
            "GUARD": {"guard": explode, "target": ".idle"},
            "DELAY": {"actions": raise_(ADD, delay=explode)},
            "INPUT": ".inputting",
            "OUTPUT": {"target": ".off", "actions": assign({"n": 101})},
            "ACTION": {"actions": [assign({"n": lambda context: context["n"] + 10}), "explode"]},
            "LATER": {"actions": raise_({"type": "ASSIGN"}, delay=100)},
            "TASK": ".tasking",
        },
        "states": {
            "idle": {},
            "inputting": {"invoke": {"src": "task", "input": explode}},
            "tasking": {"invoke": {"src": "task", "onDone": {"target": "idle", "actions": "keep"}}},
            "off": {"type": "final"},
        },
    }
    return create_machine(
        {**config, **changes},
        actions={"explode": explode, "keep": assign({"n": lambda context, event: event["output"] + context["n"]})},
        actors={"task": from_task(lambda: 5)},
    )


async def context_of(host, root):
    return (await host.snapshot(root))["context"]


@pytest.mark.parametrize("type", ["ASSIGN", "GUARD", "DELAY", "INPUT", "OUTPUT"])
def test_a_letter_whose_step_raises_fails_and_the_root_takes_the_next(type):
    async def main():
        async with runtime(MemoryStore(), exploding()) as host:
            root = await host.create("exploding")
            await host.send(root, ADD)
            receipt = await host.send(root, {"type": type}, id="bad")

            assert receipt.status == "failed"
            assert "ValueError: boom" in receipt.error
            assert "in explode" in receipt.error
            assert (await host.send(root, ADD)).seq == 3
            assert (await host.snapshot(root))["context"] == {"n": 2}
            assert [entry.event["type"] for entry in await host.store.entries(root)] == ["xstate.init", "ADD", "ADD"]

    simulate(main)


def test_letters_around_one_that_fails_are_taken():
    async def main():
        async with runtime(MemoryStore(), exploding()) as host:
            root = await host.create("exploding")
            events = [ADD, ADD, {"type": "ASSIGN"}, ADD, {"type": "GUARD"}, ADD]
            receipts = await asyncio.gather(*(host.send(root, event) for event in events))

            assert [receipt.status for receipt in receipts] == [
                "accepted", "accepted", "failed", "accepted", "failed", "accepted",
            ]  # fmt: skip
            assert await context_of(host, root) == {"n": 4}

    simulate(main)


def test_the_id_of_a_failed_letter_stays_failed_until_it_is_retried():
    async def main():
        store = MemoryStore()
        async with runtime(store, exploding()) as host:
            root = await host.create("exploding")
            failed = await host.send(root, {"type": "ASSIGN"}, id="bad")

            assert await host.send(root, {"type": "ASSIGN"}, id="bad") == failed
            assert (await host.post(root, {"type": "ASSIGN"}, id="bad")).status == "failed"
            assert [letter.id for letter, _ in await host.dead_letters(root)] == ["bad"]
        mended = exploding().provide(actions={"explode": lambda: None})
        async with runtime(store, mended) as host:
            assert (await host.outcome(root, "bad")).status == "failed"

    simulate(main)


def test_letters_of_one_id_sent_at_once_all_fail():
    async def main():
        async with runtime(MemoryStore(), exploding()) as host:
            root = await host.create("exploding")
            receipts = await asyncio.gather(*(host.send(root, {"type": "ASSIGN"}, id="bad") for _ in range(3)))

            assert [receipt.status for receipt in receipts] == ["failed"] * 3
            assert len(await host.dead_letters(root)) == 1

    simulate(main)


def test_a_letter_is_taken_when_it_is_retried_after_its_cause_is_mended():
    async def main():
        store = MemoryStore()
        chart = {"id": "m", "context": {"n": 0}, "on": {"GO": {"actions": "go"}}}
        broken = create_machine(chart, actions={"go": assign(explode)})
        mended = create_machine(chart, actions={"go": assign({"n": 7})})
        async with runtime(store, broken) as host:
            root = await host.create("m")
            assert (await host.send(root, {"type": "GO"}, id="bad")).status == "failed"
        async with runtime(store, mended) as host:
            await host.retry(root, "bad")
            await asyncio.sleep(1)

            assert (await host.outcome(root, "bad"))[:3] == ("accepted", "bad", 2)
            assert await context_of(host, root) == {"n": 7}
            assert await host.dead_letters(root) == []

    simulate(main)


def test_a_dead_letter_can_be_discarded():
    async def main():
        async with runtime(MemoryStore(), exploding()) as host:
            root = await host.create("exploding")
            await host.send(root, {"type": "ASSIGN"}, id="bad")
            await host.discard(root, "bad")

            assert await host.dead_letters(root) == []
            assert await host.outcome(root, "bad") is None
            with pytest.raises(UnknownLetter):
                await host.discard(root, "bad")
            with pytest.raises(UnknownLetter):
                await host.retry(root, "bad")

    simulate(main)


def test_the_outcome_of_a_posted_letter_can_be_read_by_its_id():
    async def main():
        async with runtime(MemoryStore(), exploding()) as host:
            root = await host.create("exploding")
            for id, type in (("good", "ADD"), ("bad", "GUARD"), ("none", "NOTHING")):
                assert (await host.post(root, {"type": type}, id=id)).status == "accepted"
            await host.post(root, ADD, id="later", delay_ms=10_000)
            await asyncio.sleep(1)

            assert (await host.outcome(root, "good"))[:3] == ("accepted", "good", 2)
            assert (await host.outcome(root, "bad")).status == "failed"
            rejected = await host.outcome(root, "none")
            assert (rejected.status, rejected.seq) == ("rejected", 2)
            assert "ADD" in rejected.can
            assert (await host.outcome(root, "later")).status == "waiting"
            assert await host.outcome(root, "never") is None

    simulate(main)


def test_an_action_that_raises_is_recorded_against_its_step_which_stays():
    async def main():
        async with runtime(MemoryStore(), exploding()) as host:
            root = await host.create("exploding")
            receipt = await host.send(root, {"type": "ACTION"})
            await asyncio.sleep(1)

            assert receipt.status == "accepted"
            assert await context_of(host, root) == {"n": 10}
            (incident,) = await host.incidents(root)
            assert (incident.seq, incident.kind) == (receipt.seq, "action raised")
            assert "ValueError: boom" in incident.detail

    simulate(main)


def test_an_error_of_a_child_that_its_parent_catches_is_an_ordinary_step():
    async def main():
        child = create_machine({"id": "child", "on": {"BOOM": {"actions": assign(explode)}}})
        parent = setup(actors={"child": child}).create_machine(
            {
                "id": "parent",
                "initial": "on",
                "states": {"on": {"invoke": {"id": "kid", "src": "child", "onError": "caught"}}, "caught": {}},
            }
        )
        async with runtime(MemoryStore(), parent) as host:
            root = await host.create("parent")
            assert (await host.send(root, BOOM, to="kid")).status == "accepted"
            assert (await host.snapshot(root))["value"] == "caught"

    simulate(main)


def test_an_error_of_a_child_that_its_parent_does_not_catch_fails_the_letter():
    async def main():
        child = create_machine({"id": "child", "on": {"BOOM": {"actions": assign(explode)}}})
        parent = setup(actors={"child": child}).create_machine(
            {"id": "parent", "invoke": {"id": "kid", "src": "child"}, "on": {"GO": {}}}
        )
        async with runtime(MemoryStore(), parent) as host:
            root = await host.create("parent")
            assert (await host.send(root, BOOM, to="kid")).status == "failed"
            assert (await host.snapshot(root))["status"] == "active"
            assert (await host.snapshot(root))["children"]["kid"]["snapshot"]["status"] == "active"

    simulate(main)


def test_a_tree_whose_first_step_raises_is_not_created():
    async def main():
        machine = create_machine({"id": "m", "entry": assign(explode)})
        store = MemoryStore()
        async with runtime(store, machine) as host:
            with pytest.raises(StepFailed, match="boom") as caught:
                await host.create("m", root="r")

            assert isinstance(caught.value.__cause__, ValueError)
            assert store.trees == {}

    simulate(main)


def test_a_timer_that_raises_quarantines_its_tree_which_continues_once_released():
    async def main():
        store = MemoryStore()
        async with runtime(store, exploding()) as host:
            root = await host.create("exploding")
            well = await host.create("exploding")
            await host.send(root, {"type": "LATER"})
            await asyncio.sleep(1)

            with pytest.raises(Quarantined, match="ValueError: boom"):
                await host.send(root, ADD)
            assert (await host.send(well, ADD)).status == "accepted"
            assert await host.release(well) is False
            assert await host.release(root) is True
            await asyncio.sleep(1)
            with pytest.raises(Quarantined):  # the timer is taken again, and raises again
                await host.send(root, ADD)
            assert store.trees[root].failure.attempts == 2
        mended = exploding(on={**exploding().config["on"], "ASSIGN": {"actions": assign({"n": 50})}})
        async with runtime(store, mended) as host:
            await host.release(root)
            await asyncio.sleep(1)
            assert (await host.send(root, ADD)).status == "accepted"
            assert await context_of(host, root) == {"n": 51}

    simulate(main)


def test_the_result_of_a_task_that_raises_is_taken_again_after_a_release():
    async def main():
        store = MemoryStore()
        broken = exploding().provide(actions={"keep": assign(explode)})
        async with runtime(store, broken) as host:
            root = await host.create("exploding")
            await host.send(root, {"type": "TASK"})
            await asyncio.sleep(1)
            assert store.trees[root].status == "quarantined"
        async with runtime(store, exploding()) as host:
            assert await host.release(root)
            await asyncio.sleep(1)
            assert await context_of(host, root) == {"n": 5}

    simulate(main)


def migrating(migrate):
    old = create_machine({"id": "m", "version": 1, "initial": "a", "states": {"a": {}, "b": {}}, "on": {"GO": ".b"}})
    new = create_machine(
        {"id": "m", "version": 2, "initial": "b", "states": {"b": {}}, "on": {"GO": ".b"}}, migrate=migrate
    )
    return old, new


@pytest.mark.parametrize("migrate", [explode, lambda snapshot, version: snapshot])
def test_a_tree_whose_migration_fails_is_quarantined_and_others_continue(migrate):
    async def main():
        store = MemoryStore()
        old, new = migrating(migrate)
        async with runtime(store, old, exploding()) as host:
            sick = await host.create("m")
            well = await host.create("exploding")
            await host.post(sick, {"type": "GO"}, id="later", delay_ms=500)
        async with runtime(store, old, new, exploding()) as host:
            await asyncio.sleep(1)
            assert (await host.send(well, ADD)).status == "accepted"
            with pytest.raises(Quarantined):
                await host.send(sick, {"type": "GO"})
            assert store.trees[sick].status == "quarantined"
            assert (await host.outcome(sick, "later")).status == "waiting"
        mended = migrating(lambda snapshot, version: {**snapshot, "value": "b"})
        async with runtime(store, *mended, exploding()) as host:
            assert await host.release(sick)
            await asyncio.sleep(1)
            assert (await host.outcome(sick, "later")).status == "accepted"

    simulate(main)


def test_a_tree_whose_child_chart_lost_a_state_is_quarantined():
    def family(states):
        child = create_machine({"id": "child", "initial": "a", "states": states, "on": {"GO": ".a"}})
        return setup(actors={"child": child}).create_machine(
            {"id": "parent", "invoke": {"id": "kid", "src": "child"}, "on": {"GO": {}}}
        )

    async def main():
        store = MemoryStore()
        async with runtime(store, family({"a": {"on": {"B": "b"}}, "b": {}}), snapshot_every=1) as host:
            root = await host.create("parent")
            await host.send(root, {"type": "B", "text": "long enough for a snapshot" * 9}, to="kid")
        changed = family({"a": {}})
        async with runtime(store, changed, exploding()) as host:
            host.machines.of = lambda origin: changed
            well = await host.create("exploding")
            with pytest.raises(Quarantined):
                await host.send(root, {"type": "GO"})
            assert (await host.send(well, ADD)).status == "accepted"

    simulate(main)


def test_a_tree_with_a_running_task_whose_implementation_is_gone_is_quarantined():
    async def forever():
        await asyncio.get_running_loop().create_future()

    chart = {"id": "m", "initial": "on", "states": {"on": {"invoke": {"id": "call", "src": "work"}}}}

    async def main():
        store = MemoryStore()
        first = await runtime(
            store, create_machine(chart, actors={"work": from_task(forever, safety="repeat")}), snapshot_every=1
        ).start()
        root = await first.create("m")
        crash(first)
        without = create_machine({**chart, "initial": "on"}, strict=False)
        async with runtime(store, without, exploding()) as host:
            well = await host.create("exploding")
            assert (await host.send(well, ADD)).status == "accepted"
            with pytest.raises(Quarantined):
                await host.snapshot(root)

    simulate(main)


def test_a_loop_that_dies_fails_every_waiter_and_refuses_letters(monkeypatch):
    async def main():
        host = await runtime(MemoryStore(), exploding()).start()
        root = await host.create("exploding")
        output = asyncio.create_task(host.output(root))
        feed = asyncio.create_task(anext(host.feed(root, 1)))
        await asyncio.sleep(0)
        monkeypatch.setattr(host.inboxes, "start_turns", explode)
        with pytest.raises(LoopFailed) as caught:
            await host.send(root, ADD)

        assert isinstance(caught.value.__cause__, ValueError)
        for call in (host.send(root, ADD), host.post(root, ADD), host.create("exploding"), output, feed):
            with pytest.raises(LoopFailed, match="boom"):
                await call
        await host.stop()

    simulate(main)
