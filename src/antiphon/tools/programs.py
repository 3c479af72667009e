"""Run our own small programs as processes, because only a process can be stopped at any time."""

import asyncio
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
# Folders of the system; those of PATH may be in a workspace, where a command can put a program.
SYSTEM_PATH = (
    "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin:/nix/var/nix/profiles/default/bin:/opt/homebrew/bin"
)


def system_program(name: str) -> str | None:
    """Return the path of a program of the system; PATH is not used."""
    return shutil.which(name, path=SYSTEM_PATH)


async def run_program(program: Path, data: bytes, limit_ms: int) -> bytes | None:
    """Run a program with `data` as its input and return its output; None if it failed or took too long.

    The program may use the standard library only. It has no environment, and limits its own processor time in case
    this process ends first.
    """
    seconds = str(limit_ms // 1000 + 1)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-X", "utf8", str(program), seconds, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={}
    )
    try:
        async with asyncio.timeout(limit_ms / 1000):
            output, _ = await process.communicate(data)
    except TimeoutError:
        return None
    finally:
        await _end(process)
    return output if process.returncode == 0 else None


async def _end(process: Process) -> None:
    assert process.stdout is not None
    with suppress(ProcessLookupError):
        process.kill()
    # The remaining output is read, because otherwise the end of the process would not be noticed.
    await wait_despite_cancellation(asyncio.gather(process.stdout.read(), process.wait()))


async def wait_despite_cancellation(work: asyncio.Future[T]) -> T:
    """Wait for work to end, even if cancelled meanwhile; raise the cancellation afterwards."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return work.result()
