"""The tree of messages: walking it, growing it, and moving heads in it.

1. A message names its parent and is never changed; nothing is ever deleted.
2. A branch is a name for a head, so forking and rewinding move names and copy nothing.
3. Each message carries the hash, the turn and the tokens of everything up to it, so asking for them is O(1).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from antiphon.chat.machine.context import Branch, FlowContext, StoredMessage
from antiphon.chat.machine.persistent_map import Log
from antiphon.threads.machine.content import chained
from antiphon.tokens import tokens_of_parts

Messages = Mapping[str, StoredMessage]
Turn = list[StoredMessage]
# What a message may carry besides what the tree gives it.
CARRIED = ("at", "tags", "key", "source", "usage", "costUsd", "interrupted", "copiedFrom", "mergedFrom", "derivedFrom")
EMPTY_HASH = "0" * 16


def walk(messages: Messages, head: str | None) -> Iterator[StoredMessage]:
    """The messages from a head back to the beginning."""
    while head is not None:
        message = messages[head]
        yield message
        head = message["parent"]


def path(messages: Messages, head: str | None, after: str | None = None) -> list[StoredMessage]:
    """The messages up to a head, oldest first; only those after a certain one if it is on the way."""
    found = []
    for message in walk(messages, head):
        if message["id"] == after:
            break
        found.append(message)
    found.reverse()
    return found


def turns_of(messages: Iterable[StoredMessage]) -> list[Turn]:
    """Messages by turn; what was injected before the first turn stands alone."""
    turns: list[Turn] = []
    for message in messages:
        if not turns or turns[-1][0]["turn"] != message["turn"]:
            turns.append([])
        turns[-1].append(message)
    return turns


def turn_at(messages: Messages, head: str | None) -> int:
    """How many turns lead to a head."""
    return 0 if head is None else messages[head]["turn"]


def tokens_at(messages: Messages, head: str | None) -> int:
    """About how many tokens lead to a head."""
    return 0 if head is None else messages[head]["tokens"]


def hash_at(messages: Messages, head: str | None) -> str:
    """The hash of everything up to a head: equal hashes are equal conversations."""
    return EMPTY_HASH if head is None else messages[head]["hash"]


def size_of(messages: Messages, message: StoredMessage) -> int:
    """About how many tokens a message is."""
    return message["tokens"] - tokens_at(messages, message["parent"])


def end_of_turn(messages: Messages, head: str | None, turn: int) -> str | None:
    """The last message of a turn on the way to a head; turn 0 is what stands before the first."""
    for message in walk(messages, head):
        if message["turn"] <= turn:
            return message["id"]
    return None


def is_on_path(messages: Messages, ancestor: str, head: str | None) -> bool:
    """Whether a message is on the way to a head; walks no further than that message could be."""
    tokens = messages[ancestor]["tokens"]
    for message in walk(messages, head):
        if message["tokens"] <= tokens:
            return message["id"] == ancestor
    return False


def meeting_point(messages: Messages, one: str | None, other: str | None) -> str | None:
    """The last message that two heads have in common; walks from both no further than to it."""
    # Tokens grow along every path, so the head with more of them cannot be an ancestor of the other.
    while one != other:
        if tokens_at(messages, one) >= tokens_at(messages, other):
            assert one is not None
            one = messages[one]["parent"]
        else:
            assert other is not None
            other = messages[other]["parent"]
    return one


def last_question(context: FlowContext) -> str | None:
    """The last message that a person said on the current branch."""
    path = walk(context["messages"], head_of(context))
    return next((message["id"] for message in path if message["role"] == "user"), None)


def head_of(context: FlowContext, branch: str | None = None) -> str | None:
    """Where a branch stands, by default the current one."""
    return context["branches"][branch or context["branch"]]["head"]


def with_branch(context: FlowContext, name: str, **changes: Any) -> FlowContext:
    """The context with a branch changed."""
    branch: Any = {**context["branches"][name], **changes}
    return {**context, "branches": {**context["branches"], name: branch}}


def closing(context: FlowContext, name: str, merged_into: str | None) -> FlowContext:
    """The context without an open branch; closed ones stay readable."""
    branch: Branch = {**context["branches"][name], "mergedInto": merged_into}
    opened = {key: value for key, value in context["branches"].items() if key != name}
    return {**context, "branches": opened, "closed": Log.of(context["closed"]).adding(name, branch)}


def appended(context: FlowContext, branch: str, draft: Mapping[str, Any]) -> FlowContext:
    """The context with one more message at the end of a branch."""
    return with_message(context, branch, draft, head_of(context, branch))


def with_message(context: FlowContext, branch: str, draft: Mapping[str, Any], parent: str | None) -> FlowContext:
    """The context with a message after any other one, to which the branch's head moves."""
    stored, count = stored_message(context, draft, parent)
    grown: FlowContext = {
        **context,
        "messages": Log.of(context["messages"]).adding(stored["id"], stored),
        "nextMessage": count,
    }
    if "copiedFrom" not in stored:
        metrics = context["metrics"]
        said = 1 if stored["role"] == "user" else 0
        grown["metrics"] = {**metrics, "messages": metrics["messages"] + 1, "turns": metrics["turns"] + said}
    return with_branch(grown, branch, head=stored["id"])


def stored_message(context: FlowContext, draft: Mapping[str, Any], parent: str | None) -> tuple[StoredMessage, int]:
    """A message as it stands in the tree, and the next number to count with."""
    messages, count = context["messages"], context["nextMessage"]
    id = draft.get("id")
    if id is None:
        while f"m{count}" in messages:  # a caller may have used the name
            count += 1
        id, count = f"m{count}", count + 1
    role, parts = draft["role"], draft["parts"]
    interrupted = bool(draft.get("interrupted"))
    carried: Any = {key: draft[key] for key in CARRIED if draft.get(key) is not None}
    stored: Any = {
        "id": id,
        "parent": parent,
        "role": role,
        "parts": list(parts),
        "hash": chained(hash_at(messages, parent), role, parts, interrupted),
        "turn": turn_at(messages, parent) + (1 if role == "user" else 0),
        "tokens": tokens_at(messages, parent) + tokens_of_parts(parts),
        **carried,
    }
    return stored, count
