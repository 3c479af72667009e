"""The little expression language of conformance specs, with JavaScript's meaning."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.refs import to_reference
from antiphon.chart.text import GrowingText


class _Undefined:
    """JavaScript's `undefined`, which JSON leaves out."""

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED = _Undefined()
Scope = Mapping[str, Any]


def evaluate(expression: Any, scope: Scope) -> Any:
    """Return the value of an expression; anything but a list stands for itself."""
    if not isinstance(expression, list):
        return expression
    operator, *arguments = expression
    match operator:
        case "ctx" | "ev" | "in" | "p":
            return _dig(scope.get({"ctx": "context", "ev": "event", "in": "input", "p": "params"}[operator]), arguments)
        case "lit":
            return arguments[0]
        case "obj":
            values = {key: evaluate(inner, scope) for key, inner in arguments[0].items()}
            return {key: value for key, value in values.items() if value is not UNDEFINED}
        case "throw":
            raise RuntimeError(arguments[0])
    return _apply(operator, [evaluate(argument, scope) for argument in arguments])


def _apply(operator: str, values: list[Any]) -> Any:
    match operator:
        case "+":
            return _plus(*values)
        case "-":
            return values[0] - values[1]
        case "==":
            return _is(*values)
        case "<":
            return values[0] < values[1]
        case ">":
            return values[0] > values[1]
        case "not":
            return not truthy(values[0])
        case "cat":
            return [*values[0], values[1]]
    raise RuntimeError(f"bad operator {operator!r}")


def truthy(value: Any) -> bool:
    """JavaScript's idea of true."""
    if isinstance(value, list | dict):
        return True
    return bool(value)


def clone(value: Any) -> Any:
    """Return a value as it comes back from JSON; undefined becomes null."""
    if value is UNDEFINED or value is None:
        return None
    if isinstance(value, Mapping):
        return {key: clone(inner) for key, inner in value.items() if inner is not UNDEFINED}
    if isinstance(value, list | tuple):
        return [clone(inner) for inner in value]
    if isinstance(value, GrowingText):
        return str(value)
    if isinstance(value, BaseException):
        return {}
    if hasattr(value, "get_snapshot"):
        return to_reference(value.id)
    return value


def _dig(value: Any, keys: list[Any]) -> Any:
    for key in keys:
        value = _property(value, key)
        if value is UNDEFINED:
            break
    return UNDEFINED if value is None and not keys else value


def _property(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        # Done events always carry an output here; in JavaScript it may be undefined.
        absent = key not in value or (key == "output" and value[key] is None)
        return UNDEFINED if absent else value[key]
    if isinstance(value, BaseException):
        return str(value) if key == "message" else UNDEFINED
    if hasattr(value, "status") and key in ("status", "value", "context", "output", "error"):
        attribute = getattr(value, key, None)
        return UNDEFINED if attribute is None else attribute
    return UNDEFINED


def _plus(left: Any, right: Any) -> Any:
    if isinstance(left, str) or isinstance(right, str):
        return f"{_text(left)}{_text(right)}"
    return left + right


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _is(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list | dict):
        return left is right
    return bool(type(left) is type(right) or isinstance(left, int | float)) and bool(left == right)
