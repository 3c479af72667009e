"""Events of SCXML: their names, descriptors and fields, and how they differ from those of the engine.

Inside a machine of a document an event is `{"type": name, "data": ..., "scxml": {fields}}`. The engine's own events
have their names as XState writes them; descriptors and `_event` have those of SCXML. The names of events belong to the
author: one that is like those of the engine gets a prefix inside the machine.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from antiphon.chart.steps import INIT

STATE_DONE = "xstate.done.state"
ACTOR_DONE = "xstate.done.actor."
ACTOR_ERROR = "xstate.error.actor."
DELIVER = "antiphon.scxml.deliver"  # a delayed event for another session has become due
PROCESSOR = "http://www.w3.org/TR/scxml/#SCXMLEventProcessor"
HTTP_PROCESSOR = "http://www.w3.org/TR/scxml/#BasicHTTPEventProcessor"
RESERVED = re.compile(r"(?:scxml:)*(?:xstate|antiphon)(?:\.|$)")
PREFIX = "scxml:"  # of the types of events whose names are like those of the engine
KINDS = ("external", "platform")  # of events that sessions send each other or pass on
FIELDS = ("sendid", "origin", "origintype", "invokeid")


def make_event(name: str, kind: str, data: Any = None, **fields: Any) -> dict[str, Any]:
    """Return an event of a kind (`internal`, `external` or `platform`), without the fields that are None."""
    scxml = {"kind": kind, **{key: value for key, value in fields.items() if value is not None}}
    event = {"type": engine_type(name)}
    return {**event, "scxml": scxml} if data is None else {**event, "data": data, "scxml": scxml}


def is_session_event(event: Any) -> bool:
    """Return whether an event has the form of one that a session sent; other keys named `scxml` are data."""
    if not isinstance(event, Mapping) or not isinstance(event.get("type"), str):
        return False
    fields = event.get("scxml")
    return (
        isinstance(fields, Mapping)
        and event.keys() <= {"type", "data", "scxml", "due"}
        and fields.get("kind") in KINDS
        and all(key == "kind" or (key in FIELDS and isinstance(value, str)) for key, value in fields.items())
    )


def is_delivery(event: Mapping[str, Any]) -> bool:
    """Return whether an event is the delayed one for another session that has become due."""
    return event["type"] == DELIVER and isinstance(event.get("target"), str) and is_session_event(event.get("event"))


def receive_event(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an event from outside as an event of SCXML: results of actors get their names, others their fields."""
    if is_session_event(event):
        return event
    name: str = event["type"]
    if name.startswith(ACTOR_DONE):
        id = name.removeprefix(ACTOR_DONE)
        return make_event(f"done.invoke.{id}", "external", event.get("output"), invokeid=id)
    if name.startswith(ACTOR_ERROR):
        id = name.removeprefix(ACTOR_ERROR)
        return make_event("error.platform", "platform", {"reason": str(event.get("error"))}, invokeid=id)
    others = {key: value for key, value in event.items() if key not in ("type", "due")}
    received = make_event(name, "external", event.get("data", others or None))
    return {**received, "type": name} if name.startswith("xstate.") else received


def script_event(event: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return an event as `_event` shows it; None before the first."""
    if event is None or event["type"] == INIT:
        return None
    fields = event.get("scxml", {})
    data = event.get("data") if event.get("output") is None else event["output"]
    variable = {"name": scxml_name(event["type"]), "type": fields.get("kind", "platform")}
    variable.update({key: fields[key] for key in FIELDS if key in fields})
    return variable if data is None else {**variable, "data": data}


def scxml_name(type: str) -> str:
    """Return the name that documents have for a type of event."""
    if type.startswith(PREFIX) and RESERVED.match(type):
        return type.removeprefix(PREFIX)
    return type.removeprefix("xstate.") if type.startswith(STATE_DONE) else type


def engine_type(name: str) -> str:
    """Return the type of an event inside a machine by the name that its author gave it."""
    return PREFIX + name if RESERVED.match(name) else name


def is_match(name: str, descriptors: Sequence[str]) -> bool:
    """Return whether the name of an event matches a descriptor: by whole tokens, from the start."""
    tokens = name.split(".")
    for descriptor in descriptors:
        parts = _plain(descriptor).split(".")
        if parts in (["*"], [""]) or tokens[: len(parts)] == parts:
            return True
    return False


def is_order_relevant(lists: Sequence[Sequence[str]]) -> bool:
    """Return whether transitions with these descriptors would be tried in another order, or twice, by the engine.

    The engine tries longer descriptors before shorter ones, whatever their order in the document.
    """
    earlier = _Descriptors()
    for descriptors in lists:
        own = _Descriptors()
        for descriptor in map(_plain, descriptors):
            if own.is_related(descriptor) or earlier.is_match(descriptor):
                return True
            own.add(descriptor)
        for descriptor in map(_plain, descriptors):
            earlier.add(descriptor)
    return False


class _Descriptors:
    """Descriptors by their tokens."""

    def __init__(self) -> None:
        self._root: dict[Any, Any] = {}
        self._wildcards: set[str] = set()

    def add(self, descriptor: str) -> None:
        parts = _parts(descriptor)
        if parts is None:
            self._wildcards.add(descriptor)
            return
        node = self._root
        for part in parts:
            node = node.setdefault(part, {})
        node.setdefault(None, set()).add(descriptor)

    def is_match(self, name: str) -> bool:
        """Return whether a descriptor, other than the name itself, matches a name."""
        return any(descriptor != name for descriptor in self._matching(name))

    def is_related(self, descriptor: str) -> bool:
        """Return whether a descriptor matches another one, or the other way round."""
        if any(True for _ in self._matching(descriptor)):
            return True
        parts = _parts(descriptor)
        if parts is None:
            return bool(self._root or self._wildcards)
        node: Any = self._root
        for part in parts:
            node = node.get(part)
            if node is None:
                return False
        return True

    def _matching(self, name: str) -> Iterator[str]:
        yield from self._wildcards
        node = self._root
        for token in name.split("."):
            if token not in node:
                return
            node = node[token]
            yield from node.get(None, ())


def _parts(descriptor: str) -> list[str] | None:
    """Return the tokens of a descriptor; None if it matches everything."""
    parts = _plain(descriptor).split(".")
    return None if parts in (["*"], [""]) else parts


def engine_descriptors(descriptor: str) -> list[str]:
    """Return the descriptors of the engine that match what a descriptor of SCXML matches."""
    plain = _plain(descriptor) or "*"
    is_done = is_match("done.state", [plain]) or is_match(plain, ["done.state"])
    return [plain, f"xstate.{plain}.*"] if is_done and plain != "*" else [engine_type(plain)]


def _plain(descriptor: str) -> str:
    return descriptor.removesuffix(".*").removesuffix(".")
