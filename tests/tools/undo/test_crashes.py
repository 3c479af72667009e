"""After a crash at any moment, and after damage to records and copies, an undo is right or refused."""

import json
import os

import pytest

from antiphon.tools import ChangedSince, UndoError
from antiphon.tools.undo.log import LOCK, new_call
from antiphon.tools.undo.recorders import _begin_command
from tests.fixtures.undo import THREAD, UndoBench, picture


class Crash(BaseException):
    """The process ends here."""


@pytest.fixture
def bench(tmp_path):
    with UndoBench(tmp_path) as bench:
        (bench.work / "a").write_text("old")
        yield bench


def crash(bench, tmp_path):
    """The bench of the next process: nothing of the first is closed in order."""
    for log in bench.undo._logs.values():
        os.close(log._lock)
        log._lock = -1
    bench.undo._logs.clear()
    return UndoBench(tmp_path)


def interrupt_command(bench, tmp_path, change):
    """A command that changes files, and a crash before its end is recorded."""

    log = bench.undo.log(THREAD, bench.workspace)
    _begin_command(log, new_call("key", "shell", "make", bench.workspace), bench.workspace)
    change()
    return crash(bench, tmp_path)


def records(bench):
    return bench.log_folder() / "records"


def cut_last_line(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))


def test_a_change_that_was_recorded_and_not_made_needs_no_undo(bench, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise Crash

    monkeypatch.setattr("antiphon.tools.workspace._write_atomically", fail)
    monkeypatch.setattr("antiphon.tools.undo.recorders.FileRecorder.end", lambda self: None)
    with pytest.raises(Crash):
        bench.write("a", "new")

    later = crash(bench, tmp_path)

    assert len(later.undo.calls(THREAD)) == 1
    assert later.actions() == {}


def test_a_change_that_was_made_without_its_end_is_undone(bench, tmp_path):
    before = picture(bench.work)
    bench.write("a", "new")
    later = crash(bench, tmp_path)
    cut_last_line(records(later))

    later.undo.undo(THREAD)

    assert picture(bench.work) == before


def test_a_change_by_others_after_a_crash_is_noticed(bench, tmp_path):
    bench.write("a", "new")
    later = crash(bench, tmp_path)
    cut_last_line(records(later))
    (bench.work / "a").write_text("mine")

    with pytest.raises(ChangedSince):
        later.undo.undo(THREAD)


def test_a_folder_that_was_recorded_and_not_made_needs_no_undo(bench, tmp_path):
    bench.write("one/two", "new")
    later = crash(bench, tmp_path)
    cut_last_line(records(later))
    (bench.work / "one" / "two").unlink()
    (bench.work / "one").rmdir()

    assert later.actions() == {}


@pytest.mark.parametrize("kept", [0, 1, 50, 200])
def test_a_line_that_was_not_written_to_its_end_is_dropped(bench, tmp_path, kept):
    bench.write("a", "new")
    bench.write("b", "new")
    later = crash(bench, tmp_path)
    lines = records(later).read_bytes().splitlines(keepends=True)
    records(later).write_bytes(b"".join(lines[:3]) + lines[3][:kept])

    assert later.actions() == {"a": "restore"}
    later.write("c", "new")
    assert later.actions() == {"a": "restore", "c": "delete"}


def test_a_command_that_was_interrupted_is_undone_with_force(bench, tmp_path):
    before = picture(bench.work)
    later = interrupt_command(bench, tmp_path, lambda: (bench.work / "a").write_text("new"))

    with pytest.raises(ChangedSince, match="the command that may have changed it was interrupted"):
        later.undo.undo(THREAD)
    later.undo.undo(THREAD, force=True)

    assert picture(bench.work) == before


def test_copies_of_an_interrupted_command_outlive_a_reader(bench, tmp_path):
    later = interrupt_command(bench, tmp_path, lambda: (bench.work / "a").unlink())
    later.undo.calls(THREAD)
    later.undo.close()

    later.undo.undo(THREAD, force=True)

    assert (bench.work / "a").read_text() == "old"


def test_calls_after_an_interrupted_command_are_recorded_apart(bench, tmp_path):
    later = interrupt_command(bench, tmp_path, lambda: None)
    later.write("a", "new")

    assert later.undo.plan(THREAD).conflicts == []
    assert later.actions() == {"a": "restore"}


def test_an_undo_that_was_interrupted_can_be_repeated(bench, tmp_path, monkeypatch):
    bench.write("b", "new")
    bench.write("a", "new")
    before = picture(bench.work)

    def fail(*_):
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr("antiphon.tools.undo.restore._Restoration._write", fail)
        with pytest.raises(Crash):
            bench.undo.undo(THREAD)
    later = crash(bench, tmp_path)

    assert later.actions() == {"a": "restore"}
    later.undo.undo(THREAD)
    assert list(picture(bench.work)) == ["a"]
    assert before != picture(bench.work)


def edit_word(text):
    return text.replace(b'"path":"a"', b'"path":"b"')


def edit_kind(text):
    return text.replace(b'"kind":"file"', b'"kind":"fire"')


def drop_line(text):
    return text.partition(b"\n")[2]


def add_line(text):
    return text + b"0" * 64 + b" {}\n"


@pytest.mark.parametrize("edit", [edit_word, edit_kind, drop_line, add_line, lambda text: b"nonsense\n" + text])
def test_records_that_were_edited_are_refused_and_change_nothing(bench, tmp_path, edit):
    bench.write("a", "new")
    before = picture(bench.work)
    later = crash(bench, tmp_path)
    records(later).write_bytes(edit(records(later).read_bytes()))

    with pytest.raises(UndoError, match=r"records: line \d is not valid: .*; nothing was undone"):
        later.undo.undo(THREAD)

    assert picture(bench.work) == before


@pytest.mark.parametrize("path", ["../b", "/etc/passwd", "a/../../b", "a//b", "", "a\0b"])
def test_a_record_with_a_path_that_leads_out_is_refused(bench, tmp_path, path):
    bench.write("a", "new")
    log = next(iter(bench.undo._logs.values()))
    change = next(iter(next(iter(log.calls.values())).changes.values()))
    log._records.append([{"type": "change", "call": 1, **change.to_json(), "path": path}], flush=False)
    later = crash(bench, tmp_path)

    with pytest.raises(UndoError, match="is not a path of a workspace"):
        later.undo.undo(THREAD)


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        {"kind": "device"},
        {"kind": "file", "mode": "x"},
        {"kind": "file", "mode": 0o10000},
        {"kind": "file", "digest": "../../x"},
        {"kind": "symlink"},
        {"kind": "file", "uid": 0},
    ],
)
def test_a_record_with_an_invalid_state_is_refused(bench, tmp_path, state):
    bench.write("a", "new")
    log = next(iter(bench.undo._logs.values()))
    entry = {"type": "change", "call": 1, "path": "a", "before": state, "after": None}
    log._records.append([json.loads(json.dumps(entry))], flush=False)
    later = crash(bench, tmp_path)

    with pytest.raises(UndoError, match="is not the state of a file"):
        later.undo.undo(THREAD)


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_text("evil")])
def test_a_missing_or_damaged_copy_is_refused_and_changes_nothing(bench, damage):
    (bench.work / "b").write_text("other")
    bench.write("a", "new")
    bench.write("b", "new")
    before = picture(bench.work)
    damage(next((bench.log_folder() / "copies").iterdir()))

    with pytest.raises(UndoError, match=r"the copy [0-9a-f]{64} .*; nothing was undone"):
        bench.undo.undo(THREAD)

    assert picture(bench.work) == before


def test_a_change_that_cannot_be_recorded_is_not_made(bench):
    bench.undo.folder.write_text("not a folder")

    assert "cannot be recorded for undo" in bench.write("a", "new")
    assert "cannot be recorded for undo" in bench.shell("echo new > a")
    assert (bench.work / "a").read_text() == "old"


def test_a_lock_file_alone_is_no_log(bench):
    folder = bench.undo._path(THREAD)
    folder.mkdir(parents=True)
    (folder / LOCK).touch()

    assert bench.actions() == {}
