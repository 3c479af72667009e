"""The process that is killed: real traffic on a real file, reported to its parent before and after each letter."""

import asyncio
import os
import signal
import time
from dataclasses import dataclass
from random import Random
from typing import Any

from antiphon import from_stream, from_task
from antiphon.runtime.clock import SteadyClock
from antiphon.runtime.runtime import Runtime
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.laws import broken_laws
from tests.simulation.machines import DELTAS, machines
from tests.simulation.traffic import CHECKS, EVENTS

ROOTS = [f"{kind}{i}" for i, kind in enumerate(EVENTS)]
PATIENCE_S = 20.0


@dataclass(frozen=True)
class Plan:
    """Parameters of one process."""

    seed: int
    life: int
    letters: int = 40  # for each tree; 0: only wait until idle, check the laws and stop
    again: tuple[tuple[str, str, str, str], ...] = ()  # letters of earlier processes without a receipt
    stop_at: tuple[str, int] | None = None  # wait to be killed when a point is passed for the n-th time
    clock_steps_s: tuple[float, ...] = ()  # jumps of the wall clock
    ahead_s: float = 0.0  # lead of the wall clock at the start
    boasts: bool = False  # an injected bug: posts are acknowledged before they are stored
    slow_s: float = 0.0  # delay before each text of a task
    checkpoint_pages: int = 1000  # length of the log at which it is written to the file


class Child:
    """One process."""

    def __init__(self, path: str, plan: Plan, pipe: Any) -> None:
        self.path = path
        self.plan = plan
        self.pipe = pipe
        self.rng = Random(f"{plan.seed} {plan.life}")
        self.passed = 0
        self.skew_s = plan.ahead_s
        self.ran = os.open(path + ".ran", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def point(self, name: str) -> None:
        """If the process is to be killed at this point, report it to the parent and wait."""
        if self.plan.stop_at is None or self.plan.stop_at[0] != name:
            return
        self.passed += 1
        if self.passed == self.plan.stop_at[1]:
            self.pipe.send(("point", name))
            self.pipe.recv()  # never returns

    def did(self, *words: object) -> None:
        """Append a line to the file of executions."""
        os.write(self.ran, (" ".join(str(word) for word in words) + "\n").encode())

    def machines(self) -> list[Any]:
        """Return the machines of the simulation, with services that record their executions."""
        services = {safety: from_task(self.work, safety=safety) for safety in ("report", "once", "repeat")}
        services["stream"] = from_stream(self.stream)
        services["function"] = from_task(self.function, safety="once")
        services["calculation"] = from_task(self.calculation, safety="repeat", eager=True)
        return machines(services, lambda context, event: self.did("shout", event["n"]))

    async def work(self, input: Any, scope: Any) -> Any:
        """Send some texts, then return a result."""
        async for text in self.stream(input, scope):
            if scope.task.safety == "report":
                scope.send_back({"type": "DELTA", "text": text}, join="text")
        return self.calculation(input, scope)

    def function(self, input: Any, scope: Any) -> Any:
        """Record an execution and return a result."""
        self.did("task", scope.key, scope.attempt, scope.task.safety)
        return self.calculation(input, scope)

    def calculation(self, input: Any, scope: Any) -> Any:
        """Return a result without side effects."""
        return {"task": scope.key, "attempt": scope.attempt, "input": input, "late": False}

    async def stream(self, input: Any, scope: Any) -> Any:
        """Yield some texts."""
        self.did("task", scope.key, scope.attempt, scope.task.safety)
        for number in range(DELTAS):
            await asyncio.sleep(self.plan.slow_s + self.rng.choice((0.0, 0.002, 0.01)))
            yield f"{number + 1};"

    def new_store(self) -> "PointedStore":
        """Return the store of the process."""
        return PointedStore(self.path, self.point, self.plan.checkpoint_pages)

    async def live(self) -> None:
        """Send all letters, wait until idle, check the laws and stop."""
        store = self.new_store()
        now = SteadyClock(lambda: time.time() + self.skew_s).now
        runtime = Runtime(store, self.machines(), now=now, point=self.point, snapshot_every=self.rng.choice((2, 20)))
        await runtime.start()
        self.pipe.send(("up",))
        stopping = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
        traffic = asyncio.get_running_loop().create_task(self.traffic(runtime))
        stop_requested = asyncio.get_running_loop().create_task(stopping.wait())
        await asyncio.wait([traffic, stop_requested], return_when=asyncio.FIRST_COMPLETED)
        if stop_requested.done():
            traffic.cancel()
        else:
            await self.rest(runtime, store)
        await runtime.stop(limit_s=0.5)
        self.pipe.send(("stopped",))

    async def traffic(self, runtime: Runtime) -> None:
        """Send letters to all trees concurrently."""
        existing = {summary.root for summary in await runtime.store.roots()}
        for root in ROOTS:
            if root not in existing:
                await runtime.create(root.rstrip("0123456789"), root=root)
        for root, id, to, type in self.plan.again:
            await self.send(runtime, root, id, to, type)
        jumps = asyncio.get_running_loop().create_task(self.jump())
        await asyncio.gather(*(self.talk(runtime, root) for root in ROOTS))
        await jumps

    async def talk(self, runtime: Runtime, root: str) -> None:
        """Send the letters of one tree."""
        for number in range(self.plan.letters):
            to, _, type = self.rng.choice(EVENTS[root.rstrip("0123456789")]).rpartition(" ")
            await self.send(runtime, root, f"{type}-{self.plan.life}-{root}-{number}{to}", to, type)
            await asyncio.sleep(self.rng.choice((0.0, 0.0, 0.001, 0.01)))

    async def send(self, runtime: Runtime, root: str, id: str, to: str, type: str) -> None:
        """Report a letter to the parent, send it, and report its receipt."""
        by_post = self.rng.random() < 0.3
        self.pipe.send(("sending", root, id, to, type, by_post))
        if self.plan.boasts and by_post:
            self.pipe.send(("receipt", root, id, "accepted", 0, by_post))
        deliver = runtime.post if by_post else runtime.send
        receipt = await deliver(root, {"type": type, "n": id}, id=id, to=to)
        self.pipe.send(("receipt", root, id, receipt.status, receipt.seq, by_post))

    async def jump(self) -> None:
        """Let the wall clock jump from time to time."""
        for step_s in self.plan.clock_steps_s:
            await asyncio.sleep(0.02)
            self.skew_s += step_s

    async def rest(self, runtime: Runtime, store: SqliteStore) -> None:
        """Wait until no letter or task is open, and report broken laws to the parent."""
        deadline = time.monotonic() + PATIENCE_S
        quiet = 0
        while quiet < 3 and time.monotonic() < deadline:
            quiet = 0 if await store.due_times() or await store.running_tasks() else quiet + 1
            await asyncio.sleep(0.01)
        broken = await broken_laws(runtime, store, overdue_ms=1000)
        for root in ROOTS:
            context = (await runtime.snapshot(root))["context"]
            journal = await store.entries(root, 0, 100_000)
            broken += CHECKS[root.rstrip("0123456789")](root, context, journal)
        self.pipe.send(("laws", broken))


class PointedStore(SqliteStore):
    """Store in a file with named points where the process can be killed, one of them inside the transaction."""

    def __init__(self, path: str, point: Any, checkpoint_pages: int, **options: Any) -> None:
        super().__init__(path, **options)
        self._point = point
        self._checkpoint_pages = checkpoint_pages

    def _open(self) -> int:
        boot = super()._open()
        self._db().execute(f"pragma wal_autocheckpoint = {self._checkpoint_pages}")
        return boot

    def _apply_all(self, commits: Any) -> None:
        super()._apply_all(commits)
        self._point("in transaction")

    async def post(self, letters: Any, tenure: int = 0) -> list[bool]:
        """Put letters into inboxes, with a point before and one after."""
        self._point("before post")
        results = await super().post(letters, tenure)
        self._point("after post")
        return results


def main(path: str, plan: Plan, pipe: Any) -> None:
    """Run the process until it is killed or has ended."""
    asyncio.run(Child(path, plan, pipe).live())
