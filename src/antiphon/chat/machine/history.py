"""A conversation that a chat begins with: one that was said elsewhere, checked before it is believed.

1. Every message names a parent that is there, and none is its own ancestor.
2. What a message says of itself and of all before it (its hash, turn and tokens) is computed anew; a hash that is
   given must be the one that was computed, so that no word can have been changed on the way.
3. Heads, checkpoints, pins and windows name messages that are there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from antiphon.chat.machine.context import TAGS, FlowContext, new_branch, new_metrics
from antiphon.chat.machine.persistent_map import Log
from antiphon.chat.machine.shapes import problem_with_parts
from antiphon.chat.machine.tree import CARRIED, stored_message
from antiphon.messages import ROLES

Json = Mapping[str, Any]
KEYS = ("messages", "branches", "closed", "branch", "checkpoints", "pinned", "metrics")
TREE_KEYS = ("id", "parent", "role", "parts", "hash", "turn", "tokens")
BRANCH_KEYS = ("name", "head", "parent", "forkPoint", "mergedInto", "window")
WINDOW_KEYS = ("cut", "kept", "summary", "armed")
CHECKPOINT_KEYS = ("id", "head", "branch", "turn", "name", "at")
_IS: Mapping[str, Callable[[Any], bool]] = {
    "at": lambda value: type(value) is int,
    "tags": lambda value: isinstance(value, list) and all(tag in TAGS for tag in value),
    "key": lambda value: isinstance(value, str),
    "source": lambda value: isinstance(value, str),
    "usage": lambda value: isinstance(value, Mapping) and all(_is_number(item) for item in value.values()),
    "costUsd": lambda value: _is_number(value),
    "interrupted": lambda value: isinstance(value, bool),
    "copiedFrom": lambda value: isinstance(value, str),
    "mergedFrom": lambda value: isinstance(value, str),
    "derivedFrom": lambda value: isinstance(value, list) and all(isinstance(id, str) for id in value),
}


class BadHistory(ValueError):
    """A conversation that cannot be begun with; the message says what is wrong, and where."""


def problem_with_history(history: Any) -> str | None:
    """What is wrong with a conversation, or nothing."""
    try:
        checked(history)
    except BadHistory as error:
        return str(error)
    return None


def with_history(context: FlowContext, history: Json) -> FlowContext:
    """A chat that has already said something."""
    found: Any = {**context, **checked(history), "nextMessage": len(history["messages"]) + 1}
    begun: FlowContext = found
    return begun


def checked(history: Any) -> dict[str, Any]:
    """The parts of a context that a conversation fills; `BadHistory` if anything in it cannot be."""
    _keys("history", _object("history", history), KEYS, needed=("messages", "branches", "branch"))
    messages = _messages(_object("messages", history["messages"]))
    branches = _branches("branches", history["branches"], messages)
    closed = _branches("closed", history.get("closed") or {}, messages)
    both = sorted(branches.keys() & closed.keys())
    if both:
        raise BadHistory(f"closed.{both[0]}: is among the open branches too")
    if not isinstance(history["branch"], str) or history["branch"] not in branches:
        raise BadHistory(f"branch: {history['branch']!r} is no open branch; open: {', '.join(branches) or 'none'}")
    pinned = history.get("pinned") or []
    _known("pinned", pinned if isinstance(pinned, list) else [pinned], messages)
    return {
        "messages": messages,
        "branches": branches,
        "closed": Log(closed),
        "branch": history["branch"],
        "checkpoints": Log(_checkpoints(history.get("checkpoints") or {}, messages)),
        "pinned": list(pinned),
        "metrics": _metrics(history.get("metrics") or {}),
    }


def _messages(given: Json) -> Any:
    context: Any = {"messages": Log(), "nextMessage": 1}
    for id in _parents_first(given):
        message, place = given[id], f"messages.{id}"
        _check_message(place, id, message)
        stored, _ = stored_message(context, message, message["parent"])
        if message.get("hash", stored["hash"]) != stored["hash"]:
            raise BadHistory(f"{place}.hash: does not fit what was said; the message or one before it was changed")
        context = {**context, "messages": context["messages"].adding(id, stored)}
    _known_references(context["messages"])
    return context["messages"]


def _parents_first(given: Json) -> Iterator[str]:
    """The ids of messages, each after its parent, whatever the order in which they are listed."""
    seen: set[str] = set()
    for id in given:
        way: list[str] = []
        step: str | None = id
        while step is not None and step not in seen:
            seen.add(step)
            way.append(step)
            step = _parent(given, step)
            if step in way:
                raise BadHistory(f"messages.{step}.parent: leads back to the message itself")
        yield from reversed(way)


def _parent(given: Json, id: str) -> str | None:
    parent = _object(f"messages.{id}", given[id]).get("parent")
    if parent is not None and (not isinstance(parent, str) or parent not in given):
        raise BadHistory(f"messages.{id}.parent: there is no message {parent!r}")
    return parent


def _check_message(place: str, id: str, message: Json) -> None:
    _keys(place, message, (*TREE_KEYS, *CARRIED), needed=("id", "parent", "role", "parts"))
    if message["id"] != id or not id:
        raise BadHistory(f"{place}.id: is {message['id']!r}, but stands under {id!r}")
    if message["role"] not in ROLES:
        raise BadHistory(f"{place}.role: unknown role {message['role']!r}; known: {', '.join(ROLES)}")
    problem = problem_with_parts(message["parts"]) if isinstance(message["parts"], list) else "parts: must be a list"
    if problem:
        raise BadHistory(f"{place}.{problem}")
    for key in CARRIED:
        if key in message and not _IS[key](message[key]):
            raise BadHistory(f"{place}.{key}: is {message[key]!r}, which it cannot be")


def _known_references(messages: Any) -> None:
    for id, message in messages.items():
        for key in ("copiedFrom", "mergedFrom"):
            _known(f"messages.{id}.{key}", [message[key]] if key in message else [], messages)
        _known(f"messages.{id}.derivedFrom", message.get("derivedFrom", ()), messages)


def _branches(place: str, given: Any, messages: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, branch in _object(place, given).items():
        here = f"{place}.{name}"
        _keys(here, _object(here, branch), BRANCH_KEYS, needed=("name", "head"))
        if branch["name"] != name or not name:
            raise BadHistory(f"{here}.name: is {branch['name']!r}, but stands under {name!r}")
        _known(here, [branch[key] for key in ("head", "forkPoint") if branch.get(key) is not None], messages)
        for key in ("parent", "mergedInto"):
            if not isinstance(branch.get(key), str | None):
                raise BadHistory(f"{here}.{key}: is {branch[key]!r}; it must be a text, or null")
        window = None if branch.get("window") is None else _window(f"{here}.window", branch["window"], messages)
        found[name] = {**new_branch(name), **branch, "window": window}
    return found


def _window(place: str, given: Any, messages: Any) -> dict[str, Any]:
    _keys(place, _object(place, given), WINDOW_KEYS, needed=WINDOW_KEYS)
    if not isinstance(given["kept"], list) or not isinstance(given["armed"], bool):
        raise BadHistory(f"{place}: kept must be a list, and armed true or false")
    summary = [] if given["summary"] is None else [given["summary"]]
    _known(place, [given["cut"], *given["kept"], *summary], messages)
    return dict(given)


def _checkpoints(given: Any, messages: Any) -> dict[str, Any]:
    for id, checkpoint in _object("checkpoints", given).items():
        place = f"checkpoints.{id}"
        _keys(place, _object(place, checkpoint), CHECKPOINT_KEYS, needed=("id", "head", "branch", "turn"))
        _known(place, [] if checkpoint["head"] is None else [checkpoint["head"]], messages)
        words = [checkpoint["id"], checkpoint["branch"], checkpoint.get("name", "")]
        counts = [checkpoint["turn"], checkpoint.get("at", 0)]
        is_told_well = all(isinstance(word, str) for word in words) and all(type(count) is int for count in counts)
        if not is_told_well or checkpoint["id"] != id:
            raise BadHistory(f"{place}: is no checkpoint of that id")
    return dict(given)


def _metrics(given: Any) -> dict[str, Any]:
    first: dict[str, Any] = {**new_metrics()}
    _keys("metrics", _object("metrics", given), tuple(first), needed=())
    for key, value in given.items():
        if not _is_number(value) or value < 0:
            raise BadHistory(f"metrics.{key}: is {value!r}; it must be a number from 0")
    return {**first, **given}


def _object(place: str, value: Any) -> Json:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise BadHistory(f"{place}: must be an object")
    return value


def _keys(place: str, given: Json, known: tuple[str, ...], needed: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            raise BadHistory(f"{place}: unknown key {key!r}; known: {', '.join(known)}")
    missing = [key for key in needed if key not in given]
    if missing:
        raise BadHistory(f"{place}: {missing[0]!r} is missing")


def _known(place: str, ids: Iterable[Any], messages: Any) -> None:
    for id in ids:
        if not isinstance(id, str) or id not in messages:
            raise BadHistory(f"{place}: there is no message {id!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and value == value and abs(value) != float("inf")
