"""Signatures of users' functions, read once when they are bound.

A function may take nothing, `(context)`, `(context, event)` or `(context, event, params)`, and may take
the keyword argument `scope`. `plain` gives the two-argument form that the hot path calls directly;
`full` gives the form that takes everything. `misfit` says why a function cannot be called like this.
"""

from collections.abc import Callable, Sequence
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
ARGUMENTS = ("context", "event", "params")
GENERATOR = 0x20  # flags of code
ASYNC = 0x80 | 0x100 | 0x200  # coroutines and async generators
UNUSUAL = 0x04 | GENERATOR | ASYNC  # and *args


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


def plain(function: Callable[..., Any], takes: Shape | None = None) -> Plain | None:
    """Return the function as `(context, event)`, or None if it needs `params` or `scope`."""
    takes = takes or shape(function)
    if takes.scoped or takes.positional > 2:
        return None
    if takes.positional == 2:
        return function
    if takes.positional == 1:
        return lambda context, event: function(context)
    return lambda context, event: function()


def full(function: Callable[..., Any], takes: Shape | None = None) -> Full:
    """Return the function as `(context, event, params, scope)`."""
    takes = takes or shape(function)
    count = takes.positional
    if takes.scoped:
        return lambda context, event, params, scope: function(*(context, event, params)[:count], scope=scope)
    if count >= 3:
        return lambda context, event, params, scope: function(context, event, params)
    simple = plain(function, takes)
    assert simple is not None
    return lambda context, event, params, scope: simple(context, event)


def from_input(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return a context factory as `(input, scope)`."""
    takes = shape(function)
    count = min(takes.positional, 1)
    if takes.scoped:
        return lambda value, scope: function(*(value,)[:count], scope=scope)
    return lambda value, scope: function(*(value,)[:count])


def misfit(function: Callable[..., Any], arguments: Sequence[str] = ARGUMENTS, *, is_awaited: bool = False) -> str:
    """Return why a function cannot be called with these arguments and `scope`, or an empty text if it can be."""
    code = getattr(function, "__code__", None)
    if (
        code is not None
        and code.co_argcount <= len(arguments)
        and not code.co_flags & UNUSUAL
        and not code.co_kwonlyargcount
        and not code.co_posonlyargcount
    ):
        return ""  # like almost all functions
    return _inspect_misfit(function, arguments, is_awaited)


def _inspect_misfit(function: Callable[..., Any], arguments: Sequence[str], is_awaited: bool) -> str:
    flags = 0 if is_awaited else _code_flags(function)
    if flags & ASYNC:
        return "is async, and its result would never be awaited; make it a plain function, or invoke it with from_task"
    if flags & GENERATOR:
        return "is a generator function, so that calling it runs none of its code; make it a plain function"
    from inspect import Parameter, signature

    try:
        parameters = [p for p in signature(function).parameters.values() if p.default is Parameter.empty]
    except (TypeError, ValueError):  # a built-in function without a signature
        return ""
    required = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY and p.name != "scope"]
    if required:
        return f"needs the keyword argument {required[0]!r}, but the only one that is passed is 'scope'"
    placed = [p for p in parameters if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    if any(p.name == "scope" and p.kind is Parameter.POSITIONAL_ONLY for p in placed):
        return "takes 'scope' by position only, but it is passed by name; remove the '/' after it"
    return _too_many([p.name for p in placed if p.name != "scope"], arguments)


def _too_many(required: Sequence[str], arguments: Sequence[str]) -> str:
    if len(required) <= len(arguments):
        return ""
    return (
        f"needs {len(required)} arguments ({', '.join(required)}), but gets at most {len(arguments)} "
        f"({', '.join(arguments)}) and the keyword argument scope"
    )


def _code_flags(function: Any) -> int:
    """Return the flags of the code that a call of a function, method, partial or callable object runs."""
    while hasattr(function, "func") and hasattr(function, "keywords"):  # functools.partial
        function = function.func
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__") and not isinstance(function, type):
        function = getattr(type(function), "__call__", function)  # noqa: B004
    flags: int = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return flags
