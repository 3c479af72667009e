"""Backups to one name do not disturb each other, and none is overwritten."""

import threading

import pytest

from antiphon.runtime.errors import StoreError
from antiphon.stores import maintenance
from antiphon.stores.access import atomic_file
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_samples import first_commit
from tests.stores.open_store import use


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "store.db"
    use(SqliteStore(path), lambda store: store.commit([first_commit("a", snapshot="x" * 100_000)]))
    return path


def test_of_two_backups_to_one_name_at_once_the_first_to_finish_gets_it(path, tmp_path, monkeypatch):
    """The second begins in the middle of the first and ends before it."""
    monkeypatch.setattr(maintenance, "BACKUP_PAGES", 1)
    target = tmp_path / "copy.db"
    others = []

    def interrupt(done, total):
        if not others:
            others.append(maintenance.backup(path, target, lambda done, total: None))

    with pytest.raises(StoreError, match=r"copy\.db: file exists; not overwritten"):
        maintenance.backup(path, target, interrupt)

    assert [target.stat().st_size] == others
    assert [tree.root for tree in use(SqliteStore(target), lambda store: store.roots())] == ["a"]
    assert [file.name for file in tmp_path.iterdir() if file.name.endswith(".part")] == []


def test_many_backups_to_one_name_make_one_file_and_fail_only_because_of_it(path, tmp_path):
    outcomes = []
    barrier = threading.Barrier(6)

    def copy():
        barrier.wait()
        try:
            outcomes.append(maintenance.backup(path, tmp_path / "copy.db", lambda done, total: None))
        except StoreError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=copy) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    refused = [outcome for outcome in outcomes if outcome == f"{tmp_path / 'copy.db'}: file exists; not overwritten"]
    assert (len(outcomes), len(refused)) == (6, 5)
    assert [file.name for file in tmp_path.iterdir() if ".part" in file.name] == []


def test_a_file_that_appears_while_another_is_written_is_not_overwritten(tmp_path):
    target = tmp_path / "export.jsonl"

    def write():
        with atomic_file(target) as part:
            part.write_text("new")
            target.write_text("precious")

    with pytest.raises(StoreError, match="file exists; not overwritten"):
        write()
    assert target.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_system_without_links_gets_the_file_by_renaming(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise PermissionError("no links here")

    monkeypatch.setattr("antiphon.stores.access.os.link", refuse)
    with atomic_file(tmp_path / "export.jsonl") as part:
        part.write_text("new")

    assert (tmp_path / "export.jsonl").read_text() == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["export.jsonl"]
