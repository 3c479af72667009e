"""Several owners on one store: trees move between processes, of which some do not know what they have lost."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from contextvars import Context
from random import Random
from typing import Any, TypeVar

from antiphon.actors.tasks import RESOLVE
from antiphon.chart.machine import Machine
from antiphon.runtime.errors import NotOwner, RuntimeFault, Superseded
from antiphon.runtime.records import Commit, Letter, Receipt, Task
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.store import Store
from antiphon.testing.simulation.directory import Assigned, Assignment, Directory
from antiphon.testing.simulation.owner_faults import OwnerFaults
from antiphon.testing.simulation.processes import Died, Process
from antiphon.testing.simulation.store import FaultyStore
from antiphon.testing.simulation.world import World, result_of

T = TypeVar("T")
OWNERS = 2
FRONTENDS = 2  # each has its own idea of where a tree is
KEPT_ROUTES = 0.5  # of the calls, the directory is not asked
PATIENCE_S = 3.0  # a client that has no answer by then asks the directory again
LEASES_S = (0.0, 0.3, 2.0)  # until the directory takes the trees of a dead or paused process away
PAUSES_S = (0.1, 1.0, 4.0)
SILENCES_S = (0.3, 1.0, 5.0)  # until a process learns that it has lost a tree
STOP_S = 120.0
QUIET_S = 30.0  # after the last fault, until every call has an answer
STALLS_S = (0.5, 2.0, 5.0)


class SharedStore(FaultyStore):
    """Access of one of several processes to a store, which none of them opens or closes for the others."""

    unclean_starts = 0  # how other processes ended says nothing about this one

    def __init__(self, world: "SharedWorld", process: Process) -> None:
        super().__init__(world.store, process, world)
        self._world = world

    async def open(self) -> int:
        """Return the number of this boot."""
        return await self._do("open", self._world.open_store)

    async def close(self) -> None:
        """Leave the store open for the others."""


class Host:
    """A computer that runs one process after the other, each with a runtime on the shared store."""

    def __init__(self, world: "SharedWorld", name: str) -> None:
        self._world = world
        self.name = name
        self.process = Process(0, lambda point: False)
        self.process.die()
        self.runtime: Runtime = None  # type: ignore[assignment]
        self.ownership: Assigned = None  # type: ignore[assignment]
        self._is_booted = False

    @property
    def is_up(self) -> bool:
        """True if its process has started and is not dead; it may be paused."""
        return self._is_booted and self.process.is_alive

    async def run(self) -> None:
        """Start a process whenever there is none."""
        while True:
            await self._boot()
            await self.process.wait_until_dead()
            self._is_booted = False
            self._world.bury(self.process)
            await asyncio.sleep(self._world.rng.choice((0.0, 0.01, 0.3)))

    async def _boot(self) -> None:
        world = self._world
        world.history.counts["boots"] += 1
        number = world.history.counts["boots"]
        process = self.process = Process(number, lambda point: world.dies_at(process, point))
        self.ownership = Assigned(world.directory, number)
        self.runtime = world.new_runtime(SharedStore(world, process), self.ownership, process)
        world.log(f"{self.name} starts process {number}")
        try:
            await process.call(self.runtime.start())
        except (Died, RuntimeFault) as error:
            world.log(f"process {number} could not start: {error!r}")
            process.die()
            return
        self._is_booted = True
        world.directory.changed.notify()

    async def stop(self) -> None:
        """Stop the process in an orderly way."""
        process = self.process
        self._world.log(f"stopping process {process.number}")
        self._is_booted = False
        self._world.directory.changed.notify()
        try:
            limit_s = self._world.rng.choice((0.0, 0.1, 5.0))
            await asyncio.wait_for(self.call(lambda runtime: runtime.stop(limit_s)), STOP_S)
        except TimeoutError:
            self._world.history.broken.append(f"process {process.number} could not be stopped within {STOP_S} s")
        except (Died, RuntimeFault) as error:
            self._world.log(f"process {process.number} could not be stopped: {error!r}")
        pending = process.calls
        await asyncio.sleep(1.0)
        if process.is_alive and not process.is_paused and not process.calls.isdisjoint(pending):
            self._world.history.broken.append(f"process {process.number} was stopped, and a call to it never returned")
        process.die()

    async def adopt(self, root: str, assignment: Assignment) -> None:
        """Let the process run a tree that the directory has assigned to it."""
        if self.process.number != assignment.process:
            raise Died
        self.ownership.accept(root, assignment.tenure)
        await self.call(lambda runtime: runtime.adopt(root, assignment.tenure))

    async def call(self, make: Callable[[Runtime], Coroutine[Any, Any, T]]) -> T:
        """Call the runtime in its process."""
        return await self.process.call(make(self.runtime))


class Frontend:
    """Door to the trees of all owners.

    It keeps to the process that answered last. If that one refuses or is silent, it asks the directory, and repeats
    the call with the same id.
    """

    def __init__(self, world: "SharedWorld") -> None:
        self._world = world
        self._routes: dict[str, Host] = {}  # the hosts that answered last, by tree

    async def create(self, machine: str, *, root: str, input: Any = None) -> str:
        """Create a root actor."""
        return await self._call(root, lambda runtime: runtime.create(machine, root=root, input=input))

    async def send(self, root: str, event: Any, *, id: str, to: str = "") -> Receipt:
        """Send an event."""
        known = self._world.first_known(root, id)
        receipt = await self._call(root, lambda runtime: runtime.send(root, event, id=id, to=to))
        self._world.check_rejection(root, receipt, known)
        return receipt

    async def post(self, root: str, event: Any, *, id: str, to: str = "") -> Receipt:
        """Post an event."""
        return await self._call(root, lambda runtime: runtime.post(root, event, id=id, to=to))

    async def snapshot(self, root: str) -> Any:
        """Return the snapshot of a tree."""
        return await self._call(root, lambda runtime: runtime.snapshot(root))

    async def fork(self, root: str, seq: int, *, new: str) -> str:
        """Fork a tree, at the owner of the fork, if it has one already."""
        return await self._call(new, lambda runtime: runtime.fork(root, seq, new=new))

    async def release(self, root: str) -> bool:
        """Release a tree that is quarantined."""
        return await self._call(root, lambda runtime: runtime.release(root))

    async def _call(self, root: str, make: Callable[[Runtime], Coroutine[Any, Any, T]]) -> T:
        world = self._world
        while True:
            host = await self._route(root)
            try:
                result = await asyncio.wait_for(host.call(make), PATIENCE_S)
                self._routes[root] = host
                return result
            except (NotOwner, Superseded) as error:
                world.history.counts["calls to another owner"] += 1
                world.log(f"{root}: {error}, asking the directory again")
            except TimeoutError:
                world.log(f"{root}: no answer of process {host.process.number}")
                world.record_silence(root)
                raise
            await asyncio.sleep(world.rng.choice((0.01, 0.1)))

    async def _route(self, root: str) -> Host:
        """Return the host that answered last, or the one that the directory names."""
        host = self._routes.pop(root, None)
        is_kept = host is not None and host.is_up and self._world.rng.random() < KEPT_ROUTES
        return host if host is not None and is_kept else await self._world.host_for(root)


class SharedWorld(World):
    """State of one run with several owners; everything in it is determined by the seed."""

    def __init__(self, rng: Random, machines: Iterable[Machine[Any, Any]], store: Store, faults: OwnerFaults) -> None:
        super().__init__(rng, machines, store, faults)
        self.directory = Directory()
        self.hosts = [Host(self, chr(ord("A") + number)) for number in range(OWNERS)]
        self.process = Process(0, lambda point: False)  # that of the clients
        self._frontends = [Frontend(self) for _ in range(FRONTENDS)]
        self.runtime = self._frontends[0]  # type: ignore[assignment]
        self._boots = 0
        self._latest: dict[str, int] = {}  # the latest tenure of each tree that has adopted it or stored a step
        self._sent: dict[tuple[str, str], int] = {}  # the last step of the tree when a letter was first sent
        self._quiet_since: float | None = None

    def start(self) -> None:
        """Start all processes, assign trees, and inject faults."""
        self._spawn(*(host.run() for host in self.hosts), self._assign_trees(), self._inject_faults())

    def _spawn(self, *works: Coroutine[Any, Any, None]) -> None:
        self._background += [asyncio.get_running_loop().create_task(work) for work in works]

    async def open_store(self) -> int:
        """Open the store for the first process; return the number of the boot."""
        self._boots = self._boots + 1 if self._boots else await self.store.open()
        return self._boots

    def new_runtime(self, store: Store, ownership: Assigned, process: Process) -> Runtime:
        """Return a runtime for a process."""
        options = {**self._limits, "now": self.wall, "new_id": self.new_id, "point": process.point}
        return Runtime(store, self._machines, ownership=ownership, **options)

    def dies_at(self, process: Process, point: str) -> bool:
        """Return whether a process dies at a point."""
        if not self.happens("crash"):
            return False
        self.log(f"process {process.number} dies at: {point}")
        self.history.counts[f"crash at: {point}"] += 1
        return True

    @property
    def _up(self) -> list[Host]:
        return [host for host in self.hosts if host.is_up]

    def _host_of(self, process: int) -> Host | None:
        return next((host for host in self._up if host.process.number == process), None)

    async def wait_for_runtime(self) -> Runtime:
        """Return a door to all owners."""
        return self.rng.choice(self._frontends)  # type: ignore[return-value]

    async def host_for(self, root: str) -> Host:
        """Return the owner of a tree, or, of a tree that has none or if a call goes astray, any process."""
        while True:
            assignment = self.directory.owner(root)
            host = None if assignment is None else self._host_of(assignment.process)
            if self._up and (assignment is None or self.happens("misrouted")):
                return self.rng.choice(self._up)
            if host is not None:
                return host
            await asyncio.sleep(0.05)

    def zombies(self) -> list[tuple[Host, str]]:
        """Return the processes that do not know that they have lost a tree, with that tree."""
        pairs = [(host, root) for host in self._up for root in host.ownership.roots]
        return [
            (host, root)
            for host, root in pairs
            if Assignment(host.process.number, host.ownership.tenure(root) or 0) != self.directory.owner(root)
        ]

    async def call_zombie(self, host: Host, root: str, event: Any, *, id: str, to: str = "") -> None:
        """Send or post a letter to a process that has lost the tree; it must refuse it, or tell the truth."""
        known = self.last_step(root)
        by_post = self.rng.random() < 0.5

        def deliver(runtime: Runtime) -> Coroutine[Any, Any, Receipt]:
            return (runtime.post if by_post else runtime.send)(root, event, id=id, to=to)

        try:
            receipt = await asyncio.wait_for(host.call(deliver), PATIENCE_S)
        except (Died, RuntimeFault, TimeoutError) as error:
            self.log(f"process {host.process.number}, which has lost {root}: {error!r}")
            self.history.counts["letters refused by former owners"] += isinstance(error, NotOwner)
            return
        self.log(f"process {host.process.number}, which had lost {root}: {receipt.status} {receipt.seq}")
        self.history.record_receipt(root, receipt, by_post)
        self.check_rejection(root, receipt, known)

    def last_step(self, root: str) -> int:
        """Return the last step of a tree that was stored."""
        return len(self.history.journals.get(root, ()))

    def first_known(self, root: str, letter: str) -> int:
        """Return the last step that was stored when a letter was sent for the first time."""
        return self._sent.setdefault((root, letter), self.last_step(root))

    def check_rejection(self, root: str, receipt: Receipt, known: int) -> None:
        """Check that a letter was not rejected by a state older than the one that it was sent to."""
        if receipt.status == "rejected" and receipt.seq < known:
            text = f"{root}: letter {receipt.letter} was rejected at {receipt.seq}, and was sent after {known}"
            self.history.broken.append(text)

    def record_silence(self, root: str) -> None:
        """Record that a call had no answer; long after the last fault that breaks a law."""
        if self._quiet_since is not None and asyncio.get_running_loop().time() > self._quiet_since + QUIET_S:
            self.history.broken.append(f"{root}: a call had no answer within {PATIENCE_S} s, and nothing was wrong")

    async def _assign_trees(self) -> None:
        """Give every tree without an owner to a process, again and again."""
        while True:
            await asyncio.sleep(0.2 if self._quiet_since is None else 5.0)
            for root in self.history.journals:
                if self.directory.owner(root) is None and self._up:
                    self._assign(root, self.rng.choice(self._up))

    def _assign(self, root: str, host: Host) -> None:
        """Make the process of a host the owner of a tree, and tell it and the owner before."""
        former = self.directory.owner(root)
        assignment = Assignment(host.process.number, self.directory.assign(root, host.process.number))
        self.log(f"{root} is assigned to process {assignment.process}, tenure {assignment.tenure}")
        self._spawn(self._tell(host, root, assignment))
        if former is not None:
            self._tell_loss(former.process, root, former.tenure)

    async def _tell(self, host: Host, root: str, assignment: Assignment) -> None:
        """Let a process adopt a tree; if it cannot, the tree is assigned again."""
        try:
            await host.adopt(root, assignment)
            self._latest[root] = max(assignment.tenure, self._latest.get(root, 0))
        except (Died, RuntimeFault) as error:
            self.log(f"{root} is not adopted by process {assignment.process}: {error!r}")
            self.directory.remove(root, assignment)
            self._tell_loss(assignment.process, root, assignment.tenure)

    def _tell_loss(self, process: int, root: str, tenure: int) -> None:
        """Tell a process, now or later, that it has lost a tree; a dead one need not know."""
        host = self._host_of(process)
        if host is None:
            return
        delay_s = 0.0
        if self.happens("untold"):
            delay_s = self.rng.choice(SILENCES_S)
            self.log(f"process {process} does not know that it has lost {root}")
        self._spawn(self._tell_loss_later(host.process, host.ownership, root, tenure, delay_s))

    async def _tell_loss_later(
        self, process: Process, ownership: Assigned, root: str, tenure: int, delay_s: float
    ) -> None:
        async def lose() -> None:
            ownership.lose(root, tenure)

        await asyncio.sleep(delay_s)
        with suppress(Died):
            await process.call(lose())

    def bury(self, process: Process) -> None:
        """Let results of a dead process come late, and give its trees to others when its lease has ended."""
        self.directory.changed.notify()
        self._schedule_late_results(self.history.record_death(process.number))
        self._spawn(self._expire(process, self.rng.choice(LEASES_S)))

    async def _expire(self, process: Process, lease_s: float) -> None:
        """Take the trees of a process away after a time."""
        await asyncio.sleep(lease_s)
        for root in self.directory.roots_of(process.number):
            assignment = self.directory.owner(root)
            if assignment is not None:
                self.directory.remove(root, assignment)
                self._tell_loss(process.number, root, assignment.tenure)

    async def _inject_faults(self) -> None:
        """Move trees, and kill, stop and pause processes, from time to time."""
        while self._quiet_since is None:
            await asyncio.sleep(self.rng.choice((0.02, 0.1, 0.3)))
            host = self.rng.choice(self.hosts)
            if self.history.journals and host.is_up and self.happens("moved"):
                self._assign(self.rng.choice(list(self.history.journals)), host)
            if host.process.is_alive and self.happens("killed"):
                self.log(f"process {host.process.number} is killed")
                host.process.die()
            elif host.is_up and not host.process.is_paused and self.happens("restart"):
                self._spawn(host.stop())
            elif host.is_up and not host.process.is_paused and self.happens("paused"):
                self._spawn(self._pause(host.process, self.rng.choice(PAUSES_S)))

    async def _pause(self, process: Process, pause_s: float) -> None:
        self.log(f"process {process.number} stands still for {pause_s} s")
        process.pause_all()
        self._spawn(self._expire(process, self.rng.choice(LEASES_S)))
        await asyncio.sleep(pause_s)
        self.log(f"process {process.number} continues")
        process.resume()

    def stop_faults(self) -> None:
        """Inject no more faults."""
        if self._quiet_since is None:
            self._quiet_since = asyncio.get_running_loop().time()
            self.log("no more faults")
            self.faults = OwnerFaults()

    def store_delay_s(self) -> float:
        """Return how long a call of the store takes."""
        return self.rng.choice(STALLS_S) if self.happens("stalled") else super().store_delay_s()

    def on_commit(self, commits: Sequence[Commit]) -> None:
        """Record commits that were stored, and that no tenure follows a later one."""
        super().on_commit(commits)
        for commit in commits:
            latest = self._latest.get(commit.root, 0)
            if commit.tenure < latest or not commit.tenure:
                self.history.broken.append(
                    f"{commit.root}: tenure {commit.tenure} stored step {commit.seq} after tenure {latest}"
                )
            self._latest[commit.root] = max(latest, commit.tenure)

    def report_later(self, task: Task) -> None:
        """Schedule a result of a task that comes late, to any process."""
        delay_s = self.rng.choice((0.0, 0.05, 0.5))
        report = self._report(task, delay_s)
        self._background.append(asyncio.get_running_loop().create_task(report, context=Context()))

    async def _report(self, task: Task, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        if self._up:
            host = self.rng.choice(self._up)
            self.log(f"process {host.process.number} gets a late result of {task.id}, attempt {task.attempt}")
            host.runtime.loop.deliver(late_letter(task, self.wall()))

    def follow(self, root: str) -> None:
        """Read the feed of a tree at its owner, always the present one."""
        if root not in self._roots:
            self._roots[root] = None
            self._background.append(asyncio.get_running_loop().create_task(self._follow(root)))

    async def _follow(self, root: str) -> None:
        """Let a reader move to the present owner whenever that changes."""
        assignment: Assignment | None = None
        reading: asyncio.Task[None] | None = None
        while True:
            current = self.directory.owner(root)
            host = None if current is None else self._host_of(current.process)
            if host is None or current != assignment:
                if reading is not None:
                    reading.cancel()
                assignment = None if host is None else current
                reading = None if host is None else host.process.start(self._readers.read(root, host.runtime))
            await self.directory.changed.wait()


def late_letter(task: Task, at: int) -> Letter:
    """Return the letter of a result that comes late."""
    event = {"type": RESOLVE, "data": result_of(task, late=True)}
    return Letter(task.id, task.root, event, at, at, task.to, task.to, None, task.id, task.attempt)
