"""The two engines as child processes that answer JSON lines of specs with JSON lines of traces."""

import json
import os
import queue
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from compare import Difference, compare

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "src"
XSTATE = "xstate@5.33.3"
NODE_MEMORY = "--max-old-space-size=6000"
STARTUP_S = 20.0

Spec = dict[str, Any]
Answer = dict[str, Any]

PROBE: Spec = {"id": "probe", "config": {"initial": "a", "states": {"a": {}}}, "steps": []}


class SetupError(Exception):
    """Something the comparison needs is not installed."""


class Engine:
    """An engine in a child process, started when first asked and again after it hung or died."""

    def __init__(self, command: list[str], environment: dict[str, str], time_limit_s: float) -> None:
        self._command = command
        self._environment = {**os.environ, **environment}
        self._time_limit_s = time_limit_s
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def ask(self, spec: Spec) -> Answer:
        """Return the trace of a spec; {"hung": ...} if none came in time, {"fatal": ...} if the process died."""
        if self._process is None:
            self._process = self._start()
            probed = self._exchange(self._process, PROBE, STARTUP_S)
            if "trace" not in probed:
                self.close()
                return probed
        return self._exchange(self._process, spec, self._time_limit_s)

    def _exchange(self, process: "subprocess.Popen[str]", spec: Spec, time_limit_s: float) -> Answer:
        if process.stdin is None:
            raise AssertionError("the child process has no input")
        try:
            process.stdin.write(json.dumps(spec, separators=(",", ":")) + "\n")
            process.stdin.flush()
            line = self._lines.get(timeout=time_limit_s)
        except queue.Empty:
            self.close()
            return {"id": spec.get("id"), "hung": f"no answer in {time_limit_s:g} s"}
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()
            return {"id": spec.get("id"), "fatal": "the process ended without an answer"}
        answer: Answer = json.loads(line)
        return answer

    def close(self) -> None:
        """End the child process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self._lines = queue.SimpleQueue()
        threading.Thread(target=pump, args=(process.stdout, self._lines), daemon=True).start()
        return process

    def __str__(self) -> str:
        return shlex.join(self._command)


class Pair:
    """XState and the engine that is compared with it."""

    def __init__(self, xstate: Engine, other: Engine) -> None:
        self._xstate = xstate
        self._other = other

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._xstate.close()
        self._other.close()

    def answers(self, spec: Spec) -> tuple[Answer, Answer]:
        """Return the answers of both engines to a spec."""
        return self._xstate.ask(spec), self._other.ask(spec)

    def check(self) -> None:
        """Make sure that both engines run."""
        for engine in (self._xstate, self._other):
            answer = engine.ask(PROBE)
            if "trace" not in answer:
                reason = answer.get("fatal") or answer.get("hung")
                raise SetupError(f"an engine does not run ({reason}); try it by hand: {engine}")

    def difference(self, spec: Spec) -> Difference | None:
        """Return the first difference for a spec that XState accepts, or None."""
        expected = self._xstate.ask(spec)
        return compare(expected, self._other.ask(spec)) if "trace" in expected else None


def pump(stream: IO[str], lines: "queue.SimpleQueue[str]") -> None:
    """Move the lines of a stream to a queue; an empty line marks its end."""
    with stream:
        for line in stream:
            lines.put(line)
    lines.put("")


def pair(folder: Path, other: list[str] | None, time_limit_s: float) -> Pair:
    """Return both engines, XState from the folder it was installed in."""
    command = other or [sys.executable, "-m", "tests.xstate.oracle"]
    paths = [str(SOURCES), os.environ.get("PYTHONPATH", "")]
    python = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUNBUFFERED": "1"}
    node = {"NODE_PATH": str(folder / "node_modules")}
    xstate = Engine(["node", NODE_MEMORY, str(HERE / "oracle.cjs")], node, time_limit_s)
    return Pair(xstate, Engine(command, {**python, **node}, time_limit_s))


def install(folder: Path) -> None:
    """Install XState into a folder of its own, unless it is there already."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise SetupError(f"{program!r} was not found; install Node.js 20 or newer and try again")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n")
    manifest = folder / "node_modules" / "xstate" / "package.json"
    if manifest.exists() and json.loads(manifest.read_text())["version"] == XSTATE.partition("@")[2]:
        return
    command = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--prefix", str(folder), XSTATE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"npm could not install {XSTATE}:\n{done.stderr.strip()}")


def generate(count: int, seed: int, profile: str) -> list[Spec]:
    """Return random specs; a seed always gives the same ones."""
    command = ["node", str(HERE / "generate.cjs"), str(count), str(seed), "--profile", profile]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise SetupError(f"no charts could be generated:\n{done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]
