"""What two heads of a conversation have in common, and in what they differ."""

from typing import TypedDict

from antiphon.chat.machine.context import FlowContext, StoredMessage
from antiphon.chat.machine.tree import Messages, hash_at, head_of, meeting_point, path
from antiphon.threads.machine.content import text_of


class Difference(TypedDict):
    """Two branches compared: the last message both have, and what only one of them has."""

    base: str | None
    ours: list[str]
    theirs: list[str]
    # The branches say the same, though with other messages.
    equivalent: bool


def difference(context: FlowContext, ours: str, theirs: str) -> Difference:
    """How two open branches differ; costs as much as they differ."""
    heads = head_of(context, ours), head_of(context, theirs)
    messages = context["messages"]
    base = meeting_point(messages, *heads)
    one, other = (path(messages, head, base) for head in heads)
    return {
        "base": base,
        "ours": [message["id"] for message in one],
        "theirs": [message["id"] for message in other],
        "equivalent": hash_at(messages, heads[0]) == hash_at(messages, heads[1]),
    }


def written(messages: Messages, found: Difference) -> str:
    """A difference for people: one line a message, marked by the branch that has it."""
    lines = [_line("-", messages[id]) for id in found["ours"]] + [_line("+", messages[id]) for id in found["theirs"]]
    return "\n".join(lines)


def _line(mark: str, message: StoredMessage) -> str:
    words = " ".join(text_of(message["parts"]).split())
    return f"{mark} {message['role']}: {words}" if words else f"{mark} {message['role']}"
