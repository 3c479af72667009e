"""Snapshots: the state of a machine as an immutable value."""

from collections.abc import Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic

from antiphon.chart.children import Children
from antiphon.chart.configuration import Configuration, StateValue
from antiphon.chart.decisions import decide
from antiphon.chart.nodes import Node
from antiphon.chart.ops import check_event
from antiphon.chart.refs import ActorRef
from antiphon.chart.signatures import C, E, N
from antiphon.chart.text import join_texts
from antiphon.chart.values import matches_state


class Frame:
    """The parts of a snapshot that seldom change, shared by consecutive snapshots."""

    __slots__ = ("children", "error", "history", "output", "status")

    def __init__(
        self,
        status: str,
        output: Any,
        error: Any,
        children: Children[ActorRef | None],
        history: dict[str, tuple[Node, ...]],
    ) -> None:
        self.status = status
        self.output = output
        self.error = error
        self.children = children
        self.history = history


class Snapshot(Generic[C, E, N]):
    """A machine's state value, context, status and children at one moment.

    `live_context` is the context of the steps; in `context`, texts that grow are joined.
    """

    __slots__ = ("_context", "configuration", "frame", "live_context")
    _context: C
    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)  # `Snapshot[C]` too

    def __init__(self, configuration: Configuration, context: C, frame: Frame) -> None:
        self.configuration = configuration
        self.live_context = context
        self.frame = frame

    @property
    def context(self) -> C:
        """The context, in which every `GrowingText` is a `str`: joined at the first read, and kept."""
        try:
            # The slot is empty until then, so that a snapshot nobody reads costs nothing.
            return self._context
        except AttributeError:
            self._context = join_texts(self.live_context)
            return self._context

    @property
    def value(self) -> StateValue:
        """The active states: a key, or a dict of keys to values."""
        return self.configuration.value

    @property
    def status(self) -> str:
        """`active`, `done`, `error` or `stopped`."""
        return self.frame.status

    @property
    def output(self) -> Any:
        """The output of a machine that is done."""
        return self.frame.output

    @property
    def error(self) -> Any:
        """The error that ended the machine."""
        return self.frame.error

    @property
    def children(self) -> Mapping[str, ActorRef | None]:
        """The children by id."""
        return self.frame.children

    @property
    def tags(self) -> frozenset[str]:
        """The tags of all active states."""
        return frozenset(self.configuration.tags)

    @property
    def history(self) -> Mapping[str, tuple[Node, ...]]:
        """The nodes that history nodes recall, by the ids of the history nodes."""
        return self.frame.history

    @property
    def machine(self) -> Any:
        """The machine this is a snapshot of."""
        return self.configuration.machine

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The active state nodes, in the order in which they became active."""
        return self.configuration.nodes

    def matches(self, value: N | Mapping[str, Any]) -> bool:
        """Return whether the state value agrees with a partial one."""
        return matches_state(value, self.configuration.shared_value)

    def has_tag(self, tag: str) -> bool:
        """Return whether an active state has this tag."""
        return tag in self.configuration.tags

    def can(self, event: E) -> bool:
        """Return whether sending this event would take a transition that does something."""
        leaf = decide(self.configuration, check_event(event)["type"], self.live_context, event)
        return any(not transition.is_forbidden for transition in leaf.selected)

    def get_meta(self) -> dict[str, Any]:
        """Return the `meta` of the active states, by their ids."""
        return {node.id: node.meta for node in self.configuration.nodes if node.meta is not None}

    def to_json(self) -> dict[str, Any]:
        """Return the snapshot as plain values, for inspection; `get_persisted_snapshot` is for storing."""
        from_frame = {"output": self.output, "error": self.error}
        return {
            "status": self.status,
            "context": self.context,
            "value": self.value,
            "children": dict(self.children),
            "historyValue": {id: [node.id for node in nodes] for id, nodes in self.history.items()},
            "tags": list(self.configuration.tags),
            **{key: value for key, value in from_frame.items() if value is not None},
        }

    def __repr__(self) -> str:
        return f"Snapshot({self.configuration.shared_value!r}, {self.context!r}, {self.status!r})"


_new = object.__new__


def make_snapshot(configuration: Configuration, context: Any, frame: Frame) -> Snapshot[Any]:
    """Create a snapshot in half the time that calling the class takes: every event creates one."""
    snapshot: Snapshot[Any] = _new(Snapshot)
    snapshot.configuration = configuration
    snapshot.live_context = context
    snapshot.frame = frame
    return snapshot


def childless_snapshot(
    configuration: Configuration, context: C, status: str, output: Any, error: Any
) -> Snapshot[C, Any, Any]:
    """Create a snapshot without children and without history."""
    return Snapshot(configuration, context, Frame(status, output, error, Children(), {}))
