"""Difference of two branches: their common messages, and those of one branch only."""

from typing import TypedDict

from antiphon.chat.machine.context import FlowContext, StoredMessage
from antiphon.chat.machine.tree import Messages, hash_at, head_of, meeting_point, path
from antiphon.threads.machine.content import text_of


class Difference(TypedDict):
    """The last message that two branches have in common, and the messages of one of them only."""

    base: str | None
    ours: list[str]
    theirs: list[str]
    # Whether the branches have equal content, though in different messages.
    equivalent: bool


def difference(context: FlowContext, ours: str, theirs: str) -> Difference:
    """Compare two open branches, at a cost in proportion to their difference."""
    messages = context["messages"]
    our_head = head_of(context, ours)
    their_head = head_of(context, theirs)
    base = meeting_point(messages, our_head, their_head)
    return {
        "base": base,
        "ours": [message["id"] for message in path(messages, our_head, base)],
        "theirs": [message["id"] for message in path(messages, their_head, base)],
        "equivalent": hash_at(messages, our_head) == hash_at(messages, their_head),
    }


def format_difference(messages: Messages, difference: Difference) -> str:
    """Format a difference for people: one line a message, marked by its branch."""
    ours = [_line("-", messages[id]) for id in difference["ours"]]
    theirs = [_line("+", messages[id]) for id in difference["theirs"]]
    return "\n".join([*ours, *theirs])


def _line(mark: str, message: StoredMessage) -> str:
    words = " ".join(text_of(message["parts"]).split())
    return f"{mark} {message['role']}: {words}" if words else f"{mark} {message['role']}"
