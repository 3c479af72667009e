"""Trees on a store that several processes share: one owner at a time, and a replaced one changes nothing."""

import asyncio

import pytest

from antiphon import assign, create_machine, from_task
from antiphon.runtime.errors import NotOwner, NotRunning, RootExists, StoreError, UnknownRoot
from antiphon.stores.memory import MemoryStore
from antiphon.testing.simulation.directory import Assigned, Directory
from tests.fixtures.runtime import runtime, simulate

ADD = {"type": "ADD"}
ASK = {"type": "ASK"}


async def wait():
    await asyncio.get_running_loop().create_future()


machine = create_machine(
    {
        "id": "m",
        "initial": "idle",
        "context": {"n": 0, "failure": None},
        "on": {"ADD": {"actions": "add"}},
        "states": {
            "idle": {"on": {"ASK": "asking"}},
            "asking": {
                "invoke": {"src": "wait", "onError": {"target": "idle", "actions": "fail"}},
                "after": {1000: "idle"},
            },
        },
    },
    actions={
        "add": assign({"n": lambda context: context["n"] + 1}),
        "fail": assign({"failure": lambda context, event: event["error"]["code"]}),
    },
    actors={"wait": from_task(wait)},
)
asking = create_machine({"id": "asking", "invoke": {"src": "wait"}}, actors={"wait": from_task(wait)})
again = create_machine({"id": "again", "invoke": {"src": "wait"}}, actors={"wait": from_task(wait, safety="repeat")})


async def speak_and_wait(input, scope):
    scope.send_back(ADD, join="text")
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        return "done"  # noqa: B012 - a task that ignores that it was cancelled


speaking = create_machine(
    {
        "id": "speaking",
        "context": {"n": 0, "ends": []},
        "on": {"ADD": {"actions": "add"}},
        "invoke": {"src": "speak", "onDone": {"actions": "end"}, "onError": {"actions": "end"}},
    },
    actions={
        "add": assign({"n": lambda context: context["n"] + 1}),
        "end": assign({"ends": lambda context, event: [*context["ends"], event["type"].split(".")[1]]}),
    },
    actors={"speak": from_task(speak_and_wait)},
)


class Store(MemoryStore):
    """Store that pauses before or after a call of a name, until the test lets it continue."""

    commits_inline = False

    def __init__(self):
        super().__init__()
        self.before = {}
        self.after = {}

    async def load(self, root, seq=None):
        saved = await super().load(root, seq)
        await self._pause(self.after, "load")
        return saved

    async def outcome(self, root, letter):
        await self._pause(self.before, "outcome")
        return await super().outcome(root, letter)

    async def commit(self, commits, written=None):
        await self._pause(self.before, "commit")
        await super().commit(commits, written)
        await self._pause(self.after, "commit")

    async def _pause(self, pauses, name):
        pause = pauses.pop(name, None)
        if pause is not None:
            await pause()


class Owners:
    """Two runtimes, with the numbers 1 and 2 in the directory, on one store."""

    def __init__(self, store):
        self.store = store
        self.directory = Directory()
        self.views = [Assigned(self.directory, number) for number in (1, 2)]
        self.runtimes = [runtime(store, machine, asking, again, speaking, ownership=view) for view in self.views]

    async def move(self, root, number):
        """Make a process the owner of a tree, without telling the owner before."""
        tenure = self.directory.assign(root, number)
        self.views[number - 1].accept(root, tenure)
        await self.runtimes[number - 1].adopt(root, tenure)


def with_owners(test):
    """Run a test with two owners on one store."""

    def run():
        async def main():
            owners = Owners(Store())
            first, second = owners.runtimes
            async with first, second:
                await test(owners, first, second)

        simulate(main)

    run.__name__ = test.__name__
    return run


def loses_answer(run):
    async def pause():
        await run()
        raise StoreError("the answer is lost as the test requires")

    return pause


@with_owners
async def test_a_tree_that_another_process_owns_is_refused(owners, first, second):
    await first.create("m", root="r")

    calls = [second.send("r", ADD), second.post("r", ADD), second.snapshot("r"), second.release("r")]
    for call in (*calls, second.retry("r", "x"), second.discard("r", "x"), second.create("m", root="r")):
        with pytest.raises(NotOwner):
            await call


@with_owners
async def test_nothing_is_stored_for_a_tree_that_is_not_run_here(owners, first, second):
    await first.create("m", root="r")

    with pytest.raises(NotOwner):
        await second.trees.quarantine.quarantine("r", "no reason")


@with_owners
async def test_only_the_owner_of_a_tree_deletes_it_and_then_its_id_is_free_for_all(owners, first, second):
    await first.create("m", root="r")
    with pytest.raises(NotOwner):
        await second.delete("r")
    await first.delete("r")

    assert (owners.store.trees, first.ownership.tenure("r")) == ({}, None)
    await second.create("m", root="r")
    assert (await second.send("r", ADD)).status == "accepted"
    with pytest.raises(NotOwner):
        await first.send("r", ADD)


@with_owners
async def test_a_replaced_owner_cannot_delete_its_tree(owners, first, second):
    await first.create("m", root="r")
    await owners.move("r", 2)

    with pytest.raises(NotOwner):
        await first.delete("r")
    assert (await second.send("r", ADD)).status == "accepted"


@with_owners
async def test_a_tree_without_an_owner_is_adopted_by_the_first_letter(owners, first, second):
    await first.create("m", root="r")
    await first.send("r", ASK)
    await owners.views[0].release(["r"])
    receipts = await asyncio.gather(second.send("r", ADD), second.send("r", ADD))

    assert [receipt.status for receipt in receipts] == ["accepted", "accepted"]
    assert (await second.snapshot("r"))["context"] == {"n": 2, "failure": "interrupted"}


@with_owners
async def test_a_replaced_owner_learns_of_it_by_its_next_letter_and_keeps_nothing(owners, first, second):
    await first.create("m", root="r")
    await first.send("r", ASK)
    await owners.move("r", 2)
    assert first.tasks.running == 1

    with pytest.raises(NotOwner):
        await first.send("r", ADD)

    assert (first.trees.get("r"), first.tasks.running, first.ownership.tenure("r")) == (None, 0, None)
    assert (await second.snapshot("r"))["context"] == {"n": 0, "failure": "interrupted"}


@with_owners
async def test_a_replaced_owner_cannot_reject_a_letter(owners, first, second):
    await first.create("m", root="r")
    await first.send("r", ASK)
    await owners.move("r", 2)

    with pytest.raises(NotOwner):
        await first.send("r", ASK)
    assert (await second.send("r", ASK)).status == "accepted"


@with_owners
async def test_a_replaced_owner_cannot_post(owners, first, second):
    await first.create("m", root="r")
    await owners.move("r", 2)

    with pytest.raises(NotOwner):
        await first.post("r", ADD, id="p")
    assert await owners.store.outcome("r", "p") is None
    assert first.ownership.tenure("r") is None


@with_owners
async def test_a_letter_that_an_earlier_owner_posted_meanwhile_is_a_duplicate(owners, first, second):
    async def post():
        await first.post("r", ASK, id="p", delay_ms=1000)

    await first.create("m", root="r")
    owners.views[1].accept("r", owners.directory.assign("r", 2))
    owners.store.after["load"] = post

    assert (await second.send("r", ASK, id="p")).status == "duplicate"


@with_owners
async def test_a_step_that_is_stored_while_its_tree_is_adopted_is_seen(owners, first, second):
    async def ask():
        await first.send("r", ASK)

    await first.create("m", root="r")
    owners.store.after["load"] = ask
    await owners.move("r", 2)

    assert (await second.snapshot("r"))["context"]["failure"] == "interrupted"


@with_owners
async def test_nothing_of_an_earlier_owner_is_stored_after_an_adoption(owners, first, second):
    await first.create("m", root="r")
    await owners.move("r", 2)
    before = await owners.store.load("r")

    with pytest.raises(NotOwner):
        await first.send("r", ADD)
    assert await owners.store.load("r") == before


@with_owners
async def test_a_step_of_a_tree_that_is_lost_meanwhile_is_acknowledged_and_starts_no_task(owners, first, second):
    async def lose():
        owners.views[0].lose("r", 1)

    await first.create("m", root="r")
    owners.store.before["commit"] = lose

    assert (await first.send("r", ASK)).status == "accepted"
    assert first.tasks.running == 0
    assert first.trees.get("r") is None


@with_owners
async def test_a_tree_that_is_lost_while_it_is_created_starts_no_task(owners, first, second):
    async def lose():
        owners.views[0].lose("r", 1)

    owners.store.before["commit"] = lose
    await first.create("asking", root="r")

    assert (first.tasks.running, first.trees.get("r")) == (0, None)


@with_owners
async def test_tasks_of_a_lost_tree_are_cancelled_also_if_it_is_not_in_memory(owners, first, second):
    await first.create("m", root="r")
    await first.send("r", ASK)
    first.trees.discard("r")
    owners.views[0].lose("r", 1)

    assert first.tasks.running == 0


@with_owners
async def test_a_tree_that_is_lost_while_it_is_loaded_is_not_kept(owners, first, second):
    async def lose():
        owners.views[0].lose("r", 1)

    await first.create("m", root="r")
    first.trees.discard("r")
    owners.store.after["load"] = lose

    with pytest.raises(NotOwner):
        await first.snapshot("r")
    assert first.trees.get("r") is None


@with_owners
async def test_a_replaced_owner_keeps_nothing_of_a_tree_that_it_cannot_set_aside(owners, first, second):
    await first.create("m", root="r")
    await owners.move("r", 2)

    with pytest.raises(NotOwner):
        await first.trees.quarantine.quarantine("r", "no reason")
    assert (first.trees.get("r"), first.ownership.tenure("r")) == (None, None)


@with_owners
async def test_a_tree_that_is_loaded_while_it_is_adopted_is_loaded_again(owners, first, second):
    async def load_and_change():
        await second.trees.load("r")
        await first.send("r", ASK)

    await first.create("m", root="r")
    owners.store.after["load"] = load_and_change
    await owners.move("r", 2)

    assert (await second.snapshot("r"))["context"]["failure"] == "interrupted"


@with_owners
async def test_a_tree_is_adopted_once_in_a_tenure(owners, first, second):
    await first.create("again", root="r")
    await owners.views[0].release(["r"])
    await asyncio.gather(*(second.send("r", ADD, id=id) for id in "abc"))
    await second.adopt("r", 2)

    assert [task.attempt for task in (await owners.store.load("r")).tasks] == [2]


@with_owners
async def test_a_tree_that_is_lost_while_its_task_is_restarted_runs_no_task(owners, first, second):
    async def lose():
        owners.views[1].lose("r", 2)

    async def lose_at_the_next_commit():
        owners.store.before["commit"] = lose

    await first.create("again", root="r")
    owners.store.before["commit"] = lose_at_the_next_commit
    await owners.move("r", 2)

    assert [task.attempt for task in (await owners.store.load("r")).tasks] == [2]
    assert second.tasks.running == 0


@with_owners
async def test_letters_wait_for_an_adoption_and_then_take_their_turn(owners, first, second):
    async def send():
        sends.append(asyncio.create_task(second.send("r", ADD, id="late")))
        await asyncio.sleep(0.1)

    sends = []
    await first.create("m", root="r")
    await first.send("r", ASK)
    await first.post("r", ADD, id="early", delay_ms=100)
    owners.views[0].lose("r", 1)
    await asyncio.sleep(0.2)
    owners.store.after["load"] = send
    await owners.move("r", 2)
    await sends[0]

    letters = [entry.letter for entry in await owners.store.entries("r") if entry.event == ADD]
    assert letters == ["early", "late"]


@with_owners
async def test_an_overdue_timer_is_taken_after_the_end_of_the_task_that_it_guards(owners, first, second):
    await first.create("m", root="r")
    await first.send("r", ASK)
    owners.views[0].lose("r", 1)
    await asyncio.sleep(5)
    await owners.move("r", 2)
    await asyncio.sleep(1)

    assert (await second.snapshot("r"))["context"]["failure"] == "interrupted"


@with_owners
async def test_readers_get_a_step_that_the_owner_before_stored_during_an_adoption(owners, first, second):
    async def read():
        async for entry in second.feed("r"):
            entries.append(entry.seq)

    async def add():
        await asyncio.sleep(0.1)
        await first.send("r", ADD)

    entries = []
    await first.create("m", root="r")
    reading = asyncio.create_task(read())
    owners.store.after["load"] = add
    await owners.move("r", 2)
    await asyncio.sleep(1)
    reading.cancel()

    assert entries == [1, 2]


@with_owners
async def test_readers_get_a_step_that_was_stored_while_its_tree_was_lost(owners, first, second):
    async def read():
        async for entry in first.feed("r"):
            entries.append(entry.seq)

    async def lose():
        await asyncio.sleep(0.1)
        owners.views[0].lose("r", 1)
        await asyncio.sleep(0.1)

    entries = []
    await first.create("m", root="r")
    reading = asyncio.create_task(read())
    owners.store.before["commit"] = lose
    await first.send("r", ADD)
    await asyncio.sleep(1)
    reading.cancel()

    assert entries == [1, 2]


@with_owners
async def test_a_letter_that_waits_for_an_occupied_tree_is_taken_before_the_runtime_stops(owners, first, second):
    async def hold():
        async with first.loop.exclusively("r"):
            await asyncio.sleep(1)

    await first.create("m", root="r")
    first._calls.start(hold())
    await asyncio.sleep(0.1)
    sending = asyncio.create_task(first.send("r", ADD))
    await asyncio.sleep(0.1)
    await first.stop()

    assert (await sending).status == "accepted"


@with_owners
async def test_a_tree_that_is_discarded_while_it_is_loaded_is_loaded_again(owners, first, second):
    async def change():
        await second.send("r", ADD)
        owners.views[0].accept("r", owners.directory.assign("r", 1))
        first.trees.discard("r")

    await first.create("m", root="r")
    await owners.views[0].release(["r"])
    owners.views[0].accept("r", 1)
    first.trees.discard("r")
    owners.store.after["load"] = change

    assert (await first.snapshot("r"))["context"]["n"] == 1


@with_owners
async def test_a_lost_answer_is_found_out_if_one_of_the_trees_has_another_owner_meanwhile(owners, first, second):
    for root in ("r", "s"):
        await first.create("m", root=root)
    owners.store.after["commit"] = loses_answer(lambda: owners.move("r", 2))
    sends = [first.send(root, ASK, id=f"ask {root}") for root in ("r", "s")]
    receipts = await asyncio.gather(*sends, return_exceptions=True)

    assert receipts[1].status == "accepted"
    saved = await owners.store.load("s")
    assert [first.tasks.is_running(task.id) for task in saved.tasks] == [True]


@with_owners
async def test_a_tree_that_a_replaced_owner_creates_late_is_adopted_by_the_next_who_creates_it(owners, first, second):
    async def move():
        with pytest.raises(UnknownRoot):
            await owners.move("r", 2)

    owners.store.before["commit"] = move
    await first.create("asking", root="r")
    with pytest.raises(RootExists):
        await second.create("asking", root="r")

    saved = await owners.store.load("r")
    assert (saved.status, saved.tasks) == ("error", ())


@with_owners
async def test_a_fork_is_owned_by_the_process_that_makes_it(owners, first, second):
    await first.create("m", root="r")
    await second.fork("r", 1, new="f")

    assert (owners.directory.owner("f").process, (await second.send("f", ADD)).seq) == (2, 2)


@with_owners
async def test_a_tree_that_comes_back_is_read_without_a_gap(owners, first, second):
    async def read():
        async for entry in first.feed("r"):
            entries.append(entry.seq)

    entries = []
    await first.create("m", root="r")
    reading = asyncio.create_task(read())
    await first.send("r", ADD)
    await owners.move("r", 2)
    await second.send("r", ADD)
    await owners.move("r", 1)
    await first.send("r", ADD)
    await asyncio.sleep(1)
    reading.cancel()

    assert entries == [1, 2, 3, 4]


@with_owners
async def test_a_tree_that_comes_back_to_an_owner_which_never_knew_that_it_was_gone_runs_no_old_task(
    owners, first, second
):
    await first.create("m", root="r")
    await first.send("r", ASK)
    await owners.move("r", 2)
    await owners.move("r", 1)

    assert first.tasks.running == 0
    assert (await first.snapshot("r"))["value"] == "idle"


@with_owners
async def test_nothing_that_a_task_of_an_earlier_tenure_sends_or_returns_is_taken(owners, first, second):
    async def wait_until_sent():
        await asyncio.sleep(0.2)

    await first.create("speaking", root="r")
    owners.store.after["load"] = wait_until_sent
    await owners.move("r", 1)
    await asyncio.sleep(1)

    assert (await first.snapshot("r"))["context"] == {"n": 0, "ends": ["error"]}


@with_owners
async def test_a_process_that_is_adopting_a_tree_can_be_stopped(owners, first, second):
    await first.create("m", root="r")
    await first.send("r", ASK)
    first.tasks.cancel_all("r")
    stops = []

    async def stop():
        stops.append(asyncio.create_task(second.stop(0.0)))
        await asyncio.sleep(1)

    owners.store.after["commit"] = stop
    await asyncio.gather(owners.move("r", 2), return_exceptions=True)
    await asyncio.wait_for(stops[0], 10)


@pytest.mark.parametrize("rounds", range(40))
def test_a_letter_that_adopts_its_tree_has_an_answer_when_the_runtime_is_stopped(rounds):
    @with_owners
    async def stop_after_some_rounds(owners, first, second):
        await first.create("m", root="r")
        await owners.views[0].release(["r"])
        owners.store.before["outcome"] = lambda: asyncio.sleep(1)
        sending = asyncio.create_task(second.send("r", ADD, id="a"))
        for _ in range(rounds):
            await asyncio.sleep(0)
        await second.stop()
        await asyncio.wait([sending], timeout=2)

        assert isinstance(sending.exception(), NotRunning | None)

    stop_after_some_rounds()
