"""A machine's definition as JSON: the fully expanded tree that XState's `machine.toJSON()` gives.

It is for tools that show or compare machines. To make a machine again, keep its chart: `machine.config`.
Like XState's, a definition has no eventless transitions. Where XState loses a function altogether,
actions and guards keep its name.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from antiphon.chart.actions import Action
from antiphon.chart.errors import ChartError
from antiphon.chart.guards import And, Not, Or, StateIn
from antiphon.chart.nodes import Invoke, Node, Transition, initial_key
from antiphon.chart.text import GrowingText

AFTER = "xstate.after."


class DefinitionSource(Protocol):
    """The parts of a machine that its definition is read from."""

    @property
    def id(self) -> str:
        """The machine's name."""
        ...

    @property
    def root(self) -> Node:
        """The outermost state."""
        ...

    @property
    def version(self) -> Any:
        """The version that the chart declares."""
        ...


def to_json(machine: DefinitionSource) -> dict[str, Any]:
    """Return the definition of a machine as JSON-ready values."""
    return _Reader(machine).node(machine.root)


def written_chart(machine: DefinitionSource) -> dict[str, Any]:
    """Return the chart of a machine as it was written, as JSON with names in the place of functions."""
    return {"id": machine.id, **_written(machine.root.config)}


def _written(value: Any) -> Any:
    """Return a part of a chart as JSON."""
    match value:
        case None | str() | int() | float():
            return value
        case GrowingText():
            return str(value)
        case And(guards):
            return {"type": "and", "guards": [_written(guard) for guard in guards]}
        case Or(guards):
            return {"type": "or", "guards": [_written(guard) for guard in guards]}
        case Not(guard):
            return {"type": "not", "guards": [_written(guard)]}
        case StateIn(state):
            return {"type": "stateIn", "params": {"stateValue": _written(state)}}
        case Mapping():
            return {str(key): _written(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_written(inner) for inner in value]
        case Action():
            return value.type
    return str(getattr(value, "__name__", None) or getattr(value, "id", None) or type(value).__name__)


class _Reader:
    """Turns the nodes of one machine into plain values."""

    def __init__(self, machine: DefinitionSource) -> None:
        self.machine = machine

    def node(self, node: Node) -> dict[str, Any]:
        config = node.config
        transitions = {type: [self._transition(transition) for transition in group] for type, group in node.on.items()}
        return _without_none(
            id=node.id,
            key=node.key,
            version=self.machine.version,
            type=node.type,
            initial=self._initial(node),
            history="shallow" if config.get("history") is True else config.get("history") or False,
            states={key: self.node(child) for key, child in node.states.items()},
            on={type: group for type, group in transitions.items() if group},
            transitions=[transition for group in transitions.values() for transition in group],
            entry=self._acts(config.get("entry"), len(node.entry), "xstate.raise"),
            exit=self._acts(config.get("exit"), len(node.exit), "xstate.cancel"),
            meta=self._value(node.meta, node, "meta"),
            order=node.order or -1,
            output=self._value(config.get("output"), node, "output") if node.output is not None else None,
            invoke=[self._invoke(invoke, node) for invoke in node.invokes],
            description=node.description,
            tags=list(node.tags),
        )

    def _initial(self, node: Node) -> dict[str, Any]:
        initial = node.config.get("initial")
        described = initial if isinstance(initial, Mapping) else {}
        first = node.states.get(initial_key(node))
        return {
            "target": [] if first is None else [f"#{first.id}"],
            "source": f"#{node.id}",
            "actions": [_name_action(spec) for spec in _as_list(described.get("actions"))],
            "eventType": None,
            **_without_none(
                meta=self._value(described.get("meta"), node, "initial.meta"), description=described.get("description")
            ),
        }

    def _acts(self, specs: Any, count: int, timing: str) -> list[Any]:
        # Timers of the node are set and cancelled by operations after those that the chart lists.
        listed = [_name_action(spec) for spec in _as_list(specs)]
        return listed + [{"type": timing}] * (count - len(listed))

    def _transition(self, transition: Transition) -> dict[str, Any]:
        source = transition.source
        config = transition.config
        where = f"on.{transition.event_type}"
        targets = transition.targets
        return _without_none(
            target=None if targets is None else [f"#{node.id}" for node in targets],
            guard=self._guard(config.get("guard"), source, where),
            actions=[self._action(spec, source, where) for spec in _as_list(config.get("actions"))],
            meta=self._value(transition.meta, source, f"{where}.meta"),
            description=transition.description,
            source=f"#{source.id}",
            reenter=transition.reenter,
            eventType=transition.event_type,
            **_timing(transition),
        )

    def _action(self, spec: Any, node: Node, where: str) -> Any:
        return self._value(spec, node, f"{where}.actions") if isinstance(spec, str | Mapping) else _name_action(spec)

    def _guard(self, spec: Any, node: Node, where: str) -> Any:
        match spec:
            case And(guards):
                return {"type": "xstate.and", "guards": [self._guard(guard, node, where) for guard in guards]}
            case Or(guards):
                return {"type": "xstate.or", "guards": [self._guard(guard, node, where) for guard in guards]}
            case Not(guard):
                return {"type": "xstate.not", "guards": [self._guard(guard, node, where)]}
            case StateIn(value):
                return {"type": "xstate.stateIn", "params": {"stateValue": value}}
            case None | str() | Mapping():
                return self._value(spec, node, f"{where}.guard")
        return _name_action(spec)

    def _invoke(self, invoke: Invoke, node: Node) -> dict[str, Any]:
        options = {key: value for key, value in invoke.config.items() if key not in ("src", "onDone", "onError")}
        described: dict[str, Any] = self._value(options, node, "invoke") or {}
        return {**described, "type": "xstate.invoke", "src": invoke.src, "id": invoke.id}

    def _value(self, value: Any, node: Node, key: str) -> Any:
        """Return a value of the chart as JSON, without the functions in it."""
        if value is None or isinstance(value, str | int | float):
            return value
        if isinstance(value, GrowingText):
            return str(value)
        if isinstance(value, Mapping):
            data = {str(name): inner for name, inner in value.items() if not _is_function(inner)}
            return {name: self._value(inner, node, f"{key}.{name}") for name, inner in data.items()}
        if isinstance(value, list | tuple):
            return [None if _is_function(inner) else self._value(inner, node, key) for inner in value]
        if _is_function(value):
            return None
        raise ChartError(
            self.machine.id, f"#{node.id} {key}", f"a {type(value).__name__} cannot be written as JSON: {value!r}"
        )


def _timing(transition: Transition) -> dict[str, Any]:
    type = transition.event_type
    id = transition.source.id
    if not type.startswith(AFTER) or not type.endswith(f".{id}"):
        return {}
    delay = type[len(AFTER) : -len(id) - 1]
    try:
        number = float(delay)
    except ValueError:
        return {"event": type, "delay": delay}
    return {"event": type, "delay": int(number) if number.is_integer() else number}


def _name_action(spec: Any) -> Any:
    if isinstance(spec, str):
        return {"type": spec}
    if isinstance(spec, Action):
        return {"type": spec.type}
    return {"type": getattr(spec, "__name__", type(spec).__name__)} if callable(spec) else spec


def _is_function(value: Any) -> bool:
    return callable(value) or isinstance(value, Action)


def _as_list(specs: Any) -> list[Any]:
    if specs is None:
        return []
    return list(specs) if isinstance(specs, list | tuple) else [specs]


def _without_none(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
