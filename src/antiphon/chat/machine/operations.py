"""What a person does with a conversation: say something, fork, rewind, mark, merge, end it."""

from collections.abc import Mapping
from typing import Any

from antiphon.chat.machine.context import Checkpoint, FlowContext, Fork, Reply, Run, emptied, new_branch
from antiphon.chat.machine.crystal import crystal_of
from antiphon.chat.machine.merging import STRATEGIES, merged, planned, resolved
from antiphon.chat.machine.persistent_map import Log
from antiphon.chat.machine.settings import given_settings
from antiphon.chat.machine.tree import (
    appended,
    closing,
    end_of_turn,
    hash_at,
    head_of,
    last_question,
    turn_at,
    with_branch,
    with_message,
)
from antiphon.chat.machine.validation import other_branches
from antiphon.chat.machine.windows import pinning
from antiphon.threads.machine.content import parts_of

Event = Mapping[str, Any]
GIVEN = ("id", "at", "tags", "key", "source", "usage", "costUsd", "interrupted")


def configured(context: FlowContext, event: Event) -> FlowContext:
    """The settings an event brings."""
    config: Any = {**context["config"], **given_settings(event)}
    return {**context, "config": config}


def say(context: FlowContext, event: Event) -> FlowContext:
    """A message at the end of its branch; a reply to it is wanted if there is a model to ask."""
    role, branch = event.get("role") or "user", event.get("branch") or context["branch"]
    head = head_of(context, branch)
    draft = {**_given(event), "role": role, "parts": parts_of(event)}
    joined = context["messages"][head] if head and event.get("joins") else None
    if joined and joined["role"] == "user":
        # One turn takes the place of another: the old message stays in the tree, beside the new one.
        draft["parts"] = [*joined["parts"], *draft["parts"]]
        context = with_message(context, branch, draft, joined["parent"])
        metrics = context["metrics"]
        context = {**context, "metrics": {**metrics, "turns": metrics["turns"] - 1}}
    else:
        context = appended(context, branch, draft)
    context = _pinned_if_asked(run_begun(context, event), event, branch)
    if role != "user" or context["config"]["model"] is None:
        return {**context, "reply": None}
    return wanting_reply(context, branch, event.get("resumeNote"))


def resumed(context: FlowContext, event: Event) -> FlowContext:
    """A reply that goes on where the last one was lost."""
    return wanting_reply(run_begun(context, event), context["branch"], event.get("resumeNote") or None)


def retried(context: FlowContext, event: Event) -> FlowContext:
    """The last question asked again; what was answered before stays in the tree, beside the new answer."""
    question = last_question(context)
    assert question is not None
    moved = with_branch(run_begun(context, event), context["branch"], head=question)
    return wanting_reply(moved, context["branch"])


def _given(event: Event) -> dict[str, Any]:
    """What a caller may say about a message; where it was copied or derived from is the tree's to say."""
    return {key: event[key] for key in GIVEN if event.get(key) is not None}


def wanting_reply(context: FlowContext, branch: str, prefix: str | None = None) -> FlowContext:
    """A reply is wanted at the end of a branch."""
    reply: Reply = {
        "requestId": f"r{context['nextRequest']}",
        "branch": branch,
        "parent": head_of(context, branch),
        "phase": "wanted",
        "prefix": prefix,
        "cut": None,
        "called": False,
        "waiting": False,
        "error": None,
    }
    return {**context, "reply": reply, "nextRequest": context["nextRequest"] + 1}


def run_begun(context: FlowContext, event: Event) -> FlowContext:
    """The run of an event, unless it goes on; its cost is the total, as the parent wants to hear it."""
    run_id = event.get("runId")
    if not context["reportsToParent"] or (context["run"] and run_id in (None, context["run"]["runId"])):
        return context
    spent = context["metrics"]["costUsd"]
    run: Run = {"runId": run_id, "cost": spent, "duration": 0.0, "outcome": "completed", "error": None}
    return {**context, "run": run}


def _pinned_if_asked(context: FlowContext, event: Event, branch: str) -> FlowContext:
    head = head_of(context, branch)
    return pinning(context, head, True) if event.get("pinned") and head else context


def queued(context: FlowContext, event: Event) -> FlowContext:
    """A message that waits until the reply in flight has ended."""
    item = {key: value for key, value in event.items() if key != "type"}
    item["branch"] = event.get("branch") or context["branch"]
    if context["config"]["onBusy"] == "merge":
        item["joins"] = True
    return {**context, "queue": [*context["queue"], item]}


def next_said(context: FlowContext) -> FlowContext:
    """The first message that waited, said now."""
    item, *rest = context["queue"]
    if item.get("id") in context["messages"]:  # counted meanwhile
        item = {**item, "id": None}
    return say({**context, "queue": rest}, item)


def injected(context: FlowContext, event: Event) -> FlowContext:
    """Context without a turn: a message of the system, kept in the window unless its tags say otherwise."""
    tags = event.get("tags") or ["REQUIRED"]
    draft = {**_given(event), "role": "system", "parts": parts_of(event), "tags": list(tags)}
    return _pinned_if_asked(appended(context, context["branch"], draft), event, context["branch"])


def fork_planned(context: FlowContext, event: Event) -> FlowContext:
    """A fork from a message, from a turn, or from where the branch stands."""
    messages, head, turn = context["messages"], head_of(context), event.get("turn")
    point = head
    if event.get("from") is not None:
        point = event["from"]
    elif turn is not None:  # turn 0 is a place too: before the first turn
        point = end_of_turn(messages, head, turn)
    fork: Fork = {"name": event.get("name") or _free_name(context), "parent": context["branch"], "forkPoint": point}
    return {**context, "fork": fork}


def _free_name(context: FlowContext) -> str:
    number = len(context["branches"]) + len(context["closed"])
    while f"branch-{number}" in context["branches"] or f"branch-{number}" in context["closed"]:
        number += 1
    return f"branch-{number}"


def forked(context: FlowContext) -> FlowContext:
    """The planned branch, open and current."""
    fork, metrics = context["fork"], context["metrics"]
    assert fork is not None
    # A window whose cut is not on the new branch's path is noticed when it is looked at.
    window = context["branches"][fork["parent"]]["window"] if fork["parent"] in context["branches"] else None
    branch = new_branch(fork["name"], fork["forkPoint"], fork["parent"], window)
    return {
        **context,
        "fork": None,
        "branch": fork["name"],
        "branches": {**context["branches"], fork["name"]: branch},
        "metrics": {**metrics, "forks": metrics["forks"] + 1},
    }


def rewound(context: FlowContext, event: Event) -> FlowContext:
    """The branch some turns back, or where a checkpoint was made; no message is deleted."""
    if event.get("checkpointId") is not None:
        head = context["checkpoints"][event["checkpointId"]]["head"]
    elif event.get("turns", 1) == 0:
        return context
    else:
        now = head_of(context)
        head = end_of_turn(context["messages"], now, turn_at(context["messages"], now) - event.get("turns", 1))
    metrics = context["metrics"]
    counted: FlowContext = {**context, "metrics": {**metrics, "rewinds": metrics["rewinds"] + 1}}
    return with_branch(counted, context["branch"], head=head)


def checkpoint_id(context: FlowContext) -> str:
    """The name of what the branch says now."""
    return f"c{hash_at(context['messages'], head_of(context))}"


def marked(context: FlowContext, event: Event) -> FlowContext:
    """A checkpoint where the branch stands; the same words have the same checkpoint."""
    id, head = checkpoint_id(context), head_of(context)
    if id in context["checkpoints"]:
        return context
    turn = turn_at(context["messages"], head)
    checkpoint: Checkpoint = {"id": id, "head": head, "branch": context["branch"], "turn": turn}
    if event.get("name") is not None:
        checkpoint["name"] = event["name"]
    if event.get("at") is not None:
        checkpoint["at"] = event["at"]
    return {**context, "checkpoints": Log.of(context["checkpoints"]).adding(id, checkpoint)}


def merge_planned(context: FlowContext, event: Event) -> FlowContext:
    """A merge of another branch into the current one, with its conflicts."""
    source = event.get("source") or other_branches(context)[0]
    return {**context, "merge": planned(context, source, event.get("strategy") or STRATEGIES[0])}


def conflict_resolved(context: FlowContext, event: Event) -> FlowContext:
    """One conflict decided, or in a manual merge the turns chosen."""
    merge = context["merge"]
    assert merge is not None
    if event.get("turns") is not None:
        return {**context, "merge": {**merge, "turns": list(event["turns"])}}
    return {**context, "merge": resolved(merge, event.get("conflict"), event.get("pick") or "ours")}


def merge_done(context: FlowContext) -> FlowContext:
    """Both branches in one."""
    return merged(context)


def switched(context: FlowContext, event: Event) -> FlowContext:
    """Another branch is the current one."""
    return {**context, "branch": event["branch"]}


def closed(context: FlowContext, event: Event) -> FlowContext:
    """A branch closed without being merged."""
    return closing(context, event["branch"], None)


def pinned(context: FlowContext, event: Event) -> FlowContext:
    """A message pinned, or let go."""
    return pinning(context, event["message"], event.get("pinned", True))


def flushed(context: FlowContext) -> FlowContext:
    """Nothing waits any more."""
    return {**context, "queue": [], "lastError": None}


def crystallized_plainly(context: FlowContext, event: Event) -> FlowContext:
    """The crystal that rules give."""
    return {**flushed(context), "crystal": crystal_of(context, {}, event, "rules")}


def emptied_again(context: FlowContext) -> FlowContext:
    """A new conversation with the settings of the old one."""
    return emptied(context["config"], context["reportsToParent"], context["nextMessage"], context["nextRequest"])
