"""Events narrowed to their types, for the type checker and at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import Any, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints, overload

from antiphon.chart.errors import ChartError, EventError
from antiphon.chart.functions import full, misfit, plain
from antiphon.chart.signatures import E, ScopedEvent, ScopedParams
from antiphon.chart.values import matches_descriptor

C = TypeVar("C", bound=Mapping[str, Any])
T = TypeVar("T")
Kind = TypeVar("Kind", bound=Mapping[str, Any])
Kind_out = TypeVar("Kind_out", bound=Mapping[str, Any], covariant=True)


class Narrow(Protocol[Kind_out]):
    """Decorator that lets a function of one kind of event be bound where any event may come."""

    @overload
    def __call__(self, function: Callable[[C, Kind_out], T], /) -> Callable[[C, Any], T]: ...
    @overload
    def __call__(self, function: Callable[[C, Kind_out, Any], T], /) -> Callable[[C, Any, Any], T]: ...
    @overload
    def __call__(self, function: ScopedEvent[C, Kind_out, T], /) -> ScopedEvent[C, Any, T]: ...
    @overload
    def __call__(self, function: ScopedParams[C, Kind_out, T], /) -> ScopedParams[C, Any, T]: ...


def takes(kind: type[Kind]) -> Narrow[Kind]:
    """Declare that a function takes one kind of event, by its `TypedDict`; it raises EventError for any other."""
    types = types_of(kind)

    def narrow(function: Any) -> Any:
        if reason := misfit(function):
            name = getattr(function, "__name__", type(function).__name__)
            raise ChartError(f"takes({kind.__name__})", name, f"the function {reason}")
        simple = plain(function)
        if simple is not None:

            @wraps(function)
            def expecting(context: Any, event: Any) -> Any:
                if event["type"] not in types:
                    raise _unexpected_event(event, types)
                return simple(context, event)

            return expecting
        everything = full(function)

        @wraps(function)
        def expecting_all(context: Any, event: Any, params: Any = None, scope: Any = None) -> Any:
            if event["type"] not in types:
                raise _unexpected_event(event, types)
            return everything(context, event, params, scope)

        return expecting_all

    return narrow


@overload
def assert_event(event: Mapping[str, Any], type: type[Kind]) -> Kind: ...
@overload
def assert_event(event: E, type: str | Sequence[str]) -> E: ...
def assert_event(event: Any, type: Any) -> Any:
    """Return the event if it is of a type: a name, `prefix.*`, several of them, or a `TypedDict`; else raise."""
    types = (type,) if isinstance(type, str) else type if isinstance(type, list | tuple) else types_of(type)
    if any(matches_descriptor(event["type"], descriptor) for descriptor in types):
        return event
    raise _unexpected_event(event, types)


@cache
def types_of(kind: type) -> tuple[str, ...]:
    """Return the event types that a `TypedDict` lists under `type`."""
    hint = get_type_hints(kind).get("type")
    if get_origin(hint) is not Literal:
        raise EventError(f"{kind.__name__} is not an event type: declare its `type` as a Literal, not {hint!r}")
    return get_args(hint)


def _unexpected_event(event: Any, types: Sequence[str]) -> EventError:
    expected = " or ".join(map(repr, types))
    return EventError(f"expected an event of type {expected}, not {event!r}")
