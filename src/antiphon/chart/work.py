"""The working copy of a snapshot while a step is computed."""

from collections import deque
from typing import Any

from antiphon.chart.children import Children
from antiphon.chart.configuration import Configuration
from antiphon.chart.effects import Effect, SendTo, SpawnChild
from antiphon.chart.errors import UnknownActor
from antiphon.chart.functions import full
from antiphon.chart.nodes import Node
from antiphon.chart.refs import ActorRef
from antiphon.chart.scope import Facts, Scope


class Work:
    """The state that the operations of a step read and change; nothing outside the step sees it."""

    __slots__ = (
        "active", "actor", "changed", "children", "configuration", "context", "effects", "error", "event", "facts",
        "history", "invoking", "late", "machine", "output", "queue", "status", "unsettled",
    )  # fmt: skip
    # Loaded from a snapshot, or set when a machine is entered.
    configuration: Any
    context: Any
    children: "Children[ActorRef | None]"
    history: dict[str, tuple[Node, ...]]
    status: str
    output: Any
    error: Any

    def __init__(self, machine: Any, actor: Any, facts: Facts | None = None) -> None:
        self.machine = machine
        self.actor = actor
        self.facts = facts  # of a step without an actor
        self.event: Any = None
        self.effects: list[Effect] = []
        self.queue: deque[Any] | None = None  # most steps raise nothing
        self.changed = False
        # SCXML: the states that are active inside a microstep, and those whose actors are still to be invoked.
        self.active: frozenset[Node] | None = None
        self.invoking: dict[Node, None] | None = None
        # A node's entry actions may address children that the same node is about to invoke.
        self.late: tuple[str, ...] = ()
        self.unsettled: list[SendTo] = []

    def scope(self) -> Scope:
        """Return the scope of the function that is called now."""
        return Scope(self.actor, None if self.actor is None else self.actor.system, self.spawn, self.facts)

    @property
    def may_have_parent(self) -> bool:
        """True if a parent may be addressed; without an actor that is not known, so it may."""
        return self.actor is None or self.actor.parent is not None

    def active_states(self) -> Configuration:
        """Return the configuration at this point of the step."""
        configuration: Configuration = self.configuration
        return configuration if self.active is None else Configuration(self.machine, tuple(self.active))

    def active_nodes(self) -> frozenset[Node]:
        """Return the states that are active at this point of the step."""
        nodes: frozenset[Node] = self.configuration.members if self.active is None else self.active
        return nodes

    def enqueue(self, event: Any) -> None:
        """Queue an event to be taken within this step."""
        if self.queue is None:
            self.queue = deque()
        self.queue.append(event)

    def spawn(
        self,
        src: Any,
        *,
        id: str | None = None,
        input: Any = None,
        system_id: str | None = None,
        sync_snapshot: bool = False,
    ) -> ActorRef:
        """Create a child from inside an assign and return its reference."""
        logic = self.machine.logic(src)
        if logic is None:
            raise UnknownActor(f"machine {self.machine.id!r} has no actor named {src!r} to spawn; add it under actors")
        own_input = full(input)(self.context, self.event, None, self.scope()) if callable(input) else input
        ref = ActorRef(id or self.free_id(), src, logic, own_input, system_id, sync_snapshot)
        self.adopt(ref, assigned=True)
        return ref

    def adopt(self, ref: ActorRef, assigned: bool = False) -> None:
        """Add a child and request its start."""
        self.children = self.children.adding(ref.id, ref)
        self.effects.append(SpawnChild(ref, assigned))
        self.changed = True

    def free_id(self) -> str:
        """Return an id that no child has; the same for the same snapshot, so that replays agree."""
        number = len(self.children)
        while f"x:{number}" in self.children:
            number += 1
        return f"x:{number}"


NO_CHILDREN: Children[ActorRef | None] = Children()
