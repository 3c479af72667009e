"""A store that was restored or imported gives its tasks keys that no other past has given."""

import asyncio
import shutil
import sqlite3

import pytest

from antiphon import OtherHistory, Runtime, SqliteStore, assign, create_machine, from_task
from antiphon.runtime.histories import HistoryIds
from antiphon.stores import archive, maintenance
from antiphon.testing.contracts.store_samples import first_commit, steps, task
from antiphon.testing.laws import broken_laws
from tests.stores.old_files import old_file
from tests.stores.open_store import use


def ignore_progress(done, total):
    """Show no progress."""


class Bank:
    """Bank that honours idempotency keys: a key that comes again gets the answer of its first time."""

    def __init__(self):
        self.charges = {}

    def machine(self):
        """Machine of a customer that pays one amount after the other."""

        async def charge(input, scope):
            return self.charges.setdefault(scope.key, input)

        return create_machine(
            {
                "id": "customer",
                "initial": "idle",
                "context": {"paid": []},
                "states": {
                    "idle": {"on": {"PAY": "paying"}},
                    "paying": {
                        "invoke": {
                            "src": "charge",
                            "input": lambda context, event: event["amount"],
                            "onDone": {"target": "idle", "actions": "note"},
                        }
                    },
                },
            },
            actors={"charge": from_task(charge)},
            actions={"note": assign({"paid": lambda context, event: [*context["paid"], event["output"]]})},
        )

    def pay(self, path, *amounts):
        """Open a store, pay some amounts, and return all amounts that its customer believes to have paid."""

        async def main():
            store = SqliteStore(path)
            async with Runtime(store, [self.machine()]) as host:
                if not await store.roots():
                    await host.create("customer", root="c")
                for amount in amounts:
                    receipt = await host.send("c", {"type": "PAY", "amount": amount})
                    async for entry in host.feed("c", receipt.cursor):
                        if entry.value == "idle":
                            break
                assert await broken_laws(host, store) == []
                return (await host.snapshot("c"))["context"]["paid"]

        return asyncio.run(main())


def copy_back(path, backup):
    """Restore a backup by hand, as the manual says."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    shutil.copy(backup, path)


def restore(path, backup):
    """Restore a backup by the command."""
    maintenance.restore(path, backup, ignore_progress, replace=True)


def import_export(path, backup):
    """Import the export of a backup into a new file."""
    path.unlink()
    archive.restore(path, archive.export(backup, ignore_progress), ignore_progress)


@pytest.mark.parametrize("bring_back", [copy_back, restore, import_export])
def test_a_bank_charges_what_is_paid_after_a_backup_was_brought_back(tmp_path, bring_back):
    path = tmp_path / "store.db"
    bank = Bank()
    bank.pay(path, 1, 2)
    maintenance.backup(path, tmp_path / "backup.db", ignore_progress)

    assert bank.pay(path, 100, 200, 300) == [1, 2, 100, 200, 300]
    bring_back(path, tmp_path / "backup.db")
    assert bank.pay(path, 7000, 8000, 9000) == [1, 2, 7000, 8000, 9000]
    assert bank.pay(path, 10) == [1, 2, 7000, 8000, 9000, 10]
    bring_back(path, tmp_path / "backup.db")
    assert bank.pay(path, 70) == [1, 2, 70]
    assert sorted(bank.charges.values()) == sorted([1, 2, 100, 200, 300, 7000, 8000, 9000, 10, 70])


def test_a_backup_does_not_change_the_store_that_it_copies(tmp_path):
    path = tmp_path / "store.db"
    bank = Bank()
    bank.pay(path, 1)
    before = use(SqliteStore(path), lambda store: store.history("c"))
    maintenance.backup(path, tmp_path / "backup.db", ignore_progress)

    assert bank.pay(path) == [1]
    assert use(SqliteStore(path), lambda store: store.history("c")) == before


# -- the copy ------------------------------------------------------------------------------------------------------


@pytest.fixture
def backup(tmp_path):
    """A backup of a store with two trees, one of which runs a task."""

    async def fill(store):
        await store.commit([first_commit("a", tasks=(task("a", "i-a/1/0"),)), first_commit("b")])
        await store.commit([steps("a", 1, 3)])

    use(SqliteStore(tmp_path / "store.db"), fill)
    maintenance.backup(tmp_path / "store.db", tmp_path / "backup.db", ignore_progress)
    return tmp_path / "backup.db"


def histories(path, **options):
    """The stored histories of the two trees."""

    async def read(store):
        return [(await store.history(root))[0] for root in ("a", "b")]

    return use(SqliteStore(path, **options), read)


def test_a_copy_begins_new_histories_when_it_is_first_opened_and_never_again(backup):
    first = histories(backup)
    ids = [HistoryIds(stored) for stored in first]

    assert [id.at(seq) for id, seq in zip(ids, (4, 1), strict=True)] == ["i-a", "i-b"]
    assert all(id.current.startswith(f"{name}.") for id, name in zip(ids, ("i-a", "i-b"), strict=True))
    assert histories(backup) == first


def test_two_uses_of_one_copy_have_different_histories(backup, tmp_path):
    shutil.copy(backup, tmp_path / "second.db")

    assert not {*histories(backup)} & {*histories(tmp_path / "second.db")}


def test_a_copy_that_is_only_read_stays_as_it_is(backup):
    assert histories(backup, read_only=True) == ["i-a", "i-b"]
    assert maintenance.stats(backup).trees == 2
    assert histories(backup, read_only=True) == ["i-a", "i-b"]
    assert histories(backup) != ["i-a", "i-b"]


def test_a_task_that_ran_keeps_its_key_in_the_copy(backup):
    tasks = use(SqliteStore(backup), lambda store: store.running_tasks())

    assert [task.id for task in tasks] == ["i-a/1/0"]


def test_a_copy_of_a_copy_is_one_too(backup, tmp_path):
    maintenance.backup(backup, tmp_path / "second.db", ignore_progress)

    assert histories(tmp_path / "second.db") != ["i-a", "i-b"]


def test_a_copy_of_a_file_of_an_earlier_version_is_one_too(tmp_path):
    maintenance.backup(old_file(tmp_path / "old.db"), tmp_path / "copy.db", ignore_progress)
    history, seq = use(SqliteStore(tmp_path / "copy.db"), lambda store: store.history("a"))

    assert (HistoryIds(history).at(seq), HistoryIds(history).at(seq + 1) != "i1") == ("i1", True)


def test_an_opening_that_fails_leaves_the_copy_as_it_was(backup, monkeypatch):
    def fail(store, query):
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "_boot", fail)
        with pytest.raises(Exception, match="disk I/O error"):
            histories(backup)

    assert histories(backup, read_only=True) == ["i-a", "i-b"]
    assert [stored.count("@") for stored in histories(backup)] == [1, 1]


def test_a_reader_with_a_cursor_of_the_lost_past_is_told(tmp_path):
    path = tmp_path / "store.db"
    bank = Bank()

    async def cursor():
        async with Runtime(SqliteStore(path), [bank.machine()]) as host:
            return await host.cursor("c")

    async def read(after):
        async with Runtime(SqliteStore(path), [bank.machine()]) as host:
            return (await anext(host.feed("c", after))).seq

    bank.pay(path, 1)
    shared = asyncio.run(cursor())
    maintenance.backup(path, tmp_path / "backup.db", ignore_progress)
    bank.pay(path, 100)
    lost = asyncio.run(cursor())
    restore(path, tmp_path / "backup.db")
    bank.pay(path, 7000, 8000)

    assert asyncio.run(read(shared)) == 4
    with pytest.raises(OtherHistory, match=f"the cursor '{lost}' belongs to another past of 'c'"):
        asyncio.run(read(lost))


# -- import --------------------------------------------------------------------------------------------------------


def test_an_import_gives_each_tree_a_new_history_and_tasks_keep_their_keys(backup, tmp_path):
    lines = list(archive.export(backup, ignore_progress))
    stored = []
    for name in ("one.db", "two.db"):
        archive.restore(tmp_path / name, lines, ignore_progress)
        stored += histories(tmp_path / name)
        tasks = use(SqliteStore(tmp_path / name), lambda store: store.running_tasks())
        assert [task.id for task in tasks] == ["i-a/1/0"]

    assert [HistoryIds(history).at(1) for history in stored] == ["i-a", "i-b"] * 2
    assert len({HistoryIds(history).current for history in stored} | {"i-a", "i-b"}) == 6


def test_an_export_whose_history_is_no_text_is_refused(backup, tmp_path):
    lines = [line.replace('"history":"i-b"', '"history":7') for line in archive.export(backup, ignore_progress)]

    with pytest.raises(Exception, match="the history of 'b' is not a text"):
        archive.restore(tmp_path / "one.db", lines, ignore_progress)
