"""The world of a simulation: its time and its faults, one process after another on one store."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from contextvars import Context, ContextVar
from random import Random
from typing import Any

from antiphon.actors.tasks import RESOLVE
from antiphon.chart.machine import Machine
from antiphon.runtime.clock import SteadyClock
from antiphon.runtime.errors import RuntimeFault, StoreError
from antiphon.runtime.records import Commit, Letter, Task
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.store import Store
from antiphon.testing.simulation.faults import NONE, Faults
from antiphon.testing.simulation.history import History
from antiphon.testing.simulation.processes import Died, Process
from antiphon.testing.simulation.store import FaultyStore

EPOCH_MS = 1_000_000_000_000
JUMPS_MS = (-60_000, -1_000, -7, 7, 1_000, 3_600_000)
WORLD: ContextVar["World"] = ContextVar("world")


class World:
    """One run: everything in it follows from the seed."""

    def __init__(self, dice: Random, machines: Iterable[Machine[Any, Any]], store: Store, faults: Faults) -> None:
        self.dice, self.faults = dice, faults
        self.history = History()
        self.trace: list[tuple[int, str]] = []
        self.process = Process(0, lambda name: False)
        self.process.die()
        self.runtime: Runtime = None  # type: ignore[assignment]
        self.store = store
        self._machines, self._skew, self._ahead, self._ids = list(machines), 0, 0, 0
        # Small enough to be reached in short runs.
        self._limits = {
            "inbox_limit": dice.choice((4, 256)),
            "tree_limit": dice.choice((1, 2, 10_000)),
            "snapshot_every": dice.choice((1, 2, 5, 100)),
        }
        self._booted = asyncio.Event()
        self._roots: dict[str, None] = {}
        self._fates: list[asyncio.Task[None]] = []

    # -- time and chance -----------------------------------------------------------------------------------------

    def wall(self) -> int:
        """What the clock on the wall says, in milliseconds; it may jump."""
        return int(self._wall_s() * 1000)

    def _wall_s(self) -> float:
        return (EPOCH_MS + self._skew) / 1000 + asyncio.get_running_loop().time()

    def note(self, text: str) -> None:
        """Write something into the trace."""
        self.trace.append((int(asyncio.get_running_loop().time() * 1000), text))

    def happens(self, fault: str) -> bool:
        """Whether a fault happens now."""
        probability: float = getattr(self.faults, fault)
        if probability == 0.0 or self.dice.random() >= probability:
            return False
        self.history.counts[fault] += 1
        return True

    def new_id(self) -> str:
        """An id that no other thing of this world has."""
        self._ids += 1
        return f"i{self._ids}"

    # -- processes -----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Have a process running at all times, and let faults happen."""
        self._fates = [asyncio.get_running_loop().create_task(fate) for fate in (self._live(), self._rage())]

    async def _live(self) -> None:
        while True:
            await self._boot()
            await self.process.ended()
            self._booted.clear()
            self._haunt(self.history.died(self.process.number))
            await asyncio.sleep(self.dice.choice((0.0, 0.01, 0.3)))

    async def up(self) -> Runtime:
        """The runtime of the process that is alive, when there is one."""
        while not (self.process.is_alive and self._booted.is_set()):
            await self._booted.wait()
            await asyncio.sleep(0)
        return self.runtime

    async def _boot(self) -> None:
        self.history.counts["boots"] += 1
        process = self.process = Process(self.history.counts["boots"], self._dies_at)
        self.runtime = Runtime(
            FaultyStore(self.store, process, self),
            self._machines,
            now=SteadyClock(self._wall_s, asyncio.get_running_loop().time).now,
            new_id=self.new_id,
            point=process.point,
            **self._limits,
        )
        self._ahead = self._skew
        self.note(f"boot {process.number}")
        try:
            await process.call(self.runtime.start())
        except (Died, RuntimeFault) as error:
            self.note(f"boot {process.number} failed: {error!r}")
            process.die()
            return
        for root in self._roots:
            process.start(self._read(root, self.runtime))
        self._booted.set()

    def _dies_at(self, name: str) -> bool:
        if not self.happens("crash"):
            return False
        self.note(f"process {self.process.number} dies at: {name}")
        self.history.counts[f"crash at: {name}"] += 1
        return True

    async def stop(self) -> None:
        """Stop the process properly; another one follows."""
        process, runtime = self.process, self.runtime
        self.note(f"stopping process {process.number}")
        with suppress(Died, RuntimeFault):
            await process.call(runtime.stop(limit_s=self.dice.choice((0.0, 0.1, 5.0))))
        waiting = process.calls
        await asyncio.sleep(1.0)
        self.note(f"stopped process {process.number}")
        if process.is_alive and not process.calls.isdisjoint(waiting):
            self.history.broken.append(f"process {process.number} was stopped, and who had called it waits for ever")
        process.die()

    async def _rage(self) -> None:
        """Faults that come from nowhere."""
        while self.faults is not NONE:
            await asyncio.sleep(self.dice.choice((0.02, 0.1, 0.3)))
            if self.happens("clock_jumps"):
                jump = self.dice.choice(JUMPS_MS)
                self._skew += jump
                self._ahead = max(self._ahead, self._skew)
                self.note(f"the clock jumps by {jump} ms")
            if self.process.is_alive and self.happens("killed"):
                self.note(f"process {self.process.number} is killed")
                self.process.die()
            elif self._booted.is_set() and self.process.is_alive and self.happens("restart"):
                await self.stop()

    def calm(self) -> None:
        """No more faults."""
        self.note("calm")
        self.faults = NONE

    def _haunt(self, left: Sequence[Task]) -> None:
        """Tasks of a dead process may go on and report to a later one."""
        for task in left:
            if self.happens("zombie"):
                self.report_later(task)

    def report_later(self, task: Task) -> None:
        """Have a result of a task arrive some time."""
        delay_s = self.dice.choice((0.0, 0.05, 0.5))
        self._fates.append(asyncio.get_running_loop().create_task(self._report(task, delay_s), context=Context()))

    async def _report(self, task: Task, delay_s: float) -> None:
        """A result that nobody may wait for any more."""
        await asyncio.sleep(delay_s)
        event = {"type": RESOLVE, "data": result_of(task, late=True)}
        at = self.wall()
        letter = Letter(task.id, task.root, event, at, at, task.to, task.to, None, task.id, task.attempt)
        self.note(f"a late result of task {task.id}, attempt {task.attempt}")
        if self.process.is_alive:
            (await self.up()).loop.deliver(letter)
        else:
            await self.store.post([letter])

    # -- readers -------------------------------------------------------------------------------------------------

    def follow(self, root: str) -> None:
        """Read a tree's feed, in this process and all later ones."""
        self._roots[root] = None
        if self.process.is_alive and self._booted.is_set():
            self.process.start(self._read(root, self.runtime))

    async def _read(self, root: str, runtime: Runtime) -> None:
        while True:
            try:
                async for entry in runtime.feed(root, self.history.fed.get(root, 0)):
                    self.history.shown(root, entry)
                return
            except StoreError:
                await asyncio.sleep(0.01)

    # -- what the store asks -------------------------------------------------------------------------------------

    def store_fails(self, name: str) -> bool:
        """Whether a call of the store fails."""
        fails = self.happens("store_fails")
        if fails:
            self.note(f"the store fails: {name}")
        return fails

    def store_delay_s(self) -> float:
        """How long a call of the store takes."""
        return self.dice.choice((0.001, 0.005, 0.2)) if self.happens("store_is_slow") else 0.0

    def stored(self, commits: Sequence[Commit]) -> None:
        """Commits were stored."""
        self.history.stored(commits, self.wall() + self._ahead - self._skew)
        for commit in commits:
            said = [f"{entry.seq} {entry.to}<{entry.event['type']} {entry.letter or ''}" for entry in commit.entries]
            started, ended = [task.id for task in commit.tasks], list(commit.ended)
            self.note(f"stored {commit.root} {said} taken={commit.taken} tasks={started} ended={ended}")

    def posted(self, letters: Sequence[Letter]) -> None:
        """Letters were stored."""
        for letter in letters:
            self.history.posted.add((letter.root, letter.id))
            self.note(f"posted {letter.id} for {letter.root}")


def result_of(task: Task, late: bool = False) -> dict[str, Any]:
    """What simulated tasks give: which of them it was."""
    return {"task": task.id, "attempt": task.attempt, "input": task.input, "late": late}
