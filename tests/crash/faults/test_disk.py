"""The model of a disk keeps what was flushed, and of the rest what a disk may keep."""

from random import Random

import pytest

from tests.crash.faults.disk import Disk, Remainder
from tests.crash.faults.recording import MESSAGES, Action, Call

FOLDER = "/data"
OLD = bytes(2048)
NEW = bytes([1]) * 2048


def call(action, name="", fd=5, offset=0, data=b"", is_new=False, error=0):
    path = "" if not name else FOLDER if name == "." else f"{FOLDER}/{name}"
    return Call(action, is_new, fd, offset, error, path, data)


def contents_after(calls, before=None, seeds=40, remainders=tuple(Remainder)):
    """Return the different folders that power cuts after some calls leave."""
    folders = []
    for remainder in remainders:
        for seed in range(seeds):
            disk = Disk(FOLDER, before or {}, Random(seed))
            for each in calls:
                disk.apply(each)
            folders.append(disk.cut(remainder, Random(seed)))
    return folders


def write(data=NEW, fd=5, offset=0):
    return call(Action.WRITE, fd=fd, offset=offset, data=data)


OPEN = call(Action.OPEN, "a")
FLUSH = call(Action.FLUSH)
FLUSHED = call(Action.FLUSHED)


def test_what_was_flushed_is_kept_by_every_power_cut():
    folders = contents_after([OPEN, write(), FLUSH, FLUSHED], {"a": OLD})

    assert all(files == {"a": NEW} for files in folders)


def test_what_was_not_flushed_may_be_there_or_not_and_torn_at_sectors():
    contents = {files["a"] for files in contents_after([OPEN, write()], {"a": OLD})}

    assert {OLD, NEW} < contents
    assert any(content[:512] == OLD[:512] and content[512:1024] == NEW[:512] for content in contents)


def test_unflushed_writes_are_kept_in_order_or_out_of_order():
    calls = [OPEN, write(b"1"), write(b"2", offset=1)]
    kept_first = {files["a"] for files in contents_after(calls, {"a": b"00"}, remainders=(Remainder.FIRST,))}
    kept_some = {files["a"] for files in contents_after(calls, {"a": b"00"}, remainders=(Remainder.WRITES,))}

    assert kept_first == {b"10", b"12"}
    assert kept_some == {b"00", b"10", b"02", b"12"}


def test_a_write_while_the_disk_flushes_is_not_flushed():
    folders = contents_after([OPEN, FLUSH, write(), FLUSHED], {"a": OLD}, remainders=(Remainder.NOTHING,))

    assert all(files == {"a": OLD} for files in folders)


def test_garbage_is_only_where_something_was_written():
    folders = contents_after([OPEN, write(NEW[:600])], {"a": OLD}, remainders=(Remainder.GARBAGE,))

    assert all(files["a"][600:] == OLD[600:] for files in folders)
    assert any(set(files["a"][:600]) - {0, 1} for files in folders)


@pytest.mark.parametrize(("flushes_folder", "possible"), [(False, {True, False}), (True, {True})])
def test_a_new_file_is_there_for_certain_once_the_folder_was_flushed(flushes_folder, possible):
    created = [call(Action.OPEN, "a", is_new=True), write(), FLUSH, FLUSHED]
    folder = [call(Action.OPEN, ".", fd=6), call(Action.FLUSH, fd=6), call(Action.FLUSHED, fd=6)]
    folders = contents_after(created + (folder if flushes_folder else []))

    assert {"a" in files for files in folders} == possible
    assert all(files["a"] == NEW for files in folders if "a" in files)


def test_a_removed_file_may_be_back_with_its_content():
    folders = contents_after([call(Action.UNLINK, "a")], {"a": OLD})

    assert {files.get("a") for files in folders} == {OLD, None}


def test_a_renamed_file_has_one_of_its_names():
    folders = contents_after([call(Action.RENAME, "a", data=f"{FOLDER}/b".encode())], {"a": NEW, "b": OLD})

    assert {tuple(sorted(files.items())) for files in folders} == {(("a", NEW), ("b", OLD)), (("b", NEW),)}


def test_a_truncated_file_may_have_either_length():
    folders = contents_after([OPEN, call(Action.TRUNCATE, offset=100)], {"a": NEW})

    assert {len(files["a"]) for files in folders} == {100, len(NEW)}


def test_a_later_flush_does_not_make_up_for_a_failed_one():
    failed = [OPEN, write(), FLUSH, call(Action.FLUSHED, error=5), FLUSH, FLUSHED]
    contents = {files["a"] for files in contents_after(failed, {"a": OLD})}

    assert any(content != NEW for content in contents)


def test_no_power_cut_takes_anything_from_the_world_outside():
    calls = [call(Action.OPEN, MESSAGES, is_new=True), write(b"said")]
    folders = contents_after(calls)

    assert all(files == {MESSAGES: b"said"} for files in folders)
