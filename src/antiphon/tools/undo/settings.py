"""Settings of undo."""

from collections.abc import Sequence
from dataclasses import dataclass

MIB = 1024 * 1024
# Version control's stores of objects, and folders that other tools fill again.
SKIPPED = (
    ".git/objects", ".git/lfs", "node_modules", ".venv", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    ".tox",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class UndoSettings:
    """Limits of undo: size of a workspace whose commands can be undone, and size and age of copies."""

    most_files: int = 10_000
    most_bytes: int = 64 * MIB
    most_thread_bytes: int = 256 * MIB
    most_total_bytes: int = 1024 * MIB
    most_days: int = 30
    # Folders of a workspace, by name or by the end of their path, that are neither copied nor compared for commands.
    skipped: Sequence[str] = SKIPPED
