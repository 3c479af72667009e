"""The child process of an embedded model: started when first needed, and restarted after it ended.

1. The child reads what to load and its key as one line from standard input, reports its port as one line on
   standard output, and ends when its standard input is closed, so it ends with us in any case.
2. If a child does not start (a missing library, an old processor, a file it cannot load), one error gives the reason.
3. The weights are verified while the child starts: it waits for the line on its standard input.
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

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Secret
from antiphon.providers.local.exits import describe_exit, load_error
from antiphon.providers.local.library import XLLAMACPP, installation_problem, library_problem
from antiphon.providers.local.sources import Source

START_S = 120
# How long after its connections a process may end.
EXIT_S = 2
# Errors of the connections of a process that has ended.
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
    # With the default of libgomp, two threads drop from 100 tokens a second to 5 when the processor is shared.
    {"GOMP_SPINCOUNT": "1000"},
)


@dataclass(frozen=True, slots=True)
class Child:
    """Child process that is ready for requests."""

    process: Process
    base_url: str
    key: Secret
    slots: asyncio.Semaphore

    @property
    def alive(self) -> bool:
        """True unless the process is known to have ended."""
        return self.process.returncode is None


class Engine:
    """Runs a local model in a child process that all users share; close it to end the child."""

    __slots__ = ("_child", "_program", "_requests", "_starting", "source")

    def __init__(self, source: Source, program: Program = SERVING) -> None:
        self.source = source
        self._program = program
        self._child: Child | None = None
        self._requests = 0
        self._starting = asyncio.Lock()

    def __repr__(self) -> str:
        return f"Engine({self.source.reference!r})"

    @property
    def is_running(self) -> bool:
        """True while a child process runs."""
        return self._child is not None and self._child.alive

    @property
    def is_used(self) -> bool:
        """True while requests use the child, or wait for it."""
        return self._requests > 0

    async def check(self) -> None:
        """Raise `ProviderError` if the library or the weights are not installed."""
        library = self._program.library
        if problem := installation_problem(library):
            raise ProviderError(Code.UNSUPPORTED, f"{self.source.reference}: {problem}")
        if problem := self.source.problem():
            # Installing the weights helps only if the library loads.
            library_reason = await asyncio.to_thread(library_problem, library)
            message = f"{self.source.reference}: {library_reason}" if library_reason else problem
            raise ProviderError(Code.UNSUPPORTED, message)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Child]:
        """Acquire a slot of a running child, waiting while all are in use."""
        self._requests += 1
        try:
            child = await self._ensure_running()
            async with child.slots:
                try:
                    yield child
                except ProviderError as error:
                    if error.code in BROKEN_OFF and (reason := await _exit_reason(child)):
                        message = f"{self.source.reference} stopped ({reason}); the next request starts it again"
                        raise ProviderError(Code.NETWORK, message) from error
                    raise
        finally:
            self._requests -= 1

    async def close(self) -> None:
        """End the child."""
        async with self._starting:
            child = self._child
            self._child = None
            if child is not None:
                await _end(child.process)

    async def _ensure_running(self) -> Child:
        async with self._starting:
            if self._child is None or not self._child.alive:
                dead = self._child
                self._child = None
                if dead is not None:
                    await _end(dead.process)
                self._child = await self._start()
            return self._child

    async def _start(self) -> Child:
        await self.check()
        program = self._program
        key = secrets.token_hex(16)
        with tempfile.TemporaryFile() as errors:
            try:
                process = await asyncio.create_subprocess_exec(
                    *program.command,
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=errors,
                    env={**os.environ, **program.environment},
                    # Ctrl-C in a terminal is for us only; we may continue after it.
                    start_new_session=True,
                )
            except OSError as error:
                raise self._start_failure(error.strerror or str(error)) from error
            try:
                ready = await self._handshake(process, key)
                if ready is None:
                    code = await process.wait()
                    errors.seek(0)
                    output = errors.read()
                    if reason := load_error(output):
                        raise ProviderError(
                            Code.UNSUPPORTED, f"{self.source.reference} cannot be loaded: {reason}; use another file"
                        )
                    raise self._start_failure(describe_exit(code, output))
            except BaseException:
                await _end(process)
                raise
        url = f"http://127.0.0.1:{ready['port']}/v1"
        return Child(process, url, Secret(key), asyncio.Semaphore(ready["slots"]))

    async def _handshake(self, process: Process, key: str) -> dict[str, int] | None:
        """Send the child its task and return its reply; None if it ends before."""
        assert process.stdin is not None
        assert process.stdout is not None
        task = {**await asyncio.to_thread(self.source.load_order), "key": key}
        try:
            async with asyncio.timeout(START_S):
                process.stdin.write(json.dumps(task).encode() + b"\n")
                await process.stdin.drain()
                line = await process.stdout.readline()
        except ConnectionError:
            return None
        except TimeoutError:
            raise self._start_failure(f"not ready after {START_S} s") from None
        return json.loads(line) if line else None

    def _start_failure(self, reason: str) -> ProviderError:
        problem = f"it needs {self._program.library}, which does not start here ({reason}); use another model"
        return ProviderError(Code.UNSUPPORTED, f"{self.source.reference}: {problem}")


async def _end(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    # Otherwise the pipes stay open until garbage collection, with a warning.
    process._transport.close()  # type: ignore[attr-defined]


async def _exit_reason(child: Child) -> str | None:
    """Return how the child ended, or None; its connections break slightly earlier than it ends."""
    try:
        async with asyncio.timeout(EXIT_S):
            return describe_exit(await child.process.wait())
    except TimeoutError:
        return None
