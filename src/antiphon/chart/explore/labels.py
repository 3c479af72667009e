"""Labels for people: short texts for transitions, events, guards, actions and states."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from antiphon.chart.actions import Action
from antiphon.chart.guards import And, Not, Or, StateIn
from antiphon.chart.nodes import Invoke, Node, Transition

INTERNAL = "xstate."
# Prefixes of internal event types, with the word that stands for them in labels.
ENDINGS = {
    "xstate.done.actor.": "done",
    "xstate.error.actor.": "error",
    "xstate.snapshot.": "snapshot",
    "xstate.timeout.actor.": "timeout",
}


def written_transitions(node: Node) -> Iterator[Transition]:
    """Yield the transitions of a state that its chart contains, without those the builder added."""
    for transitions in node.on.values():
        # A transition with operations but an empty config was added by the builder for a timeout.
        yield from (transition for transition in transitions if transition.config or not transition.ops)
    yield from node.always


def transition_label(transition: Transition) -> str:
    """Return a transition as `EVENT [guard] / action, action`."""
    return f"{event_label(transition.event_type, transition.source)}{condition_label(transition)}"


def move_label(transition: Transition) -> str:
    """Return a transition as `source → target [guard] / action, action`."""
    targets = ", ".join(node.key for node in transition.targets or ())
    moved = f"{transition.source.key} → {targets}" if targets else transition.source.key
    return f"{moved}{condition_label(transition)}"


def condition_label(transition: Transition) -> str:
    """Return the guard and the actions of a transition as ` [guard] / action, action`; nothing if it has neither."""
    guard = transition.config.get("guard")
    actions = action_labels(transition.config.get("actions"))
    tested = "" if guard is None else f" [{guard_label(guard)}]"
    return f"{tested} / {', '.join(actions)}" if actions else tested


def event_label(type: str, node: Node) -> str:
    """Return a readable name of an event type, at the state that reacts to it."""
    if not type:
        return "always"
    if not type.startswith(INTERNAL):
        return type
    if type == f"xstate.done.state.{node.id}":
        return "done"
    if type.startswith("xstate.after.") and type.endswith(f".{node.id}"):
        return f"after {_duration(type[len('xstate.after.') : -len(node.id) - 1])}"
    for prefix, word in ENDINGS.items():
        if type.startswith(prefix):
            return f"{word} {_child(type[len(prefix) :], node)}"
    return type.removeprefix(INTERNAL)


class EventLabels:
    """Readable names of the event types of a machine."""

    __slots__ = ("_known", "_root")

    def __init__(self, root: Node) -> None:
        self._root = root
        internal = ((type, node) for node in root.walk() for type in node.on if type.startswith(INTERNAL))
        self._known = {type: event_label(type, node) for type, node in internal}

    def __getitem__(self, type: str) -> str:
        return self._known.get(type) or event_label(type, self._root)


def value_label(value: Any) -> str:
    """Return a state value in one line: `a`, `a.b`, or `(a.b, c)` where several regions are active."""
    if isinstance(value, str):
        return value
    parts = [f"{key}.{inner}" if (inner := value_label(below)) else key for key, below in value.items()]
    return f"({', '.join(parts)})" if len(parts) > 1 else "".join(parts)


def invoke_label(invoke: Invoke, node: Node) -> str:
    """Return the logic of an invoked actor, and the actor's own id where it has one."""
    name = _source(invoke)
    own = _is_named(invoke, node)
    return f"{name} as {invoke.id}" if own and invoke.id != name else name


def action_labels(specs: Any) -> list[str]:
    """Return the names of actions, as a chart lists them."""
    if specs is None:
        return []
    return [action_label(spec) for spec in (specs if isinstance(specs, list | tuple) else [specs])]


def action_label(spec: Any) -> str:
    """Return the name of an action."""
    if isinstance(spec, Action):
        return spec.type.removeprefix(INTERNAL)
    return _name(spec)


def guard_label(spec: Any) -> str:
    """Return a guard in words."""
    match spec:
        case And(guards):
            return " and ".join(_inner(guard) for guard in guards)
        case Or(guards):
            return " or ".join(_inner(guard) for guard in guards)
        case Not(guard):
            return f"not {_inner(guard)}"
        case StateIn(value):
            return f"in {value if isinstance(value, str) else json.dumps(value)}"
    return f"{_name(spec)}{_parameters(spec)}"


def _parameters(spec: Any) -> str:
    """Return the parameters of a guard: without them, candidates that differ look alike."""
    params = spec.get("params") if isinstance(spec, Mapping) else None
    if params is None or params == {} or callable(params):
        return ""
    values = params.items() if isinstance(params, Mapping) else [("", params)]
    return f"({', '.join(_parameter(key, value) for key, value in values)})"


def _parameter(key: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=_name)
    return f"{key}: {text}" if key else text


def _inner(guard: Any) -> str:
    label = guard_label(guard)
    return f"({label})" if isinstance(guard, And | Or) else label


def _name(spec: Any) -> str:
    if isinstance(spec, Mapping):
        spec = spec.get("type", "?")
    if isinstance(spec, str):
        return spec
    name: str = getattr(spec, "__name__", type(spec).__name__)
    return "function" if name == "<lambda>" else name


def _duration(delay: str) -> str:
    return f"{delay} ms" if delay.replace(".", "", 1).isdigit() else delay


def _child(id: str, node: Node) -> str:
    invoke = next((invoke for invoke in node.invokes if invoke.id == id), None)
    return id if invoke is None or _is_named(invoke, node) else _source(invoke)


def _is_named(invoke: Invoke, node: Node) -> bool:
    return not invoke.id.endswith(f".{node.id}")


def _source(invoke: Invoke) -> str:
    if not invoke.src.startswith(INTERNAL):
        return invoke.src
    # Logic in the chart itself has no name, unless it is a machine.
    return str(getattr(invoke.config["src"], "id", "actor"))
