"""How many tests run at a time: most of them wait for a process or a terminal, so more than there are cores."""

import os


def pytest_xdist_auto_num_workers() -> int:
    return 2 * (os.cpu_count() or 1)
