"""CPU time and memory of another process, as Linux counts them."""

from __future__ import annotations

import os
from pathlib import Path
from time import sleep

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """CPU seconds of a process with all its threads, kernel included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_mb(pid: int) -> float:
    """Resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def others_busy(seconds: float = 1.0) -> float:
    """Share of all processors that is used, while this process sleeps."""
    before = _jiffies()
    sleep(seconds)
    after = _jiffies()
    used, idle = (after[0] - before[0], after[1] - before[1])
    return used / max(1, used + idle)


def _jiffies() -> tuple[int, int]:
    """Used and idle time of all processors."""
    user, nice, system, idle, waiting, *others = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:8])
    return user + nice + system + sum(others), idle + waiting


def waited_s(pid: int) -> float:
    """Seconds for which the main thread of a process was ready and had no processor, because others had them."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
