"""`antiphon db` looks after a store's file: it says what is wrong, copies it while it is in use, and loses nothing."""

import asyncio
import io
import json
import re
import sqlite3
from datetime import date
from enum import Enum

import pytest

from antiphon import register_codec
from antiphon.chart import codecs
from antiphon.cli.db.command import NO_PERMISSIONS
from antiphon.cli.main import main
from antiphon.paths import store_path
from antiphon.runtime.errors import StoreError, Undecodable
from antiphon.runtime.records import Commit
from antiphon.stores import maintenance
from antiphon.stores.checks import check
from antiphon.stores.files import PAGE_SIZE
from antiphon.stores.queries import load_migrations
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_contents
from antiphon.testing.contracts.store_samples import VALUES, first_commit, letter, make_origin, step, steps, task
from tests.fixtures.command import parser_of, subparsers
from tests.paths import DOCS
from tests.stores import kept
from tests.stores.old_files import old_file
from tests.stores.open_store import use
from tests.stores.processes import owner, run_script

NEWEST = load_migrations("sqlite")[-1][0]
BAD = (letter("a", "bad", event={"type": "BAD"}), "ValueError: no\x1b[2J")


@register_codec
class Coin(Enum):
    EURO = 1


def stored(path, *calls):
    """A store that was given some commits."""

    async def fill():
        store = SqliteStore(path)
        await store.open()
        for commits in calls:
            await store.commit(commits)
        await store.close()

    asyncio.run(fill())
    return path


def held(path):
    """Everything a store on a file shows."""
    return use(SqliteStore(path, read_only=True), read_contents)


@pytest.fixture
def path(tmp_path):
    """A store with some of everything."""
    return stored(
        tmp_path / "store.db",
        [
            first_commit("a", letters=(letter("a", "l1"),), tasks=(task("a", "t1"), task("a", "t2"))),
            first_commit("é", origin=make_origin(input=VALUES, version=[1, None])),
        ],
        [steps("a", 1, 3, ended=("t1",), snapshot={"text": "日本", "half": "\ud83e"})],
        [Commit("a", 4, 99, "quarantined", entries=(step("a", 5, "l0"),), dead=(BAD,))],
    )


@pytest.fixture
def db(path, capsys):
    """The command on that store: gives its exit code and what it says on both outputs."""

    def run(*arguments, store=path):
        code = main(["db", "--store", str(store), *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def change(path, statement):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


# -- stats and dead ------------------------------------------------------------------------------------------------


def test_stats_counts_everything(db, path):
    code, out, _ = db("stats", "--json")
    found = json.loads(out)

    assert code == 0
    assert found["trees"] == 2
    assert found["statuses"] == {"active": 1, "quarantined": 1}
    assert found["machines"] == {"toggle": 2}
    assert (found["steps"], found["letters"], found["first_due"], found["dead_letters"]) == (6, 1, 100, 1)
    assert found["tasks"] == 1
    assert (found["oldest"], found["latest"], found["longest"]["a"]) == (10, 99, 5)
    assert (found["file_bytes"], found["log_bytes"], found["owner"]) == (path.stat().st_size, 0, None)


def test_stats_are_for_people_unless_asked_otherwise(db):
    code, out, _ = db("stats")

    assert code == 0
    assert "trees     2: active 1, quarantined 1" in out.splitlines()
    assert "tasks     1 running" in out.splitlines()


def test_stats_of_a_store_in_use_name_its_owner_and_its_log(db, tmp_path):
    with owner(tmp_path / "other.db") as other:
        other.store("a")
        found = json.loads(db("stats", "--json", store=tmp_path / "other.db")[1])

    assert (found["owner"], found["trees"]) == (other.pid, 1)
    assert found["log_bytes"] > 0


def test_dead_lists_letters_with_their_reasons_harmlessly(db):
    code, out, _ = db("dead")

    assert code == 0
    assert "a  bad  BAD\n    ValueError: no [2J" in out


def test_dead_gives_the_whole_letter_as_json(db):
    (found,) = json.loads(db("dead", "--json")[1])

    assert (found["error"], found["at"]) == (BAD[1], 99)
    assert found["letter"]["event"] == {"type": "BAD"}


def test_dead_can_be_asked_of_one_tree(db):
    assert db("dead", "--root", "nobody") == (0, "no dead letters\n", "")


# -- check ---------------------------------------------------------------------------------------------------------


def test_check_finds_nothing_in_a_sound_store(db):
    assert db("check") == (0, "no problems found\n", "")


def test_check_works_while_the_store_is_in_use(db, tmp_path):
    with owner(tmp_path / "other.db") as other:
        other.store("a")

        assert db("check", store=tmp_path / "other.db")[0] == 0


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("delete from entry where seq = 3", "'a': it is at step 5, its journal has 4 and ends at 5"),
        ("delete from entry where seq = 5", "'a': it is at step 5, its journal has 4 and ends at 4"),
        ("update actor set seq = 7 where id = 'a'", "'a': it is at step 7, its journal has 5 and ends at 5"),
        ("update snapshot set seq = 9", "'a': it is at step 5, its snapshot at 9"),
        ("update snapshot set seq = 0", "'a': it is at step 5, its snapshot at 0"),
        ("update snapshot set body = '{\"te'", "'a': the snapshot of 'a' at step 4 is damaged"),
        ("update entry set body = '{}' where seq = 2", "'a': step 2 of 'a' is damaged: it has no event"),
        ("update letter set body = 'x'", "'a': letter 'l1' to 'a' is damaged"),
        ("update task set input = 'x'", "'a': task 't2' of 'a' is damaged"),
        ("update letter set id = 'l0'", "'a': letter 'l0' waits although it was applied"),
        ("delete from actor where id <> 'a'", "a row of 'entry' belongs to no row of 'actor'"),
        ("delete from actor where id = 'a'", "a row of 'snapshot' belongs to no row of 'actor'"),
        ("delete from meta", "the number of its last boot is missing"),
    ],
)
def test_check_finds(db, path, statement, finding):
    change(path, statement)
    code, out, _ = db("check")

    assert code == 1
    assert finding in out


def test_check_says_what_it_finds_as_json(db, path):
    change(path, "update actor set seq = 7 where id = 'a'")
    code, out, _ = db("check", "--json")

    assert code == 1
    assert json.loads(out) == [{"root": "a", "what": "it is at step 7, its journal has 5 and ends at 5"}]


def test_check_finds_every_page_of_rubbish(db, path):
    whole = path.read_bytes()
    for page in range(len(whole) // PAGE_SIZE):
        spoiled = bytearray(whole)
        spoiled[page * PAGE_SIZE : (page + 1) * PAGE_SIZE] = b"\xff" * PAGE_SIZE
        path.write_bytes(spoiled)
        code, out, _ = db("check")

        assert code == 1, page
        assert out != "", page


# -- migrate and vacuum --------------------------------------------------------------------------------------------


def test_migrate_says_when_there_is_nothing_to_do(db):
    assert db("migrate") == (0, f"schema {NEWEST}: up to date\n", "")


def test_migrate_brings_an_old_file_up_to_date(db, tmp_path):
    old = old_file(tmp_path / "old.db")

    assert db("stats", store=old)[0] == 1
    assert db("migrate", store=old) == (0, f"schema 1 → {NEWEST}\n", "")
    assert db("stats", store=old)[0] == 0


def test_vacuum_gives_space_back_and_keeps_everything(db, path):
    stored(path, [first_commit("z", snapshot="x" * 500_000)])
    stored(path, [steps("z", 1, snapshot="small")])
    before = held(path)
    code, out, _ = db("vacuum", "--json")
    sizes = json.loads(out)

    assert code == 0
    assert sizes["after"] < sizes["before"] - 400_000
    assert held(path) == before


@pytest.mark.parametrize("command", [["migrate"], ["vacuum"], ["import", "-"]])
def test_commands_that_write_refuse_a_store_in_use(db, tmp_path, command):
    with owner(tmp_path / "other.db") as other:
        code, _, err = db(*command, store=tmp_path / "other.db")

    assert code == 1
    assert f"in use by process {other.pid}" in err


# -- backup --------------------------------------------------------------------------------------------------------


def test_a_backup_has_everything(db, path, tmp_path):
    code, _, _ = db("backup", tmp_path / "copy.db")

    assert code == 0
    assert held(tmp_path / "copy.db") == held(path)
    assert not (tmp_path / "copy.db.part").exists()


# Moves two trees on together, as fast as it can.
WRITER = """
async def main():
    store = SqliteStore(path, durability="normal")
    await store.open()
    await store.commit([first_commit("a", snapshot="x" * 300_000), first_commit("b")])
    for n in range(1, 1_000_000):
        await store.commit([steps("a", n), steps("b", n)])
        if n == 20:
            say("under way")

asyncio.run(main())
"""


def test_a_backup_taken_while_another_process_writes_is_of_one_moment(db, tmp_path, monkeypatch):
    monkeypatch.setattr(maintenance, "BACKUP_PAGES", 8)
    with run_script(WRITER, tmp_path / "live.db") as writer:
        assert writer.stdout.readline() == '["under way"]\n'
        code, _, err = db("backup", tmp_path / "copy.db", store=tmp_path / "live.db")

    assert (code, err) == (0, "")
    trees = held(tmp_path / "copy.db")[2]
    assert trees[0].seq == trees[1].seq > 20
    assert db("check", store=tmp_path / "copy.db")[0] == 0


def test_a_backup_overwrites_nothing(db, tmp_path):
    (tmp_path / "copy.db").write_text("precious")
    code, _, err = db("backup", tmp_path / "copy.db")

    assert code == 2
    assert "not overwritten" in err
    assert (tmp_path / "copy.db").read_text() == "precious"


def test_a_backup_of_a_damaged_store_is_not_kept(db, path, tmp_path):
    spoiled = bytearray(path.read_bytes())
    spoiled[-PAGE_SIZE:] = b"\xff" * PAGE_SIZE
    path.write_bytes(spoiled)
    code, _, err = db("backup", tmp_path / "copy.db")

    assert code == 1
    assert "`antiphon db check`" in err
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("copy")] == []


def test_a_backup_goes_where_there_is_a_folder(db, tmp_path):
    code, _, err = db("backup", tmp_path / "deep" / "copy.db")

    assert code == 1
    assert "cannot be written: No such file or directory" in err


# -- restore -------------------------------------------------------------------------------------------------------


def test_a_backup_is_restored_where_there_is_no_store(db, path, tmp_path):
    db("backup", tmp_path / "copy.db")
    code, out, err = db("restore", tmp_path / "copy.db", store=tmp_path / "new.db")

    assert (code, err) == (0, "")
    assert re.fullmatch(rf"restored .* from {tmp_path}/copy.db; run `antiphon db check` next\n{NO_PERMISSIONS}\n", out)
    assert held(tmp_path / "new.db") == held(path)
    assert db("check", store=tmp_path / "new.db")[0] == 0


def test_a_restore_refuses_to_replace_a_store_unless_it_is_told_to(db, path, tmp_path):
    db("backup", tmp_path / "copy.db")
    change(path, "update actor set status = 'done'")
    before = held(path)
    code, _, err = db("restore", tmp_path / "copy.db")

    assert code == 1
    assert "file exists; not overwritten; use --force to move it aside" in err
    assert held(path) == before

    code, out, _ = db("restore", "--force", "--json", tmp_path / "copy.db")
    result = json.loads(out)
    assert code == 0
    assert result == {"file": str(tmp_path / "copy.db"), "bytes": path.stat().st_size, "replaced": f"{path}.replaced-1"}
    assert held(path) == held(tmp_path / "copy.db") != before
    assert held(tmp_path / "store.db.replaced-1") == before


def test_every_store_that_a_restore_replaces_is_kept(db, path, tmp_path):
    db("backup", tmp_path / "copy.db")
    for number in (1, 2):
        out = db("restore", "--force", tmp_path / "copy.db")[1]
        assert f"the store that was there is {path}.replaced-{number}; delete it when you no longer need it" in out


def test_the_log_of_a_store_that_is_replaced_goes_with_it(db, tmp_path):
    path = tmp_path / "live.db"
    with owner(path) as other:
        other.store("a")
        db("backup", tmp_path / "copy.db", store=path)
        other.store("b")
        other.kill()
    assert (tmp_path / "live.db-wal").stat().st_size > 0

    assert db("restore", "--force", tmp_path / "copy.db", store=path)[0] == 0
    assert [tree.root for tree in held(path)[2]] == ["a"]
    assert [tree.root for tree in held(tmp_path / "live.db.replaced-1")[2]] == ["a", "b"]


def test_a_log_without_its_store_is_not_mixed_into_the_one_that_is_restored(db, path, tmp_path):
    db("backup", tmp_path / "copy.db")
    (tmp_path / "new.db-wal").write_bytes(b"the log of another store")

    assert db("restore", tmp_path / "copy.db", store=tmp_path / "new.db")[0] == 0
    assert not (tmp_path / "new.db-wal").exists()
    assert held(tmp_path / "new.db") == held(path)


def test_a_store_in_use_is_not_replaced(db, path, tmp_path):
    db("backup", tmp_path / "copy.db")
    with owner(path) as other:
        code, _, err = db("restore", "--force", tmp_path / "copy.db")

    assert code == 1
    assert f"in use by process {other.pid}" in err
    assert not (tmp_path / "store.db.replaced-1").exists()


@pytest.mark.parametrize(
    ("make", "finding"),
    [
        (lambda file: None, "there is no such file"),
        (lambda file: file.touch(), "the file is empty; name a backup"),
        (lambda file: file.write_text("a shopping list " * 200), "not a database"),
        (lambda file: sqlite3.connect(file).execute("create table x (y)"), "the file of another program"),
    ],
)
def test_only_a_store_can_be_restored(db, path, tmp_path, make, finding):
    make(tmp_path / "copy.db")
    before = held(path)
    code, _, err = db("restore", "--force", tmp_path / "copy.db")

    assert code == 1
    assert finding in err
    assert held(path) == before


def test_a_store_is_not_restored_from_itself(db, path):
    code, _, err = db("restore", "--force", path)

    assert code == 1
    assert "this is the store itself; name a backup of it" in err


def test_a_damaged_backup_replaces_nothing(db, path, tmp_path):
    db("backup", tmp_path / "copy.db")
    before = held(path)
    spoiled = bytearray((tmp_path / "copy.db").read_bytes())
    spoiled[-PAGE_SIZE:] = b"\xff" * PAGE_SIZE
    (tmp_path / "copy.db").write_bytes(spoiled)
    code, _, err = db("restore", "--force", tmp_path / "copy.db")

    assert code == 1
    assert "`antiphon db check`" in err
    assert held(path) == before
    assert sorted(file.name for file in tmp_path.glob("store*re*")) == []
    assert db("restore", tmp_path / "copy.db", store=tmp_path / "new.db")[0] == 1
    assert not (tmp_path / "new.db").exists()


# -- accept-loss ---------------------------------------------------------------------------------------------------


def test_a_store_without_its_log_is_opened_once_the_loss_is_accepted(db, tmp_path):
    path = tmp_path / "crashed.db"
    with owner(path) as process:
        process.store("a")
        process.kill()
    path.with_name("crashed.db-wal").unlink()

    code, _, err = db("migrate", store=path)
    assert code == 1
    assert "`antiphon db accept-loss`" in err
    assert db("check", store=path)[0] == 1
    assert db("accept-loss", store=path)[:2] == (0, "continuing without the missing log; run `antiphon db check`\n")
    assert db("accept-loss", "--json", store=path)[:2] == (0, '{\n  "missing": false\n}\n')
    assert db("check", store=path)[0] == 0
    assert db("migrate", store=path)[0] == 0


# -- reindex ---------------------------------------------------------------------------------------------------------


def test_the_index_is_written_again_from_the_journals(db, tmp_path):
    path = kept.migrate(kept.unpack(kept.kept_names()[0], tmp_path / "old.db"))

    assert db("reindex", store=path)[:2] == (0, "indexed 7 trees\n")
    assert db("reindex", "--json", store=path)[:2] == (0, '{\n  "indexed": 7\n}\n')
    assert db("check", store=path)[0] == 0


def test_trees_of_other_machines_are_not_in_the_index(db, path):
    assert db("reindex")[:2] == (0, "indexed 2 trees\n")
    assert use(SqliteStore(path, read_only=True), lambda store: store.index.ids("")) == []


# -- export and import ---------------------------------------------------------------------------------------------


def without_suffixes(text):
    """A text without the suffixes that an import adds to histories."""
    return re.sub(r"@\d+\.[0-9a-f]{16}", "", text)


def test_an_export_imported_and_exported_again_is_the_same_but_for_its_histories(db, path, tmp_path):
    copy = tmp_path / "copy.db"

    assert db("export", tmp_path / "one.jsonl") == (0, "", "")
    assert db("import", tmp_path / "one.jsonl", store=copy) == (
        0,
        f"imported 2 trees with 6 steps\n{NO_PERMISSIONS}\n",
        "",
    )
    assert db("export", tmp_path / "two.jsonl", store=copy)[0] == 0
    assert (tmp_path / "one.jsonl").read_text() == without_suffixes((tmp_path / "two.jsonl").read_text())
    assert without_suffixes(repr(held(copy))) == repr(held(path))
    assert db("check", store=copy)[0] == 0


def test_values_are_shown_checked_and_archived_without_their_codecs(db, tmp_path, monkeypatch):
    event = {"type": "PAY", "coin": Coin.EURO, "on": date(2026, 1, 2)}
    dead = ((letter("a", "bad", event=event), "no"),)
    path = stored(
        tmp_path / "coded.db",
        [first_commit("a", origin=make_origin(input=event), letters=(letter("a", "l", event=event),))],
        [Commit("a", 1, 9, "active", entries=(step("a", 2, event=event),), dead=dead)],
    )
    before = held(path)
    monkeypatch.delitem(codecs._by_tag, "Coin")  # as in a process that does not import its class

    assert db("check", store=path)[0] == 0
    (shown,) = json.loads(db("dead", "--json", store=path)[1])
    assert shown["letter"]["event"]["coin"] == {codecs.TAG: "Coin", "value": "EURO"}
    assert db("export", tmp_path / "coded.jsonl", store=path)[0] == 0
    assert db("import", tmp_path / "coded.jsonl", store=tmp_path / "copy.db")[0] == 0
    with pytest.raises(Undecodable, match="'a' cannot be read: no codec has the tag 'Coin'"):
        held(tmp_path / "copy.db")
    monkeypatch.undo()
    assert without_suffixes(repr(held(tmp_path / "copy.db"))) == repr(before)


def test_an_export_goes_through_a_pipe(db, tmp_path, monkeypatch):
    _, text, _ = db("export", "-")
    monkeypatch.setattr("sys.stdin", io.StringIO(text))

    assert db("import", "-", store=tmp_path / "copy.db")[0] == 0
    assert without_suffixes(db("export", "-", store=tmp_path / "copy.db")[1]) == text


def test_an_export_is_json_a_line(db):
    kinds = [next(iter(json.loads(line))) for line in db("export", "-")[1].splitlines()]

    assert kinds == ["antiphon", "tree", *["step"] * 5, "letter", "task", "dead", "tree", "step", "end"]


def test_an_imported_store_counts_its_boots_on(db, tmp_path, monkeypatch):
    _, text, _ = db("export", "-")
    monkeypatch.setattr("sys.stdin", io.StringIO(text.replace('"boots":1', '"boots":41')))
    db("import", "-", store=tmp_path / "copy.db")

    assert json.loads(db("stats", "--json", store=tmp_path / "copy.db")[1])["boots"] == 41


def test_an_import_adds_to_what_is_there(db, tmp_path, monkeypatch):
    other = stored(tmp_path / "other.db", [first_commit("z")])
    monkeypatch.setattr("sys.stdin", io.StringIO(db("export", "-")[1]))

    assert db("import", "-", store=other)[0] == 0
    assert [tree.root for tree in held(other)[2]] == ["a", "z", "é"]


def test_an_import_refuses_trees_that_are_there(db, tmp_path, monkeypatch):
    other = stored(tmp_path / "other.db", [first_commit("é")])
    before = held(other)
    monkeypatch.setattr("sys.stdin", io.StringIO(db("export", "-")[1]))
    code, _, err = db("import", "-", store=other)

    assert (code, err) == (1, "antiphon db: there is a root actor 'é' already; nothing was imported\n")
    assert held(other) == before


def edited(change):
    """An edit of the lines of an export."""
    return lambda text: "".join(f"{line}\n" for line in change(text.splitlines()))


@pytest.mark.parametrize(
    ("spoil", "finding"),
    [
        (lambda text: "", "stops after line 0"),
        (lambda text: text[: len(text) // 2], "line [0-9]+ is not a valid line of an export"),
        (edited(lambda lines: lines[:-1]), "the export is incomplete"),
        (edited(lambda lines: [*lines, lines[-1]]), "a line follows the end of the export"),
        (edited(lambda lines: lines[1:]), "line 1 is not a valid line of an export: .* first line of an export"),
        (edited(lambda lines: [*lines[:3], *lines[4:]]), "the export announces"),
        (edited(lambda lines: [lines[0], *lines[2:]]), "it belongs to no tree"),
        (lambda text: text.replace('"seq":5', '"seq":6'), "the journal of 'a' does not match its sequence number"),
        (lambda text: text.replace('"snapshot_seq":4', '"snapshot_seq":9'), "the journal of 'a' does not match"),
        (lambda text: text.replace('"snapshot_seq":4', '"snapshot_seq":0'), "the journal of 'a' does not match"),
        (lambda text: text.replace('"snapshot_seq":0', '"snapshot_seq":1'), "the journal of 'é' does not match"),
        (
            lambda text: text.replace('"snapshot_seq":4', '"snapshot_seq":"x"'),
            "line 2 is not a valid line of an export",
        ),
        (lambda text: text.replace('"safety"', '"risk"'), "line 9 is not a valid line of an export"),
        (lambda text: text.replace('"safety":"report"', '"safety":"bold"'), "line 9 .*constraint"),
        (
            lambda text: text.replace('"seq":1,"at":10', '"seq":1,"at":"noon"'),
            "line 3 is not a valid line of an export",
        ),
        (lambda text: text.replace('"at":10', f'"at":{2**70}'), "line 3 is not a valid line of an export"),
        (lambda text: text.replace('{"letter":{', '{"parcel":{'), "no kind of line is named 'parcel'"),
        (lambda text: text.replace('{"letter":{', '["letter",{'), "line 8 is not a valid line of an export"),
        (lambda text: text.replace('"format":1', '"format":2'), "first line of an export must have format 1"),
        (edited(lambda lines: [*lines[:2], "[" * 5000, *lines[2:]]), "line 3 is not a valid line of an export"),
    ],
)
def test_an_export_that_was_spoiled_is_refused_as_a_whole(db, tmp_path, monkeypatch, spoil, finding):
    monkeypatch.setattr("sys.stdin", io.StringIO(spoil(db("export", "-")[1])))
    code, out, err = db("import", "-", store=tmp_path / "copy.db")

    assert (code, out) == (1, "")
    assert re.search(finding, err)
    assert "nothing was imported" in err
    assert not (tmp_path / "copy.db").exists()


def test_what_is_not_even_text_is_refused(db, path, tmp_path):
    code, _, err = db("import", path, store=tmp_path / "copy.db")

    assert code == 1
    assert "not an export" in err


def test_a_damaged_tree_ends_an_export(db, path, tmp_path):
    change(path, "update entry set body = 'x' where seq = 2")
    code, _, err = db("export", tmp_path / "out.jsonl")

    assert code == 1
    assert "the body of a step of 'a' is damaged" in err
    assert not (tmp_path / "out.jsonl").exists()


def test_a_rescue_leaves_damaged_trees_out_and_says_so(db, path, tmp_path):
    change(path, "update entry set body = 'x' where seq = 2")
    code, _, err = db("export", "--rescue", tmp_path / "out.jsonl")

    assert code == 1
    assert "'a' is left out" in err
    assert db("import", tmp_path / "out.jsonl", store=tmp_path / "copy.db")[0] == 0
    assert [tree.root for tree in held(tmp_path / "copy.db")[2]] == ["é"]


def test_an_export_does_without_a_damaged_snapshot(db, path, tmp_path):
    change(path, "update snapshot set body = 'x'")

    assert db("export", tmp_path / "out.jsonl")[0] == 0
    assert db("import", tmp_path / "out.jsonl", store=tmp_path / "copy.db")[0] == 0
    assert without_suffixes(repr(held(tmp_path / "copy.db"))) == repr(held(path))


# -- being called --------------------------------------------------------------------------------------------------


def test_a_store_that_is_not_there_is_named(db, tmp_path):
    code, _, err = db("stats", store=tmp_path / "none.db")

    assert code == 2
    assert f"{tmp_path / 'none.db'}: store not found; choose another with --store" in err


def test_a_command_that_is_not_there_is_misuse(db):
    with pytest.raises(SystemExit, match="2"):
        db("frobnicate")


def test_the_store_may_be_named_before_and_after_the_command(path, capsys):
    assert main(["db", "stats", "--store", str(path)]) == main(["db", "--store", str(path), "stats"]) == 0


def test_the_store_is_where_the_environment_says(path, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("ANTIPHON_STORE", raising=False)

    assert store_path() == tmp_path / "antiphon" / "antiphon.db"
    monkeypatch.setenv("ANTIPHON_STORE", str(path))
    assert main(["db", "check"]) == 0


def test_every_command_and_every_error_of_a_store_is_in_the_manual():
    manual = (DOCS / "operations.md").read_text(encoding="utf-8")
    commands = subparsers(parser_of("db"))

    assert [name for name in commands if f"| `{name}" not in manual] == []
    assert [kind.__name__ for kind in (StoreError, *StoreError.__subclasses__()) if kind.__name__ not in manual] == []


def test_a_file_that_is_no_store_is_said_to_be_none(db, tmp_path):
    (tmp_path / "note.txt").write_text("a shopping list, which is long enough to be read as a database " * 20)

    for command in ("stats", "check", "migrate", "vacuum"):
        code, out, err = db(command, store=tmp_path / "note.txt")
        assert code == 1
        assert "file is not a database" in out + err


def test_long_work_tells_how_far_it_has_come(db, path, monkeypatch):
    monkeypatch.setattr("antiphon.cli.render.progress.LONG", 1)
    monkeypatch.setattr("antiphon.stores.checks.STEP", 2)

    assert db("check")[2].splitlines()[-1] == "checking: 100 %"


def test_check_counts_each_row_once(path, monkeypatch):
    monkeypatch.setattr("antiphon.stores.checks.STEP", 1)
    told = []
    check(path, lambda done, total: told.append((done, total)))

    assert told == [*((done, len(told) - 1) for done in range(1, len(told))), (len(told) - 1, len(told) - 1)]
