"""Histories: two pasts have different ids of tasks and timers, replay repeats them, and cursors tell pasts apart."""

import asyncio

import pytest

from antiphon import OtherHistory, Receipt, assign, cancel, create_machine, from_task, raise_
from antiphon.runtime.histories import HistoryIds, change_history, format_cursor, new_suffix, parse_cursor
from antiphon.runtime.ids import token_order
from antiphon.runtime.records import Letter
from antiphon.stores.memory import MemoryStore
from antiphon.testing.laws import broken_laws
from tests.fixtures.runtime import crash, runtime, simulate

ONE = "1" * 16
TWO = "2" * 16


async def work(input):
    await asyncio.sleep(input["s"])


# It waits for tasks and timers, several at a time.
PLANNER = create_machine(
    {
        "id": "planner",
        "context": {"rings": 0},
        "type": "parallel",
        "on": {
            "PLAN": {"actions": raise_({"type": "RING"}, delay=lambda context, event: event["ms"], id="ring")},
            "UNPLAN": {"actions": cancel("ring")},
            "RING": {"actions": "count"},
            "BOOM": {"actions": "boom"},
        },
        "states": {
            "jobs": {
                "initial": "idle",
                "states": {
                    "idle": {"on": {"WORK": "busy"}},
                    "busy": {
                        "invoke": {
                            "id": "work",
                            "src": "work",
                            "input": lambda context, event: {"s": event["s"]},
                            "onDone": "idle",
                            "onError": "idle",
                        }
                    },
                },
            }
        },
    },
    actions={
        "count": assign({"rings": lambda context, event: context["rings"] + 1}),
        "boom": assign({"rings": lambda context, event: 1 // 0}),
    },
    actors={"work": from_task(work, safety="repeat")},
)


async def grow(host, root, events):
    for event in events:
        assert (await host.send(root, event)).status == "accepted"


def tasks_and_timers(store):
    """The ids of all stored tasks and timers."""
    return [id for tree in store.trees.values() for id in (*tree.tasks, *tree.letters)]


def plan(ms):
    return {"type": "PLAN", "ms": ms}


# -- ids -----------------------------------------------------------------------------------------------------------


def test_a_history_has_one_id_until_it_is_changed():
    ids = HistoryIds("h")

    assert [ids.at(seq) for seq in (0, 1, 999)] == ["h"] * 3
    assert ids.current == "h"


def test_steps_after_a_change_have_another_id():
    ids = HistoryIds(change_history(change_history("h", 3, ONE), 5, TWO))

    assert [ids.at(seq) for seq in range(8)] == ["h"] * 4 + [f"h.{ONE}"] * 2 + [f"h.{TWO}"] * 2
    assert ids.current == f"h.{TWO}"


def test_of_two_changes_at_one_step_the_later_one_counts():
    ids = HistoryIds(change_history(change_history("h", 3, ONE), 3, TWO))

    assert [ids.at(3), ids.at(4)] == ["h", f"h.{TWO}"]


@pytest.mark.parametrize("id", ["", "a/b", "bob@1.com", "@", "x@3.12\n", "ü:1"])
def test_any_text_can_be_the_id_of_a_history(id):
    assert HistoryIds(id).current == id
    assert HistoryIds(change_history(id, 7, ONE)).current == f"{id}.{ONE}"


@pytest.mark.parametrize("id", ["h", "", "a:b", "7:1", "h.1"])
def test_a_cursor_is_a_history_a_step_and_maybe_a_part_of_it(id):
    assert parse_cursor(format_cursor(id, 7)) == (id, 7, None)
    assert parse_cursor(format_cursor(id, 7, 2)) == (id, 7, 2)
    assert (parse_cursor(format_cursor(id, 7)).before, parse_cursor(format_cursor(id, 7, 0)).before) == (7, 6)


@pytest.mark.parametrize("text", ["", "7", "h:", "h:1.", "h:1.x", "h:-1", "h:1.2.3", "h: 1"])
def test_other_texts_are_not_cursors(text):
    with pytest.raises(ValueError, match="is not a cursor; use that of a receipt"):
        parse_cursor(text)


def test_a_cursor_within_a_step_belongs_to_the_past_of_that_step():
    ids = HistoryIds(change_history("h", 3, ONE))

    assert [ids.resolve("r", cursor, 5) for cursor in ("h:3", "h:3.1", f"h.{ONE}:4.0", f"h.{ONE}:5")] == [3, 2, 3, 5]
    with pytest.raises(OtherHistory) as caught:
        ids.resolve("r", "h:4.0", 5)
    assert (caught.value.shared, caught.value.resume) == (3, "h:3")


def test_suffixes_differ():
    assert len({new_suffix() for _ in range(1000)}) == 1000


def test_timers_of_several_histories_are_in_the_order_in_which_they_were_set():
    ids = ["h/0000000002/0000", f"h.{TWO}/0000000003/0000", f"h.{ONE}/0000000003/0001", f"h.{ONE}/0000000004/0000"]

    assert sorted([ids[1], ids[3], ids[0], ids[2]], key=token_order) == ids


# -- two pasts -----------------------------------------------------------------------------------------------------


def two_pasts(events, check, **options):
    """Live on from a backup twice, with the same events; `check` gets the store, the runtime, the root and old ids."""

    async def main():
        store = MemoryStore()
        async with runtime(store, PLANNER, **options) as host:
            root = await host.create("planner", root="r")
            await grow(host, root, [plan(1000), {"type": "WORK", "s": 5}])
            shared = tasks_and_timers(store)
            backup = store.backup()
            await asyncio.sleep(6)
            await grow(host, root, events)
            lost = set(tasks_and_timers(store))
        store.restore(backup, ONE)
        async with runtime(store, PLANNER, **options) as host:
            await check(store, host, root, shared, lost)

    simulate(main)


EVENTS = [plan(60_000), {"type": "WORK", "s": 50}, plan(70_000)]


@pytest.mark.parametrize("snapshot_every", [1, 2, 3, 1000])
def test_ids_never_repeat_after_a_restore_and_are_the_same_when_replayed(snapshot_every):
    async def check(store, host, root, shared, lost):
        assert set(tasks_and_timers(store)) == set(
            shared
        )  # begun before the backup: with the ids they were stored with
        await asyncio.sleep(6)
        await grow(host, root, EVENTS)
        again = set(tasks_and_timers(store))

        assert len(lost) == len(again) == 3
        assert lost.isdisjoint(again)
        assert await broken_laws(host, store) == []
        host.trees.discard(root)
        await grow(host, root, [plan(80_000)])
        assert await broken_laws(host, store) == []

    two_pasts(EVENTS, check, snapshot_every=snapshot_every)


def test_a_tree_is_rebuilt_with_the_ids_of_each_past():
    async def check(store, host, root, shared, lost):
        await asyncio.sleep(6)
        await grow(host, root, EVENTS)
        before = await host.time_travel.rebuild(root, 3)
        after = await host.time_travel.rebuild(root)

        assert sorted([*before.host.letters, *(task.id for task in before.host.tasks.values())]) == sorted(shared)
        assert {*after.host.letters, *(task.id for task in after.host.tasks.values())} == set(tasks_and_timers(store))

    two_pasts(EVENTS, check, snapshot_every=1000)


def test_the_first_step_is_replayed_with_the_first_id():
    sleeper = create_machine({"id": "sleeper", "initial": "a", "states": {"a": {"after": {90_000: "b"}}, "b": {}}})

    async def main():
        store = MemoryStore()
        async with runtime(store, sleeper) as host:
            await host.create("sleeper", root="r")
        store.restore(store.backup(), ONE)
        async with runtime(store, sleeper) as host:
            assert list((await host.time_travel.rebuild("r")).host.letters) == tasks_and_timers(store)

    simulate(main)


@pytest.mark.parametrize("seq", [3, 5, 8])
def test_a_fork_before_and_after_a_restore_has_a_history_of_its_own(seq):
    async def check(store, host, root, shared, lost):
        await asyncio.sleep(6)
        await grow(host, root, EVENTS)
        open_timers = len((await host.time_travel.rebuild(root, seq)).host.letters)
        used = {*shared, *lost, *tasks_and_timers(store)}
        fork = await host.fork(root, seq)
        timers = [letter.id for letter in (await store.load(fork)).letters if letter.timer is not None]
        await asyncio.sleep(1)
        await grow(host, fork, [plan(90_000)])

        assert len(timers) == open_timers
        assert used.isdisjoint(timers)
        assert used.isdisjoint({*store.trees[fork].letters})
        assert await host.cursor(fork) != await host.cursor(root)
        assert await broken_laws(host, store) == []

    two_pasts(EVENTS, check)


def test_cancelling_means_the_timer_set_last_also_after_a_restore():
    async def main():
        store = MemoryStore()
        async with runtime(store, PLANNER) as host:
            await host.create("planner", root="r")
            await grow(host, "r", [plan(50_000)])
        (first,) = store.trees["r"].letters
        store.restore(store.backup(), ONE)
        async with runtime(store, PLANNER) as host:
            await grow(host, "r", [plan(60_000)])
            host.trees.discard("r")
            await grow(host, "r", [{"type": "UNPLAN"}])

            assert list(store.trees["r"].letters) == [first]
            assert await broken_laws(host, store) == []

    simulate(main)


def test_a_result_of_a_lost_past_is_refused():
    async def check(store, host, root, shared, lost):
        await asyncio.sleep(6)
        await grow(host, root, EVENTS)
        task = (await host.trees.load(root)).host.tasks["work"]
        stray = next(id for id in lost if id.rsplit("/", 2)[1:] == task.id.rsplit("/", 2)[1:])

        assert stray != task.id
        assert not host.trees.get(root)._is_current(letter_of(task, stray))
        assert host.trees.get(root)._is_current(letter_of(task, task.id))

    two_pasts(EVENTS, check)


def letter_of(task, id):
    return Letter(id, task.root, {}, 0, 0, task.to, task.to, None, id, task.attempt)


def test_a_crash_does_not_change_the_history():
    async def main():
        store = MemoryStore()
        host = await runtime(store, PLANNER).start()
        receipts = [await host.send(await host.create("planner", root="r"), plan(10))]
        for _ in range(3):
            crash(host)
            host = await runtime(store, PLANNER).start()
            receipts.append(await host.send("r", plan(10_000)))
        await host.stop()

        assert len({receipt.history for receipt in receipts}) == 1

    simulate(main)


# -- receipts and cursors ------------------------------------------------------------------------------------------


def test_every_receipt_names_the_history_and_its_cursor():
    async def main():
        store = MemoryStore()
        async with runtime(store, PLANNER, tree_limit=1) as host:
            await host.create("planner", root="r")
            await host.create("planner", root="other")  # "r" is dropped from memory
            posted = await host.post("r", plan(1), id="p")
            accepted = await host.send("r", plan(10_000), id="s")
            again = await host.send("r", plan(10_000), id="s")
            twice = await host.post("r", plan(1), id="p")
            rejected = await host.send("r", {"type": "NOPE"})
            failed = await host.send("r", {"type": "BOOM"}, id="b")
            failed_again = await host.send("r", {"type": "BOOM"}, id="b")
            outcome = await host.outcome("r", "s")
            receipts = [posted, accepted, again, twice, rejected, failed, failed_again, outcome]
            history, seq = await store.history("r")

            assert [receipt.status for receipt in receipts] == [
                "accepted", "accepted", "duplicate", "duplicate", "rejected", "failed", "failed", "accepted"
            ]  # fmt: skip
            assert {receipt.history for receipt in receipts} == {history}
            assert accepted.cursor == f"{history}:{accepted.seq}"
            assert await host.cursor("r") == f"{history}:{seq}"
            assert await host.cursor("r", 1) == f"{history}:1"

    simulate(main)


async def read_feed(host, root, after, count):
    feed = host.feed(root, after)
    try:
        return [(await anext(feed)).seq for _ in range(count)]
    finally:
        await feed.aclose()


def test_a_feed_continues_after_a_cursor_of_this_past():
    async def main():
        async with runtime(MemoryStore(), PLANNER) as host:
            await host.create("planner", root="r")
            cursor = await host.cursor("r")
            receipt = await host.send("r", plan(90_000))
            await grow(host, "r", [plan(90_000)] * 2)

            assert await read_feed(host, "r", cursor, 3) == [2, 3, 4]
            assert await read_feed(host, "r", receipt.cursor, 2) == [3, 4]
            assert await read_feed(host, "r", 2, 2) == [3, 4]

    simulate(main)


def test_a_reader_with_a_cursor_of_a_lost_past_is_told_before_it_gets_an_entry():
    async def main():
        store = MemoryStore()
        async with runtime(store, PLANNER) as host:
            await host.create("planner", root="r")
            shared = (await host.send("r", plan(90_000))).cursor
            backup = store.backup()
            await grow(host, "r", [plan(90_000)] * 3)
            lost = await host.cursor("r")
            next_lost = await host.cursor("r", 3)
        store.restore(backup, ONE)
        async with runtime(store, PLANNER) as host:
            await grow(host, "r", [plan(90_000)] * 5)

            assert await read_feed(host, "r", shared, 2) == [3, 4]
            for cursor in (lost, next_lost):
                with pytest.raises(OtherHistory) as caught:
                    await read_feed(host, "r", cursor, 1)
                assert (caught.value.root, caught.value.cursor, caught.value.shared) == ("r", cursor, 2)
                assert cursor in str(caught.value)
                assert (await host.send("r", plan(1))).history in str(caught.value)
                assert await read_feed(host, "r", caught.value.resume, 2) == [3, 4]

    simulate(main)


def test_a_cursor_of_an_intermediate_past_holds_up_to_the_backup_that_was_restored_then():
    ids = HistoryIds(change_history(change_history("h", 3, ONE), 5, TWO))

    assert [ids.resolve("r", cursor, 9) for cursor in ("h:3", f"h.{ONE}:5", f"h.{ONE}:1", f"h.{TWO}:9")] == [3, 5, 1, 9]
    for cursor, shared in (("h:4", 3), (f"h.{ONE}:6", 5), (f"h.{TWO}:10", 9), (f"h.{'3' * 16}:1", 0)):
        with pytest.raises(OtherHistory) as caught:
            ids.resolve("r", cursor, 9)
        assert caught.value.shared == shared


def test_a_cursor_of_another_tree_is_of_another_history():
    async def main():
        async with runtime(MemoryStore(), PLANNER) as host:
            for root in ("r", "other"):
                await host.create("planner", root=root)
            with pytest.raises(OtherHistory):
                await read_feed(host, "r", await host.cursor("other"), 1)

    simulate(main)


@pytest.mark.parametrize("text", ["", "7", "h", "h:", ":", "h:-1", "h:x"])
def test_a_text_that_is_no_cursor_is_refused_as_such(text):
    with pytest.raises(ValueError, match=r"is not a cursor; use that of a receipt"):
        HistoryIds("h").resolve("r", text, 9)


def test_a_receipt_without_a_history_has_a_cursor_of_no_tree():
    with pytest.raises(OtherHistory):
        HistoryIds("h").resolve("r", Receipt("accepted", "l", 3).cursor, 9)
