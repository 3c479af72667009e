"""Merging two branches: their turns, the conflicts between them, and the merged path.

1. Only messages after the last common one are merged, so a shared beginning is never repeated.
2. A message that already follows the one before it is used as it is; every other one is copied.
   So merging a branch that has nothing new changes nothing, and merging into one that has nothing new moves its head.
3. Turns are merged whole: a tool call is never separated from its result.
4. What was merged before is not merged again: neither messages up to the head that a message of the target was
   merged from, nor turns that are copies of the target's own.
5. A merge by consensus adds one message that joins both sides; see `consensus.py`.
"""

import json
from collections.abc import Container
from itertools import chain, zip_longest
from typing import cast, get_args

from antiphon.chat.machine.context import (
    FlowContext,
    MergeConflict,
    MergeProposal,
    MessageDraft,
    PlannedMerge,
    StoredMessage,
    Strategy,
)
from antiphon.chat.machine.tree import (
    Messages,
    Turn,
    append,
    close,
    head_of,
    insert,
    meeting_point,
    move_head,
    path,
    turns_of,
)
from antiphon.threads.machine.content import calls_of, text_of

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
PICKS = ("ours", "theirs", "both", "neither")


def sides(context: FlowContext, merge: PlannedMerge) -> tuple[list[Turn], list[Turn]]:
    """Return the turns of both branches that a merge is about."""
    messages = context["messages"]
    our_messages = path(messages, head_of(context, merge["target"]), merge["base"])
    their_messages = path(messages, head_of(context, merge["source"]), merge.get("theirBase", merge["base"]))
    our_turns = turns_of(our_messages)
    their_turns = turns_of(their_messages)
    if "theirBase" not in merge:
        return our_turns, their_turns
    our_ids = {message["id"] for message in our_messages}
    return our_turns, [turn for turn in their_turns if not _is_copy(turn, our_ids)]


def _is_copy(turn: Turn, ids: Container[str]) -> bool:
    """Return whether all messages of a turn are copies of some others."""
    return all(message.get("copiedFrom") in ids for message in turn)


def find_bases(messages: Messages, ours: str | None, theirs: str | None) -> tuple[str | None, str | None]:
    """Return the messages of two heads after which something is left to merge.

    Both are the last common message, or a message of ours that was merged from theirs, and the head it was merged from.
    """
    base = meeting_point(messages, ours, theirs)
    their_ids = {message["id"] for message in path(messages, theirs, base)}
    for message in reversed(path(messages, ours, base)):
        if (merged := message.get("mergedFrom")) in their_ids:
            return message["id"], merged
    return base, base


def new_merge(context: FlowContext, source: str, strategy: Strategy) -> PlannedMerge:
    """Plan a merge of a branch into the current one, with the conflicts to decide first."""
    base, their_base = find_bases(context["messages"], head_of(context), head_of(context, source))
    return with_conflicts(
        context,
        {
            "source": source,
            "target": context["branch"],
            "base": base,
            "theirBase": their_base,
            "strategy": strategy,
            "conflicts": [],
            "turns": None,
        },
    )


def with_conflicts(context: FlowContext, merge: PlannedMerge) -> PlannedMerge:
    """Return a merge with its conflicts; in a merge by consensus the proposal decides them."""
    if merge["strategy"] == "consensus":
        return merge
    find_conflicts = _turn_choices if merge["strategy"] == "manual" else _disagreements
    return {**merge, "conflicts": find_conflicts(*sides(context, merge))}


def _turn_choices(ours: list[Turn], theirs: list[Turn]) -> list[MergeConflict]:
    pairs = enumerate(zip_longest(ours, theirs), 1)
    return [_conflict(number, f"turn {number}", our, their) for number, (our, their) in pairs]


def _disagreements(ours: list[Turn], theirs: list[Turn]) -> list[MergeConflict]:
    our_items: dict[str, Turn] = {}
    for turn in ours:
        our_items.update(dict.fromkeys(items_of(turn), turn))
    conflicts: list[MergeConflict] = []
    for turn in theirs:
        for item, content in items_of(turn).items():
            if item in our_items and items_of(our_items[item])[item] != content:
                _add_conflict(conflicts, _conflict(len(conflicts) + 1, item, our_items[item], turn))
    return conflicts


def _add_conflict(conflicts: list[MergeConflict], conflict: MergeConflict) -> None:
    """Add a conflict; two turns have one conflict, however many items they both touch."""
    for earlier in conflicts:
        if (earlier["ours"], earlier["theirs"]) == (conflict["ours"], conflict["theirs"]):
            earlier["item"] = f"{earlier['item']}; {conflict['item']}"
            return
    conflicts.append(conflict)


def _conflict(number: int, item: str, ours: Turn | None, theirs: Turn | None) -> MergeConflict:
    return {
        "id": f"x{number}",
        "item": item,
        "ours": ours[0]["id"] if ours else None,
        "theirs": theirs[0]["id"] if theirs else None,
        "pick": None,
    }


def items_of(turn: Turn) -> dict[str, str]:
    """Return the items that a turn touches, with what it does to each.

    An item is a question, a piece of context injected under a key, or a file that a tool call names with `path`.
    """
    items: dict[str, str] = {}
    content = json.dumps([[message["role"], message["parts"]] for message in turn], sort_keys=True)
    for message in turn:
        question = " ".join(text_of(message["parts"]).casefold().split())
        if message["role"] == "user" and question:
            items[f"question: {question}"] = content
        if "key" in message:
            items[f"context: {message['key']}"] = text_of(message["parts"])
        for call in calls_of(message["parts"]):
            file = _path_in(call["arguments"])
            if file is not None:
                items[f"file: {file}"] = call["name"] + call["arguments"]
    return items


def _path_in(arguments: str) -> str | None:
    try:
        value: object = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None  # a model may write anything
    path: object = value.get("path") if isinstance(value, dict) else None
    return path if isinstance(path, str) else None


def unresolved_conflicts(merge: PlannedMerge) -> list[MergeConflict]:
    """Return the conflicts that wait for a decision."""
    if merge["turns"] is not None:
        return []
    return [conflict for conflict in merge["conflicts"] if conflict["pick"] is None]


def with_pick(merge: PlannedMerge, id: str | None, pick: str) -> PlannedMerge:
    """Decide one conflict, by default the first that is open."""
    chosen = id or next((conflict["id"] for conflict in unresolved_conflicts(merge)), None)
    conflicts: list[MergeConflict] = [
        {**conflict, "pick": pick} if conflict["id"] == chosen else conflict for conflict in merge["conflicts"]
    ]
    return {**merge, "conflicts": conflicts}


def apply_merge(context: FlowContext, at: int | None = None) -> FlowContext:
    """Carry out the planned merge: the target gets both sides, or the message that joins them; the source is closed."""
    merge = context["merge"]
    assert merge is not None
    source = merge["source"]
    target = merge["target"]
    theirs = head_of(context, source)
    if "proposal" in merge:
        merged = append(context, target, _joint_message(context, merge, merge["proposal"], at))
    else:
        turns = order_turns(context, merge)
        merged = _graft(context, target, merge["base"], list(chain.from_iterable(turns)), theirs)
    metrics = merged["metrics"]
    counted: FlowContext = {**merged, "merge": None, "metrics": {**metrics, "merges": metrics["merges"] + 1}}
    return close(counted, source, target)


def _joint_message(context: FlowContext, merge: PlannedMerge, proposal: MergeProposal, at: int | None) -> MessageDraft:
    """Return the message that joins both sides of a merge."""
    both = chain.from_iterable(chain(*sides(context, merge)))
    return {
        "role": "assistant",
        "parts": [{"type": "text", "text": proposal["text"] or ""}],
        "at": at,
        "source": proposal["source"],
        "usage": proposal["usage"],
        "costUsd": proposal["costUsd"],
        "mergedFrom": head_of(context, merge["source"]),
        "derivedFrom": [message["id"] for message in both],
    }


def order_turns(context: FlowContext, merge: PlannedMerge) -> list[Turn]:
    """Return the turns that a merge keeps, in its order."""
    our_turns, their_turns = sides(context, merge)
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


def _graft(
    context: FlowContext, branch: str, base: str | None, sequence: list[StoredMessage], theirs: str | None
) -> FlowContext:
    head = base
    for place, message in enumerate(sequence):
        if message["parent"] == head:
            head = message["id"]
            continue
        copy = cast(MessageDraft, {**message, "id": None, "copiedFrom": message["id"]})
        # The last copy has two parents: the message before it here, and the head that was merged.
        if place == len(sequence) - 1:
            copy["mergedFrom"] = theirs
        context = insert(context, branch, copy, head)
        head = head_of(context, branch)
    return move_head(context, branch, head)
