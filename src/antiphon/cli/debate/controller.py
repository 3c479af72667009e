"""Controller of a debate: follows its activities, handles keys and signals, and updates the output."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress

from antiphon.cli.debate.plain_view import DebateOutput
from antiphon.cli.debate.state import SPEAKING, DebateState
from antiphon.cli.frame import DONE, FAILED, INTERRUPTED, end_on_signals
from antiphon.cli.input.keys import TypedLine, read_keys
from antiphon.cli.input.signals import ENDING
from antiphon.cli.windows.types import Window, as_client
from antiphon.runtime.errors import RuntimeFault
from antiphon.threads.errors import Refused, ThreadError

REFRESH_S = 0.1
INTERJECTION_PROMPT = "say: "
LIMIT_PROMPT = "new limit in USD: "
# All keys with their labels; `keys_now` returns those that are available.
KEYS = {
    "p": "pause",
    "r": "resume",
    "j": "judge now",
    "i": "interject",
    "a": "dismiss warning",
    "l": "raise the limit",
    "q": "stop",
}
# The keys that differ for whoever watches a debate of another terminal.
ATTACHED_KEYS = {**KEYS, "q": "leave", "s": "stop"}
END_OF_INPUT = "\x04"  # Ctrl-D
RAISE_LIMIT = "RAISE_LIMIT"
RESUMING = "the process of this debate was lost; continuing from its last step"
STOPPING = "stopping; press Ctrl-C again to leave at once"


def keys_now(debate: DebateState) -> list[str]:
    """Return the keys that are available now."""
    if debate.is_over:
        return []
    is_available = {
        "p": debate.state in (*SPEAKING, "initializing", "judgeEvaluating"),
        "r": debate.state == "paused" or debate.can_retry,
        "j": debate.state == "debating" or (debate.state == "paused" and _has_arguments(debate)),
        "i": debate.state in (*SPEAKING, "paused"),
        "a": debate.has_open_warning,
        "l": debate.is_at_cost_limit,
        "q": True,
    }
    return [key for key in KEYS if is_available[key]]


def hint(debate: DebateState, *, is_attached: bool = False) -> str:
    """Format the available keys as one line."""
    labels = {**(ATTACHED_KEYS if is_attached else KEYS), **({"r": "retry"} if debate.state == "error" else {})}
    available = keys_now(debate)
    keys = [f"{key} {labels[key]}" for key in ([*available, "s"] if is_attached and available else available)]
    return " · ".join([*keys, "Ctrl-C leave it as it is"] if debate.is_resting and not is_attached else keys)


def _has_arguments(debate: DebateState) -> bool:
    return bool(debate.rounds) or any(turn.end == "whole" for turn in debate.turns.values())


class DebateController:
    """Runs one debate to its end, or until the user cannot continue it."""

    def __init__(
        self,
        window: Window,
        debate: DebateState,
        output: DebateOutput,
        *,
        is_interactive: bool,
        is_attached: bool = False,
    ) -> None:
        self._is_attached = is_attached  # another terminal or a page has started it
        self._has_left = False  # while it goes on
        self._threads = window.threads
        self._client = as_client(window)  # of the server that runs it, which outlives this window
        if self._client is not None:
            self._client.on_restart = output.note
        self.debate = debate
        self._output = output
        self._is_interactive = is_interactive
        self.resumes_interrupted = False  # whether to resume once the runtime finds that the process was lost
        self._line: TypedLine | None = None
        self._leaving = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_cancelled = False  # by Ctrl-C
        self._ended_by: int | None = None  # a signal

    async def run(self, begin: Callable[[], Awaitable[object]], after: int | str) -> int:
        """Call `begin`, show the activities after a step or cursor, and return the exit code."""
        async with self._signals(), self._ticking():
            with read_keys(self._press) if self._is_interactive else nullcontext():
                await begin()
                watcher = asyncio.create_task(self._watch(after))
                leaving = asyncio.create_task(self._leaving.wait())
                await asyncio.wait({watcher, leaving}, return_when=asyncio.FIRST_COMPLETED)
                leaving.cancel()
                if not watcher.done():
                    watcher.cancel()
                with suppress(asyncio.CancelledError):
                    await watcher
        return self.exit_code

    @property
    def exit_code(self) -> int:
        """The exit code for the state of the debate."""
        if self._ended_by is not None:
            return 128 + self._ended_by
        if self._has_left:
            return DONE
        if self._is_cancelled or self.debate.outcome == "stopped" or self.debate.state == "paused":
            return INTERRUPTED
        return DONE if self.debate.outcome == "verdict" else FAILED

    async def _watch(self, after: int | str) -> None:
        debate = self.debate
        async for step in self._threads.steps(debate.id, after):
            for activity in step:
                debate.apply(activity)
                self._output.handle(activity, debate)
            self._refresh()
            if debate.is_over or (debate.is_resting and not await self._can_continue()):
                return

    async def _can_continue(self) -> bool:
        """Resume an interrupted debate, or return whether the user can continue one that rests."""
        is_lost = self.debate.status == "interrupted" and not self._is_cancelled and not self._is_attached
        if is_lost and (self.resumes_interrupted or self._client is not None):
            self.resumes_interrupted = False
            if self._client is not None:
                self._output.note(RESUMING)
            with suppress(Refused):  # another window has continued it
                await self._threads.resume(self.debate.id)
            return True
        continuing_keys = set(keys_now(self.debate)) - {"q", "a", "i"}
        return self._is_interactive and not self._is_cancelled and bool(continuing_keys)

    @asynccontextmanager
    async def _signals(self) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGINT, self._interrupt)
            # The terminal settings must be restored before the process ends.
            for number in ENDING:
                loop.add_signal_handler(number, self._end, number)
        except (NotImplementedError, RuntimeError):  # not available on every platform, nor on other threads
            yield
            return
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            for number in ENDING:
                loop.remove_signal_handler(number)
            end_on_signals()

    def _end(self, number: int) -> None:
        self._ended_by = number
        self._leave()

    def _leave(self) -> None:
        self._is_cancelled = True
        self._leaving.set()

    @property
    def has_left(self) -> bool:
        """True if the user has left a debate that goes on."""
        return self._has_left

    def _detach(self) -> None:
        self._has_left = True
        self._leaving.set()

    def _interrupt(self) -> None:
        if self._is_attached:
            self._detach()
            return
        if self._is_cancelled or self.debate.is_resting:
            self._leave()
            return
        self._is_cancelled = True
        self._output.note(STOPPING)
        self._submit(self._threads.stop(self.debate.id))

    @asynccontextmanager
    async def _ticking(self) -> AsyncIterator[None]:
        async def tick() -> None:
            while True:
                self._refresh()
                await asyncio.sleep(REFRESH_S)

        ticker = asyncio.create_task(tick())
        try:
            yield
        finally:
            for task in (ticker, *self._tasks):
                task.cancel()
            await asyncio.gather(ticker, *self._tasks, return_exceptions=True)

    def _refresh(self) -> None:
        text = hint(self.debate, is_attached=self._is_attached) if self._line is None else self._line.display_text
        self._output.refresh(self.debate, text if self._is_interactive else "")

    def _press(self, key: str) -> None:
        if self._line is not None:
            self._type(self._line, key)
        elif self._is_attached and key.lower() in ("q", END_OF_INPUT):
            self._detach()
        elif self._is_attached and key.lower() == "s":
            self._act("q")
        elif key.lower() in keys_now(self.debate):
            self._act(key.lower())
        self._refresh()

    def _act(self, key: str) -> None:
        id = self.debate.id
        threads = self._threads
        match key:
            case "i":
                self._line = TypedLine(INTERJECTION_PROMPT)
            case "l":
                self._line = TypedLine(LIMIT_PROMPT)
            case "p":
                self._submit(threads.pause(id))
            case "r":
                self._submit(threads.retry(id) if self.debate.state == "error" else threads.resume(id))
            case "j":
                self._submit(threads.perform(id, "JUDGE_NOW"))
            case "a":
                self.debate.has_open_warning = False
                self._submit(threads.perform(id, "ACKNOWLEDGE_WARNING"))
            case "q":
                self._submit(threads.stop(id))

    def _type(self, line: TypedLine, key: str) -> None:
        is_complete = line.press(key)
        if is_complete is None:
            return
        self._line = None
        text = line.text.strip()
        if not is_complete or not text:
            return
        if line.prompt == INTERJECTION_PROMPT:
            self._submit(self._threads.say(self.debate.id, text))
            return
        try:
            limit = float(text)
        except ValueError:
            self._output.note(f"the limit must be an amount in USD, not {text!r}", "error")
            return
        self._submit(self._threads.perform(self.debate.id, RAISE_LIMIT, costLimit=limit))

    def _submit(self, work: Awaitable[object]) -> None:
        async def run() -> None:
            try:
                await work
            except (ThreadError, RuntimeFault) as problem:
                self._output.note(str(problem), "error")

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
