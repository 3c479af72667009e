"""Child processes, bounded in time: one that answers once, and one that answers a line for a line."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from peers import REPOSITORY, PeerUnavailable, last_line

BENCH = Path(__file__).resolve().parent


def environment(source: Path = REPOSITORY / "src") -> dict[str, str]:
    """The same for every child: fixed hash seed, production builds, sources of ours importable."""
    return {
        **os.environ,
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(source),
        "NODE_ENV": "production",
        "NODE_OPTIONS": "",
    }


def run_once(command: Sequence[str], *, limit_s: float) -> str:
    """All that a child prints, once it has ended well."""
    try:
        done = subprocess.run(command, cwd=BENCH, env=environment(), capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired as error:
        raise PeerUnavailable(f"took more than {limit_s:.0f} s") from error
    if done.returncode != 0:
        raise PeerUnavailable(last_line(done.stderr))
    return done.stdout


class Lane:
    """One child process that times a burst of slices whenever it is asked to."""

    def __init__(self, command: Sequence[str], *, limit_s: float, source: Path = REPOSITORY / "src") -> None:
        self.process = subprocess.Popen(
            command,
            cwd=BENCH,
            env=environment(source),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.watchdog = threading.Timer(limit_s, self.process.kill)
        self.watchdog.daemon = True
        self.watchdog.start()

    def __enter__(self) -> Lane:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.watchdog.cancel()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(BrokenPipeError):  # a question that the child did not live to hear
                if stream:
                    stream.close()

    def hear(self) -> Any:
        """The child's next line."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise PeerUnavailable(self.explain())
        return json.loads(line)

    def ask(self, question: str = "") -> Any:
        """Ask for a burst, or with a question of one line; gives the answer."""
        assert self.process.stdin
        try:
            self.process.stdin.write(f"{question}\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise PeerUnavailable(self.explain()) from error
        return self.hear()

    def explain(self) -> str:
        """Why the child has ended."""
        assert self.process.stderr
        errors = self.process.stderr.read()
        self.process.wait()
        return last_line(errors) if self.process.returncode >= 0 else "stopped: out of time"
