"""Checks of values from outside: events, inputs and results must be storable, and are copied.

What a tree gets is what would be read back from the store: a value of its own, which the caller cannot change later.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from antiphon.actors.machines import MachineLogic
from antiphon.chart.checks.problems import EventProblem
from antiphon.chart.codecs import copy_coded, find_codec
from antiphon.chart.decisions import decide, is_reserved
from antiphon.chart.errors import EventError, GuardError, SnapshotError
from antiphon.chart.frozen import FrozenDict, FrozenList, freeze
from antiphon.chart.ops import check_event
from antiphon.chart.persist import ADVICE, PLAIN, is_plain, to_base, to_json_value, to_key
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.text import GrowingText
from antiphon.chart.transition import get_next_transitions
from antiphon.runtime.errors import Unstorable

RESERVED = ("xstate.", "antiphon.")


def check_external_event(event: Any) -> Any:
    """Return a copy of an event from outside; raise `EventError` if it is reserved or cannot be stored."""
    kind: str = check_event(event)["type"]
    if kind.startswith(RESERVED) and kind != "xstate.route":
        raise EventError(f"the event {kind!r} is reserved for the engine and cannot be sent from outside")
    return take_event(event)


def find_problem(actor: Any, event: Any) -> EventProblem | None:
    """Return why an actor refuses an event from outside, by what its machine declares; None if it does not."""
    logic = actor.logic
    types = logic.machine.event_types if isinstance(logic, MachineLogic) else None
    return None if types is None else types.check_outside(event)


def take_event(event: Any) -> Any:
    """Return a copy of an event; raise `EventError` if it cannot be stored."""
    try:
        return take_value(event, "event")
    except Unstorable as error:
        name = event.get("type") if isinstance(event, Mapping) else event
        raise EventError(f"the event {name!r} cannot be stored: {error}") from error


def take_value(value: Any, path: str) -> Any:
    """Return a copy of a value as it would be read back from the store; raise `Unstorable` with the path of a part."""
    try:
        try:
            return _copy_plain(value)
        except _NotPlain:
            return _copy(value, path, _refuse)
    except SnapshotError as error:
        raise Unstorable(str(error)) from error
    except RecursionError as error:
        raise Unstorable(f"{path} contains itself or is nested too deeply") from error


def copy_value(value: Any) -> Any:
    """Return a copy of a value of a tree, for a user's function; references to actors and errors are not copied."""
    try:
        return _copy_plain(value)
    except _NotPlain:
        return _copy(value, "value", lambda inner, path: inner)


def view_value(value: Any, *, copy: bool) -> Any:
    """Return a read-only view of a value of a tree that later steps do not change, or a copy to be changed."""
    return copy_value(value) if copy else freeze(value)


def check_value(value: Any, path: str) -> None:
    """Check a value that an actor of a tree has made; raise `Unstorable` with the path of a part that is not JSON."""
    if not is_plain(value):
        try:
            to_json_value(value, path)
        except SnapshotError as error:
            raise Unstorable(str(error)) from error


def acceptable_events(actor: Any) -> tuple[str, ...]:
    """Return the types of the events that a machine has transitions for in its current states.

    There are none for an actor that has ended or is no machine, and for no actor.
    """
    snapshot = None if actor is None or not actor.is_running else actor.snapshot
    if not isinstance(snapshot, Snapshot):
        return ()
    types = (transition.event_type for transition in get_next_transitions(snapshot))
    return tuple(dict.fromkeys(type for type in types if type and not is_reserved(type)))


def public_events(actor: Any) -> tuple[str, ...]:
    """Return those of the acceptable events of an actor that may come from outside, and that its guards do not refuse.

    An event whose guards look at its keys is returned: whether it is taken is known when it is sent.
    """
    events = acceptable_events(actor)
    logic = None if actor is None else actor.logic
    types = logic.machine.event_types if isinstance(logic, MachineLogic) else None
    listed = events if types is None else tuple(event for event in events if types.is_public(event))
    return tuple(event for event in listed if may_take(actor.snapshot, event))


def may_take(snapshot: Snapshot[Any, Any], type: str) -> bool:
    """Return whether a machine takes an event of a type, with some keys: guards that need none of them decide."""
    if type.endswith("*"):
        return True
    try:
        leaf = decide(snapshot.configuration, type, snapshot.live_context, KeylessEvent(type))
    except GuardError:
        return True
    return any(not transition.is_forbidden for transition in leaf.selected)


class KeylessEvent(Mapping[str, Any]):
    """Event of which only the type is known; a guard that looks at anything else cannot decide."""

    def __init__(self, type: str) -> None:
        self._type = type

    def __getitem__(self, key: str) -> Any:
        if key != "type":
            raise KeysNeeded(key)
        return self._type

    def __iter__(self) -> Iterator[str]:
        raise KeysNeeded("all keys")

    def __len__(self) -> int:
        raise KeysNeeded("all keys")


class KeysNeeded(Exception):
    """A guard looks at a key of an event of which only the type is known."""


class _NotPlain(Exception):
    """A value is not JSON as it is."""


def _copy_plain(value: Any) -> Any:
    """Return a copy of a value that is JSON as it is. Every event passes through here."""
    kind = type(value)
    if kind is dict or kind is FrozenDict:
        copy = value.copy()
        for key, inner in value.items():
            if type(key) is not str:
                raise _NotPlain
            if type(inner) not in PLAIN:
                copy[key] = _copy_plain(inner)
        return copy
    if kind is list or kind is FrozenList:
        items = value.copy()
        for index, inner in enumerate(value):
            if type(inner) not in PLAIN:
                items[index] = _copy_plain(inner)
        return items
    if kind in PLAIN or (kind is float and value - value == 0):
        return value
    raise _NotPlain


def _copy(value: Any, path: str, copy_other: Callable[[Any, str], Any]) -> Any:
    """Return a copy of any value that can be stored; `copy_other` copies or refuses the others, by their path."""
    codec = find_codec(type(value))
    if codec is not None:
        try:
            return copy_coded(codec, value, lambda form: _copy(form, path, copy_other))
        except SnapshotError:
            raise
        except Exception as error:
            raise SnapshotError(f"{path}: {value!r} cannot be stored as {codec.tag}: {error}") from error
    if value is None or isinstance(value, str | int | float):
        return to_base(value, path)
    if isinstance(value, GrowingText):
        return str(value)
    if isinstance(value, Mapping):
        return {to_key(key, path): _copy(inner, f"{path}.{key}", copy_other) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(inner, f"{path}[{i}]", copy_other) for i, inner in enumerate(value)]
    return copy_other(value, path)


def _refuse(value: Any, path: str) -> Any:
    raise SnapshotError(f"{path}: a {type(value).__name__} is not JSON; {ADVICE}")
