"""Port to durable trees: the calls that applications and commands use, wherever the trees are run."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from typing import Any, Protocol

from antiphon.runtime.records import Entry, Origin, Receipt, RootState, TreeChanges, TreeState
from antiphon.runtime.store import Store


class Doors(Protocol):
    """Ways to create, reach and read trees. `Runtime` is one implementation."""

    @property
    def store(self) -> Store:
        """The store of the trees."""
        ...

    @property
    def now(self) -> Any:
        """The clock: a function that returns milliseconds since the epoch."""
        ...

    async def create(self, machine: str, *, root: str | None = None, input: Any = None) -> str:
        """Create a root actor that runs a machine; return its id once it is stored."""
        ...

    async def send(self, root: str, event: Any, *, id: str | None = None, to: str = "") -> Receipt:
        """Send an event and wait until the step that takes it is stored."""
        ...

    async def post(self, root: str, event: Any, *, id: str | None = None, to: str = "", delay_ms: int = 0) -> Receipt:
        """Store an event in an inbox, to be taken after a delay."""
        ...

    def feed(self, root: str, after: int | str = 0, *, wait_for_release: bool = False) -> AsyncIterator[Entry]:
        """Iterate over the journal of a tree: the entries there are, then new ones until it has ended."""
        ...

    def pages(
        self, root: str, after: int | str = 0, *, wait_for_release: bool = False
    ) -> AsyncGenerator[list[Entry], None]:
        """Iterate over the journal of a tree as `feed` does, by lists of the entries that are there."""
        ...

    def recent(self, root: str, after: int) -> list[Entry] | None:
        """Return the entries after a step of a tree that is watched or followed, or None if the store must be read."""
        ...

    def watch(self, roots: Collection[str] = ()) -> AsyncIterator[TreeChanges]:
        """Iterate over the trees that change: on every step of some, when the root actor of others is concerned."""
        ...

    async def wait_until(self, root: str, condition: Callable[[TreeState], bool]) -> TreeState:
        """Wait until a condition holds for a tree between two turns; return its state then."""
        ...

    async def cursor(self, root: str, seq: int | None = None) -> str:
        """Return a cursor to follow the journal of a tree from: of its last stored step, or of an earlier one."""
        ...

    async def origin(self, root: str) -> Origin:
        """Return the facts about a root actor that are fixed when it is created."""
        ...

    async def state(self, root: str) -> RootState:
        """Return the state of a root actor at its last stored step, without its descendants."""
        ...

    async def can(self, root: str, to: str = "") -> tuple[str, ...]:
        """Return the types of the events from outside that an actor of a tree takes now, with some keys."""
        ...

    async def snapshot(self, root: str, seq: int | None = None) -> Any:
        """Return the snapshot of a tree as JSON, now or at an earlier sequence number."""
        ...

    async def output(self, root: str) -> Any:
        """Wait until a root actor has ended and its end is stored; return its output."""
        ...

    async def unload(self, root: str) -> None:
        """Drop a tree from memory if it has nothing to do."""
        ...

    async def delete(self, root: str) -> None:
        """Delete a root actor with all that belongs to it."""
        ...

    async def fork(
        self,
        root: str,
        seq: int,
        *,
        new: str | None = None,
        edit: Callable[[Any, Any], tuple[Any, Any]] | None = None,
    ) -> str:
        """Create a tree that starts from another one at a sequence number; return its id."""
        ...
