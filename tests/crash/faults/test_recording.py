"""The recorder misses no call, and lets the planned ones fail."""

import errno
from random import Random

import pytest

from tests.crash.child import Plan
from tests.crash.faults.disk import Disk, Remainder
from tests.crash.faults.recording import LASTING, STORE, Action, Fault, missing_tool, record

pytestmark = pytest.mark.skipif(missing_tool() is not None, reason=str(missing_tool()))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


def rebuild_everything(recording, folder):
    disk = Disk(str(folder), recording.before, Random(1), flushed_by_failures=1.0)
    for call in recording.calls:
        disk.apply(call)
    return without_index(disk.cut(Remainder.EVERYTHING, Random(1)))


def without_index(files):
    """Return files without the index of the log, which is changed in memory and never read after a power cut."""
    return {name: content for name, content in files.items() if not name.endswith("-shm")}


def test_the_recorded_calls_give_the_folder_as_it_is(folder):
    recording = record(folder, Plan(seed=1, life=1, letters=5, checkpoint_pages=8))

    assert recording.exit_code == 0
    assert {call.action for call in recording.calls} >= set(Action) - {Action.RENAME, Action.FAULT}
    assert rebuild_everything(recording, folder) == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_recorded_calls_give_the_log_of_a_file_that_cannot_be_written(folder):
    fault = Fault("write", STORE, first=2, times=LASTING, error=errno.EIO)
    recording = record(folder, Plan(seed=1, life=1, letters=5, checkpoint_pages=8), faults=[fault])
    files = without_index({path.name: path.read_bytes() for path in folder.iterdir()})

    assert len(files[STORE + "-wal"]) > len(files[STORE])
    assert rebuild_everything(recording, folder) == files


def test_messages_are_recorded_in_the_order_of_the_calls(folder):
    recording = record(folder, Plan(seed=1, life=1, letters=2))
    kinds = [message[0] for message in recording.messages]

    assert kinds[0] == "up"
    assert kinds[-2:] == ["laws", "stopped"]
    assert kinds.count("receipt") == kinds.count("sending") > 0


def test_planned_calls_fail_and_others_do_not(folder):
    fault = Fault("write", "-wal", first=150, times=2, error=errno.ENOSPC)
    recording = record(folder, Plan(seed=1, life=1, letters=10), faults=[fault])
    writes = [call for call in recording.calls if call.action in (Action.WRITE, Action.FAULT)]

    assert [(call.path, call.error, call.data) for call in recording.faults] == [
        (str(folder / STORE) + "-wal", errno.ENOSPC, b"write")
    ] * 2
    assert any("disk is full" in message[-1] for message in recording.messages if message[0] in ("refused", "failed"))
    assert writes[-1].action is Action.WRITE
