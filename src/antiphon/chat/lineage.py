"""Lineage of messages: the branch of each, where a branch begins, and the messages that were left behind."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from antiphon.chat.record import branch_path
from antiphon.threads.kinds import Json


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a conversation: a branch, or messages that are on no branch; `origin` says where it begins.

    Each message of a conversation is in one section.
    """

    name: str
    origin: str
    messages: tuple[Json, ...]


def sections(chat: Json, branch: str | None = None) -> list[Section]:
    """Return one branch or all, the current one first; messages that are on no branch follow."""
    if branch is not None:
        return [Section(branch, "", tuple(branch_path(chat, branch)))]
    current = chat["branch"]
    names = [current, *(name for name in (*chat["branches"], *chat["closed"]) if name != current)]
    places: dict[str, str] = {}  # the section of each message
    parts: list[Section] = []
    for name in names:
        path = branch_path(chat, name)
        own = tuple(message for message in path if message["id"] not in places)
        parts.append(Section(name, _branch_origin(chat, name, path[: len(path) - len(own)], places), own))
        places.update((message["id"], name) for message in own)
    return [*parts, *_left_behind(chat, places), *_summaries(chat)]


def left_behind(chat: Json) -> list[Section]:
    """Return the messages that are on no branch any more: rewound, retried, or cut and joined to the next one."""
    names = (*chat["branches"], *chat["closed"])
    return list(_left_behind(chat, {message["id"]: name for name in names for message in branch_path(chat, name)}))


def forward_end(chat: Json) -> str | None:
    """Return the message that a rewind of the current branch has come from: the newest one below its head, or None."""
    branch = chat["branches"].get(chat["branch"])
    if branch is None:
        return None
    names = (*chat["branches"], *chat["closed"])
    on_branches = {message["id"] for name in names for message in branch_path(chat, name)}
    below = {branch["head"]}
    newest: str | None = None
    for id, message in chat["messages"].items():
        if message["parent"] not in below or is_summary(message):
            continue
        below.add(id)
        owner = message.get("branch") or (None if id in on_branches else branch["name"])
        if owner == branch["name"] or id == branch["forkPoint"]:
            newest = id
    return newest


def _branch_origin(chat: Json, name: str, shared: list[Json], places: Mapping[str, str]) -> str:
    """Return where a branch begins and how it ended, in words."""
    branch: Json = {**chat["closed"], **chat["branches"]}.get(name, {})
    facts: list[str] = []
    if branch.get("parent") is not None:
        point = chat["messages"].get(branch.get("forkPoint"))
        facts.append(f"forked from {branch['parent']} {_after(point)}")
    if shared:
        facts.append(f"shares {_turns(shared[-1]['turn'])} with {places[shared[-1]['id']]}, above")
    if name in chat["closed"]:
        facts.append(f"merged into {branch['mergedInto']}" if branch.get("mergedInto") else "closed")
    return ", ".join(facts)


def _after(message: Json | None) -> str:
    if message is None or message["turn"] == 0:
        return "at its beginning"
    where = "after" if message["role"] == "assistant" else "in"
    return f"{where} turn {message['turn']}"


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def is_summary(message: Json) -> bool:
    """Return whether a message stands for others in a window, and on no path."""
    return message["parent"] is None and "derivedFrom" in message


def _left_behind(chat: Json, places: Mapping[str, str]) -> Iterator[Section]:
    """Iterate over the continuations that are on no branch; one that parts again begins another."""
    messages = chat["messages"]
    heads: dict[str, str] = {}  # the last message of a continuation, and the id of the section it belongs to
    groups: dict[str, list[Json]] = {}
    for message in messages.values():
        if message["id"] in places or is_summary(message):
            continue
        first = heads.pop(message["parent"], message["id"])
        groups.setdefault(first, []).append(message)
        heads[message["id"]] = first
    for first, group in groups.items():
        yield Section("", _left_origin(messages, messages[first], places), tuple(group))


def _left_origin(messages: Json, first: Json, places: Mapping[str, str]) -> str:
    """Return where a continuation was left behind, in words."""
    parent = first["parent"]
    name = first.get("branch") or places.get(parent or "") or "an unknown branch"
    if parent is None:
        return f"an earlier beginning of {name}"
    turn = messages[parent]["turn"]
    return (
        f"an earlier answer in turn {turn} of {name}"
        if first["role"] == "assistant"
        else f"on {name}, after turn {turn}"
    )


def _summaries(chat: Json) -> list[Section]:
    summaries = tuple(message for message in chat["messages"].values() if is_summary(message))
    return [Section("", "summaries of earlier messages, for the model", summaries)] if summaries else []
