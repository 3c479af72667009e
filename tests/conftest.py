"""Settings of all tests: the number of processes, and property tests without a deadline."""

import os

from hypothesis import settings

# A property does not depend on the speed of the machine.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_xdist_auto_num_workers() -> int:
    """Return more processes than cores, because most tests wait for a process or a terminal."""
    return 2 * (os.cpu_count() or 1)
