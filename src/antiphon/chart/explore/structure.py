"""The structure of a chart: what remains of it without the functions that are written into it."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.actions import Action
from antiphon.chart.guards import And, Not, Or


def without_functions(config: Any) -> Any:
    """Return a chart without its functions: guards become names, computed values and actions are left out."""
    if isinstance(config, Mapping):
        return {key: _inner(key, value) for key, value in config.items() if key == "guard" or not _computes(key, value)}
    if isinstance(config, list | tuple):
        return [without_functions(value) for value in config if not _computes("", value)]
    return config


def _inner(key: str, value: Any) -> Any:
    return _named_guard(value) if key == "guard" else value if key == "src" else without_functions(value)


def _computes(key: str, value: Any) -> bool:
    """Return whether a value is a function, or an action that calls one."""
    if isinstance(value, Action):
        return any(map(callable, value.values))
    return key != "src" and callable(value)


def _named_guard(guard: Any) -> Any:
    match guard:
        case And(guards):
            return And(tuple(map(_named_guard, guards)))
        case Or(guards):
            return Or(tuple(map(_named_guard, guards)))
        case Not(inner):
            return Not(_named_guard(inner))
    if callable(guard):
        return str(getattr(guard, "__name__", type(guard).__name__))
    return without_functions(guard) if isinstance(guard, Mapping) else guard
