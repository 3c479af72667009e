"""The tree of messages: walking it, growing it, and moving heads in it.

1. A message names its parent and never changes; no message is deleted.
2. A branch is a name for a head, so forking and rewinding move names and copy nothing.
3. Each message carries the hash, the turn and the tokens of everything up to it, so reading them is O(1).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, cast, get_args

from antiphon.chat.machine.context import (
    CarriedFields,
    ChatBranch,
    FlowContext,
    MessageDraft,
    StoredMessage,
    Window,
)
from antiphon.chat.machine.persistent_map import PersistentMap
from antiphon.threads.machine.content import chain_hash
from antiphon.tokens import tokens_of_parts

Messages = Mapping[str, StoredMessage]
Turn = list[StoredMessage]
CarriedKey = Literal[
    "at",
    "tags",
    "key",
    "source",
    "usage",
    "costUsd",
    "interrupted",
    "copiedFrom",
    "mergedFrom",
    "derivedFrom",
    "branch",
    "options",
]
# The fields that a message takes over from its draft.
CARRIED: tuple[CarriedKey, ...] = get_args(CarriedKey)
EMPTY_HASH = "0" * 16


def walk(messages: Messages, head: str | None) -> Iterator[StoredMessage]:
    """Iterate over the messages from a head back to the beginning."""
    while head is not None:
        message = messages[head]
        yield message
        head = message["parent"]


def path(messages: Messages, head: str | None, after: str | None = None) -> list[StoredMessage]:
    """Return the messages up to a head, oldest first; only those behind `after` if it is on the path."""
    newest_first = []
    for message in walk(messages, head):
        if message["id"] == after:
            break
        newest_first.append(message)
    return newest_first[::-1]


def turns_of(messages: Iterable[StoredMessage]) -> list[Turn]:
    """Group messages by turn; context injected before the first turn is a group of its own."""
    turns: list[Turn] = []
    for message in messages:
        if not turns or turns[-1][0]["turn"] != message["turn"]:
            turns.append([])
        turns[-1].append(message)
    return turns


def turn_at(messages: Messages, head: str | None) -> int:
    """Return the number of turns up to a head."""
    return 0 if head is None else messages[head]["turn"]


def tokens_at(messages: Messages, head: str | None) -> int:
    """Return the estimated number of tokens up to a head."""
    return 0 if head is None else messages[head]["tokens"]


def hash_at(messages: Messages, head: str | None) -> str:
    """Return the hash of everything up to a head: equal hashes are equal conversations."""
    return EMPTY_HASH if head is None else messages[head]["hash"]


def size_of(messages: Messages, message: StoredMessage) -> int:
    """Return the estimated number of tokens of a message."""
    return message["tokens"] - tokens_at(messages, message["parent"])


def end_of_turn(messages: Messages, head: str | None, turn: int) -> str | None:
    """Return the last message of a turn on the path to a head; turn 0 is everything before the first turn."""
    for message in walk(messages, head):
        if message["turn"] <= turn:
            return message["id"]
    return None


def is_on_path(messages: Messages, ancestor: str, head: str | None) -> bool:
    """Return whether a message is on the path to a head; walk no further than it could be."""
    tokens = messages[ancestor]["tokens"]
    for message in walk(messages, head):
        if message["tokens"] <= tokens:
            return message["id"] == ancestor
    return False


def meeting_point(messages: Messages, ours: str | None, theirs: str | None) -> str | None:
    """Return the last message that two heads have in common; walk from both no further than to it."""
    # Tokens grow along every path, so the head with more of them cannot be an ancestor of the other.
    while ours != theirs:
        if tokens_at(messages, ours) >= tokens_at(messages, theirs):
            assert ours is not None
            ours = messages[ours]["parent"]
        else:
            assert theirs is not None
            theirs = messages[theirs]["parent"]
    return ours


def last_question(context: FlowContext) -> str | None:
    """Return the last message of the user on the current branch."""
    path = walk(context["messages"], head_of(context))
    return next((message["id"] for message in path if message["role"] == "user"), None)


def reply_options(context: FlowContext, branch: str) -> dict[str, Any]:
    """Return the options of the last question of a branch, which hold for its reply alone."""
    path = walk(context["messages"], head_of(context, branch))
    question = next((message for message in path if message["role"] == "user"), None)
    return question.get("options", {}) if question else {}


def head_of(context: FlowContext, branch: str | None = None) -> str | None:
    """Return the head of a branch, by default of the current one."""
    return context["branches"][branch or context["branch"]]["head"]


def move_head(context: FlowContext, name: str, head: str | None) -> FlowContext:
    """Move the head of a branch to another message."""
    branch: ChatBranch = {**context["branches"][name], "head": head}
    return {**context, "branches": {**context["branches"], name: branch}}


def set_window(context: FlowContext, name: str, window: Window) -> FlowContext:
    """Give a branch another window."""
    branch: ChatBranch = {**context["branches"][name], "window": window}
    return {**context, "branches": {**context["branches"], name: branch}}


def close(context: FlowContext, name: str, merged_into: str | None) -> FlowContext:
    """Move a branch from the open ones to the closed ones, which stay readable."""
    branch: ChatBranch = {**context["branches"][name], "mergedInto": merged_into}
    open_branches = {key: value for key, value in context["branches"].items() if key != name}
    closed = PersistentMap.of(context["closed"]).with_entry(name, branch)
    return {**context, "branches": open_branches, "closed": closed}


def reopen(context: FlowContext, name: str) -> FlowContext:
    """Move a branch from the closed ones to the open ones."""
    branch: ChatBranch = {**context["closed"][name], "mergedInto": None}
    closed = PersistentMap({key: value for key, value in context["closed"].items() if key != name})
    return {**context, "branches": {**context["branches"], name: branch}, "closed": closed}


def branch_of(context: FlowContext, id: str | None) -> str:
    """Return the branch that a message was added to; the current one if that is not known."""
    return context["branch"] if id is None else context["messages"][id].get("branch", context["branch"])


def append(context: FlowContext, branch: str, draft: MessageDraft) -> FlowContext:
    """Append a message to a branch."""
    return insert(context, branch, draft, head_of(context, branch))


def insert(context: FlowContext, branch: str, draft: MessageDraft, parent: str | None) -> FlowContext:
    """Add a message behind any other one, and move the head of the branch to it."""
    if "budget" in context:  # a chat of version 1 has no budget, and its messages do not name their branch
        draft = {**draft, "branch": branch}
    stored, next_message = stored_message(context["messages"], context["nextMessage"], draft, parent)
    longer: FlowContext = {
        **context,
        "messages": PersistentMap.of(context["messages"]).with_entry(stored["id"], stored),
        "nextMessage": next_message,
    }
    if "copiedFrom" not in stored:
        metrics = context["metrics"]
        turns = metrics["turns"] + (1 if stored["role"] == "user" else 0)
        longer["metrics"] = {**metrics, "messages": metrics["messages"] + 1, "turns": turns}
    return move_head(longer, branch, stored["id"])


def stored_message(
    messages: Messages, next_message: int, draft: MessageDraft, parent: str | None
) -> tuple[StoredMessage, int]:
    """Return a draft as a message of the tree, and the next number for an id."""
    id = draft.get("id")
    if id is None:
        while f"m{next_message}" in messages:  # a caller may have used the name
            next_message += 1
        id = f"m{next_message}"
        next_message += 1
    role = draft["role"]
    parts = draft["parts"]
    carried = cast(CarriedFields, {key: draft[key] for key in CARRIED if draft.get(key) is not None})
    stored: StoredMessage = {
        "id": id,
        "parent": parent,
        "role": role,
        "parts": list(parts),
        "hash": chain_hash(hash_at(messages, parent), role, parts, bool(draft.get("interrupted"))),
        "turn": turn_at(messages, parent) + (1 if role == "user" else 0),
        "tokens": tokens_at(messages, parent) + tokens_of_parts(parts),
        **carried,
    }
    return stored, next_message
