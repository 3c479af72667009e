"""What it costs to record changes for undo: commands and files written, in a copy of this repository's own files.

Wall time of whole calls, processes included, as a person waits for them; the lowest of some rounds.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from argparse import ArgumentParser
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory
from time import perf_counter

from antiphon.messages import ToolCall
from antiphon.tools import UndoFolder, Workspace, workspace_tools
from antiphon.tools.context import CURRENT, Context
from peers import REPOSITORY
from tables import print_table, ratio

ROUNDS = 9
COMMAND = ("shell", {"command": "true"})
CHANGE = ("shell", {"command": "date +%N >> README.md"})
WRITE = ("write_file", {"path": "docs/new.md", "content": "A line.\n" * 100})


async def measure(folder: Path, undo: UndoFolder | None, call: tuple[str, dict[str, str]], *, rounds: int) -> float:
    """Return the lowest time of a call in milliseconds."""
    times_ms = []
    name, arguments = call
    with Workspace(folder) as workspace:
        box = workspace_tools(workspace, undo=undo)
        for _ in range(rounds):
            CURRENT.set(Context(thread="bench"))
            start = perf_counter()
            result = await box.call(ToolCall("1", name, json.dumps(arguments)))
            times_ms.append((perf_counter() - start) * 1000)
            assert not result.is_error, result
    return min(times_ms)


async def measure_first(folder: Path, copies: Path, rounds: int) -> float:
    """Return the lowest time of the first command of a run, which copies the files."""
    times_ms = []
    for number in range(rounds):
        with UndoFolder(copies / str(number)) as undo:
            times_ms.append(await measure(folder, undo, COMMAND, rounds=1))
    return min(times_ms)


def copy_files(target: Path) -> tuple[int, int]:
    """Copy the files of this repository that are under version control; return their number and size."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True).stdout
    names = [name for name in listed.decode().split("\0") if name]
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        copy2(REPOSITORY / name, target / name)
    return len(names), sum((target / name).stat().st_size for name in names)


async def main() -> None:
    """Measure, and print a table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="calls of each kind")
    rounds = parser.parse_args().rounds
    with TemporaryDirectory() as name:
        folder = Path(name) / "work"
        folder.mkdir()
        files, size = copy_files(folder)
        await measure(folder, None, COMMAND, rounds=2)  # the first call loads modules
        plain_ms = await measure(folder, None, COMMAND, rounds=rounds)
        plain_write_ms = await measure(folder, None, WRITE, rounds=rounds)
        first_ms = await measure_first(folder, Path(name) / "first", rounds)
        with UndoFolder(Path(name) / "undo") as undo:
            await measure(folder, undo, COMMAND, rounds=1)
            later_ms = await measure(folder, undo, COMMAND, rounds=rounds)
            change_ms = await measure(folder, undo, CHANGE, rounds=rounds)
            write_ms = await measure(folder, undo, WRITE, rounds=rounds)
    rows = [
        ("a command", plain_ms, plain_ms),
        ("the first command of a run, recorded", first_ms, plain_ms),
        ("a later command, recorded", later_ms, plain_ms),
        ("a later command that changes a file, recorded", change_ms, plain_ms),
        ("a file written", plain_write_ms, plain_write_ms),
        ("a file written, recorded", write_ms, plain_write_ms),
    ]
    print_table(
        f"Undo in {files:,} files of {size / 1e6:.1f} MB",
        ("call", "ms", "× plain"),
        [(what, ratio(value_ms), ratio(value_ms / base_ms)) for what, value_ms, base_ms in rows],
    )


if __name__ == "__main__":
    asyncio.run(main())
