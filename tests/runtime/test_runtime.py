"""Guarantees of the runtime: letters are applied once, tasks are reported, timers fire, earlier states can be read."""

import asyncio

import pytest

from antiphon import EventError, assign, create_machine
from antiphon.runtime.errors import InboxFull, NotRunning, RootExists, UnknownMachine, UnknownRoot
from antiphon.runtime.records import Receipt
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import START, chat, crash, runtime, simulate, wait_for_state


async def words(input, scope):
    for word in ("Good ", "evening."):
        scope.send_back({"type": "TEXT", "text": word}, join="text")
    return "done"


async def forever(input):
    await asyncio.get_running_loop().create_future()


def test_a_letter_is_acknowledged_when_its_step_is_stored():
    async def main():
        store = MemoryStore()
        async with runtime(store, chat(words)) as host:
            root = await host.create("chat")
            receipt = await host.send(root, {"type": "PLAN", "ms": 5}, id="m1")

            assert (receipt.status, receipt.seq) == ("accepted", 2)
            assert store.trees[root].applied == {"m1": 2}

    simulate(main)


def test_a_letter_that_comes_twice_is_applied_once():
    async def main():
        async with runtime(MemoryStore(), chat(words)) as host:
            root = await host.create("chat")
            event = {"type": "PLAN", "ms": 5}
            first, second = await asyncio.gather(host.send(root, event, id="m1"), host.send(root, event, id="m1"))
            third = await host.send(root, event, id="m1")

            assert [first.status, second.status, third.status] == ["accepted", "duplicate", "duplicate"]
            assert len(await host.store.entries(root)) == 2

    simulate(main)


def test_an_event_no_transition_takes_is_refused_with_those_that_can_happen():
    async def main():
        async with runtime(MemoryStore(), chat(words)) as host:
            root = await host.create("chat")
            receipt = await host.send(root, {"type": "NOPE"})

            assert (receipt.status, receipt.can) == ("rejected", ("SEND", "PLAN", "RING"))
            assert len(await host.store.entries(root)) == 1

    simulate(main)


def test_deltas_come_joined_and_before_the_result():
    async def main():
        async with runtime(MemoryStore(), chat(words)) as host:
            root = await host.create("chat")
            await host.send(root, {"type": "SEND"})
            snapshot = await wait_for_state(host, root, "idle")
            while snapshot["context"]["text"] == "":
                snapshot = await wait_for_state(host, root, "idle")
                await asyncio.sleep(1)

            journal = [entry.event["type"] for entry in await host.store.entries(root)]
            assert snapshot["context"]["text"] == "Good evening."
            assert journal == ["xstate.init", "SEND", "TEXT", "xstate.promise.resolve"]

    simulate(main)


@pytest.mark.parametrize(("safety", "code"), [("report", "interrupted"), ("once", "unknown")])
def test_a_task_that_a_dead_process_left_is_reported(safety, code):
    async def main():
        store = MemoryStore()
        first = await runtime(store, chat(forever, safety=safety)).start()
        root = await first.create("chat")
        await first.send(root, {"type": "SEND"})
        crash(first)
        async with runtime(store, chat(forever, safety=safety)) as second:
            snapshot = await wait_for_state(second, root, "failed")

            assert snapshot["context"]["failure"] == code
            assert await store.running_tasks() == []

    simulate(main)


@pytest.mark.parametrize(("safety", "stored"), [("repeat", {"prompt": "why?"}), ("report", None), ("once", None)])
def test_what_a_task_was_given_is_stored_only_if_it_may_be_repeated(safety, stored):
    async def main():
        inputs = []

        async def reply(input):
            inputs.append(input)
            await forever(input)

        store = MemoryStore()
        host = await runtime(store, chat(reply, safety=safety)).start()
        root = await host.create("chat")
        await host.send(root, {"type": "SEND", "prompt": "why?"})
        await asyncio.sleep(0.01)
        crash(host)

        (task,) = await store.running_tasks()
        assert (task.input, inputs) == (stored, [{"prompt": "why?"}])

    simulate(main)


def test_a_task_that_may_be_repeated_is_run_again_with_the_same_key():
    async def main():
        attempts = []

        async def flaky(input, scope):
            attempts.append((scope.key, scope.attempt))
            if scope.attempt == 1:
                await forever(input)

        store = MemoryStore()
        first = await runtime(store, chat(flaky, safety="repeat")).start()
        root = await first.create("chat")
        await first.send(root, {"type": "SEND"})
        await asyncio.sleep(0.01)
        crash(first)
        async with runtime(store, chat(flaky, safety="repeat")) as second:
            await asyncio.sleep(1)

            assert (await second.snapshot(root))["value"] == "idle"
        (key, first_attempt), (same_key, second_attempt) = attempts
        assert (key, first_attempt, second_attempt) == (same_key, 1, 2)

    simulate(main)


def test_leaving_the_state_cancels_the_task():
    async def main():
        ended = []

        async def patient(input):
            try:
                await forever(input)
            finally:
                ended.append("cancelled")

        async with runtime(MemoryStore(), chat(patient)) as host:
            root = await host.create("chat")
            await host.send(root, {"type": "SEND"})
            await asyncio.sleep(0.01)
            await host.send(root, {"type": "CANCEL"})
            await asyncio.sleep(0.01)

            assert ended == ["cancelled"]
            assert host.tasks.running == 0

    simulate(main)


def test_late_timers_come_at_once_in_the_order_of_their_due_times():
    async def main():
        store = MemoryStore()
        first = await runtime(store, chat(words)).start()
        root = await first.create("chat")
        await first.send(root, {"type": "PLAN", "ms": 300})
        await first.send(root, {"type": "PLAN", "ms": 100})
        crash(first)
        await asyncio.sleep(60)
        async with runtime(store, chat(words)) as second:
            await asyncio.sleep(0.001)

            assert (await second.snapshot(root))["context"]["rings"] == [START + 100, START + 300]

    simulate(main)


def test_a_posted_letter_survives_the_process():
    async def main():
        store = MemoryStore()
        first = await runtime(store, chat(words)).start()
        root = await first.create("chat")
        await first.post(root, {"type": "PLAN", "ms": 0}, id="p", delay_ms=50)
        crash(first)
        async with runtime(store, chat(words)) as second:
            await asyncio.sleep(1)

            assert await store.outcome(root, "p") == Receipt("accepted", "p", 2)
            assert (await second.post(root, {"type": "PLAN", "ms": 0}, id="p")).status == "duplicate"

    simulate(main)


def test_the_past_can_be_seen_and_forked():
    async def main():
        async with runtime(MemoryStore(), chat(forever)) as host:
            root = await host.create("chat")
            await host.send(root, {"type": "SEND"})
            await host.send(root, {"type": "CANCEL"})
            branch = await host.fork(root, 2)
            await asyncio.sleep(1)

            assert (await host.snapshot(root, 2))["value"] == "replying"
            assert (await host.snapshot(root))["value"] == "idle"
            assert (await host.snapshot(branch))["context"]["failure"] == "interrupted"

    simulate(main)


def test_replaying_the_journal_gives_the_snapshot():
    async def main():
        async with runtime(MemoryStore(), chat(words), snapshot_every=2) as host:
            root = await host.create("chat")
            for number in range(5):
                await host.send(root, {"type": "PLAN", "ms": number})
                await host.send(root, {"type": "SEND"})
                await asyncio.sleep(1)
            replayed = await host.time_travel.rebuild(root)

            assert replayed.actor.get_persisted_snapshot() == await host.snapshot(root)

    simulate(main)


def test_a_tree_is_moved_to_the_next_version_of_its_machine():
    async def main():
        store = MemoryStore()
        old = chat(words)
        async with runtime(store, old) as host:
            root = await host.create("chat")

        def migrate(snapshot, version):
            return {**snapshot, "context": {**snapshot["context"], "text": f"from {version}"}}

        new = chat(words, version=2, migrate=migrate)
        async with runtime(store, old, new) as host:
            assert (await host.snapshot(root))["context"]["text"] == "from 1"
            assert (await host.snapshot(root, 1))["context"]["text"] == ""
        async with runtime(store, new) as host:
            assert (await host.send(root, {"type": "PLAN", "ms": 1})).status == "accepted"

    simulate(main)


def test_an_unknown_version_is_refused():
    async def main():
        store = MemoryStore()
        async with runtime(store, chat(words)) as host:
            root = await host.create("chat")
        async with runtime(store, chat(words, version=2)) as host:
            with pytest.raises(UnknownMachine, match="version 1, which is not registered"):
                await host.snapshot(root)

    simulate(main)


def test_a_letter_no_step_can_take_is_set_aside_and_all_trees_continue():
    async def main():
        store = MemoryStore()
        spoil = {"spoil": assign({"x": lambda context, event: object()})}
        machine = create_machine({"id": "m", "context": {}, "on": {"SPOIL": {"actions": "spoil"}}}, actions=spoil)
        async with runtime(store, machine, chat(words), snapshot_every=1) as host:
            sick = await host.create("m")
            well = await host.create("chat")
            receipt = await host.send(sick, {"type": "SPOIL", "text": "long enough for a snapshot" * 9}, id="bad")
            assert receipt.status == "failed"
            assert "context.x: an object cannot be stored" in (receipt.error or "")

            assert (await host.send(sick, {"type": "REST"})).status == "rejected"
            assert (await host.send(well, {"type": "SEND"})).status == "accepted"
            assert [letter.id for letter, _ in await host.dead_letters(sick)] == ["bad"]

    simulate(main)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "SEND", "prompt": object()},
        {"type": "SEND", "n": float("nan")},
        {"type": "xstate.done.actor.reply"},
        "SEND",
    ],
)
@pytest.mark.requirement("X-13")
def test_an_event_that_may_not_come_in_is_refused_and_changes_nothing(event):
    async def main():
        async with runtime(MemoryStore(), chat(words)) as host:
            root = await host.create("chat")
            with pytest.raises(EventError):
                await host.send(root, event)

            assert len(await host.store.entries(root)) == 1

    simulate(main)


def test_an_inbox_is_bounded():
    async def main():
        async with runtime(MemoryStore(), chat(words), inbox_limit=3) as host:
            root = await host.create("chat")
            sends = [host.send(root, {"type": "PLAN", "ms": 1}) for _ in range(10)]
            outcomes = await asyncio.gather(*sends, return_exceptions=True)

            assert any(isinstance(outcome, InboxFull) for outcome in outcomes)
            assert sum(not isinstance(outcome, Exception) for outcome in outcomes) >= 3

    simulate(main)


def test_many_readers_get_every_entry_once_in_order():
    async def main():
        async with runtime(MemoryStore(), chat(words)) as host:
            root = await host.create("chat")

            async def read(after):
                seqs = []
                async for entry in host.feed(root, after):
                    seqs.append(entry.seq)
                    if entry.seq == 600:
                        break
                return seqs

            readers = [asyncio.create_task(read(after)) for after in (0, 0, 100)]
            for _ in range(599):
                await host.send(root, {"type": "PLAN", "ms": 10_000_000})
            pages = await asyncio.gather(*readers)

            assert pages == [list(range(1, 601)), list(range(1, 601)), list(range(101, 601))]

    simulate(main)


def test_unknown_trees_and_machines_and_taken_names_are_refused():
    async def main():
        async with runtime(MemoryStore(), chat(words)) as host:
            await host.create("chat", root="r")
            with pytest.raises(RootExists):
                await host.create("chat", root="r")
            with pytest.raises(UnknownMachine):
                await host.create("nothing")
            with pytest.raises(UnknownRoot):
                await host.send("nobody", {"type": "SEND"})
        with pytest.raises(NotRunning):
            await host.send("r", {"type": "SEND"})

    simulate(main)


def test_stopping_waits_for_a_cancelled_task_that_still_tidies_up():
    """A command whose processes are being ended must not outlive the runtime."""

    async def main():
        tidied = []

        async def untidy(input):
            try:
                await asyncio.sleep(1_000)
            finally:
                await asyncio.sleep(2)
                tidied.append(True)

        async with runtime(MemoryStore(), chat(untidy)) as host:
            root = await host.create("chat")
            await host.send(root, {"type": "SEND"})
            await asyncio.sleep(1)
            await host.send(root, {"type": "CANCEL"})

        assert tidied == [True]

    simulate(main)


def test_stopping_lets_tasks_finish():
    async def main():
        async def slow(input):
            await asyncio.sleep(2)

        store = MemoryStore()
        host = await runtime(store, chat(slow)).start()
        root = await host.create("chat")
        await host.send(root, {"type": "SEND"})
        await host.stop(limit_s=5)

        assert await store.running_tasks() == []
        assert [entry.value for entry in await store.entries(root)] == ["idle", "replying", "idle"]

    simulate(main)


def test_creating_a_tree_that_exists_while_its_timer_is_due_is_refused():
    async def main():
        def new_id():
            host.inboxes.set_alarm(0, "r")  # the loop looks at the tree before it stores the new one
            return "id"

        async with runtime(MemoryStore(), chat(words), new_id=new_id) as host:
            await host.create("chat", root="r")
            host.trees.discard("r")
            with pytest.raises(RootExists):
                await asyncio.wait_for(host.create("chat", root="r"), 10)
            assert (await host.send("r", {"type": "SEND"}, id="m1")).status == "accepted"

    simulate(main)


class SlowToLoad(MemoryStore):
    """Store that takes a second to load a tree."""

    async def load(self, root, seq=None):
        await asyncio.sleep(1)
        return await super().load(root, seq)


def test_a_tree_that_waits_to_be_created_is_refused_by_a_stop():
    async def main():
        async with runtime(SlowToLoad(), chat(words)) as host:
            finding = asyncio.create_task(host.trees.find("r"))
            await asyncio.sleep(0.1)
            creating = asyncio.create_task(host.create("chat", root="r"))
            await asyncio.sleep(0.1)
            await asyncio.wait_for(host.stop(), 10)

            assert await finding is None
            with pytest.raises(NotRunning, match="before the tree was created"):
                await creating

    simulate(main)


class SlowToAnswer(MemoryStore):
    """Store whose commits are made some time before they answer."""

    commits_inline = False

    async def commit(self, commits, written=None):
        await super().commit(commits, written)
        await asyncio.sleep(1)


def test_a_post_to_a_tree_that_is_being_created_is_taken():
    async def main():
        async with runtime(SlowToAnswer(), chat(words)) as host:
            creating = asyncio.create_task(host.create("chat", root="r"))
            await asyncio.sleep(0.5)
            await host.post("r", {"type": "SEND"}, id="m1")
            await creating
            await asyncio.sleep(10)

            assert (await host.outcome("r", "m1")).status == "accepted"

    simulate(main)
