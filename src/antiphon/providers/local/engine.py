"""The child process that runs an embedded model: started when first needed, watched, replaced when it died.

1. A child is told what to load and its key by one line on its standard input, says its port by one line on its
   standard output, and ends when its standard input is closed: with us, however we end.
2. A child that does not start here (a missing library, an old processor) is one error that says why.
3. Our checking of the weights and the child's own start happen at the same time: the child waits for the line.
"""

import asyncio
import json
import os
import secrets
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Secret
from antiphon.providers.local.exits import describe_exit
from antiphon.providers.local.library import XLLAMACPP, installation_problem, library_problem
from antiphon.providers.local.weights import Weights, models_folder, named, trouble, verify

START_S = 120
# How long the end of a process may follow the end of its connections.
DEATH_S = 2
# What the end of a process looks like on its connections.
BROKEN_OFF = (Code.NETWORK, Code.TRUNCATED)


@dataclass(frozen=True, slots=True)
class Program:
    """Command that serves weights, the library that it needs, and its additional environment."""

    library: str
    command: Sequence[str]
    environment: Mapping[str, str]


SERVING = Program(
    XLLAMACPP,
    (sys.executable, "-m", "antiphon.providers.local.serving"),
    # With libgomp's own default, two threads fall from 100 tokens a second to 5 as soon as others use the processor.
    {"GOMP_SPINCOUNT": "1000"},
)


@dataclass(frozen=True, slots=True)
class Child:
    """A child process that is ready to be asked."""

    process: Process
    base_url: str
    key: Secret
    slots: asyncio.Semaphore

    @property
    def alive(self) -> bool:
        """Whether it still runs, as far as is known."""
        return self.process.returncode is None


class Engine:
    """Runs some weights for everyone who shares it; close it to end the child."""

    __slots__ = ("_child", "_folder", "_program", "_starting", "weights")

    def __init__(self, weights: Weights, folder: Path, program: Program = SERVING) -> None:
        self.weights = weights
        self._folder = folder
        self._program = program
        self._child: Child | None = None
        self._starting = asyncio.Lock()

    def __repr__(self) -> str:
        return f"Engine({self.weights.reference!r})"

    @property
    def is_running(self) -> bool:
        """Whether a child runs at the moment."""
        return self._child is not None and self._child.alive

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Child]:
        """A place in a running child; whoever comes when all are taken waits, and can be cancelled meanwhile."""
        child = await self._running()
        async with child.slots:
            try:
                yield child
            except ProviderError as error:
                if error.code in BROKEN_OFF and (how := await _death(child)):
                    message = f"the embedded model stopped ({how}); it is started again when asked again"
                    raise ProviderError(Code.NETWORK, message) from error
                raise

    async def close(self) -> None:
        """End the child."""
        async with self._starting:
            child, self._child = self._child, None
            if child is not None:
                await _end(child.process)

    async def _running(self) -> Child:
        async with self._starting:
            if self._child is None or not self._child.alive:
                dead, self._child = self._child, None
                if dead is not None:
                    await _end(dead.process)
                self._child = await self._started()
            return self._child

    async def _started(self) -> Child:
        program = self._program
        if problem := installation_problem(program.library):
            raise ProviderError(Code.UNSUPPORTED, f"{self.weights.reference}: {problem}")
        if problem := trouble(self.weights, self._folder):
            # Weights are worth fetching only where the library loads.
            library_reason = await asyncio.to_thread(library_problem, program.library)
            message = f"{self.weights.reference}: {library_reason}" if library_reason else problem
            raise ProviderError(Code.UNSUPPORTED, message)
        key = secrets.token_hex(16)
        with tempfile.TemporaryFile() as errors:
            try:
                process = await asyncio.create_subprocess_exec(
                    *program.command,
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=errors,
                    env={**os.environ, **program.environment},
                    # Ctrl-C in a terminal is meant for us; we may go on after it.
                    start_new_session=True,
                )
            except OSError as error:
                raise self._start_failure(error.strerror or str(error)) from error
            try:
                ready = await self._introduced(process, key)
                if ready is None:
                    code = await process.wait()
                    errors.seek(0)
                    raise self._start_failure(describe_exit(code, errors.read()))
            except BaseException:
                await _end(process)
                raise
        url = f"http://127.0.0.1:{ready['port']}/v1"
        return Child(process, url, Secret(key), asyncio.Semaphore(ready["slots"]))

    async def _introduced(self, process: Process, key: str) -> dict[str, int] | None:
        """What the child says when it is ready; nothing when it ends before."""
        assert process.stdin is not None
        assert process.stdout is not None
        path = await asyncio.to_thread(verify, self.weights, self._folder)
        order = {"weights": str(path), "key": key, "name": self.weights.name}
        try:
            async with asyncio.timeout(START_S):
                process.stdin.write(json.dumps(order).encode() + b"\n")
                await process.stdin.drain()
                line = await process.stdout.readline()
        except ConnectionError:
            return None
        except TimeoutError:
            raise self._start_failure(f"not ready after {START_S} s") from None
        return json.loads(line) if line else None

    def _start_failure(self, reason: str) -> ProviderError:
        problem = f"it needs {self._program.library}, which does not start here ({reason}); use another model"
        return ProviderError(Code.UNSUPPORTED, f"{self.weights.reference}: {problem}")


async def _end(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    # The pipes outlive the process otherwise, until the garbage collector complains.
    process._transport.close()  # type: ignore[attr-defined]


async def _death(child: Child) -> str | None:
    """How the child ended, if it did: its connections break a moment before that is known."""
    try:
        async with asyncio.timeout(DEATH_S):
            return describe_exit(await child.process.wait())
    except TimeoutError:
        return None


def engine_of(name: str) -> Engine:
    """The engine of an embedded model, by its name."""
    return Engine(named(name), models_folder())
