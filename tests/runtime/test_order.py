"""Letters are taken by due time and arrival; no send overtakes an earlier post; trees wait their turn."""

import asyncio
from random import Random

import pytest

from antiphon import assign, create_machine, from_callback, from_task
from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.loop import BATCH_LETTERS
from antiphon.runtime.records import Letter
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import crash, runtime, simulate

notebook = create_machine(
    {"id": "notebook", "context": {"notes": []}, "on": {"NOTE": {"actions": "note"}}},
    actions={"note": assign({"notes": lambda context, event: [*context["notes"], event["n"]]})},
)


def note(n):
    return {"type": "NOTE", "n": n}


async def notes_of(host, root):
    return (await host.snapshot(root))["context"]["notes"]


@pytest.mark.parametrize("loaded", [True, False])
def test_no_send_overtakes_an_acknowledged_post(loaded):
    async def main():
        store = MemoryStore()
        async with runtime(store, notebook) as host:
            root = await host.create("notebook")
            for n in range(0, 20, 2):
                await host.post(root, note(n))
                if not loaded:
                    host.trees.discard(root)
                assert (await host.send(root, note(n + 1))).status == "accepted"
            assert await notes_of(host, root) == list(range(20))

    simulate(main)


def test_letters_of_several_turns_are_taken_once_and_in_order():
    async def main():
        async with runtime(MemoryStore(), notebook) as host:
            root = await host.create("notebook")
            await asyncio.gather(*(host.send(root, note(n)) for n in range(3 * BATCH_LETTERS)))
            assert await notes_of(host, root) == list(range(3 * BATCH_LETTERS))

    simulate(main)


def test_posts_are_taken_in_the_order_in_which_they_arrived_whatever_their_ids():
    async def main():
        store = MemoryStore()
        first = await runtime(store, notebook).start()
        root = await first.create("notebook")
        names = [f"{name:03}" for name in range(30)]
        Random(5).shuffle(names)
        for n, name in enumerate(names):
            await first.post(root, note(n), id=name, delay_ms=1)
        crash(first)
        async with runtime(store, notebook) as host:
            await asyncio.sleep(1)
            assert await notes_of(host, root) == list(range(30))

    simulate(main)


def test_a_letter_that_is_due_earlier_is_taken_first_after_a_restart():
    async def main():
        store = MemoryStore()
        first = await runtime(store, notebook).start()
        root = await first.create("notebook")
        for n in (3, 1, 2):
            await first.post(root, note(n), delay_ms=n * 100)
        crash(first)
        await asyncio.sleep(10)
        async with runtime(store, notebook) as host:
            await host.send(root, note(4))
            assert await notes_of(host, root) == [1, 2, 3, 4]

    simulate(main)


def test_overdue_timers_of_many_trees_do_not_delay_a_letter_of_another():
    """A fresh letter is in one of the first commits, not in the last."""

    async def main():
        store = MemoryStore()
        first = await runtime(store, notebook).start()
        roots = [await first.create("notebook") for _ in range(500)]
        for root in roots:
            await first.post(root, note(0), delay_ms=100)
        fresh = await first.create("notebook")
        crash(first)
        await asyncio.sleep(10)
        async with runtime(store, notebook) as host:
            await host.send(fresh, note(1))
            waiting = sum(bool(store.trees[root].letters) for root in roots)
            assert waiting > 300

    simulate(main)


def test_events_of_a_task_arrive_one_by_one_unless_a_stream_of_text_joins_them():
    def speak(input, scope):
        for word in ("alpha", "beta", "gamma"):
            scope.send_back({"type": "NOTE", "n": word, "text": word})
        for word in ("a", "b", "c"):
            scope.send_back({"type": "NOTE", "n": word}, join="n")
        scope.send_back({"type": "NOTE", "n": "d"})

    async def main():
        machine = create_machine(
            {**notebook.config, "invoke": {"src": "speak"}},
            actions={"note": assign({"notes": lambda context, event: [*context["notes"], event["n"]]})},
            actors={"speak": from_callback(speak)},
        )
        async with runtime(MemoryStore(), machine) as host:
            root = await host.create("notebook")
            await asyncio.sleep(1)
            assert await notes_of(host, root) == ["alpha", "beta", "gamma", "abc", "d"]

    simulate(main)


def test_what_ran_is_interrupted_when_the_start_returns():
    async def forever():
        await asyncio.get_running_loop().create_future()

    async def main():
        machine = create_machine(
            {
                "id": "m",
                "initial": "running",
                "states": {"running": {"invoke": {"src": "work", "onError": "interrupted"}}, "interrupted": {}},
            },
            actors={"work": from_task(forever)},
        )
        store = MemoryStore()
        first = await runtime(store, machine).start()
        roots = [await first.create("m") for _ in range(50)]
        crash(first)
        async with runtime(store, machine) as host:
            assert {(await host.snapshot(root))["value"] for root in roots} == {"interrupted"}

    simulate(main)


def test_a_post_to_an_unknown_tree_is_refused():
    async def main():
        async with runtime(MemoryStore(), notebook) as host:
            with pytest.raises(UnknownRoot):
                await host.post("nobody", note(1))

    simulate(main)


class Death(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("timer", [False, True])
def test_a_letter_that_ends_the_process_is_set_aside_after_three_starts(timer):
    deaths = []

    def die(context, event):
        deaths.append(event["type"])
        raise Death

    chart = {
        "id": "m",
        "context": {"n": 0},
        "on": {"DIE": {"actions": "die"}, "ADD": {"actions": "add"}},
    }
    machine = create_machine(
        chart, actions={"die": assign(die), "add": assign({"n": lambda context: context["n"] + 1})}
    )

    async def start(store):
        """Start a process; return None if it dies."""
        host = runtime(store, machine)
        unclean = store._unclean
        starting = asyncio.create_task(host.start())
        await asyncio.wait([starting], timeout=5)
        await asyncio.sleep(1)
        if host.loop.failure is None:
            return await starting
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        store._unclean = unclean + 1
        return None

    async def main():
        store = MemoryStore()
        first = await runtime(store, machine).start()
        root = await first.create("m")
        well = await first.create("m")
        event = {"type": "DIE"}
        if timer:
            letter = Letter("t1", root, event, first.now(), first.now() + 100, timer="t1")
            await store.post([letter])
        else:
            await first.post(root, event, id="deadly", delay_ms=100)
        await first.post(root, {"type": "ADD"}, id="after", delay_ms=200)
        await first.post(well, {"type": "ADD"}, id="other", delay_ms=200)
        crash(first)
        starts = 0
        while (host := await start(store)) is None:
            starts += 1
            assert starts < 5
        assert starts == len(deaths) == 3
        await asyncio.sleep(1)
        assert (await host.outcome(well, "other")).status == "accepted"
        if timer:
            assert store.trees[root].status == "quarantined"
        else:
            assert (await host.outcome(root, "after")).status == "accepted"
            outcome = await host.outcome(root, "deadly")
            assert outcome.status == "failed"
            assert "the process ended 3 times" in outcome.error
        await host.stop()

    simulate(main)
