"""Memory that a model needs, and memory that is available."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from antiphon.providers.local.gguf import Gguf

# Prompts are computed in batches of this many tokens; a cancellation is noticed between them.
BATCH = 256
# The interpreter and the library.
PROGRAM_BYTES = 80_000_000
MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that a loaded model takes: its weights, the context, and everything else."""

    weights: int
    context: int
    rest: int

    @property
    def total(self) -> int:
        """Sum of all."""
        return self.weights + self.context + self.rest


def estimate_memory(model: Gguf, context: int) -> Memory:
    """Estimate the memory of a model with a context of that many tokens."""
    # The scores of all tokens of the vocabulary, for each token of a batch.
    scores = model.vocabulary * BATCH * 4
    return Memory(model.bytes, model.bytes_per_token * context, scores + PROGRAM_BYTES)


def available_memory(meminfo: Path = MEMINFO, cgroup: Path = CGROUP) -> int | None:
    """Return the bytes that can be used, or None if the system does not tell."""
    amounts = [amount for amount in (_system_memory(meminfo), _group_memory(cgroup)) if amount is not None]
    return min(amounts, default=None)


def format_memory(count: int) -> str:
    """Format a number of bytes as MB, or as GB."""
    return f"{count / 1e6:,.0f} MB" if count < 1e9 else f"{count / 1e9:,.1f} GB"


def _system_memory(meminfo: Path) -> int | None:
    try:
        match = re.search(r"^MemAvailable:\s+(\d+) kB$", meminfo.read_text(), re.MULTILINE)
    except OSError:
        match = None
    if match is not None:
        return int(match[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _group_memory(cgroup: Path) -> int | None:
    """Return what is left of the limit of a container; file pages count as free, because they can be dropped."""
    try:
        limit = int((cgroup / "memory.max").read_text())
        used = int((cgroup / "memory.current").read_text())
        files = re.search(r"^file (\d+)$", (cgroup / "memory.stat").read_text(), re.MULTILINE)
    except (OSError, ValueError):
        return None
    return max(0, limit - used + (int(files[1]) if files else 0))
