"""Only the thread machine writes the status of a thread; and the rule notices when that breaks."""

import pytest

from antiphon.threads.machine.thread import STATUSES
from tests.architecture.statuses import OTHER_STATUSES, status_writes
from tests.architecture.test_rules import PACKAGE, tree


@pytest.mark.requirement("S3-01", "S3-38", "S3-43")
def test_nobody_but_the_thread_machine_writes_a_status():
    assert status_writes(PACKAGE, frozenset(STATUSES)) == []


def test_every_exception_still_exists():
    assert [name for name in OTHER_STATUSES if not (PACKAGE / name).exists()] == []


@pytest.mark.requirement("S3-01")
@pytest.mark.parametrize(
    "line",
    [
        "thread.status = 'running'",
        "status = 'waiting'",
        "status: str = 'waiting'",
        "row['status'] = 'failed'",
        "threads.update('t', status='completed')",
        "update({'id': 't', 'status': 'stopped'})",
        "status = 'stopped' if failed else 'completed'",
        "status = known or 'pending'",
        "print(status := 'running')",
    ],
)
@pytest.mark.parametrize(
    "module", ["chat/service.py", "server/routes.py", "cli/chat/client.py", "chat/machine/flow.py"]
)
def test_a_written_status_is_noticed(tmp_path, module, line):
    assert status_writes(tree(tmp_path, {module: line}), frozenset(STATUSES))


@pytest.mark.parametrize(
    "line",
    [
        "if change.status == 'running': pass",
        "status = change.status",
        "update(status=change.status)",
        "threads.transition('t', {'type': 'SET_STATUS', 'status': 'stopped'})",
        "response(status=404)",
        "status = 'active'",
    ],
)
def test_reading_a_status_and_asking_the_machine_for_one_are_allowed(tmp_path, line):
    assert status_writes(tree(tmp_path, {"chat/service.py": line}), frozenset(STATUSES)) == []


def test_below_threads_a_status_is_an_actors(tmp_path):
    package = tree(
        tmp_path, {"actors/actor.py": "self.status = 'stopped'", "threads/machine/thread.py": "status = 'failed'"}
    )

    assert status_writes(package, frozenset(STATUSES)) == []
