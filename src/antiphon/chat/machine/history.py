"""The history that a chat begins with: a conversation from elsewhere, checked before it is used.

1. Every message names a parent that exists, and none is its own ancestor.
2. The hash, the turn and the tokens of every message are computed anew; a hash in the history must equal the computed
   one, so that no word can have been changed on the way.
3. Heads, checkpoints, pins and windows name messages that exist.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypedDict, TypeGuard, cast

from antiphon.chat.machine.context import (
    TAGS,
    ChatBranch,
    Checkpoint,
    FlowContext,
    MessageDraft,
    Metrics,
    StoredMessage,
    Window,
    new_branch,
    new_metrics,
)
from antiphon.chat.machine.persistent_map import PersistentMap
from antiphon.chat.machine.shapes import problem_with_options, problem_with_parts
from antiphon.chat.machine.tree import CARRIED, stored_message
from antiphon.messages import ROLES

Json = Mapping[str, object]
Messages = PersistentMap[StoredMessage]
KEYS = ("messages", "branches", "closed", "branch", "checkpoints", "pinned", "metrics")
TREE_KEYS = ("id", "parent", "role", "parts", "hash", "turn", "tokens")
BRANCH_KEYS = ("name", "head", "parent", "forkPoint", "mergedInto", "window")
WINDOW_KEYS = ("cut", "kept", "summary", "armed")
CHECKPOINT_KEYS = ("id", "head", "branch", "turn", "name", "at")
_CHECKS: Mapping[str, Callable[[object], bool]] = {
    "at": lambda value: type(value) is int,
    "tags": lambda value: isinstance(value, list) and all(tag in TAGS for tag in value),
    "key": lambda value: isinstance(value, str),
    "source": lambda value: isinstance(value, str),
    "usage": lambda value: isinstance(value, Mapping) and all(_is_number(item) for item in value.values()),
    "costUsd": lambda value: _is_number(value),
    "interrupted": lambda value: isinstance(value, bool),
    "copiedFrom": lambda value: isinstance(value, str),
    "mergedFrom": lambda value: isinstance(value, str),
    "branch": lambda value: isinstance(value, str),
    "options": lambda value: value is not None and problem_with_options(value) is None,
    "derivedFrom": lambda value: isinstance(value, list) and all(isinstance(id, str) for id in value),
}


class BadHistory(ValueError):
    """A history that a chat cannot begin with; the message says what is wrong, and where."""


class History(TypedDict):
    """The keys of a context that a history fills."""

    messages: Messages
    branches: dict[str, ChatBranch]
    closed: PersistentMap[ChatBranch]
    branch: str
    checkpoints: PersistentMap[Checkpoint]
    pinned: list[str]
    metrics: Metrics


def problem_with_history(history: object) -> str | None:
    """Return the first problem with a history, or None."""
    try:
        check_history(history)
    except BadHistory as error:
        return str(error)
    return None


def with_history(context: FlowContext, history: object) -> FlowContext:
    """Return the context of a chat that continues a history."""
    checked = check_history(history)
    return {**context, **checked, "nextMessage": len(checked["messages"]) + 1}


def check_history(history: object) -> History:
    """Check a history and return its part of a context; raise `BadHistory` if anything in it is wrong."""
    fields = _object("history", history)
    _check_keys("history", fields, KEYS, needed=("messages", "branches", "branch"))
    messages = _messages(_object("messages", fields["messages"]))
    branches = _branches("branches", fields["branches"], messages)
    closed = _branches("closed", fields.get("closed") or {}, messages)
    both = sorted(branches.keys() & closed.keys())
    if both:
        raise BadHistory(f"closed.{both[0]}: is among the open branches too")
    branch = fields["branch"]
    if not isinstance(branch, str) or branch not in branches:
        raise BadHistory(f"branch: {branch!r} is no open branch; open: {', '.join(branches) or 'none'}")
    pinned = fields.get("pinned") or []
    return {
        "messages": messages,
        "branches": branches,
        "closed": PersistentMap(closed),
        "branch": branch,
        "checkpoints": PersistentMap(_checkpoints(fields.get("checkpoints") or {}, messages)),
        "pinned": _check_ids("pinned", pinned if isinstance(pinned, list) else [pinned], messages),
        "metrics": _metrics(fields.get("metrics") or {}),
    }


def _messages(history: Json) -> Messages:
    messages: Messages = PersistentMap()
    for id in _parents_first(history):
        place = f"messages.{id}"
        message = _object(place, history[id])
        _check_message(place, id, message)
        parent = cast(str | None, message["parent"])
        stored, _ = stored_message(messages, 1, cast(MessageDraft, message), parent)
        if message.get("hash", stored["hash"]) != stored["hash"]:
            raise BadHistory(f"{place}.hash: does not fit what was said; the message or one before it was changed")
        messages = messages.with_entry(id, stored)
    _check_references(messages)
    return messages


def _parents_first(history: Json) -> Iterator[str]:
    """Iterate over the ids of messages, each after its parent, whatever their order in the history."""
    visited: set[str] = set()
    for id in history:
        ancestors: list[str] = []
        step: str | None = id
        while step is not None and step not in visited:
            visited.add(step)
            ancestors.append(step)
            step = _parent(history, step)
            if step in ancestors:
                raise BadHistory(f"messages.{step}.parent: leads back to the message itself")
        yield from reversed(ancestors)


def _parent(history: Json, id: str) -> str | None:
    parent = _object(f"messages.{id}", history[id]).get("parent")
    if parent is None:
        return None
    if not isinstance(parent, str) or parent not in history:
        raise BadHistory(f"messages.{id}.parent: there is no message {parent!r}")
    return parent


def _check_message(place: str, id: str, message: Json) -> None:
    _check_keys(place, message, (*TREE_KEYS, *CARRIED), needed=("id", "parent", "role", "parts"))
    if message["id"] != id or not id:
        raise BadHistory(f"{place}.id: is {message['id']!r}, but stands under {id!r}")
    if message["role"] not in ROLES:
        raise BadHistory(f"{place}.role: unknown role {message['role']!r}; known: {', '.join(ROLES)}")
    problem = problem_with_parts(message["parts"]) if isinstance(message["parts"], list) else "parts: must be a list"
    if problem:
        raise BadHistory(f"{place}.{problem}")
    for key in CARRIED:
        if key in message and not _CHECKS[key](message[key]):
            raise BadHistory(f"{place}.{key}: is {message[key]!r}, which is not valid")


def _check_references(messages: Messages) -> None:
    for id, message in messages.items():
        if "copiedFrom" in message:
            _check_ids(f"messages.{id}.copiedFrom", [message["copiedFrom"]], messages)
        if "mergedFrom" in message:
            _check_ids(f"messages.{id}.mergedFrom", [message["mergedFrom"]], messages)
        _check_ids(f"messages.{id}.derivedFrom", message.get("derivedFrom", ()), messages)


def _branches(place: str, value: object, messages: Messages) -> dict[str, ChatBranch]:
    branches: dict[str, ChatBranch] = {}
    for name, fields in _object(place, value).items():
        here = f"{place}.{name}"
        branch = _object(here, fields)
        _check_keys(here, branch, BRANCH_KEYS, needed=("name", "head"))
        if branch["name"] != name or not name:
            raise BadHistory(f"{here}.name: is {branch['name']!r}, but stands under {name!r}")
        _check_ids(here, [branch[key] for key in ("head", "forkPoint") if branch.get(key) is not None], messages)
        for key in ("parent", "mergedInto"):
            if not isinstance(branch.get(key), str | None):
                raise BadHistory(f"{here}.{key}: is {branch[key]!r}; it must be a text, or null")
        window = None if branch.get("window") is None else _window(f"{here}.window", branch["window"], messages)
        branches[name] = cast(ChatBranch, {**new_branch(name), **branch, "window": window})
    return branches


def _window(place: str, value: object, messages: Messages) -> Window:
    window = _object(place, value)
    _check_keys(place, window, WINDOW_KEYS, needed=WINDOW_KEYS)
    kept = window["kept"]
    if not isinstance(kept, list) or not isinstance(window["armed"], bool):
        raise BadHistory(f"{place}: kept must be a list, and armed true or false")
    summary = [] if window["summary"] is None else [window["summary"]]
    _check_ids(place, [window["cut"], *kept, *summary], messages)
    return cast(Window, dict(window))


def _checkpoints(value: object, messages: Messages) -> dict[str, Checkpoint]:
    checkpoints = _object("checkpoints", value)
    for id, fields in checkpoints.items():
        place = f"checkpoints.{id}"
        checkpoint = _object(place, fields)
        _check_keys(place, checkpoint, CHECKPOINT_KEYS, needed=("id", "head", "branch", "turn"))
        _check_ids(place, [] if checkpoint["head"] is None else [checkpoint["head"]], messages)
        texts = [checkpoint["id"], checkpoint["branch"], checkpoint.get("name", "")]
        numbers = [checkpoint["turn"], checkpoint.get("at", 0)]
        is_valid = all(isinstance(text, str) for text in texts) and all(type(number) is int for number in numbers)
        if not is_valid or checkpoint["id"] != id:
            raise BadHistory(f"{place}: is no checkpoint of that id")
    return cast(dict[str, Checkpoint], dict(checkpoints))


def _metrics(value: object) -> Metrics:
    metrics = _object("metrics", value)
    zero = new_metrics()
    _check_keys("metrics", metrics, tuple(zero), needed=())
    for key, number in metrics.items():
        if not _is_number(number) or number < 0:
            raise BadHistory(f"metrics.{key}: is {number!r}; it must be a number from 0")
    return cast(Metrics, {**zero, **metrics})


def _object(place: str, value: object) -> Json:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise BadHistory(f"{place}: must be an object")
    return value


def _check_keys(place: str, value: Json, keys: tuple[str, ...], needed: tuple[str, ...]) -> None:
    for key in value:
        if key not in keys:
            raise BadHistory(f"{place}: unknown key {key!r}; known: {', '.join(keys)}")
    missing = [key for key in needed if key not in value]
    if missing:
        raise BadHistory(f"{place}: {missing[0]!r} is missing")


def _check_ids(place: str, ids: Iterable[object], messages: Messages) -> list[str]:
    checked: list[str] = []
    for id in ids:
        if not isinstance(id, str) or id not in messages:
            raise BadHistory(f"{place}: there is no message {id!r}")
        checked.append(id)
    return checked


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and value == value and abs(value) != float("inf")
