"""The declared events of a machine: which there are, which may come from outside, and whether one is right."""

from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

from antiphon.chart.checks.problems import EventProblem, Fault, suggest
from antiphon.chart.checks.types import ObjectCheck, Schema, TypeChecks
from antiphon.chart.errors import EventError, EventRefused
from antiphon.chart.events import types_of
from antiphon.chart.values import matches_descriptor

RESERVED = "xstate."
INTERNAL = "only the machine and its actors send it; it is refused from outside"


class EventField(NamedTuple):
    """A key of an event, besides its type."""

    name: str
    expected: str
    is_required: bool


class EventTypes:
    """Checks of events, compiled from their TypedDicts.

    `events` is a union or a list of TypedDicts; `public` lists the types that may come from outside, as names or
    patterns such as `REPLY.*`. Without `public`, every event may. With `in_process`, `actor.send` checks events too.
    `input` is the TypedDict of a machine's input.
    Raise `EventError` for a type without a check, a type declared twice, and a pattern that matches no declared event.
    """

    __slots__ = ("_checks", "_input", "_outside", "_shapes", "in_process", "public")

    def __init__(
        self,
        events: object = (),
        public: Iterable[str] | None = None,
        *,
        input: type | None = None,
        in_process: bool = False,
    ) -> None:
        self.in_process = in_process
        self._checks = TypeChecks()
        self._input = None if input is None else self._checks.shape(input)
        self._shapes: dict[str, ObjectCheck] = {}
        for kind in _members(events):
            shape = self._checks.shape(kind).for_events()
            for type in types_of(kind):
                if type in self._shapes:
                    raise EventError(
                        f"two types declare the event {type!r}: {self._shapes[type].name}, {kind.__name__}"
                    )
                self._shapes[type] = shape
        self._set_public(public)

    def _set_public(self, public: Iterable[str] | None) -> None:
        self.public = None if public is None else (public,) if isinstance(public, str) else tuple(public)
        for pattern in self.public or ():
            if self._shapes and not any(matches_descriptor(name, pattern) for name in self._shapes):
                raise EventError(
                    f"public names {pattern!r}, but no such event is declared: {suggest(pattern, self.names)}"
                )
        self._outside = {name: shape for name, shape in self._shapes.items() if self.is_public(name)}

    def with_public(self, public: Iterable[str] | None) -> "EventTypes":
        """Return the same declarations with other events that may come from outside."""
        changed = object.__new__(EventTypes)
        changed._checks = self._checks
        changed._shapes = self._shapes
        changed._input = self._input
        changed.in_process = self.in_process
        changed._set_public(public)
        return changed

    @property
    def names(self) -> tuple[str, ...]:
        """Types of all declared events."""
        return tuple(self._shapes)

    def is_public(self, type: str) -> bool:
        """Return whether events of a type may come from outside."""
        return self.public is None or any(matches_descriptor(type, pattern) for pattern in self.public)

    def check(self, event: Mapping[str, Any]) -> EventProblem | None:
        """Return the first problem of an event, wherever it comes from; events that are not declared have none."""
        shape = self._shapes.get(event["type"])
        return None if shape is None else _problem(shape.check(event), event)

    def check_outside(self, event: Mapping[str, Any]) -> EventProblem | None:
        """Return why an event is refused from outside, or None."""
        shape = self._outside.get(event["type"])
        if shape is None:
            return self._unlisted(event["type"])
        fault = shape.check(event)
        return None if fault is None else _problem(fault, event)

    def require(self, event: Mapping[str, Any]) -> None:
        """Raise `EventRefused` if an event is refused from outside."""
        problem = self.check_outside(event)
        if problem is not None:
            raise EventRefused(problem)

    def require_input(self, input: Any) -> None:
        """Raise `EventRefused` if the input of a new actor is not as declared; no input is always right."""
        fault = None if self._input is None or input is None else self._input.check(input)
        if fault is not None:
            raise EventRefused(fault.problem("input"))

    def _unlisted(self, type: str) -> EventProblem | None:
        """Return the problem of an event that has no check at the door."""
        if self.is_public(type) or type.startswith(RESERVED):
            return None
        if type in self._shapes:
            return EventProblem(type, "type", None, INTERNAL, f"{type} is an internal event: {INTERNAL}")
        expected = suggest(type, list(self._outside) or self.public or ())
        return EventProblem(type, "type", None, expected, f"{type} is no event that may come from outside: {expected}")

    def fields(self, type: str) -> list[EventField]:
        """Return the keys of an event."""
        fields = self._shapes[type].fields
        return [
            EventField(key, field.type.expected, field.is_required) for key, field in fields.items() if key != "type"
        ]

    def description(self, type: str) -> str:
        """Return the first line of the docstring of an event."""
        return self._shapes[type].description

    def json_schema(self, type: str) -> Schema:
        """Return the JSON Schema (draft 2020-12) of an event."""
        schema = self._shapes[type].schema()
        schema["properties"] = {**schema["properties"], "type": {"const": type}}
        definitions: dict[str, Schema] = {}
        shapes = {shape.name: shape for shape in self._checks.shapes.values()}
        pending = _references(schema)
        while pending:
            name = pending.pop()
            if name not in definitions:
                definitions[name] = shapes[name].schema()
                pending |= _references(definitions[name])
        return {**schema, **({"$defs": dict(sorted(definitions.items()))} if definitions else {})}


def _members(events: object) -> tuple[Any, ...]:
    if get_origin(events) in (Union, UnionType):
        return get_args(events)
    return tuple(events) if isinstance(events, Iterable) else (events,)


def _problem(fault: Fault | None, event: Mapping[str, Any]) -> EventProblem | None:
    return None if fault is None else fault.problem(event["type"])


def _references(schema: Any) -> set[str]:
    """Return the names of the definitions that a schema refers to."""
    if isinstance(schema, dict):
        own = {schema["$ref"].rpartition("/")[2]} if isinstance(schema.get("$ref"), str) else set()
        return own.union(*map(_references, schema.values()))
    return set().union(*map(_references, schema)) if isinstance(schema, list) else set()
