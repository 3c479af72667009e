"""Settings of all tests: the number of processes, property tests without a deadline, and no files of the user."""

import os

import pytest
from hypothesis import settings

# A property does not depend on the speed of the machine.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_xdist_auto_num_workers() -> int:
    """Return more processes than cores, because most tests wait for a process or a terminal."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture(scope="session", autouse=True)
def _undo_folder(tmp_path_factory):
    """Keep the copies of undo out of the user's folders."""
    os.environ["ANTIPHON_UNDO"] = str(tmp_path_factory.mktemp("undo"))
