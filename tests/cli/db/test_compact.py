"""`antiphon db compact` says what it would remove, asks before it does, and says what it removed."""

import io
import json

import pytest

from antiphon.cli.main import main
from antiphon.stores import compaction
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_samples import first_commit, steps
from antiphon.testing.contracts.store_steps import NOTHING_OPEN
from tests.stores.open_store import use
from tests.stores.processes import owner


@pytest.fixture
def path(tmp_path):
    """A store with two trees of 3,001 and 501 steps, which are years old."""
    path = tmp_path / "store.db"

    async def fill(store):
        for root, count in (("long", 30), ("short", 5)):
            await store.commit([first_commit(root)])
            for number in range(count):
                commit = steps(root, 1 + 100 * number, 100, snapshot={"n": number}, open=NOTHING_OPEN)
                await store.commit([commit])

    use(SqliteStore(path), fill)
    return path


@pytest.fixture
def db(path, capsys):
    def run(*arguments, store=path):
        code = main(["db", "--store", str(store), *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def contents(path):
    return use(SqliteStore(path, read_only=True), lambda store: store.load("long"))


def test_a_dry_run_changes_nothing_and_shows_what_would_be_removed(db, path):
    before = contents(path)
    code, out, _ = db("compact", "--dry-run")
    lines = out.splitlines()

    assert (code, len(lines)) == (0, 2)
    assert lines[0].startswith("'long': would remove steps 1 to 2,001 of 3,001, ")
    assert lines[1].startswith("would remove 2,001 steps of 1 tree, ")
    assert contents(path) == before


def test_a_dry_run_works_while_the_store_is_in_use(db, tmp_path):
    with owner(tmp_path / "other.db") as other:
        other.store("a")
        assert db("compact", "--dry-run", store=tmp_path / "other.db") == (0, "nothing to remove\n", "")


@pytest.mark.parametrize("answer", ["", "n\n", "no\n"])
def test_nothing_is_removed_without_a_confirmation(db, path, monkeypatch, answer):
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    before = contents(path)
    code, out, err = db("compact")

    assert (code, out) == (0, "nothing removed\n")
    assert "'long': would remove steps 1 to 2,001 of 3,001, " in err
    assert "keep a copy with: antiphon db backup FILE\nremove them permanently? y/n > " in err
    assert contents(path) == before


def test_steps_are_removed_after_a_confirmation(db, path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    code, out, _ = db("compact")
    lines = out.splitlines()

    assert code == 0
    assert lines[0].startswith("'long': removed steps 1 to 2,001 of 3,001, ")
    assert lines[-1] == "the space is used for new steps; `antiphon db vacuum` makes the file smaller"
    assert contents(path).first == 2002
    assert db("check") == (0, "no problems found\n", "")
    assert " removed by compaction), longest: long 3,001" in db("stats")[1]


def test_what_was_removed_is_given_as_json(db):
    code, out, err = db("compact", "--yes", "--json", "--root", "short", "--keep", 100)
    (record,) = json.loads(out)

    assert (code, err) == (0, "")
    assert (record["root"], record["first"], record["latest"]) == ("short", 1, 501)
    assert record["steps"] == record["last"] <= 401
    assert record["bytes"] > 0


def test_a_tree_is_compacted_only_if_it_is_asked_for(db):
    assert db("compact", "--dry-run", "--root", "nobody") == (0, "nothing to remove\n", "")
    assert "'long'" not in db("compact", "--dry-run", "--root", "short", "--keep", 100)[1]


def test_recent_steps_are_kept_unless_every_age_is_asked_for(db, path):
    async def renew(store):
        store._db().execute("update entry set at = unixepoch() * 1000")

    use(SqliteStore(path), renew)

    assert db("compact", "--dry-run") == (0, "nothing to remove\n", "")
    assert db("compact", "--dry-run", "--older-than", 1) == (0, "nothing to remove\n", "")
    assert "'long'" in db("compact", "--dry-run", "--older-than", 0)[1]


@pytest.mark.parametrize(("option", "value"), [("--keep", "99"), ("--keep", "x"), ("--older-than", "-1")])
def test_an_invalid_number_is_refused(db, option, value):
    with pytest.raises(SystemExit) as caught:
        db("compact", f"{option}={value}")
    assert caught.value.code == 2


def test_a_damaged_tree_is_reported_and_the_others_are_compacted(db, path):
    async def damage(store):
        store._db().execute("delete from entry where seq = 450")

    use(SqliteStore(path), damage)
    code, out, err = db("compact", "--yes", "--keep", 100)

    assert code == 1
    assert "antiphon db: 'short' is left as it is: step 450 of 'short' is missing" in err
    assert out.startswith("'long': removed")


def test_an_interruption_says_which_trees_are_compacted(db, path, monkeypatch):
    real = compaction._remove

    def remove(connection, sql, n, item):
        real(connection, sql, n, item)
        if item.root == "short":
            raise KeyboardInterrupt

    monkeypatch.setattr(compaction, "_remove", remove)
    code, out, err = db("compact", "--yes", "--keep", 100)

    assert code == 130
    assert out.startswith("'long': removed")
    assert "'short'" not in out
    assert err == "antiphon db: interrupted; the other trees are unchanged\n"
    assert contents(path).first > 1
