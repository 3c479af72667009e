"""Functions on the runtime: plain ones run once their step is stored, eager ones answer in the step that asks."""

import asyncio
import gc
import warnings

import pytest

from antiphon import assign, create_machine, from_task
from antiphon.runtime.errors import Quarantined, StoreError, Unstorable
from antiphon.runtime.loop import BATCH_LETTERS
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import crash, runtime, simulate


class WatchedStore(MemoryStore):
    """Remembers its commits, and refuses as many as it is order to."""

    def __init__(self):
        super().__init__()
        self.commits = []
        self.refuses = 0

    async def commit(self, commits, written=None):
        if self.refuses:
            self.refuses -= 1
            raise StoreError("the disk is full")
        await super().commit(commits, written)
        self.commits += commits


def asking(logic, **more):
    """A machine that asks a function when it is order to GO, and keeps what it says."""
    answered = {"target": "idle", "actions": "keep"}
    return create_machine(
        {
            "id": "asking",
            "initial": "idle",
            "context": {"answers": []},
            "states": {
                "idle": {"on": {"GO": "busy"}},
                "busy": {"invoke": {"src": "work", "id": "work", "onDone": answered, "onError": answered}, **more},
            },
        },
        actors={"work": logic},
        actions={
            "keep": assign(
                {"answers": lambda context, event: [*context["answers"], event.get("output", event.get("error"))]}
            )
        },
    )


async def answers(host, root, count=1):
    """Wait until a machine has so many answers, and return them."""
    async for _ in host.feed(root):
        received = (await host.snapshot(root))["context"]["answers"]
        if len(received) >= count:
            return received
    raise AssertionError("the feed has ended")


def test_an_eager_answer_is_stored_together_with_the_step_that_asks():
    async def main():
        store = WatchedStore()
        async with runtime(store, asking(from_task(lambda: "yes", eager=True))) as host:
            root = await host.create("asking")
            receipt = await host.send(root, {"type": "GO"})

            assert (receipt.status, receipt.seq) == ("accepted", 2)
            assert (await host.snapshot(root))["context"]["answers"] == ["yes"]
            _, commit = store.commits
            assert [(entry.to, entry.value) for entry in commit.entries] == [("", "busy"), ("work", "idle")]
            assert (commit.tasks, commit.ended) == ((), ())

    simulate(main)


def test_an_eager_answer_is_stored_together_with_the_beginning_that_asks():
    async def main():
        store = WatchedStore()
        machine = create_machine(
            {"id": "asks", "initial": "on", "states": {"on": {"invoke": {"src": "work", "onDone": "off"}}, "off": {}}},
            actors={"work": from_task(lambda: "yes", eager=True)},
        )
        async with runtime(store, machine) as host:
            assert (await host.snapshot(await host.create("asks")))["value"] == "off"
            [commit] = store.commits
            assert [entry.value for entry in commit.entries] == ["on", "off"]

    simulate(main)


def test_going_over_the_journal_asks_no_eager_function_again():
    calls = []

    def work():
        calls.append(len(calls))
        return calls[-1]

    async def main():
        store = MemoryStore()
        async with runtime(store, asking(from_task(work, eager=True))) as host:
            root = await host.create("asking")
            await host.send(root, {"type": "GO"})
        async with runtime(store, asking(from_task(work, eager=True))) as host:
            assert (await host.snapshot(root, seq=3))["context"]["answers"] == [0]
            assert (await host.snapshot(root))["context"]["answers"] == [0]

    simulate(main)
    assert calls == [0]


def test_a_plain_function_runs_once_its_step_is_stored():
    async def main():
        store = WatchedStore()
        stored = []

        def work():
            stored.append([task.src for commit in store.commits for task in commit.tasks])

        async with runtime(store, asking(from_task(work))) as host:
            root = await host.create("asking")
            await host.send(root, {"type": "GO"})
            await answers(host, root)
        assert stored == [["work"]]
        assert [len(commit.entries) for commit in store.commits] == [1, 1, 1]

    simulate(main)


def test_a_step_that_cannot_be_stored_did_not_ask():
    async def main():
        store = WatchedStore()
        async with runtime(store, asking(from_task(lambda: "yes", eager=True))) as host:
            root = await host.create("asking")
            store.refuses = 1
            with pytest.raises(StoreError):
                await host.send(root, {"type": "GO"})
            assert (await host.snapshot(root))["value"] == "idle"
            await host.send(root, {"type": "GO"})
            assert (await host.snapshot(root))["context"]["answers"] == ["yes"]

    simulate(main)


def test_what_an_eager_function_has_to_wait_for_begins_once_its_step_is_stored():
    async def main():
        store = WatchedStore()
        began = []

        async def wait():
            began.append([task.src for commit in store.commits for task in commit.tasks])
            return "later"

        async with runtime(store, asking(from_task(lambda: wait(), eager=True))) as host:
            root = await host.create("asking")
            await host.send(root, {"type": "GO"})
            assert await answers(host, root) == ["later"]
        assert began == [["work"]]

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        simulate(main)
        gc.collect()
    assert [str(warning.message) for warning in warned] == []


def _fails():
    raise ValueError("no")


def _is_no_json():
    return {1, 2}


def _speaks(*, scope):
    scope.send_back({"type": "GO"})


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize(
    ("work", "name"), [(_fails, "ValueError"), (_is_no_json, "TypeError"), (asyncio.CancelledError, "TypeError")]
)
def test_a_function_that_fails_is_an_error_of_its_actor(work, name, eager):
    async def main():
        async with runtime(MemoryStore(), asking(from_task(work, eager=eager))) as host:
            root = await host.create("asking")
            await host.send(root, {"type": "GO"})
            [error] = await answers(host, root)
            return error["name"]

    assert simulate(main) == name


def test_a_plain_function_that_is_cancelled_from_within_has_failed():
    def work():
        raise asyncio.CancelledError

    async def main():
        async with runtime(MemoryStore(), asking(from_task(work))) as host:
            root = await host.create("asking")
            await host.send(root, {"type": "GO"})
            [error] = await answers(host, root)
            return error["name"]

    assert simulate(main) == "CancelledError"


def test_an_eager_function_cannot_speak_before_its_step_is_stored():
    async def main():
        async with runtime(MemoryStore(), asking(from_task(_speaks, eager=True))) as host:
            root = await host.create("asking")
            await host.send(root, {"type": "GO"})
            [error] = await answers(host, root)
            return error["message"]

    assert "cannot send events" in simulate(main)


def test_a_plain_function_may_speak_and_is_heard_before_its_answer():
    on_go = {"on": {"GO": {"actions": assign({"answers": lambda context: [*context["answers"], "heard"]})}}}

    async def main():
        async with runtime(MemoryStore(), asking(from_task(_speaks), **on_go)) as host:
            root = await host.create("asking")
            await host.send(root, {"type": "GO"})
            return await answers(host, root, 2)

    assert simulate(main) == ["heard", None]


def test_a_function_reports_its_progress_as_the_context_of_its_actor_and_the_journal_has_it():
    async def reporting(scope):
        scope.report({"text": "half"})
        scope.report({"text": "nearly"})
        return "whole"

    async def main():
        async with runtime(MemoryStore(), asking(from_task(reporting))) as host:
            root = await host.create("asking")
            await host.send(root, {"type": "GO"})
            result = await answers(host, root)
            entries = await host.store.entries(root, 0, 10)
            return result, [entry.event["data"] for entry in entries if entry.to == "work"]

    assert simulate(main) == (["whole"], [{"text": "half"}, {"text": "nearly"}, "whole"])


def test_actions_of_a_step_come_before_the_function_it_invokes():
    order = []
    entered = {"entry": lambda: order.append("entered")}

    async def main():
        async with runtime(MemoryStore(), asking(from_task(lambda: order.append("called")), **entered)) as host:
            root = await host.create("asking")
            await host.send(root, {"type": "GO"})
            await answers(host, root)

    simulate(main)
    assert order == ["entered", "called"]


def endless(**options):
    """A machine that asks again whenever it is answered, until it is order to stop."""
    again = {"target": "on", "reenter": True, "actions": "count"}
    return create_machine(
        {
            "id": "endless",
            "initial": "off",
            "context": {"n": 0},
            "states": {
                "off": {"on": {"GO": "on"}},
                "on": {"invoke": {"src": "next", "onDone": again}, "on": {"STOP": "off"}},
            },
        },
        actors={"next": from_task(lambda: None, **options)},
        actions={"count": assign({"n": lambda context: context["n"] + 1})},
    )


def test_eager_functions_that_ask_for_each_other_are_stored_some_at_a_time():
    async def main():
        store = WatchedStore()
        async with runtime(store, endless(eager=True)) as host:
            root = await host.create("endless")
            await host.send(root, {"type": "GO"})
            assert len(store.commits[1].entries) == 1 + BATCH_LETTERS
            assert (await host.send(root, {"type": "STOP"})).status == "accepted"

    simulate(main)


@pytest.mark.parametrize("eager", [False, True])
def test_functions_that_never_end_let_others_have_their_turns(eager):
    async def main():
        async with runtime(MemoryStore(), endless(eager=eager)) as host:
            first = await host.create("endless")
            second = await host.create("endless")
            await host.send(first, {"type": "GO"})
            assert (await host.send(second, {"type": "GO"})).status == "accepted"
            assert (await host.send(first, {"type": "STOP"})).status == "accepted"
            assert (await host.send(second, {"type": "STOP"})).status == "accepted"

    simulate(main)


def test_a_machine_that_raises_over_an_answer_is_quarantined():
    def refuse(context, event):
        raise ValueError("no")

    async def main():
        machine = asking(from_task(lambda: "yes", eager=True)).provide(actions={"keep": assign(refuse)})
        async with runtime(MemoryStore(), machine) as host:
            root = await host.create("asking")
            receipt = await host.send(root, {"type": "GO"})
            await asyncio.sleep(1)
            with pytest.raises(Quarantined, match="ValueError: no"):
                await host.snapshot(root)
            return receipt.status

    assert simulate(main) == "accepted"


class PickyStore(MemoryStore):
    """Store that refuses answers."""

    async def commit(self, commits, written=None):
        if any(entry.to for commit in commits for entry in commit.entries):
            raise Unstorable("not that")
        await super().commit(commits, written)


# Where the store takes anything, a snapshot is due that cannot be made of what is kept.
@pytest.mark.parametrize(("store", "convert"), [(PickyStore, str), (MemoryStore, lambda answer: {answer})])
def test_an_answer_that_no_step_can_take_is_quarantined_and_the_step_before_is_stored(store, convert):
    async def main():
        keep = assign({"answers": lambda context, event: convert(event["output"])})
        machine = asking(from_task(lambda: "yes" * 1000, eager=True)).provide(actions={"keep": keep})
        async with runtime(stored := store(), machine, snapshot_every=1) as host:
            root = await host.create("asking")
            receipt = await host.send(root, {"type": "GO"})
            with pytest.raises(Quarantined):
                await host.output(root)
            [(letter, _)] = await stored.dead_letters(root)
            return receipt.status, len(await stored.entries(root)), letter.to

    assert simulate(main) == ("accepted", 2, "work")


@pytest.mark.parametrize("options", [{}, {"eager": True}, {"safety": "repeat"}])
def test_a_runtime_can_be_stopped_while_functions_never_end(options):
    async def main():
        store = MemoryStore()
        async with runtime(store, endless(**options)) as host:
            root = await host.create("endless")
            await host.send(root, {"type": "GO"})
        before = (await store.load(root)).seq
        if options.get("safety") == "repeat":  # it goes on where it was stopped
            async with runtime(store, endless(**options)) as host:
                await asyncio.sleep(0)
                await host.send(root, {"type": "STOP"})
            assert (await store.load(root)).seq > before + 1

    simulate(main)


async def nothing():
    """A function that has to be awaited."""


@pytest.mark.parametrize("work", [nothing, lambda: None])
def test_a_task_whose_answer_asks_for_it_again_goes_on(work):
    async def main():
        machine = endless().provide(actors={"next": from_task(work)})
        async with runtime(MemoryStore(), machine) as host:
            root = await host.create("endless")
            await host.send(root, {"type": "GO"})
            async for entry in host.feed(root):
                if entry.seq == 6:
                    break
            await host.send(root, {"type": "STOP"})
            snapshot = await host.snapshot(root)
            rebuilt = await host.time_travel.rebuild(root)
            assert snapshot["context"]["n"] >= 4
            assert rebuilt.actor.get_persisted_snapshot() == snapshot
            assert rebuilt.host.tasks == {}

    simulate(main)


def test_a_calculation_that_a_dead_process_left_is_made_again():
    async def main():
        store = WatchedStore()
        stuck = asyncio.get_running_loop().create_future()
        logic = from_task(lambda: stuck, safety="repeat", eager=True)
        first = await runtime(store, asking(logic)).start()
        root = await first.create("asking")
        await first.send(root, {"type": "GO"})
        crash(first)
        async with runtime(store, asking(from_task(lambda: "again", safety="repeat", eager=True))) as host:
            return await answers(host, root)

    assert simulate(main) == ["again"]
