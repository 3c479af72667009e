"""World of a simulation: its time, its faults, and one process after another on one store."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from contextvars import Context, ContextVar
from random import Random
from typing import Any

from antiphon.actors.tasks import RESOLVE
from antiphon.chart.machine import Machine
from antiphon.runtime.clock import SUSTAINED_S, SteadyClock
from antiphon.runtime.errors import RuntimeFault
from antiphon.runtime.records import Commit, Letter, Task
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.store import Projection, Store
from antiphon.testing.simulation.faults import NONE, Faults
from antiphon.testing.simulation.history import History
from antiphon.testing.simulation.pasts import Backups, Readers
from antiphon.testing.simulation.processes import Died, Process
from antiphon.testing.simulation.store import FaultyStore

EPOCH_MS = 1_000_000_000_000
JUMPS_MS = (-3_600_000, -60_000, -1_000, -7, 7, 1_000, 3_600_000)
ROUNDING_S = 0.001
WORLD: ContextVar["World"] = ContextVar("world")


class World:
    """State of one run; everything in it is determined by the seed."""

    def __init__(
        self,
        rng: Random,
        machines: Iterable[Machine[Any, Any]],
        store: Store,
        faults: Faults,
        releases: Iterable[Iterable[Machine[Any, Any]]] = (),
        projection: Projection | None = None,
    ) -> None:
        self.rng = rng
        self.faults = faults
        self.history = History()
        self.trace: list[tuple[int, str]] = []
        self.process = Process(0, lambda name: False)
        self.process.die()
        self.runtime: Runtime = None  # type: ignore[assignment]
        self.store = store
        self._machines = list(machines)
        self._releases = [list(release) for release in releases]  # that are not deployed yet
        self._projection = projection
        self._skew = 0  # of the wall clock, in milliseconds
        self._ahead = 0  # the largest skew that the clock of the process may have followed
        self._ids = 0
        # Small enough to be reached in short runs.
        self._limits: dict[str, Any] = {
            "inbox_limit": rng.choice((4, 256)),
            "tree_limit": rng.choice((1, 2, 10_000)),
            "snapshot_every": rng.choice((1, 2, 5, 100)),
        }
        self._booted = asyncio.Event()
        self._roots: dict[str, None] = {}
        self._background: list[asyncio.Task[None]] = []
        self._backups = Backups(rng, store, self.history)
        self._readers = Readers(self.history)

    def wall(self) -> int:
        """Return the wall clock time in milliseconds; it may jump."""
        return int(self._wall_s() * 1000)

    def _wall_s(self) -> float:
        return (EPOCH_MS + self._skew) / 1000 + asyncio.get_running_loop().time()

    def log(self, text: str) -> None:
        """Append a line to the trace."""
        self.trace.append((int(asyncio.get_running_loop().time() * 1000), text))

    def happens(self, fault: str) -> bool:
        """Decide whether a fault happens now, and count it."""
        probability: float = getattr(self.faults, fault)
        if probability == 0.0 or self.rng.random() >= probability:
            return False
        self.history.counts[fault] += 1
        return True

    def new_id(self) -> str:
        """Return an id that is unique in this world."""
        self._ids += 1
        return f"i{self._ids}"

    def start(self) -> None:
        """Start the first process, restart it whenever it dies, and inject faults."""
        create_task = asyncio.get_running_loop().create_task
        self._background = [create_task(work) for work in (self._run_processes(), self._inject_faults())]

    async def _run_processes(self) -> None:
        while True:
            await self._boot()
            await self.process.wait_until_dead()
            self._booted.clear()
            self._schedule_late_results(self.history.record_death(self.process.number))
            if self.happens("restore"):
                self.log(self._backups.restore())
            await asyncio.sleep(self.rng.choice((0.0, 0.01, 0.3)))

    async def wait_for_runtime(self) -> Runtime:
        """Wait until a process is up, and return its runtime."""
        while not (self.process.is_alive and self._booted.is_set()):
            await self._booted.wait()
            await asyncio.sleep(0)
        return self.runtime

    async def _boot(self) -> None:
        self.history.counts["boots"] += 1
        process = self.process = Process(self.history.counts["boots"], self._dies_at)
        if self._releases and self.happens("deploy"):
            self.log("the next release is deployed")
            self._machines += self._releases.pop(0)
        self.runtime = Runtime(
            FaultyStore(self.store, process, self),
            self._machines,
            now=SteadyClock(self._wall_s, asyncio.get_running_loop().time).now,
            new_id=self.new_id,
            point=process.point,
            projection=self._projection,
            **self._limits,
        )
        self._ahead = self._skew
        self.log(f"boot {process.number}")
        try:
            await process.call(self.runtime.start())
        except (Died, RuntimeFault) as error:
            self.log(f"boot {process.number} failed: {error!r}")
            process.die()
            return
        for root in self._roots:
            process.start(self._readers.read(root, self.runtime))
        self._booted.set()

    def _dies_at(self, name: str) -> bool:
        if not self.happens("crash"):
            return False
        self.log(f"process {self.process.number} dies at: {name}")
        self.history.counts[f"crash at: {name}"] += 1
        return True

    async def stop(self) -> None:
        """Stop the process in an orderly way; another one follows."""
        process = self.process
        runtime = self.runtime
        self.log(f"stopping process {process.number}")
        with suppress(Died, RuntimeFault):
            await process.call(runtime.stop(limit_s=self.rng.choice((0.0, 0.1, 5.0))))
        pending = process.calls
        await asyncio.sleep(1.0)
        self.log(f"stopped process {process.number}")
        if process.is_alive and not process.calls.isdisjoint(pending):
            self.history.broken.append(f"process {process.number} was stopped, and a call to it never returned")
        process.die()

    async def _inject_faults(self) -> None:
        """Let the clock jump, kill the process, or restart it, from time to time."""
        while self.faults is not NONE:
            await asyncio.sleep(self.rng.choice((0.02, 0.1, 0.3)))
            if self.faults.restore:
                self._backups.tick()
            if self.happens("clock_jumps"):
                jump = self.rng.choice(JUMPS_MS)
                self._skew += jump
                self._follow_later(self._skew, self.process)
                self.log(f"the clock jumps by {jump} ms")
            if self.process.is_alive and self.happens("killed"):
                self.log(f"process {self.process.number} is killed")
                self.process.die()
            elif self._booted.is_set() and self.process.is_alive and self.happens("restart"):
                await self.stop()

    def _follow_later(self, skew: int, process: Process) -> None:
        """Allow the clock of a process to follow a skew, once it may have lasted for long enough."""

        def follow() -> None:
            if self.process is process:
                self._ahead = max(self._ahead, skew)

        asyncio.get_running_loop().call_later(SUSTAINED_S - ROUNDING_S, follow, context=Context())

    def stop_faults(self) -> None:
        """Inject no more faults."""
        self.log("no more faults")
        self.faults = NONE

    def _schedule_late_results(self, orphans: Sequence[Task]) -> None:
        """Let some tasks of a dead process report to a later one."""
        for task in orphans:
            if self.happens("zombie"):
                self.report_later(task)

    def report_later(self, task: Task) -> None:
        """Schedule a result of a task that arrives late."""
        delay_s = self.rng.choice((0.0, 0.05, 0.5))
        self._background.append(asyncio.get_running_loop().create_task(self._report(task, delay_s), context=Context()))

    async def _report(self, task: Task, delay_s: float) -> None:
        """Deliver a result that may no longer be expected."""
        await asyncio.sleep(delay_s)
        event = {"type": RESOLVE, "data": result_of(task, late=True)}
        at = self.wall()
        letter = Letter(task.id, task.root, event, at, at, task.to, task.to, None, task.id, task.attempt)
        self.log(f"a late result of task {task.id}, attempt {task.attempt}")
        if self.process.is_alive:
            (await self.wait_for_runtime()).loop.deliver(letter)
        else:
            await self.store.post([letter])

    def follow(self, root: str) -> None:
        """Read the feed of a tree, in this process and all later ones."""
        self._roots[root] = None
        if self.process.is_alive and self._booted.is_set():
            self.process.start(self._readers.read(root, self.runtime))

    def store_fails(self, name: str) -> bool:
        """Return whether a call of the store fails."""
        fails = self.happens("store_fails")
        if fails:
            self.log(f"the store fails: {name}")
        return fails

    def answer_is_lost(self, name: str) -> bool:
        """Return whether a call of the store raises although it was made."""
        is_lost = self.happens("answer_lost")
        if is_lost:
            self.log(f"the answer of the store is lost: {name}")
        return is_lost

    def store_delay_s(self) -> float:
        """Return how long a call of the store takes."""
        return self.rng.choice((0.001, 0.005, 0.2)) if self.happens("store_is_slow") else 0.0

    def on_commit(self, commits: Sequence[Commit]) -> None:
        """Record commits that were stored."""
        at = int(asyncio.get_running_loop().time() * 1000)
        self.history.record_commits(commits, self.wall() + self._ahead - self._skew, at)
        for commit in commits:
            steps = [f"{entry.seq} {entry.to}<{entry.event['type']} {entry.letter or ''}" for entry in commit.entries]
            started = [task.id for task in commit.tasks]
            self.log(f"stored {commit.root} {steps} taken={commit.taken} tasks={started} ended={list(commit.ended)}")

    def on_correction(self, lead: int) -> None:
        """Record that all waiting letters were moved back."""
        if lead:
            self.log(f"letters were moved back by {lead} ms")
            self.history.record_correction(lead)

    def on_post(self, letters: Sequence[Letter]) -> None:
        """Record letters that were stored."""
        for letter in letters:
            self.history.posted.add((letter.root, letter.id))
            self.log(f"posted {letter.id} for {letter.root}")


def result_of(task: Task, late: bool = False) -> dict[str, Any]:
    """Return the result of a simulated task, which names the task and its attempt."""
    return {"task": task.id, "attempt": task.attempt, "input": task.input, "late": late}
