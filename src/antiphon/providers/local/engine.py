"""The child process that runs an embedded model: started when first needed, watched, replaced when it died.

1. A child is told what to load and its key by one line on its standard input, says its port by one line on its
   standard output, and ends when its standard input is closed: with us, however we end.
2. Engines are tried in order; one that does not start here (no wheel, an old processor, a missing library) leaves the
   place to the next.
3. Our checking of the weights and the child's own start happen at the same time: the child waits for the line.
"""

import asyncio
import json
import os
import secrets
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from antiphon.providers.errors import Code, ProviderError
from antiphon.providers.keys import Secret
from antiphon.providers.local.weights import Weights, trouble, verify

START_S = 120
# How long the end of a process may follow the end of its connections.
DEATH_S = 2
LONGEST_REASON = 300
# What the end of a process looks like on its connections.
BROKEN_OFF = (Code.NETWORK, Code.TRUNCATED)
NOT_INSTALLED = "nothing here can run embedded models: pip install 'antiphon[local]'"
SERVING = (sys.executable, "-m", "antiphon.providers.local.serving")


@dataclass(frozen=True, slots=True)
class Kind:
    """A program that can run weights: which package it needs, and what its process needs in the environment."""

    name: str
    module: str
    command: Sequence[str]
    environment: Mapping[str, str]


KINDS = (
    # With libgomp's own default, two threads fall from 100 tokens a second to 5 as soon as others use the processor.
    Kind("xllamacpp", "xllamacpp", (*SERVING, "xllamacpp"), {"GOMP_SPINCOUNT": "1000"}),
    # More threads of OpenBLAS get into each other's way on products as small as these.
    Kind("numpy", "numpy", (*SERVING, "numpy"), {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}),
)


def kinds_here(environment: Mapping[str, str] = os.environ) -> tuple[Kind, ...]:
    """The engines that are installed, best first; ANTIPHON_LOCAL_ENGINE names the only one to use."""
    wanted = environment.get("ANTIPHON_LOCAL_ENGINE")
    if wanted and wanted not in [kind.name for kind in KINDS]:
        known = ", ".join(kind.name for kind in KINDS)
        raise ProviderError(Code.BAD_REQUEST, f"ANTIPHON_LOCAL_ENGINE is {wanted!r}; known: {known}")
    installed = [kind for kind in KINDS if find_spec(kind.module) is not None]
    return tuple(kind for kind in installed if wanted in (None, "", kind.name))


@dataclass(frozen=True, slots=True)
class Child:
    """A child process that is ready to be asked."""

    kind: Kind
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

    __slots__ = ("_child", "_folder", "_kinds", "_starting", "weights")

    def __init__(self, weights: Weights, folder: Path, kinds: Sequence[Kind] | None = None) -> None:
        self.weights = weights
        self._folder = folder
        self._kinds = kinds
        self._child: Child | None = None
        self._starting = asyncio.Lock()

    def __repr__(self) -> str:
        return f"Engine({self.weights.reference!r})"

    @property
    def kind(self) -> str | None:
        """Which engine runs at the moment."""
        return self._child.kind.name if self._child is not None and self._child.alive else None

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
        if problem := trouble(self.weights, self._folder):
            raise ProviderError(Code.UNSUPPORTED, problem)
        kinds = kinds_here() if self._kinds is None else self._kinds
        failures = []
        for kind in kinds:
            try:
                return await self._start(kind)
            except _NotStarted as failure:
                failures.append(f"{kind.name}: {failure}")
        reason = f"no engine starts here ({'; '.join(failures)})" if failures else NOT_INSTALLED
        raise ProviderError(Code.UNSUPPORTED, f"{self.weights.reference}: {reason}")

    async def _start(self, kind: Kind) -> Child:
        key = secrets.token_hex(16)
        with tempfile.TemporaryFile() as said:
            try:
                process = await asyncio.create_subprocess_exec(
                    *kind.command,
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=said,
                    env={**os.environ, **kind.environment},
                    # Ctrl-C in a terminal is meant for us; we may go on after it.
                    start_new_session=True,
                )
            except OSError as error:
                raise _NotStarted(error.strerror or str(error)) from error
            try:
                ready = await self._introduced(process, key)
                if ready is None:
                    await process.wait()
                    raise _NotStarted(f"{_manner(process)}{_last_line(said)}")
            except BaseException:
                await _end(process)
                raise
        url = f"http://127.0.0.1:{ready['port']}/v1"
        return Child(kind, process, url, Secret(key), asyncio.Semaphore(ready["slots"]))

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
            raise _NotStarted(f"not ready after {START_S} s") from None
        return json.loads(line) if line else None


class _NotStarted(Exception):
    """An engine does not run here."""


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
            await child.process.wait()
    except TimeoutError:
        return None
    return _manner(child.process)


def _manner(process: Process) -> str:
    code = process.returncode or 0
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").strip().splitlines()
    return f", {lines[-1][:LONGEST_REASON]}" if lines else ""
