"""Merging two branches: what each has that the other has not, where they disagree, and the path that has both.

1. Only what came after the last common message is merged, so a shared beginning is never repeated.
2. A message that already follows the one before it is used as it stands; every other one is copied.
   So merging a branch that has nothing new changes nothing, and merging into one that has nothing new moves its head.
3. Turns are merged whole: a tool call is never parted from its result.
"""

import json
from collections.abc import Mapping
from itertools import chain, zip_longest
from typing import Any

from antiphon.chat.machine.context import Conflict, FlowContext, Merge, StoredMessage
from antiphon.chat.machine.tree import (
    Messages,
    Turn,
    closing,
    head_of,
    meeting_point,
    path,
    turns_of,
    with_branch,
    with_message,
)
from antiphon.threads.machine.content import calls_of, text_of

STRATEGIES = ("sequential", "interleave", "manual")
PICKS = ("ours", "theirs", "both", "neither")


def sides(messages: Messages, merge: Mapping[str, Any], ours: str | None, theirs: str | None) -> tuple[list[Turn], ...]:
    """The turns of two heads after their last common message."""
    base = merge["base"]
    return turns_of(path(messages, ours, base)), turns_of(path(messages, theirs, base))


def planned(context: FlowContext, source: str, strategy: Any) -> Merge:
    """A merge of a branch into the current one, with what has to be decided first."""
    target, messages = context["branch"], context["messages"]
    ours, theirs = head_of(context, target), head_of(context, source)
    base = meeting_point(messages, ours, theirs)
    merge: Merge = {
        "source": source,
        "target": target,
        "base": base,
        "strategy": strategy,
        "conflicts": [],
        "turns": None,
    }
    our_turns, their_turns = sides(messages, merge, ours, theirs)
    find = _choices if strategy == "manual" else _disagreements
    merge["conflicts"] = find(our_turns, their_turns)
    return merge


def _choices(ours: list[Turn], theirs: list[Turn]) -> list[Conflict]:
    pairs = enumerate(zip_longest(ours, theirs), 1)
    return [_conflict(number, f"turn {number}", one, other) for number, (one, other) in pairs]


def _disagreements(ours: list[Turn], theirs: list[Turn]) -> list[Conflict]:
    touched: dict[str, Turn] = {}
    for turn in ours:
        touched.update(dict.fromkeys(items_of(turn), turn))
    found: list[Conflict] = []
    for turn in theirs:
        for item, content in items_of(turn).items():
            if item in touched and items_of(touched[item])[item] != content:
                _note(found, _conflict(len(found) + 1, item, touched[item], turn))
    return found


def _note(found: list[Conflict], conflict: Conflict) -> None:
    """Two turns are decided between once, however many items they both touch."""
    for known in found:
        if (known["ours"], known["theirs"]) == (conflict["ours"], conflict["theirs"]):
            known["item"] = f"{known['item']}; {conflict['item']}"
            return
    found.append(conflict)


def _conflict(number: int, item: str, ours: Turn | None, theirs: Turn | None) -> Conflict:
    one, other = (turn[0]["id"] if turn else None for turn in (ours, theirs))
    return {"id": f"x{number}", "item": item, "ours": one, "theirs": other, "pick": None}


def items_of(turn: Turn) -> dict[str, str]:
    """What a turn touches, and what it does to it.

    A question it asks, a piece of context it injects under a key, a file that a tool call names with `path`.
    """
    found = {}
    content = json.dumps([[message["role"], message["parts"]] for message in turn], sort_keys=True)
    for message in turn:
        question = " ".join(text_of(message["parts"]).casefold().split())
        if message["role"] == "user" and question:
            found[f"question: {question}"] = content
        if "key" in message:
            found[f"context: {message['key']}"] = text_of(message["parts"])
        for call in calls_of(message["parts"]):
            touched = _path_in(call["arguments"])
            if touched is not None:
                found[f"file: {touched}"] = call["name"] + call["arguments"]
    return found


def _path_in(arguments: str) -> str | None:
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        return None  # a model may write anything
    found = value.get("path") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def unresolved(merge: Merge) -> list[Conflict]:
    """The conflicts that wait for a decision."""
    if merge["turns"] is not None:
        return []
    return [conflict for conflict in merge["conflicts"] if conflict["pick"] is None]


def resolved(merge: Merge, id: str | None, pick: str) -> Merge:
    """The merge with one conflict decided, by default the first that is not."""
    wanted = id or next((conflict["id"] for conflict in unresolved(merge)), None)
    conflicts: list[Any] = [
        {**conflict, "pick": pick} if conflict["id"] == wanted else conflict for conflict in merge["conflicts"]
    ]
    return {**merge, "conflicts": conflicts}


def merged(context: FlowContext) -> FlowContext:
    """The context after the merge: the target has both, the source is closed."""
    merge = context["merge"]
    assert merge is not None
    source, target = merge["source"], merge["target"]
    theirs = head_of(context, source)
    sequence = ordered(context["messages"], merge, head_of(context, target), theirs)
    found = _grafted(context, target, merge["base"], list(chain.from_iterable(sequence)), theirs)
    metrics = found["metrics"]
    counted: FlowContext = {**found, "merge": None, "metrics": {**metrics, "merges": metrics["merges"] + 1}}
    return closing(counted, source, target)


def ordered(messages: Messages, merge: Merge, ours: str | None, theirs: str | None) -> list[Turn]:
    """The turns that a merge keeps, in its order."""
    our_turns, their_turns = sides(messages, merge, ours, theirs)
    if merge["turns"] is not None:
        by_id = {turn[0]["id"]: turn for turn in (*our_turns, *their_turns)}
        return [by_id[id] for id in merge["turns"]]
    dropped = set()
    for conflict in merge["conflicts"]:
        if conflict["pick"] in ("theirs", "neither"):
            dropped.add(conflict["ours"])
        if conflict["pick"] in ("ours", "neither"):
            dropped.add(conflict["theirs"])
    if merge["strategy"] == "sequential":
        sequence = [*our_turns, *their_turns]
    else:
        pairs = zip_longest(our_turns, their_turns)
        sequence = [turn for pair in pairs for turn in pair if turn is not None]
    return [turn for turn in sequence if turn[0]["id"] not in dropped]


def _grafted(
    context: FlowContext, branch: str, base: str | None, sequence: list[StoredMessage], theirs: str | None
) -> FlowContext:
    head = base
    for place, message in enumerate(sequence):
        if message["parent"] == head:
            head = message["id"]
            continue
        copy: dict[str, Any] = {**message, "id": None, "copiedFrom": message["id"]}
        # The last copy has two parents: what stands before it here, and the head that was merged.
        if place == len(sequence) - 1:
            copy["mergedFrom"] = theirs
        context = with_message(context, branch, copy, head)
        head = head_of(context, branch)
    return with_branch(context, branch, head=head)
