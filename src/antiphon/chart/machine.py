"""Machines: charts with functions bound to their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, cast

from antiphon.chart.actions import BoundAction, Duration
from antiphon.chart.build import Builder
from antiphon.chart.configuration import complete, is_legal, nodes_of_value
from antiphon.chart.definition import to_json
from antiphon.chart.errors import ChartError, EngineError
from antiphon.chart.guards import Guard
from antiphon.chart.names import Implementations
from antiphon.chart.nodes import Node, Unresolved, find_by_id
from antiphon.chart.plans import Plan, initial_plan, is_done
from antiphon.chart.signatures import C, E_in, N
from antiphon.chart.snapshot import Snapshot, childless_snapshot
from antiphon.chart.tables import LIMIT, Tables

# XState has no limit by default. A step of more microsteps than this is a mistake in the chart.
MAX_ITERATIONS = 10_000

Migrate = Callable[[dict[str, Any], Any], dict[str, Any]]


class Machine(Generic[C, E_in, N]):
    """A chart, its functions, and the decisions made about it so far."""

    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)  # `Machine[C, E]` too

    def __init__(
        self,
        config: Mapping[str, Any],
        implementations: Implementations,
        *,
        strict: bool = True,
        migrate: Migrate | None = None,
        memory: int = LIMIT,
    ) -> None:
        self.config = config
        self.implementations = implementations
        self.event_types = implementations.event_types
        self.strict = strict
        self.migrate = migrate
        builder = Builder(config, implementations, strict)
        self.id = builder.id
        self.root = builder.build()
        self.nodes = builder.by_id
        # Events that end an invoked actor, with the timeout that is cancelled then.
        self.timeouts = builder.timeouts
        self.scxml = bool(builder.scxml)
        # The operation that runs before each event from outside is taken; only machines of SCXML documents have one.
        self.receiving = implementations.receiving
        self.version: Any = config.get("version")
        self.context = builder.context
        self.max_iterations = _max_iterations(self.id, config)
        self.history_nodes = tuple(node for node in self.nodes.values() if node.is_history)
        self.tables = Tables(self, memory)
        self._initial: Plan | None = None

    @property
    def states(self) -> Mapping[str, Node]:
        """The top-level states by key."""
        return self.root.states

    @property
    def events(self) -> list[str]:
        """The event types that some transition reacts to."""
        types = dict.fromkeys(
            descriptor
            for node in self.root.walk()
            for descriptor, transitions in node.on.items()
            if not all(transition.is_forbidden and not transition.reenter for transition in transitions)
        )
        return list(types)

    def provide(
        self,
        *,
        actions: Mapping[str, BoundAction[C, E_in]] | None = None,
        guards: Mapping[str, Guard[C, E_in]] | None = None,
        actors: Mapping[str, Any] | None = None,
        delays: Mapping[str, Duration[C, E_in]] | None = None,
        public: Iterable[str] | None = None,
    ) -> Machine[C, E_in, N]:
        """Return the same chart with some functions replaced; this machine does not change.

        `public` replaces the list of events that may come from outside; `["*"]` is all of them.
        """
        merged = self.implementations.merge(Implementations(actions, guards, actors, delays))
        if public is not None:
            merged.set_public(public)
        return Machine(self.config, merged, strict=self.strict, migrate=self.migrate, memory=self.tables.limit)

    def to_json(self) -> dict[str, Any]:
        """Return the machine's definition, fully expanded, in the shape of XState's `machine.toJSON()`."""
        return to_json(self)

    def logic(self, src: Any) -> Any:
        """Return the actor logic of this name, or None."""
        return self.implementations.logic(src)

    def initial_plan(self) -> Plan:
        """Return the plan of entering the machine."""
        if self._initial is None:
            self._initial = initial_plan(self.tables.intern((self.root,)))
        return self._initial

    def get_state_node_by_id(self, id: str) -> Node:
        """Return the node of `#id`, `id` or `#id.child`."""
        try:
            return find_by_id(self.nodes, self.id, id)
        except Unresolved as error:
            raise EngineError(str(error)) from None

    def resolve_state(
        self,
        value: N | Mapping[str, Any],
        *,
        context: C | None = None,
        status: str = "active",
        output: Any = None,
        error: Any = None,
    ) -> Snapshot[C, E_in, N]:
        """Return a snapshot at a state value, whose missing parts are filled in with initial states."""
        nodes = self.nodes_at(value)
        ended = is_done(self.root, frozenset(nodes))
        own_context = cast(C, {}) if context is None else context
        return childless_snapshot(self.tables.intern(nodes), own_context, "done" if ended else status, output, error)

    def nodes_at(self, value: Any) -> tuple[Node, ...]:
        """Return the nodes that are active at a state value."""
        try:
            nodes = tuple(complete(list(dict.fromkeys(nodes_of_value(self.root, self.root, value)))))
        except KeyError as error:
            raise EngineError(error.args[0]) from None
        if self.strict and not is_legal(nodes):
            raise EngineError(f"the states of {value!r} cannot be active together in machine {self.id!r}")
        return nodes

    def __repr__(self) -> str:
        return f"Machine({self.id!r})"


def _max_iterations(id: str, config: Mapping[str, Any]) -> int:
    limit = (config.get("options") or {}).get("maxIterations", MAX_ITERATIONS)
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 1:
        raise ChartError(id, "options.maxIterations", f"expected a positive number, not {limit!r}")
    return int(limit)


def create_machine(
    config: Mapping[str, Any],
    *,
    actions: Mapping[str, Any] | None = None,
    guards: Mapping[str, Any] | None = None,
    actors: Mapping[str, Any] | None = None,
    delays: Mapping[str, Any] | None = None,
    strict: bool = True,
    migrate: Migrate | None = None,
) -> Machine[Any, Any]:
    """Bind functions to the names in a chart. `strict=False` leaves unknown names to fail as XState does."""
    return Machine(config, Implementations(actions, guards, actors, delays), strict=strict, migrate=migrate)
