"""An error of the disk loses nothing that was acknowledged, is reported, and ends with its cause or with a restart."""

import errno
import json

import pytest

from tests.crash.child import Plan
from tests.crash.faults.bugs import ALL
from tests.crash.faults.injection import FaultyLives, unreported_errors
from tests.crash.faults.recording import (
    LASTING,
    MESSAGES,
    STORE,
    Action,
    Call,
    Fault,
    Recording,
    missing_tool,
    record,
)
from tests.crash.faults.search import broken_laws, find_bug

pytestmark = pytest.mark.skipif(missing_tool() is not None, reason=str(missing_tool()))
SEEDS = 20
BUGS = [bug for bug in ALL if bug.is_about_errors]
FULL_DISK = Fault("write", "-wal", 150, 10, errno.ENOSPC)  # for a while
FAILED_FLUSH = Fault("flush", "-wal", 25, LASTING, errno.EIO)
OTHER_FAULTS = {
    "the log cannot be written once": Fault("write", "-wal", 150, 1, errno.EIO),
    "the disk stays full": Fault("write", "-wal", 150, LASTING, errno.ENOSPC),
    "the log cannot be flushed once": Fault("flush", "-wal", 20, 1, errno.EIO),
    "the file cannot be written": Fault("write", STORE, 2, LASTING, errno.EIO),
    "the file cannot be flushed once": Fault("flush", STORE, 2, 1, errno.EIO),
    "the log cannot be created": Fault("create", "-wal", 1, LASTING, errno.ENOSPC),
    "the index of the log cannot be created": Fault("write", "-shm", 1, LASTING, errno.ENOSPC),
}


@pytest.mark.parametrize("fault", [FULL_DISK, FAILED_FLUSH], ids=["full disk", "failed flush"])
def test_an_error_of_the_disk_loses_nothing_and_is_reported(tmp_path, fault):
    tally = FaultyLives(tmp_path, seed=1).run(fault, cuts=1)

    assert tally is not None
    assert broken_laws(tally) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER_FAULTS)
def test_errors_at_other_calls_lose_nothing_and_are_reported(tmp_path, name):
    tally = FaultyLives(tmp_path, seed=1).run(OTHER_FAULTS[name], cuts=6)

    assert tally is not None
    assert broken_laws(tally) == []


def test_a_folder_that_cannot_be_flushed_is_reported(tmp_path):
    (tmp_path / "store").mkdir()
    fault = Fault("flush", "/store", 2, LASTING, errno.EIO)
    recording = record(tmp_path / "store", Plan(seed=1, life=1, letters=2), faults=[fault])

    assert recording.faults
    assert recording.exit_code != 0 or any(message[0] in ("failed", "refused") for message in recording.messages)


@pytest.mark.parametrize(
    ("exit_code", "stderr", "problem"),
    [
        (0, "", "letter 2 has no answer"),
        (1, "sqlite3.OperationalError: disk I/O error", "the process ended with 1: sqlite3.OperationalError"),
        (None, "", "neither answered nor ended"),
    ],
)
def test_a_process_that_does_not_report_an_error_breaks_a_law(exit_code, stderr, problem):
    messages = [["sending", "a", "1"], ["receipt", "a", "1"], ["sending", "a", "2"]]
    opening = Call(Action.OPEN, False, 5, 0, 0, MESSAGES, b"")
    writes = [Call(Action.WRITE, False, 5, 0, 0, "", json.dumps(message).encode()) for message in messages]

    (law,) = unreported_errors(Recording({}, [opening, *writes], exit_code, stderr))

    assert problem in law


def test_a_process_may_end_with_an_error_of_the_store():
    stderr = "Traceback:\n ...\nantiphon.runtime.errors.StoreError: the disk is full"

    assert unreported_errors(Recording({}, [], 1, stderr)) == []


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.inject.__name__)
def test_injected_errors_find_an_injected_bug(tmp_path_factory, bug):
    laws = (find_bug(bug, tmp_path_factory.mktemp("store"), seed) for seed in range(SEEDS))

    assert any(laws)
