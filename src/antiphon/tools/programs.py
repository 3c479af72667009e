"""Small programs of our own, run as processes because only a process can be stopped in the middle of its work."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

Done = TypeVar("Done")


async def run_program(program: Path, given: bytes, most_ms: int) -> bytes | None:
    """What a program of the standard library only says to what it is given; nothing when it took too long.

    It has no environment, and ends itself when it has used that much of the processor, should we be gone by then.
    """
    seconds = str(most_ms // 1000 + 1)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-X", "utf8", str(program), seconds, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={}
    )
    try:
        async with asyncio.timeout(most_ms / 1000):
            said, _ = await process.communicate(given)
    except TimeoutError:
        return None
    finally:
        await _end(process)
    return said if process.returncode == 0 else None


async def _end(process: Process) -> None:
    assert process.stdout is not None
    with suppress(ProcessLookupError):
        process.kill()
    # What it still wrote is read away, or its end would not be noticed.
    await wait_despite_cancellation(asyncio.gather(process.stdout.read(), process.wait()))


async def wait_despite_cancellation(work: asyncio.Future[Done]) -> Done:
    """Wait for something that ends by itself, whoever cancels meanwhile; the cancelling comes after."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return work.result()
