"""A person before a debate: sees it from the journal, pauses and resumes it, speaks into it, pays more, stops it."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress

from antiphon.cli.debate.plain_view import DebateShow
from antiphon.cli.debate.state import SPEAKING, Stage
from antiphon.cli.raw_keys import TypedLine, heard
from antiphon.debate.service import Debates
from antiphon.runtime.errors import RuntimeFault
from antiphon.threads.errors import ThreadError

DONE, FAILED, CANCELLED = 0, 1, 130
REFRESH_S = 0.1
SAY, LIMIT = "say: ", "new limit in USD: "
# Every key with what it does; which of them can be used depends on where the debate is.
KEYS = {
    "p": "pause",
    "r": "resume",
    "j": "judge now",
    "i": "interject",
    "a": "warning seen",
    "l": "raise the limit",
    "q": "stop",
}
STOPPING = "stopping; Ctrl-C once more leaves at once"


def keys_now(stage: Stage) -> list[str]:
    """The keys that do something now."""
    if stage.is_over:
        return []
    found = {
        "p": stage.state in (*SPEAKING, "initializing", "judgeEvaluating"),
        "r": stage.state == "paused" or stage.can_retry,
        "j": stage.state == "debating" or (stage.state == "paused" and _has_words(stage)),
        "i": stage.state in (*SPEAKING, "paused"),
        "a": stage.has_open_warning,
        "l": stage.is_out_of_money,
        "q": True,
    }
    return [key for key in KEYS if found[key]]


def hint(stage: Stage) -> str:
    """What can be done now, in a line."""
    words = {**KEYS, "r": "try again" if stage.state == "error" else KEYS["r"]}
    said = [f"{key} {words[key]}" for key in keys_now(stage)]
    return " · ".join([*said, "Ctrl-C leaves it as it is"] if stage.is_resting else said)


def _has_words(stage: Stage) -> bool:
    return bool(stage.rounds) or any(turn.end == "whole" for turn in stage.turns.values())


class Moderator:
    """Follows one debate to its end, or until nothing can be done about it."""

    def __init__(self, debates: Debates, stage: Stage, show: DebateShow, *, is_interactive: bool) -> None:
        self._debates, self.stage, self._show = debates, stage, show
        self._is_interactive = is_interactive
        self.resumes_lost = False  # whether a debate that a lost process held is to go on as soon as that is known
        self._line: TypedLine | None = None
        self._leaving = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_cancelled = False  # by Ctrl-C

    async def hold(self, begin: Callable[[], Awaitable[object]], after: int) -> int:
        """Begin or go on, show what happens after a step, and give the exit code."""
        async with self._signals(), self._ticking():
            with heard(self._press) if self._is_interactive else nullcontext():
                await begin()
                watching = asyncio.create_task(self._watch(after))
                leaving = asyncio.create_task(self._leaving.wait())
                await asyncio.wait({watching, leaving}, return_when=asyncio.FIRST_COMPLETED)
                leaving.cancel()
                if not watching.done():
                    watching.cancel()
                with suppress(asyncio.CancelledError):
                    await watching
        return self.code

    @property
    def code(self) -> int:
        """How it ended, as an exit code."""
        if self._is_cancelled or self.stage.outcome == "stopped" or self.stage.state == "paused":
            return CANCELLED
        return DONE if self.stage.outcome == "verdict" else FAILED

    async def _watch(self, after: int) -> None:
        stage = self.stage
        async for step in self._debates.steps(stage.id, after):
            for activity in step:
                stage.take(activity)
                self._show.take(activity, stage)
            self._refresh()
            if stage.is_over or (stage.is_resting and not await self._goes_on()):
                return

    async def _goes_on(self) -> bool:
        """Whether somebody is there who may do something about a debate that rests."""
        if self.resumes_lost and self.stage.status == "interrupted":
            self.resumes_lost = False
            await self._debates.resume(self.stage.id)
            return True
        can_be_helped = set(keys_now(self.stage)) - {"q", "a", "i"}
        return self._is_interactive and not self._is_cancelled and bool(can_be_helped)

    @asynccontextmanager
    async def _signals(self) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGINT, self._interrupt)
            # Whoever ends the process must not leave the terminal without its echo.
            loop.add_signal_handler(signal.SIGTERM, self._leave)
        except (NotImplementedError, RuntimeError):  # not on every system, nor on every thread
            yield
            return
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            loop.remove_signal_handler(signal.SIGTERM)

    def _leave(self) -> None:
        self._is_cancelled = True
        self._leaving.set()

    def _interrupt(self) -> None:
        if self._is_cancelled or self.stage.is_resting:
            self._leave()
            return
        self._is_cancelled = True
        self._show.note(STOPPING)
        self._do(self._debates.stop(self.stage.id))

    @asynccontextmanager
    async def _ticking(self) -> AsyncIterator[None]:
        async def tick() -> None:
            while True:
                self._refresh()
                await asyncio.sleep(REFRESH_S)

        ticking = asyncio.create_task(tick())
        try:
            yield
        finally:
            for task in (ticking, *self._tasks):
                task.cancel()
            await asyncio.gather(ticking, *self._tasks, return_exceptions=True)

    def _refresh(self) -> None:
        words = hint(self.stage) if self._line is None else self._line.shown
        self._show.refresh(self.stage, words if self._is_interactive else "")

    def _press(self, key: str) -> None:
        if self._line is not None:
            self._type(self._line, key)
        elif key.lower() in keys_now(self.stage):
            self._act(key.lower())
        self._refresh()

    def _act(self, key: str) -> None:
        id, debates = self.stage.id, self._debates
        match key:
            case "i":
                self._line = TypedLine(SAY)
            case "l":
                self._line = TypedLine(LIMIT)
            case "p":
                self._do(debates.pause(id))
            case "r":
                self._do(debates.retry(id) if self.stage.state == "error" else debates.resume(id))
            case "j":
                self._do(debates.judge_now(id))
            case "a":
                self.stage.has_open_warning = False
                self._do(debates.acknowledge(id))
            case "q":
                self._do(debates.stop(id))

    def _type(self, line: TypedLine, key: str) -> None:
        done = line.press(key)
        if done is None:
            return
        self._line, text = None, line.text.strip()
        if not done or not text:
            return
        if line.prompt == SAY:
            self._do(self._debates.interject(self.stage.id, text))
            return
        try:
            limit = float(text)
        except ValueError:
            self._show.note(f"{text!r} is no amount in USD", "error")
            return
        self._do(self._debates.raise_limit(self.stage.id, limit))

    def _do(self, work: Awaitable[object]) -> None:
        async def run() -> None:
            try:
                await work
            except (ThreadError, RuntimeFault) as problem:
                self._show.note(str(problem), "error")

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
