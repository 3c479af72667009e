"""The composition root: builds an app from a store, models, tools and machines."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.agents import composition as runs
from antiphon.agents.arbiter_function import Arbiter
from antiphon.agents.kind import RUN
from antiphon.agents.service import Runs
from antiphon.chart.machine import Machine
from antiphon.chat import composition as chats
from antiphon.chat.kind import CHAT
from antiphon.chat.service import Chats
from antiphon.chat.summaries import Summariser
from antiphon.debate import composition as debates
from antiphon.debate.judge_function import Judge
from antiphon.debate.kind import DEBATE
from antiphon.debate.service import Debates
from antiphon.errors import Code
from antiphon.providers.base import Provider
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Prices
from antiphon.providers.registry import Models
from antiphon.providers.sessions import Sessions
from antiphon.runtime.clock import SteadyClock
from antiphon.runtime.errors import MachineTaken, StoreError
from antiphon.runtime.ids import new_ids
from antiphon.runtime.index.rebuild import IndexRebuild
from antiphon.runtime.machines import Machines, descendants
from antiphon.runtime.ownership import Whole
from antiphon.runtime.reader import Reader
from antiphon.runtime.records import RootState
from antiphon.runtime.replay.dry_run import DryReplay, TreeReplay
from antiphon.runtime.replay.restoring import RestoreReport, RestoreTrial
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.store import Store
from antiphon.runtime.tree_cache import TreeCache
from antiphon.stores.maintenance import backup
from antiphon.stores.memory import MemoryStore
from antiphon.stores.ownership import owner_of
from antiphon.stores.sqlite import SqliteStore
from antiphon.threads.approval import Approver, ask_approver
from antiphon.threads.assessing import assess_calls
from antiphon.threads.day_costs import DeletedCosts
from antiphon.threads.foreign_models import ForeignModels
from antiphon.threads.grants import Grants
from antiphon.threads.index import ThreadProjection
from antiphon.threads.library import Library
from antiphon.threads.machine.former import migrate_by
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.thread import thread_machine
from antiphon.threads.machine.tools import tools_machine
from antiphon.threads.machine.version_1.migration import CHANGES
from antiphon.threads.machine.version_1.thread import thread_machine_1
from antiphon.threads.machine.version_1.tools import tools_machine_1
from antiphon.threads.owners import OwnerLimits, Owners
from antiphon.threads.reply import stream_reply
from antiphon.threads.resources import Resources
from antiphon.threads.threads import Threads
from antiphon.threads.toolbox import NoTools, Toolbox, call_tool
from antiphon.threads.tracing import TracedProvider
from antiphon.tools.undo.folder import UndoFolder

KINDS = (CHAT, RUN, DEBATE)
MEMORY = ":memory:"
PROJECTION = ThreadProjection(KINDS)


class App:
    """Chats, runs and debates on one store, a file or `":memory:"`; an asynchronous context manager.

    `machines` are hosted beside those of Antiphon, and reached by `app.runtime`.
    The functions `judge`, `arbiter`, `approver` and `summariser` take the place of a model or a person in all threads.
    `limits` hold for each owner of threads. Words of a reply, but the first, are joined for `window_ms`. `undo` is the
    folder in which a toolbox records its changes.
    """

    def __init__(
        self,
        store: str | Path | Store,
        *,
        models: Models | None = None,
        prices: Prices | None = None,
        toolbox: Toolbox | None = None,
        judge: Judge | None = None,
        arbiter: Arbiter | None = None,
        approver: Approver | None = None,
        summariser: Summariser | None = None,
        machines: Iterable[Machine[Any, Any]] = (),
        limits: OwnerLimits | None = None,
        undo: UndoFolder | None = None,
        window_ms: float | None = None,
    ) -> None:
        self.models = models or Models()
        self.sessions = Sessions(self.models)
        self._closing = asyncio.Event()
        grants = Grants()
        owners = Owners(lambda: self.runtime, limits, prices, _deleted_costs(store))
        foreign = ForeignModels(lambda: self.runtime, grants, lambda model: owners.open(TracedProvider(model)))
        machine = compose(
            lambda reference: foreign.open(reference, self.models.open(reference)),
            open_session=lambda session, reference: foreign.open(reference, self.sessions.open(session, reference)),
            close_session=self.sessions.close_soon,
            prices=prices,
            toolbox=toolbox,
            closing=self._closing,
            judge=judge,
            arbiter=arbiter,
            approver=approver,
            summariser=summariser,
            grants=grants,
            pause_ms=lambda: self.runtime.tasks.window.pause_ms,
        )
        hosted = _hosted_machines(machine, machines)
        self.runtime = Runtime(_open_store(store), hosted, projection=PROJECTION, window_ms=window_ms)
        self.library = Library(self.runtime, KINDS)
        roles = _given_names(judge=judge, arbiter=arbiter, approver=approver)
        resources = Resources(self.models.check, toolbox or NoTools(), roles, undo, grants, owners.forget, owners.keep)
        _exclude_store(undo, store)
        self.chats = Chats(self.runtime, self.library, resources)
        self.runs = Runs(self.runtime, self.library, resources)
        self.debates = Debates(self.runtime, self.library, resources)
        services = {"chat": self.chats, "run": self.runs, "debate": self.debates}
        creates: dict[str, Callable[..., Awaitable[str]]] = {
            "chat": self.chats.create, "run": self.runs.create, "debate": self.debates.create,
        }  # fmt: skip
        self.threads = Threads(self.runtime, self.library, services, creates, resources)

    async def backup(self, file: str | Path) -> int:
        """Copy the store to a new file as it is now, while threads continue; return the size of the copy in bytes."""
        return await asyncio.to_thread(backup, self._store_file(), file, lambda done, total: None)

    def size(self) -> int:
        """Return the size of the store in bytes, with its log."""
        file = self._store_file()
        return sum(path.stat().st_size for path in (file, Path(f"{file}-wal")) if path.exists())

    def _store_file(self) -> Path:
        store = self.runtime.store
        if not isinstance(store, SqliteStore):
            raise StoreError("the store is not a file, so there is nothing to copy")
        return store.path

    async def __aenter__(self) -> Self:
        await self.runtime.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Requests for permission end with the process that made them.
        self._closing.set()
        try:
            await self.runtime.stop()
        finally:
            await self.sessions.wait_closed()
            await self.models.close()


def _given_names(**functions: object) -> list[str]:
    return [name for name, function in functions.items() if function is not None]


def _exclude_store(undo: UndoFolder | None, store: str | Path | Store) -> None:
    """Keep the store out of the copies for undo; raise `TypeError` if `undo` is no folder of copies."""
    if undo is None:
        return
    if not isinstance(undo, UndoFolder):
        raise TypeError(f"undo is {undo!r}; it must be an UndoFolder, such as UndoFolder(path)")
    if isinstance(store, str | Path):
        undo.exclude(store)


def _deleted_costs(store: str | Path | Store) -> DeletedCosts | None:
    """Return the file beside a store that has the costs of deleted threads; None for a store without a file."""
    path = Path(store) if isinstance(store, str | Path) else getattr(store, "path", None)
    return None if path is None or str(path) == MEMORY else DeletedCosts(path.with_name(f"{path.name}-costs"))


def _open_store(store: str | Path | Store) -> Store:
    if not isinstance(store, str | Path):
        return store
    return MemoryStore() if str(store) == MEMORY else SqliteStore(store)


def _hosted_machines(own: Machine[Any, Any], others: Iterable[Machine[Any, Any]]) -> list[Machine[Any, Any]]:
    """Return the machines to host; raise `MachineTaken` if another has the id of a machine of Antiphon."""
    added = list(others)
    own_ids = {machine.id for machine in descendants(own)}
    for machine in added:
        if machine.id in own_ids:
            raise MachineTaken(f"Antiphon has a machine {machine.id!r} itself; give yours another id")
    return [*former_machines(), own, *added]


def _keep_session(id: str) -> None:
    """Leave a session open, where there are none."""


def compose(
    open_model: Callable[[str], Provider],
    *,
    open_session: Callable[[str, str], Provider] | None = None,
    close_session: Callable[[str], None] = _keep_session,
    prices: Prices | None = None,
    toolbox: Toolbox | None = None,
    closing: asyncio.Event | None = None,
    judge: Judge | None = None,
    arbiter: Arbiter | None = None,
    approver: Approver | None = None,
    summariser: Summariser | None = None,
    grants: Grants | None = None,
    pause_ms: Callable[[], float] = float,
) -> Machine[Any, Any]:
    """Return the thread machine with its children: chat, run and debate, and their replies, tools and permissions.

    Without `open_session`, the sessions of runs open a model for each request. `pause_ms` is that of `stream_reply`.
    """
    open_run_model = open_session or (lambda _, reference: open_model(reference))
    price_table = prices or Prices()
    reply = streaming_machine.provide(
        actors={"streamReply": stream_reply(open_model, prices=price_table, pause_ms=pause_ms)}
    )
    stream_in_session = stream_reply(open_model, prices=price_table, open_session=open_run_model, pause_ms=pause_ms)
    agent_reply = streaming_machine.provide(actors={"streamReply": stream_in_session})
    process = _process(closing or asyncio.Event())
    calls = call_tool(toolbox or NoTools())
    assess = assess_calls(toolbox or NoTools(), grants)
    actors = {"assess": assess, "tool": calls, "process": process, "approver": ask_approver(approver)}
    tools = tools_machine.provide(actors=actors)
    machine = thread_machine.provide(
        actors={
            "chat": chats.compose_chat(open_model, prices=price_table, reply=reply, tools=tools, summariser=summariser),
            "run": runs.compose_run(
                open_run_model,
                close_session=close_session,
                prices=price_table,
                reply=agent_reply,
                tools=tools,
                arbiter=arbiter,
            ),
            "debate": debates.compose_debate(open_model, prices=price_table, reply=reply, judge=judge),
        }
    )
    machine.migrate = migrate_by(machine, {**CHANGES, **chats.MIGRATION, **runs.MIGRATION})
    return machine


@cache
def former_machines() -> tuple[Machine[Any, Any], ...]:
    """Return the former versions of the thread machine.

    They only replay journals before these are migrated, so they ask no model and call no tool.
    """
    prices = Prices()
    reply = streaming_machine.provide(actors={"streamReply": stream_reply(_no_model)})
    process = _process(asyncio.Event())
    calls = call_tool(NoTools())
    tools = tools_machine_1.provide(actors={"tool": calls, "process": process, "approver": ask_approver(None)})
    chat = chats.compose_chat(_no_model, prices=prices, reply=reply, tools=tools, machine=chats.VERSION_1)
    run = runs.compose_run(
        lambda _, reference: _no_model(reference),
        close_session=_keep_session,
        prices=prices,
        reply=reply,
        tools=tools,
        machines=runs.VERSION_1,
    )
    debate = debates.compose_debate(_no_model, prices=prices, reply=reply, machine=debates.VERSION_1)
    return (thread_machine_1.provide(actors={"chat": chat, "run": run, "debate": debate}),)


def own_machines() -> list[Machine[Any, Any]]:
    """Return the machines of Antiphon."""
    return descendants(compose(_no_model))


def _reading_machines() -> list[Machine[Any, Any]]:
    """Return the thread machine in all versions, to read threads without running them."""
    return [*former_machines(), compose(_no_model)]


def _process(closing: asyncio.Event) -> AsyncLogic:
    """Return a task that ends when this process closes; after a crash the runtime reports it as lost."""

    async def run() -> None:
        await closing.wait()

    return from_task(run)


@asynccontextmanager
async def open_library(path: str | Path) -> AsyncIterator[Library]:
    """Open the library of a store for reading, also while another process owns the store.

    Threads that are not in the index of a store without an owner, as after an import, are indexed first.
    """
    store = SqliteStore(path, read_only=True)
    await store.open()
    try:
        is_unowned = owner_of(path) is None
        if is_unowned and await store.index.find_outdated(PROJECTION.version, -PROJECTION.version):
            await store.close()
            await reindex(path)
            await store.open()
        reader = _UnownedReader if is_unowned else Reader
        yield Library(reader(store, _reading_machines()), KINDS, is_unowned=is_unowned)
    finally:
        await store.close()


async def reindex(
    path: str | Path, progress: Callable[[int, int], None] | None = None, *, everything: bool = False
) -> int:
    """Index the threads of a store that are not indexed, or all of them, from their journals; return their number."""
    async with _own_trees(path, _reading_machines()) as trees:
        return await IndexRebuild(trees, SteadyClock().now, new_ids()).run(progress, everything=everything)


async def replay_journals(
    path: str | Path,
    machines: Iterable[Machine[Any, Any]] | None,
    root: str | None,
    progress: Callable[[int, int], None],
) -> list[TreeReplay]:
    """Replay the journals of a store, or of one tree, with the machines of Antiphon or others; change nothing."""
    store = SqliteStore(path, read_only=True)
    await store.open()
    try:
        dry = DryReplay(store, Machines(machines if machines is not None else _reading_machines()))
        return await dry.replay_all(progress) if root is None else [await dry.replay(root)]
    finally:
        await store.close()


async def try_restoring(
    path: str | Path,
    old: Machine[Any, Any] | None,
    new: Machine[Any, Any],
    progress: Callable[[int, int], None],
) -> RestoreReport:
    """Restore the stored runs of a machine with a new version of it; change nothing.

    Trees are read with `old` and the machines of Antiphon.
    """
    store = SqliteStore(path, read_only=True)
    await store.open()
    try:
        machines = [*([] if old is None else [old]), *_reading_machines()]
        return await RestoreTrial(store, machines, new).run(progress)
    finally:
        await store.close()


async def accept_replay(path: str | Path, machines: Iterable[Machine[Any, Any]] | None, root: str) -> None:
    """Store the state that the steps of a tree give with the machines of Antiphon or others."""
    async with _own_trees(path, machines if machines is not None else _reading_machines()) as trees:
        await trees.accept(root)


@asynccontextmanager
async def _own_trees(path: str | Path, machines: Iterable[Machine[Any, Any]]) -> AsyncIterator[TreeCache]:
    """Own a store without running its trees."""
    store = SqliteStore(path)
    ownership = Whole()
    boot = await store.open()
    try:
        ownership.start(boot)
        registered = Machines(machines)
        trees = TreeCache(store, ownership, registered, 1, lambda tree: True, SteadyClock().now, projection=PROJECTION)
        trees.commits.start(boot)
        yield trees
    finally:
        await store.close()


class _UnownedReader(Reader):
    """Reader of a store without an owner: threads stored as running are interrupted."""

    async def snapshot(self, root: str, *, copy: bool = False) -> Any:
        """Return the snapshot of a thread as it will be after the store is opened."""
        snapshot = await super().snapshot(root, copy=copy)
        return {**snapshot, "value": "interrupted"} if snapshot["value"] == "running" else snapshot

    async def state(self, root: str) -> RootState:
        """Return the state of a thread as it will be after the store is opened."""
        state = await super().state(root)
        state.value = "interrupted" if state.value == "running" else state.value
        return state


def _no_model(reference: str) -> Provider:
    raise ProviderError(Code.UNSUPPORTED, "models are not available to readers")
