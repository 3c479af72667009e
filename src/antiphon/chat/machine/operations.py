"""Operations of a person on a conversation: messages, forks, rewinds, checkpoints, merges, the end."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from antiphon.chat.machine.consensus import needs_proposal, request_proposal
from antiphon.chat.machine.context import (
    ChatRun,
    Checkpoint,
    FlowConfig,
    FlowContext,
    MessageDraft,
    PendingReply,
    PlannedFork,
    QueuedMessage,
    empty_context,
    new_branch,
)
from antiphon.chat.machine.crystal import build_crystal
from antiphon.chat.machine.events import (
    BranchEvent,
    CheckpointEvent,
    Crystallize,
    ForkEvent,
    InjectContext,
    MergeEvent,
    MessageEvent,
    Pin,
    RaiseLimits,
    RepeatEvent,
    ResolveConflict,
    Rewind,
    Timed,
)
from antiphon.chat.machine.limits import LIMITS, add_spent, begin_message, continue_at, forget_raised
from antiphon.chat.machine.merging import STRATEGIES, apply_merge, new_merge, with_pick
from antiphon.chat.machine.persistent_map import PersistentMap
from antiphon.chat.machine.settings import event_settings
from antiphon.chat.machine.tree import (
    append,
    branch_of,
    close,
    end_of_turn,
    hash_at,
    head_of,
    insert,
    last_question,
    move_head,
    reopen,
    turn_at,
)
from antiphon.chat.machine.validation import other_branches
from antiphon.chat.machine.windows import pin
from antiphon.threads.machine.content import RunFields, parts_of

DRAFT_KEYS = ("id", "at", "tags", "key", "source", "usage", "costUsd", "interrupted", "options")


def configure(context: FlowContext, event: Mapping[str, Any]) -> FlowContext:
    """Change the settings that an event brings."""
    config = cast(FlowConfig, {**context["config"], **event_settings(event)})
    return {**context, "config": config}


def raise_limit(context: FlowContext, event: RaiseLimits) -> FlowContext:
    """Change the limits that an event brings."""
    reply = context["reply"]
    if reply is not None and reply["waiting"]:
        context = continue_at(context, event.get("at"))
    return forget_raised(configure(context, event), [name for name in LIMITS if name in event_settings(event)])


def append_message(context: FlowContext, event: QueuedMessage) -> FlowContext:
    """Append a message to its branch, and request a reply to a question or to results of tools, if there is a model."""
    return append_message_by(("user", "tool"), context, event)


def append_message_by(roles: tuple[str, ...], context: FlowContext, event: QueuedMessage) -> FlowContext:
    """Append a message to its branch, and request a reply if it has one of some roles and there is a model."""
    role = event.get("role") or "user"
    branch = event.get("branch") or context["branch"]
    head = head_of(context, branch)
    draft: MessageDraft = {**_draft(event), "role": role}
    question = context["messages"][head] if head and event.get("joins") else None
    if question and question["role"] == "user":
        # One turn takes the place of another: the old message stays in the tree, beside the new one.
        draft["parts"] = [*question["parts"], *draft["parts"]]
        context = insert(context, branch, draft, question["parent"])
        metrics = context["metrics"]
        context = {**context, "metrics": {**metrics, "turns": metrics["turns"] - 1}}
    else:
        context = append(context, branch, draft)
    context = _pin_head(begin_run(context, event), branch, event.get("pinned"))
    if role not in roles or context["config"]["model"] is None:
        return {**context, "reply": None}
    if role == "tool":  # it continues the turn of its question
        context = add_spent(continue_at(context, event.get("at")), "toolRounds", 1)
        return request_reply(context, branch, event.get("resumeNote"))
    return request_reply(begin_message(context, event.get("at")), branch, event.get("resumeNote"))


def resume_reply(context: FlowContext, event: RepeatEvent) -> FlowContext:
    """Request a reply that continues the one that was lost."""
    context = continue_at(begin_run(context, event), event.get("at"))
    return request_reply(context, context["branch"], event.get("resumeNote") or None)


def retry_reply(context: FlowContext, event: RepeatEvent) -> FlowContext:
    """Ask the last question again; the earlier answer stays in the tree, beside the new one."""
    question = last_question(context)
    assert question is not None
    moved = move_head(begin_run(context, event), context["branch"], question)
    return request_reply(begin_message(moved, event.get("at")), context["branch"])


def _draft(event: QueuedMessage | InjectContext) -> MessageDraft:
    """Return the fields that a caller may set; the tree itself records copies and sources of summaries."""
    draft: MessageDraft = {"role": "system", "parts": parts_of(event.get("parts"), event.get("text"))}
    fields = {key: value for key, value in event.items() if key in DRAFT_KEYS and value is not None}
    return cast(MessageDraft, {**fields, **draft})


def request_reply(context: FlowContext, branch: str, prefix: str | None = None) -> FlowContext:
    """Request a reply at the end of a branch."""
    reply: PendingReply = {
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


def begin_run(context: FlowContext, event: RunFields) -> FlowContext:
    """Begin the run that an event names, unless it is the current one; its cost starts from the total so far."""
    run_id = event.get("runId")
    if not context["reportsToParent"] or (context["run"] and run_id in (None, context["run"]["runId"])):
        return context
    cost_usd = context["metrics"]["costUsd"]
    run: ChatRun = {"runId": run_id, "cost": cost_usd, "duration": 0.0, "outcome": "completed", "error": None}
    return {**context, "run": run}


def _pin_head(context: FlowContext, branch: str, pinned: bool | None) -> FlowContext:
    head = head_of(context, branch)
    return pin(context, head, True) if pinned and head else context


def queue_message(context: FlowContext, event: MessageEvent) -> FlowContext:
    """Queue a message until the reply in flight has ended."""
    item = cast(QueuedMessage, {key: value for key, value in event.items() if key != "type"})
    item["branch"] = event.get("branch") or context["branch"]
    if context["config"]["onBusy"] == "merge":
        item["joins"] = True
    return {**context, "queue": [*context["queue"], item]}


def send_next(context: FlowContext) -> FlowContext:
    """Append the first message of the queue."""
    return send_next_by(append_message, context)


def send_next_by(say: Callable[[FlowContext, QueuedMessage], FlowContext], context: FlowContext) -> FlowContext:
    """Append the first message of the queue, by a function."""
    item, *queue = context["queue"]
    if item.get("id") in context["messages"]:  # the id was taken in the meantime
        item = {**item, "id": None}
    return say({**context, "queue": queue}, item)


def inject_context(context: FlowContext, event: InjectContext) -> FlowContext:
    """Append context as a message of the system, kept in the window unless its tags say otherwise."""
    tags = event.get("tags") or ["REQUIRED"]
    draft: MessageDraft = {**_draft(event), "tags": list(tags)}
    return _pin_head(append(context, context["branch"], draft), context["branch"], event.get("pinned"))


def plan_fork(context: FlowContext, event: ForkEvent) -> FlowContext:
    """Plan a fork from a message, from a turn, or from the head of the branch."""
    head = head_of(context)
    turn = event.get("turn")
    point = head
    if event.get("from") is not None:
        point = event["from"]
    elif turn is not None:  # turn 0 is a position too: before the first turn
        point = end_of_turn(context["messages"], head, turn)
    name = event.get("name") or _free_name(context)
    fork: PlannedFork = {"name": name, "parent": branch_of(context, point), "forkPoint": point}
    return {**context, "fork": fork}


def _free_name(context: FlowContext) -> str:
    number = len(context["branches"]) + len(context["closed"])
    while f"branch-{number}" in context["branches"] or f"branch-{number}" in context["closed"]:
        number += 1
    return f"branch-{number}"


def confirm_fork(context: FlowContext) -> FlowContext:
    """Open the planned branch and switch to it."""
    fork = context["fork"]
    metrics = context["metrics"]
    assert fork is not None
    # A window whose cut is not on the path of the new branch is ignored when it is read.
    window = context["branches"][fork["parent"]]["window"] if fork["parent"] in context["branches"] else None
    branch = new_branch(fork["name"], fork["forkPoint"], fork["parent"], window)
    return {
        **context,
        "fork": None,
        "branch": fork["name"],
        "branches": {**context["branches"], fork["name"]: branch},
        "metrics": {**metrics, "forks": metrics["forks"] + 1},
    }


def cancel_fork(context: FlowContext) -> FlowContext:
    """Drop the planned fork."""
    return {**context, "fork": None}


def rewind(context: FlowContext, event: Rewind) -> FlowContext:
    """Move the branch some turns back, to a checkpoint, or to any message; no message is deleted."""
    turns = event.get("turns", 1)
    head: str | None
    if event.get("message") is not None:
        head = event["message"]
    elif event.get("checkpointId") is not None:
        head = context["checkpoints"][event["checkpointId"]]["head"]
    elif turns == 0:
        return context
    else:
        current = head_of(context)
        head = end_of_turn(context["messages"], current, turn_at(context["messages"], current) - turns)
    metrics = context["metrics"]
    counted: FlowContext = {**context, "metrics": {**metrics, "rewinds": metrics["rewinds"] + 1}}
    return move_head(counted, context["branch"], head)


def checkpoint_id(context: FlowContext) -> str:
    """Return the id of a checkpoint at the head of the current branch."""
    return f"c{hash_at(context['messages'], head_of(context))}"


def mark_checkpoint(context: FlowContext, event: CheckpointEvent) -> FlowContext:
    """Add a checkpoint at the head of the branch; equal conversations have the same checkpoint."""
    id = checkpoint_id(context)
    head = head_of(context)
    if id in context["checkpoints"]:
        return context
    turn = turn_at(context["messages"], head)
    checkpoint: Checkpoint = {"id": id, "head": head, "branch": context["branch"], "turn": turn}
    if event.get("name") is not None:
        checkpoint["name"] = event["name"]
    if event.get("at") is not None:
        checkpoint["at"] = event["at"]
    return {**context, "checkpoints": PersistentMap.of(context["checkpoints"]).with_entry(id, checkpoint)}


def plan_merge(context: FlowContext, event: MergeEvent) -> FlowContext:
    """Plan a merge of another branch into the current one, with its conflicts or the request for a proposal."""
    source = event.get("source") or other_branches(context)[0]
    planned: FlowContext = {**context, "merge": new_merge(context, source, event.get("strategy") or STRATEGIES[0])}
    return request_proposal(planned) if needs_proposal(planned) else planned


def resolve_conflict(context: FlowContext, event: ResolveConflict) -> FlowContext:
    """Decide one conflict, or choose the turns of a manual merge."""
    merge = context["merge"]
    assert merge is not None
    if event.get("turns") is not None:
        return {**context, "merge": {**merge, "turns": list(event["turns"])}}
    return {**context, "merge": with_pick(merge, event.get("conflict"), event.get("pick") or "ours")}


def confirm_merge(context: FlowContext, event: Timed) -> FlowContext:
    """Carry out the planned merge."""
    return apply_merge(context, event.get("at"))


def cancel_merge(context: FlowContext) -> FlowContext:
    """Drop the planned merge."""
    return {**context, "merge": None}


def switch_branch(context: FlowContext, event: BranchEvent) -> FlowContext:
    """Make another branch the current one; a closed one is opened again."""
    name = event["branch"]
    return {**(context if name in context["branches"] else reopen(context, name)), "branch": name}


def close_branch(context: FlowContext, event: BranchEvent) -> FlowContext:
    """Close a branch without merging it."""
    return close(context, event["branch"], None)


def pin_message(context: FlowContext, event: Pin) -> FlowContext:
    """Pin a message, or unpin it."""
    return pin(context, event["message"], event.get("pinned", True))


def flush(context: FlowContext) -> FlowContext:
    """Empty the queue and forget the last error."""
    return {**context, "queue": [], "lastError": None}


def crystallize_plainly(context: FlowContext, event: Crystallize) -> FlowContext:
    """Build the crystal by rules."""
    return {**flush(context), "crystal": build_crystal(context, {}, event.get("trigger"), "rules")}


def begin_crystal(context: FlowContext, event: Crystallize) -> FlowContext:
    """Record that a model builds the crystal, and why."""
    return {**context, "crystallizing": event.get("trigger") or "close"}


def cancel_crystal(context: FlowContext) -> FlowContext:
    """Record that the crystal is not built any more."""
    return {**context, "crystallizing": None}


def reset(context: FlowContext) -> FlowContext:
    """Start a new conversation with the settings of the old one."""
    return empty_context(context["config"], context["reportsToParent"], context["nextMessage"], context["nextRequest"])
