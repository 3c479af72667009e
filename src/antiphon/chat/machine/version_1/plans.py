"""Plans of version 1: forks, rewinds and merges as they were."""

from typing import Any

from antiphon.chat.machine import operations
from antiphon.chat.machine.merging import with_conflicts
from antiphon.chat.machine.tree import head_of, meeting_point
from antiphon.chat.machine.validation import other_branches
from antiphon.threads.machine.former import Context, Event


def without_message(event: Event) -> Event:
    """Return a rewind without the message to go to, which it did not have."""
    return {key: value for key, value in event.items() if key != "message"}


def append_message(context: Context, event: Event) -> Context:
    """Append a message, and request a reply if it is a question."""
    return operations.append_message_by(("user",), context, event)


def send_next(context: Context) -> Context:
    """Append the first message of the queue."""
    return operations.send_next_by(append_message, context)


def rewind(context: Context, event: Event) -> Context:
    """Move the branch some turns back, or to a checkpoint."""
    return operations.rewind(context, without_message(event))


def plan_fork(context: Context, event: Event) -> Context:
    """Plan a fork, whose parent is the current branch."""
    planned: Any = operations.plan_fork(context, event)
    return {**planned, "fork": {**planned["fork"], "parent": context["branch"]}}


def plan_merge(context: Context, event: Event) -> Context:
    """Plan a merge of everything after the last common message."""
    source = event.get("source") or other_branches(context)[0]
    merge: Any = {
        "source": source,
        "target": context["branch"],
        "base": meeting_point(context["messages"], head_of(context), head_of(context, source)),
        "strategy": event.get("strategy") or "sequential",
        "conflicts": [],
        "turns": None,
    }
    return {**context, "merge": with_conflicts(context, merge)}
