"""`antiphon runs undo` shows what a run changed, asks, and gives the files back; `redo` takes that back."""

import io
import json

import pytest

from antiphon.cli.main import main
from antiphon.tools.undo.folder import UndoFolder
from tests.fixtures.scripted_team import calls, says, script

PLAN = '{"steps": ["Write add.py"], "confidence": 0.9}'


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("ANTIPHON_UNDO", str(tmp_path / "undo"))
    monkeypatch.setattr("sys.stdin", io.StringIO())


@pytest.fixture
def work(tmp_path, capsys):
    """A workspace in which a run has replaced a file, and created one by a command."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "add.py").write_text("old\n")
    model = script(
        tmp_path,
        says("developer", "Done.", after="shell"),
        calls("developer", "shell", {"command": "echo made > made.txt"}, after="write_file"),
        calls("developer", "write_file", {"path": "add.py", "content": "new\n"}),
        says("planner", PLAN),
    )
    run = ["run", "-q", "-m", model, "--arbiter", "rules", "--mode", "auto", "--workspace", str(folder), "Write add.py"]
    assert main(run) == 0
    capsys.readouterr()
    return folder


def runs(capsys, *words):
    code = main(["runs", *words])
    return code, *capsys.readouterr()


def files(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_undo_gives_the_files_back(work, capsys):
    code, out, _ = runs(capsys, "undo", "--yes")

    assert (code, files(work)) == (0, {"add.py": "old\n"})
    assert out == f"in {work}:\n  restore   add.py\n  delete    made.txt\n2 changes undone\n"


def test_undo_asks_and_does_nothing_without_a_yes(work, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    before = files(work)

    code, out, err = runs(capsys, "undo", "last")

    assert (code, out, files(work)) == (0, "nothing changed\n", before)
    assert err.endswith("  delete    made.txt\nundo these changes? y/n > ")


def test_undo_asks_and_goes_ahead_with_a_yes(work, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))

    assert runs(capsys, "undo")[:2] == (0, "2 changes undone\n")
    assert files(work) == {"add.py": "old\n"}


def test_the_diff_shows_what_an_undo_changes(work, capsys):
    _, _, err = runs(capsys, "undo", "--diff")

    assert "--- now/add.py\n+++ undone/add.py\n@@ -1 +1 @@\n-new\n+old\n" in err
    assert "-made\n" in err


def test_files_that_a_person_changed_need_force(work, capsys):
    (work / "add.py").write_text("mine\n")

    code, out, err = runs(capsys, "undo", "--yes")
    assert (code, (work / "add.py").read_text()) == (1, "mine\n")
    assert "  restore   add.py  (needs --force: it was changed since)\n" in out
    assert err.startswith("antiphon runs undo: changes of others would be lost in 1 file, so nothing was changed")

    assert runs(capsys, "undo", "--yes", "--force")[0] == 0
    assert files(work) == {"add.py": "old\n"}


def test_redo_takes_an_undo_back(work, capsys):
    before = files(work)
    runs(capsys, "undo", "--yes")

    code, out, _ = runs(capsys, "redo", "--yes")

    assert (code, files(work)) == (0, before)
    assert out.endswith("2 changes made again\n")


def test_the_changes_are_listed_by_call(work, capsys):
    _, out, _ = runs(capsys, "undo", "--list")
    lines = [line.partition("  ")[2] for line in out.splitlines()]

    assert lines == ["write_file add.py", "changed add.py", "shell echo made > made.txt", "created made.txt"]


def test_json_has_the_steps_and_the_calls(work, capsys):
    calls_made = json.loads(runs(capsys, "undo", "--list", "--json")[1])
    record = json.loads(runs(capsys, "undo", "--yes", "--json")[1])

    assert [call["tool"] for call in calls_made] == ["write_file", "shell"]
    assert [(step["path"], step["action"]) for step in record["steps"]] == [
        ("add.py", "restore"),
        ("made.txt", "delete"),
    ]
    assert record["done"]


def test_a_second_undo_has_nothing_to_do(work, capsys):
    runs(capsys, "undo", "--yes")

    assert runs(capsys, "undo", "--yes")[:2] == (0, "nothing to undo\n")


def test_a_redo_of_nothing_is_not_done_and_was_called_rightly(work, capsys):
    code, _, err = runs(capsys, "redo", "--yes")

    assert code == 1
    assert "there is no undo to take back" in err


def test_undo_of_threads_is_the_same(work, capsys):
    assert main(["threads", "undo", "last", "--yes"]) == 0
    assert files(work) == {"add.py": "old\n"}


def test_names_are_shown_without_control_characters(work, capsys, tmp_path):
    (work / "\x1b[31mred").write_text("x")
    with UndoFolder(tmp_path / "undo") as undo:
        thread = json.loads(runs(capsys, "list", "--json")[1])[0]["id"]
        log = undo._existing(thread)
        assert log is not None
        change = next(change for call in log.calls.values() for change in call.changes.values())
        log.begin(next(iter(log.calls.values())), [type(change)("\x1b[31mred", change.before, change.after)])

    _, out, err = runs(capsys, "undo", "--diff")

    assert "‹U+001B›[31mred" in out + err
    assert "\x1b" not in out + err


def test_deleting_a_run_deletes_its_copies(work, capsys, tmp_path):
    assert main(["threads", "delete", "last", "--yes"]) == 0

    assert list((tmp_path / "undo").iterdir()) == []


def test_a_run_that_is_in_progress_elsewhere_is_not_undone(work, capsys, tmp_path):
    thread = json.loads(runs(capsys, "list", "--json")[1])[0]["id"]
    with UndoFolder(tmp_path / "undo") as undo:
        undo.plan(thread)
        code, _, err = runs(capsys, "undo", "--yes")

    assert code == 1
    assert err == "antiphon runs: another process is working in this thread; stop it first\n"


def test_changes_are_listed_while_another_process_records_them(work, tmp_path, capsys):
    thread = json.loads(runs(capsys, "list", "--json")[1])[0]["id"]
    with UndoFolder(tmp_path / "undo") as undo:
        undo.plan(thread)
        code, out, _ = runs(capsys, "undo", "--list")

    assert code == 0
    assert "changed add.py" in out
