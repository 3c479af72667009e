"""The behaviour that a chart describes, as JSON: what remains of it without texts for people and tools."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.actions import Action
from antiphon.chart.guards import And, Not, Or, StateIn
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import COMPOUND, FINAL, HISTORY, PARALLEL, Node, in_script_order

FUNCTION = "(function)"


def behaviour(machine: Machine[Any, Any]) -> dict[str, Any]:
    """Return the parts of a chart that the engine executes, as JSON in one form for all ways to write them.

    Texts for people (`description`, `meta`) and for tools (`$schema`, `types`, `schemas`, `order`) are left out, and so
    is `version`, which is stored beside the hash. Functions count by their names where a chart could name them (actions
    and guards), and not at all where they compute a value: their code may change without changing the chart.
    """
    config = machine.config
    options = config.get("options") or {}
    root = _node(machine.root)
    root["id"] = machine.id
    root["context"] = _value(config.get("context"))
    root["options"] = {
        key: _value(options[key]) for key in ("maxIterations", "regionLocal", "scxml") if options.get(key)
    }
    return root


def _node(node: Node) -> dict[str, Any]:
    config = node.config
    states = [(key, _node(child)) for key, child in node.states.items()]
    form = {
        "id": config.get("id"),
        "type": node.type,
        # Only the regions of a parallel state are active together, so only their order has an effect.
        "states": states if node.type == PARALLEL else dict(states),
        "entry": _actions(config.get("entry")),
        "exit": _actions(config.get("exit")),
        "on": {type: _transitions(specs) for type, specs in in_script_order(config.get("on") or {})},
        "always": _transitions(config.get("always")) if config.get("always") is not None else None,
        "after": [(delay, _transitions(specs)) for delay, specs in in_script_order(config.get("after") or {})],
        "invoke": [_invoke(invoke) for invoke in _as_list(config.get("invoke"))],
        "onDone": _transitions(config["onDone"]) if config.get("onDone") is not None else None,
        "tags": sorted(set(node.tags)),
        "route": _transition(config["route"]) if config.get("route") is not None else None,
    }
    if node.type == COMPOUND:
        form["initial"] = _initial(config["initial"])
    if node.type == HISTORY:
        form["history"] = node.history
        form["target"] = _as_list(config.get("target") or None)
    if node.type == FINAL or node.parent is None:
        form["output"] = _value(config.get("output"))
    return {key: value for key, value in form.items() if value not in (None, [], {})}


def _initial(spec: Any) -> dict[str, Any]:
    config = spec if isinstance(spec, Mapping) else {"target": spec}
    return {"target": config.get("target"), "actions": _actions(config.get("actions"))}


def _transitions(specs: Any) -> list[Any]:
    return [_transition(spec) for spec in (specs if isinstance(specs, list | tuple) else [specs])]


def _transition(spec: Any) -> dict[str, Any]:
    config = {} if spec is None else {"target": spec} if isinstance(spec, str) else spec
    target = config.get("target")
    return {
        "target": None if target is None or target == "" else _as_list(target),
        "guard": _guard(config.get("guard")),
        "actions": _actions(config.get("actions")),
        "reenter": bool(config.get("reenter", False)),
    }


def _invoke(config: Mapping[str, Any]) -> dict[str, Any]:
    src = config["src"]
    form: dict[str, Any] = {key: _value(config.get(key)) for key in ("id", "systemId", "input", "timeout")}
    form["src"] = src if isinstance(src, str) else None  # logic in its place has a name among the actors
    for key in ("onDone", "onError", "onSnapshot", "onTimeout"):
        form[key] = None if config.get(key) is None else _transitions(config[key])
    return {key: value for key, value in form.items() if value is not None}


def _actions(specs: Any) -> list[Any]:
    return [_reference(spec) for spec in _as_list(specs)]


def _guard(spec: Any) -> Any:
    match spec:
        case And(guards):
            return {"and": [_guard(guard) for guard in guards]}
        case Or(guards):
            return {"or": [_guard(guard) for guard in guards]}
        case Not(guard):
            return {"not": _guard(guard)}
        case StateIn(value):
            return {"stateIn": _value(value)}
        case None:
            return None
    return _reference(spec)


def _reference(spec: Any) -> Any:
    """Return an action or guard by its name, with its parameters."""
    if isinstance(spec, Mapping):
        return {"type": spec.get("type"), "params": _value(spec.get("params"))}
    if isinstance(spec, Action):
        return {"type": spec.type, "params": None, "actor": spec.actor, "delay": spec.delay}
    return {"type": spec if isinstance(spec, str) else name_of(spec), "params": None}


def _value(value: Any) -> Any:
    """Return a value of a chart as JSON."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_value(inner) for inner in value]
    if callable(value) or isinstance(value, Action):
        return FUNCTION
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text  # an address differs in every process


def name_of(value: Any) -> str:
    """Return the name of a function or built-in action: its code may change without changing the chart."""
    return str(getattr(value, "type", None) or getattr(value, "__name__", None) or type(value).__name__)


def _as_list(specs: Any) -> list[Any]:
    if specs is None:
        return []
    return list(specs) if isinstance(specs, list | tuple) else [specs]
