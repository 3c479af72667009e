"""Signatures of users' functions, read once when they are bound.

A function may take nothing, `(context)`, `(context, event)` or `(context, event, params)`, and may take
the keyword argument `scope`. `plain` gives the two-argument form that the hot path calls directly;
`full` gives the form that takes everything.
"""

from collections.abc import Callable
from typing import Any

Plain = Callable[[Any, Any], Any]
Full = Callable[[Any, Any, Any, Any], Any]


class Shape:
    """Number of positional arguments of a function, and whether it takes `scope`."""

    __slots__ = ("positional", "scoped")

    def __init__(self, positional: int, scoped: bool) -> None:
        self.positional = positional
        self.scoped = scoped


# A parameter with a default gets an argument only if it has one of these names.
OFFERED = ("context", "event", "params", "input", "state")


def shape(function: Callable[..., Any]) -> Shape:
    """Read the signature of a function."""
    inner = getattr(function, "__func__", function)
    code = getattr(inner, "__code__", None)
    if code is None or code.co_flags & 0x04:  # built-in, partial, callable object, or *args
        return _inspect_shape(function)
    positional = code.co_varnames[: code.co_argcount]
    defaults = len(inner.__defaults__ or ())
    required = positional[: len(positional) - defaults]
    optional = positional[len(positional) - defaults :]
    bound = 1 if inner is not function else 0
    names = [*required[bound:], *(name for name in optional if name in OFFERED)]
    scoped = "scope" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return Shape(len([name for name in names if name != "scope"]), scoped)


def _inspect_shape(function: Callable[..., Any]) -> Shape:
    # Imported here because `inspect` is slow to load and almost no chart needs it.
    from inspect import Parameter, signature

    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):
        return Shape(2, False)
    scoped = any(p.name == "scope" for p in parameters)
    fixed = [
        p
        for p in parameters
        if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        and p.name != "scope"
        and (p.default is Parameter.empty or p.name in OFFERED)
    ]
    varying = any(p.kind is Parameter.VAR_POSITIONAL for p in parameters)
    return Shape(max(2, len(fixed)) if varying else len(fixed), scoped)


def plain(function: Callable[..., Any]) -> Plain | None:
    """Return the function as `(context, event)`, or None if it needs `params` or `scope`."""
    takes = shape(function)
    if takes.scoped or takes.positional > 2:
        return None
    if takes.positional == 2:
        return function
    if takes.positional == 1:
        return lambda context, event: function(context)
    return lambda context, event: function()


def full(function: Callable[..., Any]) -> Full:
    """Return the function as `(context, event, params, scope)`."""
    takes = shape(function)
    count = takes.positional
    if takes.scoped:
        return lambda context, event, params, scope: function(*(context, event, params)[:count], scope=scope)
    if count >= 3:
        return lambda context, event, params, scope: function(context, event, params)
    simple = plain(function)
    assert simple is not None
    return lambda context, event, params, scope: simple(context, event)


def from_input(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return a context factory as `(input, scope)`."""
    takes = shape(function)
    count = min(takes.positional, 1)
    if takes.scoped:
        return lambda value, scope: function(*(value,)[:count], scope=scope)
    return lambda value, scope: function(*(value,)[:count])
