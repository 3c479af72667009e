"""The process that is killed: real traffic on a real file, telling its parent of everything before and after it."""

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
    """What one life is like."""

    seed: int
    life: int
    letters: int = 40  # for each tree; 0: only come to rest, check the laws and stop
    again: tuple[tuple[str, str, str, str], ...] = ()  # letters of earlier lives of which nobody knows what became
    stop_at: tuple[str, int] | None = None  # wait to be killed when a point is passed for the n-th time
    clock_steps_s: tuple[float, ...] = ()  # how the clock on the wall jumps during this life
    ahead_s: float = 0.0  # how far ahead the clock on the wall is when this life begins
    boasts: bool = False  # a planted bug: posts are acknowledged before they are stored
    slow_s: float = 0.0  # how long tasks take at least


class Child:
    """One life."""

    def __init__(self, path: str, plan: Plan, pipe: Any) -> None:
        self.path, self.plan, self.pipe = path, plan, pipe
        self.rng, self.passed = Random(f"{plan.seed} {plan.life}"), 0
        self.skew_s = plan.ahead_s
        self.ran = os.open(path + ".ran", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def point(self, name: str) -> None:
        """Tell the parent where this process is, and wait for the end if it is to come here."""
        if self.plan.stop_at is None or self.plan.stop_at[0] != name:
            return
        self.passed += 1
        if self.passed == self.plan.stop_at[1]:
            self.pipe.send(("point", name))
            self.pipe.recv()  # nobody answers

    def did(self, *words: object) -> None:
        """Note in a file that something was really done."""
        os.write(self.ran, (" ".join(str(word) for word in words) + "\n").encode())

    # -- services ------------------------------------------------------------------------------------------------

    def machines(self) -> list[Any]:
        """The machines of the simulation, with services that note what they do."""
        services = {safety: from_task(self.work, safety=safety) for safety in ("report", "once", "repeat")}
        services["stream"] = from_stream(self.stream)
        services["function"] = from_task(self.function, safety="once")
        services["calculation"] = from_task(self.calculation, safety="repeat", eager=True)
        return machines(services, lambda context, event: self.did("shout", event["n"]))

    async def work(self, input: Any, scope: Any) -> Any:
        """A task: some texts, then a result."""
        async for text in self.stream(input, scope):
            if scope.task.safety == "report":
                scope.send_back({"type": "DELTA", "text": text})
        return self.calculation(input, scope)

    def function(self, input: Any, scope: Any) -> Any:
        """A plain function that does something."""
        self.did("task", scope.key, scope.attempt, scope.task.safety)
        return self.calculation(input, scope)

    def calculation(self, input: Any, scope: Any) -> Any:
        """A plain function that does nothing but compute."""
        return {"task": scope.key, "attempt": scope.attempt, "input": input, "late": False}

    async def stream(self, input: Any, scope: Any) -> Any:
        """A stream of texts."""
        self.did("task", scope.key, scope.attempt, scope.task.safety)
        for number in range(DELTAS):
            await asyncio.sleep(self.plan.slow_s + self.rng.choice((0.0, 0.002, 0.01)))
            yield f"{number + 1};"

    # -- life ----------------------------------------------------------------------------------------------------

    async def live(self) -> None:
        """Send letters until they are all sent, come to rest, check the laws and stop."""
        store = PointedStore(self.path, self.point)
        now = SteadyClock(lambda: time.time() + self.skew_s).now
        runtime = Runtime(store, self.machines(), now=now, point=self.point, snapshot_every=self.rng.choice((2, 20)))
        await runtime.start()
        self.pipe.send(("up",))
        stopping = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
        traffic = asyncio.get_running_loop().create_task(self.traffic(runtime))
        asked = asyncio.get_running_loop().create_task(stopping.wait())
        await asyncio.wait([traffic, asked], return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            traffic.cancel()
        else:
            await self.rest(runtime, store)
        await runtime.stop(limit_s=0.5)
        self.pipe.send(("stopped",))

    async def traffic(self, runtime: Runtime) -> None:
        """Some letters for each tree, all trees at the same time."""
        known = {summary.root for summary in await runtime.store.roots()}
        for root in ROOTS:
            if root not in known:
                await runtime.create(root.rstrip("0123456789"), root=root)
        for root, id, to, type in self.plan.again:
            await self.send(runtime, root, id, to, type)
        jumps = asyncio.get_running_loop().create_task(self.jump())
        await asyncio.gather(*(self.talk(runtime, root) for root in ROOTS))
        await jumps

    async def talk(self, runtime: Runtime, root: str) -> None:
        """Letters for one tree."""
        for number in range(self.plan.letters):
            to, _, type = self.rng.choice(EVENTS[root.rstrip("0123456789")]).rpartition(" ")
            await self.send(runtime, root, f"{type}-{self.plan.life}-{root}-{number}{to}", to, type)
            await asyncio.sleep(self.rng.choice((0.0, 0.0, 0.001, 0.01)))

    async def send(self, runtime: Runtime, root: str, id: str, to: str, type: str) -> None:
        """Tell the parent, send, and tell the parent what became of it."""
        by_post = self.rng.random() < 0.3
        self.pipe.send(("sending", root, id, to, type, by_post))
        if self.plan.boasts and by_post:
            self.pipe.send(("receipt", root, id, "accepted", 0, by_post))
        door = runtime.post if by_post else runtime.send
        receipt = await door(root, {"type": type, "n": id}, id=id, to=to)
        self.pipe.send(("receipt", root, id, receipt.status, receipt.seq, by_post))

    async def jump(self) -> None:
        """Let the clock on the wall jump now and then."""
        for step_s in self.plan.clock_steps_s:
            await asyncio.sleep(0.02)
            self.skew_s += step_s

    async def rest(self, runtime: Runtime, store: SqliteStore) -> None:
        """Wait until nothing is open, and tell the parent which laws are broken."""
        deadline, quiet = time.monotonic() + PATIENCE_S, 0
        while quiet < 3 and time.monotonic() < deadline:
            quiet = 0 if await store.due_times() or await store.running_tasks() else quiet + 1
            await asyncio.sleep(0.01)
        broken = await broken_laws(runtime, store, overdue_ms=1000)
        for root in ROOTS:
            context, journal = (await runtime.snapshot(root))["context"], await store.entries(root, 0, 100_000)
            broken += CHECKS[root.rstrip("0123456789")](root, context, journal)
        self.pipe.send(("laws", broken))


class PointedStore(SqliteStore):
    """A store in a file with named places where the process can be killed, one of them inside the transaction."""

    def __init__(self, path: str, point: Any) -> None:
        super().__init__(path)
        self._point = point

    def _apply_all(self, commits: Any) -> None:
        super()._apply_all(commits)
        self._point("in transaction")

    async def post(self, letters: Any) -> list[bool]:
        """Put letters into inboxes, with a place before and one after it."""
        self._point("before post")
        found = await super().post(letters)
        self._point("after post")
        return found


def main(path: str, plan: Plan, pipe: Any) -> None:
    """Live, until killed."""
    asyncio.run(Child(path, plan, pipe).live())
